// Where chunks of instances are integrated, as the scheduler sees it. What there is - CPU lanes, CUDA devices - is made in
// backend/; nothing here knows of it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "abi/module.hpp"
#include "ensemble/chunk.hpp"

namespace saltus::host {

class backend {
 public:
  virtual ~backend() = default;

  /// What it runs on, for people: "cpu: 2 threads x 8 lanes of double, g++ 12.2.0".
  virtual std::string device() const = 0;
  /// Hash of the compiled model and method.
  virtual std::string model_hash() const = 0;
  /// Seconds spent compiling; 0 when the module came from the cache.
  virtual double compile_seconds() const = 0;
  /// How many instances a chunk should have, and how many chunks may be integrated at once.
  virtual std::int64_t chunk_size() const = 0;
  virtual int concurrency() const = 0;
  /// How few it takes where a queue is shared and runs out.
  virtual std::int64_t smallest_chunk() const { return 1; }
  /// Does integrating a chunk keep a thread of the host busy?
  virtual bool uses_host_threads() const { return true; }
  /// Those that take chunks from one queue; each goes by its own size and concurrency.
  virtual std::vector<backend*> parts() { return {this}; }
  /// Instances per vector; 1 on a device, where a pass of a warp counts for each of its threads.
  virtual int lanes() const { return 1; }
  /// Floating-point operations per second that the device can do at most, in the plan's precision; 0: not known here (of
  /// CPUs it is measured: peak.hpp).
  virtual double peak_flops() const { return 0; }
  /// Seconds so far in which it computed, by a clock of its own; nothing if it has none.
  virtual std::optional<double> busy_seconds() const { return {}; }
  /// Does it gain where instances of like work begin side by side (order.hpp), in the order that a chunk has?
  virtual bool gains_by_order() const { return false; }

  /// Integrates a chunk. `finished(k)` is told of k more instances that have ended; when it returns false the chunk is left
  /// as soon as possible, instances under way get status `interrupted`. Called from several threads at once if
  /// `concurrency` is more than one. What could not go on stands in chunk.exceptions if the plan wants it carried on.
  /// Throws `error`.
  virtual void integrate(chunk_data& chunk, const std::function<bool(std::int64_t)>& finished, abi::usage& usage) = 0;
};

}  // namespace saltus::host
