// The table [sensitivity] of a spec: what derivatives are taken with respect to.
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "spec/methods.hpp"
#include "spec/reading.hpp"

namespace saltus::host {

namespace {

constexpr std::size_t max_parameters = 16;
constexpr std::string_view initial_prefix = "initial.";

/// "restitution", or "initial.height"
target read_parameter(const reading& r, const field& item) {
  const std::string name = item.text();
  if (const int i = index_of(r.model.parameters, name); i >= 0) return {target::kind::parameter, i, name};
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

/// Why the run can have no derivatives; empty: it can.
std::string obstacle_to_sensitivities(const reading& r) {
  const plan& p = r.plan;
  const auto& method = method_called(p.method);
  if (r.model.equations != abi::plain || r.model.coordinates > 0)
    return fmt::format("of {}: derivatives are taken of dy/dt = f(t, y) alone, and it {}", r.model.name,
                       r.model.coordinates > 0 ? std::string("is a mechanical system")
                                               : fmt::format("has {}", special_about(r.model)));
  if (!p.stiff_method.empty())
    return "with method = \"auto\", whose implicit method takes none: use an explicit method";
  if (!method.is_explicit || method.is_series)
    return fmt::format("with method = \"{}\": explicit Runge-Kutta methods take derivatives, dp5 or dop853 above all",
                       p.method);
  if (p.detection == "certified") return "with detection = \"certified\": use hermite";
  if (p.concurrency_time > 0) return "with concurrency, which lets events fire together that are not at one time";
  if (!p.rows) return "with output.rows = false, as they are kept for each instance";
  return {};
}

/// In the error control a derivative counts as its state does, over the size of the parameter.
void weigh_errors(plan& p) {
  const std::size_t states = p.model.states.size();
  for (const target& of : p.sensitivities) {
    const double size = std::fabs(of.which == target::kind::parameter ? p.parameters[static_cast<std::size_t>(of.index)]
                                                                      : p.initial[static_cast<std::size_t>(of.index)]);
    for (std::size_t i = 0; i < states; ++i) p.atol.push_back(p.atol[i] / (size > 0 ? size : 1.0));
  }
}

}  // namespace

void read_sensitivity(reading& r) {
  const auto table = r.root.find("sensitivity");
  if (!table) return;
  table->only({"parameters", "error_control"});
  const auto list = table->need("parameters", "must be a list of parameters and initial values");
  for (const auto& item : list.items()) {
    const target of = read_parameter(r, item);
    for (const target& other : r.plan.sensitivities)
      if (other.name == of.name) item.fail("must not be listed twice");
    r.plan.sensitivities.push_back(of);
  }
  if (r.plan.sensitivities.empty()) list.fail("must have at least one name");
  if (r.plan.sensitivities.size() > max_parameters)
    list.fail(
        fmt::format("must have at most {} names: a run takes that many times the work and the memory", max_parameters));
  if (const auto why = obstacle_to_sensitivities(r); !why.empty()) table->fail("must be left out " + why);
  if (const auto e = table->find("error_control")) r.plan.sensitivities_in_error = e->boolean();
  if (r.plan.sensitivities_in_error) weigh_errors(r.plan);
}

}  // namespace saltus::host
