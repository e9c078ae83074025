// A model to begin with.
#pragma once

#include <filesystem>
#include <string>

namespace saltus::host {

/// Writes a commented model, which compiles and runs, into `name`.hpp, or into a path that ends with .hpp, and returns the path.
/// Throws `error`: exit_usage if the file is there already, or its name is none that a struct may have.
std::filesystem::path write_skeleton(const std::string& name);

}  // namespace saltus::host
