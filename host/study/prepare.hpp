// From what a user names to a plan: a spec file or a model, and settings that change it.
#pragma once

#include <cstdint>
#include <filesystem>
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
  /// Of a result file, which the subject is then: this instance alone, again (rerun.hpp). -1: the subject is no result.
  std::int64_t instance = -1;
  bool trusts = false;  ///< its model may be run although this user has not run it before
};

/// The plan of it; compiles the description of a model that is not built in. Throws `error`, naming file, line and column of
/// a spec, and what is allowed.
plan plan_of(const study& what, const cancellation& stop = {});

/// The header of the model that a spec is of. Throws `error` if there is none.
std::filesystem::path model_of(const spec_document& spec);
/// The plan of a spec for the model that it is of, which has been described or loaded.
plan plan_of(const spec_document& spec, const model& known);

/// A model that stays loaded (compile/loaded_model.hpp): further runs of plans that have it, or a copy of it, compile nothing
/// anew and ask for no file.
model load(const std::filesystem::path& header, const cancellation& stop = {});

/// A model by its name or header: states, parameters, guards, outputs. Throws `error`.
model describe(const std::string& name, const cancellation& stop = {});
/// All built-in ones.
std::vector<model> builtin_models(const cancellation& stop = {});

}  // namespace saltus::host
