#include "ensemble/pilot.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>

#include "abi/status.hpp"
#include "base/clock.hpp"
#include "ensemble/model_call.hpp"
#include "ensemble/sampler.hpp"

namespace saltus::host {

void fill_spread(const plan& p, std::int64_t count, double offset, chunk_data& chunk) {
  chunk.reset(p, 0, count);
  const sampler values(p);
  columns one;
  const double stride = static_cast<double>(p.count) / static_cast<double>(count);
  for (std::int64_t k = 0; k < count; ++k) {
    const auto id = std::min(static_cast<std::int64_t>((static_cast<double>(k) + offset) * stride), p.count - 1);
    values.fill(id, 1, one);
    for (const auto column : columns::starts)
      for (std::size_t j = 0; j < (one.*column).size(); ++j)
        (chunk.*column)[j * static_cast<std::size_t>(count) + static_cast<std::size_t>(k)] = (one.*column)[j];
  }
}

pilot::pilot(const plan& p, backend& where, double longest, const cancellation& stop)
    : plan_(p),
      where_(where),
      longest_(longest),
      stop_(stop),
      fallback_(p, stop),
      chunks_(static_cast<std::size_t>(where.concurrency())) {}

pilot_round pilot::run(std::int64_t count, double offset) {
  pilot_round r;
  r.chunks = static_cast<int>(chunks_.size());
  r.instances = count * r.chunks;
  for (std::size_t j = 0; j < chunks_.size(); ++j)
    fill_spread(plan_, count, (static_cast<double>(j) + offset) / static_cast<double>(chunks_.size()), chunks_[j]);
  const auto begin = monotonic_clock::now();
  const cancellation over = stop_.within();
  const call_watch watch(over, [&] {
    if (seconds_since(begin) >= longest_) over.cancel();
  });
  std::mutex adding;
  std::exception_ptr failure;
  std::vector<std::thread> threads;
  const auto integrate = [&](chunk_data& chunk) {
    abi::usage used{};
    const auto here = monotonic_clock::now();
    where_.integrate(
        chunk, [&](std::int64_t) { return !over && seconds_since(begin) < longest_; }, used);
    const double took = seconds_since(here);
    const std::lock_guard lock(adding);
    r.thread_seconds += took;
    r.usage.turns += used.turns;
    r.usage.lane_turns += used.lane_turns;
  };
  for (auto& chunk : chunks_)
    threads.emplace_back([&] {
      try {
        integrate(chunk);
      } catch (...) {
        const std::lock_guard lock(adding);
        failure = std::current_exception();
      }
    });
  for (auto& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
  r.seconds = seconds_since(begin);
  carry_on(r, over);
  r.progress = progress();
  r.seconds += r.after_seconds;
  for (const auto& chunk : chunks_)
    r.evaluations = std::accumulate(chunk.rhs_evaluations.begin(), chunk.rhs_evaluations.end(), r.evaluations);
  return r;
}

/// Runs the fallback integrators; their compilation is not counted.
void pilot::carry_on(pilot_round& r, const cancellation& over) {
  const auto begin = monotonic_clock::now();
  const auto compiling = [&] { return fallback_.seconds_for_stiff() + fallback_.seconds_for_rescue(); };
  const double before = compiling();
  for (auto& chunk : chunks_) fallback_.carry_on(chunk, over);
  r.after_seconds = std::max(0.0, seconds_since(begin) - (compiling() - before));
}

std::pair<double, double> pilot::event_rows() const {
  std::vector<double> rows;
  for (const auto& chunk : chunks_) {
    for (const long long n : chunk.log.rows_by_slot(static_cast<std::size_t>(chunk.count)))
      rows.push_back(static_cast<double>(n));
  }
  const auto n = static_cast<double>(rows.size());
  double sum = 0, squares = 0;
  for (const double x : rows) sum += x;
  for (const double x : rows) squares += (x - sum / n) * (x - sum / n);
  // The finite-population factor: if the pilot ran the whole population, no uncertainty is left.
  const double left = std::max(0.0, 1 - n / static_cast<double>(plan_.count));
  return {sum / n, n > 1 ? std::sqrt(squares / (n - 1) / n * left) : 0.0};
}

double pilot::progress() const {
  double sum = 0, all = 0;
  for (const auto& chunk : chunks_)
    for (std::size_t i = 0; i < chunk.status.size(); ++i, ++all) {
      const auto s = static_cast<status>(chunk.status[i]);
      if (s == status::not_run) continue;
      const double part = (chunk.t_final[i] - chunk.t_begin[i]) / (chunk.t_end[i] - chunk.t_begin[i]);
      // The progress of an abandoned instance is unknown.
      sum += s != status::interrupted ? 1.0 : part == part ? part : 0.0;
    }
  return std::max(sum / all, 1e-6);
}

}  // namespace saltus::host
