#include "study/doctor.hpp"

#include <exception>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "backend/cuda/devices.hpp"
#include "backend/make.hpp"
#include "base/paths.hpp"
#include "compile/compiler.hpp"
#include "compile/lane_shape.hpp"
#include "compile/module_cache.hpp"
#include "study/prepare.hpp"
#include "study/tune.hpp"

namespace saltus::host {

namespace {

finding look_up(const std::function<std::string()>& what) {
  try {
    return {what(), {}};
  } catch (const std::exception& e) { return {{}, e.what()}; }
}

/// Measures lane shapes for the default methods and for dop853; reports to `say`.
void measure_machine(const cancellation& stop, const std::function<void(const std::string&)>& say) {
  constexpr std::pair<const char*, const char*> kinds[] = {
      {"dp5", "lorenz"}, {"dp5", "ball_drag"}, {"dop853", "lorenz"}, {"dop853", "ball_drag"}, {"rodas5p", "robertson"}};
  for (const auto& [method, model] : kinds) {
    const plan p = plan_of({model, {{"--method", method}, {"--backend", "cpu"}}}, stop);
    say(fmt::format("measuring {}, {}\n", method, name_of(kind_of(p))));
    for (const auto& tried : tune_machine(p, stop))
      say(fmt::format("  {:<14} {:.4g} us\n", name_of(tried.shape), 1e6 * tried.seconds));
  }
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
  h.processor = target_processor();
  h.lanes_double = native_lanes();
  h.lanes_float = native_lanes(precision_kind::single_precision);
  h.cuda.trouble = cuda_absent(&h.cuda.text);
  return h;
}

}  // namespace saltus::host
