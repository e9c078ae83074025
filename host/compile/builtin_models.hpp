// The built-in models as they were when saltus was built: described without a compiler. Whoever has changed one since gets
// what is in its file.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "abi/module.hpp"

namespace saltus::host {

/// A model and the files that it is written in.
struct builtin_model {
  const abi::description* about;
  std::vector<std::filesystem::path> files;
};

/// The built-in model of this header; none if it is no built-in, or if a file of it is no longer what it was.
std::optional<builtin_model> builtin_model_in(const std::filesystem::path& header);

}  // namespace saltus::host
