// The place of a Zarr store: whose the unfinished folder is, how what is in it comes there, and how it gets its name. What
// part_file.hpp is to a file.
//
// While a run lasts it writes into `<store>.part/`, in which `.lock` is locked: so another run can tell it from what a run that is
// dead has left behind. Whatever is in the folder has its name when it is complete, so that it can be read at any time.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "result/part_file.hpp"

namespace saltus::host {

/// Owns the unfinished folder of a store. Not thread-safe. Every member throws `error` (exit_failure), naming the store.
class store_folder {
 public:
  /// Makes it, empty but for its lock. One that a dead run has left is emptied, or set aside if there are finished instances in it.
  explicit store_folder(const std::filesystem::path& store, abandoned older = abandoned::set_aside);
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
  /// The content of a file in it.
  std::string get(const std::string& name) const;
  /// Waits until all of it is on the disk.
  void settle() const;
  /// Settles it and gives it its name. If that is taken and may not be replaced, or something else fails, the results stay where
  /// they are.
  void publish(existing older);
  /// Removes it, if it still is what was made here.
  void remove();

 private:
  [[noreturn]] void fail(const std::string& why) const;
  void make();
  void open_lock();
  bool is_mine() const;
  void make_room();

  std::filesystem::path store_, part_, set_aside_;
  abandoned older_;
  int lock_ = -1;
};

}  // namespace saltus::host
