// Runs a sample of an ensemble with different methods, for advice on methods.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/cancellation.hpp"
#include "base/clock.hpp"
#include "bench/advice.hpp"
#include "bench/options.hpp"
#include "ensemble/pilot.hpp"

namespace saltus::host {

/// Results of the sample, by instance.
struct sample_results {
  std::vector<std::vector<double>> state;  ///< [instance][state]
  std::vector<long long> events;
  std::vector<bool> ok;
};

class sample_runner {
 public:
  /// Refers to both arguments. Throws `error` if the spec has no tolerance.
  sample_runner(const bench_options& options, const cancellation& stop);

  /// Chooses a number of instances that takes some hundredths of a second with the plan's own settings.
  void choose_size();

  const plan& asked() const { return asked_; }
  bool alike() const { return alike_; }
  bool is_cpu() const { return is_cpu_; }
  bool is_stopped() const { return stop_.is_cancelled(); }
  const cancellation& stop() const { return stop_; }
  bool out_of_time() const { return stop_ || seconds() > options_.limit; }
  const std::string& device() const { return device_; }
  const bench_options& options() const { return options_; }

  /// Throws `error` if the method does not suit the model.
  plan plan_of(const method_choice& choice) const;
  void set_tolerance(plan& p, double rtol) const;
  /// Throws `error` if the plan runs on several devices.
  std::unique_ptr<backend> backend_of(const plan& p) const;

  /// The results of the sample; nothing if they take more than `longest` seconds.
  std::optional<sample_results> results_of(const plan& p, backend& where, double longest) const;
  /// Mean seconds of a run of the sample, over as many runs as last some hundredths of a second.
  double mean_seconds(const plan& p, backend& where) const;

  template <class... Args>
  void say(fmt::format_string<Args...> form, Args&&... args) const {
    if (!options_.quiet) fmt::print(stderr, form, std::forward<Args>(args)...);
  }

 private:
  plan plan_with(std::vector<flag> more) const;
  double seconds() const { return counts_work() ? worked_ : seconds_since(begin_); }
  /// A test counts work instead of seconds: then no pilot is cut short by the clock.
  bool counts_work() const { return static_cast<bool>(options_.seconds_of_round); }
  double seconds_of(const pilot_round& round) const;
  double limited(double longest) const;

  const bench_options& options_;
  const cancellation& stop_;
  monotonic_clock::time_point begin_ = monotonic_clock::now();
  mutable double worked_ = 0;  ///< seconds, if work is counted instead
  plan asked_;
  bool alike_ = false, is_cpu_ = true;
  std::string device_;
  std::int64_t count_ = 1;  ///< instances in a chunk of the sample
};

}  // namespace saltus::host
