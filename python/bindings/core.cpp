// The module saltus._core: models, plans and runs of libsaltus as Python objects. python/src/saltus builds the public
// package on it.
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "abi/status.hpp"
#include "base/error.hpp"
#include "base/paths.hpp"
#include "base/version.hpp"
#include "compile/compiling_note.hpp"
#include "compile/kept_headers.hpp"
#include "compile/loaded_model.hpp"
#include "ensemble/run_statistics.hpp"
#include "ensemble/tally.hpp"
#include "interruptible.hpp"
#include "result/format.hpp"
#include "result/reader.hpp"
#include "result/schema.hpp"
#include "spec/keys.hpp"
#include "spec/spec.hpp"
#include "study/prepare.hpp"
#include "study/rerun.hpp"
#include "study/run.hpp"
#include "study/to_zarr.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace saltus::python {
namespace {

using host::model;
using host::plan;

/// Errors of the library become those of the package, with the same words.
void translate(const std::exception_ptr& failure, void*) {
  try {
    std::rethrow_exception(failure);
  } catch (const host::error& e) {
    const nb::object made =
        nb::module_::import_("saltus._errors").attr("error_for")(e.exit_code, std::string(e.what()));
    PyErr_SetObject(made.type().ptr(), made.ptr());
  }
}

// ---- models

nb::list quantities(std::span<const host::quantity> all) {
  nb::list list;
  for (const auto& q : all) list.append(nb::make_tuple(q.name, q.value, q.unit, q.about));
  return list;
}

nb::dict description(const model& m) {
  nb::dict d;
  d["name"] = m.name;
  d["title"] = m.title;
  d["reference"] = m.source;
  d["time_unit"] = m.time_unit;
  d["header"] = m.header.string();
  d["text"] = m.loaded->texts().front().content;
  d["span"] = nb::make_tuple(m.t_begin, m.t_end);
  d["states"] = quantities(m.states);
  d["parameters"] = quantities(m.parameters);
  d["outputs"] = quantities(m.outputs);
  d["discretes"] = quantities(host::declared_discretes(m));
  d["kept"] = quantities(host::kept_discretes(m));
  nb::list guards, time_events, tables;
  for (const auto& g : m.guards) {
    const char* const direction = g.direction == abi::rising    ? "rising"
                                  : g.direction == abi::falling ? "falling"
                                                                : "both";
    guards.append(nb::make_tuple(g.name, direction, g.sidedness == abi::unilateral ? "unilateral" : "bilateral",
                                 g.terminal, g.about));
  }
  for (const auto& e : m.time_events) {
    nb::list columns;
    for (const auto& c : e.columns) columns.append(c.name);
    time_events.append(nb::make_tuple(e.name, e.about, e.recorded ? nb::object(nb::tuple(columns)) : nb::none()));
  }
  d["guards"] = guards;
  d["time_events"] = time_events;
  for (const auto& t : m.tables)
    tables.append(nb::make_tuple(t.name, name_of(t.between), name_of(t.beyond), t.times.size(), t.unit, t.about));
  d["tables"] = tables;
  return d;
}

model load(const std::string& header) {
  const host::cancellation stop;
  model m;
  interruptible(stop, [&] { m = host::load(header, stop); });
  return m;
}

// ---- plans

using flags = std::vector<std::pair<std::string, std::string>>;

std::vector<host::flag> flags_from(const flags& given) {
  std::vector<host::flag> all;
  for (const auto& [name, value] : given) all.push_back({name, value});
  return all;
}

/// The source of a plan: a spec file, a text of TOML, or a model.
host::spec_document document(const std::string& kind, const std::string& what, const flags& given) {
  if (kind == "file") return host::read_spec(what, flags_from(given));
  if (kind == "text") return host::from_text(what, flags_from(given));
  return host::from_model(what, flags_from(given));
}

using array = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

plan plan_for(const model& m, const std::string& kind, const std::string& what, const flags& given,
              const nb::dict& arrays, const std::string& file) {
  auto spec = document(kind, what, given);
  for (const auto& [name, numbers] : arrays) {
    const auto column = nb::cast<array>(numbers);
    spec.arrays[nb::cast<std::string>(name)] = std::vector<double>(column.data(), column.data() + column.size());
  }
  plan p = host::plan_of(spec, m);
  p.file = file;
  return p;
}

// ---- runs

nb::dict dict_of(const std::vector<host::attribute>& all) {
  nb::dict d;
  for (const auto& [name, value] : all)
    d[name.c_str()] = std::visit([](const auto& v) { return nb::object(nb::cast(v)); }, value);
  return d;
}

nb::dlpack::dtype type_of(host::result_array::number type) {
  using number = host::result_array::number;
  switch (type) {
    case number::byte: return nb::dtype<std::uint8_t>();
    case number::int32: return nb::dtype<std::int32_t>();
    case number::int64: return nb::dtype<std::int64_t>();
    default: return nb::dtype<double>();
  }
}

/// (name, dimensions, numbers, attributes) of each variable; the numbers are not copied.
nb::list variables_of(const std::shared_ptr<host::result_arrays>& arrays) {
  const nb::capsule owner(new std::shared_ptr(arrays),
                          [](void* p) noexcept { delete static_cast<std::shared_ptr<host::result_arrays>*>(p); });
  nb::list all;
  for (auto& a : arrays->variables()) {
    const std::vector<std::size_t> shape(a.shape.begin(), a.shape.end());
    const nb::ndarray<nb::numpy> numbers(a.numbers.data(), shape.size(), shape.data(), owner, nullptr, type_of(a.type));
    all.append(nb::make_tuple(a.what.name, a.dimensions, numbers, dict_of(a.attributes)));
  }
  return all;
}

nb::dict run(const plan& p, bool replace, const nb::object& progress) {
  const host::cancellation stop;
  host::run_report report;
  std::atomic<std::int64_t> ended{0}, all{0};
  host::run_listener listener;
  listener.begins = [&](const plan&, std::int64_t some, std::int64_t) { all += some; };
  listener.progress = [&](std::int64_t some) { ended += some; };
  const bool asked = !progress.is_none();
  interruptible(
      stop,
      [&] {
        report =
            host::run(p, {.replace = replace, .command = {"saltus", "(Python)"}, .in_memory = true}, stop, listener);
      },
      [&] {
        if (asked) progress(ended.load(), all.load());
      });
  if (asked) progress(ended.load(), all.load());
  if (!report.summary.crash.empty()) throw host::error(host::exit_failure, report.summary.crash);
  nb::dict result;
  result["variables"] = variables_of(report.arrays);
  result["attributes"] = dict_of(report.arrays->attributes());
  result["trouble"] = report.summary.trouble;
  return result;
}

/// Runs into a file or a journal, without progress; Ctrl-C ends the run.
host::run_report run_into_file(const plan& p, const host::run_options& options) {
  const host::cancellation stop;
  host::run_report report;
  interruptible(stop, [&] { report = host::run(p, options, stop); });
  if (!report.summary.crash.empty()) throw host::error(host::exit_failure, report.summary.crash);
  return report;
}

/// Runs the part "3/16" alone into the journal of the plan's file. Returns the number of its instances in the journal.
std::int64_t run_part(const plan& p, const std::string& part) {
  const auto r = run_into_file(
      p, {.replace = true, .command = {"saltus", "(Python)"}, .mode = host::one_part(host::part_called(part))});
  return r.summary.instances + r.continued;
}

/// Makes the result from the journal of all parts.
void gather(const plan& p, bool replace) {
  run_into_file(p, {.replace = replace, .command = {"saltus", "(Python)"}, .mode = host::gathering()});
}

/// Writes the finished instances of a journal into a file.
void so_far(const std::string& journal, const std::string& file) {
  const host::cancellation stop;
  interruptible(stop, [&] { host::so_far(journal, file, stop); });
}

/// Writes a result, or the finished instances of a journal, as a Zarr store. Returns its path.
std::string to_zarr(const std::string& result, const std::string& store, std::optional<std::int64_t> chunk,
                    bool replace) {
  const host::cancellation stop;
  std::string made;
  interruptible(stop, [&] { made = host::to_zarr(result, {store, chunk, replace}, stop); });
  return made;
}

void check(const plan& p, bool replace) { host::check_run(p, {.replace = replace}); }

/// The warning that more instances failed than the plan allows, from the attributes `count_...` of a result; else empty.
std::string too_many_failed(const plan& p, const std::map<std::string, std::int64_t>& counts) {
  host::tally t;
  for (const status_row& row : status_table)
    if (const auto found = counts.find(row.name); found != counts.end())
      t.by_status[static_cast<std::size_t>(row.id)] = found->second;
  return host::too_many_failed(t, p.allowed_failed);
}

nb::list statuses() {
  nb::list all;
  for (const status_row& row : status_table)
    all.append(nb::make_tuple(static_cast<int>(row.id), row.name, row.meaning, row.remedy,
                              row.group == status_group::ok       ? "ok"
                              : row.group == status_group::failed ? "failed"
                                                                  : "not_finished"));
  return all;
}

nb::list keys() {
  nb::list all;
  for (const host::spec_key& key : host::spec_keys())
    all.append(nb::make_tuple(std::string(key.table), std::string(key.name), host::python_type_of(key)));
  return all;
}

std::string suggest(const std::string& given, const std::vector<std::string>& allowed) {
  return host::suggest(given, std::vector<std::string_view>(allowed.begin(), allowed.end()));
}

}  // namespace
}  // namespace saltus::python

NB_MODULE(_core, m) {
  using namespace saltus::python;
  namespace host = saltus::host;
  nb::register_exception_translator(translate);

  nb::class_<host::model>(m, "Model")
      .def("description", &description, nb::sig("def description(self) -> dict[str, typing.Any]"));
  nb::class_<host::plan>(m, "Plan").def_ro("count", &host::plan::count).def_ro("warnings", &host::plan::warnings);

  m.def("version", &host::version_with_commit);
  m.def("home", [] { return host::home().string(); });
  m.def("cache_folder", [] { return host::cache_folder().string(); });
  m.def("builtin_names", &host::builtin_names);
  m.def(
      "keep_header",
      [](const std::string& name, const std::string& text) { return host::keep_header(name, text).string(); }, "name"_a,
      "text"_a);
  m.def(
      "header_of",
      [](const std::string& result, const std::string& name, const std::string& text, const std::string& file,
         bool trust) {
        return host::header_of({result, name, text, file}, trust).string();
      },
      "result"_a, "name"_a, "text"_a, "file"_a, "trust"_a);
  m.def(
      "find_model", [](const std::string& name) { return host::find_model(name).string(); }, "name"_a);
  m.def("load", &load, "header"_a);
  m.def(
      "model_of",
      [](const std::string& kind, const std::string& what, const flags& given) {
        return host::model_of(document(kind, what, given)).string();
      },
      "kind"_a, "what"_a, "flags"_a);
  m.def("plan", &plan_for, "model"_a, "kind"_a, "what"_a, "flags"_a, "arrays"_a, "file"_a,
        nb::sig("def plan(model: Model, kind: str, what: str, flags: collections.abc.Sequence[tuple[str, str]], "
                "arrays: dict[str, numpy.ndarray], file: str) -> Plan"));
  m.def("compiling_now", &host::compiling_now);
  m.def("run", &run, "plan"_a, "replace"_a, "progress"_a.none(),
        nb::sig(
            "def run(plan: Plan, replace: bool, progress: collections.abc.Callable[[int, int], typing.Any] | None) -> "
            "dict[str, typing.Any]"));
  m.def("run_part", &run_part, "plan"_a, "part"_a);
  m.def("gather", &gather, "plan"_a, "replace"_a);
  m.def("so_far", &so_far, "journal"_a, "file"_a);
  m.def("to_zarr", &to_zarr, "result"_a, "store"_a, "chunk"_a.none(), "replace"_a);
  m.def(
      "must_be_read_here", [](const std::string& file) { host::must_be_read_here(file); }, "file"_a);
  m.def(
      "python_reader", [](const std::string& file) { return std::string(host::format_of(file).python_reader); },
      "file"_a);
  m.def("check", &check, "plan"_a, "replace"_a);
  m.def("too_many_failed", &too_many_failed, "plan"_a, "counts"_a);
  m.def("statuses", &statuses, nb::sig("def statuses() -> list[tuple[int, str, str, str, str]]"));
  m.def("keys", &keys, nb::sig("def keys() -> list[tuple[str, str, str]]"));
  m.def("settings_of_instance", &host::settings_of_instance, "settings"_a, "file"_a);
  m.def("records_of_instance", &host::records_of_instance, "records"_a, "sources"_a, "file"_a);
  m.def("reserved_names", [] { return host::reserved_names(); });
  m.def("statistic_names",
        [] { return std::vector<std::string>(host::statistic_names.begin(), host::statistic_names.end()); });
  m.def("suggest", &suggest, "given"_a, "allowed"_a);
}
