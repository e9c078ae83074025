#include "bench/bench.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>

#include <unistd.h>

#include <fmt/format.h>

#include "backend/cuda/devices.hpp"
#include "backend/make.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "bench/energy.hpp"
#include "bench/flops.hpp"
#include "compile/chosen_shape.hpp"
#include "ensemble/pipeline.hpp"
#include "result/output.hpp"
#include "result/provenance.hpp"
#include "study/tune.hpp"

namespace saltus::host {

namespace {

/// A file that the destructor removes.
struct temporary_file {
  std::filesystem::path path;
  ~temporary_file() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

}  // namespace

std::vector<std::string> backends_of(const std::string& typed) {
  if (typed.empty()) {
    if (cuda_absent().empty()) return {"cpu", "cuda"};
    return {"cpu"};
  }
  std::vector<std::string> r;
  for (const auto& name : split_at_commas(typed)) {
    if (name != "cpu" && name != "cuda" && name != "all")
      throw error(exit_usage, fmt::format("--backends {}: {}", typed, suggest(name, {"cpu", "cuda", "all"})));
    if (std::find(r.begin(), r.end(), name) != r.end())
      throw error(exit_usage, fmt::format("--backends {}: {} stands there twice", typed, name));
    r.push_back(name);
  }
  if (r.empty()) throw error(exit_usage, "--backends: names of backends, as in cpu,cuda; allowed: cpu, cuda, all");
  return r;
}

namespace {

std::vector<double> values(const std::vector<bench_round>& rounds, double bench_round::*what) {
  std::vector<double> r;
  for (const auto& round : rounds) r.push_back(round.*what);
  return r;
}

}  // namespace

spread bench_result::end_to_end() const { return spread_of(values(rounds, &bench_round::end_to_end)); }
spread bench_result::kernel() const { return spread_of(values(rounds, &bench_round::kernel)); }

std::optional<double> bench_result::of_peak() const {
  if (!flops || peak <= 0 || rounds.empty()) return {};
  // On CPUs each chunk has one thread; a device works at all its chunks at once.
  const double seconds =
      backend == "cpu" ? spread_of(values(rounds, &bench_round::chunks)).median / threads : kernel().median;
  return seconds > 0 ? std::optional(flops->all() / seconds / peak) : std::nullopt;
}

std::optional<double> bench_result::joules() const {
  std::vector<double> v;
  for (const auto& round : rounds)
    if (round.joules) v.push_back(*round.joules);
  return v.empty() ? std::nullopt : std::optional(spread_of(v).median);
}

namespace {

/// Runs the ensemble once, and writes a file if the plan has one.
run_summary run_once(const plan& p, backend& where, const std::function<void(const chunk_data&)>& look,
                     const cancellation& stop) {
  const temporary_file there{p.file.empty() ? std::string() : name_beside(p.file, "bench")};
  std::unique_ptr<result_output> file;
  const auto begin = monotonic_clock::now();
  if (!p.file.empty()) file = make_output(there.path, p, provenance_of(p, where, "saltus bench"), existing::replaced);
  const auto write = [&](const chunk_data& chunk, const tally& counts) {
    if (file) file->write(chunk, counts);
    if (look) look(chunk);
  };
  auto summary = run_ensemble(p, where, stop, {.write = write});
  if (!summary.crash.empty()) throw error(exit_failure, summary.crash);
  if (file) file->close(summary.wall_seconds, summary.statistics);
  summary.wall_seconds = seconds_since(begin);
  return summary;
}

/// The peak of all parts of a backend together; 0: that of one is unknown.
double peak_of(const std::vector<backend*>& parts, precision_kind precision) {
  double sum = 0;
  for (const backend* part : parts) {
    const bool is_cpu = part->uses_host_threads();
    const double peak = is_cpu ? cpu_peak_flops(precision, part->concurrency()) : part->peak_flops();
    if (peak <= 0) return 0;
    sum += peak;
  }
  return sum;
}

/// Measures the backends in turns, round by round.
class bench_of_backends {
 public:
  bench_of_backends(const bench_options& options, const cancellation& stop) : options_(options), stop_(stop) {}

  std::vector<bench_result> run(const std::vector<std::string>& backends, const std::vector<flag>& more) {
    for (const auto& name : backends) add(name, more);
    begin_ = monotonic_clock::now();
    // Backends take turns, so that a disturbance of the machine affects all of them.
    for (int round = 0; round < options_.rounds && !stop_; ++round) {
      const double spent = seconds_since(begin_);
      if (round > 0 && spent + spent / round > options_.limit) {
        say("stopped after {} of {} rounds: another would go beyond --limit {:g}\n", round, options_.rounds,
            options_.limit);
        break;
      }
      for (auto& e : entries_) measure(e, round);
    }
    for (auto& e : entries_)
      if (options_.launches && !stop_) measure_launches(e);
    std::vector<bench_result> results;
    for (auto& e : entries_) results.push_back(std::move(e.result));
    return results;
  }

  const plan& first_plan() const { return entries_.front().what; }

 private:
  struct entry {
    plan what;
    std::unique_ptr<backend> where;
    bench_result result;
  };

  template <class... Args>
  void say(fmt::format_string<Args...> form, Args&&... args) const {
    if (!options_.quiet) fmt::print(stderr, form, std::forward<Args>(args)...);
  }

  /// Compiles, and measures lane shapes if that was not done before.
  void add(const std::string& name, std::vector<flag> flags) {
    flags.push_back({"--backend", name});
    entries_.push_back({options_.make_plan(flags), {}, {}});
    auto& e = entries_.back();
    say("{}: compiling\n", name);
    if (name != "cuda" && !remembered_shape(e.what))
      for (const auto& tried : tune_lanes(e.what, stop_))
        say("{}: {:.4g} us per instance and thread in {}\n", name, 1e6 * tried.seconds, name_of(tried.shape));
    e.where = make_backend(e.what, stop_);
    const auto parts = e.where->parts();
    e.result.backend = name;
    e.result.device = e.where->device();
    e.result.compile_seconds = e.where->compile_seconds();
    e.result.lanes = parts.size() == 1 ? e.where->lanes() : 0;
    e.result.threads = e.where->concurrency();
    e.result.peak = peak_of(parts, e.what.precision);
  }

  void measure(entry& e, int round) {
    const bool compares = round == 0 && entries_.size() > 1, is_fast = !e.where->uses_host_threads();
    if (compares && is_fast)
      run_once(e.what, *e.where, comparison(e), stop_);  // comparing takes longer than such a run
    const auto before = energy_.read();
    const auto summary = run_once(e.what, *e.where, compares && !is_fast ? comparison(e) : nullptr, stop_);
    const auto after = energy_.read();
    if (summary.interrupted) return;
    auto& r = e.result;
    const double compiled = summary.stiff_compile_seconds + summary.rescue_compile_seconds;
    bench_round one{summary.wall_seconds - compiled, summary.kernel_seconds, summary.chunk_seconds, {}};
    const auto cpu = energy_.cpu_joules(before, after), cuda = energy_.cuda_joules(before, after);
    if (r.backend == "cpu") one.joules = cpu;
    else if (cpu && cuda) one.joules = *cpu + *cuda;
    else if (!cpu) one.joules = cuda;
    r.compile_seconds += compiled;
    r.counts = summary.counts, r.usage = summary.usage, r.bytes = summary.bytes;
    r.flops = operations_of(e.what, summary.counts);
    r.rounds.push_back(one);
    say("{}: round {} of {}: {:.4g} s\n", r.backend, round + 1, options_.rounds, one.end_to_end);
  }

  /// Keeps the results of the first backend, and compares those of the others with them.
  std::function<void(const chunk_data&)> comparison(entry& e) {
    if (&e == entries_.data()) {
      kept_.emplace(e.what);
      return [this](const chunk_data& chunk) { kept_->keep(chunk); };
    }
    difference& found = e.result.against_first.emplace();
    return [this, &found](const chunk_data& chunk) { found.add(kept_->compare(chunk)); };
  }

  /// In a run of its own: timing each launch takes time.
  void measure_launches(entry& e) {
    e.where->time_launches();
    const auto before = e.where->launches_so_far();
    if (!before) return;
    run_once(e.what, *e.where, {}, stop_);
    launches now = *e.where->launches_so_far();
    now.subtract(*before);
    e.result.launched = now;
  }

  const bench_options& options_;
  const cancellation& stop_;
  monotonic_clock::time_point begin_ = monotonic_clock::now();
  std::vector<entry> entries_;
  std::optional<kept_results> kept_;
  energy_meter energy_;
};

/// The number of equal instances of a model that takes about a quarter of a second.
std::int64_t enough_instances(const bench_options& options, const std::string& backend, const cancellation& stop) {
  constexpr double wanted = 0.25;
  constexpr std::int64_t max_instances = 1 << 20;
  for (std::int64_t n = 64;; n *= 8) {
    const plan p = options.make_plan({{"-n", std::to_string(n), true}, {"--backend", backend}});
    const auto where = make_backend(p, stop);
    const auto s = run_once(p, *where, {}, stop);
    const double took = s.wall_seconds - s.stiff_compile_seconds - s.rescue_compile_seconds;
    if (stop || n >= max_instances) return n;
    if (took < 0.02 && n < max_instances / 8) continue;
    const auto fits = static_cast<std::int64_t>(static_cast<double>(n) * wanted / took);
    std::int64_t r = 64;
    while (2 * r <= std::clamp<std::int64_t>(fits, 64, max_instances)) r *= 2;
    return r;
  }
}

}  // namespace

bench_report bench(const bench_options& options, const cancellation& stop) {
  if (options.rounds < 1) throw error(exit_usage, fmt::format("--rounds {}: must be at least 1", options.rounds));
  if (!(options.limit > 0))
    throw error(exit_usage, fmt::format("--limit {:g}: must be a positive number", options.limit));
  const auto backends = backends_of(options.backends);
  std::vector<flag> more;
  if (const plan asked = options.make_plan({}); asked.count == 1 && !has_varied_inputs(asked) && asked.samples == 1)
    more.push_back({"-n", std::to_string(enough_instances(options, backends.front(), stop)), true});

  bench_of_backends meter(options, stop);
  bench_report report;
  report.results = meter.run(backends, more);
  report.measured = meter.first_plan();
  for (const auto& r : report.results)
    if (r.rounds.empty()) throw error(exit_interrupted, "interrupted: no round has ended");
  if (options.growth && !stop) report.curves = measure_growth(options, backends, stop);
  return report;
}

}  // namespace saltus::host
