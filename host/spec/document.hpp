// A spec as it is written: a file or a model, and flags.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace saltus::host {

/// A flag of the command line that changes the spec, as typed: {"--seed", "7"}. Later flags override earlier ones, and
/// flags override the file.
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
  bool wins = false;  ///< set by the program itself: replaces a flag of the command line for the same key
};

/// Columns of numbers that a program passes beside a spec; the spec names them: sweep.flow = { array = "flow" }.
using given_arrays = std::map<std::string, std::vector<double>>;

/// A spec that is well-formed TOML and names its model; nothing else is checked yet.
struct spec_document {
  std::filesystem::path file;  ///< empty: no file, a model named on the command line
  std::string text;            ///< of the file
  std::vector<flag> flags;
  std::string model;                   ///< as written
  std::filesystem::path model_header;  ///< if `model` is a path (has a '/' or ends in .hpp): the path, else empty
  std::string model_location;          ///< "valve.toml:1:10: model = \"valve\"", the beginning of a message about it
  given_arrays arrays = {};
  std::filesystem::path folder = {};  ///< start of relative paths in the text; empty: the folder of `file`
};

}  // namespace saltus::host
