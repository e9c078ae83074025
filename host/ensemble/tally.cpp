#include "ensemble/tally.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

namespace saltus::host {

namespace {

/// Instances whose columns are looked at together; their counts fit into bytes.
constexpr std::size_t together = 192;

/// Some numbers of instances that ended well: how many are finite, and their greatest magnitude; -1: none is.
struct glance {
  std::int64_t count;
  double largest;
};

// The bodies of loops over instances have no branches, and compilers make vectors of them.

/// By integers, since magnitudes have the order of their bits.
inline glance glance_of(const double* x, const unsigned char* ok, std::size_t n) {
  constexpr std::int64_t magnitude = std::numeric_limits<std::int64_t>::max();
  constexpr auto infinity = std::bit_cast<std::int64_t>(std::numeric_limits<double>::infinity());
  std::int64_t count = 0, largest = -1;
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t bits = std::bit_cast<std::int64_t>(x[i]) & magnitude;
    const std::int64_t counts = -static_cast<std::int64_t>((ok[i] != 0) & (bits < infinity));  // all bits, or none
    count -= counts;
    largest = std::max(largest, (bits & counts) | ~counts);
  }
  return {count, largest < 0 ? -1.0 : std::bit_cast<double>(largest)};
}
inline std::int64_t sum_of(const std::vector<long long>& column) {
  std::int64_t sum = 0;
  for (const long long n : column) sum += n;
  return sum;
}
/// A guard_tally of up to `together` instances.
struct few_guards {
  unsigned char fired = 0, began_beyond = 0, crossed_against = 0;
};
inline few_guards guards_of(const unsigned char* past, const unsigned char* ok, std::size_t n) {
  unsigned char fired = 0, beyond = 0, against = 0;
  const auto has = [](unsigned char bits, int which) { return static_cast<unsigned char>((bits & which) != 0); };
  for (std::size_t i = 0; i < n; ++i) {
    const unsigned char has_fired = has(past[i], abi::has_fired), armed = has(past[i], abi::ends_armed);
    const unsigned char lies_beyond = ok[i] & (1 ^ has_fired) & has(past[i], abi::began_beyond);
    fired = static_cast<unsigned char>(fired + (ok[i] & has_fired));
    against = static_cast<unsigned char>(against + (lies_beyond & armed));
    beyond = static_cast<unsigned char>(beyond + (lies_beyond & (1 ^ armed)));
  }
  return {fired, beyond, against};
}

// As in run_statistics.cpp: wider registers if there are any.
#if defined(__x86_64__)
#define SALTUS_WIDER __attribute__((target("avx2")))
const bool has_wider = __builtin_cpu_supports("avx2");
#else
#define SALTUS_WIDER
const bool has_wider = false;
#endif
SALTUS_WIDER glance wider_glance(const double* x, const unsigned char* ok, std::size_t n) {
  return glance_of(x, ok, n);
}
SALTUS_WIDER std::int64_t wider_sum(const std::vector<long long>& column) { return sum_of(column); }
SALTUS_WIDER few_guards wider_guards(const unsigned char* past, const unsigned char* ok, std::size_t n) {
  return guards_of(past, ok, n);
}
const auto glance_at = has_wider ? wider_glance : glance_of;
const auto sum_all = has_wider ? wider_sum : sum_of;
const auto guards_at = has_wider ? wider_guards : guards_of;

/// body(first, number of instances, for each whether it ended well) for the instances of a chunk, some at a time.
template <class Body>
void each_group(const chunk_data& chunk, Body&& body) {
  std::array<unsigned char, together> ok;
  ok.fill(1);
  const bool all = chunk.has_all_finished();
  const std::size_t n = chunk.status.size();
  for (std::size_t first = 0; first < n; first += together) {
    const std::size_t some = std::min(together, n - first);
    for (std::size_t i = 0; i < some && !all; ++i) ok[i] = is_ok(static_cast<status>(chunk.status[first + i]));
    body(first, some, ok.data());
  }
}

}  // namespace

void tally::add(const chunk_data& chunk) {
  if (chunk.has_all_finished()) by_status[static_cast<std::size_t>(status::finished)] += std::ssize(chunk.status);
  else
    for (const unsigned char how : chunk.status) ++by_status.at(how);
  for (std::size_t j = 0; j < abi::counter_count; ++j)
    if (const auto& column = chunk.*abi::counter_members<std::vector<long long>>[j]; !chunk.is_preset(j))
      this->*abi::counter_members<std::int64_t>[j] += sum_all(column);
  // Columns that stayed on a device count 0 above.
  for (std::size_t b = 0; b < chunk.statistics.costs.size(); ++b)
    for (std::size_t j = 0; j < abi::counter_count && !chunk.statistics.has_rows[b]; ++j)
      this->*abi::counter_members<std::int64_t>[j] += chunk.statistics.costs[b].counters[j];
  if (!chunk.has_no_writer_on_host()) add_later_work(chunk);
  add_guards(chunk);
  add_finals(chunk);
  note(chunk.not_finite);
}

void tally::add_later_work(const chunk_data& chunk) {
  for (std::size_t i = 0; i < chunk.status.size(); ++i)
    if (chunk.exception[i] != 0 && is_ok(static_cast<status>(chunk.status[i]))) ++by_rescue.at(chunk.exception[i]);
  switched += std::count_if(chunk.switched.begin(), chunk.switched.end(), [](double t) { return t == t; });
  for (const std::int64_t bits : chunk.dependent)
    for (std::size_t k = 0; bits >> k != 0; ++k) {
      dependent.resize(std::max(dependent.size(), k + 1));
      dependent[k] += bits >> k & 1;
    }
}

tally tally_of(const chunk_data& chunk) {
  tally t;
  t.add(chunk);
  return t;
}

void tally::note(const not_finite_instance& one) {
  if (one.id >= 0 && (not_finite.id < 0 || one.id < not_finite.id)) not_finite = one;
}

void lost_tally::add(const lost_tally& more) {
  if (more.count > 0 && (count == 0 || more.first < first)) first = more.first;
  count += more.count;
}

void largest_tally::add(double magnitude, std::int64_t id) {
  ++count;
  if (magnitude > first || (magnitude == first && (of < 0 || id < of))) {
    second = of < 0 ? second : first;
    first = magnitude;
    of = id;
  } else if (magnitude > second) second = magnitude;
}

void largest_tally::add(const largest_tally& more) {
  if (more.count == 0) return;
  const std::int64_t all = count + more.count;
  const double other = std::max(second, more.second);
  add(more.first, more.of);
  second = std::max(second, other);
  count = all;
}

void tally::add(const tally& more) {
  const auto add_all = [](auto& to, const auto& from) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
  };
  add_all(by_status, more.by_status);
  add_all(by_rescue, more.by_rescue);
  abi::each_counter(*this, more, [](std::int64_t& sum, const std::int64_t& n) { sum += n; });
  switched += more.switched;
  dependent.resize(std::max(dependent.size(), more.dependent.size()));
  for (std::size_t k = 0; k < more.dependent.size(); ++k) dependent[k] += more.dependent[k];
  guards.resize(std::max(guards.size(), more.guards.size()));
  for (std::size_t g = 0; g < more.guards.size(); ++g) {
    guards[g].fired += more.guards[g].fired;
    guards[g].began_beyond += more.guards[g].began_beyond;
    guards[g].crossed_against += more.guards[g].crossed_against;
  }
  finals.resize(std::max(finals.size(), more.finals.size()));
  for (std::size_t j = 0; j < more.finals.size(); ++j) finals[j].add(more.finals[j]);
  outputs.resize(std::max(outputs.size(), more.outputs.size()));
  for (std::size_t j = 0; j < more.outputs.size(); ++j) outputs[j].add(more.outputs[j]);
  note(more.not_finite);
}

void tally::add_finals(const chunk_data& chunk) {
  const std::size_t n = chunk.status.size();
  if (n == 0) return;
  finals.resize(std::max(finals.size(), chunk.final_state.size() / n));
  outputs.resize(std::max(outputs.size(), chunk.final_output.size() / n));
  each_group(chunk, [&](std::size_t first, std::size_t some, const unsigned char* ok) {
    const auto id = [&](std::size_t i) { return chunk.first_id + static_cast<std::int64_t>(first + i); };
    for (std::size_t j = 0; j < finals.size(); ++j) {
      const double* const x = &chunk.final_state[j * n + first];  // a column that stayed on a device is NaN
      const glance all = glance_at(x, ok, some);
      if (all.largest <= finals[j].second && finals[j].of >= 0) finals[j].count += all.count;
      else
        for (std::size_t i = 0; i < some; ++i)
          if (ok[i] != 0 && std::isfinite(x[i])) finals[j].add(std::fabs(x[i]), id(i));
    }
    // An instance that stayed on a device has no final time.
    const std::int64_t here = outputs.empty() ? 0 : glance_at(&chunk.t_final[first], ok, some).count;
    for (std::size_t j = 0; j < outputs.size(); ++j) {
      const double* const x = &chunk.final_output[j * n + first];
      if (glance_at(x, ok, some).count == here) continue;
      for (std::size_t i = 0; i < some; ++i)
        if (ok[i] != 0 && std::isfinite(chunk.t_final[first + i]) && !std::isfinite(x[i])) outputs[j].add({1, id(i)});
    }
  });
}

void tally::add_guards(const chunk_data& chunk) {
  const std::size_t n = chunk.status.size();
  if (n == 0) return;
  guards.resize(std::max(guards.size(), chunk.guard_history.size() / n));
  if (guards.empty()) return;
  each_group(chunk, [&](std::size_t first, std::size_t some, const unsigned char* ok) {
    for (std::size_t g = 0; g < guards.size(); ++g) {
      const few_guards these = guards_at(&chunk.guard_history[g * n + first], ok, some);
      guards[g].fired += these.fired;
      guards[g].began_beyond += these.began_beyond;
      guards[g].crossed_against += these.crossed_against;
    }
  });
}

namespace {

std::int64_t count_of(const tally& t, status_group group) {
  std::int64_t sum = 0;
  for (const status_row& row : status_table)
    if (row.group == group) sum += t.by_status[static_cast<std::size_t>(row.id)];
  return sum;
}

}  // namespace

std::int64_t tally::ok() const { return count_of(*this, status_group::ok) - rescued(); }
std::int64_t tally::rescued() const { return std::accumulate(by_rescue.begin(), by_rescue.end(), std::int64_t{0}); }
std::int64_t tally::failed() const { return count_of(*this, status_group::failed); }
std::int64_t tally::not_finished() const { return count_of(*this, status_group::not_finished); }

std::string too_many_failed(const tally& t, double allowed) {
  const std::int64_t all = std::accumulate(t.by_status.begin(), t.by_status.end(), std::int64_t{0});
  if (static_cast<double>(t.failed()) <= allowed * static_cast<double>(all)) return {};
  std::string how;
  for (const status_row& row : status_table)
    if (const auto some = t.by_status[static_cast<std::size_t>(row.id)]; some > 0 && row.group == status_group::failed)
      how += fmt::format("{}{} {}", how.empty() ? "" : ", ", some, row.name);
  return fmt::format("{} of {} instances failed, {:g} % allowed (run.allowed_failed): {}", t.failed(), all,
                     100 * allowed, how);
}

std::string text_of(const not_finite_instance& one) { return fmt::format("instance {}: {}", one.id, one.text); }

std::vector<std::pair<std::string, std::int64_t>> dependent_constraints(const model& m, const tally& t) {
  std::vector<std::pair<std::string, std::int64_t>> all;
  for (std::size_t k = 0; k < t.dependent.size(); ++k)
    if (t.dependent[k] > 0) all.emplace_back(m.constraints[k].name, t.dependent[k]);
  return all;
}

std::vector<std::string> remarks_on_guards(const model& m, const std::vector<guard_tally>& counts) {
  std::vector<std::string> all;
  const auto instances = [](std::int64_t n) { return fmt::format("{} instance{}", n, n == 1 ? "" : "s"); };
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto& [fired, began_beyond, crossed_against] = counts[i];
    const auto& guard = m.guards[i];
    if (began_beyond > 0)
      all.push_back(
          fmt::format("guard `{}` began beyond zero in {} and never fired", guard.name, instances(began_beyond)));
    // If the guard has fired in other instances, it may yet fire here: for example a mark that is passed on the way to
    // another one.
    if (fired == 0 && crossed_against > 0)
      all.push_back(fmt::format("guard `{}` was crossed only against its direction, {}, in {}", guard.name,
                                name_of(guard.direction), instances(crossed_against)));
  }
  return all;
}

std::vector<std::string> remarks(const model& m, const tally& counts) {
  constexpr double far = 1e6;
  constexpr std::int64_t few = 10;  // with fewer instances an outlier says nothing
  auto all = remarks_on_guards(m, counts.guards);
  for (std::size_t j = 0; j < counts.finals.size(); ++j) {
    const largest_tally& x = counts.finals[j];
    if (x.count >= few && x.second > 0 && x.first > far * x.second)
      all.push_back(
          fmt::format("state `{}` ended at {:.3g} in size in instance {}, and at {:.3g} at most in all others",
                      m.states[j].name, x.first, x.of, x.second));
  }
  for (std::size_t j = 0; j < counts.outputs.size(); ++j)
    if (const auto& [count, first] = counts.outputs[j]; count > 0)
      all.push_back(fmt::format("output `{}` was not finite at the end of {} instance{}, the first is {}",
                                m.outputs[j].name, count, count == 1 ? "" : "s", first));
  if (counts.rounded > 0)
    all.push_back(fmt::format(
        "rounding of linear solves may exceed a tolerance at the end of {} instance{} (`rounded`): `method = "
        "\"auto\"` or `radau5` has no such rounding",
        counts.rounded, counts.rounded == 1 ? "" : "s"));
  return all;
}

}  // namespace saltus::host
