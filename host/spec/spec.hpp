// From a TOML file and the command line to a validated plan, in two stages: which model is meant must be known before
// the names of its parameters and states can be checked.
//
//     spec_document spec = read_spec("valve.toml", {{"--set", "rtol=1e-8"}, {"-n", "1000"}});
//     plan          plan = validate(spec, model);   // the model that spec.model names
//
// Both throw an `error` with exit code 2 whose message reads `spec.toml:12:8: rtol = -1: must be a positive number`;
// for what a flag has set, the flag stands in the place of file:line:column.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "spec/document.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// Reads a spec. A path in it (`model`, `csv`) starts at the folder of the spec, one in a flag at the current folder;
/// `output.file` always starts at the current folder.
spec_document read_spec(const std::filesystem::path& file, std::vector<flag> flags = {});

/// A spec that consists of a model and flags: `name` is a built-in's name, or a path relative to the current folder.
spec_document from_model(const std::string& name, std::vector<flag> flags = {});

/// The same from the text of a spec, which may name a model as from_model takes it. Paths in it start at `folder`, or at the
/// current one.
spec_document from_text(const std::string& text, std::vector<flag> flags = {}, given_arrays arrays = {},
                        const std::filesystem::path& folder = {});

/// Does it ask for the derivative array of its model, structure = "array"? Then the model that `validate` takes must have it.
bool asks_for_array(const spec_document& spec);

/// Checks everything that can be checked before anything runs. In the plan: axes of the product in the order in which
/// the spec has them (the entries of a [sweep.zip] are one axis; axes from flags come last); `atol` is `rtol` unless
/// given; `t` is the model's own span unless given, and an end that is swept replaces that of `t`; `text` is the spec
/// with all flags merged in, as TOML: the same text for the same input, and in the same folder it gives the same plan.
plan validate(const spec_document& spec, const host::model& model);

}  // namespace saltus::host
