// A plan is a validated spec: everything after `spec.cpp` trusts it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "abi/reductions.hpp"
#include "spec/model.hpp"
#include "spec/run_records.hpp"
#include "spec/run_tables.hpp"
#include "spec/spec_choices.hpp"

namespace saltus::host {

/// Values given one by one, or evenly spaced (linearly or logarithmically) from `from` to `to`, ends included.
struct listed {
  std::vector<double> values;
};
struct ranged {
  double from, to;
  std::int64_t count;
  bool logarithmic;
};

/// A probability distribution, optionally truncated to [min, max].
struct distribution {
  enum class kind { uniform, log_uniform, normal, lognormal, triangular, beta, gamma, weibull, discrete };
  kind which;
  double a, b, c;  ///< uniform, log-uniform: low, high; normal: mean, deviation; lognormal: mean and deviation of the
                   ///< logarithm; triangular: low, mode, high; beta: its two shapes; gamma, Weibull: shape, scale
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  double low = 0, high = 1;             ///< ends of a beta distribution
  std::vector<double> values = {};      ///< for a discrete distribution, ascending
  std::vector<double> cumulative = {};  ///< the probability of a value up to each of them; the last is 1
};

/// The design of the samples of [sample]. Its instances are counted from 0 at every point of the product.
struct design {
  enum class kind { random, latin_hypercube, sobol, halton, saltelli, morris, fast };
  kind which = kind::random;
  std::int64_t count = 1;  ///< samples, pairs of samples (saltelli), trajectories (morris), samples of a curve (fast)
  bool second_order = false;  ///< for saltelli
  int levels = 4;             ///< for morris
  int harmonics = 4;          ///< for fast
  /// For saltelli: the run doubles `count` while the half-width of any index's interval exceeds this, up to
  /// `max_count`; 0: never.
  double half_width = 0;
  std::int64_t max_count = 0;
};

/// A quantity that varies: a parameter, an initial value of a state or discrete variable, or an end of the time span.
struct target {
  enum class kind { parameter, state, t_begin, t_end, discrete };  ///< random values depend on these numbers
  kind which;
  int index;  ///< among the model's parameters, states or discrete variables; 0 for times
  std::string name;
};

/// One axis of the product: columns that vary together (a single one for a plain sweep entry).
struct axis {
  struct column {
    target what;
    std::variant<listed, ranged> values;
  };
  std::vector<column> columns;
  std::int64_t count;
  bool of_rows = false;  ///< a table, a zip or a result: each value is a row, which may have an id of its own
};

struct random_column {
  target what;
  distribution drawn_from;
};

/// A number kept for each instance: max(pressure), mean(lift) from 10 to 20, first(impact).
struct reduction {
  using kind = saltus::reduce;
  kind which;
  bool of_output;    ///< of an output rather than of a state
  int index;         ///< among states, outputs, or events (event_names)
  std::string name;  ///< as written: "max(pressure)"
  bool windowed = false;
  /// The window in forward time: negative times in a backward run.
  double from = -std::numeric_limits<double>::infinity(), to = std::numeric_limits<double>::infinity();
  /// time of a value, in forward time; order of a quantile
  double argument = std::numeric_limits<double>::quiet_NaN();
};

/// The rows of the event log.
struct event_selection {
  std::vector<unsigned char> events;  ///< [event_names] 1: logged; empty: all are
  std::optional<double> from, to;     ///< the window, in the direction of the run
  int first = 0, last = 0;            ///< number of remaining rows kept per instance at either end; both 0: all
  bool outputs = false;               ///< rows have outputs, too
  bool is_all() const { return events.empty() && !from && !to && first + last == 0 && !outputs; }
};

/// A histogram of a column of results (statistic_columns) by bins over [from, to].
struct histogram_request {
  std::string name;  ///< of the column
  int column;        ///< its index
  double from, to;
  int bins;
};

/// Measured values of a state or an output.
struct measured {
  std::string name;
  std::vector<double> times, values, sigma;  ///< of each value
};

/// Seconds between two times when a journal is put on the disk, and duration of a run from which it has a journal
/// (journal.hpp).
inline constexpr double usual_checkpoint = 60, short_run = 10;

struct plan {
  host::model model;

  // integration of an instance
  std::string method = "dp5";
  std::string stiff_method;    ///< method = "auto": the method after a change; empty: not auto
  std::string lasting_method;  ///< the same where stiffness lasts so long that rounding would accumulate in that one
  controller_kind controller = controller_kind::pi;
  norm_kind norm = norm_kind::rms;
  precision_kind precision = precision_kind::double_precision;
  double rtol = 1e-6;
  std::vector<double> atol;  ///< one per state
  saltus::coordinates coordinates = saltus::coordinates::all;
  structure_kind structure = structure_kind::analysis;  ///< for equations of any order
  double event_tol = 0;
  double first_step = 0;  ///< 0: automatic
  double max_step = std::numeric_limits<double>::infinity();
  double fixed_step = 0;  ///< > 0: constant step
  std::int64_t max_steps = 1'000'000;
  std::int64_t max_events = 10'000;
  std::int64_t history = 1024;                    ///< steps that an instance with delays remembers
  bool backward = false;                          ///< every instance has t_begin > t_end; else t_begin < t_end
  abi::consistency consistency = abi::algebraic;  ///< how a model with constraints finds a consistent start

  // events
  saltus::detection detection = saltus::detection::hermite;
  bool guards_in_error = false;  ///< guards take part in the error control
  double concurrency_time = 0;   ///< bilateral guards this close in time fire together; 0: off
  double concurrency_value = 0;  ///< if none is further beyond zero than this
  double zeno = 1e-7;            ///< accumulating events end at this fraction of the span; 0: never
  bool rescue = true;            ///< the host continues instances that lanes cannot settle
  double inject_exceptions = 0;  ///< share of instances that lanes give up at random; tests set it, no key does

  // instances: id = sample + samples * (product index, last axis fastest)
  std::vector<double> parameters;  ///< fixed values, one per parameter
  std::vector<double> initial;     ///< fixed values, one per state; NaN: the model's own
  std::vector<double> discrete;    ///< the same for discrete variables
  double t_begin = 0, t_end = 1;
  std::shared_ptr<const run_tables> tables;    ///< the model's tables, in its order; null: it reads none
  std::shared_ptr<const run_records> records;  ///< rows of the model's recorded time events; null: it has none
  std::vector<axis> axes;
  std::vector<random_column> random;
  /// Cholesky factor of the correlation of normal scores, by rows; empty: independent
  std::vector<double> correlation;
  host::design design;       ///< of the random columns
  std::int64_t samples = 1;  ///< instances of the design per point of the product
  std::uint64_t seed = 0;
  std::int64_t count = 1;  ///< instances in all

  // output
  std::string file;   ///< empty: no file
  std::string title;  ///< of the result; empty: that of the model
  std::int64_t sample_count = 0;
  std::vector<double> sample_times;  ///< empty with sample_count > 0: evenly over each instance's span
  bool log_events = false;
  event_selection logged;
  std::vector<reduction> reductions;
  std::vector<double> windows;   ///< [reduction][3]: from, to and argument, as kernels take them
  int compression = 0;           ///< deflate level 0..9
  bool anonymous = false;        ///< the result has no folders, which may contain a user name, and no command line
  std::int64_t store_chunk = 0;  ///< instances in a chunk of a result that has chunks of its own; 0: chosen
  bool rows = true;              ///< the file has the results of every instance
  bool statistics = false;       ///< the file has statistics over all instances
  std::vector<histogram_request> histograms;
  bool bands = false;             ///< the file has statistics at each sample time, of every state and output
  std::vector<double> quantiles;  ///< quantiles at each sample time
  std::vector<int> indices;       ///< columns of results (statistic_columns) with sensitivity indices

  // derivatives by parameters and initial values (called initial.NAME)
  std::vector<target> sensitivities;
  /// their errors count; `atol` then has further values, one per state and parameter
  bool sensitivities_in_error = false;

  // the gradient of one outcome
  std::vector<target> gradient;          ///< by these parameters and initial values (called initial.NAME)
  std::vector<int> gradient_numbers;     ///< the same, as kernels take them
  std::vector<int> gradient_integrals;   ///< integrands in the outcome: output i is number i, state i is -1 - i
  std::vector<double> gradient_weights;  ///< abi::settings', then that of the misfit; empty: no gradient
  std::vector<measured> gradient_data;
  std::vector<abi::datum> data;  ///< the same, as kernels take them

  int exponents = 0;  ///< number of Lyapunov exponents, the largest ones
  double exponents_from =
      -std::numeric_limits<double>::infinity();  ///< exponents use the time from here on; -infinity: all of it

  // execution
  backend_kind backend = backend_kind::automatic;
  std::vector<int> devices;        ///< numbers of CUDA devices; empty: all
  int threads = 0;                 ///< 0: all cores
  int lanes = 0;                   ///< 0: the fastest known (chosen_shape.hpp)
  int groups = 0;                  ///< groups of lanes that take turns; 0: the fastest known
  std::int64_t chunk = 0;          ///< instances per chunk; 0: chosen
  bool by_work = true;             ///< on a device, instances begin in the order of predicted work
  double allowed_failed = 0;       ///< share of instances that may fail before exit code 3
  double instance_time_limit = 0;  ///< seconds that an instance may be under way; 0: no limit
  /// Seconds between two times when the journal is put on the disk; 0: no journal. Nothing: usual_checkpoint, and a
  /// short run has no journal.
  std::optional<double> checkpoint;
  double lease = 60;  ///< seconds without a sign of life after which other runs take over a run's instances

  std::string text;  ///< the spec as run (TOML with flags merged in): goes into the file's provenance
  std::vector<std::filesystem::path> inputs;  ///< files that were read: the spec, CSV files, results
  bool reads_standard_input = false;          ///< standard input was read, too (csv.hpp)
  /// allowed but probably unintended settings, one sentence each, with the place
  std::vector<std::string> warnings;
};

/// Doubles the samples of a plan without axes. The earlier samples stay unchanged, with the same ids.
inline void double_samples(plan& p) {
  for (std::int64_t* const number : {&p.design.count, &p.samples, &p.count}) *number *= 2;
}

/// Is this parameter, initial value or time one of a sweep or a sample?
inline bool is_varied(const plan& p, target::kind which, int index) {
  const auto is_it = [&](const auto& column) { return column.what.which == which && column.what.index == index; };
  return std::any_of(p.random.begin(), p.random.end(), is_it) ||
         std::any_of(p.axes.begin(), p.axes.end(),
                     [&](const axis& a) { return std::any_of(a.columns.begin(), a.columns.end(), is_it); });
}

/// Is this discrete variable a part of the key of random streams that each instance gets from the seed and its id?
inline bool is_drawn_key(const plan& p, target::kind which, int index) {
  const int key = p.model.random_key;
  if (which != target::kind::discrete || key < 0 || index < key || index >= key + 4) return false;
  const double given = p.discrete[static_cast<std::size_t>(index)];
  return given != given && !is_varied(p, which, index);
}

/// Does this parameter, initial value or time differ between instances?
inline bool varies(const plan& p, target::kind which, int index) {
  return is_varied(p, which, index) || is_drawn_key(p, which, index);
}

/// Does any discrete variable have an initial value other than the model's own?
inline bool gives_discretes(const plan& p) {
  if (p.model.random_key >= 0) return true;
  for (std::size_t i = 0; i < p.discrete.size(); ++i)
    if (p.discrete[i] == p.discrete[i] || varies(p, target::kind::discrete, static_cast<int>(i))) return true;
  return false;
}

/// Number of derivatives of each quantity.
inline std::size_t directions(const plan& p) { return p.sensitivities.size(); }

inline bool has_gradient(const plan& p) { return !p.gradient_weights.empty(); }
/// The outcomes in the order of `gradient_weights`: "final_height", "integral(height)", "t_final", "mean(height)", "misfit".
inline std::vector<std::string> gradient_outcomes(const plan& p) {
  std::vector<std::string> all, means;
  const auto add_finals = [&](const std::vector<quantity>& list) {
    for (const quantity& q : list) all.push_back("final_" + q.name);
  };
  add_finals(p.model.states);
  for (const int x : p.gradient_integrals) {
    const auto& name = x >= 0 ? p.model.outputs[static_cast<std::size_t>(x)].name
                              : p.model.states[static_cast<std::size_t>(-1 - x)].name;
    all.push_back("integral(" + name + ")"), means.push_back("mean(" + name + ")");
  }
  add_finals(p.model.outputs);
  all.emplace_back("t_final");
  all.insert(all.end(), means.begin(), means.end());
  if (!p.gradient_data.empty()) all.emplace_back("misfit");
  return all;
}

/// Directions carried along with the states, for derivatives or for Lyapunov exponents. A gradient has the matrices of one.
inline std::int64_t carried_directions(const plan& p) {
  return p.exponents > 0 ? p.exponents : static_cast<std::int64_t>(has_gradient(p) ? 1 : directions(p));
}

/// Columns of samples: states and outputs, then their derivatives.
inline std::size_t sampled_columns(const plan& p) {
  return (p.model.states.size() + p.model.outputs.size()) * (1 + directions(p));
}

/// Columns at sample times of which statistics are made: quantity * sample_count + sample.
inline std::size_t band_columns(const plan& p) {
  return p.bands ? (p.model.states.size() + p.model.outputs.size()) * static_cast<std::size_t>(p.sample_count) : 0;
}

/// Columns of a gradient: the outcome, then its derivatives.
inline std::size_t gradient_columns(const plan& p) { return has_gradient(p) ? 1 + p.gradient.size() : 0; }

/// Does the result have a column that says why an instance has no derivatives, exponents or gradient?
inline bool has_sensitivity(const plan& p) { return !p.sensitivities.empty() || p.exponents > 0 || has_gradient(p); }

/// For Lyapunov exponents: exponents, their errors, grazed events. Otherwise columns of derivatives: for each parameter
/// those of the final states, outputs and time, and of the reductions.
inline std::size_t sensitivity_columns(const plan& p) {
  if (p.exponents > 0) return 2 * static_cast<std::size_t>(p.exponents) + 1;
  return (p.model.states.size() + p.model.outputs.size() + 1 + p.reductions.size()) * directions(p);
}

/// Quantities of a point in the event log: states, and outputs if the plan asks for them.
inline std::size_t logged_quantities(const plan& p) {
  return p.model.states.size() + (p.logged.outputs ? p.model.outputs.size() : 0);
}

/// Numbers in a row of the event log for the point before the event, and as many after it: quantities, then derivatives
/// of the event time.
inline std::size_t logged_numbers(const plan& p) { return logged_quantities(p) + directions(p); }

/// Largest number of rows of the event log per instance; 0: any number.
inline std::size_t bounded_rows(const plan& p) {
  return p.log_events ? static_cast<std::size_t>(p.logged.first + p.logged.last) : 0;
}

/// The method as the spec calls it.
inline std::string method_name(const plan& p) { return p.stiff_method.empty() ? p.method : "auto"; }
/// "rodas5p or radau5": the implicit methods of auto; "radau9" if they are the same.
inline std::string stiff_methods(const plan& p) {
  return p.stiff_method == p.lasting_method ? p.stiff_method : p.stiff_method + " or " + p.lasting_method;
}

}  // namespace saltus::host
