// Preloaded library that records, in order, the calls by which a program changes files beneath the current folder, so that a test can
// reconstruct the possible states after a power failure (recording.hpp). $RECORDING names the record.
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "recording.hpp"

namespace {

int to = -1;
std::string here;
std::recursive_mutex one_at_a_time;

__attribute__((constructor)) void begin() {
  if (const char* name = std::getenv("RECORDING"))
    to = static_cast<int>(::syscall(SYS_open, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  char folder[4096] = "";
  if (::getcwd(folder, sizeof folder) != nullptr) here = std::string(folder) + "/";
  ::unsetenv("LD_PRELOAD");
}

template <class Function>
Function real(const char* name) {
  void* const found = ::dlsym(RTLD_NEXT, name);
  Function function;
  std::memcpy(&function, &found, sizeof function);
  return function;
}

/// The path relative to the current folder; empty if it is elsewhere.
std::string beneath(const char* path) {
  std::string text = path;
  if (text.starts_with(here)) return text.substr(here.size());
  return text.starts_with("/") || text == "." ? std::string() : text;
}
std::string path_of(int file) {
  char path[4096];
  const std::string link = "/proc/self/fd/" + std::to_string(file);
  const ssize_t n = ::readlink(link.c_str(), path, sizeof path - 1);
  path[n > 0 ? n : 0] = '\0';
  return path;
}

void note(char what, unsigned long long inode, long long at, const std::string& name, const std::string& other,
          const void* bytes = nullptr, std::size_t size = 0) {
  const recorded_call call{what, inode, at, name.size(), other.size(), size};
  std::string all(reinterpret_cast<const char*>(&call), sizeof call);
  all += name + other;
  if (bytes != nullptr) all.append(static_cast<const char*>(bytes), size);
  if (::syscall(SYS_write, to, all.data(), all.size()) != static_cast<long>(all.size())) std::abort();
}

/// Records a call on a file that has or had a name beneath the current folder.
void note_file(char what, int file, long long at, const void* bytes = nullptr, std::size_t size = 0) {
  struct stat about {};
  if (to < 0 || ::fstat(file, &about) != 0 || (!S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode))) return;
  if (!path_of(file).starts_with(here) && path_of(file) + "/" != here) return;
  note(S_ISDIR(about.st_mode) ? 'D' : what, about.st_ino, at,
       S_ISDIR(about.st_mode) ? (path_of(file) + "/" == here ? "" : path_of(file).substr(here.size())) : "", "", bytes,
       size);
}
void note_names(char what, const char* name, const char* other = "") {
  if (to >= 0 && !beneath(name).empty()) note(what, 0, 0, beneath(name), beneath(other));
}
void note_made(int file, const char* name, int flags) {
  struct stat about {};
  if (to < 0 || file < 0 || (flags & O_CREAT) == 0 || beneath(name).empty() || ::fstat(file, &about) != 0) return;
  note('c', about.st_ino, 0, beneath(name), "");
  if (flags & O_TRUNC) note('t', about.st_ino, 0, "", "");
}

}  // namespace

#define REAL(name) static const auto call = real<decltype(&::name)>(#name)
#define ALONE const std::lock_guard alone(one_at_a_time)

#define OPENS(open)                                                                                      \
  int open(const char* name, int flags, ...) {                                                           \
    REAL(open);                                                                                          \
    va_list rest;                                                                                        \
    va_start(rest, flags);                                                                               \
    const int mode = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(rest, int) : 0; \
    va_end(rest);                                                                                        \
    ALONE;                                                                                               \
    const int file = call(name, flags, mode);                                                            \
    note_made(file, name, flags);                                                                        \
    return file;                                                                                         \
  }
#define WRITES_AT(pwrite, offset)                                       \
  ssize_t pwrite(int file, const void* bytes, size_t size, offset at) { \
    REAL(pwrite);                                                       \
    ALONE;                                                              \
    const ssize_t n = call(file, bytes, size, at);                      \
    if (n > 0) note_file('w', file, at, bytes, static_cast<size_t>(n)); \
    return n;                                                           \
  }
/// A function that returns 0 where it has changed something, and how that is noted.
#define CHANGES(declaration, name, arguments, noted) \
  declaration {                                      \
    REAL(name);                                      \
    ALONE;                                           \
    const int r = call arguments;                    \
    if (r == 0) noted;                               \
    return r;                                        \
  }

extern "C" {

OPENS(open)
OPENS(open64)
ssize_t write(int file, const void* bytes, size_t size) {
  REAL(write);
  ALONE;
  const off_t at = file > 2 ? ::lseek(file, 0, SEEK_CUR) : 0;
  const ssize_t n = call(file, bytes, size);
  if (n > 0 && file > 2) note_file('w', file, at, bytes, static_cast<size_t>(n));
  return n;
}
WRITES_AT(pwrite, off_t)
WRITES_AT(pwrite64, off64_t)
CHANGES(int ftruncate(int file, off_t size) noexcept, ftruncate, (file, size), note_file('t', file, size))
CHANGES(int ftruncate64(int file, off64_t size) noexcept, ftruncate64, (file, size), note_file('t', file, size))
CHANGES(int fsync(int file), fsync, (file), note_file('s', file, 0))
CHANGES(int fdatasync(int file), fdatasync, (file), note_file('s', file, 0))
CHANGES(int rename(const char* from, const char* name) noexcept, rename, (from, name), note_names('r', from, name))
CHANGES(int renameat2(int a, const char* from, int b, const char* name, unsigned flags) noexcept, renameat2,
        (a, from, b, name, flags), note_names('r', from, name))
CHANGES(int link(const char* from, const char* name) noexcept, link, (from, name), note_names('l', from, name))
CHANGES(int unlink(const char* name) noexcept, unlink, (name), note_names('u', name))
int unlinkat(int folder, const char* name, int flags) noexcept {
  REAL(unlinkat);
  ALONE;
  const std::string whole = path_of(folder) + "/" + name;
  const int r = call(folder, name, flags);
  if (r == 0) note_names('u', whole.c_str());
  return r;
}
CHANGES(int remove(const char* name) noexcept, remove, (name), note_names('u', name))
CHANGES(int mkdir(const char* name, mode_t mode) noexcept, mkdir, (name, mode), note_names('m', name))
CHANGES(int rmdir(const char* name) noexcept, rmdir, (name), note_names('u', name))
}
