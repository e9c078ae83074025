// Reads the tables [sensitivity], [lyapunov] and [gradient] of a spec: the parameters and initial values of derivatives,
// Lyapunov exponents, which are computed from derivatives by initial values, and the outcome of a gradient.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "spec/methods.hpp"
#include "spec/reading.hpp"

namespace saltus::host {

namespace {

constexpr std::size_t max_parameters = 64;
constexpr std::size_t most_data = 1'000'000;
constexpr std::string_view initial_prefix = "initial.";

/// "restitution", or "initial.height"
target read_parameter(const reading& r, const field& item) {
  const std::string name = item.text();
  if (const int i = index_of(r.model.parameters, name); i >= 0) {
    if (const auto* t = table_chosen_by(r.model, i))
      item.fail(fmt::format("{} is the number of a curve of {}: there is no derivative", name, t->name));
    return {target::kind::parameter, i, name};
  }
  std::vector<std::string> initials;
  for (const quantity& state : r.model.states) initials.push_back(std::string(initial_prefix) + state.name);
  const names allowed = joined(names_of(r.model.parameters), names(initials.begin(), initials.end()));
  const int state =
      name.starts_with(initial_prefix) ? index_of(r.model.states, name.substr(initial_prefix.size())) : -1;
  if (state < 0)
    item.fail(fmt::format("{} is neither a parameter nor an initial value; {}", name, suggest(name, allowed)));
  const double value = r.plan.initial[static_cast<std::size_t>(state)];
  if (value != value && !varies(r.plan, target::kind::state, state))
    item.fail(
        fmt::format("{0} must have a value in [initial], [sweep] or [sample]: the model may set it by itself", name));
  return {target::kind::state, state, name};
}

/// Why the run cannot have derivatives; empty: it can.
std::string obstacle_to_sensitivities(const reading& r) {
  const plan& p = r.plan;
  const auto& m = r.model;
  if (m.equations == abi::any_order)
    return fmt::format("of {}, which has {}: derivatives are taken of all other models", m.name, special_about(m));
  if (method_called(p.method).for_mechanics)
    return fmt::format("with method = \"{}\", which eliminates the constraints within its steps: use dop853", p.method);
  if (p.consistency == abi::nearest) return "with consistency = \"nearest\", which moves the start: use algebraic";
  if (p.concurrency_time > 0) return "with concurrency, which lets events fire together that are not at one time";
  if (!p.rows) return "with output.rows = false, as they are kept for each instance";
  return {};
}

/// Number of states with free initial values, which is the largest number of exponents.
int differential_states(const model& m) {
  return static_cast<int>(
      std::count_if(m.states.begin(), m.states.end(), [](const quantity& state) { return state.index == 0; }));
}

/// Reads names into `to`, each once.
void read_names(const reading& r, const field& list, std::vector<target>& to) {
  for (const auto& item : list.items_or_text()) {
    const target of = read_parameter(r, item);
    for (const target& other : to)
      if (other.name == of.name) item.fail("must not be listed twice");
    to.push_back(of);
  }
  if (to.empty()) list.fail("must have at least one name");
}

/// An alternative for a reduction that has no derivative.
std::string instead_of(const reduction& r, const model& m) {
  const auto index = static_cast<std::size_t>(r.index);
  const std::string of = is_of_event(r.which) ? "" : (r.of_output ? m.outputs : m.states)[index].name;
  switch (r.which) {
    case reduce::quantile:
    case reduce::median: return fmt::format("in a run without [sensitivity], or ask for mean({0}) or max({0})", of);
    default: return "in a run without [sensitivity]";
  }
}

/// Refuses reductions without derivatives in a run with derivatives: the result would silently lack a column.
void check_reductions(const reading& r, const field& table) {
  for (const reduction& one : r.plan.reductions)
    if (!has_derivative(one.which))
      table.fail(fmt::format(
          "must be left out beside output.reduce = [\"{}\"], which is taken without derivatives: write it {}", one.name,
          instead_of(one, r.model)));
}

/// The matrices of an implicit step, or the series of a Taylor method, are on the thread's stack, with their derivatives.
void check_stack(const reading& r, const field& table) {
  const plan& p = r.plan;
  const auto& method = p.stiff_method.empty() ? p.method : p.lasting_method;
  if (stack_of_lane(p.model, method, p.coordinates, carried_directions(p)) <= largest_stack) return;
  table.fail(fmt::format(
      "must be about fewer, as {} states with {} derivatives each have {} that do not fit: with "
      "explicit Runge-Kutta methods they do",
      p.model.states.size(), carried_directions(p), method_called(method).is_series ? "series" : "matrices"));
}

/// Why the run cannot have a gradient; empty: it can.
std::string obstacle_to_gradient(const reading& r) {
  const plan& p = r.plan;
  const model& m = r.model;
  if (!p.sensitivities.empty()) return "with [sensitivity], which has the derivatives of all outcomes";
  if (p.exponents > 0) return "with [lyapunov]";
  if (m.equations != abi::plain || m.coordinates > 0)
    return fmt::format("of {}, which is not of the form dy/dt = f(t, y): use [sensitivity]", m.name);
  for (const guard& g : m.guards)
    if (g.slides) return fmt::format("of {}, which slides (along {}): use [sensitivity]", m.name, g.name);
  for (const time_event& e : m.time_events)
    if (e.recorded) return fmt::format("of {}, which has recorded time events ({}): use [sensitivity]", m.name, e.name);
  if (!m.delays.empty()) return fmt::format("of {}, which has delays ({})", m.name, m.delays.front().name);
  const auto& method = method_called(p.method);
  if (method.is_series)
    return fmt::format("with method = \"{}\", which is no Runge-Kutta or Rosenbrock method: use auto or dop853",
                       p.method);
  if (const auto states = m.states.size() + p.gradient_integrals.size();
      (!method.is_explicit || !p.stiff_method.empty()) && states > most_states_of_implicit_gradient)
    return fmt::format(
        "of {}, which has {} states and integrals, with an implicit method: those have gradients of up to {}, dp5 and "
        "dop853 of any number",
        m.name, states, most_states_of_implicit_gradient);
  if (p.precision != precision_kind::double_precision) return "with precision = \"float\": gradients are in double";
  if (p.concurrency_time > 0) return "with concurrency, which lets events fire together that are not at one time";
  if (!p.rows) return "with output.rows = false, as it is kept for each instance";
  if (p.backend == backend_kind::cuda || p.backend == backend_kind::all)
    return "with run.backend = \"" + word_of(p.backend) + "\", as devices do not keep the steps: use cpu";
  return {};
}

/// The integrands x of outcomes integral(x) and mean(x), each once.
void read_integrands(reading& r, const field& of) {
  plan& p = r.plan;
  const auto is_named = [](const std::string& text, const std::string& name) {
    return text == "integral(" + name + ")" || text == "mean(" + name + ")";
  };
  const auto take = [&](const std::vector<quantity>& list, auto&& number) {
    for (std::size_t i = 0; i < list.size(); ++i)
      for (const field& weight : of.entries())
        if (is_named(weight.key(), list[i].name)) {
          if (p.backward) weight.fail_key("is an outcome of runs forward in time");
          p.gradient_integrals.push_back(number(static_cast<int>(i)));
          break;
        }
  };
  take(p.model.states, [](int i) { return -1 - i; });
  take(p.model.outputs, [](int i) { return i; });
  // They are states of the run, with the largest absolute tolerance of the others.
  const double atol = *std::max_element(p.atol.begin(), p.atol.end());
  p.atol.insert(p.atol.end(), p.gradient_integrals.size(), atol);
}

/// The standard deviations of `count` values.
std::vector<double> read_sigma(const field& entry, std::size_t count) {
  const auto sigma = entry.find("sigma");
  if (!sigma) return std::vector<double>(count, 1.0);
  if (!sigma->is_list()) return std::vector<double>(count, sigma->positive());
  std::vector<double> all;
  for (const field& one : sigma->items()) all.push_back(one.positive());
  if (all.size() != count)
    sigma->fail(fmt::format("must be a positive number, or a list of {}, one for each value", count));
  return all;
}

/// The data of the outcome `misfit`.
void read_data(reading& r, const field& data) {
  plan& p = r.plan;
  if (p.backward) data.fail_key("must be left out of runs backward in time");
  const auto known = joined(names_of(p.model.states), names_of(p.model.outputs));
  for (const field& entry : data.entries()) {
    if (!contains(known, entry.key()))
      entry.fail_key("is neither a state nor an output; " + suggest(entry.key(), known));
    auto k = read_points(r, entry, {"sigma"});
    if (k.times.size() != k.values.size() || k.times.empty())
      entry.fail(fmt::format("must have as many values as times, and has {} values and {} times", k.values.size(),
                             k.times.size()));
    const auto outside =
        std::find_if(k.times.begin(), k.times.end(), [&](double t) { return t < r.first || t > r.last; });
    if (outside != k.times.end())
      entry.fail(fmt::format("must have times within the time span, {} .. {}, and has {}", r.first, r.last, *outside));
    auto sigma = read_sigma(entry, k.values.size());
    p.gradient_data.push_back({entry.key(), std::move(k.times), std::move(k.values), std::move(sigma)});
  }
  if (p.gradient_data.empty()) data.fail("must have values of a state or an output");
}

/// The data as kernels take them, each with its weight in the outcome.
void weigh_data(reading& r, const field& data) {
  plan& p = r.plan;
  const double weight = p.gradient_weights.back();
  if (weight == 0) data.fail_key("must be left out, or misfit needs a weight in gradient.of");
  for (const measured& one : p.gradient_data) {
    const int state = index_of(p.model.states, one.name);
    const int of = state >= 0 ? -1 - state : index_of(p.model.outputs, one.name);
    for (std::size_t k = 0; k < one.times.size(); ++k)
      p.data.push_back({one.times[k], of, one.values[k], weight / (one.sigma[k] * one.sigma[k])});
  }
  std::stable_sort(p.data.begin(), p.data.end(), [](const auto& a, const auto& b) { return a.time < b.time; });
  if (p.data.size() > most_data)
    data.fail(fmt::format("must have at most {} values, and has {}", most_data, p.data.size()));
}

/// The weights of { final_height = 1.0, "integral(power)" = 0.5 }.
void read_weights(reading& r, const field& of) {
  const auto outcomes = gradient_outcomes(r.plan);
  r.plan.gradient_weights.assign(outcomes.size(), 0.0);
  bool any = false;
  for (const field& weight : of.entries()) {
    const auto outcome = std::find(outcomes.begin(), outcomes.end(), weight.key());
    if (outcome == outcomes.end())
      weight.fail_key(
          fmt::format("gradients are of final values of states and outputs, of t_final, of integral(x) and mean(x) "
                      "over the whole time, and with gradient.data of the misfit; {}",
                      suggest(weight.key(), names(outcomes.begin(), outcomes.end()))));
    r.plan.gradient_weights[static_cast<std::size_t>(outcome - outcomes.begin())] = weight.number();
    any = any || weight.number() != 0;
  }
  if (!any) of.fail("must have a weight that is not zero");
}

}  // namespace

void read_sensitivity(reading& r) {
  const auto table = r.root.find("sensitivity");
  if (!table) return;
  read_plain_values(r, *table);
  const auto list = table->need("parameters", "must be a list of parameters and initial values");
  read_names(r, list, r.plan.sensitivities);
  if (r.plan.sensitivities.size() > max_parameters)
    list.fail(
        fmt::format("must have at most {} names: a run takes that many times the work and the memory", max_parameters));
  if (const auto why = obstacle_to_sensitivities(r); !why.empty()) table->fail("must be left out " + why);
  check_reductions(r, *table);
  // The error control weighs a derivative like its state, divided by the size of the parameter in each instance.
  if (r.plan.sensitivities_in_error)
    for (std::size_t j = 0; j < r.plan.sensitivities.size(); ++j)
      for (std::size_t i = 0; i < r.model.states.size(); ++i) r.plan.atol.push_back(r.plan.atol[i]);
  check_stack(r, *table);
}

void read_lyapunov(reading& r) {
  const auto table = r.root.find("lyapunov");
  if (!table) return;
  read_plain_values(r, *table);
  if (!r.plan.sensitivities.empty()) table->fail("must be left out with [sensitivity]: derivatives grow as they are");
  if (highest_index(r.model) > 1 || r.model.singular_mass)
    table->fail(
        fmt::format("must be left out of {}, whose constraints leave no differences of some states", r.model.name));
  if (const auto why = obstacle_to_sensitivities(r); !why.empty()) table->fail("must be left out " + why);
  if (r.model.coordinates > 0 && has_constraints(r.model))
    table->fail(fmt::format("must be left out of {}: perturbations would leave its constraints", r.model.name));
  const int most = differential_states(r.model);
  const auto exponents = table->find("exponents");
  r.plan.exponents = exponents ? static_cast<int>(exponents->whole(1, most)) : most;
  if (static_cast<std::size_t>(r.plan.exponents) > max_parameters)
    (exponents ? *exponents : *table)
        .fail(fmt::format("{} at most {} exponents: a run takes that many times the work and the memory",
                          exponents ? "must be" : "must have exponents,", max_parameters));
  if (const auto from = table->find("from")) {
    r.plan.exponents_from = from->number();
    if (!std::isfinite(r.plan.exponents_from) || !r.is_before(r.plan.exponents_from, r.last))
      from->fail(fmt::format("must be a time before {}, where the time span ends", r.last));
  }
  // Perturbations have length 1, whatever the sizes of the states.
  r.plan.atol.resize(r.plan.model.states.size() * (1 + static_cast<std::size_t>(r.plan.exponents)), r.plan.rtol);
  check_stack(r, *table);
}

void read_gradient(reading& r) {
  const auto table = r.root.find("gradient");
  if (!table) return;
  plan& p = r.plan;
  read_plain_values(r, *table);
  const auto weights = table->need("of", "must be a table of outcomes with their weights, such as { final_x = 1.0 }");
  read_integrands(r, weights);
  if (const auto why = obstacle_to_gradient(r); !why.empty()) table->fail("must be left out " + why);
  const auto data = table->find("data");
  if (data) read_data(r, *data);
  read_weights(r, weights);
  if (data) weigh_data(r, *data);
  if (const auto list = table->find("parameters")) {
    read_names(r, *list, p.gradient);
  } else {
    for (int j = 0; j < std::ssize(r.model.parameters); ++j)
      if (!table_chosen_by(r.model, j))
        p.gradient.push_back({target::kind::parameter, j, r.model.parameters[static_cast<std::size_t>(j)].name});
    for (int i = 0; i < std::ssize(r.model.states); ++i)
      if (const double given = p.initial[static_cast<std::size_t>(i)];
          given == given || varies(p, target::kind::state, i))
        p.gradient.push_back(
            {target::kind::state, i, std::string(initial_prefix) + r.model.states[static_cast<std::size_t>(i)].name});
    if (p.gradient.empty()) table->fail(fmt::format("must be left out: {} has no parameters", r.model.name));
  }
  const auto& method = p.stiff_method.empty() ? p.method : p.lasting_method;
  const auto fitting = largest_stack / std::max<std::int64_t>(1, stack_of_lane(r.model, method, p.coordinates, 1));
  if (fitting < std::max<std::int64_t>(p.lanes, 1))
    table->fail(fmt::format("must be left out with run.lanes = {}: by {}, the matrices of {} lanes fit", p.lanes,
                            method, fitting));
  for (const target& of : p.gradient)
    p.gradient_numbers.push_back(of.which == target::kind::parameter ? of.index : -1 - of.index);
  p.backend = backend_kind::cpu;
}

}  // namespace saltus::host
