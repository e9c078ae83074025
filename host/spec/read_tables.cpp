// Reads [tables] of a spec: the values of the tables that the model reads.
//
// A table whose curves a parameter chooses may have several: lists in a list, or columns of a file.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "spec/reading.hpp"
#include "spec/run_tables.hpp"

namespace saltus::host {

namespace {

using declared = host::tabulated;

/// Two columns of a file.
knots read_columns(reading& r, const field& csv, const std::string& time, const std::string& column) {
  auto read = read_columns(r, csv, {time, column}, {}, csv.what());
  return {std::move(read.columns[0]), std::move(read.columns[1])};
}

/// A column of times, and others behind each other; without names, all others of the file.
knots read_curves(reading& r, const field& csv, const std::string& time, const std::optional<field>& columns) {
  std::vector<std::string> wanted;
  if (columns)
    for (const auto& item : columns->items_or_text()) wanted.push_back(item.text());
  if (columns && wanted.empty()) columns->fail("must name one column or more");
  if (columns) wanted.insert(wanted.begin(), time);
  const auto any = [](const std::string&) { return true; };
  auto read = read_columns(r, csv, std::move(wanted), any, csv.what());
  const auto at = static_cast<std::size_t>(std::find(read.names.begin(), read.names.end(), time) - read.names.begin());
  if (at == read.names.size())
    csv.fail(fmt::format("has no column {}; {}", time, suggest(time, names(read.names.begin(), read.names.end()))));
  knots k{std::move(read.columns[at]), {}};
  for (std::size_t j = 0; j < read.columns.size(); ++j)
    if (j != at) k.values.insert(k.values.end(), read.columns[j].begin(), read.columns[j].end());
  if (k.values.empty()) csv.fail("has no column beside that of times");
  return k;
}

/// Values of curves: lists of numbers, as many for each curve; or as those of a single one.
std::vector<double> read_values_of_curves(reading& r, const field& values, std::size_t times) {
  if (!values.is_list() || values.items().empty() || !values.items().front().is_list()) return read_numbers(r, values);
  std::vector<double> all;
  for (const auto& curve : values.items()) {
    const auto numbers = curve.numbers();
    if (numbers.size() != times)
      curve.fail(fmt::format("must have as many values as times, {}; it has {}", times, numbers.size()));
    all.insert(all.end(), numbers.begin(), numbers.end());
  }
  return all;
}

constexpr auto what_is_csv = "must be the path of a CSV file";
constexpr auto what_is_time = "must be the name of the column of times";
constexpr auto what_are_times = "must be a list of times, in ascending order";

}  // namespace

knots read_points(reading& r, const field& entry, const names& further) {
  if (!entry.is_table())
    entry.fail(
        "must be { csv = \"FILE\", time = \"COLUMN\", column = \"COLUMN\" } or { times = [...], values = [...] }");
  if (entry.find("csv")) {
    entry.only(joined({"csv", "time", "column"}, further));
    const auto column = entry.need("column", "must be the name of the column of values");
    return read_columns(r, entry.need("csv", what_is_csv), entry.need("time", what_is_time).text(), column.text());
  }
  if (entry.find("times")) entry.only(joined({"times", "values"}, further));
  else entry.only(joined({"csv", "time", "column", "times", "values"}, further));
  return {read_numbers(r, entry.need("times", what_are_times)),
          read_numbers(r, entry.need("values", "must be a list of values, one for each time"))};
}

namespace {

/// The curves of a table that a parameter chooses.
knots read_several(reading& r, const field& entry) {
  if (entry.find_in_table("csv") && !entry.find("column")) {
    entry.only({"csv", "time", "columns"});
    return read_curves(r, entry.need("csv", what_is_csv), entry.need("time", what_is_time).text(),
                       entry.find("columns"));
  }
  if (!entry.find_in_table("times")) return read_points(r, entry);
  entry.only({"times", "values"});
  auto times = read_numbers(r, entry.need("times", what_are_times));
  auto values = read_values_of_curves(r, entry.need("values", "must be a list of values for each curve"), times.size());
  return {std::move(times), std::move(values)};
}

/// Throws if a table has no values beyond its ends and does not cover the time span.
void check_covers(const reading& r, const declared& t, const knots& k, const auto& fail) {
  const double begin = std::min(r.first, r.last), end = std::max(r.first, r.last);
  if (t.beyond != at_ends::none || (k.times.front() <= begin && end <= k.times.back())) return;
  fail(fmt::format(
      "must cover the time span {} .. {}, as {} is neither held nor periodic at its ends: it has values from {} "
      "to {}",
      begin, end, t.name, k.times.front(), k.times.back()));
}

}  // namespace

void read_tables(reading& r) {
  const auto section = r.root.find("tables");
  if (section && r.model.tables.empty())
    section->fail(fmt::format("must be left out, as {} reads no tables", r.model.name));
  if (r.model.tables.empty()) return;
  if (section) section->only(joined(names_of(r.model.tables), {"csv", "time"}));
  const auto csv = section ? section->find("csv") : std::nullopt;
  std::vector<run_tables::table> all;
  for (const declared& t : r.model.tables) {
    const auto entry = section ? section->find(t.name) : std::nullopt;
    const auto source = entry ? entry : csv;
    const auto fail = [&](const std::string& what) {
      if (source) source->fail(what);
      throw error(exit_usage, fmt::format("table {} of {}, by its own values: {}", t.name, r.model.name, what));
    };
    knots k{t.times, t.values};
    const bool several = t.choice >= 0;
    if (entry) k = several ? read_several(r, *entry) : read_points(r, *entry);
    else if (csv) k = read_columns(r, *csv, section->need("time", what_is_time).text(), t.name);
    else if (k.times.empty())
      (section ? *section : r.root)
          .fail_missing(
              section ? t.name : "tables." + t.name,
              fmt::format("{} ({}) has no values of its own; it must be {{ csv = \"FILE\", time = \"COLUMN\", "
                          "column = \"COLUMN\" }} or {{ times = [...], values = [...] }}",
                          t.name, t.about));
    if (const auto flaw = flaw_of(k, t.beyond, several); !flaw.empty()) fail(flaw);
    check_covers(r, t, k, fail);
    auto coefficients = coefficients_of(k, t.between, t.beyond);
    all.push_back({t.name, std::move(k), std::move(coefficients)});
  }
  r.plan.tables = std::make_shared<const run_tables>(std::move(all));
}

}  // namespace saltus::host
