// Structures and loops generated from the list of counters (counters.def).
#pragma once

#include "number/base.hpp"

namespace saltus::abi {

/// The part of an engine that changes a counter.
enum class change : unsigned char {
  sailing,
  landing,        ///< models with guards or time events
  certification,  ///< certified detection of their events
  constraints,    ///< models whose steps are projected onto constraints
  rosenbrock      ///< Rosenbrock methods for plain equations
};

/// One row of the list of counters.
struct counter_row {
  const char* name;
  abi::change changed_by;
  bool in_statistics;
  const char* about;
};

inline constexpr counter_row counter_table[] = {
#define SALTUS_COUNTER(name, changed_by, in_statistics, about) {#name, change::changed_by, in_statistics, about},
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

/// body(a's number, b's number) for the counters for which `Which(change)` is true, in the order of the table.
template <auto Which, class A, class B, class F>
SALTUS_FN constexpr void each_counter(A& a, B& b, F&& body) {
#define SALTUS_COUNTER(name, changed_by, ...) \
  if constexpr (Which(change::changed_by)) body(a.name, b.name);
#include "abi/counters.def"
}
/// body(a's number, b's number) for every counter.
template <class A, class B, class F>
SALTUS_FN constexpr void each_counter(A& a, B& b, F&& body) {
#define SALTUS_COUNTER(name, ...) body(a.name, b.name);
#include "abi/counters.def"
}

}  // namespace saltus::abi
