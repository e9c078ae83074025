#include "ensemble/rescue.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <future>
#include <utility>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task.h>
#include <tbb/task_arena.h>

#include "base/error.hpp"
#include "compile/chosen_shape.hpp"
#include "compile/compiling_note.hpp"
#include "ensemble/model_call.hpp"
#include "ensemble/settings.hpp"
#include "spec/methods.hpp"

namespace saltus::host {

namespace {

/// Instances per lane that are handed over together: enough to keep lanes full until near the end.
constexpr std::size_t handed_over_per_lane = 32;

bool rescues(fallback_integrator::duty what) {
  return what == fallback_integrator::duty::rescue || what == fallback_integrator::duty::last_rescue;
}

/// The plan of a run for its fallback integrator: after a change of the method = "auto" an implicit method; for rescue a tenth of the
/// tolerance, in double precision.
plan followed(plan p, fallback_integrator::duty what) {
  if (!p.stiff_method.empty() && what != fallback_integrator::duty::rescue)
    p.method = what == fallback_integrator::duty::hand_over ? p.stiff_method : p.lasting_method;
  if (!rescues(what)) return p;
  constexpr double least_rtol = 1e-14;
  // A function may have values where it has no series, such as a square root at zero.
  if (method_called(p.method).is_series) p.method = "dop853";
  p.precision = precision_kind::double_precision;
  p.inject_exceptions = 0;
  p.rtol = std::min(p.rtol, std::max(p.rtol / 10, least_rtol));
  for (double& a : p.atol) a /= 10;
  return p;
}

bool is_of(fallback_integrator::duty what, status why, const model& m) {
  switch (what) {
    case fallback_integrator::duty::hand_over: return why == status::stiff;
    case fallback_integrator::duty::hand_over_for_long: return why == status::stiff_for_long;
    case fallback_integrator::duty::rescue:
    case fallback_integrator::duty::last_rescue: return is_rescued_from(why, m);
  }
  return false;
}

}  // namespace

bool is_rescued_from(status why, const model& m) {
  return rescuable(why) || (why == status::inconsistent && m.equations == abi::any_order);
}

fallback_integrator::fallback_integrator(const plan& p, duty what, cancellation stop, std::function<void()> tick)
    : duty_(what),
      stop_(std::move(stop)),
      tick_(std::move(tick)),
      plan_(followed(p, what)),
      settings_(settings_of(plan_)),
      shape_(rescues(what) ? lane_shape{1, 1} : lane_shape_of(plan_)) {
  settings_.conservative = rescues(what) ? 1 : 0;
}

std::vector<long long> fallback_integrator::take_over(chunk_data& chunk) const {
  std::vector<long long> slots;
  if (chunk.has_all_finished()) return slots;
  for (std::size_t i = 0; i < chunk.status.size(); ++i) {
    const auto why = static_cast<status>(chunk.status[i]);
    if (!is_of(duty_, why, plan_.model)) continue;
    slots.push_back(static_cast<long long>(i));
    if (rescues(duty_) && chunk.exception[i] == 0) chunk.exception[i] = chunk.status[i];
    chunk.status[i] = static_cast<unsigned char>(status::interrupted);
  }
  return slots;
}

fallback_integrator::~fallback_integrator() {
  if (compiler_.joinable()) compiler_.join();
}

bool fallback_integrator::is_ready(const cancellation& stop) {
  {
    const std::lock_guard lock(mutex_);
    if (state_ == state::idle) {
      if (stop) return false;
      state_ = state::compiling;
      compiler_ = std::thread([this] { compile(); });
    }
  }
  wait_until_compiled();
  if (failure_) std::rethrow_exception(failure_);
  return module_ != nullptr;
}

void fallback_integrator::compile() {
  static std::mutex one_at_a_time;  // progress displays show one compilation only
  try {
    const std::lock_guard lock(one_at_a_time);
    const compiling_note note(rescues(duty_) ? "rescue" : plan_.method);
    auto made = std::async(std::launch::async, build_cpu_module, plan_, shape_, stop_);
    while (made.wait_for(std::chrono::milliseconds(200)) != std::future_status::ready)
      if (tick_) tick_();
    built_ = made.get();
    module_ = static_cast<const abi::module*>(built_.code->symbol("saltus_module"));
  } catch (const error& e) {
    if (e.exit_code != exit_interrupted) failure_ = std::current_exception();
  } catch (...) { failure_ = std::current_exception(); }
  std::vector<std::function<void()>> waiting;
  {
    const std::lock_guard lock(mutex_);
    state_ = state::compiled;
    waiting.swap(waiting_);
  }
  for (const auto& go_on : waiting) go_on();
}

// The waiting thread of TBB suspends this chunk, integrates others, and resumes it later.
void fallback_integrator::wait_until_compiled() {
  const auto once_compiled = [&](std::function<void()> go_on) {
    {
      const std::lock_guard lock(mutex_);
      if (state_ != state::compiled) {
        waiting_.push_back(std::move(go_on));
        return;
      }
    }
    go_on();
  };
  if (tbb::this_task_arena::current_thread_index() != tbb::task_arena::not_initialized) {
    tbb::task::suspend([&](tbb::task::suspend_point here) { once_compiled([here] { tbb::task::resume(here); }); });
    return;
  }
  std::promise<void> compiled;
  once_compiled([&] { compiled.set_value(); });
  compiled.get_future().wait();
}

std::vector<abi::snapshot> fallback_integrator::snapshots_of(chunk_data& chunk, const std::vector<long long>& slots,
                                                             const exception_list& from) const {
  const auto reals = static_cast<std::size_t>(module_->snapshot_reals);
  const auto integers = static_cast<std::size_t>(module_->record_integers);
  if (from.reals.size() != from.slot.size() * reals || from.integers.size() != from.slot.size() * integers)
    throw error(exit_failure, "internal: two modules of a run differ about what an instance is");
  std::vector<abi::snapshot> of_slot(chunk.status.size()), snapshots;
  for (std::size_t row = 0; row < from.slot.size(); ++row)
    of_slot[static_cast<std::size_t>(from.slot[row])] = {&from.reals[row * reals], &from.integers[row * integers]};
  std::vector<long long> afresh;
  for (const long long& slot : slots) {
    snapshots.push_back(of_slot[static_cast<std::size_t>(slot)]);
    if (snapshots.back().reals != nullptr) continue;
    snapshots.back().integers = &slot;  // the slot is all that the module needs
    afresh.push_back(slot);
  }
  if (!afresh.empty()) chunk.forget(afresh);
  return snapshots;
}

void fallback_integrator::note_change(chunk_data& chunk, const std::vector<long long>& slots,
                                      const std::vector<abi::snapshot>& snapshots) const {
  for (std::size_t k = 0; k < slots.size(); ++k) {
    const auto slot = static_cast<std::size_t>(slots[k]);
    // the first number of a record is the time in forward direction, even in a backward run
    const double* t = snapshots[k].reals;
    chunk.switched_to[slot] = duty_ == duty::hand_over ? 1 : 2;
    chunk.switched[slot] = t == nullptr ? chunk.t_begin[slot] : plan_.backward ? -*t : *t;
  }
}

void fallback_integrator::carry_on(chunk_data& chunk, const cancellation& stop) {
  const std::vector<long long> slots = take_over(chunk);
  if (slots.empty()) return;
  chunk.note_writer_on_host();
  if (stop || !is_ready(stop)) return;
  std::vector<bool> taken(chunk.status.size(), false);
  for (const long long slot : slots) taken[static_cast<std::size_t>(slot)] = true;
  const exception_list from = chunk.exceptions.take(taken);
  const auto snapshots = snapshots_of(chunk, slots, from);
  if (!rescues(duty_)) note_change(chunk, slots, snapshots);

  std::mutex reporting;
  const auto some_of_them = [&](const tbb::blocked_range<std::size_t>& some) {
    event_log log;
    exception_list exceptions;
    abi::usage used{};
    log.state_count = chunk.log.state_count;
    log.folder = chunk.log.folder;
    const auto finished = [&](std::int64_t) { return !stop; };
    const std::function<bool(std::int64_t)> go_on = finished;
    resume({*module_, settings_, chunk, log, &exceptions, go_on, plan_.instance_time_limit}, used,
           std::span(slots).subspan(some.begin(), some.size()),
           std::span(snapshots).subspan(some.begin(), some.size()));
    const std::lock_guard lock(reporting);
    chunk.log.append(log);
    chunk.exceptions.append(exceptions);
  };
  const std::size_t together = rescues(duty_) ? 1 : handed_over_per_lane * static_cast<std::size_t>(module_->lanes);
  // The module itself marks the instances that it begins.
  const auto mark = [&](status before, status after) {
    for (const long long slot : slots)
      if (auto& s = chunk.status[static_cast<std::size_t>(slot)]; s == static_cast<unsigned char>(before))
        s = static_cast<unsigned char>(after);
  };
  mark(status::interrupted, status::not_run);
  try {
    // Isolated: a thread that waits here helps with this chunk and begins no other.
    tbb::this_task_arena::isolate(
        [&] { tbb::parallel_for(tbb::blocked_range<std::size_t>(0, slots.size(), together), some_of_them); });
  } catch (...) {
    mark(status::not_run, status::interrupted);
    throw;
  }
  mark(status::not_run, status::interrupted);
}

fallback_integrators::fallback_integrators(const plan& p, const cancellation& stop, const std::function<void()>& tick)
    : plan_(p),
      rescue_(p, fallback_integrator::duty::rescue, stop, tick),
      stiff_(p, fallback_integrator::duty::hand_over, stop, tick),
      lasting_(p, fallback_integrator::duty::hand_over_for_long, stop, tick),
      last_(p, fallback_integrator::duty::last_rescue, stop, tick) {}

// A rescued instance may prove stiff.
void fallback_integrators::carry_on(chunk_data& chunk, const cancellation& stop) {
  if (plan_.rescue) rescue_.carry_on(chunk, stop);
  if (plan_.stiff_method.empty()) return;
  stiff_.carry_on(chunk, stop);
  lasting_.carry_on(chunk, stop);
  if (plan_.rescue) last_.carry_on(chunk, stop);
}

}  // namespace saltus::host
