// Reads [records] of a spec: the rows of the model's recorded time events, and which of them belong to an instance.
#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/files.hpp"
#include "spec/reading.hpp"
#include "spec/record_reader.hpp"

namespace saltus::host {

namespace {

constexpr auto what_is_record =
    "must be the path of a CSV file with the columns id and time and those of the model, or { csv = \"FILE\" }";

/// The columns of { columns = { id = { array = "a" }, time = [0.0, 24.0] } }.
std::map<std::string, std::vector<double>> read_arrays(const reading& r, const field& columns) {
  std::map<std::string, std::vector<double>> all;
  for (const auto& entry : columns.entries()) all[entry.key()] = read_numbers(r, entry);
  if (all.empty()) columns.fail("must have at least one column");
  return all;
}

/// The axis whose values are rows, if there is one alone: instances have the ids of its rows. Else each instance has its own.
std::optional<record_keys> keys_of_rows(const reading& r) {
  std::int64_t stride = r.plan.samples, found = 0;
  record_keys keys;
  for (auto axis = r.plan.axes.rbegin(); axis != r.plan.axes.rend(); stride *= axis->count, ++axis)
    if (axis->of_rows && ++found == 1) keys = {axis->count, stride, {}};
  return found == 1 ? std::optional(keys) : std::nullopt;
}

/// The ids that the spec gives, or a column of the swept table.
void read_ids(reading& r, const std::optional<field>& section, bool by_rows, record_keys& keys) {
  const auto entry = section ? section->find("id") : std::nullopt;
  if (!entry || entry->is_text()) {
    if (!r.ids.empty() && !by_rows)
      (section ? *section : r.root)
          .fail("must have the key id with an id for each instance: rows of more than one table are combined");
    if (!r.ids.empty()) keys.ids = std::move(r.ids);
    else if (entry)
      entry->fail("must be the name of a column of sweep.table, or a list of numbers: there is no such column");
    return;
  }
  keys.ids = entry->find_in_table("csv") ? read_csv(r, *entry) : read_numbers(r, *entry);
  const auto count = std::ssize(keys.ids);
  if (count == 1) keys = {1, 1, std::move(keys.ids)};
  if (count != keys.count)
    entry->fail(fmt::format("must have one id for all instances, or one for each of the {} {}; it has {}", keys.count,
                            by_rows ? "rows of the sweep" : "instances", count));
}

/// A file, by its path, or { csv, others }.
void read_file(reading& r, const field& entry, record& to, const time_event& event, record_demand demand) {
  const field csv = entry.is_table() ? entry.need("csv", "must be the path of a CSV file") : entry;
  if (entry.is_table()) entry.only({"csv", "others"});
  if (!csv.is_text()) entry.fail(what_is_record);
  if (csv.text() == standard_input_name)
    csv.fail("must be a file, not standard input: an instance that is run again reads its rows again");
  to.file = std::filesystem::absolute(resolve(r.spec, csv)).lexically_normal();
  if (const auto others = entry.find_in_table("others"))
    demand.is_quiet = others->word({"told", "ignored"}) == "ignored";
  if (!contains(r.plan.inputs, to.file)) r.plan.inputs.push_back(to.file);
  const auto in = rows_of_csv(to.file, csv.what());
  read_rows(to, event, *in, demand, to.file.string(), r.plan.warnings);
}

record read_record(reading& r, const field& entry, const time_event& event, const record_demand& demand) {
  const auto folder = r.plan.file.empty() ? std::filesystem::path() : folder_of(r.plan.file);
  record one{event.name, row_store(1 + event.columns.size(), folder), {}, {}, {}, {}};
  if (const auto columns = entry.find_in_table("columns")) {
    entry.only({"columns", "others"});
    record_demand demanded = demand;
    if (const auto others = entry.find("others")) demanded.is_quiet = others->word({"told", "ignored"}) == "ignored";
    one.arrays = read_arrays(r, *columns);
    const auto in = rows_of_arrays(one.arrays, entry.name());
    read_rows(one, event, *in, demanded, entry.name(), r.plan.warnings);
  } else {
    read_file(r, entry, one, event, demand);
  }
  constexpr std::int64_t most_in_float = std::int64_t{1} << 31;
  if (r.plan.precision != precision_kind::double_precision && one.rows.count() >= most_in_float)
    entry.fail(fmt::format("must have fewer than {} rows with precision = \"float\"; it has {}", most_in_float,
                           one.rows.count()));
  return one;
}

bool are_past(const reading& r, const std::optional<field>& section) {
  if (const auto past = section ? section->find("past") : std::nullopt)
    return past->word({"refused", "given"}) == "given";
  return r.goes_on;
}

}  // namespace

std::string id_column(const reading& r) {
  const auto section = r.root.find("records");
  const auto entry = section && section->is_table() ? section->find("id") : std::nullopt;
  return entry && entry->is_text() ? entry->text() : std::string();
}

void read_records(reading& r) {
  const auto section = r.root.find("records");
  const auto events = recorded_events(r.model);
  if (section && events.empty())
    section->fail(fmt::format("must be left out, as {} has no recorded time event", r.model.name));
  if (events.empty()) return;
  if (section) section->only(joined(names_of(events), {"id", "past"}));
  if (r.plan.backward)
    (section ? *section : r.root).fail("must go with a run forward in time: recorded time events do not run backward");
  if (r.plan.design.max_count > 0)
    (section ? *section : r.root).fail("must go without sample.until: new samples would have no records");
  const auto of_rows = keys_of_rows(r);
  auto keys = of_rows ? *of_rows : record_keys{r.plan.count, 1, {}};
  const std::int64_t known = of_rows ? std::max(r.rows_of_table, keys.count) : keys.count;
  read_ids(r, section, of_rows.has_value(), keys);
  const bool past = are_past(r, section);
  const record_demand demand{keys,    known,           of_rows ? "rows" : "instances", r.one_span && !past,
                             r.first, keys.ids.empty()};
  std::vector<record> all;
  for (const time_event& event : events) {
    const auto entry = section ? section->find(event.name) : std::nullopt;
    if (!entry)
      (section ? *section : r.root)
          .fail_missing(section ? event.name : "records." + event.name,
                        fmt::format("the rows of {} ({}) are data; it {}", event.name, event.about, what_is_record));
    all.push_back(read_record(r, *entry, event, demand));
  }
  r.plan.records = std::make_shared<const run_records>(std::move(all), std::move(keys), past);
}

}  // namespace saltus::host
