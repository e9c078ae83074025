// Reads and writes whole files.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/error.hpp"

namespace saltus::host {

/// Why a file cannot be read: it is a folder, a pipe or a device; empty: no reason. Opening a pipe would block until
/// its other end is opened.
inline std::string not_a_file(const std::filesystem::path& file) {
  std::error_code failure;
  const auto what = std::filesystem::status(file, failure);
  if (std::filesystem::is_directory(what)) return "is a folder";
  if (std::filesystem::is_fifo(what)) return "is a pipe: write it to a file";
  if (std::filesystem::exists(what) && !std::filesystem::is_regular_file(what)) return "is not a regular file";
  return {};
}

/// The folder that contains the file.
inline std::filesystem::path folder_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

/// Bytes that the user may still write into the folder of a file; -1: not known.
inline std::int64_t free_bytes(const std::filesystem::path& file) {
  struct statvfs disk {};
  if (::statvfs(folder_of(file).c_str(), &disk) != 0) return -1;
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(disk.f_bavail, disk.f_frsize, &bytes)) bytes = std::numeric_limits<std::int64_t>::max();
  return bytes;
}

/// Waits until a file, or the names in a folder, are on the disk. Some file systems cannot do so for a folder, and need
/// not.
inline void put_on_disk(const std::filesystem::path& what) {
  if (const int f = ::open(what.c_str(), O_RDONLY | O_CLOEXEC); f >= 0) {
    ::fsync(f);
    ::close(f);
  }
}

/// The content of a file; throws `error` (failure) if it cannot be read.
inline std::string read_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  if (!in) throw error(exit_failure, fmt::format("{}: cannot be read", file.string()));
  return text.str();
}

/// Makes `text` the content of a file; throws `error` (failure) if it cannot be written, for example on a full disk.
inline void write_file(const std::filesystem::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw error(exit_failure, fmt::format("{}: cannot be written: {}", file.string(), std::strerror(errno)));
}

/// Writes all bytes to an open file; returns false and sets errno if that fails.
inline bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(file, bytes.data(), bytes.size());
    if (n > 0) bytes.remove_prefix(static_cast<std::size_t>(n));
    else if (n == 0 || errno != EINTR) return false;
  }
  return true;
}

/// The content of a regular file of at most `longest` bytes; nothing if the file is anything else (a symbolic link, for
/// example), is longer, or cannot be read. Never blocks, as opening a pipe would.
inline std::optional<std::string> read_plain_file(const std::filesystem::path& file, std::size_t longest) {
  const int f = ::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (f < 0) return {};
  struct stat about {};
  std::optional<std::string> text;
  if (::fstat(f, &about) == 0 && S_ISREG(about.st_mode) && static_cast<std::uint64_t>(about.st_size) <= longest) {
    text.emplace(static_cast<std::size_t>(about.st_size), '\0');
    for (std::size_t at = 0; text && at < text->size();) {
      const ssize_t n = ::pread(f, text->data() + at, text->size() - at, static_cast<off_t>(at));
      if (n > 0) at += static_cast<std::size_t>(n);
      else if (n == 0 || errno != EINTR) text.reset();
    }
  }
  ::close(f);
  return text;
}

/// Renames a file to a name that must be free; returns false and sets errno if it fails.
inline bool rename_to_free_name(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  return ::link(from.c_str(), to.c_str()) == 0 && ::unlink(from.c_str()) == 0;  // NFS and others lack RENAME_NOREPLACE
}

/// 16 random hex digits that nobody can predict.
inline std::string unforeseeable_name() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

/// Must a file survive a power failure once it has its name?
enum class lasting { no, yes };

/// Writes `text` to a new file, <file>.<random>. The caller renames it to <file>, which is therefore complete as soon
/// as it exists. The call never follows a link or writes to a file that is there already.
inline std::filesystem::path write_beside(const std::filesystem::path& file, const std::string& text,
                                          lasting how = lasting::no) {
  const std::filesystem::path fresh = file.string() + "." + unforeseeable_name();
  const int f = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  const bool written = f >= 0 && write_all(f, text) && (how == lasting::no || ::fsync(f) == 0);
  int why = errno;
  if (f >= 0 && ::close(f) != 0 && written) why = errno;
  else if (written) return fresh;
  if (f >= 0) ::unlink(fresh.c_str());
  throw error(exit_failure, fmt::format("{}: cannot be written: {}", file.string(), std::strerror(why)));
}

/// write_file, but the file appears under its name only when it is complete.
inline void write_at_once(const std::filesystem::path& file, const std::string& text, lasting how = lasting::no) {
  const auto fresh = write_beside(file, text, how);
  if (std::rename(fresh.c_str(), file.c_str()) != 0) {
    const int why = errno;
    ::unlink(fresh.c_str());
    throw error(exit_failure, fmt::format("{}: cannot be written: {}", file.string(), std::strerror(why)));
  }
  if (how == lasting::yes) put_on_disk(folder_of(file));
}

/// write_at_once, if no file has that name; returns false if one does.
inline bool write_where_free(const std::filesystem::path& file, const std::string& text, lasting how = lasting::no) {
  const auto fresh = write_beside(file, text, how);
  if (rename_to_free_name(fresh, file)) {
    if (how == lasting::yes) put_on_disk(folder_of(file));
    return true;
  }
  const int why = errno;
  ::unlink(fresh.c_str());
  if (why == EEXIST) return false;
  throw error(exit_failure, fmt::format("{}: cannot be written: {}", file.string(), std::strerror(why)));
}

}  // namespace saltus::host
