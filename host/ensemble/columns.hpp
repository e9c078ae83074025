// The inputs of instances, by columns.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace saltus::host {

/// A chunk of instances by columns: column j of `count` instances is at [j * count, (j + 1) * count).
struct columns {
  std::int64_t count = 0;
  std::vector<double> parameters;      ///< [parameters][count]
  std::vector<double> initial;         ///< [states][count]; NaN: the model's own value
  std::vector<double> discrete;        ///< [discretes][count]; NaN: the model's own; empty: the model's own for all
  std::vector<double> t_begin, t_end;  ///< [count]
  /// [recorded time event][count] the rows of data of an instance: the first one, and the one behind the last
  std::vector<long long> first_row, end_row;
  std::vector<double> record_id;  ///< [count] the id in the data; empty: the model has no recorded time event
  /// The columns of real numbers that a start consists of.
  static const std::array<std::vector<double> columns::*, 5> starts;

  /// The sampler's last values: a chunk that is filled again has its constant columns already.
  struct {
    std::int64_t count = 0;
    std::vector<std::uint64_t> fixed = {};  ///< bits of the values
    std::vector<int> varied = {};           ///< columns with other values: kind, index
  } spread = {};
};
inline constexpr std::array<std::vector<double> columns::*, 5> columns::starts = {
    &columns::parameters, &columns::initial, &columns::discrete, &columns::t_begin, &columns::t_end};

}  // namespace saltus::host
