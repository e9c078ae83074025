// Turns a TOML file and the command line into a validated plan, in two stages: the model must be known before the names
// of its parameters and states can be checked.
//
//     spec_document spec = read_spec("valve.toml", {{"--set", "rtol=1e-8"}, {"-n", "1000"}});
//     plan          plan = validate(spec, model);   // the model that spec.model names
//
// Both throw `error` (exit_usage) with a message such as `spec.toml:12:8: rtol = -1: must be a positive number`; for a
// value from a flag, the flag replaces file:line:column.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "spec/document.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// Reads a spec. A path in it (`model`, `csv`) is relative to the folder of the spec, a path in a flag to the current
/// folder; `output.file` is always relative to the current folder.
spec_document read_spec(const std::filesystem::path& file, std::vector<flag> flags = {});

/// A spec of a model and flags: `name` is a built-in's name, or a path relative to the current folder.
spec_document from_model(const std::string& name, std::vector<flag> flags = {});

/// The same from the text of a spec, which may name a model like from_model. Paths in it are relative to `folder`, or
/// to the current folder if it is empty.
spec_document from_text(const std::string& text, std::vector<flag> flags = {}, given_arrays arrays = {},
                        const std::filesystem::path& folder = {});

/// Does the spec ask for the derivative array of its model, structure = "array"? Then the model given to `validate`
/// must have it.
bool asks_for_array(const spec_document& spec);

/// Checks everything that can be checked before a run. In the plan, axes of the product are in the order of the spec
/// (the entries of a [sweep.zip] are one axis; axes from flags come last); `atol` is `rtol` unless given; `t` is the
/// model's own span unless given, and a swept end replaces that of `t`; `text` is the spec with all flags merged in, as
/// TOML: equal input gives equal text, which in the same folder gives the same plan.
plan validate(const spec_document& spec, const host::model& model);

}  // namespace saltus::host
