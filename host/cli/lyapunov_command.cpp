// saltus lyapunov.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/json.hpp"
#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "result/reader.hpp"
#include "study/lyapunov.hpp"

namespace saltus::host {

namespace {

constexpr std::size_t most_rows = 40;

const char* reason_of(const instance_exponents& e) {
  return e.why == sensitivity::not_ended ? row_of(static_cast<long long>(e.status)).name
                                         : sensitivity_table[static_cast<int>(e.why)].name;
}

json json_of(const lyapunov_report& r) {
  json instances = json::array();
  for (const auto& e : r.instances) {
    json inputs = json::object();
    for (std::size_t j = 0; j < r.inputs.size(); ++j) inputs[r.inputs[j]] = e.inputs[j];
    instances.push_back(json{{"instance", e.instance},
                             {"inputs", inputs},
                             {"exponents", e.exponents},
                             {"errors", e.errors},
                             {"dimension", e.dimension()},
                             {"grazings", e.grazings},
                             {"status", reason_of(e)}});
  }
  return json{{"model", r.run.what.model.name},
              {"method", method_name(r.run.what)},
              {"instances", instances},
              {"file", r.run.file},
              {"exit_code", r.run.exit_code}};
}

void print_one(const instance_exponents& e) {
  for (std::size_t j = 0; j < e.exponents.size(); ++j)
    tell("  {:>3}  {:>14.6g} +- {:.2g}\n", j + 1, e.exponents[j], e.errors[j]);
  if (const double d = e.dimension(); !std::isnan(d)) tell("  Kaplan-Yorke dimension {:.4g}\n", d);
  if (e.grazings > 0) tell("  {} events were met with hardly any speed\n", e.grazings);
}

void print_table(const lyapunov_report& r) {
  std::string line = fmt::format("  {:>9}", "instance");
  for (const auto& name : r.inputs) line += fmt::format("  {:>12}", name);
  for (int j = 1; j <= r.run.what.exponents; ++j) line += fmt::format("  {:>12}", fmt::format("lyapunov_{}", j));
  tell("{}\n", line);
  for (std::size_t i = 0; i < std::min(most_rows, r.instances.size()); ++i) {
    const auto& e = r.instances[i];
    line = fmt::format("  {:>9}", e.instance);
    for (const double input : e.inputs) line += fmt::format("  {:>12.6g}", input);
    for (const double exponent : e.exponents) line += fmt::format("  {:>12.5g}", exponent);
    tell("{}{}\n", line, e.why == sensitivity::defined ? "" : fmt::format("  {}", reason_of(e)));
  }
  if (r.instances.size() > most_rows)
    tell("  and {} more{}\n", r.instances.size() - most_rows,
         r.run.file.empty() ? ": -o FILE keeps all, --json prints them" : " in " + r.run.file);
}

}  // namespace

int lyapunov(const run_arguments& a, const std::vector<std::string>& command) {
  plan p = lyapunov_plan(a, interrupted);
  print_warnings(p);
  ignore_broken_pipes();
  run_options options;
  options.replace = a.force;
  options.command = command;
  std::optional<progress> bar;
  const auto r = lyapunov(std::move(p), options, interrupted, listener_of(a.quiet, bar));
  if (a.as_json) {
    tell("{}\n", json_text(json_of(r)));
  } else {
    const double from = r.run.what.exponents_from;
    tell("{}, {}: Lyapunov exponents per unit of time{}\n", r.run.what.model.name, method_name(r.run.what),
         std::isfinite(from) ? fmt::format(", from t = {} on", from) : "");
    if (r.instances.size() == 1 && r.instances[0].why == sensitivity::defined) print_one(r.instances[0]);
    else print_table(r);
  }
  say_what_went_wrong(r.run);
  return r.run.exit_code;
}

}  // namespace saltus::host
