#include <algorithm>

#include <fmt/format.h>

#include "backend/make.hpp"
#include "base/error.hpp"
#include "compile/chosen_shape.hpp"
#include "compile/compiler.hpp"
#include "ensemble/model_call.hpp"
#include "ensemble/settings.hpp"

namespace saltus::host {

namespace {

class cpu_backend final : public backend {
 public:
  cpu_backend(const plan& p, const cancellation& stop)
      : plan_(p),
        settings_(settings_of(plan_)),
        shape_(lane_shape_of(p)),
        threads_(threads_of(p)),
        built_(build_cpu_module(p, shape_, stop)),
        module_(static_cast<const abi::module*>(built_.code->symbol("saltus_module"))) {
    if (module_->version != abi::version)
      throw error(exit_failure, "a compiled module is of another version of saltus: clear the cache");
  }

  std::string device() const override {
    return fmt::format("cpu: {} thread{} x {} of {}, {}", threads_, threads_ == 1 ? "" : "s", name_of(shape_),
                       word_of(plan_.precision), find_compiler().version);
  }
  std::string model_hash() const override { return built_.key; }
  double compile_seconds() const override { return built_.seconds; }
  int concurrency() const override { return threads_; }
  std::int64_t smallest_chunk() const override { return std::min<std::int64_t>(4 * in_flight(), chunk_size()); }
  int lanes() const override { return module_->lanes; }

  /// Large enough that the last instances of a chunk, which leave lanes idle, cost little; small enough that every
  /// thread gets several chunks.
  std::int64_t chunk_size() const override {
    if (plan_.chunk > 0) return plan_.chunk;
    const std::int64_t share = (plan_.count + 8 * threads_ - 1) / (8 * threads_);
    const auto row = plan_.sample_count * static_cast<std::int64_t>(sampled_columns(plan_)) +
                     static_cast<std::int64_t>(bounded_rows(plan_) * (2 + 2 * logged_numbers(plan_)));
    const std::int64_t fits = row > 0 ? std::max<std::int64_t>(in_flight(), (std::int64_t{1} << 23) / row)
                                      : 4096;  // 64 MiB of samples and events
    const std::int64_t most = std::min<std::int64_t>(4096, fits);
    return std::clamp<std::int64_t>((share + in_flight() - 1) / in_flight() * in_flight(), in_flight(), most);
  }

  void integrate(chunk_data& chunk, const std::function<bool(std::int64_t)>& finished, abi::usage& usage) override {
    chunk.preset();
    chunk.note_writer_on_host();
    const bool kept = plan_.rescue || !plan_.stiff_method.empty();
    const module_call call{
        *module_, settings_, chunk, chunk.log, kept ? &chunk.exceptions : nullptr, finished, plan_.instance_time_limit};
    host::integrate(call, usage);
  }

 private:
  /// Number of instances that a thread integrates at once.
  int in_flight() const { return shape_.lanes * shape_.groups; }

  plan plan_;
  abi::settings settings_;
  lane_shape shape_;
  int threads_;
  built built_;
  const abi::module* module_;
};

}  // namespace

std::unique_ptr<backend> make_cpu_backend(const plan& p, const cancellation& stop) {
  return std::make_unique<cpu_backend>(p, stop);
}

}  // namespace saltus::host
