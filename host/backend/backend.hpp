// Where chunks of instances are integrated: CPU lanes or a CUDA device. One scheduler drives both.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "abi/unit.hpp"
#include "result/result.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

class backend {
 public:
  virtual ~backend() = default;

  /// What it runs on, for people: "cpu: 2 threads x 8 lanes of double, g++ 12.2.0".
  virtual std::string device() const = 0;
  /// Hash of the compiled model and method.
  virtual std::string model_hash() const = 0;
  /// Seconds spent compiling; 0 when the unit came from the cache.
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
  /// Instances per vector; 1 on a device, whose threads are counted one by one.
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

/// CPU lanes; compiles the unit if it is not in the cache.
std::unique_ptr<backend> make_cpu_backend(const plan& p);

/// The CUDA devices that the plan asks for, by way of the plug-in library; throws `error` (exit_device) with the reason if
/// there is none, or not that one.
std::unique_ptr<backend> make_cuda_backend(const plan& p);

/// Why there is no CUDA device to use; empty if there is one. `name` receives its name, or those of all.
std::string cuda_absent(std::string* name = nullptr);

/// The names of the CUDA devices, by number; empty if there is none to use, for which `reason` receives the reason.
std::vector<std::string> cuda_devices(std::string* reason = nullptr);

/// Several that take chunks from one queue. `note` is said of them besides.
std::unique_ptr<backend> make_shared_backend(std::vector<std::unique_ptr<backend>> parts, std::string note = {});

/// CPU lanes and all CUDA devices that the plan asks for. Where there is no device, that is said, and the CPU works alone.
std::unique_ptr<backend> make_backend_of_all(const plan& p);

/// As the plan asks: "cpu", "cuda", "all", or "auto" - the devices if there are any, else the CPU.
std::unique_ptr<backend> make_backend(const plan& p);

/// The plan's settings as kernels take them; refers to `p`.
abi::settings settings_of(const plan& p);

/// CPU threads that the plan allows.
int threads_of(const plan& p);

}  // namespace saltus::host
