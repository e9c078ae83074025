#include "bench/compare.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace saltus::host {

void difference::add(const difference& more) {
  compared += more.compared;
  instances += more.instances;
  largest = std::max(largest, more.largest);
}

kept_results::kept_results(const plan& p) {
  constexpr std::int64_t enough = std::int64_t{1} << 30;  // bytes
  const auto states = std::ssize(p.model.states);
  kept_ = std::min(p.count, enough / (8 * (states + 3) + 1));
  const auto n = static_cast<std::size_t>(kept_);
  final_state_.resize(n * static_cast<std::size_t>(states));
  t_final_.resize(n), status_.resize(n), steps_.resize(n), events_.resize(n);
}

void kept_results::keep(const chunk_data& c) {
  const auto n = static_cast<std::size_t>(kept_);
  const auto count = static_cast<std::size_t>(c.count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto id = static_cast<std::size_t>(c.first_id) + i;
    if (id >= n) return;
    for (std::size_t j = 0; j * n < final_state_.size(); ++j) final_state_[j * n + id] = c.final_state[j * count + i];
    t_final_[id] = c.t_final[i], status_[id] = c.status[i], steps_[id] = c.steps[i], events_[id] = c.events[i];
  }
}

difference kept_results::compare(const chunk_data& c) const {
  difference r;
  const auto n = static_cast<std::size_t>(kept_);
  const auto count = static_cast<std::size_t>(c.count);
  // The bits of a NaN are not specified: devices and processors differ.
  const auto same = [](double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) || (a != a && b != b);
  };
  for (std::size_t i = 0; i < count; ++i) {
    const auto id = static_cast<std::size_t>(c.first_id) + i;
    if (id >= n) break;
    ++r.compared;
    bool differs = !same(t_final_[id], c.t_final[i]) || status_[id] != c.status[i] || steps_[id] != c.steps[i] ||
                   events_[id] != c.events[i];
    for (std::size_t j = 0; j * n < final_state_.size(); ++j) {
      const double a = final_state_[j * n + id], b = c.final_state[j * count + i];
      if (same(a, b)) continue;
      differs = true;
      const double apart = std::abs(a - b) / std::max(1.0, std::abs(a));
      if (std::isfinite(apart)) r.largest = std::max(r.largest, apart);
      else if (std::isfinite(a) != std::isfinite(b)) r.largest = std::numeric_limits<double>::infinity();
    }
    r.instances += differs ? 1 : 0;
  }
  return r;
}

}  // namespace saltus::host
