// The place of a Zarr store: whose the unfinished folder is, how what is in it comes there, and how it gets its name. What
// part_file.hpp is to a file.
//
// While a run lasts it writes into `<store>.part/`, in which `.lock` is locked: so another run can tell it from what a run that is
// dead has left behind. Whatever is in the folder has its name when it is complete, so that it can be read at any time.
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
  /// Makes it, empty but for its lock. One that a dead run has left is emptied, or set aside if there are finished instances in it.
  explicit store_folder(const std::filesystem::path& store, abandoned older = abandoned::set_aside);
  /// Makes it, or joins others that write into it. `name`: of this one among them.
  static std::unique_ptr<store_folder> joined(const std::filesystem::path& store, const std::string& name);
  /// Takes it when all have left it. Throws store_is_taken if somebody has not, or if it is not there.
  static std::unique_ptr<store_folder> left_by_all(const std::filesystem::path& store);
  /// It stays unless it was removed.
  ~store_folder();
  store_folder(const store_folder&) = delete;
  store_folder& operator=(const store_folder&) = delete;

  const std::filesystem::path& path() const { return part_; }
  /// Where the folder of a run that is dead was moved to, since there are finished instances in it; empty: there was none.
  const std::filesystem::path& set_aside() const { return set_aside_; }

  void make_folder(const std::string& name) const;
  /// Makes `bytes` the content of a file in it, which appears under its name when it is complete.
  void put(const std::string& name, std::string_view bytes) const;
  bool has(const std::string& name) const;
  /// The content of a file in it.
  std::string get(const std::string& name) const;
  /// Removes something in it, if it is there.
  void drop(const std::string& name) const;
  /// Waits until all of it is on the disk.
  void settle() const;
  /// Settles it and gives it its name. If that is taken and may not be replaced, or something else fails, the results stay where
  /// they are.
  void publish(existing older);
  /// Removes it, if it still is what was made here.
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
  std::string fresh_ = ".part";  ///< what names of files end with that are being written
  int lock_ = -1;
};

}  // namespace saltus::host
