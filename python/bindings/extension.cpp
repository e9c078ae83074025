// The module saltus._core: the public interface of libsaltus (saltus/saltus.hpp) as Python objects. python/src/saltus builds the public
// package on it.
#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>
#include <stop_token>
#include <string>
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
#include <saltus/saltus.hpp>

#include "interruptible.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace saltus::python {
namespace {

/// Errors of the library become those of the package, with the same words.
void translate(const std::exception_ptr& failure, void*) {
  try {
    std::rethrow_exception(failure);
  } catch (const error& e) {
    const nb::object made =
        nb::module_::import_("saltus._errors").attr("error_for")(e.exit_code, std::string(e.what()));
    PyErr_SetObject(made.type().ptr(), made.ptr());
  }
}

/// The result of long work, which Ctrl-C ends.
template <class Work>
auto interruptible_result(Work&& work) {
  std::stop_source stop;
  std::optional<decltype(work(stop.get_token()))> made;
  interruptible(stop, [&] { made.emplace(work(stop.get_token())); });
  return std::move(*made);
}

// ---- models

model load(const std::string& header) {
  return interruptible_result([&](std::stop_token stop) { return model(header, std::move(stop)); });
}

nb::list quantities(const std::vector<quantity>& all) {
  nb::list list;
  for (const auto& q : all) list.append(nb::make_tuple(q.name, q.value, q.unit, q.about));
  return list;
}

nb::dict described(const model& m) {
  const description of = m.description();
  nb::dict d;
  d["name"] = of.name;
  d["title"] = of.title;
  d["reference"] = of.source;
  d["time_unit"] = of.time_unit;
  d["header"] = of.header;
  d["text"] = of.text;
  d["span"] = nb::make_tuple(of.t_begin, of.t_end);
  d["states"] = quantities(of.states);
  d["parameters"] = quantities(of.parameters);
  d["outputs"] = quantities(of.outputs);
  d["discretes"] = quantities(of.discretes);
  d["kept"] = quantities(of.kept);
  nb::list guards, time_events, tables;
  for (const auto& g : of.guards) guards.append(nb::make_tuple(g.name, g.direction, g.sidedness, g.terminal, g.about));
  for (const auto& e : of.time_events)
    time_events.append(nb::make_tuple(
        e.name, e.about, e.columns ? nb::object(nb::tuple(nb::cast(*e.columns))) : nb::object(nb::none())));
  for (const auto& t : of.tables)
    tables.append(nb::make_tuple(t.name, t.interpolation, t.at_ends, t.knots, t.unit, t.about,
                                 t.chosen_by.empty() ? nb::none() : nb::object(nb::str(t.chosen_by.c_str()))));
  d["guards"] = guards;
  d["time_events"] = time_events;
  d["tables"] = tables;
  return d;
}

// ---- plans

using settings = std::vector<std::pair<std::string, std::string>>;
using column = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// A spec file, a text of TOML, or a model.
study study_of(const std::string& kind, const std::string& what, const settings& given) {
  study s = kind == "text" ? study::of_text(what) : kind == "file" ? study::of_file(what) : study(what);
  for (const auto& [key, value] : given) s.set(key, value);
  return s;
}

plan plan_for(const model& m, const std::string& kind, const std::string& what, const settings& given,
              const nb::dict& arrays, const std::string& file) {
  study s = study_of(kind, what, given);
  for (const auto& [name, numbers] : arrays) {
    const auto one = nb::cast<column>(numbers);
    s.array(nb::cast<std::string>(name), {one.data(), one.size()});
  }
  plan p = s.plan(m);
  p.set_file(file);
  return p;
}

// ---- runs

nb::dict dict_of(const std::vector<named_value>& all) {
  nb::dict d;
  for (const auto& [name, value] : all)
    d[name.c_str()] = std::visit([](const auto& v) { return nb::object(nb::cast(v)); }, value);
  return d;
}

nb::dlpack::dtype type_of(int type) {
  switch (type) {
    case SALTUS_BYTE: return nb::dtype<std::uint8_t>();
    case SALTUS_INT32: return nb::dtype<std::int32_t>();
    case SALTUS_INT64: return nb::dtype<std::int64_t>();
    default: return nb::dtype<double>();
  }
}

/// (name, dimensions, numbers, attributes) of each variable; the numbers are not copied.
nb::list variables_of(result r) {
  const nb::capsule owner(new result(r), [](void* p) noexcept { delete static_cast<result*>(p); });
  nb::list all;
  for (std::size_t i = 0; i < r.variables(); ++i) {
    const saltus_variable v = r[i];
    const auto rank = static_cast<std::size_t>(v.rank);
    const std::vector<std::size_t> shape(v.shape, v.shape + rank);
    const nb::ndarray<nb::numpy> numbers(r.bytes(i).data(), rank, shape.data(), owner, nullptr, type_of(v.type));
    const std::vector<std::string> dimensions(v.dimensions, v.dimensions + rank);
    all.append(nb::make_tuple(v.name, dimensions, numbers, dict_of(r.attributes_of(i))));
  }
  return all;
}

constexpr const char* caller = "Python";  // in the history of a result

nb::dict run(const plan& p, bool replace, const nb::object& progress) {
  std::stop_source stop;
  std::optional<result> made;
  std::atomic<std::int64_t> ended{0}, all{0};
  const auto note = [&](std::int64_t some, std::int64_t of) { ended = some, all = of; };
  const std::function<void()> tell = [&] { progress(ended.load(), all.load()); };
  const bool asked = !progress.is_none();
  interruptible(
      stop,
      [&] {
        made.emplace(p.run({.replace = replace,
                            .caller = caller,
                            .progress = asked ? progress_function(note) : progress_function(),
                            .stop = stop.get_token()}));
      },
      asked ? tell : std::function<void()>());
  if (asked) tell();
  nb::dict d;
  d["variables"] = variables_of(*made);
  d["attributes"] = dict_of(made->attributes());
  return d;
}

std::int64_t run_part(const plan& p, const std::string& part) {
  return interruptible_result([&](std::stop_token stop) {
    return p.run_part(part, {.replace = true, .caller = caller, .stop = std::move(stop)});
  });
}

void gather(const plan& p, bool replace) {
  std::stop_source stop;
  interruptible(stop, [&] { p.gather({.replace = replace, .caller = caller, .stop = stop.get_token()}); });
}

// ---- results that exist

void so_far(const std::string& journal, const std::string& file) {
  std::stop_source stop;
  interruptible(stop, [&] { saltus::so_far(journal, file, stop.get_token()); });
}

std::string to_zarr(const std::string& result, const std::string& store, std::optional<std::int64_t> chunk,
                    bool replace) {
  return interruptible_result([&](std::stop_token stop) {
    return saltus::to_zarr(result, {store, chunk, replace}, std::move(stop));
  });
}

std::string header_of(const std::string& result, const std::string& name, const std::string& text,
                      const std::string& file, bool trust) {
  return saltus::header_of({result, name, text, file}, trust);
}

// ---- lists

nb::list statuses() {
  nb::list all;
  for (const ending& e : endings()) all.append(nb::make_tuple(e.number, e.name, e.meaning, e.remedy, e.group));
  return all;
}

nb::list spec_keys() {
  nb::list all;
  for (const key& k : keys()) all.append(nb::make_tuple(k.table, k.name, k.python_type));
  return all;
}

}  // namespace
}  // namespace saltus::python

NB_MODULE(_core, m) {
  using namespace saltus::python;
  nb::register_exception_translator(translate);

  nb::class_<saltus::model>(m, "Model")
      .def("description", &described, nb::sig("def description(self) -> dict[str, typing.Any]"));
  nb::class_<saltus::plan>(m, "Plan")
      .def_prop_ro("count", &saltus::plan::count)
      .def_prop_ro("warnings", &saltus::plan::warnings);

  m.def("version", &saltus::version);
  m.def("builtin_names", &saltus::builtin_names);
  m.def("keep_header", &saltus::keep_header, "name"_a, "text"_a);
  m.def("header_of", &header_of, "result"_a, "name"_a, "text"_a, "file"_a, "trust"_a);
  m.def("find_model", &saltus::find_model, "name"_a);
  m.def("load", &load, "header"_a);
  m.def(
      "model_of", [](const std::string& spec) { return saltus::study::of_file(spec).header(); }, "spec"_a);
  m.def("plan", &plan_for, "model"_a, "kind"_a, "what"_a, "settings"_a, "arrays"_a, "file"_a,
        nb::sig("def plan(model: Model, kind: str, what: str, settings: collections.abc.Sequence[tuple[str, str]], "
                "arrays: dict[str, numpy.ndarray], file: str) -> Plan"));
  m.def("compiling_now", &saltus::compiling_now);
  m.def("run", &run, "plan"_a, "replace"_a, "progress"_a.none(),
        nb::sig(
            "def run(plan: Plan, replace: bool, progress: collections.abc.Callable[[int, int], typing.Any] | None) -> "
            "dict[str, typing.Any]"));
  m.def("run_part", &run_part, "plan"_a, "part"_a);
  m.def("gather", &gather, "plan"_a, "replace"_a);
  m.def("so_far", &so_far, "journal"_a, "file"_a);
  m.def("to_zarr", &to_zarr, "result"_a, "store"_a, "chunk"_a.none(), "replace"_a);
  m.def("must_be_read_here", &saltus::must_be_read_here, "file"_a);
  m.def("python_reader", &saltus::python_reader, "file"_a);
  m.def("check", &saltus::plan::check, "plan"_a, "replace"_a);
  m.def("too_many_failed", &saltus::plan::too_many_failed, "plan"_a, "counts"_a);
  m.def("statuses", &statuses, nb::sig("def statuses() -> list[tuple[int, str, str, str, str]]"));
  m.def("keys", &spec_keys, nb::sig("def keys() -> list[tuple[str, str, str]]"));
  m.def("settings_of_instance", &saltus::settings_of_instance, "settings"_a, "file"_a);
  m.def("records_of_instance", &saltus::records_of_instance, "records"_a, "sources"_a, "file"_a);
  m.def("reserved_names", &saltus::reserved_names);
  m.def("statistic_names", &saltus::statistic_names);
  m.def("suggest", &saltus::suggest, "given"_a, "allowed"_a);
}
