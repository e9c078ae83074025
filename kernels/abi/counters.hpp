// Structures and loops generated from the list of counters (counters.def).
#pragma once

#include "number/base.hpp"

namespace saltus::abi {

/// The phase that changes a counter.
enum class change : unsigned char {
  sailing,  ///< without guards and time events, only these counters differ from 0
  landing
};

/// Which models have a counter in their files.
enum class counted_of : unsigned char { every_model, constrained_models };

/// One row of the list of counters.
struct counter_row {
  const char* name;
  abi::change changed_by;
  bool in_statistics;
  counted_of of;
  const char* about;
};

inline constexpr counter_row counter_table[] = {
#define SALTUS_COUNTER(name, changed_by, in_statistics, of, about) \
  {#name, change::changed_by, in_statistics, counted_of::of, about},
#include "abi/counters.def"
};
inline constexpr int counter_count = sizeof(counter_table) / sizeof(counter_table[0]);

/// One Number for each counter: a count, a column, ...
template <class Number>
struct counters {
#define SALTUS_COUNTER(name, ...) Number name;
#include "abi/counters.def"
};

/// The member for row j of the table, for loops over the table on the host.
template <class Number>
inline constexpr Number counters<Number>::*counter_members[] = {
#define SALTUS_COUNTER(name, ...) &counters<Number>::name,
#include "abi/counters.def"
};

/// body(row, number) for each row of the table, on the host.
template <class Number, class F>
constexpr void each_named_counter(const counters<Number>& of, F&& body) {
  for (int j = 0; j < counter_count; ++j) body(counter_table[j], of.*counter_members<Number>[j]);
}

/// body(a's number, b's number) for every counter that sailing changes, or landing alone, in the order of the table.
template <change By, class A, class B, class F>
SALTUS_FN constexpr void each_counter(A& a, B& b, F&& body) {
#define SALTUS_COUNTER(name, changed_by, ...) \
  if constexpr (change::changed_by == By) body(a.name, b.name);
#include "abi/counters.def"
}
/// body(a's number, b's number) for every counter.
template <class A, class B, class F>
SALTUS_FN constexpr void each_counter(A& a, B& b, F&& body) {
#define SALTUS_COUNTER(name, ...) body(a.name, b.name);
#include "abi/counters.def"
}

}  // namespace saltus::abi
