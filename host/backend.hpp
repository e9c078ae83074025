// Where chunks of instances are integrated: CPU lanes or a CUDA device. One scheduler drives both.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "abi.hpp"
#include "plan.hpp"
#include "result.hpp"

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
  virtual std::int64_t chunk_size() const  = 0;
  virtual int          concurrency() const = 0;

  /// Integrates a chunk. `finished(k)` is told of k more instances that have ended; when it returns false the chunk is left
  /// as soon as possible, instances under way get status `interrupted`. Called from several threads at once if
  /// `concurrency` is more than one. What could not go on stands in chunk.exceptions if the plan wants it carried on.
  /// Throws `error`.
  virtual void integrate(chunk_data& chunk, const std::function<bool(std::int64_t)>& finished, abi::usage& usage) = 0;
};

/// CPU lanes; compiles the unit if it is not in the cache.
std::unique_ptr<backend> make_cpu_backend(const plan& p);

/// A CUDA device, by way of the plug-in library; throws `error` (exit_device) with the reason if there is none.
std::unique_ptr<backend> make_cuda_backend(const plan& p);

/// Why there is no CUDA device to use; empty if there is one. `name` receives its name.
std::string cuda_absent(std::string* name = nullptr);

/// As the plan asks: "cpu", "cuda", or "auto" - the device if there is one, else the CPU.
std::unique_ptr<backend> make_backend(const plan& p);

/// The plan's settings as kernels take them; refers to `p`.
abi::settings settings_of(const plan& p);

/// CPU threads that the plan allows.
int threads_of(const plan& p);

/// Instances per vector of CPU lanes.
int lanes_of(const plan& p);

}  // namespace saltus::host
