// Reading the tables of a spec into a plan: what the readers share, and which there are. For spec.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "spec/csv.hpp"
#include "spec/document.hpp"
#include "spec/field.hpp"
#include "spec/keys.hpp"
#include "spec/names.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// A plan that is being filled, table by table; an error ends it.
struct reading {
  const spec_document& spec;
  const host::model& model;
  const field& root;
  host::plan plan{};
  std::map<std::string, field> given{};  ///< where each parameter, state or time has its value
  double first = 0, last = 0;            ///< the hull of all time spans, in the direction of the run
  bool one_span = true;                  ///< the same for every instance

  /// A name may be given a value in one place only.
  void claim(const field& entry) { claim(entry.key(), entry); }
  void claim(const std::string& name, const field& entry);
  /// In the direction of the run.
  bool is_before(double a, double b) const { return plan.backward ? a > b : a < b; }
};

/// A path in the spec: from its folder, or from the current one if a flag has set it.
inline std::filesystem::path resolve(const spec_document& spec, const field& entry) {
  const std::filesystem::path path = entry.text();
  if (entry.flagged()) return path;
  return (spec.folder.empty() ? spec.file.parent_path() : spec.folder) / path;
}

/// What an entry of [sweep] or [sample] varies, a time only if `times`; `others` are the further keys of its section, for the
/// message.
target target_of(reading& r, const field& entry, bool times, const names& others);
/// [sweep.parameters] and [sweep.initial], and those of [sample]: quantities whose names may be those of keys.
inline const names long_forms = {"parameters", "initial"};
/// The entries of one of these tables.
std::vector<field> quantities_of(const reading& r, const field& table);
/// Of a key whose value is one of a quantity: fails with its long form, if the model has a quantity of that name.
void refuse_as_key(const reading& r, const field& entry);
using known_name = std::function<bool(const std::string&)>;
/// The columns of these names of a CSV file, of standard input ("-") or of a NetCDF file; without names all there are, of a NetCDF
/// file those that are known. `who` begins complaints.
csv_table read_columns(reading& r, const field& path, std::vector<std::string> wanted, const known_name& is_known,
                       const std::string& who);
/// How many of so many rows of a file are taken: the `count` of an entry, if it has one.
std::int64_t first_rows(const field& entry, std::int64_t rows, const std::string& of);
/// The numbers of { csv, column, count }.
std::vector<double> read_csv(reading& r, const field& entry);
/// The file that [initial] goes on from, if it does.
std::optional<field> continued_from(const field& root);

/// The plain values of a table, which may have no other keys than those of spec_keys. The table is empty for those at the top.
void read_plain_values(reading& r, const field& table);

/// Method, tolerances, steps, time span.
void read_integration(reading& r);
/// How events are found.
void read_events(reading& r);
/// [parameters] and [initial], [sweep], [sample]: which instances there are. Needs the time span.
void read_instances(reading& r);
/// [initial] from, for read_instances: what no other entry gives is where a result ended. Needs all other entries.
void read_from(reading& r);
/// [sample], for read_instances: which random values there are, and how they lie.
void read_sample(reading& r);
/// [tables]. Needs the time spans of the instances.
void read_tables(reading& r);
/// [output]. Needs the instances.
void read_output(reading& r);
/// The list `reduce`, or one of it, for read_output: max(pressure), mean(lift) from 10 to 20, value(lift at 3.5), first(impact).
void read_reductions(reading& r, const field& list);
/// [sensitivity]. Needs method, events, instances and output.
void read_sensitivity(reading& r);
/// [lyapunov]. Needs [sensitivity], and what that needs.
void read_lyapunov(reading& r);
/// [run]. Needs all before.
void read_run(reading& r);

}  // namespace saltus::host
