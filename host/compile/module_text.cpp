// The source text of a plan's engine, and of modules for CPU lanes.
#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "base/text.hpp"
#include "compile/compiler.hpp"
#include "compile/compiling_note.hpp"
#include "compile/elimination.hpp"
#include "compile/loaded_model.hpp"
#include "spec/methods.hpp"

namespace saltus::host {

namespace {
/// The text that tells a module the sizes of its series.
std::string series_text(const plan& p) {
  if (p.model.kept_series < 0 || !(method_called(p.method).is_series || p.model.offsets)) return {};
  // In a backward run the model's time, -t, is one more series in each of four evaluations: the right-hand sides on
  // both sides of a surface, and the time derivatives of guards along both.
  std::string text =
      fmt::format("template <> inline constexpr saltus::series_room saltus::room_of_series<::{}> = {{{}, {}}};\n",
                  p.model.name, 1 + p.model.kept_series + (p.backward ? 4 : 0), 1 + p.model.kept_numbers);
  if (std::any_of(p.reductions.begin(), p.reductions.end(), [](const auto& r) { return r.of_output; }))
    text +=
        fmt::format("template <> inline constexpr saltus::series_room saltus::room_of_outputs<::{}> = {{{}, {}}};\n",
                    p.model.name, 1 + p.model.output_series + (p.backward ? 4 : 0), 1 + p.model.output_numbers);
  return text;
}
/// The text that tells a module how smooth its model's functions are.
std::string smoothness_text(const model& m) {
  const auto word = [](smoothness s) { return fmt::format("saltus::smoothness({})", static_cast<int>(s)); };
  std::vector<std::string> guards, outputs;
  for (const guard& g : m.guards) guards.push_back(word(g.how_smooth));
  for (const quantity& q : m.outputs) outputs.push_back(word(q.how_smooth));
  return fmt::format(
      "template <> inline constexpr saltus::known_smoothness<{}, {}> saltus::smoothness_of<::{}>{{{}, {}, {{{}}}, "
      "{{{}}}}};\n",
      guards.size(), outputs.size(), m.name, word(m.equations_are), word(m.outputs_are), fmt::join(guards, ", "),
      fmt::join(outputs, ", "));
}
/// The text that tells a module the offsets of equations of any order.
std::string offsets_text(const model& m) {
  if (!m.offsets) return {};
  const auto& o = *m.offsets;
  if (o.array) return array_text(m.name, *o.array, o.observed);
  std::vector<std::string> c, d, entries, conditions;
  std::vector<int> levels, first_entries = {0}, first_directions = {0};
  for (const auto& set : o.sets) {
    c.push_back(fmt::format("{{{}}}", fmt::join(set.c, ", ")));
    d.push_back(fmt::format("{{{}}}", fmt::join(set.d, ", ")));
    for (const auto& e : set.entries) entries.push_back(fmt::format("{{{}, {}, {}}}", e.row, e.column, e.direction));
    levels.insert(levels.end(), set.levels.begin(), set.levels.end());
    first_entries.push_back(static_cast<int>(entries.size()));
    first_directions.push_back(static_cast<int>(levels.size()));
  }
  for (const auto& e : o.conditions)
    conditions.push_back(fmt::format("{{{}, {}, {}, {:.17g}}}", e.of_guard ? 1 : 0, e.index, e.relation, e.value));
  return fmt::format(
      "template <> inline constexpr saltus::offsets<{}, {}, {}, {}, {}> saltus::offsets_of<::{}>{{\n"
      "    {{{}}},\n    {{{}}},\n    {{{}}},\n    {{{}}}, {{{}}}, {{{}}},\n    {{{}}}, {{{}}}, {{{}}}}};\n",
      o.sets.front().c.size(), o.sets.size(), entries.size(), levels.size(), conditions.size(), m.name,
      fmt::join(c, ", "), fmt::join(d, ", "), fmt::join(entries, ", "), fmt::join(first_entries, ", "),
      fmt::join(levels, ", "), fmt::join(first_directions, ", "), fmt::join(conditions, ", "),
      fmt::join(o.set_of, ", "), fmt::join(o.observed, ", "));
}

/// Empty for the default, so that cached modules of earlier versions are still found.
std::string coordinates_text(const plan& p) {
  if (p.coordinates == coordinates::all) return {};
  return fmt::format(", .coordinates = saltus::coordinates::{}", word_of(p.coordinates));
}

std::string event_log_text(const plan& p) {
  std::string text;
  if (p.log_events && p.logged.outputs) text += ", .logs_outputs = true";
  if (bounded_rows(p) > 0) text += ", .bounds_log = true";
  return text;
}

/// The form of a model's equations with the requested derivatives: parameter j is number j, initial value i is -1 - i.
std::string form_text(const plan& p) {
  const auto form =
      fmt::format("saltus::form_of<::{}, saltus::{}>", p.model.name, p.backward ? "backward_time" : "forward_time");
  // This line distinguishes the engine of a model by its derivative array from that of the same model by its structural
  // analysis.
  if (p.model.offsets && p.model.offsets->array)
    return fmt::format("saltus::derivative_array_form<saltus::model_functions<::{}, saltus::{}>>", p.model.name,
                       p.backward ? "backward_time" : "forward_time");
  if (p.exponents > 0) return fmt::format("saltus::growth<{}, {}>", form, p.exponents);
  if (!p.gradient_integrals.empty())
    return fmt::format("saltus::integrals<{}, {}>", form, fmt::join(p.gradient_integrals, ", "));
  if (p.sensitivities.empty()) return form;
  std::vector<int> numbers;
  for (const target& of : p.sensitivities)
    numbers.push_back(of.which == target::kind::parameter ? of.index : -1 - of.index);
  return fmt::format("saltus::sensitivities<{}, {}, {}>", form, p.sensitivities_in_error, fmt::join(numbers, ", "));
}
}  // namespace

std::string array_text(const std::string& model, const model_array& array, const std::vector<int>& observed) {
  return fmt::format(
      "template <> inline constexpr saltus::array_offsets<{}> saltus::offsets_of<::{}>{{{}, {}, {:.17g}, {{{}}}, "
      "{{{}}}}};\n",
      array.order.size(), model, array.times, array.rank, array.time_scale, fmt::join(array.order, ", "),
      fmt::join(observed, ", "));
}

std::string engine_name(const plan& p) {
  std::string reductions;
  for (const auto& r : p.reductions)
    reductions += fmt::format(",\n    saltus::reduction<saltus::reduce::{}, {}, {}{}>", row_of(r.which).name,
                              r.of_output ? "true" : "false", r.index, r.windowed ? ", true" : "");
  return fmt::format(
      "using engine = saltus::engine<{}, saltus::methods::by_name<\"{}\">, {},\n"
      "    saltus::options{{.norm = saltus::norm_kind::{}, .controller = saltus::controller_kind::{}, "
      ".detect = saltus::detection::{}, .fixed_steps = {}, .samples = {}, .guards_in_error = {}, "
      ".inject = {}{}{}{}}}{}>;\n",
      form_text(p), p.method, word_of(p.precision), word_of(p.norm), word_of(p.controller), word_of(p.detection),
      p.fixed_step > 0, p.sample_count > 0, p.guards_in_error, p.inject_exceptions > 0,
      p.stiff_method.empty() ? "" : ", .watch_stiffness = true", coordinates_text(p),
      event_log_text(p) + (has_gradient(p) ? ", .gradient = true" : ""), reductions);
}

std::string engine_text(const plan& p) {
  return elimination_text(p.model) + offsets_text(p.model) + series_text(p) + smoothness_text(p.model) + engine_name(p);
}

namespace {
/// The whole module; or its part that lands, if SALTUS_LANDS is defined.
std::string cpu_module_text(const plan& p, const lane_shape& shape) {
  return fmt::format(
      "#include \"run/on_cpu.hpp\"\n"
      "#include \"form/of_model.hpp\"\n"
      "#include \"method/by_name.hpp\"\n"
      "#include \"{}\"\n"
      "{}"
      "#ifdef SALTUS_LANDS\n"
      "extern \"C\" void saltus_land(void* lanes, unsigned some, const void* run) {{\n"
      "  saltus::land_from_apart<engine, {}>(lanes, some, run);\n"
      "}}\n"
      "#else\n"
      "extern \"C\" __attribute__((visibility(\"default\"))) const saltus::abi::module saltus_module = "
      "saltus::cpu_module<engine, {}, {}>;\n"
      "#endif\n",
      p.model.header.string(), engine_text(p), shape.lanes, shape.lanes, shape.groups);
}
}  // namespace

std::string words_of_module(const plan& p) {
  std::string words = fmt::format("{} with {}", p.model.name, p.method);
  const auto add = [&](bool is_so, const std::string& what) { words += is_so ? ", " + what : ""; };
  add(p.sample_count > 0, "samples");
  add(!p.reductions.empty(), counted(p.reductions.size(), "reduction"));
  add(!p.sensitivities.empty(), "derivatives");
  add(p.exponents > 0, "Lyapunov exponents");
  add(has_gradient(p), "a gradient");
  add(p.log_events && p.logged.outputs, "outputs of events");
  add(p.fixed_step > 0, "a constant step");
  add(p.detection != detection::hermite, word_of(p.detection) + " detection");
  add(p.precision != precision_kind::double_precision, word_of(p.precision));
  add(p.backward, "backward time");
  return words;
}

namespace {
/// Both parts of a module have the code of the model's constraints, which is most of it where there are any.
optimised how_to_compile(const plan& p) {
  const bool in_parts = has_events(p.model) && !has_constraints(p.model) && std::thread::hardware_concurrency() > 1;
  return in_parts ? optimised::in_parts : optimised::yes;
}
}  // namespace

built build_cpu_module(const plan& p, const lane_shape& shape, const cancellation& stop) {
  const auto build = [&] {
    const compiling_note note(words_of_module(p));
    return build_module(cpu_module_text(p, shape), p.model.header, stop, how_to_compile(p));
  };
  if (!p.model.loaded) return build();
  return p.model.loaded->module_called(fmt::format("{}{} {}", engine_name(p), shape.lanes, shape.groups), build);
}
built build_traceable_module(const plan& p, const cancellation& stop) {
  const auto once = [&] { return build_module(cpu_module_text(p, {1, 1}), p.model.header, stop, optimised::traced); };
  once();
  return once();  // loaded from its final path, by which the debugger finds its line numbers
}
std::string cpu_module_name(const plan& p, const lane_shape& shape) {
  std::string all = request_for(cpu_module_text(p, shape), optimised::yes);
  for (const auto& source : p.model.sources) all += "\n" + source.hash;
  return hash_text(all);
}

}  // namespace saltus::host
