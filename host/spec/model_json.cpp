#include "spec/model_json.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"

namespace saltus::host {

namespace {

/// JSON has no NaN: null stands for it.
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
double number_in(const json& value) { return value.is_null() ? nan : value.get<double>(); }

template <class Enum>
Enum choice_in(const json& value, int least, int greatest) {
  const int n = value.get<int>();
  if (n < least || n > greatest) throw error(exit_failure, fmt::format("{} is none of its choices", n));
  return static_cast<Enum>(n);
}

json list_of(const std::vector<quantity>& all) {
  json list = json::array();
  for (const quantity& q : all) list.push_back(json::array({q.name, q.value, q.unit, q.about, q.index}));
  return list;
}
std::vector<quantity> quantities_in(const json& list) {
  std::vector<quantity> all;
  for (const json& q : list)
    all.push_back({q.at(0).get<std::string>(), number_in(q.at(1)), q.at(2).get<std::string>(),
                   q.at(3).get<std::string>(), choice_in<int>(q.at(4), 0, 2)});
  return all;
}

std::vector<double> numbers_in(const json& list) {
  std::vector<double> all;
  for (const json& x : list) all.push_back(number_in(x));
  return all;
}

/// For equations of any order: the names of their residuals, and the size of a derivative array.
json orders_of(const model& m) {
  if (!m.offsets) return nullptr;
  json all{{"equations", m.record->equation_names}, {"unknowns", m.record->unknown_names}};
  if (const auto& a = m.offsets->array)
    all["array"] = json{{"numbers", {a->times, a->rank, a->rows, a->freedom, a->points}},
                        {"time_scale", a->time_scale},
                        {"gap", a->gap},
                        {"order", a->order}};
  return all;
}
void take_orders(model& m, const json& all) {
  if (all.is_null()) return;
  equation_record record;
  record.equation_names = all.at("equations").get<std::vector<std::string>>();
  record.unknown_names = all.at("unknowns").get<std::vector<std::string>>();
  record.equations.assign(record.equation_names.size(), -1);
  m.record = std::move(record);
  m.offsets.emplace();
  if (!all.contains("array")) return;
  const json& a = all.at("array");
  const auto n = a.at("numbers").get<std::vector<int>>();
  m.offsets->array = model_array{n.at(0),
                                 n.at(1),
                                 n.at(2),
                                 n.at(3),
                                 n.at(4),
                                 number_in(a.at("time_scale")),
                                 number_in(a.at("gap")),
                                 a.at("order").get<std::vector<int>>()};
}

}  // namespace

json json_of(const model& m) {
  json constraints = json::array(), guards = json::array(), time_events = json::array(), tables = json::array(),
       streams = json::array(), delays = json::array();
  for (const constraint& c : m.constraints)
    constraints.push_back(json::array({c.name, c.unit, c.about, c.holonomic, c.switched, c.quaternion}));
  for (const guard& g : m.guards)
    guards.push_back(json::array(
        {g.name, static_cast<int>(g.direction), static_cast<int>(g.sidedness), g.terminal, g.about, g.slides}));
  for (const time_event& e : m.time_events) {
    json columns = json::array();
    for (const recorded_column& c : e.columns) columns.push_back(json::array({c.name, c.unit, c.about}));
    time_events.push_back(json::array({e.name, e.about, e.capacity, e.carries, e.recorded, columns}));
  }
  for (const random_stream& s : m.streams) streams.push_back(json::array({s.name, s.about}));
  for (const time_lag& d : m.delays) delays.push_back(json::array({d.name, d.about}));
  for (const tabulated& t : m.tables)
    tables.push_back(json::array({t.name, t.unit, t.about, static_cast<int>(t.between), static_cast<int>(t.beyond),
                                  t.times, t.values, t.choice}));
  return {{"name", m.name},
          {"title", m.title},
          {"source", m.source},
          {"header", m.header.string()},
          {"states", list_of(m.states)},
          {"parameters", list_of(m.parameters)},
          {"discretes", list_of(m.discretes)},
          {"outputs", list_of(m.outputs)},
          {"invariants", list_of(m.invariants)},
          {"constraints", constraints},
          {"guards", guards},
          {"time_events", time_events},
          {"streams", streams},
          {"delays", delays},
          {"history", m.has_history},
          {"kept", m.kept},
          {"random_key", m.random_key},
          {"tables", tables},
          {"reaches", m.reaches},
          {"coordinates", m.coordinates},
          {"equations", static_cast<int>(m.equations)},
          {"singular_mass", m.singular_mass},
          {"arithmetic", m.arithmetic},
          {"span", {m.t_begin, m.t_end}},
          {"time_unit", m.time_unit},
          {"orders", orders_of(m)}};
}

model model_from(const json& all) {
  try {
    model m;
    m.name = all.at("name").get<std::string>();
    m.title = all.at("title").get<std::string>();
    m.source = all.at("source").get<std::string>();
    m.header = all.at("header").get<std::string>();
    m.states = quantities_in(all.at("states"));
    m.parameters = quantities_in(all.at("parameters"));
    m.discretes = quantities_in(all.at("discretes"));
    m.outputs = quantities_in(all.at("outputs"));
    m.invariants = quantities_in(all.at("invariants"));
    for (const json& c : all.at("constraints"))
      m.constraints.push_back({c.at(0).get<std::string>(), c.at(1).get<std::string>(), c.at(2).get<std::string>(),
                               c.at(3).get<bool>(), c.at(4).get<bool>(), c.at(5).get<bool>()});
    for (const json& g : all.at("guards"))
      m.guards.push_back({g.at(0).get<std::string>(), choice_in<abi::direction>(g.at(1), abi::falling, abi::rising),
                          choice_in<abi::sidedness>(g.at(2), abi::bilateral, abi::unilateral), g.at(3).get<bool>(),
                          g.at(4).get<std::string>(), g.at(5).get<bool>()});
    for (const json& e : all.at("time_events")) {
      m.time_events.push_back({e.at(0).get<std::string>(), e.at(1).get<std::string>(), e.at(2).get<int>(),
                               e.at(3).get<int>(), e.at(4).get<bool>()});
      for (const json& c : e.at(5))
        m.time_events.back().columns.push_back(
            {c.at(0).get<std::string>(), c.at(1).get<std::string>(), c.at(2).get<std::string>()});
    }
    for (const json& s : all.at("streams"))
      m.streams.push_back({s.at(0).get<std::string>(), s.at(1).get<std::string>()});
    if (all.contains("delays"))  // journals of earlier versions have none
      for (const json& d : all.at("delays"))
        m.delays.push_back({d.at(0).get<std::string>(), d.at(1).get<std::string>()});
    m.has_history = all.value("history", false);
    const int discretes = static_cast<int>(m.discretes.size());
    m.kept = choice_in<int>(all.at("kept"), 0, discretes);
    m.random_key = choice_in<int>(all.at("random_key"), -1, std::max(-1, discretes - 4));
    for (const json& t : all.at("tables"))
      m.tables.push_back({t.at(0).get<std::string>(), t.at(1).get<std::string>(), t.at(2).get<std::string>(),
                          choice_in<interpolation>(t.at(3), 0, static_cast<int>(std::size(interpolation_names)) - 1),
                          choice_in<at_ends>(t.at(4), 0, static_cast<int>(std::size(at_ends_names)) - 1),
                          numbers_in(t.at(5)), numbers_in(t.at(6)),
                          choice_in<int>(t.at(7), -1, static_cast<int>(m.parameters.size()) - 1)});
    m.reaches = all.at("reaches").get<bool>();
    m.coordinates = choice_in<int>(all.at("coordinates"), 0, static_cast<int>(m.states.size()));
    m.equations = choice_in<abi::equations>(all.at("equations"), 0, static_cast<int>(abi::any_order));
    m.singular_mass = all.at("singular_mass").get<bool>();
    m.arithmetic = all.at("arithmetic").get<bool>();
    m.t_begin = number_in(all.at("span").at(0));
    m.t_end = number_in(all.at("span").at(1));
    m.time_unit = all.at("time_unit").get<std::string>();
    take_orders(m, all.at("orders"));
    return m;
  } catch (const std::exception& e) { throw error(exit_failure, fmt::format("it describes no model: {}", e.what())); }
}

}  // namespace saltus::host
