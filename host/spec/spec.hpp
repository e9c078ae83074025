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

#include "spec/plan.hpp"

namespace saltus::host {

/// A flag of the command line that changes the spec, as typed: {"--seed", "7"}. Later flags win over earlier ones, and
/// flags over the file.
///   --set key=value   `key` is a dotted path ("sweep.flow.count") or a bare name: a top-level key of the spec, a
///                     parameter (as in [parameters]) or a state (as in [initial]). Where a key and a quantity of the
///                     model have one name, a bare one is refused: "spec.zeno" is the key, "parameters.zeno" the other.
///                     `value` is TOML, else a string
///   -n N              the count of [sample] if that has any entry but a seed, or if there is no [sweep]; else of the one
///                     { from, to, count } in [sweep]; else, if that has one axis alone, the rows of its CSV files (and
///                     the counts of the ranges beside them in a zip). A count that another flag gives too is refused
///   --seed N  --backend NAME  -o FILE  --method NAME  --threads N  --lanes N  --chunk N
struct flag {
  std::string name, value;
  bool wins = false;  ///< set by the program itself: what the command line says of the same is replaced
};

/// A spec that is well-formed TOML and names its model; nothing else about it is known yet.
struct spec_document {
  std::filesystem::path file;  ///< empty: no file, a model named on the command line
  std::string text;            ///< of the file
  std::vector<flag> flags;
  std::string model;                   ///< as written
  std::filesystem::path model_header;  ///< if `model` is a path (has a '/' or ends in .hpp): the path, else empty
  std::string model_place;             ///< "valve.toml:1:10: model = \"valve\"", the beginning of a complaint about it
};

/// Reads a spec. A path in it (`model`, `csv`) starts at the folder of the spec, one in a flag at the current folder;
/// `output.file` always starts at the current folder.
spec_document read_spec(const std::filesystem::path& file, std::vector<flag> flags = {});

/// A spec that consists of a model and flags: `name` is a built-in's name, or a path relative to the current folder.
spec_document from_model(const std::string& name, std::vector<flag> flags = {});

/// Checks everything that can be checked before anything runs. In the plan: axes of the product in the order in which
/// the spec has them (the entries of a [sweep.zip] are one axis; axes from flags come last); `atol` is `rtol` unless
/// given; `t` is the model's own span unless given, and an end that is swept replaces that of `t`; `text` is the spec
/// with all flags merged in, as TOML: the same text for the same input, and in the same folder it gives the same plan.
plan validate(const spec_document& spec, const host::model& model);

/// Is the error estimate of this method good enough for detection = "certified"?
bool certifies(std::string_view method);

}  // namespace saltus::host
