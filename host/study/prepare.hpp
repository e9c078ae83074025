// From what a user names to a plan: a spec file or a model, and settings that change it.
#pragma once

#include <string>
#include <vector>

#include "base/cancellation.hpp"
#include "spec/plan.hpp"
#include "spec/spec.hpp"

namespace saltus::host {

/// What is to be run: a spec ./my_sweep.toml, a built-in's name or a header ./my_model.hpp, and flags such as
/// {"--set", "rtol=1e-9"} (spec.hpp) in their order.
struct study {
  std::string subject;
  std::vector<flag> flags;
};

/// The plan of it; compiles the description of a model that is not built in. Throws `error`, naming file, line and column of
/// a spec, and what is allowed.
plan plan_of(const study& what, const cancellation& stop = {});

/// A model by its name or header: states, parameters, guards, outputs. Throws `error`.
model describe(const std::string& name, const cancellation& stop = {});
/// All built-in ones.
std::vector<model> builtin_models(const cancellation& stop = {});

}  // namespace saltus::host
