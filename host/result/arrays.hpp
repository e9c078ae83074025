// A result in memory: the variables of the result file (schema.hpp) as arrays, with the same names, numbers and
// attributes. It depends on chunks and the schema, not on files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ensemble/chunk.hpp"
#include "ensemble/statistics.hpp"
#include "ensemble/tally.hpp"
#include "ensemble/waiting_logs.hpp"
#include "result/attributes.hpp"
#include "result/provenance.hpp"
#include "result/schema.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// One variable and its numbers.
struct result_array {
  enum class number { real, int64, int32, byte };

  detail::field what;
  number type = number::real;
  std::vector<std::string> dimensions;  ///< instance, time, event, statistic or bin_...; none for a scalar
  std::vector<std::int64_t> shape;      ///< their lengths
  std::vector<attribute> attributes;
  std::vector<std::byte> numbers;  ///< the last dimension fastest
};

/// Collects the result of one run. Not thread-safe.
class result_arrays {
 public:
  /// Allocates all variables. Elements that are never written are as in a file: status not_run, numbers NaN. Throws
  /// `error` (exit_failure) if memory does not suffice.
  result_arrays(const plan& p, const provenance& origin);

  /// Adds one chunk and the counts of its instances. Chunks come in any order, each instance once.
  void write(const chunk_data& chunk, const tally& counts);
  void write(const chunk_data& chunk) { write(chunk, tally_of(chunk)); }
  /// Adds instances that have ended, for a plan without rows: their number and their counts.
  void count(std::int64_t instances, const tally& counts);
  /// Adds the variables that are known only at the end, and writes events in the order of instances.
  void close(double wall_time_s, const statistics& all = {}, const sensitivity_indices& indices = {});

  const std::vector<result_array>& variables() const { return variables_; }
  std::vector<result_array>& variables() { return variables_; }  ///< the owner of the result may change its numbers
  const std::vector<attribute>& attributes() const { return attributes_; }

 private:
  void write_events(const waiting_logs::chunk_log& chunk);
  void write_final(const statistics& all, const sensitivity_indices& indices);

  plan plan_;
  tally tally_;
  std::int64_t written_ = 0;
  std::vector<result_array> variables_;
  std::vector<attribute> attributes_;
  waiting_logs waiting_;
};

}  // namespace saltus::host
