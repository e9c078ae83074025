#include "ensemble/pipeline.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>
#include <semaphore>
#include <vector>

#include <fmt/format.h>
#include <tbb/global_control.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "ensemble/chunk_queue.hpp"
#include "ensemble/crash.hpp"
#include "ensemble/explained_ends.hpp"
#include "ensemble/model_call.hpp"
#include "ensemble/order.hpp"
#include "ensemble/rescue.hpp"
#include "ensemble/run_statistics.hpp"
#include "ensemble/sampler.hpp"
#include "ensemble/settings.hpp"
#include "ensemble/stopwatch.hpp"

namespace saltus::host {

namespace {

/// A permit of a semaphore, held while this lives.
class permit {
 public:
  explicit permit(std::counting_semaphore<>& all) : all_(all) { all_.acquire(); }
  ~permit() { all_.release(); }
  permit(const permit&) = delete;
  permit& operator=(const permit&) = delete;

 private:
  std::counting_semaphore<>& all_;
};

void add(abi::usage& sum, const abi::usage& more) {
  sum.turns += more.turns;
  sum.lane_turns += more.lane_turns;
  sum.landings += more.landings;
  sum.landed += more.landed;
}

/// The summary of a run, collected from its stages on any thread.
class account {
 public:
  explicit account(chunk_queue& queue) {
    for (std::size_t i = 0; i < queue.workers(); ++i) summary_.parts.push_back({queue[i].device(), 0, 0, 0});
  }

  stopwatch& in_backend() { return in_backend_; }

  void add_integrated(const chunk_queue::range& range, const abi::usage& used, std::int64_t bytes, double seconds) {
    const std::lock_guard lock(mutex_);
    add(summary_.usage, used);
    summary_.bytes += bytes;
    auto& part = summary_.parts[range.worker];
    part.instances += range.count;
    part.chunks += 1;
    part.chunk_seconds += seconds;
  }

  /// Explains the first crash only: the others follow from it.
  template <class Explain>
  void add_crash(Explain&& explain) {
    const std::lock_guard lock(mutex_);
    if (summary_.crash.empty()) summary_.crash = explain();
  }

  /// Called by one thread at a time.
  void add_written(const tally& counts, const std::string& trouble) {
    summary_.counts.add(counts);
    if (summary_.trouble.empty()) summary_.trouble = trouble;
  }

  /// Called when all stages have ended, with the instances that were handed out and those that were not.
  run_summary close(std::int64_t handed_out, const chunk_queue::remainder& left) {
    tally& n = summary_.counts;
    n.by_status[static_cast<std::size_t>(status::not_run)] += left.others;
    summary_.not_read = left.kept;
    const std::int64_t instances = handed_out + left.kept + left.others;
    if (n.ok() + n.rescued() + n.failed() + n.not_finished() + left.kept != instances)
      throw error(exit_failure, fmt::format("internal: {} ok, {} rescued, {} failed, {} not finished and {} not read "
                                            "are not {}",
                                            n.ok(), n.rescued(), n.failed(), n.not_finished(), left.kept, instances));
    summary_.kernel_seconds = in_backend_.any();
    summary_.chunk_seconds = in_backend_.sum();
    summary_.instances = instances;
    return std::move(summary_);
  }

 private:
  run_summary summary_;
  std::mutex mutex_;
  stopwatch in_backend_;
};

/// The stages of the pipeline and their shared data.
class ensemble_run {
 public:
  ensemble_run(const plan& p, backend& where, const cancellation& stop, const ensemble_calls& calls)
      : plan_(p),
        where_(where),
        calls_(calls),
        stop_(stop),
        ending_(stop.within()),
        kept_(calls.kept),
        from_(kept_ ? kept_->taken_from() : nullptr),
        queue_(p, where, kept_ ? kept_->stored() : std::vector<id_range>(), from_, kept_ && kept_->is_all_there_is()),
        values_(p),
        statistics_(p),
        indices_(indices_setup_of(p)),
        fallback_(p, ending_, [this] { calls_.progress(0); }),
        ends_(p, ending_),
        account_(queue_) {}

  run_summary run() {
    const auto busy_before = where_.busy_seconds();
    do {
      const call_watch watch(stop_, [this] { calls_.progress(0); });  // checks the clock even when no instance reports
      run_pipeline();
    } while (has_grown());
    run_summary sum = account_.close(queue_.handed_out(), queue_.not_handed_out());
    if (!from_) {  // statistics of a part would be meaningless
      sum.statistics = statistics_.finish();
      sum.indices = indices_.finish();
    }
    sum.interrupted = stop_.is_cancelled();
    if (const auto busy = where_.busy_seconds(); busy && busy_before) sum.kernel_seconds = *busy - *busy_before;
    sum.stiff_compile_seconds = fallback_.seconds_for_stiff();
    sum.rescue_compile_seconds = fallback_.seconds_for_rescue();
    sum.wall_seconds = seconds_since(begin_);
    return sum;
  }

 private:
  struct handed_out {
    std::unique_ptr<chunk_data> chunk;
    chunk_queue::range range;
    tally counts;
  };
  using item = handed_out*;  // owned by the pipeline between its first and last stage

  /// A failing stage stops the queue: other stages must not wait for its output.
  template <class Stage>
  auto guarded(Stage stage) {
    return [this, stage](auto&& what) {
      try {
        return stage(what);
      } catch (...) {
        queue_.give_up();
        throw;
      }
    };
  }

  bool has_grown() {
    if (!calls_.grow || ending_ || !calls_.grow(indices_.finish())) return false;
    statistics_.grow();
    indices_.grow(plan_.design.count);
    return true;
  }

  void run_pipeline() {
    using tbb::filter_mode;
    const int threads = std::max(queue_.threads(), threads_of(plan_));
    auto control = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                         static_cast<std::size_t>(threads));
    const auto hand_out = guarded([this](tbb::flow_control& flow) { return this->hand_out(flow); });
    const auto integrate = guarded([this](item handed) { return this->integrate(handed); });
    const auto carry_on = guarded([this](item handed) { return this->carry_on(handed); });
    const auto collect = guarded([this](item handed) { this->collect(handed); });
    try {
      tbb::task_arena(threads).execute([&] {
        tbb::parallel_pipeline(queue_.max_ranges(),
                               tbb::make_filter<void, item>(filter_mode::serial_in_order, hand_out) &
                                   tbb::make_filter<item, item>(filter_mode::parallel, integrate) &
                                   tbb::make_filter<item, item>(filter_mode::parallel, carry_on) &
                                   tbb::make_filter<item, void>(filter_mode::serial_out_of_order, collect));
      });
    } catch (const std::bad_alloc&) {
      // Works around oneTBB 2021.8: if memory ends while an arena is made, the library keeps a lock, and the destructor
      // of this object would wait for it for ever.
      static_cast<void>(control.release());
      throw;
    }
  }

  // ---- the stages

  /// Hands out nothing after a stop, so that the time to stop does not depend on the remaining work.
  item hand_out(tbb::flow_control& flow) {
    const auto range = ending_ ? std::nullopt : queue_.next();
    if (!range) {
      flow.stop();
      return nullptr;
    }
    return new handed_out{where_.chunks().get(), *range, {}};
  }

  item integrate(item raw) {
    std::unique_ptr<handed_out> handed(raw);
    auto& [chunk, range, counts] = *handed;
    chunk->arrange(plan_, range.first, range.count);
    values_.fill(chunk->first_id, chunk->count, *chunk);
    if (range.is_kept) {
      chunk->preset();
      kept_->load(range, *chunk, counts);
      chunk->note_writer_on_host();
      calls_.progress(range.count);
      return handed.release();
    }
    if (is_ordered(range.worker)) chunk->order = by_work_.order(*chunk);
    const permit here(queue_.permits(range.worker));
    // A chunk handed out before a stop passes through unchanged: its instances get rows as not run.
    if (ending_) chunk->preset(), queue_.is_integrated(range, 0.0);
    else queue_.is_integrated(range, integrate_on(queue_[range.worker], *chunk, range));
    return handed.release();
  }

  /// Returns the seconds it took.
  double integrate_on(backend& worker, chunk_data& chunk, const chunk_queue::range& range) {
    abi::usage used{};
    double seconds = 0;
    {
      const timed here(account_.in_backend());
      const auto finished = [this](std::int64_t some) {
        calls_.progress(some);
        return !ending_;
      };
      try {
        worker.integrate(chunk, finished, used);
      } catch (const model_crash& crash) { note_crash(crash, chunk); }
      seconds = here.seconds();
    }
    account_.add_integrated(range, used, moved_bytes(chunk), seconds);
    return seconds;
  }

  item carry_on(item raw) {
    std::unique_ptr<handed_out> handed(raw);
    auto& chunk = *handed->chunk;
    if (!handed->range.is_kept) finish(chunk, handed->range);
    else if (!plan_.rows) return handed.release();  // its statistics and counts were kept, too
    if (plan_.rows && !handed->range.is_kept) ends_.find_not_finite(chunk);
    make_statistics(plan_, chunk);
    chunk.indices = indices_.make(chunk.first_id, chunk.count, outcomes_of(chunk), chunk.status.data());
    handed->counts.add(chunk);
    return handed.release();
  }

  void collect(item raw) {
    const std::unique_ptr<handed_out> handed(raw);
    auto& chunk = *handed->chunk;
    account_.add_written(handed->counts, chunk.trouble);
    if (kept_) kept_->keep(chunk, handed->counts);
    statistics_.add(chunk);
    indices_.add(chunk.first_id, chunk.count, outcomes_of(chunk), chunk.status.data(), std::move(chunk.indices));
    calls_.write(chunk, handed->counts);
    where_.chunks().put(std::move(handed->chunk));
    queue_.is_written(handed->range);
  }

  // ---- helpers

  /// Runs the fallback integrators on instances that the backend gave up.
  void finish(chunk_data& chunk, const chunk_queue::range& range) {
    if (is_ordered(range.worker)) by_work_.learn(chunk);
    try {
      fallback_.carry_on(chunk, ending_);
      if (plan_.rows) ends_.find_dependent(chunk);
    } catch (const model_crash& crash) { note_crash(crash, chunk); }
    chunk.log_kept_rows(plan_.logged);
  }

  /// The results of a chunk for which indices are asked.
  std::vector<number_column> outcomes_of(chunk_data& chunk) const {
    std::vector<number_column> r;
    if (plan_.indices.empty()) return r;
    const auto all = number_columns(plan_, chunk.count, chunk.results());
    for (const int column : plan_.indices) r.push_back(all[static_cast<std::size_t>(column)]);
    return r;
  }

  bool is_ordered(std::size_t worker) { return plan_.by_work && queue_[worker].gains_by_order(); }

  void note_crash(const model_crash& crash, chunk_data& chunk) {
    ending_.cancel();
    account_.add_crash([&] { return explain_crash(plan_, chunk, crash, stop_); });
  }

  monotonic_clock::time_point begin_ = monotonic_clock::now();
  const plan& plan_;
  backend& where_;
  const ensemble_calls& calls_;
  const cancellation& stop_;
  const cancellation ending_;  ///< cancelled by `stop_`, or when the model has crashed
  kept_chunks* kept_;
  claims* from_;
  chunk_queue queue_;
  const sampler values_;
  statistics_sum statistics_;
  indices_sum indices_;
  work_order by_work_;
  fallback_integrators fallback_;
  end_explainer ends_;
  account account_;
};

}  // namespace

void add(run_summary& sum, const run_summary& more) {
  sum.instances += more.instances;
  sum.counts.add(more.counts);
  add(sum.usage, more.usage);
  sum.wall_seconds += more.wall_seconds;
  sum.stiff_compile_seconds += more.stiff_compile_seconds;
  sum.rescue_compile_seconds += more.rescue_compile_seconds;
  for (std::size_t i = 0; i < sum.parts.size(); ++i) {
    sum.parts[i].instances += more.parts[i].instances;
    sum.parts[i].chunks += more.parts[i].chunks;
    sum.parts[i].chunk_seconds += more.parts[i].chunk_seconds;
  }
  sum.not_read += more.not_read;
  sum.interrupted = more.interrupted;
  if (sum.trouble.empty()) sum.trouble = more.trouble;
  sum.crash = more.crash;
  sum.kernel_seconds += more.kernel_seconds;
  sum.chunk_seconds += more.chunk_seconds;
  sum.bytes += more.bytes;
}

run_summary run_ensemble(const plan& p, backend& where, const cancellation& stop, const ensemble_calls& calls) {
  return ensemble_run(p, where, stop, calls).run();
}

}  // namespace saltus::host
