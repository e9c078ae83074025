#include "result/store_folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/files.hpp"
#include "result/format.hpp"

namespace saltus::host {
namespace fs = std::filesystem;

namespace {

constexpr const char* lock_name = ".lock";

std::string reason(int system_error) { return std::strerror(system_error); }

/// May a folder be taken over? It may if it is empty, or contains a lock or a store that saltus has begun.
bool may_be_taken(const fs::path& store, const fs::path& part) {
  std::error_code failure;
  if (fs::exists(part / lock_name, failure) || format_of(store).is_result(part)) return true;
  return fs::is_empty(part, failure) && !failure;
}

/// Renames a folder to a name that must be free; returns false and sets errno on failure.
bool rename_folder(const fs::path& from, const fs::path& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  std::error_code ignored;  // NFS and others lack RENAME_NOREPLACE
  if (fs::exists(fs::symlink_status(to, ignored))) return errno = EEXIST, false;
  return std::rename(from.c_str(), to.c_str()) == 0;
}

/// Gives a folder the name of another one, and removes the latter.
bool replace_folder(const fs::path& from, const fs::path& to) {
  std::error_code ignored;
  if (!fs::exists(to, ignored)) return rename_folder(from, to);
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) {
    fs::remove_all(from, ignored);
    return true;
  }
  if (errno != EINVAL && errno != ENOSYS) return false;
  const fs::path away = fmt::format("{}.old.{}", from.string(), ::getpid());
  if (std::rename(to.c_str(), away.c_str()) != 0) return false;
  if (std::rename(from.c_str(), to.c_str()) != 0) {
    const int why = errno;
    if (std::rename(away.c_str(), to.c_str()) != 0) {}  // the old folder keeps the other name
    return errno = why, false;
  }
  fs::remove_all(away, ignored);
  return true;
}

bool write_whole(const fs::path& file, std::string_view bytes) {
  const auto make = [&] { return ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666); };
  int f = make();
  if (f < 0 && errno == EEXIST && ::unlink(file.c_str()) == 0) f = make();  // left by a dead run, or a link
  if (f < 0) return false;
  if (write_all(f, bytes)) return ::close(f) == 0;
  const int why = errno;
  ::close(f);
  return errno = why, false;
}

}  // namespace

store_folder::store_folder(const fs::path& store, abandoned older) : store_folder(store, older, use::alone, "part") {}

std::unique_ptr<store_folder> store_folder::joined(const fs::path& store, const std::string& name) {
  return std::unique_ptr<store_folder>(new store_folder(store, abandoned::set_aside, use::joined, name));
}

std::unique_ptr<store_folder> store_folder::left_by_all(const fs::path& store) {
  return std::unique_ptr<store_folder>(new store_folder(store, abandoned::set_aside, use::left_by_all, "part"));
}

store_folder::store_folder(const fs::path& store, abandoned older, use how, const std::string& name)
    : store_(store), part_(store.string() + ".part"), older_(older), use_(how), fresh_("." + name) {
  // Another process may create or remove the folder between any two of these steps: then all steps are repeated.
  constexpr int attempts = 100;
  for (int i = 0; i < attempts && lock_ < 0; ++i) make();
  if (lock_ < 0) throw error(exit_failure, fmt::format("cannot write {}: others make and remove it", part_.string()));
}

store_folder::~store_folder() {
  if (lock_ >= 0) ::close(lock_);
}

void store_folder::fail(const std::string& why) const {
  throw error(exit_failure, fmt::format("cannot write {}: {}", store_.string(), why));
}

void store_folder::make() {
  if (use_ == use::left_by_all) {
    open_lock();
    if (lock_ < 0 && ::access(part_.c_str(), F_OK) != 0)
      throw store_is_taken(exit_failure, fmt::format("{} is not there", part_.string()));
    return;
  }
  const bool is_new = ::mkdir(part_.c_str(), 0777) == 0;
  if (!is_new && errno != EEXIST) fail(reason(errno));
  std::error_code ignored;
  if (!is_new && !fs::is_directory(fs::symlink_status(part_, ignored))) {
    if (!fs::exists(fs::symlink_status(part_, ignored))) return;
    fail(fmt::format("{} exists and is not a folder: remove it", part_.string()));
  }
  if (!is_new && !may_be_taken(store_, part_)) {
    if (!fs::exists(part_, ignored)) return;
    fail(fmt::format("{} exists and is not a store that saltus has begun: remove it", part_.string()));
  }
  open_lock();
  if (lock_ >= 0 && !is_new && use_ == use::alone) make_room();
}

/// The system drops the lock when the process ends, however that happens.
void store_folder::open_lock() {
  const fs::path name = part_ / lock_name;
  const int create = use_ == use::left_by_all ? 0 : O_CREAT;  // the run that completes the store renames its folder
  lock_ = ::open(name.c_str(), O_RDWR | create | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (lock_ < 0) {
    if (errno == ENOENT) return;
    fail(reason(errno));
  }
  struct flock whole {};
  whole.l_type = use_ == use::joined ? F_RDLCK : F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (::fcntl(lock_, F_OFD_SETLK, &whole) != 0) {
    const bool is_locked = errno == EAGAIN || errno == EACCES;
    ::close(std::exchange(lock_, -1));
    if (is_locked && use_ == use::left_by_all)
      throw store_is_taken(exit_failure, fmt::format("another run is writing {}", part_.string()));
    if (is_locked) fail(fmt::format("another run is writing {}: wait for it, or give another name", part_.string()));
    fail(fmt::format("this file system has no locks, by which runs keep off {}: {}", part_.string(), reason(errno)));
  }
  if (!is_mine()) ::close(std::exchange(lock_, -1));
}

/// Does the path still lead to the open file?
bool store_folder::is_mine() const {
  struct stat named {
  }, open{};
  return ::lstat((part_ / lock_name).c_str(), &named) == 0 && ::fstat(lock_, &open) == 0 &&
         named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

/// Renames a folder with finished instances of a dead run to the first free name; otherwise empties it.
void store_folder::make_room() {
  std::error_code failure;
  if (older_ == abandoned::set_aside && format_of(store_).has_ended_instances(part_)) {
    for (int n = 1; set_aside_.empty(); ++n) {
      const fs::path name = fmt::format("{}.{}", part_.string(), n);
      if (rename_folder(part_, name)) set_aside_ = name;
      else if (errno != EEXIST) fail(fmt::format("{} cannot be renamed: {}", part_.string(), reason(errno)));
    }
    fs::remove(set_aside_ / lock_name, failure);
    ::close(std::exchange(lock_, -1));
    return;
  }
  for (const auto& entry : fs::directory_iterator(part_, failure))
    if (entry.path().filename() != lock_name && !failure) fs::remove_all(entry.path(), failure);
  if (failure) fail(fmt::format("{} cannot be emptied: {}", part_.string(), failure.message()));
}

void store_folder::make_folder(const std::string& name) const {
  std::error_code failure;
  fs::create_directories(part_ / name, failure);
  if (failure) fail(failure.message());
}

void store_folder::put(const std::string& name, std::string_view bytes) const {
  const fs::path file = part_ / name, fresh = part_ / (name + fresh_);
  if (write_whole(fresh, bytes) && std::rename(fresh.c_str(), file.c_str()) == 0) return;
  const int why = errno;
  ::unlink(fresh.c_str());
  fail(reason(why));
}

bool store_folder::has(const std::string& name) const {
  std::error_code ignored;
  return fs::exists(part_ / name, ignored);
}

void store_folder::drop(const std::string& name) const {
  std::error_code ignored;
  fs::remove_all(part_ / name, ignored);
}

std::string store_folder::get(const std::string& name) const { return read_file(part_ / name); }

void store_folder::settle() const {
  const int folder = ::open(part_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool settled = folder >= 0 && ::syncfs(folder) == 0;
  const int why = errno;
  if (folder >= 0) ::close(folder);
  if (!settled) fail(reason(why));
}

void store_folder::publish(existing older) {
  settle();
  if (!(older == existing::replaced ? replace_folder(part_, store_) : rename_folder(part_, store_)))
    fail(fmt::format("{}; the results are in {}", errno == EEXIST ? "it has come into being meanwhile" : reason(errno),
                     part_.string()));
  ::unlink((store_ / lock_name).c_str());
  put_on_disk(folder_of(store_));
}

void store_folder::remove() {
  if (!is_mine()) return;
  std::error_code ignored;
  fs::remove_all(part_, ignored);
}

}  // namespace saltus::host
