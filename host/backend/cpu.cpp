#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "backend/backend.hpp"
#include "backend/dense_algebra.hpp"
#include "base/error.hpp"
#include "compile/compiler.hpp"
#include "ensemble/model_call.hpp"

namespace saltus::host {

abi::settings settings_of(const plan& p) {
  abi::settings s{};
  s.rtol = p.rtol;
  s.atol = p.atol.data();
  s.event_tol = p.event_tol;
  s.first_step = p.first_step;
  s.max_step = p.max_step;
  s.fixed_step = p.fixed_step;
  s.max_steps = p.max_steps;
  s.max_events = p.max_events;
  s.sample_count = static_cast<int>(p.sample_count);
  s.sample_times = p.sample_times.empty() ? nullptr : p.sample_times.data();
  s.log_events = p.log_events ? 1 : 0;

  s.concurrency_time = p.concurrency_time;
  s.concurrency_value = p.concurrency_value;
  s.zeno_part = p.zeno;
  s.consistency = p.consistency;
  s.algebra = &dense_algebra;
  s.inject = p.inject_exceptions;
  s.inject_seed = static_cast<long long>(p.seed);
  return s;
}

int threads_of(const plan& p) {
  return p.threads > 0 ? p.threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

namespace {

class cpu_backend final : public backend {
 public:
  explicit cpu_backend(const plan& p)
      : plan_(p),
        settings_(settings_of(plan_)),
        shape_(lane_shape_of(p)),
        threads_(threads_of(p)),
        built_(build_cpu_unit(p, shape_)),
        unit_(static_cast<const abi::unit*>(built_.code->symbol("saltus_unit"))) {
    if (unit_->version != abi::version)
      throw error(exit_failure, "a compiled unit is of another version of saltus: clear the cache");
  }

  std::string device() const override {
    return fmt::format("cpu: {} thread{} x {} of {}, {}", threads_, threads_ == 1 ? "" : "s", name_of(shape_),
                       plan_.precision, find_compiler().version);
  }
  std::string model_hash() const override { return built_.key; }
  double compile_seconds() const override { return built_.seconds; }
  int concurrency() const override { return threads_; }
  std::int64_t smallest_chunk() const override { return std::min<std::int64_t>(4 * in_flight(), chunk_size()); }
  int lanes() const override { return unit_->lanes; }

  /// Large enough that the last instances of a chunk, which leave lanes idle, cost little; small enough that every thread
  /// gets several chunks.
  std::int64_t chunk_size() const override {
    if (plan_.chunk > 0) return plan_.chunk;
    const std::int64_t share = (plan_.count + 8 * threads_ - 1) / (8 * threads_);
    const std::int64_t row =
        plan_.sample_count * static_cast<std::int64_t>(plan_.model.states.size() + plan_.model.outputs.size());
    const std::int64_t fits =
        row > 0 ? std::max<std::int64_t>(in_flight(), (std::int64_t{1} << 23) / row) : 4096;  // 64 MiB of samples
    const std::int64_t most = std::min<std::int64_t>(4096, fits);
    return std::clamp<std::int64_t>((share + in_flight() - 1) / in_flight() * in_flight(), in_flight(), most);
  }

  void integrate(chunk_data& chunk, const std::function<bool(std::int64_t)>& finished, abi::usage& usage) override {
    const bool kept = plan_.rescue || !plan_.stiff_method.empty();
    const module_call call{
        *unit_, settings_, chunk, chunk.log, kept ? &chunk.exceptions : nullptr, finished, plan_.instance_time_limit};
    host::integrate(call, usage);
  }

 private:
  /// Instances that a thread has under way.
  int in_flight() const { return shape_.lanes * shape_.groups; }

  plan plan_;
  abi::settings settings_;
  lane_shape shape_;
  int threads_;
  built built_;
  const abi::unit* unit_;
};

}  // namespace

std::unique_ptr<backend> make_cpu_backend(const plan& p) { return std::make_unique<cpu_backend>(p); }

std::unique_ptr<backend> make_backend(const plan& p) {
  if (p.backend == "all") return make_backend_of_all(p);
  if (p.backend == "cuda" || (p.backend == "auto" && cuda_absent().empty())) return make_cuda_backend(p);
  return make_cpu_backend(p);
}

}  // namespace saltus::host
