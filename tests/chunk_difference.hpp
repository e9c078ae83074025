// Compares the results of a chunk of instances bit by bit.
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "ensemble/chunk_data.hpp"

namespace saltus::test {

/// The NaN that an operation returns is not specified: devices and processors differ.
template <class Number>
bool same_bits(const std::vector<Number>& a, const std::vector<Number>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](Number x, Number y) { return std::memcmp(&x, &y, sizeof x) == 0 || (x != x && y != y); });
}

/// The rows of an event log sorted by instance, in memory wherever they were before; the rows of one instance keep their order.
inline host::event_log by_instance(const host::event_log& log) {
  host::event_log r;
  r.state_count = log.state_count;
  r.memory = std::numeric_limits<std::size_t>::max();
  log.for_each([&](const host::event_row& e) { r.append(e.slot, e.time, e.guard, e.before, e.after); });
  return r;
}

/// Exceptions sorted by instance; each instance has at most one.
inline host::exception_list by_instance(const host::exception_list& list) {
  std::vector<std::size_t> order(list.slot.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return list.slot[a] < list.slot[b]; });
  host::exception_list r;
  for (const std::size_t row : order) {
    r.slot.push_back(list.slot[row]);
    const auto copy = [&](const auto& from, auto& to) {
      const auto size = static_cast<long>(from.size() / list.slot.size()), at = static_cast<long>(row) * size;
      to.insert(to.end(), from.begin() + at, from.begin() + at + size);
    };
    copy(list.reals, r.reals), copy(list.integers, r.integers);
  }
  return r;
}

/// Names of the columns in which two results differ in any bit, with events sorted by instance; empty if none.
inline std::string differences(const host::chunk_data& a, const host::chunk_data& b) {
  const host::event_log p = by_instance(a.log), q = by_instance(b.log);
  std::string names;
  const auto note = [&](bool same, const char* name) {
    if (!same) names += std::string(names.empty() ? "" : ", ") + name;
  };
  note(same_bits(a.final_state, b.final_state), "final_state");
  note(same_bits(a.final_output, b.final_output), "final_output");
  note(same_bits(a.final_discrete, b.final_discrete), "final_discrete");
  note(same_bits(a.t_final, b.t_final), "t_final");
  note(same_bits(a.status, b.status), "status");
  for (std::size_t j = 0; j < abi::counter_count; ++j) {
    const auto counter = abi::counter_members<std::vector<long long>>[j];
    note(same_bits(a.*counter, b.*counter), abi::counter_table[j].name);
  }
  note(same_bits(a.residual, b.residual), "residual");
  note(same_bits(a.residual_of, b.residual_of), "residual_of");
  note(same_bits(a.switched, b.switched), "switched");
  note(same_bits(a.switched_to, b.switched_to), "switched_to");
  note(same_bits(a.samples, b.samples), "samples");
  note(same_bits(a.final_derivative, b.final_derivative), "final_derivative");
  note(same_bits(a.sensitivity, b.sensitivity), "sensitivity");
  const host::exception_list e = by_instance(a.exceptions), f = by_instance(b.exceptions);
  note(same_bits(e.slot, f.slot), "exceptions");
  note(same_bits(e.reals, f.reals), "real numbers of exceptions");
  note(same_bits(e.integers, f.integers), "integers of exceptions");
  note(same_bits(a.reductions, b.reductions), "reductions");
  note(same_bits(a.guard_history, b.guard_history), "guard_history");
  note(same_bits(a.logged, b.logged), "logged");
  note(same_bits(a.kept_rows, b.kept_rows), "kept_rows");
  note(same_bits(p.slot, q.slot), "event slot");
  note(same_bits(p.time, q.time), "event time");
  note(same_bits(p.guard, q.guard), "event guard");
  note(same_bits(p.before, q.before), "event before");
  note(same_bits(p.after, q.after), "event after");
  return names;
}

}  // namespace saltus::test
