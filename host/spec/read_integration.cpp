// Reads the keys at the top of a spec: how an instance is integrated, and how its events are found.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "spec/methods.hpp"
#include "spec/reading.hpp"

namespace saltus::host {

namespace {

/// The methods of method = "auto": to begin with, where stiff, and where stiff for long. A high order pays where many digits are asked for,
/// the sooner the cheaper its complex matrices are (docs/implicit.md).
struct methods_of_auto {
  const char *first = "dp5", *stiff = "rodas5p", *lasting = "radau5";

  methods_of_auto(double rtol, std::size_t states) {
    constexpr std::size_t few = 10;
    if (rtol <= (states <= few ? 1e-8 : 1e-10)) stiff = lasting = "radau9";
  }
};

/// Below some tens of ulps the error estimate is mere rounding: steps become shorter and results no better.
void warn_of_rounding(reading& r) {
  const bool is_float = r.plan.precision == precision_kind::single_precision;
  const double least = is_float ? 1e-6 : 1e-14;
  const auto rtol = r.root.find("rtol");
  if (!rtol || r.plan.rtol >= least) return;
  r.plan.warnings.push_back(fmt::format(
      "{}: below {:g} the rounding of {} numbers is larger than the errors that are to be kept: steps become "
      "shorter, results no better",
      rtol->what(), least, word_of(r.plan.precision)));
}

void read_method(reading& r) {
  const auto name_of = [&](const std::string& word) {
    return word == "taylor" ? series_method_for(r.plan.rtol) : word;
  };
  r.plan.method = name_of(default_method(r.model));
  const auto e = r.root.find("method");
  if (!e) return;
  const auto word = e->word(joined(names_of(known_methods()), {"taylor", "auto"}));
  const bool is_auto = word == "auto";
  const methods_of_auto automatic(r.plan.rtol, r.model.states.size());
  r.plan.method = is_auto ? automatic.first : name_of(word);
  r.plan.stiff_method = is_auto ? automatic.stiff : "";
  r.plan.lasting_method = is_auto ? automatic.lasting : "";
  for (const auto& method : {r.plan.method, r.plan.stiff_method, r.plan.lasting_method})
    if (const auto why = method.empty() ? std::string() : obstacle(method_called(method), r.model); !why.empty())
      e->fail(fmt::format("{}; {}", why, suggest("", methods_for(r.model))));
}

void read_consistency(reading& r) {
  const auto e = r.root.find("consistency");
  if (!e) return;
  r.plan.consistency = e->choice<abi::consistency>();
  if (!has_constraints(r.model))
    e->fail(fmt::format("must be left out, as {} has no constraints to be consistent with", r.model.name));
  if (r.plan.consistency == abi::nearest && r.model.equations != abi::semi_explicit &&
      r.model.equations != abi::any_order)
    e->fail(fmt::format("must be algebraic or given, as {} has {}", r.model.name, special_about(r.model)));
}

void read_coordinates(reading& r) {
  const auto e = r.root.find("coordinates");
  if (!e) return;
  r.plan.coordinates = e->choice<coordinates>();
  if (r.plan.coordinates == coordinates::all) return;
  if (r.model.equations != abi::any_order)
    e->fail(fmt::format("must be all, or left out: {} has no equations of any order, 0 = r(t, x, x', x'', ...)",
                        r.model.name));
}

void read_structure(reading& r) {
  const auto e = r.root.find("structure");
  if (!e) return;
  r.plan.structure = e->choice<structure_kind>();
  if (r.plan.structure != structure_kind::analysis && r.model.equations != abi::any_order)
    e->fail(fmt::format("must be analysis, or left out: {} has no equations of any order, 0 = r(t, x, x', x'', ...)",
                        r.model.name));
}

/// A number, a list with one per state, or a table by state name with a `default`.
void read_atol(reading& r) {
  r.plan.atol.assign(r.model.states.size(), r.plan.rtol);
  const auto atol = r.root.find("atol");
  if (!atol) return;
  if (atol->is_list()) {
    const auto items = atol->items();
    if (items.size() != r.model.states.size())
      atol->fail(fmt::format("must have one number for each state: {}", fmt::join(names_of(r.model.states), ", ")));
    for (std::size_t i = 0; i < items.size(); ++i) r.plan.atol[i] = items[i].positive();
  } else if (atol->is_table()) {
    atol->only(joined({"default"}, names_of(r.model.states)));
    if (const auto e = atol->find("default")) r.plan.atol.assign(r.model.states.size(), e->positive());
    for (const auto& e : atol->entries())
      if (e.key() != "default") r.plan.atol[index_of(r.model.states, e.key())] = e.positive();
  } else {
    r.plan.atol.assign(r.model.states.size(), atol->positive());
  }
}

}  // namespace

void read_integration(reading& r) {
  read_plain_values(r, r.root);
  read_structure(r);
  read_method(r);
  read_atol(r);
  if (const auto e = r.root.find("step"); e && !r.plan.stiff_method.empty())
    e->fail("must be left out with the method auto, which goes by the steps that the error control asks for");
  if (r.plan.fixed_step == 0) warn_of_rounding(r);
  if (method_called(r.plan.method).embedded_order == 0 && r.plan.fixed_step == 0)
    r.root.find("method")->fail("has no error estimate: must come with step, the constant step size");
  read_consistency(r);
  read_coordinates(r);
  if (const auto e = r.root.find("t")) {
    if (!e->is_list()) {  // the model or the continued result gives the beginning
      r.plan.t_end = e->number();
      if (r.plan.t_end == r.plan.t_begin && !continued_from(r.root))
        e->fail(fmt::format("must be another time than the beginning, {}; or [begin, end]", r.plan.t_begin));
    } else {
      const auto t = e->numbers(2, "must be [begin, end], or the end");
      if (t[0] == t[1] || !std::isfinite(t[1] - t[0]))
        e->fail("must be [begin, end] with begin < end, or begin > end to run backward");
      r.plan.t_begin = t[0], r.plan.t_end = t[1];
    }
  }
}

void choose_auto(reading& r) {
  plan& p = r.plan;
  if (r.root.find("method") || r.model.equations != abi::plain || r.model.coordinates > 0) return;
  if (p.fixed_step > 0 || p.exponents > 0) return;
  if (r.root.find("gradient") && r.model.states.size() > most_states_of_implicit_gradient) return;
  const std::int64_t directions = r.root.find("gradient") ? 1 : carried_directions(p);
  const methods_of_auto automatic(p.rtol, r.model.states.size());
  for (const auto* method : {automatic.stiff, automatic.lasting}) {
    if (!obstacle(method_called(method), r.model).empty()) return;
    const auto of_lane = stack_of_lane(r.model, method, p.coordinates, directions);
    if (std::max<std::int64_t>(p.lanes, 1) * of_lane > largest_stack) return;
  }
  p.stiff_method = automatic.stiff;
  p.lasting_method = automatic.lasting;
}

void read_events(reading& r) {
  if (r.plan.detection == detection::certified && !certifies(r.plan.method)) {
    names able;
    for (const auto& method : known_methods())
      if (method.certifies) able.push_back(method.name);
    r.root.find("detection")
        ->fail(fmt::format("needs a method whose error estimate holds for every right-hand side, and {} has none; {}",
                           r.plan.method, suggest("", able)));
  }
  if (r.plan.guards_in_error && r.plan.fixed_step > 0)
    r.root.find("guards_in_error")->fail("must be false with step, which has no error control");
  if (const auto e = r.root.find("concurrency")) {
    e->only({"time", "value"});
    r.plan.concurrency_time = e->need("time", "must be a span of time").positive();
    r.plan.concurrency_value = e->need("value", "must be a distance from zero, in the units of the guards").positive();
  }
}

}  // namespace saltus::host
