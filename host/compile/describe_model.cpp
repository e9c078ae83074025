// Describes the model in a header: compiles it without optimisation and calls it in a child process.
#include <fmt/format.h>

#include "base/child.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "compile/builtin_models.hpp"
#include "compile/compiler.hpp"
#include "compile/diagnostics.hpp"
#include "compile/kept_headers.hpp"
#include "structure/stages.hpp"

namespace saltus::host {
namespace fs = std::filesystem;

namespace {

/// A description with counted operations, or without them if the model's functions do not accept counting numbers. The
/// uncounted one is then in the cache and is found before anything is compiled again.
built build_description(const std::string& counted, const std::string& uncounted, const fs::path& header,
                        const cancellation& stop) {
  for (const auto& text : {counted, uncounted})
    if (auto known = kept_module(text, optimised::no)) return *known;
  try {
    return build_module(counted, header, stop, optimised::no);
  } catch (const error& e) {
    if (e.exit_code != exit_model && e.exit_code != exit_failure) throw;
  }
  return build_module(uncounted, header, stop, optimised::no);
}

/// The description in a module. Making it may run the model's functions, so a child process makes it first.
const abi::description* description_in(const built& module, const cancellation& stop) {
  using getter = const abi::description* (*)();
  constexpr double longest = 20;  // seconds; it is a right-hand side or two
  const auto get = reinterpret_cast<getter>(module.code->symbol("saltus_description"));
  in_child([&] { return std::string(get()->name); }, longest, stop);
  const auto* const described = get();
  if (described->version != abi::version)
    throw error(exit_failure,
                "the headers in kernels/ are of another version than this program: install both together");
  return described;
}

std::string text_or_none(const char* text) { return text ? text : ""; }

std::vector<quantity> quantities(const abi::quantity* list, int count) {
  std::vector<quantity> r;
  for (int i = 0; i < count; ++i)
    r.push_back({list[i].name, list[i].value, text_or_none(list[i].unit), text_or_none(list[i].about), list[i].index,
                 list[i].how_smooth});
  return r;
}

std::vector<host::tabulated> tables(const abi::declared_table* list, int count) {
  std::vector<host::tabulated> r;
  for (int i = 0; i < count; ++i) {
    r.push_back({list[i].name,
                 text_or_none(list[i].unit),
                 text_or_none(list[i].about),
                 static_cast<interpolation>(list[i].interpolation),
                 static_cast<at_ends>(list[i].at_ends),
                 {},
                 {},
                 list[i].choice});
    for (int k = 0; k < list[i].knot_count; ++k) {
      r.back().times.push_back(list[i].knots[k].t);
      r.back().values.push_back(list[i].knots[k].value);
    }
  }
  return r;
}

std::vector<matrix_entry> entries(const int* rows, const int* columns, int count) {
  std::vector<matrix_entry> r;
  for (int i = 0; i < count; ++i) r.push_back({rows[i], columns[i]});
  return r;
}

equation_record record_from(const abi::equation_record& r) {
  const auto names = [&](const char* const* all) { return std::vector<std::string>(all, all + r.count); };
  return {{r.nodes, r.nodes + r.node_count},
          {r.equations, r.equations + r.count},
          names(r.equation_names),
          names(r.unknown_names),
          {r.observed, r.observed + r.observed_count}};
}

}  // namespace

model model_from(const abi::description* d, const fs::path& header, const std::vector<fs::path>& files) {
  if (!(d->t_begin < d->t_end))
    throw error(exit_model,
                fmt::format("{}: span must be {{begin, end}} with begin < end", location_of(header, {"span"})));
  model m;
  m.name = d->name;
  m.title = text_or_none(d->title);
  m.source = text_or_none(d->source);
  m.time_unit = text_or_none(d->time_unit);
  m.header = header;
  for (const auto& file : files) m.sources.push_back({file, hash_text(read_file(file))});
  m.states = quantities(d->states, d->state_count);
  m.parameters = quantities(d->parameters, d->parameter_count);
  m.discretes = quantities(d->discretes, d->discrete_count);
  m.outputs = quantities(d->outputs, d->output_count);
  m.coordinates = d->coordinate_count;
  m.reaches = d->reaches != 0;
  m.elimination = static_cast<abi::elimination>(d->elimination);
  if (const auto* s = d->structure)
    m.structure = mechanical_structure{entries(s->mass_rows, s->mass_columns, s->mass_entries),
                                       entries(s->jacobian_rows, s->jacobian_columns, s->jacobian_entries)};
  if (const auto* r = d->record) m.record = record_from(*r);
  for (const auto& c : quantities(d->constraints, d->constraint_count))
    m.constraints.push_back({c.name, c.unit, c.about, c.index == 1, c.value != 0.0, c.index == 2});
  m.invariants = quantities(d->invariants, d->invariant_count);
  for (int i = 0; i < d->guard_count; ++i)
    m.guards.push_back({d->guards[i].name, static_cast<abi::direction>(d->guards[i].direction),
                        static_cast<abi::sidedness>(d->guards[i].sidedness), d->guards[i].terminal != 0,
                        text_or_none(d->guards[i].about), d->guards[i].slides != 0, d->guards[i].how_smooth});
  for (int i = 0; i < d->time_event_count; ++i)
    m.time_events.push_back({d->time_events[i].name, text_or_none(d->time_events[i].about), d->time_events[i].capacity,
                             d->time_events[i].carries, d->time_events[i].recorded != 0});
  for (int i = 0; i < d->column_count; ++i)
    m.time_events[static_cast<std::size_t>(d->columns[i].event)].columns.push_back(
        {d->columns[i].name, text_or_none(d->columns[i].unit), text_or_none(d->columns[i].about)});
  for (int i = 0; i < d->stream_count; ++i)
    m.streams.push_back({d->streams[i].name, text_or_none(d->streams[i].about)});
  for (int i = 0; i < d->delay_count; ++i) m.delays.push_back({d->delays[i].name, text_or_none(d->delays[i].about)});
  m.has_history = d->history != 0;
  m.kept = d->kept_count;
  m.random_key = d->random_key;
  m.tables = tables(d->tables, d->table_count);
  m.t_begin = d->t_begin;
  m.t_end = d->t_end;
  m.equations = static_cast<abi::equations>(d->equations);
  m.singular_mass = d->singular_mass != 0;
  m.arithmetic = d->arithmetic != 0;
  m.rhs_flops = d->rhs_flops;
  m.guard_flops = d->guard_flops;
  m.kept_series = d->kept_series;
  m.kept_numbers = d->kept_numbers;
  m.output_series = d->output_series;
  m.output_numbers = d->output_numbers;
  m.equations_are = d->equations_are;
  m.outputs_are = d->outputs_are;
  add_values(m);
  return m;
}

model describe_model(const fs::path& header, const cancellation& stop) {
  if (const auto known = builtin_model_in(header)) return model_from(known->about, header, known->files);
  const std::string name = header.stem().string();
  if (!is_identifier(name))
    throw error(exit_model,
                fmt::format("{}: the file must be named like the struct in it, so its name must be a C++ identifier",
                            header.string()));
  if (header.string().find_first_of("\"\n\r") != std::string::npos)
    throw error(exit_model,
                fmt::format("{}: the path of a model must have no quotation mark and no line break", header.string()));
  // An empty namespace is valid anywhere except inside a struct: see line_after_model.
  const auto text = [&](const char* first) {
    return fmt::format(
        "#include \"saltus.hpp\"\n"
        "#include \"{0}\"\n"
        "namespace saltus {{}}\n"
        "struct {1};\n"
        "template <class Model> constexpr bool is_defined = requires {{ sizeof(Model); }};\n"
        "static_assert(is_defined<::{1}>, \"the file defines no struct {1} outside of namespaces: a model is named "
        "like "
        "its file\");\n"
        "{2}"
        "#include \"model/describe.hpp\"\n"
        "extern \"C\" __attribute__((visibility(\"default\"))) const saltus::abi::description* saltus_description() "
        "{{\n"
        "  return saltus::describe<::{1}>::get(\"{1}\");\n"
        "}}\n",
        header.string(), name, first);
  };
  const std::string uncounted = text("#define SALTUS_UNCOUNTED\n");
  built module = build_description(text(""), uncounted, header, stop);
  const abi::description* d = nullptr;
  try {
    d = description_in(module, stop);
  } catch (const child_failure&) {
    // The model's functions fail on counting numbers. If they also fail in a run, the statuses of instances say so.
    module = build_module(uncounted, header, stop, optimised::no);
    d = description_in(module, stop);
  }
  note_run(read_file(header));
  return model_from(d, header, module.files.own);
}

}  // namespace saltus::host
