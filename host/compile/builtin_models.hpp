// The built-in models as they were when saltus was built: their descriptions need no compiler. A built-in whose file
// has changed since is described from the file.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
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

/// The data that CMake generates from the files in problems/.
struct builtin_source {
  std::string_view file;                            ///< in problems/: "lorenz.hpp", "parts/marble_jar.hpp"
  std::string_view text;                            ///< its content
  const abi::description* (*describe)() = nullptr;  ///< describes the model in it; null: the file is a part of models
};
extern const std::span<const builtin_source> builtin_sources;

}  // namespace saltus::host
