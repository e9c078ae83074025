#include "study/doctor.hpp"

#include <exception>
#include <thread>

#include "backend/cpu_backend.hpp"
#include "backend/cuda/devices.hpp"
#include "base/paths.hpp"
#include "compile/compiler.hpp"
#include "compile/lane_shape.hpp"
#include "compile/module_cache.hpp"
#include "study/measure.hpp"
#include "study/prepare.hpp"

namespace saltus::host {

namespace {

finding look_up(const std::function<std::string()>& what) {
  try {
    return {what(), {}};
  } catch (const std::exception& e) { return {{}, e.what()}; }
}

}  // namespace

health examine(const cancellation& stop, const std::function<void(const std::string&)>& measured) {
  health h;
  h.threads = std::thread::hardware_concurrency();
  h.home = look_up([] { return home().string(); });
  h.cache = look_up([] { return cache_folder().string(); });
  h.compiler = look_up([] { return find_compiler().version + " (" + find_compiler().program.string() + ")"; });
  if (h.cache.trouble.empty()) {
    const cache_size cached = module_cache_size();
    h.cached_files = cached.files;
    h.cached_bytes = cached.bytes;
  }
  const bool equipped = h.home.trouble.empty() && h.cache.trouble.empty() && h.compiler.trouble.empty();
  h.compiles = look_up([&] {
    if (!equipped) return "no";
    make_cpu_backend(plan_of({"lorenz", {}}, stop), stop);
    return "yes";
  });
  if (measured && h.is_well()) measure_machine(stop, measured);
  if (equipped) h.shapes = machine_shapes();
  h.lanes_double = native_lanes();
  h.lanes_float = native_lanes(precision_kind::single_precision);
  h.cuda.trouble = cuda_absent(&h.cuda.text);
  return h;
}

}  // namespace saltus::host
