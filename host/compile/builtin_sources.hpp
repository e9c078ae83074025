// The data that CMake generates from the files in problems/.
#pragma once

#include <span>
#include <string_view>

#include "abi/module.hpp"

namespace saltus::host {

struct builtin_source {
  std::string_view file;                            ///< in problems/: "lorenz.hpp", "parts/marble_jar.hpp"
  std::string_view text;                            ///< its content
  const abi::description* (*describe)() = nullptr;  ///< describes the model in it; null: the file is a part of models
};
extern const std::span<const builtin_source> builtin_sources;

}  // namespace saltus::host
