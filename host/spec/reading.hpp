// Readers of a spec's tables into a plan, and their shared state. Used by spec.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "linear/factorised.hpp"
#include "spec/csv.hpp"
#include "spec/document.hpp"
#include "spec/field.hpp"
#include "spec/keys.hpp"
#include "spec/names.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// A plan that is filled table by table; an error ends it.
struct reading {
  const spec_document& spec;
  const host::model& model;
  const field& root;
  host::plan plan{};
  std::map<std::string, field> given{};  ///< the entry that sets each parameter, state or time
  double first = 0, last = 0;            ///< the hull of all time spans, in the direction of the run
  bool one_span = true;                  ///< all instances have the same span
  std::vector<double> ids{};       ///< of the rows of a table or a result, by which records find them; empty: none
  std::int64_t rows_of_table = 0;  ///< of the swept table, those that are not run included
  bool goes_on = false;            ///< instances begin at the times at which those of a result ended

  /// Notes that an entry sets a name; throws if another entry has set it.
  void claim(const field& entry) { claim(entry.key(), entry); }
  void claim(const std::string& name, const field& entry);
  /// Compares in the direction of the run.
  bool is_before(double a, double b) const { return plan.backward ? a > b : a < b; }
};

/// A path in the spec: relative to the folder of the spec, or to the current folder if a flag has set it.
inline std::filesystem::path resolve(const spec_document& spec, const field& entry) {
  const std::filesystem::path path = entry.text();
  if (entry.flagged()) return path;
  return (spec.folder.empty() ? spec.file.parent_path() : spec.folder) / path;
}

/// The quantity that an entry of [sweep] or [sample] varies; a time only if `times`. `others`: the further keys of its
/// section, for the message.
target target_of(reading& r, const field& entry, bool times, const names& others);
/// The members of a family of parameters, states or discrete variables; empty: there is no family of this name.
std::vector<target> members_called(const reading& r, const std::string& family);
/// [sweep.parameters] and [sweep.initial], and those of [sample]: for quantities whose names may be those of keys.
inline const names long_forms = {"parameters", "initial"};
/// The entries of one of these tables.
std::vector<field> quantities_of(const reading& r, const field& table);
/// Called for a key whose value fits a quantity: throws with the long form if the model has a quantity of that name.
void refuse_as_key(const reading& r, const field& entry);
using known_name = std::function<bool(const std::string&)>;
/// The columns with these names of a CSV file, of standard input ("-") or of a NetCDF file. Without names: all columns;
/// from a NetCDF file, all that `is_known` accepts. `who` begins messages.
csv_table read_columns(reading& r, const field& path, std::vector<std::string> wanted, const known_name& is_known,
                       const std::string& who);
/// The number of rows of a file to take: `rows`, or the `count` of the entry.
std::int64_t first_rows(const field& entry, std::int64_t rows, const std::string& of);
/// [1.0, 2.0], or { array = "outdoor" }, an array that a program passes beside the spec.
std::vector<double> read_numbers(const reading& r, const field& entry);
/// { csv, time, column } or { times, values }; `further`: other keys that the entry may have.
knots read_points(reading& r, const field& entry, const names& further = {});
/// The numbers of { csv, column, count }.
std::vector<double> read_csv(reading& r, const field& entry);
/// The file from which [initial] continues, if any.
std::optional<field> continued_from(const field& root);

/// Reads the plain values of a table, which may have only the keys in spec_keys. The top of a spec counts as a table
/// without a name.
void read_plain_values(reading& r, const field& table);

/// Method, tolerances, steps, time span.
void read_integration(reading& r);
/// Implicit methods have gradients of at most so many states. The host's linear algebra, which factorises larger matrices, does not solve
/// with a transposed one.
inline constexpr std::size_t most_states_of_implicit_gradient = max_rows_in_lanes;

/// Where the spec names no method, equations dy/dt = f(t, y) are integrated as by method = "auto" if implicit methods can take over: their
/// matrices fit, and neither a constant step nor Lyapunov exponents nor the gradient of many states is asked for. Needs all of these.
void choose_auto(reading& r);
/// Location of events.
void read_events(reading& r);
/// [parameters] and [initial], [sweep], [sample]. Needs the time span.
void read_instances(reading& r);
/// [initial] from, for read_instances: continues all quantities that no other entry gives. Needs all other entries.
void read_from(reading& r);
/// [sample], for read_instances: random values and their design.
void read_sample(reading& r);
/// [tables]. Needs the time spans of the instances.
void read_tables(reading& r);
/// The column of the swept table that [records] names as that of ids; empty: none.
std::string id_column(const reading& r);
/// [records]. Needs the instances and the name of the result.
void read_records(reading& r);
/// [output]. Needs the instances.
void read_output(reading& r);
/// `reduce`, a list or one item, for read_output: max(pressure), mean(lift) from 10 to 20, value(lift at 3.5),
/// first(impact).
void read_reductions(reading& r, const field& list);
/// [sensitivity]. Needs method, events, instances and output.
void read_sensitivity(reading& r);
/// [lyapunov]. Needs [sensitivity] and its requirements.
void read_lyapunov(reading& r);
/// [run]. Needs all readers above.
void read_run(reading& r);

/// [gradient]. Needs all readers above.
void read_gradient(reading& r);

/// Refuses settings that models with delays do not have. Needs all readers above.
void check_delays(const reading& r);

}  // namespace saltus::host
