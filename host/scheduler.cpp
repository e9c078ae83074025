#include "scheduler.hpp"

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

#include "error.hpp"
#include "rescue.hpp"
#include "sampler.hpp"

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
  std::mutex                               mutex_;
  std::vector<std::unique_ptr<chunk_data>> free_;
};

/// One of the places of a semaphore, held while this lives.
class place {
 public:
  explicit place(std::counting_semaphore<>& all) : all_(all) { all_.acquire(); }
  ~place() { all_.release(); }
  place(const place&)            = delete;
  place& operator=(const place&) = delete;

 private:
  std::counting_semaphore<>& all_;
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
  const auto                begin = std::chrono::steady_clock::now();
  const std::int64_t        size  = where.chunk_size();
  const int                 width = where.concurrency();
  const sampler             values(p);
  successor                 stiff(p, successor::duty::hand_over), rescuer(p, successor::duty::rescue);
  chunk_pool                pool;
  run_summary               summary;
  std::mutex                usage_mutex;
  const int                 threads = std::max(width, threads_of(p));
  std::counting_semaphore<> places(width);  // in the backend; further threads only carry on what it leaves
  std::int64_t              next = 0;

  using item          = chunk_data*;  // owned by the pipeline between its first and last stage
  const auto hand_out = [&](tbb::flow_control& flow) -> item {
    if (next >= p.count) {
      flow.stop();
      return nullptr;
    }
    auto chunk = pool.get();
    chunk->reset(p, next, std::min(size, p.count - next));
    next += chunk->count;
    return chunk.release();
  };
  const auto integrate = [&](item raw) -> item {
    std::unique_ptr<chunk_data> chunk(raw);
    values.fill(chunk->first_id, chunk->count, *chunk);
    const place here(places);
    // After a stop the chunks that are left pass through as they are: every instance still gets its row, as not run.
    if (!stop) {
      abi::usage used{};
      where.integrate(
          *chunk,
          [&](std::int64_t some) {
            progress(some);
            return !stop.load(std::memory_order_relaxed);
          },
          used);
      const std::lock_guard lock(usage_mutex);
      add(summary.usage, used);
    }
    return chunk.release();
  };
  const auto carry_on = [&](item raw) -> item {
    std::unique_ptr<chunk_data> chunk(raw);
    if (!p.stiff_method.empty()) stiff.carry_on(*chunk, stop);
    if (p.rescue) rescuer.carry_on(*chunk, stop);
    return chunk.release();
  };
  const auto collect = [&](item raw) {
    std::unique_ptr<chunk_data> chunk(raw);
    summary.counts.add(*chunk);
    write(*chunk);
    pool.put(std::move(chunk));
  };

  tbb::global_control control(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
  tbb::task_arena     arena(threads);
  arena.execute([&] {
    tbb::parallel_pipeline(static_cast<std::size_t>(2 * width),
                           tbb::make_filter<void, item>(tbb::filter_mode::serial_in_order, hand_out) &
                               tbb::make_filter<item, item>(tbb::filter_mode::parallel, integrate) &
                               tbb::make_filter<item, item>(tbb::filter_mode::parallel, carry_on) &
                               tbb::make_filter<item, void>(tbb::filter_mode::serial_in_order, collect));
  });

  const tally& n = summary.counts;
  if (n.ok() + n.rescued() + n.failed() + n.not_finished() != p.count)
    throw error(exit_failure, fmt::format("internal: {} ok, {} rescued, {} failed and {} not finished are not {}",
                                          n.ok(), n.rescued(), n.failed(), n.not_finished(), p.count));
  summary.interrupted            = stop;
  summary.stiff_compile_seconds  = stiff.compile_seconds();
  summary.rescue_compile_seconds = rescuer.compile_seconds();
  summary.wall_seconds           = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return summary;
}

}  // namespace saltus::host
