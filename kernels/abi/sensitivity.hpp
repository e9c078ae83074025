// Why an instance has no derivatives with respect to its parameters: each reason with its name and its sentence. Files outlive
// programs: a number is never given to another reason, and a new one takes the next free number.
#pragma once

#include "number/base.hpp"

namespace saltus {

enum class sensitivity : unsigned char {
  defined = 0,
  grazing = 1,
  order = 2,
  at_end = 3,
  accumulation = 4,
  not_finite = 5,
  not_ended = 6,
  at_start = 7,
  unresolved = 8,
  at_datum = 9,
  data_missed = 10,
  jump = 11,
};

struct sensitivity_row {
  sensitivity id;
  const char* name;
  const char* meaning;
};

inline constexpr sensitivity_row sensitivity_table[] = {
    {sensitivity::defined, "defined", "the derivatives exist"},
    {sensitivity::grazing, "grazing",
     "an event was met with so little speed, or missed by so little, that an error within the tolerance decides "
     "whether there is one"},
    {sensitivity::order, "order",
     "events came at one time, and it matters which of them is the first; or a contact in an impact neither pushed nor "
     "opened"},
    {sensitivity::at_end, "at_end", "an event came at the very end of the time span, and may come after it"},
    {sensitivity::accumulation, "accumulation", "infinitely many events came before a finite time"},
    {sensitivity::not_finite, "not_finite", "a function of the model has no finite derivative where it was evaluated"},
    {sensitivity::not_ended, "not_ended", "the instance did not come to its end: see status"},
    {sensitivity::at_start, "at_start", "a guard was zero at the start, and may be on either side of it"},
    {sensitivity::unresolved, "unresolved",
     "a step that the states allow is too long for the series of their derivatives: sensitivity.error_control = true "
     "makes it shorter"},
    {sensitivity::at_datum, "at_datum", "an event came at the time of a datum, and may come after it"},
    {sensitivity::data_missed, "data_missed", "the instance ended before the time of a datum, or began after it"},
    {sensitivity::jump, "jump",
     "a right-hand side jumped at a time that moves, and no guard announced it: add a guard where the condition of its "
     "select, sign or floor changes, and ask at.above(guard) in place of the state"},
};

inline constexpr int sensitivity_count = sizeof(sensitivity_table) / sizeof(sensitivity_table[0]);

namespace detail {
constexpr bool sensitivity_table_is_right() {
  for (int i = 0; i < sensitivity_count; ++i)
    if (static_cast<int>(sensitivity_table[i].id) != i) return false;
  return true;
}
static_assert(sensitivity_table_is_right(), "row i of sensitivity_table describes reason i");
}  // namespace detail

}  // namespace saltus
