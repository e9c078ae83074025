// The backend of a device: each chunk is in device memory, and rounds of kernels are launched (kernels/run/) in its own stream. Part of
// the plug-in library.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "abi/device.hpp"
#include "backend/device/chunk_runner.hpp"
#include "backend/device/device_driver.hpp"
#include "backend/device/run_data.hpp"
#include "base/error.hpp"
#include "ensemble/backend.hpp"

namespace saltus::host {

inline constexpr std::int64_t max_instances = 1 << 17;  ///< per chunk
inline constexpr std::int64_t max_host_bytes = 1
                                               << 30;  ///< of a chunk in host memory, which holds a few chunks at once
inline constexpr std::int64_t min_instances = 2048;    ///< per chunk, unless the run has fewer
inline constexpr std::int64_t some_instances = 1 << 16;              ///< per chunk, of a run that is not large
inline constexpr int few_chunks = chunks_at_once, many_chunks = 64;  ///< of a small run, and of a large one
/// Making an order takes some 40 ns of a processor for each instance: more than it can save in a run with fewer instances for
/// each thread, and where an instance takes less time in kernels.
inline constexpr std::int64_t min_ordered_per_thread = 16;
inline constexpr double min_seconds_ordered = 20e-9;

class device_backend final : public backend {
 public:
  device_backend(const plan& p, int device)
      : run_(p, device), number_(device), chunk_size_(p.chunk > 0 ? p.chunk : chosen_chunk()) {
    run_.share.plan(run_.module.local_bytes +
                    run_.bytes_for(std::min(chunk_size_, p.count)) * static_cast<std::size_t>(concurrency()));
  }
  ~device_backend() override {
    try {
      run_.device.use();  // to free memory on this thread
    } catch (const error&) {}
  }

  std::string device() const override {
    return fmt::format("{} of {}", description_of(run_.device, number_, run_.built), word_of(run_.what.precision));
  }
  std::string model_hash() const override { return run_.built.key(); }
  double compile_seconds() const override { return run_.built.seconds; }
  std::int64_t chunk_size() const override { return chunk_size_; }
  bool gains_by_order() const override {
    const auto ended = static_cast<double>(ended_instances_.load());
    return run_.what.count >= min_ordered_per_thread * threads() && run_.busy.seconds() >= min_seconds_ordered * ended;
  }
  double peak_flops() const override { return 2.0 * fma_per_second(run_.device, run_.what); }
  std::int64_t smallest_chunk() const override { return std::min<std::int64_t>(chunk_size_, threads()); }
  bool uses_host_threads() const override { return false; }
  std::optional<double> busy_seconds() const override { return run_.busy.seconds(); }
  std::optional<launches> launches_so_far() const override { return run_.launched.so_far(); }
  void time_launches() override { run_.launched.time(); }
  int concurrency() const override {
    const std::int64_t chunks = (run_.what.count + chunk_size_ - 1) / chunk_size_;
    return static_cast<int>(std::clamp<std::int64_t>(chunks, 1, chunks_at_once));
  }

  void integrate(chunk_data& chunk, const std::function<bool(std::int64_t)>& finished, abi::usage& usage) override {
    run_.device.use();
    const at_work here(*this);
    std::unique_ptr<chunk_runner> runner;
    int rank = 0;
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        runner = std::move(idle_.back());
        idle_.pop_back();
      } else rank = made_++ % chunks_at_once;
    }
    if (!runner) runner = std::make_unique<chunk_runner>(run_, rank, chunk_size_, [this] { return wait_for_memory(); });
    runner->integrate(chunk, finished, usage);
    ended_instances_ += chunk.count;
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(runner));
  }

 private:
  /// Counts the threads that integrate a chunk.
  class at_work {
   public:
    explicit at_work(device_backend& where) : where_(where) { count(1); }
    ~at_work() { count(-1); }
    at_work(const at_work&) = delete;
    at_work& operator=(const at_work&) = delete;

   private:
    void count(int more) {
      const std::lock_guard lock(where_.mutex_);
      where_.working_ += more;
      where_.ended_.notify_all();
    }
    device_backend& where_;
  };

  /// Waits until another chunk at work has ended, unless all of them wait, and frees the memory of idle runners.
  /// Returns false if there is none to wait for.
  bool wait_for_memory() {
    std::unique_lock lock(mutex_);
    if (idle_.empty()) {
      const int before = working_;
      if (before - waiting_ <= 1) return false;
      ++waiting_;
      ended_.wait(lock, [&] { return !idle_.empty() || working_ < before || working_ - waiting_ < 1; });
      --waiting_;
    }
    idle_.clear();
    return true;
  }

  /// Threads that sail at once.
  std::int64_t threads() const { return std::int64_t{run_.module.sail.blocks} * abi::device_block; }

  /// Several chunks, so that the host works at some while the device works at others; none so large that either waits long
  /// for its first bytes. Measured: docs/cuda.md.
  std::int64_t chosen_chunk() const {
    const plan& p = run_.what;
    const std::int64_t for_few = std::clamp((p.count + few_chunks - 1) / few_chunks, min_instances, some_instances);
    const std::int64_t for_many = std::min(p.count / many_chunks, max_instances);
    std::int64_t size = std::min(p.count, std::max(for_few, for_many));
    while (size > 1 && (chunk_bytes(p, size) > max_host_bytes || run_.bytes_for(size) > run_.memory))
      size = (size + 1) / 2;
    return size;
  }

  run_data run_;
  int number_;
  std::int64_t chunk_size_;
  std::atomic<std::int64_t> ended_instances_ = 0;  ///< of all runs so far
  std::mutex mutex_;
  std::condition_variable ended_;
  int made_ = 0;                   ///< runners so far
  int working_ = 0, waiting_ = 0;  ///< chunks at work, and those of them that wait for memory
  std::vector<std::unique_ptr<chunk_runner>> idle_;
};

}  // namespace saltus::host
