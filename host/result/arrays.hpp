// A result that stays in memory: the variables of the result file (schema.hpp) with the same names, numbers and attributes, as
// arrays. Knows chunks and the schema, and no file.
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
  std::vector<std::string> dimensions;  ///< instance, time, event, statistic or bin_...; none of a scalar
  std::vector<std::int64_t> shape;      ///< their lengths
  std::vector<attribute> attributes;
  std::vector<std::byte> numbers;  ///< the last dimension fastest
};

/// Gathers the result of one run. Not thread-safe.
class result_arrays {
 public:
  /// Makes room for all instances. What is never written is as in a file: status not_run, numbers NaN. Throws `error`
  /// (exit_failure) if there is not so much memory.
  result_arrays(const plan& p, const provenance& origin);

  /// Adds one chunk, and what there is to count of its instances; chunks come in any order, each instance once.
  void write(const chunk_data& chunk, const tally& counts);
  void write(const chunk_data& chunk) { write(chunk, tally_of(chunk)); }
  /// Adds instances that have ended, of a plan without rows, by their number and what there is to count of them.
  void count(std::int64_t instances, const tally& counts);
  /// Adds what is known at the end alone. Events stand in the order of the instances then.
  void close(double wall_time_s, const statistics& all = {}, const sensitivity_indices& indices = {});

  const std::vector<result_array>& variables() const { return variables_; }
  std::vector<result_array>& variables() { return variables_; }  ///< whoever owns the result may change its numbers
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
