// A result in memory: the variables of the result file (schema.hpp) as arrays, with the same names, numbers and
// attributes. It depends on chunks and the schema, not on files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ensemble/chunk_data.hpp"
#include "result/attributes.hpp"
#include "result/output.hpp"
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

/// Collects the result of one run.
class result_arrays final : public result_output {
 public:
  /// Allocates all variables. Elements that are never written are as in a file: status not_run, numbers NaN. Throws
  /// `error` (exit_failure) if memory does not suffice.
  result_arrays(const plan& p, const provenance& origin);

  const std::vector<result_array>& variables() const { return variables_; }
  std::vector<result_array>& variables() { return variables_; }  ///< the owner of the result may change its numbers
  const std::vector<attribute>& attributes() const { return attributes_; }

 private:
  void put_rows(const chunk_data& chunk, const detail::derived_columns& derived) override;
  void put_log(const chunk_data& chunk) override { log_.put(chunk); }
  void end_rows() override { log_.end(); }
  void put_final(std::size_t k, const detail::final_values& values) override;
  void end(const std::vector<attribute>& last) override;
  void put_events(const detail::derived_columns& events);

  std::vector<result_array> variables_;  ///< by field
  std::vector<attribute> attributes_;
  ordered_log log_;
};

}  // namespace saltus::host
