// A model to begin with.
#pragma once

#include <filesystem>
#include <string>

namespace saltus::host {

/// Writes a commented model, which compiles and runs, into `name`.hpp, or into a path that ends with .hpp, and returns
/// the path. Throws `error`: exit_usage if the file exists, or its name cannot be that of a struct.
std::filesystem::path write_skeleton(const std::string& name);

}  // namespace saltus::host
