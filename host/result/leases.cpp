#include "result/leases.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <random>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/files.hpp"
#include "result/format.hpp"
#include "result/part_file.hpp"
#include "result/provenance.hpp"
#include "statistics/statistics.hpp"

namespace saltus::host {
namespace fs = std::filesystem;

namespace {

constexpr const char* result_ticket = "result";
constexpr std::string_view alive = "alive.";  ///< prefix of the file in which a run counts

std::string new_name() {
  char host[65] = "";
  if (::gethostname(host, sizeof host - 1) != 0) {}
  std::string machine(host);
  for (char& c : machine)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '-';
  std::random_device random;
  return fmt::format("{}-{}-{:08x}", machine.substr(0, 32), ::getpid(), random());
}

/// The boot id of the machine; empty: unknown.
std::string name_of_boot() {
  try {
    const auto text = read_file("/proc/sys/kernel/random/boot_id");
    return text.substr(0, text.find('\n'));
  } catch (const error&) { return {}; }
}

/// Up to `size` bytes of a file; empty also if there is no file.
std::string beginning_of(int file, std::size_t size) {
  std::string text(size, '\0');
  const ssize_t n = file < 0 ? -1 : ::pread(file, text.data(), size, 0);
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return text;
}
constexpr std::size_t longest = 256;

struct opened_file {
  int file;
  explicit opened_file(const fs::path& path) : file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)) {}
  ~opened_file() {
    if (file >= 0) ::close(file);
  }
  opened_file(const opened_file&) = delete;
  opened_file& operator=(const opened_file&) = delete;
};

/// The number of a ticket from its file name; nothing if it is none.
std::optional<std::size_t> number_of(const std::string& name) {
  std::size_t number = 0;
  const auto [end, bad] = std::from_chars(name.data(), name.data() + name.size(), number);
  return bad == std::errc() && end == name.data() + name.size() ? std::optional(number) : std::nullopt;
}

/// The parts of sorted ranges that lie in one range.
std::vector<id_range> part_of(const std::vector<id_range>& all, const id_range& one) {
  auto at = std::partition_point(all.begin(), all.end(), [&](const id_range& r) { return r.end() <= one.first; });
  std::vector<id_range> some;
  for (; at != all.end() && at->first < one.end(); ++at) {
    const std::int64_t first = std::max(at->first, one.first);
    some.push_back({first, std::min(at->end(), one.end()) - first});
  }
  return some;
}

}  // namespace

/// Many tickets, so that the last ones are small, but few enough that creating their files is quick. Tickets are whole
/// blocks of statistics if possible.
std::int64_t leases::ticket_size(const plan& p) {
  constexpr std::int64_t few = 4096, many = 16384, small = 16;
  const std::int64_t size = (p.count + few - 1) / few;
  if (size <= small && p.rows) return std::max<std::int64_t>(size, 1);
  const std::int64_t blocks = (p.count / many + statistics_block - 1) / statistics_block;
  return std::max<std::int64_t>(blocks, 1) * statistics_block;
}

bool is_made(const plan& p) {
  journal::sweep(p.file);
  if (!is_result(p.file)) return false;
  return format_of(p.file).has_texts(
      p.file, {{"state", "complete"}, {"spec", told_spec(p)}, {"sources", lines_of(sources_of(p), p)}});
}

leases::leases(const plan& p, double seconds, bool replaces)
    : plan_(p),
      count_(p.count),
      size_(ticket_size(p)),
      seconds_(seconds),
      replaces_(replaces),
      name_(new_name()),
      boot_(name_of_boot()),
      folder_(journal::folder_of(p.file) / "leases"),
      tickets_(static_cast<std::size_t>((p.count + size_ - 1) / size_), state::free) {}

leases::~leases() {
  if (beating_.joinable()) beating_.request_stop(), beating_.join();
  if (heart_ < 0) return;
  ::unlink(path(std::string(alive) + name_).c_str());  // frees the unfinished tickets of this run
  ::close(heart_);
}

void leases::begin_to_beat() {
  const fs::path file = path(std::string(alive) + name_);
  heart_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (heart_ < 0) throw error(exit_failure, fmt::format("cannot write {}: {}", file.string(), std::strerror(errno)));
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  // without the lock, the number alone shows that the run lives
  if (::fcntl(heart_, F_OFD_SETLK, &whole) != 0) boot_.clear();
  const auto beat = [this](std::int64_t number) {
    const auto text = fmt::format("{} {:020}\n", boot_.empty() ? "-" : boot_, number);
    return ::pwrite(heart_, text.data(), text.size(), 0) == std::ssize(text);
  };
  if (!beat(0)) throw error(exit_failure, fmt::format("cannot write {}: {}", file.string(), std::strerror(errno)));
  beating_ = std::jthread([this, beat](const std::stop_token& over) {
    std::mutex mutex;
    std::condition_variable_any wait;
    std::unique_lock lock(mutex);
    for (std::int64_t number = 1; !over.stop_requested(); ++number) {
      constexpr double beats = 6;  // per time after which the run would be taken for dead
      wait.wait_for(lock, over, std::chrono::duration<double>(seconds_ / beats), [] { return false; });
      beat(number);  // on failure the run may be taken for dead, which is harmless
    }
  });
}

void leases::opened(journal& kept, const cancellation& stop) {
  // the result was made while this run compiled: the journal is its own and useless
  if (!replaces_ && is_made(plan_)) {
    kept.remove();
    throw error(exit_failure, fmt::format("{}: others have made it", plan_.file));
  }
  kept_ = &kept;
  stop_ = stop;
  std::error_code failure;
  fs::create_directory(folder_, failure);
  if (failure) throw error(exit_failure, fmt::format("cannot write {}: {}", folder_.string(), failure.message()));
  begin_to_beat();
  look();
}

std::string leases::holder_of(const std::string& ticket) const {
  return beginning_of(opened_file(path(ticket)).file, longest);
}

bool leases::is_alive(const std::string& holder) {
  if (holder == name_) return true;
  std::string text;
  if (!holder.empty()) {  // empty while the holder writes its name
    const opened_file sign(path(std::string(alive) + holder));
    if (sign.file < 0) return false;
    text = beginning_of(sign.file, longest);
    struct flock whole {};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    const bool is_here = !boot_.empty() && text.starts_with(boot_);
    if (is_here && ::fcntl(sign.file, F_OFD_GETLK, &whole) == 0 && whole.l_type == F_UNLCK) return false;
  }
  const auto now = clock::now();
  auto& last = seen_.try_emplace(holder, sign_of_life{text, now}).first->second;
  if (last.text != text) last = {text, now};
  return now - last.since < std::chrono::duration<double>(seconds_);
}

/// Creates the file of a ticket; returns false if it exists.
bool leases::take(const std::string& ticket) {
  const fs::path file = path(ticket);
  const auto fail = [&] {
    throw error(exit_failure, fmt::format("cannot write {}: {}", file.string(), std::strerror(errno)));
  };
  const int made = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (made < 0 && errno != EEXIST && errno != ENOENT) fail();
  if (made < 0) return false;
  const bool written = ::write(made, name_.data(), name_.size()) == std::ssize(name_);
  const int why = errno;
  ::close(made);
  if (written) return true;
  ::unlink(file.c_str());
  errno = why;
  fail();
  return false;
}

/// Frees a ticket whose holder is dead, unless another run has just done so.
void leases::give_up(const std::string& ticket, const std::string& holder) {
  const std::string away = ticket + "." + name_;
  if (std::rename(path(ticket).c_str(), path(away).c_str()) != 0) return;
  // another run has taken the ticket meanwhile
  if (holder_of(away) != holder) rename_to_free_name(path(away), path(ticket));
  std::error_code ignored;
  fs::remove(path(away), ignored);
}

/// Marks the tickets that others hold, and counts active runs.
void leases::list() {
  runs_ = 0;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder_, ignored)) {
    const auto name = entry.path().filename().string();
    if (name.starts_with(alive)) runs_ += is_alive(name.substr(alive.size()));
    else if (const auto number = number_of(name);
             number && *number < tickets_.size() && tickets_[*number] == state::free)
      tickets_[*number] = state::held;
  }
  runs_ = std::max<std::int64_t>(runs_, 1);
}

id_range leases::instances_of(std::size_t ticket) const {
  const auto first = static_cast<std::int64_t>(ticket) * size_;
  return {first, std::min(size_, count_ - first)};
}

/// Finds the free tickets after giving up those of dead runs. Not while instances are under way here.
void leases::look() {
  missing_ = kept_->missing();
  std::fill(tickets_.begin(), tickets_.end(), state::free);
  list();
  std::int64_t free = 0;
  for (std::size_t i = 0; i < tickets_.size(); ++i) {
    const auto open = instances_in(part_of(missing_, instances_of(i)));
    if (open == 0) tickets_[i] = state::ended;
    else if (tickets_[i] == state::held) {
      const std::string ticket = std::to_string(i), holder = holder_of(ticket);
      if (holder == name_ || !is_alive(holder)) give_up(ticket, holder), tickets_[i] = state::free;
    }
    if (tickets_[i] == state::free) free += open;
  }
  from_ = 0;
  left_ = free;
}

/// Claims adjacent tickets for about `wanted` instances; fewer towards the end, so that all runs finish at about the
/// same time.
void leases::claim(std::int64_t wanted) {
  constexpr std::int64_t shares = 4;
  const std::int64_t many = std::max<std::int64_t>(1, std::min(wanted, left_ / (shares * runs_)) / size_);
  while (taken_.empty() && left_ > 0) {
    while (from_ < tickets_.size() && tickets_[from_] != state::free) ++from_;
    if (from_ == tickets_.size()) left_ = 0;
    for (std::int64_t n = 0; n < many && from_ < tickets_.size() && tickets_[from_] == state::free; ++n, ++from_) {
      const auto open = part_of(missing_, instances_of(from_));
      const bool is_mine = take(std::to_string(from_));
      tickets_[from_] = state::held;
      if (!is_mine) {
        list();
        break;
      }
      for (const id_range& range : open)
        if (!taken_.empty() && taken_.back().end() == range.first) taken_.back().count += range.count;
        else taken_.push_back(range);
    }
  }
}

std::optional<id_range> leases::next(std::int64_t wanted) {
  if (!stop_ || *stop_) return {};
  if (taken_.empty()) claim(wanted);
  if (taken_.empty()) return {};
  const id_range range = taken_.front();
  taken_.pop_front();
  left_ = std::max<std::int64_t>(left_ - range.count, 0);
  return range;
}

bool leases::wait_for_more() {
  constexpr auto shortest = std::chrono::milliseconds(20), longest_pause = std::chrono::milliseconds(2000);
  kept_->settle();
  for (auto pause = shortest; !*stop_; pause = std::min(2 * pause, longest_pause)) {
    kept_->look_again();
    if (!fs::exists(folder_)) return false;  // another run has made the result
    look();
    if (left_ > 0 || missing_.empty()) return left_ > 0;
    for (auto slept = shortest; slept <= pause && !*stop_; slept += shortest) std::this_thread::sleep_for(shortest);
  }
  left_ = instances_in(missing_);
  return false;
}

bool leases::makes_result() {
  constexpr auto pause = std::chrono::milliseconds(20);
  while (!take(result_ticket)) {
    const auto holder = holder_of(result_ticket);
    if (!fs::exists(folder_) || !stop_ || *stop_) return false;
    if (!is_alive(holder)) give_up(result_ticket, holder);
    else if (!holder.empty()) return false;
    else std::this_thread::sleep_for(pause);  // a run is about to write its name, or died before that
  }
  return true;
}

}  // namespace saltus::host
