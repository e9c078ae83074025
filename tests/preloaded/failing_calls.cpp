// Preloaded library that makes one system call of a program fail, cuts it short, or kills the program there.
//
// $FAULT_CALL names the function, $FAULT_AT its call (from 1; 0: none), $FAULT_HOW the fault: `fails` with $FAULT_ERRNO, `is_cut`
// (half of the bytes are written, and the next call fails), `kills` (before the call is done), `lasts` (the call and all later ones
// fail). Each failing call of the function `clock` tells another time of day. $FAULT_COUNT names a file that counts the calls: each
// call appends a byte.
//
// $FAULT_WAYS serves functions with many more calls than can be tried one by one: it names a file with each way in which the function is
// called, an eight-byte hash of the chain of callers; $FAULT_WAY selects the way whose first call fails.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {

enum class outcome { done, fails, cut };

// Read once, before the program has threads: malloc is among the functions and must not read the environment each time.
struct order {
  const char *call = nullptr, *how = "fails";
  long at = 0;
  int error = EIO, counting = -1;
  std::atomic<long> count{0};
  int ways = -1;               ///< their file
  unsigned long long way = 0;  ///< the way that fails
  std::atomic<bool> has_failed{false};
};
order the_order;
std::atomic<bool> is_ready{false};

__attribute__((constructor)) void read_order() {
  const char* at = std::getenv("FAULT_AT");
  const char* error = std::getenv("FAULT_ERRNO");
  const char* count = std::getenv("FAULT_COUNT");
  the_order.call = std::getenv("FAULT_CALL");
  if (const char* how = std::getenv("FAULT_HOW")) the_order.how = how;
  the_order.at = at ? std::atol(at) : 0;
  the_order.error = error ? std::atoi(error) : EIO;
  if (count) the_order.counting = ::open(count, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (const char* ways = std::getenv("FAULT_WAYS"))
    the_order.ways = ::open(ways, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (const char* way = std::getenv("FAULT_WAY")) the_order.way = std::strtoull(way, nullptr, 10);
  // Programs that this program starts, compilers among them, work undisturbed.
  ::unsetenv("LD_PRELOAD");
  is_ready = the_order.call != nullptr;
}

template <class Function>
Function real(const char* name) {
  void* const found = ::dlsym(RTLD_NEXT, name);
  Function function;
  std::memcpy(&function, &found, sizeof function);
  return function;
}

/// A hash of the nearest callers by their offsets in their files, which are the same in every process.
unsigned long long way_here() {
  struct trace {
    unsigned long long hash = 14695981039346656037ull;
    int left = 4;
  } seen;
  const auto add = [](_Unwind_Context* context, void* to) {
    auto& all = *static_cast<trace*>(to);
    const auto place = reinterpret_cast<void*>(_Unwind_GetIP(context));
    dl_find_object file{};
    const bool is_known = ::_dl_find_object(place, &file) == 0;
    const auto offset = static_cast<char*>(place) - static_cast<char*>(is_known ? file.dlfo_map_start : place);
    all.hash = (all.hash ^ static_cast<unsigned long long>(offset)) * 1099511628211ull;
    return --all.left > 0 ? _URC_NO_REASON : _URC_END_OF_STACK;
  };
  ::_Unwind_Backtrace(add, &seen);
  return seen.hash;
}

/// True if the hash is new; the table allocates no memory.
bool is_new(unsigned long long hash) {
  constexpr std::size_t size = 1 << 16;
  static std::atomic<unsigned long long> known[size];
  for (std::size_t i = hash % size;; i = (i + 1) % size) {
    unsigned long long there = 0;
    if (known[i].compare_exchange_strong(there, hash)) return true;
    if (there == hash) return false;
  }
}

outcome next_way() {
  static thread_local bool is_inside __attribute__((tls_model("initial-exec"))) = false;
  if (is_inside) return outcome::done;  // looking for callers may allocate memory
  is_inside = true;
  const auto way = way_here();
  is_inside = false;
  if (the_order.way == 0 && is_new(way) && ::syscall(SYS_write, the_order.ways, &way, sizeof way) != sizeof way)
    std::abort();
  if (way != the_order.way || the_order.has_failed.exchange(true)) return outcome::done;
  errno = the_order.error;
  return outcome::fails;
}

outcome next(const char* call) {
  if (!is_ready || std::strcmp(call, the_order.call) != 0) return outcome::done;
  if (the_order.ways >= 0) return next_way();
  const long n = ++the_order.count;
  if (the_order.counting >= 0 && ::syscall(SYS_write, the_order.counting, "x", 1) != 1) std::abort();
  const bool lasts = std::strcmp(the_order.how, "lasts") == 0, cuts = std::strcmp(the_order.how, "is_cut") == 0;
  if (the_order.at == 0 || n < the_order.at || (n > the_order.at + (cuts ? 1 : 0) && !lasts)) return outcome::done;
  if (std::strcmp(the_order.how, "kills") == 0) ::raise(SIGKILL);
  errno = the_order.error;
  return cuts && n == the_order.at ? outcome::cut : outcome::fails;
}

/// Half of the bytes, but at least one.
size_t part_of(size_t bytes, outcome what) { return what == outcome::cut && bytes > 1 ? bytes / 2 : bytes; }

time_t jump() {
  constexpr time_t months = 10'000'000;
  if (next("clock") == outcome::done) return 0;
  return the_order.count % 2 == 0 ? months : -months;
}

}  // namespace

#define REAL(name) static const auto call = real<decltype(&::name)>(#name)

extern "C" {

ssize_t write(int file, const void* bytes, size_t size) {
  REAL(write);
  const outcome what = file > 2 ? next("write") : outcome::done;
  return what == outcome::fails ? -1 : call(file, bytes, part_of(size, what));
}
ssize_t pwrite(int file, const void* bytes, size_t size, off_t at) {
  REAL(pwrite);
  const outcome what = next("pwrite");
  return what == outcome::fails ? -1 : call(file, bytes, part_of(size, what), at);
}
ssize_t pwrite64(int file, const void* bytes, size_t size, off64_t at) {
  REAL(pwrite64);
  const outcome what = next("pwrite");
  return what == outcome::fails ? -1 : call(file, bytes, part_of(size, what), at);
}
ssize_t pread(int file, void* bytes, size_t size, off_t at) {
  REAL(pread);
  const outcome what = next("pread");
  return what == outcome::fails ? -1 : call(file, bytes, part_of(size, what), at);
}
ssize_t pread64(int file, void* bytes, size_t size, off64_t at) {
  REAL(pread64);
  const outcome what = next("pread");
  return what == outcome::fails ? -1 : call(file, bytes, part_of(size, what), at);
}
int fsync(int file) {
  REAL(fsync);
  return next("fsync") == outcome::done ? call(file) : -1;
}
int fdatasync(int file) {
  REAL(fdatasync);
  return next("fdatasync") == outcome::done ? call(file) : -1;
}
int ftruncate(int file, off_t size) {
  REAL(ftruncate);
  return next("ftruncate") == outcome::done ? call(file, size) : -1;
}
int ftruncate64(int file, off64_t size) {
  REAL(ftruncate64);
  return next("ftruncate") == outcome::done ? call(file, size) : -1;
}
int posix_fallocate(int file, off_t at, off_t size) {
  REAL(posix_fallocate);
  return next("fallocate") == outcome::done ? call(file, at, size) : errno;
}
int posix_fallocate64(int file, off64_t at, off64_t size) {
  REAL(posix_fallocate64);
  return next("fallocate") == outcome::done ? call(file, at, size) : errno;
}
int fallocate(int file, int mode, off_t at, off_t size) {
  REAL(fallocate);
  return next("fallocate") == outcome::done ? call(file, mode, at, size) : -1;
}
int rename(const char* from, const char* to) {
  REAL(rename);
  return next("rename") == outcome::done ? call(from, to) : -1;
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  REAL(renameat2);
  return next("rename") == outcome::done ? call(from_folder, from, to_folder, to, flags) : -1;
}
int link(const char* from, const char* to) {
  REAL(link);
  return next("link") == outcome::done ? call(from, to) : -1;
}
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  REAL(linkat);
  return next("link") == outcome::done ? call(from_folder, from, to_folder, to, flags) : -1;
}
int unlink(const char* file) {
  REAL(unlink);
  return next("unlink") == outcome::done ? call(file) : -1;
}
int unlinkat(int folder, const char* file, int flags) {
  REAL(unlinkat);
  return next("unlink") == outcome::done ? call(folder, file, flags) : -1;
}
int mkdir(const char* folder, mode_t mode) {
  REAL(mkdir);
  return next("mkdir") == outcome::done ? call(folder, mode) : -1;
}
int remove(const char* file) {
  REAL(remove);
  return next("unlink") == outcome::done ? call(file) : -1;
}
/// Jumps back and forth by months; monotonic clocks are unchanged.
int clock_gettime(clockid_t clock, timespec* now) {
  REAL(clock_gettime);
  const int failed = call(clock, now);
  if (failed == 0 && clock == CLOCK_REALTIME) now->tv_sec += jump();
  return failed;
}
time_t time(time_t* now) {
  timespec exact{};
  clock_gettime(CLOCK_REALTIME, &exact);
  if (now) *now = exact.tv_sec;
  return exact.tv_sec;
}
int pthread_create(pthread_t* thread, const pthread_attr_t* how, void* (*begin)(void*), void* with) {
  REAL(pthread_create);
  return next("pthread_create") == outcome::done ? call(thread, how, begin, with) : EAGAIN;
}
void* mmap(void* at, size_t size, int protection, int flags, int file, off_t offset) {
  REAL(mmap);
  return next("mmap") == outcome::done ? call(at, size, protection, flags, file, offset) : MAP_FAILED;
}
void* mmap64(void* at, size_t size, int protection, int flags, int file, off64_t offset) {
  REAL(mmap64);
  return next("mmap") == outcome::done ? call(at, size, protection, flags, file, offset) : MAP_FAILED;
}
/// dlsym, which finds the other functions, may call malloc; glibc therefore offers this second name.
void* __libc_malloc(size_t size);
void* malloc(size_t size) { return next("malloc") == outcome::done ? __libc_malloc(size) : nullptr; }

}  // extern "C"
