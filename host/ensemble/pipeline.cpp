#include "ensemble/pipeline.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <semaphore>
#include <vector>

#include <fmt/format.h>
#include <tbb/global_control.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include "base/error.hpp"
#include "ensemble/chunk_queue.hpp"
#include "ensemble/crash.hpp"
#include "ensemble/model_call.hpp"
#include "ensemble/order.hpp"
#include "ensemble/rescue.hpp"
#include "ensemble/sampler.hpp"
#include "ensemble/settings.hpp"
#include "ensemble/statistics.hpp"

namespace saltus::host {

namespace {

/// Chunks that are not in use, kept for their memory.
class chunk_pool {
 public:
  std::unique_ptr<chunk_data> get() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<chunk_data>();
    auto chunk = std::move(free_.back());
    free_.pop_back();
    return chunk;
  }
  void put(std::unique_ptr<chunk_data> chunk) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(chunk));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<chunk_data>> free_;
};

/// One of the places of a semaphore, held while this lives.
class place {
 public:
  explicit place(std::counting_semaphore<>& all) : all_(all) { all_.acquire(); }
  ~place() { all_.release(); }
  place(const place&) = delete;
  place& operator=(const place&) = delete;

 private:
  std::counting_semaphore<>& all_;
};

/// How long anything was under way, and how long all that was took together.
class stopwatch {
 public:
  void begin() {
    const std::lock_guard lock(mutex_);
    pass();
    ++under_way_;
  }
  void end() {
    const std::lock_guard lock(mutex_);
    pass();
    --under_way_;
  }
  double any() const { return any_; }
  double sum() const { return sum_; }

 private:
  using clock = std::chrono::steady_clock;
  void pass() {
    const auto now = clock::now();
    const std::chrono::duration<double> more = now - last_;
    if (under_way_ > 0) any_ += more.count();
    sum_ += under_way_ * more.count();
    last_ = now;
  }

  std::mutex mutex_;
  clock::time_point last_ = clock::now();
  int under_way_ = 0;
  double any_ = 0, sum_ = 0;
};

void add(abi::usage& sum, const abi::usage& more) {
  sum.turns += more.turns;
  sum.lane_turns += more.lane_turns;
  sum.landings += more.landings;
  sum.landed += more.landed;
}

}  // namespace

run_summary run_ensemble(const plan& p, backend& where, const std::function<void(const chunk_data&)>& write,
                         const std::function<void(std::int64_t)>& progress, const std::atomic<bool>& stop) {
  const auto begin = std::chrono::steady_clock::now();
  chunk_queue queue(p, where);
  const sampler values(p);
  statistics_sum all(p);
  work_order by_work;
  const auto is_ordered = [&](std::size_t taker) { return p.by_work && queue[taker].gains_by_order(); };
  const auto look_at_clock = [&] { progress(0); };
  successor stiff(p, successor::duty::hand_over, look_at_clock), rescuer(p, successor::duty::rescue, look_at_clock);
  chunk_pool pool;
  run_summary summary;
  std::mutex usage_mutex;
  stopwatch in_backend;
  // A run ends early when it is asked to, or when the model has crashed.
  std::atomic<bool> ending = false;
  const auto is_ending = [&] {
    if (stop) ending = true;
    return ending.load(std::memory_order_relaxed);
  };
  const auto note_crash = [&](const model_crash& crash, chunk_data& chunk) {
    ending = true;
    const std::lock_guard lock(usage_mutex);
    if (summary.crash.empty()) summary.crash = explain_crash(p, chunk, crash);
  };
  const auto busy_before = where.busy_seconds();
  const int threads = std::max(queue.threads(), threads_of(p));

  struct handed_out {
    std::unique_ptr<chunk_data> chunk;
    chunk_queue::piece piece;
  };
  using item = handed_out*;  // owned by the pipeline between its first and last stage
  // A stage that fails ends the run: nobody must wait for what it does not do.
  const auto guarded = [&](auto stage) {
    return [&queue, stage](auto&& what) {
      try {
        return stage(what);
      } catch (...) {
        queue.give_up();
        throw;
      }
    };
  };
  const auto hand_out = guarded([&](tbb::flow_control& flow) -> item {
    const auto piece = queue.next();
    if (!piece) {
      flow.stop();
      return nullptr;
    }
    auto chunk = pool.get();
    chunk->reset(p, piece->first, piece->count);
    return new handed_out{std::move(chunk), *piece};
  });
  const auto integrate = guarded([&](item raw) -> item {
    std::unique_ptr<handed_out> handed(raw);
    auto& [chunk, piece] = *handed;
    backend& backend = queue[piece.taker];
    double seconds = 0;
    values.fill(chunk->first_id, chunk->count, *chunk);
    if (is_ordered(piece.taker)) chunk->order = by_work.order(*chunk);
    const place here(queue.places(piece.taker));
    // After a stop the chunks that are left pass through as they are: every instance still gets its row, as not run.
    if (!is_ending()) {
      abi::usage used{};
      const auto start = std::chrono::steady_clock::now();
      in_backend.begin();
      try {
        backend.integrate(
            *chunk,
            [&](std::int64_t some) {
              progress(some);
              return !is_ending();
            },
            used);
      } catch (const model_crash& crash) { note_crash(crash, *chunk); }
      in_backend.end();
      seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      const std::lock_guard lock(usage_mutex);
      add(summary.usage, used);
      summary.bytes += moved_bytes(*chunk);
      auto& part = summary.parts[piece.taker];
      part.instances += piece.count;
      part.chunks += 1;
      part.chunk_seconds += seconds;
    }
    queue.is_integrated(piece, seconds);
    return handed.release();
  });
  const auto carry_on = guarded([&](item raw) -> item {
    std::unique_ptr<handed_out> handed(raw);
    auto& chunk = handed->chunk;
    if (is_ordered(handed->piece.taker)) by_work.learn(*chunk);
    is_ending();
    try {
      if (!p.stiff_method.empty()) stiff.carry_on(*chunk, ending);
      if (p.rescue) rescuer.carry_on(*chunk, ending);
    } catch (const model_crash& crash) { note_crash(crash, *chunk); }
    make_statistics(p, *chunk);
    return handed.release();
  });
  const auto collect = guarded([&](item raw) {
    const std::unique_ptr<handed_out> handed(raw);
    summary.counts.add(*handed->chunk);
    if (summary.trouble.empty()) summary.trouble = handed->chunk->trouble;
    all.add(*handed->chunk);
    write(*handed->chunk);
    pool.put(std::move(handed->chunk));
    queue.is_written(handed->piece);
  });
  for (std::size_t i = 0; i < queue.takers(); ++i) summary.parts.push_back({queue[i].device()});

  // Looks at the clock also where nobody reports.
  const call_watch watch(stop, [&] { progress(0); });
  tbb::global_control control(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
  tbb::task_arena arena(threads);
  arena.execute([&] {
    tbb::parallel_pipeline(queue.most_pieces(),
                           tbb::make_filter<void, item>(tbb::filter_mode::serial_in_order, hand_out) &
                               tbb::make_filter<item, item>(tbb::filter_mode::parallel, integrate) &
                               tbb::make_filter<item, item>(tbb::filter_mode::parallel, carry_on) &
                               tbb::make_filter<item, void>(tbb::filter_mode::serial_out_of_order, collect));
  });

  const tally& n = summary.counts;
  if (n.ok() + n.rescued() + n.failed() + n.not_finished() != p.count)
    throw error(exit_failure, fmt::format("internal: {} ok, {} rescued, {} failed and {} not finished are not {}",
                                          n.ok(), n.rescued(), n.failed(), n.not_finished(), p.count));
  summary.statistics = all.finish();
  summary.interrupted = stop;
  summary.kernel_seconds = in_backend.any();
  if (const auto busy = where.busy_seconds(); busy && busy_before) summary.kernel_seconds = *busy - *busy_before;
  summary.chunk_seconds = in_backend.sum();
  summary.stiff_compile_seconds = stiff.compile_seconds();
  summary.rescue_compile_seconds = rescuer.compile_seconds();
  summary.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return summary;
}

}  // namespace saltus::host
