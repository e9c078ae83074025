// saltus from C++. A function that fails throws saltus::error.
//
//     saltus::study valves("relief_valve");
//     valves.set("sweep.flow", "{ from = 2.0, to = 6.0, count = 100 }");
//     const saltus::result r = valves.run();
//     for (const double lift : r.reals("final_lift")) ...
//
// A study makes a plan, and a plan runs; a program that runs a study once needs only the study. Objects are handles: copies of a model,
// a plan or a result are the same one, which lives as long as its last copy. They may be used by several threads at a time, a study by
// one. Texts are UTF-8; times and values are in the units of the model. docs/library.md.
#pragma once

#include <saltus/saltus.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace saltus {
inline namespace v0 {

/// `what()` is a sentence for users, `exit_code` that of the program: SALTUS_USAGE, ... (saltus.h).
struct SALTUS_API error : std::runtime_error {
  int exit_code;
  error(const std::string& text, int code) : std::runtime_error(text), exit_code(code) {}
};

// ---- models

/// A state, a parameter, an output or a discrete variable.
struct quantity {
  std::string name;
  double value;  ///< its default, for a state the initial value; 0 for an output
  std::string unit, about;
};
/// A function of time and state whose root is an event.
struct guard {
  std::string name;
  std::string direction;  ///< "rising", "falling" or "both"
  std::string sidedness;  ///< "bilateral" or "unilateral"
  bool terminal;          ///< the event ends the instance
  std::string about;
};
/// An event whose time is known beforehand.
struct time_event {
  std::string name, about;
  /// If its times are those of rows of data: names of their columns, beside the time; none: it is not recorded.
  std::optional<std::vector<std::string>> columns;
};
/// A function of time that the model reads, given by values at knots.
struct table {
  std::string name;
  std::string interpolation, at_ends;  ///< as in a spec: "linear", "held"
  std::size_t knots;                   ///< number of the model's own; 0: a run must give them
  std::string unit, about;
  std::string chosen_by;  ///< the parameter that is the number of its curve; empty: it has one curve
};
/// A model as its header declares it.
struct description {
  std::string name, title, source;
  std::string header, text;  ///< path and content of the header
  std::string time_unit;     ///< empty: not known
  double t_begin, t_end;     ///< its own span
  std::vector<quantity> states, parameters, outputs, discretes;
  std::vector<quantity> kept;  ///< discrete variables that saltus keeps for it: queues and random streams
  std::vector<guard> guards;
  std::vector<time_event> time_events;
  std::vector<table> tables;
};

/// A loaded model. Its compiled modules serve all runs of plans that are made for it.
class SALTUS_API model {
 public:
  /// Compiles the description of the model in a header. `stop` ends the compiler.
  explicit model(const std::string& header, std::stop_token stop = {});
  saltus::description description() const;

  class inside;
  const inside& in() const { return *inside_; }

 private:
  std::shared_ptr<const inside> inside_;
};
/// Names of the built-in models, sorted.
SALTUS_API std::vector<std::string> builtin_names();
/// The header of a built-in model, by its name, or that path.
SALTUS_API std::string find_model(const std::string& name);
/// A file with this text of a header, in the cache; the same text always has the same path. `name`: an identifier, that of the model.
SALTUS_API std::string keep_header(const std::string& name, const std::string& text);
/// The model that a result contains, by its attributes `model`, `model_text` and `model_file`; `result` names it in messages.
struct model_of_result {
  std::string result, name, text, file;
};
/// A header with that text: a built-in, the file, or a new one in the cache. A text that this user has never had compiled is foreign
/// code: unless it is trusted, the error says where it can be read.
SALTUS_API std::string header_of(const model_of_result& m, bool trusted);

// ---- results

/// A named value about a result or one of its variables. Lists have the type of their variable.
struct named_value {
  std::string name;
  std::variant<std::string, double, long long, unsigned long long, std::vector<int>, std::vector<long long>> value;
};

/// The result of a run, in memory.
class SALTUS_API result {
 public:
  /// The exit code that the program would return for the run: 0, SALTUS_FAILED_INSTANCES, SALTUS_INTERRUPTED, ...
  int exit_code() const;
  /// Number of instances that ended with that status: "finished", "zeno".
  std::int64_t ended(const std::string& status) const;

  /// Number of variables; they are 0 .. that - 1.
  std::size_t variables() const;
  /// Variable i, or that of a name, with its unit, dimensions and shape; what it points to lives as long as the result.
  saltus_variable operator[](std::size_t i) const;
  saltus_variable operator[](const std::string& name) const;
  /// The numbers of a variable of doubles, the last dimension fastest.
  std::span<const double> reals(const std::string& name) const;
  /// The bytes of variable i, for the one owner of a result who changes its numbers in place.
  std::span<std::byte> bytes(std::size_t i);
  std::vector<named_value> attributes_of(std::size_t i) const;

  /// The attributes of the result, named values about the run.
  std::vector<named_value> attributes() const;
  /// An attribute that is a text; empty: there is none of that name.
  std::string attribute(const std::string& name) const;

  class inside;
  explicit result(std::shared_ptr<inside> in) : inside_(std::move(in)) {}
  const inside& in() const { return *inside_; }

 private:
  std::shared_ptr<inside> inside_;
};

// ---- plans

/// Is told how many instances have ended, and of how many; from any thread of a run, several at a time.
using progress_function = std::function<void(std::int64_t, std::int64_t)>;

struct run_options {
  bool replace = false;            ///< an older result file is replaced; else it is an error
  std::string caller = "library";  ///< for the history in the result
  progress_function progress = {};
  /// Ends the run early. The result then has what ended; a file is complete or absent (docs/reliability.md).
  std::stop_token stop = {};
};

/// Settings that have been checked against their model: all that a run needs.
class SALTUS_API plan {
 public:
  std::int64_t count() const;                 ///< of instances
  std::vector<std::string> warnings() const;  ///< sentences for users
  /// The result file; empty: none. It replaces output.file of the settings.
  void set_file(const std::string& file);

  /// Throws what `run` would throw before it integrates: the file cannot be written, or options conflict.
  void check(bool replace = false) const;
  /// Runs all instances, into memory and into the file if there is one. Instances that fail are no failure of the run (result::ended).
  result run(const run_options& how = {}) const;
  /// Runs the part "3/16" alone, into the journal of the file. Returns the number of its instances in the journal.
  std::int64_t run_part(const std::string& part, const run_options& how = {}) const;
  /// Makes the file from the journal, when all parts have ended.
  void gather(const run_options& how = {}) const;
  /// The sentence that more instances failed than run.allowed_failed, from their numbers by status; empty: it is not so.
  std::string too_many_failed(const std::map<std::string, std::int64_t>& by_status) const;

  class inside;
  explicit plan(std::shared_ptr<inside> in) : inside_(std::move(in)) {}

 private:
  std::shared_ptr<inside> inside_;
};

/// A model or a spec, with settings: what is to be run.
class SALTUS_API study {
 public:
  /// A built-in's name, "./my_model.hpp" or "./my_sweep.toml".
  explicit study(const std::string& what);
  /// A spec, whatever the name of its file ends in.
  static study of_file(const std::string& file);
  /// The text of a spec, whose paths start at the folder; empty: at the current one.
  static study of_text(const std::string& toml, const std::string& folder = {});
  ~study();
  study(study&&) noexcept;

  /// A key of a spec, a parameter or an initial value, as TOML. A later value replaces an earlier one. Whether the key exists is known
  /// when a plan is made.
  study& set(const std::string& key, const std::string& value);
  /// Numbers that settings name, copied: set("sweep.flow", "{ array = \"flow\" }").
  study& array(const std::string& name, std::span<const double> values);
  /// Values of an input, one for each instance, copied; all columns together are one axis of the sweep.
  study& column(const std::string& name, std::span<const double> values);

  /// The header of its model.
  std::string header() const;
  /// Checks all settings and compiles the description of the model, which stays loaded for further plans of this study.
  saltus::plan plan();
  /// The same for that model.
  saltus::plan plan(const model& loaded) const;

  std::int64_t count() { return plan().count(); }
  study& on_progress(progress_function call);
  /// Makes a plan and runs it. `replace`: an older file is replaced.
  result run(bool replace = false);
  /// Ends the present and all later runs early; from any thread or signal handler.
  void cancel() noexcept;

  class inside;

 private:
  explicit study(std::unique_ptr<inside> in);
  std::unique_ptr<inside> inside_;
};

// ---- results that exist

/// Writes the finished instances of a journal, FILE.journal, which a run may be writing, into a file.
SALTUS_API void so_far(const std::string& journal, const std::string& file, std::stop_token stop = {});
/// Options of a Zarr store.
struct store_options {
  std::string store = {};                  ///< its path; empty: beside the result, under its name
  std::optional<std::int64_t> chunk = {};  ///< instances in a chunk; none: as many as a run chooses
  bool replace = false;                    ///< an older store is replaced
};
/// Writes a result file, or the finished instances of a journal, as a Zarr store. Returns its path.
SALTUS_API std::string to_zarr(const std::string& result, const store_options& how = {}, std::stop_token stop = {});
/// Throws, with the words what reads it, if this program cannot read results of the file's format.
SALTUS_API void must_be_read_here(const std::string& file);
/// The function of Python that reads results of the file's format: "xarray.open_dataset".
SALTUS_API std::string python_reader(const std::string& file);
/// The settings of a result, by its attribute `settings`, that hold for one instance alone, as TOML. `file` names the result in messages.
SALTUS_API std::string settings_of_instance(const std::string& settings, const std::string& file);
/// The same of its attribute `records`, without ids; `sources`: that attribute. Throws if a file of them has changed since the run.
SALTUS_API std::string records_of_instance(const std::string& records, const std::string& sources,
                                           const std::string& file);

// ---- lists and names

/// A way in which an instance ends: a number of the variable `status`.
struct ending {
  int number;
  std::string name, meaning, remedy;
  std::string group;  ///< "ok", "failed" or "not_finished"
};
SALTUS_API std::vector<ending> endings();
/// A key of a spec.
struct key {
  std::string table;        ///< empty: at the top
  std::string name;         ///< in the table
  std::string python_type;  ///< annotation of the keyword in Python; empty: there is no keyword
};
SALTUS_API std::vector<key> keys();
/// Names that a result has for its own variables and dimensions, which a model cannot have for its quantities.
SALTUS_API std::vector<std::string> reserved_names();
/// Names along the dimension `statistic`.
SALTUS_API std::vector<std::string> statistic_names();
/// "did you mean rtol? allowed: model, rtol, ..."
SALTUS_API std::string suggest(const std::string& given, const std::vector<std::string>& allowed);
/// "compiling rescue, 12 s", from any thread; empty: nothing is being compiled in this process.
SALTUS_API std::string compiling_now();
/// "0.1.0+1a2b3c4": version and commit of the library.
SALTUS_API std::string version();

}  // namespace v0
}  // namespace saltus
