// Makes a result from a journal alone.

#include <fmt/format.h>

#include "base/error.hpp"
#include "ensemble/backend.hpp"
#include "result/journal.hpp"
#include "result/output.hpp"
#include "study/run.hpp"
#include "study/to_zarr.hpp"

namespace saltus::host {

namespace {

/// Provides the chunks in the journal and no others.
class kept_alone final : public kept_chunks {
 public:
  explicit kept_alone(const journal& of) : of_(of) {}
  const std::vector<id_range>& stored() const override { return of_.stored(); }
  claims* taken_from() override { return nullptr; }
  bool is_all_there_is() const override { return true; }
  void load(const id_range& range, chunk_data& chunk, tally& counts) const override { of_.load(range, chunk, counts); }
  void keep(const chunk_data&, const tally&) override {}

 private:
  const journal& of_;
};

/// Stands in for a backend where nothing is integrated.
class no_backend final : public backend {
 public:
  explicit no_backend(const provenance& origin) : origin_(origin) {}
  std::string device() const override { return origin_.device; }
  std::string model_hash() const override { return origin_.module_hash; }
  double compile_seconds() const override { return 0; }
  std::int64_t chunk_size() const override { return 1; }
  int concurrency() const override { return 1; }
  void integrate(chunk_data&, const std::function<bool(std::int64_t)>&, abi::usage&) override {
    throw std::logic_error("no_backend: nothing is integrated");
  }

 private:
  const provenance& origin_;
};

}  // namespace

run_report so_far(const std::filesystem::path& folder, const std::string& file, const cancellation& stop) {
  const auto make = [&](const plan& p, const provenance& origin) { return make_output(file, p, origin); };
  run_report r = so_far(folder, make, stop);
  r.file = file;
  return r;
}

run_report so_far(const std::filesystem::path& folder, const output_maker& make, const cancellation& stop) {
  auto [what, origin] = journal::run_of(folder);
  run_report r;
  r.what = std::move(what);
  journal kept(r.what.file, r.what, origin, journal::older::looked_at);
  kept_alone chunks(kept);
  no_backend nowhere(origin);
  const auto out = make(r.what, origin);
  const auto write = [&](const chunk_data& chunk, const tally& counts) { out->write(chunk, counts); };
  r.summary = run_ensemble(r.what, nowhere, stop, {.write = write, .kept = &chunks});
  if (stop) throw error(exit_interrupted, fmt::format("{}: interrupted while it was read", folder.string()));
  out->close(r.summary.wall_seconds, r.summary.statistics, r.summary.indices);
  r.device = origin.device;
  r.continued = kept.instances();
  r.gathered = true;
  return r;
}

}  // namespace saltus::host
