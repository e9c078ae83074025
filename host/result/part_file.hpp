// The place of a result file: what may be overwritten, whose the unfinished file is, and how it gets its name.
//
// While a run lasts it writes into `<file>.part`, which is its own: made by it and by no one else, never through a
// symbolic link, and locked, so that another run can tell it from what a run that is dead has left behind. The system
// drops the lock with the process, however that ends.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace saltus::host {

/// What is done about a result that is there already.
enum class existing { refused, replaced };

/// Is this a result of saltus, finished or not, that can be opened?
bool is_result(const std::filesystem::path& file);

/// Throws `error` (exit_usage) if a run must not write its result there: it is a folder, a device or a symbolic link; one
/// of `inputs`, the files that the run reads; a file that is not a result of saltus; or, unless it may be replaced, an
/// older result.
void check_result_path(const std::filesystem::path& file, existing older,
                       const std::vector<std::filesystem::path>& inputs);

/// What becomes of the unfinished file of a dead run: it gets a name of its own if there are finished instances in it; or it
/// is removed, since they are in its journal.
enum class abandoned { set_aside, removed };

/// `<file>.part`, locked and empty, until it is published or removed. Not thread-safe.
class part_file {
 public:
  /// Throws `error` (exit_failure) if another run is writing there, or if it cannot be made.
  explicit part_file(const std::filesystem::path& result, abandoned older = abandoned::set_aside);
  /// Closes it; it stays unless it was removed.
  ~part_file();
  part_file(const part_file&) = delete;
  part_file& operator=(const part_file&) = delete;

  const std::filesystem::path& path() const { return part_; }
  /// A name of the file itself, whatever becomes of its path: for libraries that open by name.
  std::filesystem::path own_name() const;
  /// Where the part of a run that is dead was moved to, since there are finished instances in it; empty: there was none.
  const std::filesystem::path& set_aside() const { return set_aside_; }

  /// Makes sure that the file can grow to `bytes`. Returns what is in the way ("No space left on device"); empty: nothing.
  std::string reserve(std::int64_t bytes);
  /// Whoever writes has truncated the file, which gives back what was reserved.
  void was_truncated() { reserved_ = 0; }
  /// Puts what was written, and no more, on the disk. Throws `error` (exit_failure).
  void settle();
  /// Settles it and gives it its name. If that is taken and may not be replaced, or something else fails, it throws
  /// `error` (exit_failure) and the results stay where they are.
  void publish(existing older);
  /// Removes it, if it still is what was made here.
  void remove();

 private:
  void make();
  void take_over();
  void make_room();
  bool is_mine() const;
  enum class locking { held, another_has_it, not_possible };
  locking lock() const;

  std::filesystem::path result_, part_, set_aside_;
  abandoned older_;
  int file_ = -1;
  std::int64_t reserved_ = 0;
};

}  // namespace saltus::host
