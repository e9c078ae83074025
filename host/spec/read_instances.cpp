// Reads the tables of a spec that define instances: [parameters], [initial], [sweep]; read_sample.cpp has [sample].
#include <cmath>
#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "spec/axis_values.hpp"
#include "spec/reading.hpp"

namespace saltus::host {

namespace {

// ---- values

/// A parameter, a state, a discrete variable or, if `times`, an end of the time span.
std::optional<target> target_called(const reading& r, const std::string& name, bool times) {
  if (const int i = index_of(r.model.parameters, name); i >= 0) return target{target::kind::parameter, i, name};
  if (const int i = index_of(r.model.states, name); i >= 0) return target{target::kind::state, i, name};
  if (const int i = index_of(r.model.discretes, name); i >= 0) return target{target::kind::discrete, i, name};
  if (times && name == "t_begin") return target{target::kind::t_begin, 0, name};
  if (times && name == "t_end") return target{target::kind::t_end, 0, name};
  return {};
}

names names_of_targets(const reading& r, bool times) {
  const auto quantities =
      joined(joined(names_of(r.model.parameters), names_of(r.model.states)), names_of(declared_discretes(r.model)));
  return times ? joined(quantities, {"t_begin", "t_end"}) : quantities;
}

/// { array = "flow" }: an array that the calling program passes beside the spec.
listed read_array(reading& r, const field& entry) {
  entry.only({"array"});
  const auto name = entry.need("array", "must be the name of an array that a program gives beside the spec");
  const auto found = r.spec.arrays.find(name.text());
  if (found == r.spec.arrays.end()) {
    names given;
    for (const auto& [known, numbers] : r.spec.arrays) given.push_back(known);
    name.fail("not given beside the spec; " + suggest(name.text(), given));
  }
  if (found->second.empty()) entry.fail("must have at least one value");
  for (std::size_t i = 0; i < found->second.size(); ++i)
    if (!std::isfinite(found->second[i]))
      entry.fail(fmt::format("must have finite numbers; number {} is {}", i, found->second[i]));
  return {found->second};
}

/// [1.0, 2.0], { from, to, count, scale }, { csv, column, count } or { array }
std::variant<listed, ranged> read_values(reading& r, const field& entry) {
  if (entry.is_list()) {
    auto values = entry.numbers();
    if (values.empty()) entry.fail("must have at least one value");
    return listed{std::move(values)};
  }
  if (!entry.is_table()) entry.fail("must be a list, { from, to, count, scale } or { csv, column, count }");
  if (entry.find("array")) return read_array(r, entry);
  if (entry.find("csv") || entry.find("column")) {
    entry.only({"csv", "column", "count"});
    return listed{read_csv(r, entry)};
  }
  entry.only({"from", "to", "count", "scale"});
  const auto from = entry.need("from", "must be the first value of the range");
  const auto to = entry.need("to", "must be the last value of the range");
  const auto count = entry.need("count", "must be the number of values of the range");
  ranged range{from.number(), to.number(), count.whole(1, max_instances), false};
  if (const auto scale = entry.find("scale")) range.logarithmic = scale->word({"linear", "log"}) == "log";
  if (range.logarithmic) {
    constexpr auto allowed = "must be a positive number, as the scale is log";
    if (range.from <= 0) from.fail(allowed);
    if (range.to <= 0) to.fail(allowed);
  } else if (!std::isfinite((range.to - range.from) * static_cast<double>(range.count))) {
    entry.fail("from and to must be nearer to each other: their distance overflows");
  }
  return range;
}

std::int64_t length(const std::variant<listed, ranged>& values) {
  if (const auto* list = std::get_if<listed>(&values)) return static_cast<std::int64_t>(list->values.size());
  return std::get<ranged>(values).count;
}

// ---- tables

/// The values of the members of a family: a number for each, or one for all.
void read_members(reading& r, const field& entry, const std::vector<quantity>& quantities,
                  std::vector<double>& values) {
  const auto members = members_of(quantities, entry.key());
  if (members.empty()) return;
  const bool has_csv = entry.is_table() && entry.find("csv");
  const auto numbers = has_csv                               ? read_csv(r, entry)
                       : entry.is_list() || entry.is_table() ? read_numbers(r, entry)
                                                             : std::vector(members.size(), entry.number());
  if (numbers.size() != members.size())
    entry.fail(fmt::format("must be a number, or {} numbers, one for each of {}_0 to {}; there are {}", members.size(),
                           entry.key(), quantities[static_cast<std::size_t>(members.back())].name, numbers.size()));
  for (std::size_t k = 0; k < members.size(); ++k) {
    const auto i = static_cast<std::size_t>(members[k]);
    if (!std::isfinite(numbers[k])) entry.fail(fmt::format("must have finite numbers; number {} is {}", k, numbers[k]));
    r.claim(quantities[i].name, entry);
    values[i] = numbers[k];
  }
}

void read_fixed(reading& r) {
  const auto from = continued_from(r.root);
  const auto read = [&](const field& entry, const std::vector<quantity>& quantities, std::vector<double>& values) {
    if (const int i = index_of(quantities, entry.key()); i >= 0) {
      r.claim(entry);
      values[static_cast<std::size_t>(i)] = entry.number();
    } else {
      read_members(r, entry, quantities, values);
    }
  };
  if (const auto table = r.root.find("parameters")) {
    table->only(joined(names_of(r.model.parameters), families_of(r.model.parameters)));
    for (const auto& entry : table->entries()) read(entry, r.model.parameters, r.plan.parameters);
  }
  if (const auto table = r.root.find("initial")) {
    const auto families = joined(families_of(r.model.states), families_of(declared_discretes(r.model)));
    table->only(
        joined(joined(joined(names_of(r.model.states), names_of(declared_discretes(r.model))), families), {"from"}),
        names_of(kept_discretes(r.model)));
    for (const auto& entry : table->entries()) {
      if (from && entry.key() == from->key()) continue;
      if (entry.key() == "from" && index_of(r.model.states, "from") < 0 && index_of(r.model.discretes, "from") < 0)
        entry.fail("must be the path of a result file, or { file, count }");
      read(entry, r.model.states, r.plan.initial);
      read(entry, r.model.discretes, r.plan.discrete);
    }
  }
}

axis read_axis(reading& r, const std::vector<field>& entries, const names& others) {
  axis axis;
  for (const auto& entry : entries) {
    axis.columns.push_back({target_of(r, entry, true, others), read_values(r, entry)});
    const auto count = length(axis.columns.back().values);
    if (axis.columns.size() == 1) axis.count = count;
    if (count != axis.count)
      entry.fail(
          fmt::format("must have as many values as {}, that is {}; it has {}", entries[0].name(), axis.count, count));
  }
  return axis;
}

/// The column of ids that [records] names, which is then wanted; empty: it names none.
std::string id_among(const reading& r, std::vector<std::string>& wanted) {
  auto id = id_column(r);
  if (!id.empty() && !wanted.empty() && !contains(wanted, id)) wanted.push_back(id);
  return id;
}
/// True if a column has the ids of rows: `id`, or else one called id or ID, for a model with records.
bool is_id(const reading& r, const std::string& id, const std::string& name) {
  if (!id.empty()) return name == id;
  return (name == "id" || name == "ID") && !recorded_events(r.model).empty() && !target_called(r, name, true);
}

/// "x.csv" or { csv = "x.csv", columns = ["flow"], count = 10 }: one axis with all these columns, by name.
axis read_table(reading& r, const field& entry) {
  if (entry.is_table()) entry.only({"csv", "columns", "count"});
  const auto csv = entry.is_table() ? entry.need("csv", "must be the path of a CSV or NetCDF file") : entry;
  std::vector<std::string> wanted;
  if (const auto columns = entry.is_table() ? entry.find("columns") : std::nullopt) {
    for (const auto& item : columns->items_or_text()) wanted.push_back(item.text());
    if (wanted.empty()) columns->fail("must have at least one name");
  }
  const auto id = id_among(r, wanted);
  const auto is_known = [&](const std::string& name) { return is_id(r, id, name) || target_called(r, name, true); };
  auto table = read_columns(r, csv, std::move(wanted), is_known, csv.what());
  axis all{{}, first_rows(entry, std::ssize(table.columns.front()), csv.text()), true};
  r.rows_of_table = std::ssize(table.columns.front());
  for (std::size_t j = 0; j < table.names.size(); ++j) {
    if (is_id(r, id, table.names[j])) {
      table.columns[j].resize(static_cast<std::size_t>(all.count));
      r.ids = std::move(table.columns[j]);
      continue;
    }
    const auto what = target_called(r, table.names[j], true);
    if (!what)
      csv.fail(fmt::format("column {} of {} is not {} of {}; {}; columns = [...] takes some alone", table.names[j],
                           csv.text(), kinds_of_quantities(r.model), r.model.name,
                           suggest(table.names[j], names_of_targets(r, true))));
    r.claim(table.names[j], csv);
    table.columns[j].resize(static_cast<std::size_t>(all.count));
    all.columns.push_back({*what, listed{std::move(table.columns[j])}});
  }
  return all;
}

void read_sweep(reading& r) {
  const auto sweep = r.root.find("sweep");
  if (!sweep) return;
  if (sweep->entries().empty()) sweep->fail("must have at least one entry");
  for (const auto& entry : sweep->entries()) {
    if (contains(long_forms, entry.key())) {
      for (const auto& quantity : quantities_of(r, entry)) r.plan.axes.push_back(read_axis(r, {quantity}, {}));
      continue;
    }
    if (contains(names{"zip", "table"}, entry.key()) && (entry.find_in_table("from") || entry.find_in_table("array")))
      refuse_as_key(r, entry);
    if (entry.key() == "table") {
      r.plan.axes.push_back(read_table(r, entry));
      continue;
    }
    if (entry.key() != "zip") {
      r.plan.axes.push_back(read_axis(r, {entry}, {"zip", "table", "parameters", "initial"}));
      continue;
    }
    if (!entry.is_table() && !entry.is_list()) entry.fail("must be a table, or a list of tables");
    for (const auto& group : entry.is_list() ? entry.items() : std::vector{entry}) {
      if (group.entries().empty()) group.fail("must have at least one entry");
      r.plan.axes.push_back(read_axis(r, group.entries(), {}));
      r.plan.axes.back().of_rows = true;
    }
  }
}

void count_instances(reading& r) {
  r.plan.count = r.plan.samples;
  // Instances may differ by their records, or by their random numbers.
  const bool differ = !recorded_events(r.model).empty() || r.model.random_key >= 0;
  if (r.plan.count > 1 && r.plan.axes.empty() && r.plan.random.empty() && !differ)
    r.plan.warnings.push_back(
        fmt::format("all {} instances are the same: [sweep] or [sample] says what varies, as in --set "
                    "'sample.{}={{uniform=[1,2]}}'",
                    r.plan.count, (r.model.parameters.empty() ? r.model.states : r.model.parameters)[0].name));
  for (const auto& axis : r.plan.axes) {
    if (axis.count > max_instances / r.plan.count)
      r.root.find("sweep")->fail(fmt::format("must make at most {} instances, samples included", max_instances));
    r.plan.count *= axis.count;
  }
}

// ---- the time spans of all instances

struct swept_time {
  const axis* on = nullptr;  ///< null: not swept
  const axis::column* column = nullptr;
};

swept_time find_time(reading& r, target::kind which) {
  for (const auto& axis : r.plan.axes)
    for (const auto& column : axis.columns)
      if (column.what.which == which) return {&axis, &column};
  return {};
}

/// Scheduled time events have no meaning backward in time.
void refuse_backward(const reading& r, const char* swept) {
  names scheduled;
  for (const time_event& e : r.model.time_events)
    if (e.capacity > 0) scheduled.push_back(e.name);
  const auto t = r.root.find("t");
  (t ? *t : r.given.at(swept))
      .fail(fmt::format(
          "must have its begin before its end: {} schedules time events ({}), which come later, so its runs "
          "go forward in time",
          r.model.name, fmt::join(scheduled, ", ")));
}

/// All instances must run in the same direction of time. Stores the hull of all spans in r.first and r.last.
void check_span(reading& r) {
  const auto begin = find_time(r, target::kind::t_begin);
  const auto end = find_time(r, target::kind::t_end);
  const auto begin_at = [&](std::int64_t i) { return begin.on ? value_at(*begin.column, i) : r.plan.t_begin; };
  const auto end_at = [&](std::int64_t i) { return end.on ? value_at(*end.column, i) : r.plan.t_end; };
  r.first = begin_at(0), r.last = end_at(0);
  r.plan.backward = r.first > r.last;
  if (r.plan.backward && schedules(r.model)) refuse_backward(r, end.on ? "t_end" : "t_begin");
  r.one_span = !begin.on && !end.on;
  const auto check = [&](double t_begin, double t_end) {
    if (r.is_before(t_begin, t_end)) return;
    r.given.at(end.on ? "t_end" : "t_begin")
        .fail(fmt::format("must leave t_begin < t_end in every instance, or t_begin > t_end in every one; one would "
                          "have {} and {}",
                          t_begin, t_end));
  };
  if (r.one_span) return;

  double last_begin = r.first, first_end = r.last;
  for (std::int64_t i = 0; begin.on && i < begin.on->count; ++i) {
    if (r.is_before(begin_at(i), r.first)) r.first = begin_at(i);
    if (r.is_before(last_begin, begin_at(i))) last_begin = begin_at(i);
  }
  for (std::int64_t i = 0; end.on && i < end.on->count; ++i) {
    if (r.is_before(r.last, end_at(i))) r.last = end_at(i);
    if (r.is_before(end_at(i), first_end)) first_end = end_at(i);
  }
  if (begin.on != end.on) return check(last_begin, first_end);  // every beginning is combined with every end
  for (std::int64_t i = 0; i < begin.on->count; ++i) check(begin_at(i), end_at(i));
}

}  // namespace

target target_of(reading& r, const field& entry, bool times, const names& others) {
  r.claim(entry);
  if (const auto found = target_called(r, entry.key(), times)) return *found;
  const auto allowed = joined(others, names_of_targets(r, times));
  entry.fail_key(
      fmt::format("not {} of {}; {}", kinds_of_quantities(r.model), r.model.name, suggest(entry.key(), allowed)));
}

std::vector<target> members_called(const reading& r, const std::string& family) {
  std::vector<target> all;
  const auto add = [&](std::span<const quantity> quantities, target::kind kind) {
    if (!all.empty()) return;
    for (const int i : members_of(quantities, family))
      all.push_back({kind, i, quantities[static_cast<std::size_t>(i)].name});
  };
  if (target_called(r, family, false)) return all;
  add(r.model.parameters, target::kind::parameter);
  add(r.model.states, target::kind::state);
  add(declared_discretes(r.model), target::kind::discrete);
  return all;
}

std::vector<field> quantities_of(const reading& r, const field& table) {
  const auto with_families = [](std::span<const quantity> quantities) {
    return joined(names_of(quantities), families_of(quantities));
  };
  table.only(table.key() == "parameters"
                 ? with_families(r.model.parameters)
                 : joined(with_families(r.model.states), with_families(declared_discretes(r.model))),
             names_of(kept_discretes(r.model)));
  return table.entries();
}

void refuse_as_key(const reading& r, const field& entry) {
  const auto what = target_called(r, entry.key(), false);
  if (!what) return;
  const auto& name = entry.name();
  const auto table = name.substr(0, name.find('.'));
  const char* const of = what->which == target::kind::parameter ? "parameters" : "initial";
  entry.fail(
      fmt::format("{0} is a key of [{1}]; the quantity of that name is given in [{1}.{2}], or by --set "
                  "'{1}.{2}.{0}={3}'",
                  entry.key(), table, of, entry.value()));
}

void reading::claim(const std::string& name, const field& entry) {
  const auto [known, fresh] = given.emplace(name, entry);
  if (!fresh)
    entry.fail(fmt::format("{} must have one value, but has another at {} ({})", name, known->second.location(),
                           known->second.name()));
}

void read_instances(reading& r) {
  read_fixed(r);
  read_sweep(r);
  read_sample(r);
  read_from(r);
  count_instances(r);
  check_span(r);
}

}  // namespace saltus::host
