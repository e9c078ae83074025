#include "ensemble/tally.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace saltus::host {

void tally::add(const chunk_data& chunk) {
  for (std::size_t i = 0; i < chunk.status.size(); ++i) {
    ++by_status.at(chunk.status[i]);
    if (chunk.exception[i] != 0 && is_ok(static_cast<status>(chunk.status[i]))) ++by_rescue.at(chunk.exception[i]);
  }
  abi::each_counter(*this, chunk, [](std::int64_t& sum, const std::vector<long long>& column) {
    sum = std::accumulate(column.begin(), column.end(), sum);
  });
  // Columns that stayed on a device count 0 above.
  for (std::size_t b = 0; b < chunk.statistics.costs.size(); ++b)
    for (std::size_t j = 0; j < abi::counter_count && !chunk.statistics.has_rows[b]; ++j)
      this->*abi::counter_members<std::int64_t>[j] += chunk.statistics.costs[b].counters[j];
  switched += std::count_if(chunk.switched.begin(), chunk.switched.end(), [](double t) { return t == t; });
  for (const std::int64_t bits : chunk.dependent)
    for (std::size_t k = 0; bits >> k != 0; ++k) {
      dependent.resize(std::max(dependent.size(), k + 1));
      dependent[k] += bits >> k & 1;
    }
  add_guards(chunk);
  add_finals(chunk);
  note(chunk.not_finite);
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
  for (std::size_t j = 0; j < finals.size(); ++j)
    for (std::size_t i = 0; i < n; ++i)
      if (const double x = chunk.final_state[j * n + i];
          is_ok(static_cast<status>(chunk.status[i])) && std::isfinite(x))  // a column that stayed on a device is NaN
        finals[j].add(std::fabs(x), chunk.first_id + static_cast<std::int64_t>(i));
  // An instance that stayed on a device has no final time.
  outputs.resize(std::max(outputs.size(), chunk.final_output.size() / n));
  for (std::size_t j = 0; j < outputs.size(); ++j)
    for (std::size_t i = 0; i < n; ++i)
      if (is_ok(static_cast<status>(chunk.status[i])) && std::isfinite(chunk.t_final[i]) &&
          !std::isfinite(chunk.final_output[j * n + i]))
        outputs[j].add({1, chunk.first_id + static_cast<std::int64_t>(i)});
}

void tally::add_guards(const chunk_data& chunk) {
  const std::size_t n = chunk.status.size();
  if (n == 0) return;
  guards.resize(std::max(guards.size(), chunk.guard_history.size() / n));
  for (std::size_t g = 0; g < guards.size(); ++g)
    for (std::size_t i = 0; i < n; ++i) {
      if (!is_ok(static_cast<status>(chunk.status[i]))) continue;
      const unsigned char past = chunk.guard_history[g * n + i];
      const bool fired = (past & abi::has_fired) != 0, armed = (past & abi::ends_armed) != 0;
      guards[g].fired += fired;
      if (fired || (past & abi::began_beyond) == 0) continue;
      (armed ? guards[g].crossed_against : guards[g].began_beyond) += 1;
    }
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
  return all;
}

}  // namespace saltus::host
