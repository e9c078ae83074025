// The journal of a long run: chunks as they end, so that a run which was killed goes on where it was.
//
// `<file>.journal/` holds `run.json`, which says of what run it is, `spec.json`, from which its plan can be made again without its model, and `chunks`, to which one record after another is
// appended: a head (what instances, how many bytes, its own checksum), how they have ended, the columns of results, a checksum (XXH3,
// 64 bits) of all. A record that was cut off, or whose checksum is not that of its bytes, is left out, and its instances are
// integrated again: its head tells where the next one is, or, where the head is damaged, the next head that can be found. Since the bits of an instance do not depend on what runs beside it, the result is the same.
//
// Parts of an ensemble share one journal: each appends to a file of its own, `chunks.3of16`, and reads those of the others.
// Nobody else writes a file, so that no lock is needed for what is in it to be right: locks say only who is at work. Runs that
// share an ensemble as they go (sharing.hpp) do the same; of the files of others they read the heads of records alone.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "ensemble/chunk.hpp"
#include "ensemble/claims.hpp"
#include "ensemble/kept_chunks.hpp"
#include "ensemble/tally.hpp"
#include "result/provenance.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// Another run is writing the journal.
struct journal_is_taken : error {
  using error::error;
};

struct record_head;

class journal : public kept_chunks {
 public:
  /// What an older journal of the same file is to this run. One that is only read may be in use by others.
  /// One that is looked at may be of any run: it says itself of which.
  enum class older { continued, removed, read, looked_at };

  /// The folder of a result's journal.
  static std::filesystem::path folder_of(const std::filesystem::path& result);
  static bool is_there(const std::filesystem::path& result);
  /// The run of a journal, by what the journal says alone: no code of its model is asked for anything. Of the model there are the names,
  /// and none can be compiled. Throws `error` if there is none.
  struct kept_run {
    plan what;
    provenance origin;
  };
  static kept_run run_of(const std::filesystem::path& folder);
  /// Throws `error` (exit_usage) if what has the name of a result's journal is none: nothing else is ever written or removed there.
  static void check_place(const std::filesystem::path& result);
  /// Removes a journal whose result is complete, but whose run ended before it could do so.
  static void sweep(const std::filesystem::path& result);

  /// Opens the journal that is there, or makes one. Throws `error`: (exit_usage) if it is of another run, with what
  /// differs; (exit_failure) if another run writes it, or it cannot be written. Refers to `p`, which must outlive it.
  journal(const std::filesystem::path& result, const plan& p, const provenance& origin, older what,
          const ensemble_part& part = {});
  ~journal() override;
  journal(const journal&) = delete;
  journal& operator=(const journal&) = delete;

  const std::vector<id_range>& left() const override { return left_; }
  /// What a part has to do. Runs that share an ensemble as they go have their claims elsewhere.
  claims* taken_from() override { return mine_.get(); }
  void load(const id_range& range, chunk_data& chunk, tally& counts) const override;
  void keep(const chunk_data& chunk, const tally& counts) override;

  const std::filesystem::path& folder() const { return folder_; }
  /// What says of what run it is.
  std::string identity() const;
  /// A number made of that, with which the checksums of heads of records begin.
  std::uint64_t seed() const { return identity_; }
  std::int64_t instances() const { return instances_; }  ///< that it has of this part, those that were left among them
  /// Of all parts, those that nobody had kept when it was opened, or looked at again.
  std::vector<id_range> missing() const;
  /// Reads what others have appended. Not while chunks are kept.
  void look_again();
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
  void open_others();
  void refuse_others() const;
  bool is_head(const record_head& head, std::int64_t room) const;
  std::int64_t next_head(int file, std::int64_t at, std::int64_t size) const;
  std::int64_t read_back(int file, const std::string& name, std::int64_t end = 0);
  void note_damage(const std::string& what);
  void read_others();
  void drop_what_follows();
  void divide();
  bool overlaps(const id_range& range) const;
  void append(const chunk_data& chunk, const tally& counts, std::int64_t from, std::int64_t to);
  void close_files();
  [[noreturn]] void fail(const std::string& why) const;

  std::filesystem::path result_, folder_;
  const plan& plan_;
  const ensemble_part part_;
  const bool reads_only_;
  int file_ = -1;  ///< of this part
  struct other {
    std::filesystem::path path;
    int file;
    std::int64_t end;  ///< of its last record that is whole
  };
  std::map<std::string, other> others_;  ///< of other parts, by name
  std::int64_t end_ = 0;                 ///< of the last record that is whole
  std::int64_t instances_ = 0;
  std::vector<id_range> left_;
  std::unique_ptr<listed_claims> mine_;
  struct record {
    std::int64_t count, place;
    int file;
  };
  std::map<std::int64_t, record> records_;  ///< that were left, by their first instance
  std::uint64_t identity_ = 0;              ///< of the run, as the heads of records have it
  std::string damage_;
  std::vector<char> buffer_;  ///< of what is appended
  clock::time_point settled_ = clock::now();
};

}  // namespace saltus::host
