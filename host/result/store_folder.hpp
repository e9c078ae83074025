// The unfinished folder of a store, a result that is a folder: which run owns it, how files are added to it, and how it gets its final name.
// It corresponds to part_file.hpp.
//
// While a run lasts, it writes into `<store>.part/` and locks `.lock` in it, so that another run can tell the folder
// from that of a dead run. Every file in the folder gets its name when it is complete, so that the store is readable at
// any time.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "result/part_file.hpp"

namespace saltus::host {

/// Another run has an unfinished store, or has completed it.
struct store_is_taken : error {
  using error::error;
};

/// Owns the unfinished folder of a store. Not thread-safe. Every member throws `error` (exit_failure), naming the store.
class store_folder {
 public:
  /// Creates the folder with only its lock. The folder of a dead run is emptied, or set aside if it contains finished
  /// instances.
  explicit store_folder(const std::filesystem::path& store, abandoned older = abandoned::set_aside);
  /// Creates the folder, or joins other runs that write into it. `name`: the name of this run among them.
  static std::unique_ptr<store_folder> joined(const std::filesystem::path& store, const std::string& name);
  /// Takes the folder when all runs have left it. Throws store_is_taken if one has not, or if there is no folder.
  static std::unique_ptr<store_folder> left_by_all(const std::filesystem::path& store);
  /// The folder stays unless it was removed.
  ~store_folder();
  store_folder(const store_folder&) = delete;
  store_folder& operator=(const store_folder&) = delete;

  const std::filesystem::path& path() const { return part_; }
  /// The name to which the folder of a dead run was moved because it contains finished instances; empty: there was
  /// none.
  const std::filesystem::path& set_aside() const { return set_aside_; }

  void make_folder(const std::string& name) const;
  /// Writes `bytes` to a file in the folder, which appears under its name when it is complete.
  void put(const std::string& name, std::string_view bytes) const;
  bool has(const std::string& name) const;
  /// The content of a file in the folder.
  std::string get(const std::string& name) const;
  /// Removes a file or folder in it, if there is one.
  void drop(const std::string& name) const;
  /// Waits until the whole folder is on the disk.
  void settle() const;
  /// Settles the folder and gives it its name. If the name is taken and may not be replaced, or something else fails,
  /// the results stay in the part.
  void publish(existing older);
  /// Removes the folder if the path still leads to it.
  void remove();

 private:
  enum class use { alone, joined, left_by_all };
  store_folder(const std::filesystem::path& store, abandoned older, use how, const std::string& name);
  [[noreturn]] void fail(const std::string& why) const;
  void make();
  void open_lock();
  bool is_mine() const;
  void make_room();

  std::filesystem::path store_, part_, set_aside_;
  abandoned older_;
  use use_ = use::alone;
  std::string fresh_ = ".part";  ///< suffix of files that are being written
  int lock_ = -1;
};

}  // namespace saltus::host
