#include "ensemble/tally.hpp"

#include <algorithm>
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
  // What has stayed on a device counts 0 above.
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
    // Where it has fired elsewhere it may yet do so here: a mark that is passed on the way to another one.
    if (fired == 0 && crossed_against > 0)
      all.push_back(fmt::format("guard `{}` was crossed only against its direction, {}, in {}", guard.name,
                                name_of(guard.direction), instances(crossed_against)));
  }
  return all;
}

}  // namespace saltus::host
