#include "result/journal.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <sstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "abi/status.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "base/toml.hpp"
#include "result/format.hpp"
#include "result/journal_folder.hpp"
#include "result/journal_records.hpp"
#include "spec/field.hpp"
#include "spec/methods.hpp"
#include "spec/model_json.hpp"
#include "spec/names.hpp"
#include "spec/spec.hpp"

namespace saltus::host {
namespace fs = std::filesystem;

namespace {

/// Keys of [output] that a run may have otherwise when it continues.
const names changes_no_number = {"file", "title", "compression", "provenance"};

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
    if (sign == line.npos) continue;
    const std::size_t begin = line.starts_with('#') ? 2 : 0;
    const std::string name = line.substr(begin, sign - begin);
    if (!contains(changes_no_number, name)) all.emplace_back(name, line.substr(sign + (begin > 0 ? 2 : 3)));
  }
  const auto spec = toml::parse(p.text);
  for (const char* table :
       {"parameters", "initial", "sweep", "sample", "records", "sensitivity", "lyapunov", "gradient"})
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

struct flock all_of_it(short kind) {
  struct flock whole {};
  whole.l_type = kind;
  whole.l_whence = SEEK_SET;
  return whole;
}

/// The members of a provenance that a journal stores, except the list of files.
std::vector<std::pair<const char*, std::string*>> texts_of(provenance& origin) {
  return {{"version", &origin.version},      {"model_hash", &origin.model_hash}, {"compiler", &origin.compiler},
          {"device", &origin.device},        {"command", &origin.command},       {"module_hash", &origin.module_hash},
          {"model_text", &origin.model_text}};
}

}  // namespace

fs::path journal::folder_of(const fs::path& result) { return result.string() + ".journal"; }

fs::path journal::named(const fs::path& path) {
  const fs::path folder = path.has_filename() ? path : path.parent_path();
  std::error_code ignored;
  return folder.extension() == ".journal" && fs::is_directory(folder, ignored) ? folder : fs::path();
}

void journal::check_folder(const fs::path& result) { check_that_ours(folder_of(result)); }

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
/// empty, at any point between these calls, so they are tried several times.
void journal::open() {
  constexpr int many = 100;
  const fs::path chunks = folder_ / file_of(part_);
  for (int tries = 0; file_ < 0; ++tries) {
    const bool is_made = ::mkdir(folder_.c_str(), 0777) == 0 || errno == EEXIST;
    if (is_made) file_ = ::open(chunks.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file_ < 0 && (!is_made || errno != ENOENT || tries == many)) fail(std::strerror(errno));
  }
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
    empty_journal(folder_, file_of(part_));
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
  return std::memcmp(head.magic, record_magic, sizeof head.magic) == 0 &&
         checksum_of(head, identity_) == head.checksum && head.first >= 0 && head.count > 0 &&
         head.first <= plan_.count - head.count && head.bytes >= 0 && head.bytes <= room - around_record;
}

/// The position of the next head from `at` on; -1: there is none.
std::int64_t journal::next_head(int file, std::int64_t at, std::int64_t size) const {
  std::vector<char> some(record_piece);
  for (constexpr auto overlap = static_cast<std::int64_t>(sizeof(record_head)) - 1; size - at >= around_record;) {
    const auto n = std::min<std::int64_t>(size - at, std::ssize(some));
    if (!read_all(file, some.data(), static_cast<std::size_t>(n), at)) return -1;
    for (std::int64_t i = 0; i < n - overlap; ++i) {
      record_head head{};
      const auto* found = static_cast<const char*>(
          std::memchr(some.data() + i, record_magic[0], static_cast<std::size_t>(n - overlap - i)));
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
  std::vector<char> some(takes_heads ? 0 : record_piece);
  std::int64_t damaged = 0;
  for (std::int64_t at = end; at >= 0 && at + around_record <= about.st_size;) {
    record_head head{};
    const bool is_here = read_all(file, &head, sizeof head, at) && is_head(head, about.st_size - at);
    if (!is_here && takes_heads) break;
    if (!is_here) {
      at = next_head(file, at + 1, about.st_size);
      if (at > 0) ++damaged;
      continue;
    }
    const std::int64_t after = at + around_record + head.bytes;
    if (!takes_heads && !has_its_checksum({file, at}, head, some)) {
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
  const shared_format* const shared = shared_format_of(plan_);  // a part writes its own rows into the result
  const auto mine = ranges_of(part_, plan_.count, shared ? shared->chunk_rows(plan_) : 1);
  instances_ = instances_in(intersection(kept, mine));
  if (part_.is_all()) stored_ = std::move(kept);
  else if (part_.among.empty() && shared) {
    // Stored instances are loaded. A record of another division into parts may reach beyond a range: its instances are
    // integrated again.
    for (const id_range& one : kept)
      if (const auto of_mine = intersection({one}, mine); of_mine == std::vector{one}) stored_.push_back(one);
    mine_ = std::make_unique<listed_claims>(mine);
  } else if (part_.among.empty()) mine_ = std::make_unique<listed_claims>(intersection(missing(), mine));
}

std::vector<id_range> journal::missing() const {
  std::vector<id_range> kept;
  for (const auto& [first, one] : records_) kept.push_back({first, one.count});
  return complement(kept, plan_.count);
}

void journal::must_be_complete() const {
  const auto left = missing();
  if (left.empty()) return;
  constexpr std::size_t few = 4;
  std::string some;
  for (std::size_t i = 0; i < std::min(few, left.size()); ++i)
    some += fmt::format("{}{}..{}", i > 0 ? ", " : "", left[i].first, left[i].end() - 1);
  if (left.size() > few) some += ", ...";
  throw error(exit_failure,
              fmt::format("{} has no results of {} of {} instances: {}. Run the parts that have not ended again; or "
                          "saltus run without --part, which integrates them here",
                          folder_.string(), instances_in(left), plan_.count, some));
}

void journal::load(const id_range& range, chunk_data& chunk, tally& counts) const {
  const auto [count, at, file] = records_.at(range.first);
  if (!read_record({file, at}, range.first, chunk, plan_, counts))
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
  const auto head = write_record({file_, end_}, identity_, plan_, {chunk, counts, from, to}, buffer_);
  if (!head) {
    const int why = errno;
    if (::ftruncate(file_, end_) != 0) {}  // a reader finds the end there even if this fails
    fail(std::strerror(why));
  }
  if (!part_.among.empty() &&
      !overlaps({head->first, head->count}))  // records of others may come before it looks again
    records_[head->first] = {head->count, end_, file_};
  end_ += around_record + head->bytes;
  instances_ += head->count;
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
  if (made && !made->empty() && *made == identity_of_file(result)) drop_journal(folder);
  ::rmdir(folder.c_str());  // removes an empty folder only
}

std::string journal::identity() const { return read_file(folder_ / "run.json"); }

void journal::remove() { drop_journal(folder_); }

}  // namespace saltus::host
