// saltus bench --advise: which method, controller and detection reach the accuracy that was asked for in the shortest
// time. It measures and recommends; it changes nothing.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "abi/status.hpp"
#include "backend/make.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "bench/bench.hpp"
#include "compile/chosen_shape.hpp"
#include "compile/compiler.hpp"
#include "ensemble/pilot.hpp"
#include "ensemble/settings.hpp"
#include "method/list.hpp"
#include "study/tune.hpp"

namespace saltus::host {

namespace {

using clock = std::chrono::steady_clock;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// What the spec leaves open, and what of it could be otherwise.
struct choice {
  std::string method, controller, detection;
  double rtol;
};

/// Results of the sample, instance by instance.
struct sample_results {
  std::vector<std::vector<double>> state;  ///< [instance][state]
  std::vector<long long> events;
  std::vector<bool> ok;
};

/// How one choice did.
struct verdict {
  choice what;
  spread seconds;           ///< for the sample
  double error = infinity;  ///< the median, in the measure of rtol
  double other_events = 0;  ///< share of instances with another number of events, or that failed
  std::string trouble;      ///< why it is out of the question; empty: it is not
};

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> r;
  std::stringstream text(list);
  for (std::string name; std::getline(text, name, ',');) r.push_back(name);
  return r;
}

double rounded_down(double x) {
  const double unit = std::pow(10.0, std::floor(std::log10(x)) - 1);
  return std::floor(x / unit * (1 + 1e-9)) * unit;
}

class adviser {
 public:
  adviser(const bench_options& options, const std::atomic<bool>& stop)
      : options_(options), stop_(stop), asked_(plan_with({})) {
    if (asked_.fixed_step > 0)
      throw error(exit_usage, "--advise: with a fixed step no accuracy is asked for: give rtol in place of fixed_step");
    if (asked_.count == 1 && asked_.axes.empty() && asked_.random.empty()) {
      alike_ = true;
      asked_ = plan_with({{"-n", "4096", true}});
    }
    best_ = verdict{{method_name(asked_), asked_.controller, asked_.detection, asked_.rtol}, {}, infinity, 0, {}};
  }

  int run() {
    size_sample();
    make_references();
    as_it_is_ = measure(choice_asked(), false);
    note(as_it_is_, "as it is");
    for (const auto& method : methods_to_try()) {
      choice c = choice_asked();
      c.method = method;
      consider(c);
    }
    if (best_.error > asked_.rtol || !options_.methods.empty()) return tell();
    for (const char* controller : {"elementary", "pi", "h211b"}) {
      choice c = best_.what;
      c.controller = controller;
      if (controller != best_.what.controller) consider(c);
    }
    if (!asked_.model.guards.empty())
      for (const char* detection : {"hermite", "certified"}) {
        choice c = best_.what;
        c.detection = detection;
        if (detection != best_.what.detection && (c.detection == "hermite" || certifies(c.method))) consider(c);
      }
    if (is_cpu_) tune();
    return tell();
  }

 private:
  // ------------------------------------------------------------------------------------------------ plans and runs

  plan plan_with(std::vector<flag> more) const {
    const auto backends = options_.backends.empty() ? std::vector<std::string>{} : backends_of(options_.backends);
    if (!backends.empty()) more.push_back({"--backend", backends.front()});
    plan p = options_.make_plan(more);
    p.file.clear();
    return p;
  }

  choice choice_asked() const { return {method_name(asked_), asked_.controller, asked_.detection, asked_.rtol}; }

  /// Throws `error` if the method does not fit the model.
  plan plan_of(const choice& c) const {
    std::vector<flag> more = {{"--method", c.method}};
    if (alike_) more.push_back({"-n", "4096", true});
    plan p = plan_with(more);
    p.controller = c.controller;
    p.detection = c.detection;
    set_tolerance(p, c.rtol);
    return p;
  }

  void set_tolerance(plan& p, double rtol) const {
    p.rtol = rtol;
    for (std::size_t j = 0; j < p.atol.size(); ++j) p.atol[j] = asked_.atol[j] * (rtol / asked_.rtol);
  }

  bool out_of_time() const { return stop_ || seconds() > options_.limit; }
  double seconds() const {
    return counts_work() ? worked_ : std::chrono::duration<double>(clock::now() - begin_).count();
  }

  /// A test counts work in the place of seconds: then no pilot is cut short by the clock.
  bool counts_work() const { return static_cast<bool>(options_.seconds_of_round); }
  double at_most(double longest) const { return counts_work() ? infinity : longest; }
  double seconds_of(const pilot_round& round) const {
    if (!counts_work()) return round.seconds;
    const double taken = options_.seconds_of_round(round);
    worked_ += taken;
    return taken;
  }

  /// As many instances as the plan takes some hundredths of a second for.
  void size_sample() {
    const plan p = plan_of(choice_asked());
    const auto where = make_backend(p);
    constexpr double enough = 0.05;
    const std::int64_t most = std::max<std::int64_t>(1, std::min<std::int64_t>(p.count, 8192) / where->concurrency());
    is_cpu_ = where->uses_host_threads();
    device_ = where->device();
    count_ = std::min<std::int64_t>(most, 2 * where->lanes());
    for (;;) {
      pilot flight(p, *where, at_most(10.0), stop_);
      const auto round = flight.run(count_, 0.5);
      if (stop_ || round.progress < 1 || seconds_of(round) > enough || count_ == most) return;
      count_ = std::min(most, 4 * count_);
    }
  }

  sample_results results_of(const pilot& flight) const {
    sample_results r;
    for (const auto& chunk : flight.chunks()) {
      const auto n = static_cast<std::size_t>(chunk.count);
      for (std::size_t i = 0; i < n; ++i) {
        std::vector<double> y;
        for (std::size_t at = i; at < chunk.final_state.size(); at += n) y.push_back(chunk.final_state[at]);
        r.state.push_back(std::move(y));
        r.events.push_back(chunk.events[i]);
        r.ok.push_back(row_of(static_cast<status>(chunk.status[i])).group == status_group::ok);
      }
    }
    return r;
  }

  static const status_row& row_of(status s) {
    return *std::find_if(std::begin(status_table), std::end(status_table),
                         [&](const auto& row) { return row.id == s; });
  }

  /// The error of an instance in the measure of rtol: max |y - r| / (atol / rtol + |r|).
  double error_of(const sample_results& r, const sample_results& reference, std::size_t i) const {
    if (!r.ok[i] || r.events[i] != reference.events[i]) return infinity;
    double worst = 0;
    for (std::size_t j = 0; j < asked_.atol.size(); ++j) {
      const double exact = reference.state[i][j];
      const double error = std::abs(r.state[i][j] - exact) / (asked_.atol[j] / asked_.rtol + std::abs(exact));
      if (!(error <= worst)) worst = error == error ? error : infinity;
    }
    return worst;
  }

  // --------------------------------------------------------------------------------------------------- references

  struct reference {
    std::string method;
    double rtol = 0;
    sample_results results;
  };

  /// Two, by different methods, much sharper than what was asked for; an instance has a reference where they agree.
  void make_references() {
    const bool is_plain = asked_.model.equations == abi::plain;
    const std::vector<std::pair<const char*, const char*>> pairs =
        is_plain ? std::vector<std::pair<const char*, const char*>>{{"dop853", "rkf78"}, {"radau5", "rodas5p"}}
                 : std::vector<std::pair<const char*, const char*>>{{"radau5", "rodas5p"}, {"radau5", "esdirk4"}};
    for (const auto& [one, other] : pairs) {
      references_.clear();
      for (const char* method : {one, other})
        if (!add_reference(method)) break;
      if (stop_) throw error(exit_interrupted, "interrupted: there is no reference yet");
      if (references_.size() < 2) continue;
      known_.clear();
      for (std::size_t i = 0; i < references_[0].results.ok.size(); ++i)
        known_.push_back(error_of(references_[1].results, references_[0].results, i) <= 0.1 * asked_.rtol);
      known_count_ = std::count(known_.begin(), known_.end(), true);
      if (2 * known_count_ > std::ssize(known_)) return;
    }
    throw error(exit_failure,
                fmt::format("--advise: there is no reference: two methods at {:g} of rtol do not agree for half of {} "
                            "instances; a shorter t, or a larger rtol, can be judged",
                            reference_rtol() / asked_.rtol, references_.size() < 2 ? 0 : std::ssize(known_)));
  }

  double reference_seconds() const { return std::max(5.0, options_.limit / 4); }
  double reference_rtol() const { return std::max(1e-3 * asked_.rtol, 2e-14); }

  bool add_reference(const char* method) {
    try {
      choice c = choice_asked();
      c.method = method;
      c.rtol = reference_rtol();
      const plan p = plan_of(c);
      const auto where = backend_of(p);
      pilot flight(p, *where, at_most(reference_seconds()), stop_);
      const auto round = flight.run(count_, 0.5);
      if (round.progress < 1) {
        say("reference by {}: more than {:g} s\n", method, reference_seconds());
        return false;
      }
      references_.push_back({method, c.rtol, results_of(flight)});
      say("reference by {} at rtol {:g}\n", method, c.rtol);
      return true;
    } catch (const error& e) {
      if (e.exit_code != exit_usage) throw;
      return false;  // it does not fit the model
    }
  }

  std::unique_ptr<backend> backend_of(const plan& p) {
    auto where = make_backend(p);
    if (where->parts().size() > 1)
      throw error(exit_usage, "--advise: one device at a time: give --backends cpu, or a spec with one device");
    return where;
  }

  /// Median error over the instances that have a reference, held against one by another method.
  void judge(verdict& v, const sample_results& r) const {
    const reference& against = references_[v.what.method == references_[0].method ? 1 : 0];
    std::vector<double> errors;
    std::int64_t other = 0;
    for (std::size_t i = 0; i < known_.size(); ++i) {
      if (!known_[i]) continue;
      errors.push_back(error_of(r, against.results, i));
      other += !r.ok[i] || r.events[i] != against.results.events[i] ? 1 : 0;
    }
    std::sort(errors.begin(), errors.end());
    v.error = errors[errors.size() / 2];
    v.other_events = static_cast<double>(other) / static_cast<double>(errors.size());
  }

  // ----------------------------------------------------------------------------------------------------- measuring

  /// At most so long: what is slower by far need not end.
  double patience() const { return std::max(1.0, 20 * (best_.seconds.median > 0 ? best_.seconds.median : 1.0)); }

  verdict measure(choice c, bool tuned) {
    verdict v{c, {}, infinity, 0, {}};
    try {
      plan p = plan_of(c);
      const auto where = backend_of(p);
      const auto once = [&](double rtol) {
        set_tolerance(p, rtol);
        const auto fresh = make_backend(p);  // tolerances are its own; the unit is in the cache
        pilot flight(p, *fresh, at_most(patience()), stop_);
        const auto round = flight.run(count_, 0.5);
        if (round.progress < 1) {
          v.trouble = stop_ ? "interrupted" : fmt::format("more than {:.2g} s at rtol {:.2g}", patience(), rtol);
          return;
        }
        v.what.rtol = rtol;
        judge(v, results_of(flight));
      };
      if (tuned) tune(v, c.rtol, once);
      else once(c.rtol);
      if (v.trouble.empty()) time(v);
    } catch (const error& e) {
      if (e.exit_code != exit_usage) throw;
      v.trouble = "does not fit the model";
    }
    return v;
  }

  /// The largest rtol whose median error is not above what was asked for, to within a factor of about three.
  template <class Once>
  void tune(verdict& v, double rtol, const Once& once) {
    verdict found;
    for (int tries = 0; tries < 6; ++tries) {
      v.trouble.clear();
      once(rtol);
      if (!v.trouble.empty()) break;
      const double over = v.error / asked_.rtol;
      if (over <= 1 && (found.error == infinity || v.what.rtol > found.what.rtol)) found = v;
      if (over <= 1 && over > 0.3) break;
      if (over <= 1 && tries > 0 && found.what.rtol == v.what.rtol && rtol >= largest_rtol) break;
      const double factor = over > 0 && over < infinity ? std::clamp(0.6 / over, 1e-3, 30.0) : over > 0 ? 0.1 : 30.0;
      const double next = rounded_down(std::clamp(rtol * factor, smallest_rtol, largest_rtol));
      if (next == rtol) break;
      // Once accepted, what was refused is not tried again.
      if (found.error < infinity && over > 1 && next <= found.what.rtol) break;
      rtol = next;
    }
    if (found.error < infinity) v = found;
    else if (v.trouble.empty()) v.trouble = fmt::format("median error {:.1e} at rtol {:.1e}", v.error, v.what.rtol);
  }

  /// The mean of as many runs as last some hundredths of a second.
  double seconds_of(const plan& p, backend& where) const {
    constexpr double enough = 0.03;
    double sum = 0;
    int runs = 0;
    pilot flight(p, where, infinity, stop_);
    do sum += seconds_of(flight.run(count_, 0.5)), ++runs;
    while (sum < enough && !stop_);
    return sum / runs;
  }

  void time(verdict& v) {
    const plan p = plan_of(v.what);
    const auto where = make_backend(p);
    std::vector<double> seconds;
    for (int round = 0; round < options_.rounds && !stop_; ++round) {
      seconds.push_back(seconds_of(p, *where));
      if (round > 0 && seconds_so_far(seconds) > 1.0) break;
    }
    if (stop_) v.trouble = "interrupted";
    v.seconds = spread_of(seconds);
  }

  static double seconds_so_far(const std::vector<double>& seconds) {
    double sum = 0;
    for (const double s : seconds) sum += s;
    return sum;
  }

  void consider(const choice& c) {
    if (out_of_time()) {
      left_out_.push_back(name_of(c));
      return;
    }
    const verdict v = measure(c, true);
    note(v, "");
    if (v.trouble.empty() && v.error <= asked_.rtol &&
        (best_.error > asked_.rtol || v.seconds.median < best_.seconds.median))
      best_ = v;
  }

  /// Lanes change no bit: they need no line in the spec, but what is fastest with the best method is remembered.
  void tune() {
    const plan p = plan_of(best_.what);
    if (out_of_time() || remembered_shape(p)) return;
    for (const auto& tried : tune_lanes(p, stop_))
      say("{}: {:.4g} us per instance and thread in {}\n", name_of(best_.what), 1e6 * tried.seconds,
          host::name_of(tried.shape));
  }

  std::vector<std::string> methods_to_try() const {
    if (!options_.methods.empty()) {
      std::vector<std::string> known;
      methods::for_each(methods::all_methods{}, [&](auto method) { known.push_back(method.name); });
      known.push_back("auto");
      const auto list = split(options_.methods);
      for (const auto& name : list)
        if (std::find(known.begin(), known.end(), name) == known.end())
          throw error(exit_usage,
                      fmt::format("--methods {}: {}", options_.methods, suggest(name, {known.begin(), known.end()})));
      return list;
    }
    std::vector<std::string> r = {method_name(asked_)};
    const auto add = [&](const char* name, bool estimates) {
      if (estimates && name != r.front()) r.push_back(name);
    };
    methods::for_each(methods::all_methods{}, [&](auto method) { add(method.name, method.embedded_order > 0); });
    add("auto", asked_.model.equations == abi::plain);
    return r;
  }

  // ------------------------------------------------------------------------------------------------------- telling

  template <class... Args>
  void say(fmt::format_string<Args...> form, Args&&... args) const {
    if (!options_.quiet) fmt::print(stderr, form, std::forward<Args>(args)...);
  }

  std::string name_of(const choice& c) const {
    std::string r = c.method;
    if (c.controller != asked_.controller) r += ", " + c.controller;
    if (c.detection != asked_.detection) r += ", " + c.detection;
    return r;
  }

  void note(const verdict& v, const char* what) {
    tried_.push_back({v, what});
    say("{}{}: {}\n", name_of(v.what), *what ? std::string(" ") + what : "",
        v.trouble.empty()
            ? fmt::format("{:.3g} ms, median error {:.1e} at rtol {:.1e}", 1e3 * v.seconds.median, v.error, v.what.rtol)
            : v.trouble);
  }

  bool is_known() const { return best_.error <= asked_.rtol; }
  std::vector<std::string> lines() const {
    const choice &b = best_.what, a = choice_asked();
    std::vector<std::string> r;
    if (b.method != a.method) r.push_back(fmt::format("method = \"{}\"", b.method));
    if (b.rtol != a.rtol) {
      r.push_back(fmt::format("rtol = {:.2g}", b.rtol));
      // By itself atol is rtol.
      const bool is_rtol =
          std::all_of(asked_.atol.begin(), asked_.atol.end(), [&](double x) { return x == asked_.rtol; });
      std::vector<std::string> atol;
      for (const double x : asked_.atol) atol.push_back(fmt::format("{:.2g}", x * (b.rtol / asked_.rtol)));
      r.push_back(is_rtol ? fmt::format("atol = {:.2g}", b.rtol) : fmt::format("atol = [{}]", fmt::join(atol, ", ")));
    }
    if (b.controller != a.controller) r.push_back(fmt::format("controller = \"{}\"", b.controller));
    if (b.detection != a.detection) r.push_back(fmt::format("detection = \"{}\"", b.detection));
    return r;
  }

  /// The spec as it is and the best, by turns: what else the machine does changes in the meantime.
  void compare() {
    if (!as_it_is_.trouble.empty() || !is_known() || lines().empty() || stop_) return;
    const plan slow = plan_of(as_it_is_.what), fast = plan_of(best_.what);
    const auto one = make_backend(slow), other = make_backend(fast);
    std::vector<double> ratios;
    for (int round = 0; round < std::max(3, options_.rounds) && !stop_; ++round) {
      const double before = seconds_of(slow, *one);
      ratios.push_back(before / seconds_of(fast, *other));
    }
    times_as_fast_ = spread_of(ratios);
  }

  int tell() {
    compare();
    if (options_.json) tell_json();
    else tell_people();
    return stop_ ? exit_interrupted : exit_ok;
  }

  void tell_people() const {
    const auto n = count_ * static_cast<std::int64_t>(known_.size()) / std::max<std::int64_t>(count_, 1);
    fmt::print("{}: asked for a median error of {:g} (rtol, with atol)\n", asked_.model.name, asked_.rtol);
    fmt::print("on {}\n", device_);
    fmt::print("{} instances{}, {} of them with a reference: {} and {} at rtol {:g} agree\n\n", n,
               alike_ ? ", all alike" : "", known_count_, references_[0].method, references_[1].method,
               references_[0].rtol);
    fmt::print("{:<34}{:>10}{:>14}{:>14}  {}\n", "", "rtol", "median error", "other events", "time");
    for (const auto& [v, what] : tried_) {
      const std::string name = name_of(v.what) + (what.empty() ? "" : " (" + what + ")");
      if (!v.trouble.empty()) fmt::print("{:<34}{:>10}{:>14}{:>14}  {}\n", name, "-", "-", "-", v.trouble);
      else
        fmt::print("{:<34}{:>10.1e}{:>14.1e}{:>12.1f} %  {:.4g} ms ({:.4g} .. {:.4g}){}\n", name, v.what.rtol, v.error,
                   100 * v.other_events, 1e3 * v.seconds.median, 1e3 * v.seconds.low, 1e3 * v.seconds.high,
                   v.error > asked_.rtol ? ", not as sharp as asked" : "");
    }
    if (!left_out_.empty())
      fmt::print("not measured, as --limit {:g} was over: {}\n", options_.limit, fmt::join(left_out_, "; "));
    fmt::print("\n");
    if (!is_known()) {
      fmt::print("nothing that was measured reaches it\n");
      return;
    }
    const auto what = lines();
    if (what.empty()) {
      fmt::print("the spec is as fast as anything that was measured\n");
      return;
    }
    if (times_as_fast_.median > 0)
      fmt::print("{:.2f} ({:.2f} .. {:.2f}) times as fast as it is{}:\n", times_as_fast_.median, times_as_fast_.low,
                 times_as_fast_.high, as_it_is_.error > asked_.rtol ? ", and as sharp as asked, which it is not" : "");
    else fmt::print("recommended:\n");
    for (const auto& line : what) fmt::print("  {}\n", line);
  }

  static json verdict_json(const verdict& v) {
    json o{{"method", v.what.method}, {"controller", v.what.controller}, {"detection", v.what.detection}};
    if (!v.trouble.empty()) {
      o["trouble"] = v.trouble;
      return o;
    }
    o["rtol"] = v.what.rtol;
    o["median_error"] = v.error;
    o["other_events"] = v.other_events;
    o["seconds"] = json{{"median", v.seconds.median}, {"low", v.seconds.low}, {"high", v.seconds.high}};
    return o;
  }

  void tell_json() const {
    json all = json::array();
    for (const auto& entry : tried_) all.push_back(verdict_json(entry.first));
    json o{{"model", asked_.model.name},
           {"asked", asked_.rtol},
           {"device", device_},
           {"instances", known_.size()},
           {"with_reference", known_count_},
           {"references", json::array({references_[0].method, references_[1].method})},
           {"measured", all},
           {"not_measured", left_out_},
           {"as_it_is", verdict_json(as_it_is_)}};
    if (is_known()) {
      o["recommended"] = verdict_json(best_);
      o["lines"] = lines();
      if (times_as_fast_.median > 0)
        o["times_as_fast"] =
            json{{"median", times_as_fast_.median}, {"low", times_as_fast_.low}, {"high", times_as_fast_.high}};
    }
    fmt::print("{}\n", json_text(o));
  }

  static constexpr double largest_rtol = 1e-2, smallest_rtol = 1e-13;

  const bench_options& options_;
  const std::atomic<bool>& stop_;
  clock::time_point begin_ = clock::now();
  mutable double worked_ = 0;  ///< seconds, where work is counted in their place
  plan asked_;
  bool alike_ = false, is_cpu_ = true;
  std::string device_;
  std::int64_t count_ = 1;  ///< instances in a chunk of the sample
  std::vector<reference> references_;
  std::vector<bool> known_;  ///< [instance] it has a reference
  std::int64_t known_count_ = 0;
  verdict best_, as_it_is_;
  spread times_as_fast_;  ///< the best, against the spec as it is
  std::vector<std::pair<verdict, std::string>> tried_;
  std::vector<std::string> left_out_;
};

}  // namespace

int advise(const bench_options& options, const std::atomic<bool>& stop) { return adviser(options, stop).run(); }

}  // namespace saltus::host
