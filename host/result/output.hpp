// The interface to which a run writes its result, chunk by chunk, and the work that all formats have in common. A format
// implements the protected functions: where the numbers of the fields (schema.hpp) go.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ensemble/chunk_data.hpp"
#include "ensemble/indices.hpp"
#include "ensemble/run_statistics.hpp"
#include "ensemble/tally.hpp"
#include "ensemble/waiting_chunks.hpp"
#include "result/attributes.hpp"
#include "result/format.hpp"
#include "result/provenance.hpp"
#include "result/schema.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// Receives the result of one run. Not thread-safe. If the result cannot be written, every member throws `error`
/// (exit_failure) with its name and the reason.
class result_output {
 public:
  explicit result_output(const plan& p);
  virtual ~result_output() = default;
  result_output(const result_output&) = delete;
  result_output& operator=(const result_output&) = delete;

  /// Adds one chunk and the counts of its instances. Chunks come in any order, each instance once. If the plan has no
  /// rows, a chunk from an earlier run has only statistics: its columns must not be counted.
  virtual void write(const chunk_data& chunk, const tally& counts);
  /// The same for a chunk whose columns are all on the host.
  void write(const chunk_data& chunk) { write(chunk, tally_of(chunk)); }

  /// Adds instances that have ended, for a plan without rows: their number and their counts.
  void count(std::int64_t instances, const tally& counts);

  /// Completes the result, with statistics and sensitivity indices if the plan asks for them. Instances that were never
  /// written have status not_run.
  void close(double wall_time_s, const statistics& all = {}, const sensitivity_indices& indices = {});

 protected:
  /// Writes the numbers of a chunk: those of the fields with rows.
  virtual void put_rows(const chunk_data& chunk, const detail::derived_columns& derived) = 0;
  /// Takes the event log of a chunk whose rows are written.
  virtual void put_log(const chunk_data&) {}
  /// Writes rows and events that wait for others.
  virtual void end_rows() {}
  /// Writes the values of field k that are known at the end.
  virtual void put_final(std::size_t k, const detail::final_values& values) = 0;
  /// Writes the last attributes of the run and completes the result.
  virtual void end(const std::vector<attribute>& last) = 0;

  /// Counts the instances that were never written. The attributes are those counts and the state of the result; no
  /// state: complete or interrupted, by the counts.
  std::vector<attribute> counts_and_state(const std::string& state);
  std::int64_t ended() const { return written_ - tally_.not_finished(); }

  const plan plan_;
  const std::vector<detail::field> fields_;
  tally tally_;
  std::int64_t written_ = 0;  ///< instances
};

/// A result that appears under its name only when it is complete. Until `close` it is `<name>.part`, which the
/// destructor removes if `close` was not called. After an error, `keep` can save the part written so far.
class output_file : public result_output {
 public:
  /// Throws `error` if the result must not be written there (check_result_path) or has two variables of one name.
  output_file(const std::filesystem::path& result, const plan& p, existing older);

  /// Keeps `<name>.part` if it contains instances, marked with the reason for which it is incomplete. Returns the
  /// number of its instances that have ended. Nothing can be written afterwards.
  virtual std::int64_t keep(const std::string& reason) = 0;

  /// For a part of an ensemble that writes the rows of its own ranges into the result, beside the writers of other
  /// parts: ends it and returns `<name>.part`. `all`: all its instances have ended; otherwise the part will continue
  /// from its journal. Empty for other outputs, which the destructor removes.
  virtual std::string leave([[maybe_unused]] bool all) { return {}; }

  /// `<name>.part`, and the name to which that of a dead run was moved, if there was one.
  virtual const std::filesystem::path& unfinished() const = 0;
  virtual const std::filesystem::path& set_aside() const = 0;

 protected:
  const existing older_;
};

/// The output of a run, by the name of its result.
std::unique_ptr<output_file> make_output(const std::filesystem::path& path, const plan& p, const provenance& origin,
                                         existing older = existing::refused, abandoned part = abandoned::set_aside);

/// Collects rows of the event log and hands them on as columns, some at a time, since a log may exceed memory.
class event_pieces {
 public:
  using taker = std::function<void(const detail::derived_columns&)>;
  event_pieces(const plan& p, std::int64_t rows, taker take);
  /// Adds the rows of the slots from `from` to `to` of a chunk.
  void add(const event_log& log, std::int64_t first_id, std::int64_t from, std::int64_t to);
  void end();

 private:
  const std::int64_t rows_;
  const taker take_;
  detail::derived_columns piece_;
};

/// The event log of a result, in the order of instances: rows wait for those of lower ids.
class ordered_log {
 public:
  ordered_log(const plan& p, event_pieces::taker take);
  void put(const chunk_data& chunk);
  /// Hands on the events of all chunks that have arrived, even if earlier chunks are missing.
  void end();
  std::int64_t waiting_rows() const { return waiting_rows_; }

 private:
  void take(const chunk_log& chunk);

  event_pieces pieces_;
  waiting_chunks<chunk_log> waiting_;
  std::int64_t waiting_rows_ = 0;
};

}  // namespace saltus::host
