#include "result/part_file.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/files.hpp"

namespace saltus::host {
namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const fs::path& file, const std::string& why) {
  throw error(exit_failure, fmt::format("cannot write {}: {}", file.string(), why));
}

std::string reason(int system_error) { return std::strerror(system_error); }

}  // namespace

part_file::part_file(const fs::path& result, abandoned older)
    : result_(result), part_(result.string() + ".part"), older_(older) {
  // Another process may create or remove the file between any two of these steps: then all steps are repeated.
  constexpr int attempts = 100;
  for (int i = 0; i < attempts && file_ < 0; ++i) {
    make();
    if (file_ < 0) take_over();
  }
  if (file_ < 0) fail(part_, "others make and remove it all the time");
}

part_file::~part_file() {
  if (file_ >= 0) ::close(file_);
}

fs::path part_file::own_name() const { return fmt::format("/proc/self/fd/{}", file_); }

/// Creates the file if there is none.
void part_file::make() {
  file_ = ::open(part_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file_ < 0) {
    if (errno != EEXIST) fail(part_, reason(errno));
    return;
  }
  // Another run may have found the file before it was locked, and taken it for abandoned.
  if (lock() == locking::another_has_it || !is_mine()) ::close(std::exchange(file_, -1));
}

/// Moves or removes the file of a dead run; a live run's file, or a foreign one, is not touched.
void part_file::take_over() {
  const int there = ::open(part_.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (there < 0) {
    if (errno == ENOENT) return;
    fail(part_, errno == ELOOP ? "it is a symbolic link, which is not followed: remove it" : reason(errno));
  }
  file_ = there;
  struct stat about {};
  const bool regular = ::fstat(file_, &about) == 0 && S_ISREG(about.st_mode);
  const auto locked = regular ? lock() : locking::not_possible;
  if (locked == locking::held && is_mine()) make_room();
  ::close(std::exchange(file_, -1));
  if (!regular) fail(part_, "it exists and is not a regular file: remove it");
  if (locked == locking::another_has_it)
    fail(result_, fmt::format("another run is writing {}: wait for it, or give another name", part_.string()));
  if (locked == locking::not_possible)
    fail(part_, "it exists, and this file system cannot tell whether a run is writing it: remove it if none is");
}

/// Renames a file with finished instances of a dead run to the first free name; removes one without.
void part_file::make_room() {
  if (older_ == abandoned::removed || !format_of(result_).has_ended_instances(part_)) {
    ::unlink(part_.c_str());
    return;
  }
  for (int n = 1; set_aside_.empty(); ++n) {
    const fs::path name = fmt::format("{}.{}", part_.string(), n);
    if (rename_to_free_name(part_, name)) set_aside_ = name;
    else if (errno != EEXIST) fail(part_, fmt::format("cannot rename it to {}: {}", name.string(), reason(errno)));
  }
}

/// Locks the open file, not the process: threads and libraries that open and close the same file do not drop the lock.
part_file::locking part_file::lock() const {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (::fcntl(file_, F_OFD_SETLK, &whole) == 0) return locking::held;
  return errno == EAGAIN || errno == EACCES ? locking::another_has_it : locking::not_possible;
}

/// Does the path still lead to the open file?
bool part_file::is_mine() const {
  struct stat named {
  }, open{};
  return ::lstat(part_.c_str(), &named) == 0 && ::fstat(file_, &open) == 0 && named.st_dev == open.st_dev &&
         named.st_ino == open.st_ino;
}

void part_file::append(std::string_view text) {
  const off_t end = ::lseek(file_, 0, SEEK_END);
  if (write_all(file_, text)) return;
  const int why = errno;
  if (::ftruncate(file_, end) != 0) {}  // an incomplete line stays
  fail(result_, reason(why));
}

std::string part_file::reserve(std::int64_t bytes) {
  if (bytes <= reserved_) return {};
  rlimit allowed{};  // checked here, since some file systems ignore the limit while the size stays the same
  const bool limited = ::getrlimit(RLIMIT_FSIZE, &allowed) == 0 && allowed.rlim_cur != RLIM_INFINITY;
  // Reserves more than needed if there is space, so that not every chunk makes a call.
  constexpr std::int64_t ahead = std::int64_t{32} << 20;
  for (const std::int64_t more : {ahead, std::int64_t{0}}) {
    const std::int64_t end = bytes + more;
    errno = EFBIG;
    if (limited && static_cast<std::uint64_t>(end) > allowed.rlim_cur) continue;
    if (::fallocate(file_, FALLOC_FL_KEEP_SIZE, reserved_, end - reserved_) != 0) continue;
    reserved_ = end;
    return {};
  }
  if (errno != EOPNOTSUPP && errno != ENOSYS) return reason(errno);
  // The file system cannot reserve: compares with the free space.
  struct stat about {};
  if (::fstat(file_, &about) != 0) return reason(errno);
  const std::int64_t free = free_bytes(result_);
  return free >= 0 && bytes - 512 * std::int64_t{about.st_blocks} > free ? reason(ENOSPC) : std::string();
}

void part_file::settle() {
  struct stat about {};
  // Truncation to its own size releases the space reserved beyond it.
  if (::fstat(file_, &about) != 0 || ::ftruncate(file_, about.st_size) != 0 || ::fsync(file_) != 0)
    fail(result_, fmt::format("{}; the results are in {}", reason(errno), part_.string()));
  reserved_ = 0;
}

void part_file::publish(existing older) {
  settle();
  const bool renamed = older == existing::replaced ? std::rename(part_.c_str(), result_.c_str()) == 0
                                                   : rename_to_free_name(part_, result_);
  if (!renamed)
    fail(result_, fmt::format("{}; the results are in {}",
                              errno == EEXIST ? "it has come into being meanwhile" : reason(errno), part_.string()));
  put_on_disk(folder_of(result_));
}

void part_file::remove() {
  if (is_mine()) ::unlink(part_.c_str());
}

}  // namespace saltus::host
