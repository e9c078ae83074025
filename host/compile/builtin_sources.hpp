// What CMake makes of the files in problems/.
#pragma once

#include <span>
#include <string_view>

#include "abi/module.hpp"

namespace saltus::host {

struct builtin_source {
  std::string_view file;                            ///< in problems/: "lorenz.hpp", "parts/marble_jar.hpp"
  std::string_view text;                            ///< its content
  const abi::description* (*describe)() = nullptr;  ///< of the model in it; null: a part of models
};
extern const std::span<const builtin_source> builtin_sources;

}  // namespace saltus::host
