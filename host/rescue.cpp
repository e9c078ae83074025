#include "rescue.hpp"

#include <algorithm>
#include <csignal>
#include <cstddef>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "backend.hpp"
#include "error.hpp"
#include "model/status.hpp"

namespace saltus::host {

namespace {

/// The plan of a run as rescue follows it: a digit more, in double precision.
plan surer(plan p) {
  constexpr double least_rtol = 1e-14;
  p.precision                 = "double";
  p.inject_exceptions         = 0;
  p.rtol                      = std::min(p.rtol, std::max(p.rtol / 10, least_rtol));
  for (double& a : p.atol) a /= 10;
  return p;
}

/// The instances that lanes gave up: each gets its exception, and counts as interrupted until it has another verdict.
std::vector<long long> take_over(chunk_data& chunk) {
  std::vector<long long> slots;
  for (std::size_t i = 0; i < chunk.status.size(); ++i) {
    if (!rescuable(static_cast<status>(chunk.status[i]))) continue;
    slots.push_back(static_cast<long long>(i));
    chunk.exception[i] = chunk.status[i];
    chunk.status[i]    = static_cast<unsigned char>(status::interrupted);
  }
  return slots;
}

}  // namespace

rescuer::rescuer(const plan& p) : plan_(surer(p)), settings_(settings_of(plan_)) { settings_.surer = 1; }

bool rescuer::is_ready(const std::atomic<bool>& stop) {
  const std::lock_guard lock(compiling_);
  if (unit_) return true;
  if (stop) return false;
  try {
    built_ = build_cpu_unit(plan_, 1);
    unit_  = static_cast<const abi::unit*>(built_.code->symbol("saltus_unit"));
    return true;
  } catch (const error& e) {
    if (e.exit_code != exit_interrupted) throw;
    std::raise(SIGINT);  // it has ended the compiler, but was meant for the run
    return false;
  }
}

std::vector<abi::snapshot> rescuer::snapshots_of(chunk_data& chunk, const std::vector<long long>& slots) {
  const auto& from     = chunk.exceptions;
  const auto  reals    = static_cast<std::size_t>(unit_->record_reals);
  const auto  integers = static_cast<std::size_t>(unit_->record_integers);
  if (from.reals.size() != from.slot.size() * reals || from.integers.size() != from.slot.size() * integers)
    throw error(exit_failure, "internal: lanes and rescue differ about what an instance is");
  std::vector<abi::snapshot> of_slot(chunk.status.size()), snapshots;
  for (std::size_t row = 0; row < from.slot.size(); ++row)
    of_slot[static_cast<std::size_t>(from.slot[row])] = {&from.reals[row * reals], &from.integers[row * integers]};
  std::vector<long long> afresh;
  for (const long long& slot : slots) {
    snapshots.push_back(of_slot[static_cast<std::size_t>(slot)]);
    if (snapshots.back().reals != nullptr) continue;
    snapshots.back().integers = &slot;  // all that is known of it
    afresh.push_back(slot);
  }
  if (!afresh.empty()) chunk.forget(afresh);
  return snapshots;
}

void rescuer::rescue(chunk_data& chunk, const std::atomic<bool>& stop) {
  const std::vector<long long> slots = take_over(chunk);
  if (slots.empty() || stop || !is_ready(stop)) return;
  const auto         snapshots = snapshots_of(chunk, slots);
  const abi::batch   batch     = chunk.batch();
  const abi::results results   = chunk.results();
  std::mutex         log_mutex;
  const auto         carry_on = [&](const tbb::blocked_range<std::size_t>& some) {
    struct context {
      event_log                log;
      const std::atomic<bool>& stop;
    } here{{}, stop};
    here.log.state_count = chunk.log.state_count;
    const abi::sink sink{&here,
                         [](void* c, long long slot, double t, int guard, const double* before, const double* after) {
                           static_cast<context*>(c)->log.append(slot, t, guard, before, after);
                         },
                         [](void*, long long, const abi::snapshot*) {},  // nobody else can help
                         [](void* c, long long) { return static_cast<context*>(c)->stop ? 0 : 1; }};
    abi::usage      used{};
    unit_->resume(&settings_, &batch, &results, &sink, &used, static_cast<long long>(some.size()),
                          &snapshots[some.begin()]);
    const std::lock_guard lock(log_mutex);
    chunk.log.append(here.log);
  };
  // Isolated: a thread that waits here for others helps with this chunk, and begins no other.
  tbb::this_task_arena::isolate([&] { tbb::parallel_for(tbb::blocked_range<std::size_t>(0, slots.size()), carry_on); });
}

}  // namespace saltus::host
