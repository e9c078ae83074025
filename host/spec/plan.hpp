// What a run will do: a validated spec. Everything after `spec.cpp` trusts it.
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

#include "spec/model.hpp"
#include "spec/tables.hpp"

namespace saltus::host {

/// Values given one by one, or evenly (linearly or logarithmically) from `from` to `to`, ends included.
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
  std::vector<double> values = {};      ///< of a discrete one, ascending
  std::vector<double> cumulative = {};  ///< and the probability of a value up to each of them; the last is 1
};

/// How the samples of [sample] lie. Its instances are counted from 0 at every point of the product.
struct design {
  enum class kind { random, latin_hypercube, sobol, halton, saltelli, morris, fast };
  kind which = kind::random;
  std::int64_t count = 1;  ///< samples, pairs of samples (saltelli), trajectories (morris), samples of a curve (fast)
  bool second_order = false;  ///< of saltelli
  int levels = 4;             ///< of morris
  int harmonics = 4;          ///< of fast
  /// Of saltelli: its count is doubled as long as an interval of an index reaches further than this to either side of its middle,
  /// up to `max_count`; 0: it stays as it is.
  double half_width = 0;
  std::int64_t max_count = 0;
};

/// What varies: a parameter, an initial value of a state or discrete variable, or an end of the time span.
struct target {
  enum class kind { parameter, state, t_begin, t_end, discrete };  ///< random values depend on their numbers
  kind which;
  int index;  ///< among the model's parameters, states or discrete variables; 0 for times
  std::string name;
};

/// One axis of the product: columns that move together (a single one for a plain sweep entry).
struct axis {
  struct column {
    target what;
    std::variant<listed, ranged> values;
  };
  std::vector<column> columns;
  std::int64_t count;
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
  /// The first and the last time that counts; forward: negative in a run backward.
  double from = -std::numeric_limits<double>::infinity(), to = std::numeric_limits<double>::infinity();
  double argument = std::numeric_limits<double>::quiet_NaN();  ///< time of a value, forward; order of a quantile
};

/// Which rows the event log has.
struct event_selection {
  std::vector<unsigned char> events;  ///< [event_names] 1: it is logged; empty: all are
  std::optional<double> from, to;     ///< the first and the last time, in the direction of the run
  int first = 0, last = 0;            ///< of what is left so many rows of each instance; both 0: all
  bool outputs = false;               ///< it has outputs, too
  bool is_all() const { return events.empty() && !from && !to && first + last == 0 && !outputs; }
};

/// Values of a column of results (statistic_columns) to be counted by bins over [from, to].
struct histogram_request {
  std::string name;  ///< of the column
  int column;        ///< its index
  double from, to;
  int bins;
};

/// Seconds: between two times when a journal is put on the disk, and after which a run has one (journal.hpp).
inline constexpr double usual_checkpoint = 60, short_run = 10;

/// What tells how equations of any order are integrated: their structural analysis, or the rank of their derivative array.
inline constexpr const char* structure_names[] = {"analysis", "array"};

struct plan {
  host::model model;

  // how one instance is integrated
  std::string method = "dp5";
  std::string stiff_method;          ///< method = "auto": what carries on where `method` finds it stiff; empty: nothing
  std::string controller = "pi";     ///< elementary, pi, h211b
  std::string norm = "rms";          ///< rms, max, compere
  std::string precision = "double";  ///< double, float
  double rtol = 1e-6;
  std::vector<double> atol;            ///< one per state
  std::string coordinates = "all";     ///< all, unitary, partitioned
  std::string structure = "analysis";  ///< of equations of any order: analysis, array
  double event_tol = 0;
  double first_step = 0;  ///< 0: automatic
  double max_step = std::numeric_limits<double>::infinity();
  double fixed_step = 0;  ///< > 0: constant step
  std::int64_t max_steps = 1'000'000;
  std::int64_t max_events = 10'000;
  bool backward = false;                          ///< every instance has t_begin > t_end rather than t_begin < t_end
  abi::consistency consistency = abi::algebraic;  ///< how a model with constraints is given a consistent start

  // its events
  std::string detection = "hermite";  ///< hermite, certified
  bool guards_in_error = false;       ///< guards take part in the error control
  double concurrency_time = 0;        ///< bilateral guards this near in time fire together; 0: off
  double concurrency_value = 0;       ///< if none is further than this beyond zero
  double zeno = 1e-7;                 ///< part of the span at which accumulating events are cut short; 0: never
  bool rescue = true;                 ///< what lanes cannot settle is carried on by the host
  double inject_exceptions = 0;       ///< share of instances that lanes give up at random; for tests

  // which instances: id = sample + samples * (product index, last axis fastest)
  std::vector<double> parameters;  ///< fixed values, one per parameter
  std::vector<double> initial;     ///< fixed values, one per state; NaN: the model's own
  std::vector<double> discrete;    ///< the same of discrete variables
  double t_begin = 0, t_end = 1;
  std::shared_ptr<const run_tables> tables;  ///< those of the model, in its order; null: it reads none
  std::vector<axis> axes;
  std::vector<random_column> random;
  std::vector<double> correlation;  ///< Cholesky factor of that of their normal scores, by rows; empty: independent
  host::design design;              ///< of the random columns
  std::int64_t samples = 1;         ///< instances of the design per point of the product
  std::uint64_t seed = 0;
  std::int64_t count = 1;  ///< instances in all

  // what is kept
  std::string file;  ///< empty: no file
  std::int64_t sample_count = 0;
  std::vector<double> sample_times;  ///< empty with sample_count > 0: evenly over each instance's span
  bool log_events = false;
  event_selection logged;
  std::vector<reduction> reductions;
  std::vector<double> windows;  ///< [reduction][3]: from, to and argument, as kernels take them
  int compression = 0;          ///< deflate level 0..9
  bool anonymous = false;       ///< the result tells no folders, which may have the name of a user, and no command line
  std::int64_t store_chunk = 0;  ///< instances in a chunk of a Zarr store; 0: as many as suit (zarr_writer.hpp)
  bool rows = true;              ///< the file has the results of every instance
  bool statistics = false;       ///< and statistics over all of them
  std::vector<histogram_request> histograms;
  bool bands = false;             ///< and over all of them at each sample time, of every state and output
  std::vector<double> quantiles;  ///< with these quantiles
  std::vector<int> indices;  ///< columns of results (statistic_columns) whose sensitivity to the samples is computed

  // what it is differentiated with respect to: parameters and initial values (called initial.NAME)
  std::vector<target> sensitivities;
  bool sensitivities_in_error = false;  ///< their errors count; then `atol` goes on with one per state and parameter

  int exponents = 0;  ///< of Lyapunov, so many of the largest
  double exponents_from =
      -std::numeric_limits<double>::infinity();  ///< over the time from there on; -infinity: all of it

  // where and how
  std::string backend = "auto";    ///< auto, cpu, cuda, all
  std::vector<int> devices;        ///< numbers of CUDA devices; empty: all that there are
  int threads = 0;                 ///< 0: all cores
  int lanes = 0;                   ///< 0: what is fastest, as far as known (chosen_shape.hpp)
  int groups = 0;                  ///< of so many lanes, that take turns; 0: the same
  std::int64_t chunk = 0;          ///< instances per chunk; 0: chosen
  bool by_work = true;             ///< on a device, instances begin in the order of the work predicted for them
  double allowed_failed = 0;       ///< share of instances that may fail before exit code 3
  double instance_time_limit = 0;  ///< seconds that an instance may be under way; 0: no limit
  /// Seconds from one time when the journal is put on the disk to the next; 0: there is no journal. Nothing: usual_checkpoint, and
  /// the journal begins only when the run is no short one.
  std::optional<double> checkpoint;
  double lease = 60;  ///< seconds without a sign of life after which others take over what a run has taken

  std::string text;  ///< the spec as run (TOML, flags merged in): goes into the file's provenance
  std::vector<std::filesystem::path> inputs;  ///< files that this was read from: the spec, CSV files, results
  bool reads_standard_input = false;          ///< and standard input (csv.hpp)
  std::vector<std::string> warnings;          ///< what is allowed but hardly meant, one sentence each, with its place
};

/// Makes twice as many samples of a plan without axes. Those that it had stay as they are, with the same ids.
inline void double_samples(plan& p) {
  for (std::int64_t* const number : {&p.design.count, &p.samples, &p.count}) *number *= 2;
}

/// Does this parameter, initial value or time differ between instances?
inline bool varies(const plan& p, target::kind which, int index) {
  const auto is_it = [&](const auto& column) { return column.what.which == which && column.what.index == index; };
  return std::any_of(p.random.begin(), p.random.end(), is_it) ||
         std::any_of(p.axes.begin(), p.axes.end(),
                     [&](const axis& a) { return std::any_of(a.columns.begin(), a.columns.end(), is_it); });
}

/// Has any discrete variable an initial value that is not the model's own?
inline bool gives_discretes(const plan& p) {
  for (std::size_t i = 0; i < p.discrete.size(); ++i)
    if (p.discrete[i] == p.discrete[i] || varies(p, target::kind::discrete, static_cast<int>(i))) return true;
  return false;
}

/// How many derivatives there are of each number.
inline std::size_t directions(const plan& p) { return p.sensitivities.size(); }

/// Directions in which derivatives are carried along with the states, whether they are kept or it is followed how they grow.
inline std::int64_t carried_directions(const plan& p) {
  return p.exponents > 0 ? p.exponents : static_cast<std::int64_t>(directions(p));
}

/// Columns of samples: states and outputs, and then their derivatives.
inline std::size_t sampled_columns(const plan& p) {
  return (p.model.states.size() + p.model.outputs.size()) * (1 + directions(p));
}

/// States and outputs at sample times that statistics are made of: quantity * sample_count + sample.
inline std::size_t band_columns(const plan& p) {
  return p.bands ? (p.model.states.size() + p.model.outputs.size()) * static_cast<std::size_t>(p.sample_count) : 0;
}

/// Has it a column that says why an instance has no derivatives, or no exponents?
inline bool has_sensitivity(const plan& p) { return !p.sensitivities.empty() || p.exponents > 0; }

/// Of Lyapunov: exponents, their errors, events that were grazed. Else columns of derivatives of the whole: for each parameter those of
/// the final states, outputs and time, and of the reductions.
inline std::size_t sensitivity_columns(const plan& p) {
  if (p.exponents > 0) return 2 * static_cast<std::size_t>(p.exponents) + 1;
  return (p.model.states.size() + p.model.outputs.size() + 1 + p.reductions.size()) * directions(p);
}

/// Quantities that the event log has of a point: states, and outputs if they are asked for.
inline std::size_t logged_quantities(const plan& p) {
  return p.model.states.size() + (p.logged.outputs ? p.model.outputs.size() : 0);
}

/// Numbers of a row of the event log before the event, and as many after it: quantities, and then the derivatives of its time.
inline std::size_t logged_numbers(const plan& p) { return logged_quantities(p) + directions(p); }

/// Rows of the event log that an instance may have; 0: any number.
inline std::size_t bounded_rows(const plan& p) {
  return p.log_events ? static_cast<std::size_t>(p.logged.first + p.logged.last) : 0;
}

/// The method as the spec calls it.
inline std::string method_name(const plan& p) { return p.stiff_method.empty() ? p.method : "auto"; }

}  // namespace saltus::host
