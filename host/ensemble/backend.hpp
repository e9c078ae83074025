// The interface through which the scheduler integrates chunks of instances. The implementations, for CPU lanes and CUDA
// devices, are in backend/; this file does not depend on them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "abi/module.hpp"
#include "ensemble/chunk_data.hpp"
#include "ensemble/launches.hpp"

namespace saltus::host {

/// For any number of threads. A chunk that was used before still holds its numbers.
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

class backend {
 public:
  virtual ~backend() = default;

  /// Describes the device for people: "cpu: 2 threads x 8 lanes of double, g++ 12.2.0".
  virtual std::string device() const = 0;
  /// Hash of the compiled model and method.
  virtual std::string model_hash() const = 0;
  /// Seconds spent compiling; 0 if the module came from the cache.
  virtual double compile_seconds() const = 0;
  /// Best number of instances per chunk, and the number of chunks that may be integrated at once.
  virtual std::int64_t chunk_size() const = 0;
  virtual int concurrency() const = 0;
  /// The smallest range worth taking when a shared queue runs out.
  virtual std::int64_t smallest_chunk() const { return 1; }
  /// Does integrating a chunk keep a thread of the host busy?
  virtual bool uses_host_threads() const { return true; }
  /// The backends that take chunks from one queue; each uses its own chunk size and concurrency.
  virtual std::vector<backend*> parts() { return {this}; }
  /// Instances per vector; 1 on a device, where a pass of a warp counts once for each thread.
  virtual int lanes() const { return 1; }
  /// Peak floating-point operations per second of the device in the plan's precision; 0: unknown (flops.hpp measures it
  /// for CPUs).
  virtual double peak_flops() const { return 0; }
  /// Seconds of computation so far by the device's own clock; nothing if it has none.
  virtual std::optional<double> busy_seconds() const { return {}; }
  /// Does it gain if instances with similar work begin side by side (order.hpp), in the order that a chunk gives?
  virtual bool gains_by_order() const { return false; }

  /// The launches so far; nothing if it launches no kernels. `time_launches` makes it time each one from now on, which takes
  /// time itself.
  virtual std::optional<launches> launches_so_far() const { return {}; }
  virtual void time_launches() {}

  /// Chunks of earlier runs: a run that follows writes to memory that is there already.
  chunk_pool& chunks() { return chunks_; }

  /// Integrates a chunk that has its inputs, and writes all of its results. Calls `finished(k)` when k more instances have ended; if it returns false, the backend leaves
  /// the chunk as soon as possible, and instances under way get status `interrupted`. Called from several threads at
  /// once if `concurrency` exceeds one. Instances that lanes could not continue are listed in chunk.exceptions if the
  /// plan has a fallback integrator for them. Throws `error`.
  virtual void integrate(chunk_data& chunk, const std::function<bool(std::int64_t)>& finished, abi::usage& usage) = 0;

 private:
  chunk_pool chunks_;
};

}  // namespace saltus::host
