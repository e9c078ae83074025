#include "result/journal.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <sstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>
#include <nlohmann/json.hpp>

#include "abi/status.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "base/toml.hpp"
#include "ensemble/statistics.hpp"
#include "result/zarr_format.hpp"
#include "result/zarr_writer.hpp"
#include "spec/field.hpp"
#include "spec/methods.hpp"
#include "spec/model_json.hpp"
#include "spec/spec.hpp"

namespace saltus::host {
namespace fs = std::filesystem;

/// The head of a record. It has its own checksum, so that a record with damaged bytes can be skipped and the next one
/// found. The checksum starts from the run's identity: a record of another run does not match.
struct record_head {
  char magic[8];
  std::int64_t first, count, bytes;
  std::uint64_t checksum;  ///< XXH3 of the members before it
};

namespace {

constexpr char magic[9] = "saltusJ2";
constexpr std::size_t checked = offsetof(record_head, checksum);
std::uint64_t checksum_of(const record_head& head, std::uint64_t identity) {
  return XXH3_64bits_withSeed(&head, checked, identity);
}
constexpr std::int64_t around = sizeof(record_head) + sizeof(std::uint64_t);  ///< head and checksum

struct hash_state {
  XXH3_state_t* state = XXH3_createState();
  hash_state() { XXH3_64bits_reset(state); }
  ~hash_state() { XXH3_freeState(state); }
  hash_state(const hash_state&) = delete;
  hash_state& operator=(const hash_state&) = delete;
  void add(const void* bytes, std::size_t size) { XXH3_64bits_update(state, bytes, size); }
  std::uint64_t of(const record_head& head) {
    add(&head, sizeof head);
    return digest();
  }
  std::uint64_t digest() const { return XXH3_64bits_digest(state); }
};

constexpr std::size_t piece = std::size_t{1} << 20;

/// Writes all bytes; returns false and sets errno on failure.
bool write_all(int file, const void* bytes, std::size_t size, std::int64_t at) {
  const char* from = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t n = ::pwrite(file, from, size, at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    from += n, at += n, size -= static_cast<std::size_t>(n);
  }
  return true;
}
bool read_all(int file, void* bytes, std::size_t size, std::int64_t at) {
  char* to = static_cast<char*>(bytes);
  while (size > 0) {
    const ssize_t n = ::pread(file, to, size, at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    to += n, at += n, size -= static_cast<std::size_t>(n);
  }
  return true;
}

/// Writes the bytes of a record in large pieces. The caller keeps `buffer` between records: allocating it would cost as
/// much as the copy.
class record_out {
 public:
  record_out(int file, std::int64_t at, std::vector<char>& buffer) : file_(file), at_(at), buffer_(buffer) {
    buffer_.resize(std::max(buffer_.size(), near));
  }

  void put(const void* bytes, std::size_t size) {
    if (size == 0) return;
    if (size <= near / 2) {
      std::memcpy(room(size), bytes, size);
      return;
    }
    flush();
    bytes_ += static_cast<std::int64_t>(size);
    const char* from = static_cast<const char*>(bytes);
    for (std::size_t some = 0; size > 0; from += some, size -= some) write(from, some = size);
  }
  template <class Number>
  void put(const Number& x) {
    put(&x, sizeof x);
  }
  /// Space for `size` bytes, which the caller fills.
  char* room(std::size_t size) {
    if (used_ + size > buffer_.size()) flush();
    if (size > buffer_.size()) buffer_.resize(size);
    bytes_ += static_cast<std::int64_t>(size), used_ += size;
    return buffer_.data() + used_ - size;
  }
  /// Sets the checksums; returns false and sets errno if a write failed.
  bool close(record_head& head, std::uint64_t identity) {
    head.bytes = bytes_;
    head.checksum = checksum_of(head, identity);
    flush();
    const std::uint64_t sum = hash_.of(head);
    write(&sum, sizeof sum);
    errno = error_;
    return error_ == 0;
  }

 private:
  static constexpr std::size_t near = piece;

  void flush() {
    if (used_ > 0) write(buffer_.data(), used_);
    used_ = 0;
  }
  /// Hashes and writes large pieces: XXH3 is several times slower on small ones.
  void write(const void* bytes, std::size_t size) {
    hash_.add(bytes, size);
    if (error_ == 0 && !write_all(file_, bytes, size, at_)) error_ = errno != 0 ? errno : EIO;
    at_ += static_cast<std::int64_t>(size);
  }

  int file_, error_ = 0;
  std::int64_t at_, bytes_ = 0;
  std::vector<char>& buffer_;
  std::size_t used_ = 0;
  hash_state hash_;
};

/// Reads the bytes of a record. Missing bytes read as zeros; was_all reports them at the end.
class record_in {
 public:
  record_in(int file, std::int64_t at, std::int64_t bytes) : file_(file), at_(at), left_(bytes) {}
  void get(void* bytes, std::size_t size) {
    char* to = static_cast<char*>(bytes);
    while (size > 0 && whole_) {
      if (next_ == buffer_.size()) fill();
      const std::size_t some = std::min(size, buffer_.size() - next_);
      std::memcpy(to, buffer_.data() + next_, some);
      next_ += some, to += some, size -= some;
    }
  }
  template <class Number>
  Number get() {
    Number x{};
    get(&x, sizeof x);
    return x;
  }
  /// Reads a number of elements of `size` bytes each; 0 if the record cannot hold so many.
  std::size_t get_count(std::size_t size) {
    const auto n = get<std::int64_t>();
    const auto left = static_cast<std::uint64_t>(left_) + buffer_.size() - next_;
    if (n < 0 || static_cast<std::uint64_t>(n) > left / size) whole_ = false;
    return whole_ ? static_cast<std::size_t>(n) : 0;
  }
  bool was_all() const { return whole_ && left_ == 0 && next_ == buffer_.size(); }

 private:
  void fill() {
    buffer_.resize(static_cast<std::size_t>(std::min<std::int64_t>(left_, piece)));
    next_ = 0;
    whole_ = !buffer_.empty() && read_all(file_, buffer_.data(), buffer_.size(), at_);
    at_ += std::ssize(buffer_), left_ -= std::ssize(buffer_);
  }

  int file_;
  std::int64_t at_, left_;  ///< of the bytes not read yet
  std::vector<char> buffer_;
  std::size_t next_ = 0;
  bool whole_ = true;
};

/// body(column, numbers per instance side by side) for each column of results.
template <class Chunk, class F>
void each_column(Chunk& c, std::int64_t sample_count, F&& body) {
  for (auto* column : {&c.final_state, &c.final_output, &c.final_discrete, &c.t_final, &c.residual, &c.switched,
                       &c.reductions, &c.final_derivative})
    body(*column, 1);
  body(c.samples, sample_count);
  for (auto* column : {&c.status, &c.exception, &c.guard_history, &c.sensitivity}) body(*column, 1);
  for (const auto counter : abi::counter_members<std::vector<long long>>) body(c.*counter, 1);
  body(c.residual_of, 1);
  body(c.dependent, 1);
}

/// Writes the slots from `from` to `to` of every column.
void put_columns(record_out& out, const chunk_data& c, const plan& p, std::int64_t from, std::int64_t to) {
  each_column(c, p.sample_count, [&](const auto& column, std::int64_t row) {
    const std::int64_t width = c.count * row;
    for (std::int64_t at = from * row; at < std::ssize(column); at += width)
      out.put(column.data() + at, static_cast<std::size_t>((to - from) * row) * sizeof column[0]);
  });
}
void get_columns(record_in& in, chunk_data& c, const plan& p, std::int64_t from, std::int64_t to) {
  each_column(c, p.sample_count, [&](auto& column, std::int64_t row) {
    const std::int64_t width = c.count * row;
    for (std::int64_t at = from * row; at < std::ssize(column); at += width)
      in.get(column.data() + at, static_cast<std::size_t>((to - from) * row) * sizeof column[0]);
  });
}

void put_events(record_out& out, const event_log& log, std::int64_t count, std::int64_t from, std::int64_t to) {
  const auto rows = log.rows_by_slot(static_cast<std::size_t>(count));
  std::int64_t all = 0;
  for (std::int64_t slot = from; slot < to; ++slot) all += rows[static_cast<std::size_t>(slot)];
  out.put(all);
  if (all == 0) return;
  const std::size_t states = static_cast<std::size_t>(log.state_count) * sizeof(double);
  log.for_each([&](const event_row& row) {
    if (row.slot < from || row.slot >= to) return;
    char* at = out.room(sizeof(std::int64_t) + sizeof(double) + sizeof(std::int64_t) + 2 * states);
    const auto add = [&at](const void* what, std::size_t size) { std::memcpy(at, what, size), at += size; };
    const std::int64_t slot = row.slot - from, guard = row.guard;
    add(&slot, sizeof slot);
    add(&row.time, sizeof row.time);
    add(&guard, sizeof guard);
    add(row.before, states);
    add(row.after, states);
  });
}
void get_events(record_in& in, event_log& log) {
  const auto states = static_cast<std::size_t>(log.state_count);
  std::vector<double> before(states), after(states);
  for (std::size_t left = in.get_count(24 + 16 * states); left > 0; --left) {
    const auto slot = in.get<std::int64_t>();
    const auto time = in.get<double>();
    const auto guard = static_cast<int>(in.get<std::int64_t>());
    in.get(before.data(), states * sizeof(double));
    in.get(after.data(), states * sizeof(double));
    log.append(slot, time, guard, before.data(), after.data());
  }
}

template <class Number>
void put_list(record_out& out, const std::vector<Number>& list) {
  out.put(std::int64_t{std::ssize(list)});
  out.put(list.data(), list.size() * sizeof(Number));
}
template <class Number>
void get_list(record_in& in, std::vector<Number>& list) {
  list.resize(in.get_count(sizeof(Number)));
  in.get(list.data(), list.size() * sizeof(Number));
}

void put_text(record_out& out, const std::string& text) {
  out.put(std::int64_t{std::ssize(text)});
  out.put(text.data(), text.size());
}
std::string get_text(record_in& in) {
  std::string text(in.get_count(1), '\0');
  in.get(text.data(), text.size());
  return text;
}

/// Messages about instances: the first value that is not finite, and an exception of the model.
void put_words(record_out& out, const not_finite_instance& one, const std::string& trouble) {
  out.put(one.id);
  out.put(one.status);
  put_text(out, one.text);
  put_text(out, trouble);
}
void get_words(record_in& in, chunk_data& c) {
  c.not_finite.id = in.get<std::int64_t>();
  in.get(&c.not_finite.status, sizeof c.not_finite.status);
  c.not_finite.text = get_text(in);
  c.trouble = get_text(in);
}

void put_counts(record_out& out, const tally& t) {
  out.put(t.by_status);
  out.put(t.by_rescue);
  for (const auto counter : abi::counter_members<std::int64_t>) out.put(t.*counter);
  out.put(t.switched);
  put_list(out, t.dependent);
  put_list(out, t.guards);
  put_list(out, t.finals);
  put_list(out, t.outputs);
}
void get_counts(record_in& in, tally& t) {
  in.get(&t.by_status, sizeof t.by_status);
  in.get(&t.by_rescue, sizeof t.by_rescue);
  for (const auto counter : abi::counter_members<std::int64_t>) in.get(&(t.*counter), sizeof(t.*counter));
  t.switched = in.get<std::int64_t>();
  get_list(in, t.dependent);
  get_list(in, t.guards);
  get_list(in, t.finals);
  get_list(in, t.outputs);
}

/// A record begins with the number of instances by status, so that these can be counted without the columns.
using status_counts = decltype(tally::by_status);
void put_statuses(record_out& out, const chunk_data& c, std::int64_t from, std::int64_t to) {
  status_counts by{};
  for (std::int64_t slot = from; slot < to; ++slot) ++by[c.status[static_cast<std::size_t>(slot)]];
  out.put(by);
}
status_counts get_statuses(record_in& in) { return in.get<status_counts>(); }

/// For plans without rows: the data from which the statistics of all chunks are made. Blocks that are spread over
/// chunks keep their rows.
void put_statistics(record_out& out, const chunk_data& c, const plan& p, const tally& counts) {
  put_counts(out, counts);
  put_words(out, counts.not_finite, c.trouble);
  put_list(out, c.statistics.summaries);
  for (const auto& counters : c.statistics.histograms) put_list(out, counters);
  for (const value_counts& values : c.statistics.values) {
    out.put(std::int64_t{values.shift});
    put_list(out, values.buckets);
  }
  const auto blocks = blocks_of(p, c.first_id, c.count);
  put_columns(out, c, p, 0, blocks.first);
  put_columns(out, c, p, std::min(blocks.first + blocks.count * statistics_block, c.count), c.count);
}
void get_statistics(record_in& in, chunk_data& c, const plan& p, tally& counts) {
  get_counts(in, counts);
  get_words(in, c);
  counts.not_finite = c.not_finite;
  get_list(in, c.statistics.summaries);
  c.statistics.histograms.resize(p.histograms.size());
  for (auto& counters : c.statistics.histograms) get_list(in, counters);
  c.statistics.values.resize(band_columns(p));
  for (value_counts& values : c.statistics.values) {
    values.shift = static_cast<int>(in.get<std::int64_t>());
    get_list(in, values.buckets);
  }
  const auto blocks = blocks_of(p, c.first_id, c.count);
  get_columns(in, c, p, 0, blocks.first);
  get_columns(in, c, p, std::min(blocks.first + blocks.count * statistics_block, c.count), c.count);
}

/// Do the bytes of the record at `end` match its checksum? `some`: a buffer.
bool has_its_checksum(int file, const record_head& head, std::int64_t end, std::vector<char>& some) {
  hash_state hash;
  std::int64_t at = end + static_cast<std::int64_t>(sizeof head);
  for (std::int64_t left = head.bytes; left > 0;) {
    const auto size = static_cast<std::size_t>(std::min(left, std::ssize(some)));
    if (!read_all(file, some.data(), size, at)) return false;
    hash.add(some.data(), size);
    at += static_cast<std::int64_t>(size), left -= static_cast<std::int64_t>(size);
  }
  std::uint64_t sum = 0;
  return read_all(file, &sum, sizeof sum, at) && sum == hash.of(head);
}

bool has_ended(unsigned char status) { return status_table[status].group != status_group::not_finished; }

/// The properties that identify a run, by name. The storage of its file is not among them, and the device only if it
/// may change bits.
std::vector<std::pair<std::string, std::string>> identity_of(const plan& p, const provenance& origin) {
  std::vector<std::pair<std::string, std::string>> all{{"saltus", origin.version},
                                                       {"compiler", origin.compiler},
                                                       {"model", p.model.name},
                                                       {"model's text", origin.model_hash}};
  for (const source_file& file : origin.sources)
    if (fs::path(file.path).extension() != ".toml") all.emplace_back(file.path, file.hash);
  std::istringstream settings(settings_text(p));
  for (std::string line; std::getline(settings, line) && line != "[run]";) {
    const auto sign = line.find(line.starts_with('#') ? ": " : " = ");
    if (sign == line.npos || line.starts_with("file =") || line.starts_with("compression =") ||
        line.starts_with("provenance ="))
      continue;
    const std::size_t begin = line.starts_with('#') ? 2 : 0;
    all.emplace_back(line.substr(begin, sign - begin), line.substr(sign + (begin > 0 ? 2 : 3)));
  }
  const auto spec = toml::parse(p.text);
  for (const char* table : {"parameters", "initial", "sweep", "sample", "sensitivity", "lyapunov"})
    if (const auto* entries = spec[table].as_table())
      for (const auto& [key, value] : *entries)
        all.emplace_back(fmt::format("{}.{}", table, key.str()), inline_text(value));
  all.emplace_back("instances", std::to_string(p.count));
  if (!p.model.arithmetic || !method_called(p.method).is_explicit)
    all.emplace_back("backend", origin.device.substr(0, origin.device.find(':')));
  return all;
}

/// "rtol is 1e-6 and was 1e-9, ..."
std::string differences(const json& was, const std::vector<std::pair<std::string, std::string>>& is) {
  std::vector<std::string> found;
  json left = was;
  for (const auto& [name, value] : is) {
    if (!was.contains(name)) found.push_back(fmt::format("{} is {} and was not there", name, value));
    else if (was[name] != value)
      found.push_back(fmt::format("{} is {} and was {}", name, value, was[name].get<std::string>()));
    left.erase(name);
  }
  for (const auto& [name, value] : left.items())
    found.push_back(fmt::format("{} was {}", name, value.get<std::string>()));
  return fmt::format("{}", fmt::join(found, "; "));
}

/// Identifies a file across renaming; "none" if there is no file.
std::string identity_of_file(const fs::path& file) {
  struct stat about {};
  if (::stat(file.c_str(), &about) != 0) return "none";
  return fmt::format("{} {}\n", about.st_dev, about.st_ino);
}

constexpr std::string_view all_chunks = "chunks";
constexpr const char* leases_name = "leases";
std::string file_of(const ensemble_part& part) {
  if (part.is_all()) return std::string(all_chunks);
  return fmt::format("{}.{}", all_chunks,
                     part.among.empty() ? fmt::format("{}of{}", part.number, part.of) : part.among);
}

struct flock all_of_it(short kind) {
  struct flock whole {};
  whole.l_type = kind;
  whole.l_whence = SEEK_SET;
  return whole;
}

/// The hash by which the heads of records identify their run; nothing if `all` is not an object of texts.
std::optional<std::uint64_t> identity_in(const json& all) {
  if (!all.is_object() || !all.contains("saltus")) return {};
  std::map<std::string, std::string> sorted;
  for (const auto& [name, value] : all.items()) {
    if (!value.is_string()) return {};
    sorted[name] = value.get<std::string>();
  }
  hash_state hash;
  for (const auto& [name, value] : sorted)
    for (const std::string& text : {name, value}) hash.add(text.c_str(), text.size() + 1);
  return hash.digest();
}

// ---- files in the folder

constexpr std::size_t longest_text = std::size_t{256} << 20;  ///< bytes of run.json and spec.json
constexpr std::string_view texts[] = {"run.json", "spec.json", "complete"};

/// The members of a provenance that a journal stores, except the list of files.
std::vector<std::pair<const char*, std::string*>> texts_of(provenance& origin) {
  return {{"version", &origin.version},      {"model_hash", &origin.model_hash}, {"compiler", &origin.compiler},
          {"device", &origin.device},        {"command", &origin.command},       {"module_hash", &origin.module_hash},
          {"model_text", &origin.model_text}};
}

json parsed(const fs::path& file) {
  return json::parse(read_plain_file(file, longest_text).value_or(std::string()), nullptr, false);
}

/// May a journal contain a file of this name? Texts are first written under a name with a suffix.
bool is_name_of_ours(const std::string& name) {
  if (name == all_chunks || name.starts_with(std::string(all_chunks) + ".")) return true;
  return std::any_of(std::begin(texts), std::end(texts),
                     [&](std::string_view text) { return name == text || name.starts_with(std::string(text) + "."); });
}

/// Does a file begin like records? A file that was cut off before its first head was written begins with zeros.
bool begins_as_records(const fs::path& file) {
  const int f = ::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  char begin[sizeof magic - 1] = {};
  const ssize_t n = f < 0 ? 0 : ::pread(f, begin, sizeof begin, 0);
  if (f >= 0) ::close(f);
  constexpr std::size_t without_version = sizeof begin - 1;
  return std::all_of(begin, begin + std::max<ssize_t>(n, 0), [](char c) { return c == 0; }) ||
         std::memcmp(begin, magic, without_version) == 0;
}

/// Why a folder is not accepted as a journal, and so must not be emptied. Empty: it is a journal, or does not exist.
std::string why_not_ours(const fs::path& folder) {
  struct stat about {};
  if (::lstat(folder.c_str(), &about) != 0) return {};
  if (S_ISLNK(about.st_mode)) return "it is a symbolic link, which is not followed";
  if (!S_ISDIR(about.st_mode)) return "it is no folder";
  std::error_code failure;
  bool has_records = true;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    const auto name = entry.path().filename().string();
    const auto type = entry.symlink_status(failure).type();
    if (type == fs::file_type::not_found) continue;  // it has just been removed
    const bool is_ours = name == leases_name ? type == fs::file_type::directory
                                             : type == fs::file_type::regular && is_name_of_ours(name);
    if (!is_ours) return fmt::format("there is `{}` in it, which no journal has", printable_line(name));
    if (name.starts_with(all_chunks)) has_records = has_records && begins_as_records(entry.path());
  }
  if (failure) return failure.message();
  return has_records || identity_in(parsed(folder / "run.json")) ? std::string()
                                                                 : "its chunks are no records of saltus";
}

void check_that_ours(const fs::path& folder) {
  if (const auto why = why_not_ours(folder); !why.empty())
    throw error(exit_usage, fmt::format("{} is no journal of saltus: {}. Move it away, or give the result another name "
                                        "with -o FILE",
                                        folder.string(), why));
}

/// Removes the files in a folder whose names are accepted, never through a link. Returns whether all are gone.
template <class Accept>
bool remove_files(int folder, Accept&& accept) {
  const int copy = ::dup(folder);
  DIR* const list = copy < 0 ? nullptr : ::fdopendir(copy);
  if (list == nullptr) {
    if (copy >= 0) ::close(copy);
    return false;
  }
  ::rewinddir(list);
  bool gone = true;
  while (const dirent* entry = ::readdir(list))
    if (accept(std::string(entry->d_name))) gone = ::unlinkat(folder, entry->d_name, 0) == 0 && gone;
  ::closedir(list);
  return gone;
}

int open_folder(int where, const char* name) {
  return ::openat(where, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/// Removes the files of a journal except one; returns whether they are gone. The file that identifies the run goes
/// last, because the others cannot be recognised without it.
bool empty(const fs::path& folder, const std::string& kept) {
  const int here = open_folder(AT_FDCWD, folder.c_str());
  if (here < 0) return false;
  bool gone = true;
  if (const int leases = open_folder(here, leases_name); leases >= 0) {
    gone = remove_files(leases, [](const std::string& name) { return name != "." && name != ".."; });
    ::close(leases);
    gone = ::unlinkat(here, leases_name, AT_REMOVEDIR) == 0 && gone;
  }
  gone = remove_files(here,
                      [&](const std::string& name) {
                        return is_name_of_ours(name) && name != kept && name != "complete" && name != "run.json";
                      }) &&
         gone;
  gone = gone && (::unlinkat(here, "run.json", 0) == 0 || errno == ENOENT);
  ::close(here);
  return gone;
}
/// Removes a journal. The mark that its result is complete goes last: if removal fails, the mark lets the next run
/// remove the rest.
void drop(const fs::path& folder) {
  if (!why_not_ours(folder).empty() || !empty(folder, {})) return;
  ::unlink((folder / "complete").c_str());
  ::rmdir(folder.c_str());
}

}  // namespace

fs::path journal::folder_of(const fs::path& result) { return result.string() + ".journal"; }

void journal::check_place(const fs::path& result) { check_that_ours(folder_of(result)); }

journal::kept_run journal::run_of(const fs::path& folder) {
  try {
    const json all = parsed(folder / "spec.json");
    const model m = model_from(all.at("model"));
    const json& from = all.at("origin");
    kept_run r{validate(from_text(all.at("spec").get<std::string>(), {}, {}, all.at("folder").get<std::string>()), m),
               {}};
    r.what.file = folder.parent_path() / folder.stem();
    for (const auto& [name, text] : texts_of(r.origin)) *text = from.at(name).get<std::string>();
    for (const json& file : from.at("sources"))
      r.origin.sources.push_back({file.at(0).get<std::string>(), file.at(1).get<std::string>()});
    return r;
  } catch (const std::exception& e) {
    throw error(exit_failure,
                fmt::format("{}: is no journal of a run, or its spec.json is damaged or of another version: {}",
                            folder.string(), e.what()));
  }
}

bool journal::is_there(const fs::path& result) {
  std::error_code ignored;
  const fs::path folder = folder_of(result);
  return fs::exists(folder / "run.json", ignored) || fs::exists(folder / all_chunks, ignored);
}

journal::journal(const fs::path& result, const plan& p, const provenance& origin, older what, const ensemble_part& part)
    : result_(result),
      folder_(folder_of(result)),
      plan_(p),
      part_(part),
      reads_only_(what == older::read || what == older::looked_at) {
  try {
    if (!reads_only_) check_that_ours(folder_), open();
    open_others();
    if (what == older::removed) refuse_others();
    identify(origin, what);
    if (!reads_only_) {
      end_ = read_back(file_, (folder_ / file_of(part_)).string());
      drop_what_follows();
    }
    read_others();
    refuse_others();
    divide();
  } catch (...) {
    close_files();
    throw;
  }
}

journal::~journal() { close_files(); }

void journal::close_files() {
  for (const auto& [name, one] : others_) ::close(one.file);
  if (file_ < 0) return;
  if (!part_.among.empty() && end_ == 0)
    ::unlink((folder_ / file_of(part_)).c_str());  // no run will use that name again
  ::close(file_);
}

void journal::fail(const std::string& why) const {
  throw error(exit_failure, fmt::format("cannot write {}: {}", folder_.string(), why));
}

/// The system drops the lock when the process ends, however that happens. Another run may remove a folder that is still
/// empty, so the call tries several times.
void journal::open() {
  constexpr int many = 100;
  const fs::path chunks = folder_ / file_of(part_);
  for (int tries = 0; file_ < 0 && tries < many; ++tries) {
    std::error_code failure;
    fs::create_directory(folder_, failure);
    if (failure) fail(failure.message());
    file_ = ::open(chunks.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file_ < 0 && errno != ENOENT) break;
  }
  if (file_ < 0) fail(std::strerror(errno));
  if (auto whole = all_of_it(F_WRLCK); ::fcntl(file_, F_OFD_SETLK, &whole) != 0 && (errno == EAGAIN || errno == EACCES))
    throw journal_is_taken(exit_failure, fmt::format("cannot write {}: another run is writing it: wait for it, or give "
                                                     "another name with -o FILE",
                                                     folder_.string()));
}

/// Opens the files of other parts again: some file systems show new writes by others only after opening.
void journal::open_others() {
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder_, failure)) {
    const auto name = entry.path().filename().string();
    if (!name.starts_with(all_chunks) || (!reads_only_ && name == file_of(part_))) continue;
    const int file = ::open(entry.path().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) continue;  // its instances are integrated again
    if (const auto [at, is_new] = others_.try_emplace(name, other{entry.path(), file, 0}); !is_new)
      ::close(std::exchange(at->second.file, file));
  }
}

/// Parts may run at once, but not beside a whole run, which removes the journal at its end. If nothing is missing, a
/// running part does not matter.
void journal::refuse_others() const {
  if (reads_only_ || missing().empty()) return;
  for (const auto& [name, one] : others_)
    if (auto whole = all_of_it(F_WRLCK); (part_.is_all() || name == all_chunks) &&
                                         ::fcntl(one.file, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK)
      fail(fmt::format("another run is writing {}: wait for it", name));
}

void journal::look_again() {
  open_others();
  read_others();
}

void journal::identify(const provenance& origin, older what) {
  const fs::path file = folder_ / "run.json";
  if (what == older::looked_at) {
    const auto known = identity_in(parsed(file));
    if (!known) throw error(exit_failure, fmt::format("{}: its run.json is damaged", folder_.string()));
    identity_ = *known;
    return;
  }
  const auto mine = identity_of(plan_, origin);
  json all = json::object();
  for (const auto& [name, value] : mine) all[name] = value;
  identity_ = identity_in(all).value();
  const auto is_mine = [&] {
    const json was = parsed(file);
    if (!identity_in(was)) return false;
    const std::string different = differences(was, mine);
    if (different.empty()) return true;
    throw error(exit_usage,
                fmt::format("{} is of another run than this one: {}. --restart begins anew and drops it; -o FILE "
                            "gives the result another name",
                            folder_.string(), different));
  };
  if (what == older::removed) {
    empty(folder_, file_of(part_));
    for (const auto& [name, one] : std::exchange(others_, {})) ::close(one.file);
    if (::ftruncate(file_, 0) != 0) fail(std::strerror(errno));
  } else if (is_mine()) return;
  if (reads_only_) throw error(exit_usage, fmt::format("{} is not there", folder_.string()));
  const bool has_file = !plan_.inputs.empty() && plan_.inputs.front().extension() == ".toml";
  const fs::path base = has_file ? host::folder_of(fs::absolute(plan_.inputs.front())) : fs::current_path();
  json from = json::object(), sources = json::array();
  for (provenance copy = origin; const auto& [name, text] : texts_of(copy)) from[name] = *text;
  for (const source_file& one : origin.sources) sources.push_back(json::array({one.path, one.hash}));
  from["sources"] = sources;
  const json spec{{"spec", plan_.text}, {"folder", base.string()}, {"model", json_of(plan_.model)}, {"origin", from}};
  write_at_once(folder_ / "spec.json", json_text(spec) + "\n", lasting::yes);
  // Another part may have begun at the same time. If this text was damaged, the records stay valid, since they identify
  // their run.
  if (!write_where_free(file, json_text(all) + "\n", lasting::yes) && !is_mine())
    write_at_once(file, json_text(all) + "\n", lasting::yes);
  put_on_disk(host::folder_of(folder_));
}

/// Does the range contain instances of a record that was left?
bool journal::overlaps(const id_range& range) const {
  const auto after = records_.lower_bound(range.first);
  if (after != records_.end() && after->first < range.first + range.count) return true;
  if (after == records_.begin()) return false;
  const auto before = std::prev(after);
  return before->first + before->second.count > range.first;
}

void journal::read_others() {
  for (auto& [name, one] : others_) one.end = read_back(one.file, one.path.string(), one.end);
}

/// Is there a head of a record of this run, in a file with `room` more bytes?
bool journal::is_head(const record_head& head, std::int64_t room) const {
  return std::memcmp(head.magic, magic, sizeof head.magic) == 0 && checksum_of(head, identity_) == head.checksum &&
         head.first >= 0 && head.count > 0 && head.first <= plan_.count - head.count && head.bytes >= 0 &&
         head.bytes <= room - around;
}

/// The place of the next head from `at` on; -1: there is none.
std::int64_t journal::next_head(int file, std::int64_t at, std::int64_t size) const {
  std::vector<char> some(piece);
  for (constexpr auto overlap = static_cast<std::int64_t>(sizeof(record_head)) - 1; size - at >= around;) {
    const auto n = std::min<std::int64_t>(size - at, std::ssize(some));
    if (!read_all(file, some.data(), static_cast<std::size_t>(n), at)) return -1;
    for (std::int64_t i = 0; i < n - overlap; ++i) {
      record_head head{};
      const auto* found =
          static_cast<const char*>(std::memchr(some.data() + i, magic[0], static_cast<std::size_t>(n - overlap - i)));
      if (found == nullptr) break;
      i = found - some.data();
      std::memcpy(&head, found, sizeof head);
      if (is_head(head, size - at - i)) return at + i;
    }
    at += n - overlap;
  }
  return -1;
}

/// Finds the intact records of a file from `end` on and returns the end of the last one; damaged ones are skipped and
/// noted. Runs that share an ensemble dynamically trust the heads, which are written last, and stop at the first that
/// is missing; the run that makes the result checks everything.
std::int64_t journal::read_back(int file, const std::string& name, std::int64_t end) {
  struct stat about {};
  if (::fstat(file, &about) != 0) fail(std::strerror(errno));
  const bool takes_heads = !part_.among.empty();
  std::vector<char> some(takes_heads ? 0 : piece);
  std::int64_t damaged = 0;
  for (std::int64_t at = end; at >= 0 && at + around <= about.st_size;) {
    record_head head{};
    const bool is_here = read_all(file, &head, sizeof head, at) && is_head(head, about.st_size - at);
    if (!is_here && takes_heads) break;
    if (!is_here) {
      at = next_head(file, at + 1, about.st_size);
      if (at > 0) ++damaged;
      continue;
    }
    const std::int64_t after = at + around + head.bytes;
    if (!takes_heads && !has_its_checksum(file, head, at, some)) {
      note_damage(fmt::format("the record of instances {} to {} in {} is damaged: they are integrated again",
                              head.first, head.first + head.count - 1, name));
    } else {
      if (!overlaps({head.first, head.count})) records_[head.first] = {head.count, at, file};
      end = after;
    }
    at = after;
  }
  if (damaged > 0)
    note_damage(fmt::format("{} in {} {} damaged at {} head{}: what was there is integrated again",
                            counted(static_cast<std::size_t>(damaged), "record"), name, damaged == 1 ? "is" : "are",
                            damaged == 1 ? "its" : "their", damaged == 1 ? "" : "s"));
  return end;
}

void journal::note_damage(const std::string& what) { damage_ += (damage_.empty() ? "" : "\n") + what; }

void journal::drop_what_follows() {
  struct stat about {};
  if (::fstat(file_, &about) != 0) fail(std::strerror(errno));
  if (end_ < about.st_size)
    note_damage(fmt::format("{} bytes at the end of {} were cut off or damaged: their instances are integrated again",
                            about.st_size - end_, (folder_ / file_of(part_)).string()));
  if (::ftruncate(file_, end_) != 0) fail(std::strerror(errno));
}

/// Divides the instances into those to load and those left to others.
void journal::divide() {
  std::vector<id_range> kept;
  for (const auto& [first, one] : records_) kept.push_back({first, one.count});
  const bool has_store = is_zarr(result_) && plan_.rows;  // to which a part writes its own chunks
  const auto mine = ranges_of(part_, plan_.count, has_store ? zarr_chunk_rows(plan_) : 1);
  instances_ = instances_in(intersection(kept, mine));
  if (part_.is_all()) left_ = std::move(kept);
  else if (part_.among.empty() && has_store) {
    // Stored instances are loaded. A record of another division into parts may reach beyond a range: its instances are
    // integrated again.
    for (const id_range& one : kept)
      if (const auto of_mine = intersection({one}, mine); of_mine == std::vector{one}) left_.push_back(one);
    mine_ = std::make_unique<listed_claims>(mine);
  } else if (part_.among.empty()) mine_ = std::make_unique<listed_claims>(intersection(missing(), mine));
}

std::vector<id_range> journal::missing() const {
  std::vector<id_range> kept;
  for (const auto& [first, one] : records_) kept.push_back({first, one.count});
  return complement(kept, plan_.count);
}

void journal::load(const id_range& range, chunk_data& chunk, tally& counts) const {
  const auto [count, at, file] = records_.at(range.first);
  record_head head{};
  bool whole = read_all(file, &head, sizeof head, at) && head.first == range.first && head.count == chunk.count;
  if (whole) {
    record_in in(file, at + static_cast<std::int64_t>(sizeof head), head.bytes);
    if (plan_.rows) {
      get_statuses(in);
      get_words(in, chunk);
      get_columns(in, chunk, plan_, 0, chunk.count);
      get_events(in, chunk.log);
    } else {
      get_statistics(in, chunk, plan_, counts);
    }
    whole = in.was_all();
  }
  if (!whole)
    throw error(exit_failure, fmt::format("{}: cannot be read back; --restart begins anew", folder_.string()));
}

void journal::keep(const chunk_data& chunk, const tally& counts) {
  if (reads_only_ || records_.contains(chunk.first_id)) return;
  const auto ended = [&](std::int64_t slot) { return has_ended(chunk.status[static_cast<std::size_t>(slot)]); };
  for (std::int64_t from = 0, to = 0; from < chunk.count; from = to) {
    for (to = from + 1; to < chunk.count && ended(to) == ended(from);) ++to;
    // Without rows, the statistics of a chunk cannot be split.
    if (ended(from) && (plan_.rows || to - from == chunk.count)) append(chunk, counts, from, to);
  }
  if (clock::now() - settled_ > std::chrono::duration<double>(plan_.checkpoint.value_or(usual_checkpoint))) settle();
}

void journal::append(const chunk_data& chunk, const tally& counts, std::int64_t from, std::int64_t to) {
  record_head head{};
  std::memcpy(head.magic, magic, sizeof head.magic);
  head.first = chunk.first_id + from, head.count = to - from;
  record_out out(file_, end_ + static_cast<std::int64_t>(sizeof head), buffer_);
  if (plan_.rows) {
    put_statuses(out, chunk, from, to);
    const bool is_here = chunk.not_finite.id >= head.first && chunk.not_finite.id < head.first + head.count;
    put_words(out, is_here ? chunk.not_finite : not_finite_instance{}, chunk.trouble);
    put_columns(out, chunk, plan_, from, to);
    put_events(out, chunk.log, chunk.count, from, to);
  } else {
    put_statistics(out, chunk, plan_, counts);
  }
  // The head is written last: without it there is no record.
  if (!out.close(head, identity_) || !write_all(file_, &head, sizeof head, end_)) {
    const int why = errno;
    if (::ftruncate(file_, end_) != 0) {}  // a reader finds the end there even if this fails
    fail(std::strerror(why));
  }
  if (!part_.among.empty() && !overlaps({head.first, head.count}))  // records of others may come before it looks again
    records_[head.first] = {head.count, end_, file_};
  end_ += around + head.bytes;
  instances_ += head.count;
}

void journal::settle() {
  if (reads_only_) return;
  if (::fdatasync(file_) != 0) fail(std::strerror(errno));
  settled_ = clock::now();
}

void journal::close(const fs::path& complete) {
  write_at_once(folder_ / "complete", identity_of_file(complete), lasting::yes);
}

void journal::sweep(const fs::path& result) {
  const fs::path folder = folder_of(result);
  const auto made = read_plain_file(folder / "complete", longest_text);
  if (made && !made->empty() && *made == identity_of_file(result)) drop(folder);
  ::rmdir(folder.c_str());  // removes an empty folder only
}

std::string journal::identity() const { return read_file(folder_ / "run.json"); }

void journal::remove() { drop(folder_); }

}  // namespace saltus::host
