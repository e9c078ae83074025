// Whole files, read and written.
#pragma once

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "error.hpp"

namespace saltus::host {

/// The content of a file; throws `error` (failure) if it cannot be read.
inline std::string read_file(const std::filesystem::path& file) {
  std::ifstream     in(file, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  if (!in) throw error(exit_failure, fmt::format("{}: cannot be read", file.string()));
  return text.str();
}

/// Makes `text` the content of a file; throws `error` (failure) if it cannot be written, as on a full disk.
inline void write_file(const std::filesystem::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw error(exit_failure, fmt::format("{}: cannot be written: {}", file.string(), std::strerror(errno)));
}

}  // namespace saltus::host
