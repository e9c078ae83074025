// A file without a name, for data that exceed memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace saltus::host {

/// The system removes the file when it is closed. Not thread-safe.
class temporary_file {
 public:
  /// Creates the file in a folder; an empty name is that of the system's folder for such files.
  explicit temporary_file(const std::filesystem::path& folder = {});
  ~temporary_file();
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;

  std::int64_t size() const { return size_; }
  /// Adds bytes at the end. Returns false if there is no file or it cannot be written; the size then stays as it was.
  bool add(std::string_view bytes);
  /// Reads bytes that were added. Throws `error` (exit_failure) if that fails.
  void read(std::int64_t begin, void* to, std::size_t bytes) const;
  /// Maps all bytes into memory, for reading only, until this object ends; the system may drop pages and read them again. Null:
  /// that is not possible.
  const void* map();

 private:
  int file_ = -1;
  std::int64_t size_ = 0;
  void* mapped_ = nullptr;
};

}  // namespace saltus::host
