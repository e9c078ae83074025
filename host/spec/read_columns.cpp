// Reads columns of numbers from the files that a spec names: CSV, also on standard input, or NetCDF.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/netcdf.hpp"
#include "spec/csv.hpp"
#include "spec/reading.hpp"

namespace saltus::host {

namespace {

/// The variables with these names, all of one length; without names, the one-dimensional variables that the spec may
/// use.
csv_table read_netcdf(const std::filesystem::path& path, std::vector<std::string> wanted, const known_name& is_known,
                      const std::string& who) {
  const auto refuse = [&](const std::string& why) { throw error(exit_usage, who + ": " + why); };
  const netcdf_file file(path.string());
  names columns;
  for (const auto& v : file.variables())
    if (v.dimensions.size() == 1 && v.is_number) columns.push_back(v.name);
  if (wanted.empty())
    for (const auto& name : columns)
      if (is_known(std::string(name))) wanted.emplace_back(name);
  if (wanted.empty())
    refuse(fmt::format("{} has no variable of one dimension that the model has a quantity for; {}", path.string(),
                       suggest("", columns)));
  csv_table table{std::move(wanted), {}};
  const netcdf_variable* first = nullptr;
  for (const auto& name : table.names) {
    const auto* const v = contains(columns, name) ? file.find(name) : nullptr;
    if (!v)
      refuse(fmt::format("{} has no variable {} of one dimension; {}", path.string(), name, suggest(name, columns)));
    if (!first) first = v;
    if (v->dimensions != first->dimensions)
      refuse(fmt::format("{} and {} of {} have different dimensions, {} and {}: columns = [...] takes some alone",
                         first->name, name, path.string(), first->dimensions[0], v->dimensions[0]));
    table.columns.push_back(file.column(*v));
    const auto& numbers = table.columns.back();
    const auto bad = std::find_if(numbers.begin(), numbers.end(), [](double x) { return !std::isfinite(x); });
    if (bad != numbers.end())
      refuse(fmt::format("{} of {} must have finite numbers; number {} is {}", name, path.string(),
                         bad - numbers.begin(), *bad));
  }
  if (table.columns.front().empty()) refuse(fmt::format("{} of {} has no number", table.names.front(), path.string()));
  return table;
}

}  // namespace

csv_table read_columns(reading& r, const field& path, std::vector<std::string> wanted, const known_name& is_known,
                       const std::string& who) {
  if (path.text() == standard_input_name) {
    r.plan.reads_standard_input = true;
    return read_csv_table(standard_input_name, std::move(wanted), who);
  }
  const auto file = resolve(r.spec, path);
  auto table = is_netcdf(file) ? read_netcdf(file, std::move(wanted), is_known, who)
                               : read_csv_table(file, std::move(wanted), who);
  if (!contains(r.plan.inputs, file)) r.plan.inputs.push_back(file);
  return table;
}

std::int64_t first_rows(const field& entry, std::int64_t rows, const std::string& of) {
  const auto count = entry.is_table() ? entry.find("count") : std::nullopt;
  if (!count) return rows;
  const auto some = count->whole(1, max_instances);
  if (some > rows) count->fail(fmt::format("must be at most {}, the number of rows of {}", rows, of));
  return some;
}

std::vector<double> read_numbers(const reading& r, const field& entry) {
  if (!entry.is_table()) return entry.numbers();
  entry.only({"array"});
  const auto name = entry.need("array", "must be the name of an array that a program gives beside the spec");
  const auto found = r.spec.arrays.find(name.text());
  if (found != r.spec.arrays.end()) return found->second;
  names given;
  for (const auto& [known, numbers] : r.spec.arrays) given.push_back(known);
  name.fail("not given beside the spec; " + suggest(name.text(), given));
}

std::vector<double> read_csv(reading& r, const field& entry) {
  const auto csv = entry.need("csv", "must be the path of a CSV file");
  const auto column = entry.need("column", "must be the name of a column of the CSV file");
  auto table = read_columns(r, csv, {column.text()}, {}, entry.what());
  auto& values = table.columns.front();
  values.resize(static_cast<std::size_t>(first_rows(entry, std::ssize(values), csv.text())));
  return std::move(values);
}

}  // namespace saltus::host
