// The journal of a long run: chunks as they end, so that a run which was killed goes on where it was.
//
// `<file>.journal/` holds `run.json`, which says of what run it is, and `chunks`, to which one record after another is
// appended: a head (what instances, how many bytes), the columns of results, a checksum (XXH3, 64 bits) of both. A record
// that was cut off, or whose checksum is not that of its bytes, ends what is read; what stands behind it is dropped, and its
// instances are integrated again. Since the bits of an instance do not depend on what runs beside it, the result is the same.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "ensemble/chunk.hpp"
#include "ensemble/kept_chunks.hpp"
#include "ensemble/tally.hpp"
#include "result/provenance.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

class journal : public kept_chunks {
 public:
  /// What an older journal of the same file is to this run.
  enum class older { continued, removed };

  /// The folder of a result's journal.
  static std::filesystem::path folder_of(const std::filesystem::path& result);
  static bool is_there(const std::filesystem::path& result);
  /// Removes a journal whose result is complete, but whose run ended before it could do so.
  static void sweep(const std::filesystem::path& result);

  /// Opens the journal that is there, or makes one. Throws `error`: (exit_usage) if it is of another run, with what
  /// differs; (exit_failure) if another run writes it, or it cannot be written. Refers to `p`, which must outlive it.
  journal(const std::filesystem::path& result, const plan& p, const provenance& origin, older what);
  ~journal() override;
  journal(const journal&) = delete;
  journal& operator=(const journal&) = delete;

  const std::vector<id_range>& left() const override { return left_; }
  void load(const id_range& range, chunk_data& chunk, tally& counts) const override;
  void keep(const chunk_data& chunk, const tally& counts) override;

  const std::filesystem::path& folder() const { return folder_; }
  std::int64_t instances() const { return instances_; }  ///< that it has, those that were left among them
  /// What was wrong with what was left; empty: nothing was.
  const std::string& damage() const { return damage_; }
  /// Makes sure that what was kept is on the disk.
  void settle();
  /// The result is complete in a file that is about to get its name: whoever finds both knows that they belong together.
  void close(const std::filesystem::path& complete);
  void remove();

 private:
  using clock = std::chrono::steady_clock;

  void identify(const provenance& origin, older what);
  void open();
  void read_back();
  bool overlaps(const id_range& range) const;
  void append(const chunk_data& chunk, const tally& counts, std::int64_t from, std::int64_t to);
  [[noreturn]] void fail(const std::string& why) const;

  std::filesystem::path result_, folder_;
  const plan& plan_;
  int file_ = -1;
  std::int64_t end_ = 0;  ///< of the last record that is whole
  std::int64_t instances_ = 0;
  std::vector<id_range> left_;
  struct record {
    std::int64_t count, place;
  };
  std::map<std::int64_t, record> records_;  ///< that were left, by their first instance
  std::string damage_;
  clock::time_point settled_ = clock::now();
};

}  // namespace saltus::host
