// The unfinished file of a result: which run owns it, and how it gets its final name.
//
// While a run lasts, it writes into `<file>.part`, which it has created itself, never through a symbolic link. The run
// locks the file, so that another run can tell it from the file of a dead run. The system drops the lock when the
// process ends, however that happens.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "result/format.hpp"

namespace saltus::host {

/// `<file>.part`, locked and empty, until it is published or removed. Not thread-safe.
class part_file {
 public:
  /// Throws `error` (exit_failure) if another run writes the file, or it cannot be created.
  explicit part_file(const std::filesystem::path& result, abandoned older = abandoned::set_aside);
  /// Closes the file, which stays unless it was removed.
  ~part_file();
  part_file(const part_file&) = delete;
  part_file& operator=(const part_file&) = delete;

  const std::filesystem::path& path() const { return part_; }
  /// A name of the open file that stays valid if its path changes: for libraries that open by name.
  std::filesystem::path own_name() const;
  /// The name to which the part of a dead run was moved because it contains finished instances; empty: there was none.
  const std::filesystem::path& set_aside() const { return set_aside_; }

  /// Adds text at the end. If that fails, nothing of it stays in the file, and throws `error` (exit_failure).
  void append(std::string_view text);
  /// Reserves disk space for a file of `bytes`. Returns the reason if that fails ("No space left on device"); empty:
  /// success.
  std::string reserve(std::int64_t bytes);
  /// The writer has truncated the file, which releases the reserved space.
  void was_truncated() { reserved_ = 0; }
  /// Puts the written bytes on the disk and releases reserved space. Throws `error` (exit_failure).
  void settle();
  /// Settles the file and gives it its name. If the name is taken and may not be replaced, or something else fails,
  /// throws `error` (exit_failure), and the results stay in the part.
  void publish(existing older);
  /// Removes the file if the path still leads to it.
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
