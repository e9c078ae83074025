#include "base/temporary_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "base/error.hpp"

namespace saltus::host {
namespace fs = std::filesystem;

namespace {

/// Calls pread or pwrite until all bytes are done; returns the number that were done before an error or the end.
template <class Call, class Byte>
std::size_t repeat(Call call, int file, Byte* bytes, std::size_t size, std::int64_t begin) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t n = call(file, bytes + done, size - done, begin + static_cast<std::int64_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

}  // namespace

temporary_file::temporary_file(const fs::path& folder) {
  std::error_code failure;
  const fs::path where = folder.empty() ? fs::temp_directory_path(failure) : folder;
  if (failure) return;
  file_ = ::open(where.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file_ >= 0) return;
  std::string name = (where / "saltus.XXXXXX").string();  // for file systems without O_TMPFILE
  file_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (file_ >= 0) ::unlink(name.c_str());
}

temporary_file::~temporary_file() {
  if (mapped_ != nullptr) ::munmap(mapped_, static_cast<std::size_t>(size_));
  if (file_ >= 0) ::close(file_);
}

bool temporary_file::add(std::string_view bytes) {
  if (file_ < 0 || repeat(::pwrite, file_, bytes.data(), bytes.size(), size_) < bytes.size()) return false;
  size_ += std::ssize(bytes);
  return true;
}

void temporary_file::read(std::int64_t begin, void* to, std::size_t bytes) const {
  errno = 0;
  if (repeat(::pread, file_, static_cast<char*>(to), bytes, begin) < bytes)
    throw error(exit_failure, fmt::format("a temporary file cannot be read: {}",
                                          errno != 0 ? std::strerror(errno) : "it is too short"));
}

const void* temporary_file::map() {
  if (mapped_ != nullptr || file_ < 0 || size_ == 0) return mapped_;
  void* const there = ::mmap(nullptr, static_cast<std::size_t>(size_), PROT_READ, MAP_SHARED, file_, 0);
  return there == MAP_FAILED ? nullptr : mapped_ = there;
}

}  // namespace saltus::host
