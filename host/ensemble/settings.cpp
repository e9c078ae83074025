#include "ensemble/settings.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <thread>

namespace saltus::host {

abi::settings settings_of(const plan& p) {
  abi::settings s{};
  s.rtol = p.rtol;
  s.atol = p.atol.data();
  s.event_tol = p.event_tol;
  s.first_step = p.first_step;
  s.max_step = p.max_step;
  s.fixed_step = p.fixed_step;
  s.max_steps = p.max_steps;
  s.max_events = p.max_events;
  s.history = static_cast<long long>(std::bit_ceil(static_cast<std::uint64_t>(p.history)));
  s.sample_count = static_cast<int>(p.sample_count);
  s.sample_times = p.sample_times.empty() ? nullptr : p.sample_times.data();
  s.windows = p.windows.empty() ? nullptr : p.windows.data();
  s.log_events = p.log_events ? 1 : 0;
  s.logged_events = p.logged.events.empty() ? nullptr : p.logged.events.data();
  constexpr double ever = std::numeric_limits<double>::infinity();
  const double way = p.backward ? -1 : 1;
  s.log_from = p.logged.from ? way * *p.logged.from : -ever;
  s.log_to = p.logged.to ? way * *p.logged.to : ever;
  s.log_first = p.log_events ? p.logged.first : 0;
  s.log_last = p.log_events ? p.logged.last : 0;

  s.concurrency_time = p.concurrency_time;
  s.concurrency_value = p.concurrency_value;
  s.zeno_part = p.zeno;
  s.consistency = p.consistency;
  s.algebra = &dense_algebra;
  s.tables = p.tables ? p.tables->for_kernels() : nullptr;
  s.records = p.records ? p.records->for_kernels() : nullptr;
  s.rows_are_past = p.records && p.records->are_past() ? 1 : 0;
  s.inject = p.inject_exceptions;
  s.inject_seed = static_cast<long long>(p.seed);
  s.growth_from = p.exponents_from;
  s.gradient_count = static_cast<int>(p.gradient_numbers.size());
  s.gradient_of = p.gradient_numbers.data();
  s.gradient_weights = p.gradient_weights.data();
  s.data = p.data.data();
  s.data_count = static_cast<int>(p.data.size());
  return s;
}

int threads_of(const plan& p) {
  return p.threads > 0 ? p.threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

}  // namespace saltus::host
