// saltus list, saltus describe.
#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "compile/derivative_arrays.hpp"
#include "compile/elimination.hpp"

namespace saltus::host {

namespace {

/// "1 algebraic state", "2 algebraic states"; empty without any.
std::string algebraic_text(const model& m) {
  const auto n = std::count_if(m.states.begin(), m.states.end(), [](const quantity& q) { return q.index > 0; });
  return n > 0 ? counted(static_cast<std::size_t>(n), "algebraic state") : std::string();
}

/// Special features of a model's equations, for a list: ", 1 algebraic state, mass matrix".
std::string special_text(const model& m) {
  std::string text;
  if (const auto algebraic = algebraic_text(m); !algebraic.empty()) text += ", " + algebraic;
  if (m.equations == abi::with_mass) text += ", mass matrix";
  if (m.equations == abi::implicit) text += ", implicit";
  if (m.equations == abi::any_order) text += ", of any order";
  if (m.coordinates > 0) text += ", mechanical";
  return text;
}

/// The kind of a constraint.
const char* kind_of(const constraint& c) {
  return c.quaternion ? "unit quaternion" : c.holonomic ? "holonomic" : "nonholonomic";
}

/// The equations of a mechanical system. Degrees of freedom are those of velocities while all constraints hold that are
/// never switched.
std::string mechanical_text(const model& m) {
  const auto count = [&](auto which) {
    return static_cast<std::size_t>(std::count_if(m.constraints.begin(), m.constraints.end(), which));
  };
  const auto velocities = m.states.size() - static_cast<std::size_t>(m.coordinates);
  const auto quaternions = count([](const constraint& c) { return c.quaternion; });
  const auto switched = count([](const constraint& c) { return c.switched; });
  const auto constraints = m.constraints.size() - quaternions;
  std::string text = constraints == 0 ? "M(q) v' = f(t, q, v)" : "M(q) v' = f(t, q, v) + J' lambda, 0 = Phi";
  text += "; " + counted(static_cast<std::size_t>(m.coordinates), "coordinate");
  if (quaternions > 0) text += fmt::format(" ({})", counted(quaternions, "unit quaternion"));
  text += ", " + counted(constraints, "constraint");
  if (switched > 0) text += fmt::format(" ({} switched)", switched);
  return text + fmt::format(", {}", counted(velocities + switched - constraints, "degree") + " of freedom");
}

/// The usual notation of a model's equations.
std::string equations_text(const model& m) {
  const char* const forms[] = {"dy/dt = f(t, y)", "dy/dt = f(t, y), 0 = g(t, y)", "M dy/dt = f(t, y)",
                               "0 = r(t, y, dy/dt)", "0 = r(t, x, x', x'', ...)"};
  std::string text = forms[static_cast<int>(m.equations)];
  if (m.coordinates > 0) return mechanical_text(m);
  if (m.singular_mass) text += ", M singular";
  if (highest_index(m) > 0) text += fmt::format("; {} of index {}", algebraic_text(m), highest_index(m));
  return text;
}

/// Prints how the matrices of a mechanical system are factorised, if there is a choice.
void print_elimination(const model& m) {
  const auto e = elimination_of(m);
  if (!e) return;
  tell("  matrix: {}, {} entries below the diagonal, {} filled in, {} multiply-adds (dense {}), J along {} of {}\n",
       e->chosen ? "sparse" : "dense; sparse it has", e->entries, e->filled_in, e->program.target.size(),
       e->dense_updates(), counted(static_cast<std::size_t>(e->colours), "direction"), e->velocities);
}
json elimination_json(const model& m) {
  const auto e = elimination_of(m);
  if (!e) return nullptr;
  return json{{"sparse", e->chosen},
              {"unknowns", e->program.unknowns()},
              {"entries", e->entries},
              {"filled_in", e->filled_in},
              {"multiply_adds", e->program.target.size()},
              {"dense_multiply_adds", e->dense_updates()},
              {"directions", e->colours}};
}

void print_quantities(const char* title, const std::vector<quantity>& list, bool with_value) {
  if (list.empty()) return;
  tell("\n{}\n", title);
  for (const auto& q : list)
    tell("  {:<18} {:>12} {:<10} {}{}\n", q.name,
         with_value ? std::isnan(q.value) ? "free" : fmt::format("{:g}", q.value) : "", q.unit == "1" ? "" : q.unit,
         q.about, q.index > 0 ? fmt::format(" (algebraic, index {})", q.index) : std::string());
}

std::string schedule_text(const time_event& e) {
  if (e.capacity == 0) return {};
  return fmt::format(
      " (scheduled, at most {} under way{})", e.capacity,
      e.carries == 0 ? "" : fmt::format(", each with {}", counted(static_cast<std::size_t>(e.carries), "number")));
}

json describe_json(const model& m) {
  const auto discretes = declared_discretes(m);
  const auto quantities = [](const std::vector<quantity>& list, bool are_states = false) {
    json a = json::array();
    for (const auto& q : list) {
      json entry{{"name", q.name}, {"default", q.value}, {"unit", q.unit}, {"about", q.about}};
      if (are_states) entry["index"] = q.index;
      a.push_back(std::move(entry));
    }
    return a;
  };
  json guards = json::array();
  for (const auto& g : m.guards)
    guards.push_back(json{{"name", g.name},
                          {"direction", name_of(g.direction)},
                          {"sidedness", name_of(g.sidedness)},
                          {"terminal", g.terminal},
                          {"may_slide", g.slides},
                          {"about", g.about}});
  json time_events = json::array();
  for (const auto& i : m.time_events) {
    json one{{"name", i.name}, {"about", i.about}, {"capacity", i.capacity}, {"carries", i.carries}};
    if (i.recorded) {
      one["columns"] = json::array();
      for (const auto& c : i.columns)
        one["columns"].push_back(json{{"name", c.name}, {"unit", c.unit}, {"about", c.about}});
    }
    time_events.push_back(one);
  }
  json streams = json::array();
  for (const auto& s : m.streams) streams.push_back(json{{"name", s.name}, {"about", s.about}});
  json delays = json::array();
  for (const auto& d : m.delays) delays.push_back(json{{"name", d.name}, {"about", d.about}});
  json tables = json::array();
  for (const auto& t : m.tables)
    tables.push_back(json{{"name", t.name},
                          {"interpolation", name_of(t.between)},
                          {"at_ends", name_of(t.beyond)},
                          {"knots", t.times.size()},
                          {"chosen_by", t.choice < 0 ? json() : json(chooser_of(m, t).name)},
                          {"unit", t.unit},
                          {"about", t.about}});
  json constraints = json::array();
  for (const auto& c : m.constraints)
    constraints.push_back(
        json{{"name", c.name}, {"kind", kind_of(c)}, {"switched", c.switched}, {"unit", c.unit}, {"about", c.about}});
  return json{{"model", m.name},
              {"title", m.title},
              {"source", m.source},
              {"header", m.header.string()},
              {"t", json::array({m.t_begin, m.t_end})},
              {"time_unit", m.time_unit},
              {"equations", name_of(m.equations)},
              {"singular_mass", m.singular_mass},
              {"states", quantities(m.states, true)},
              {"parameters", quantities(m.parameters)},
              {"discretes", quantities({discretes.begin(), discretes.end()})},
              {"coordinates", m.coordinates},
              {"constraints", constraints},
              {"invariants", quantities(m.invariants)},
              {"elimination", elimination_json(m)},
              {"structure", structure_json(m)},
              {"guards", guards},
              {"time_events", time_events},
              {"streams", streams},
              {"delays", delays},
              {"history", m.has_history},
              {"tables", tables},
              {"outputs", quantities(m.outputs)}};
}

}  // namespace

int list_models(bool as_json) {
  json all = json::array();
  for (const model& m : builtin_models(interrupted)) {
    if (as_json)
      all.push_back(json{{"model", m.name},
                         {"title", m.title},
                         {"equations", name_of(m.equations)},
                         {"states", m.states.size()},
                         {"guards", m.guards.size()},
                         {"time_events", m.time_events.size()}});
    else
      tell("{:<26} {} ({}{}, {}{})\n", m.name, m.title, counted(m.states.size(), "state"), special_text(m),
           counted(m.guards.size(), "guard"),
           m.time_events.empty() ? "" : ", " + counted(m.time_events.size(), "time event"));
  }
  if (as_json) tell("{}\n", json_text(json{{"models", all}}));
  return exit_ok;
}

int describe(const std::string& name, bool as_json, bool by_array) {
  model m = describe(name, interrupted);
  if (by_array) m = by_derivative_array(m, interrupted);
  if (as_json) {
    tell("{}\n", json_text(describe_json(m)));
    return exit_ok;
  }
  tell("{}: {}\n  source: {}\n  file:   {}\n  t:      {:g} .. {:g}{}{}\n  form:   {}\n", m.name, m.title, m.source,
       m.header.string(), m.t_begin, m.t_end, m.time_unit.empty() ? "" : " ", m.time_unit, equations_text(m));
  print_elimination(m);
  print_structure(m);
  print_quantities("states (initial value, unit, meaning)", m.states, true);
  print_quantities("parameters (default, unit, meaning)", m.parameters, true);
  const auto discretes = declared_discretes(m);
  print_quantities("discrete variables (initial value, unit, meaning)", {discretes.begin(), discretes.end()}, true);
  print_quantities("outputs (unit, meaning)", m.outputs, false);
  if (!m.constraints.empty()) tell("\nconstraints (kind, unit, meaning)\n");
  for (const auto& c : m.constraints)
    tell("  {:<18} {:<15} {:<6} {}{}\n", c.name, kind_of(c), c.unit == "1" ? "" : c.unit, c.about,
         c.switched ? " (switched)" : "");
  print_quantities("invariants (unit, meaning)", m.invariants, false);
  if (!m.guards.empty()) tell("\nguards (direction, sidedness, meaning)\n");
  for (const auto& g : m.guards)
    tell("  {:<18} {:<8} {:<11}{}{} {}\n", g.name, name_of(g.direction), name_of(g.sidedness),
         g.terminal ? " terminal" : "", g.slides ? " may slide" : "", g.about);
  if (!m.tables.empty()) tell("\ntables (between knots, at the ends, own knots, unit, meaning)\n");
  for (const auto& t : m.tables)
    tell("  {:<18} {:<8} {:<9} {:>6} {:<10} {}\n", t.name, name_of(t.between), name_of(t.beyond),
         t.times.empty() ? "none" : std::to_string(t.times.size()), t.unit == "1" ? "" : t.unit,
         t.about + (t.choice < 0 ? std::string() : fmt::format(", by its curve number {}", chooser_of(m, t).name)));
  if (!m.time_events.empty()) tell("\ntime events (meaning)\n");
  for (const auto& i : m.time_events) {
    tell("  {:<18} {}{}{}\n", i.name, i.about, schedule_text(i),
         i.recorded ? ", at the times of its rows in [records]" : "");
    for (const auto& c : i.columns) tell("    {:<16} {:<10} {}\n", c.name, c.unit == "1" ? "" : c.unit, c.about);
  }
  if (!m.streams.empty()) tell("\nrandom streams (meaning)\n");
  for (const auto& s : m.streams) tell("  {:<18} {}\n", s.name, s.about);
  if (!m.delays.empty())
    tell("\ndelays (meaning); before the start states are {}\n",
         m.has_history ? "given by the model" : "constant, as at the start");
  for (const auto& d : m.delays) tell("  {:<18} {}\n", d.name, d.about);
  return exit_ok;
}

}  // namespace saltus::host
