// The built-in models as they were when saltus was built: their descriptions need no compiler. A built-in whose file
// has changed since is described from the file.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "abi/module.hpp"

namespace saltus::host {

/// A model and the files of its source.
struct builtin_model {
  const abi::description* about;
  std::vector<std::filesystem::path> files;
};

/// The built-in model of this header; none if it is no built-in, or if one of its files has changed.
std::optional<builtin_model> builtin_model_in(const std::filesystem::path& header);

}  // namespace saltus::host
