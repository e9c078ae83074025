// The journal of a long run stores chunks as they end, so that a run that was killed continues from there.
//
// `<file>.journal/` holds `run.json`, which identifies the run; `spec.json`, from which its plan is restored without
// its model; and `chunks`, a sequence of records. A record has a head (instances, bytes, own checksum), the counts of
// statuses, the columns of results, and a checksum (XXH3, 64 bits) of everything. A record that was cut off, or whose
// checksum does not match, is skipped, and its instances are integrated again; its head gives the position of the next
// record, or, if the head is damaged, the next intact head is searched for. The bits of an instance do not depend on
// its neighbours, so the result is the same.
//
// Parts of an ensemble share one journal: each appends to its own file, `chunks.3of16`, and reads those of the others.
// Every file has one writer, so correctness needs no lock; locks only show which runs are active. Runs that share an
// ensemble dynamically (sharing.hpp) do the same; they read only the heads of other runs' records.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "ensemble/chunk_data.hpp"
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
  /// The use that this run makes of an older journal of the same file. A journal that is only read may be in use by
  /// others. A journal that is looked at may belong to any run; its own files say to which.
  enum class older { continued, removed, read, looked_at };

  /// The folder of a result's journal.
  static std::filesystem::path folder_of(const std::filesystem::path& result);
  static bool is_there(const std::filesystem::path& result);
  /// The folder of a journal named by a user, FILE.journal or FILE.journal/; empty: the path is no journal.
  static std::filesystem::path named(const std::filesystem::path& path);
  /// The run of a journal, from the journal alone: no code of its model is called. The model has its names and cannot
  /// be compiled. Throws `error` if there is no journal.
  struct kept_run {
    plan what;
    provenance origin;
  };
  static kept_run run_of(const std::filesystem::path& folder);
  /// Throws `error` (exit_usage) if the path of a result's journal exists and is no journal: no other file is ever
  /// written or removed.
  static void check_folder(const std::filesystem::path& result);
  /// Removes a journal whose result is complete, but whose run ended before it could remove it.
  static void sweep(const std::filesystem::path& result);

  /// Opens the existing journal, or makes one. Throws `error`: (exit_usage) if it belongs to another run, with the
  /// differences; (exit_failure) if another run writes it, or it cannot be written. Refers to `p`, which must outlive
  /// it.
  journal(const std::filesystem::path& result, const plan& p, const provenance& origin, older what,
          const ensemble_part& part = {});
  ~journal() override;
  journal(const journal&) = delete;
  journal& operator=(const journal&) = delete;

  const std::vector<id_range>& stored() const override { return stored_; }
  /// The work of a part; null for a whole run and for runs that share an ensemble dynamically, whose claims are
  /// elsewhere.
  claims* taken_from() override { return mine_.get(); }
  void load(const id_range& range, chunk_data& chunk, tally& counts) const override;
  void keep(const chunk_data& chunk, const tally& counts) override;

  const std::filesystem::path& folder() const { return folder_; }
  /// The text that identifies the run.
  std::string identity() const;
  /// The hash of that text, with which the checksums of heads begin.
  std::uint64_t seed() const { return identity_; }
  std::int64_t instances() const { return instances_; }  ///< stored by this part, including those that were left
  /// Instances that no part had stored when the journal was opened or last looked at.
  std::vector<id_range> missing() const;
  /// Throws `error` (exit_failure) with the missing instances if there are any.
  void must_be_complete() const;
  /// Reads the records that others have appended. Not while chunks are kept.
  void look_again();
  /// Describes damage in the records that were left; empty: none.
  const std::string& damage() const { return damage_; }
  /// Waits until all records are on the disk.
  void settle();
  /// Records that the result is complete in a file that is about to get its name, so that a later run knows that file
  /// and journal belong together.
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
    std::int64_t end;  ///< end of its last intact record
  };
  std::map<std::string, other> others_;  ///< other parts, by name
  std::int64_t end_ = 0;                 ///< end of the last intact record
  std::int64_t instances_ = 0;
  std::vector<id_range> stored_;
  std::unique_ptr<listed_claims> mine_;
  struct record {
    std::int64_t count, at;
    int file;
  };
  std::map<std::int64_t, record> records_;  ///< records that were left, by first instance
  std::uint64_t identity_ = 0;              ///< hash that identifies the run in the heads of records
  std::string damage_;
  std::vector<char> buffer_;  ///< for appending
  clock::time_point settled_ = clock::now();
};

}  // namespace saltus::host
