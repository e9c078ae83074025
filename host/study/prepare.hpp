// Makes a plan from the user's input: a spec file or a model, and settings that change it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/cancellation.hpp"
#include "spec/plan.hpp"
#include "spec/spec.hpp"

namespace saltus::host {

/// The user's request: a spec ./my_sweep.toml, a built-in's name or a header ./my_model.hpp, and flags such as
/// {"--set", "rtol=1e-9"} (spec.hpp) in their order.
struct study {
  std::string subject;
  std::vector<flag> flags;
  /// If the subject is a result file: the instance to run again, alone (rerun.hpp). -1: the subject is no result.
  std::int64_t instance = -1;
  bool trusts = false;  ///< the model may run although this user has not run it before
};

/// The plan of a study; compiles the description of a model that is not built in. Throws `error` with file, line and
/// column of a spec, and the allowed values.
plan plan_of(const study& what, const cancellation& stop = {});

/// The header of a spec's model. Throws `error` if there is none.
std::filesystem::path model_of(const spec_document& spec);
/// The plan of a spec for its model, which is described or loaded already.
plan plan_of(const spec_document& spec, const model& known);

/// A model that stays loaded (compile/loaded_model.hpp): further runs of plans with it, or with a copy of it, compile
/// nothing again and read no file.
model load(const std::filesystem::path& header, const cancellation& stop = {});

/// A model by its name or header: states, parameters, guards, outputs. Throws `error`.
model describe(const std::string& name, const cancellation& stop = {});
/// All built-in models.
std::vector<model> builtin_models(const cancellation& stop = {});

}  // namespace saltus::host
