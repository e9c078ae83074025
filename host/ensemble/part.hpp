// Parts of an ensemble: several runs, on one machine or many, each integrate their own instances.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace saltus::host {

/// Instances first, ..., first + count - 1.
struct id_range {
  std::int64_t first, count;
  std::int64_t end() const { return first + count; }
  bool operator==(const id_range&) const = default;
};

/// Part `number` (from 1) of `of` parts. Parts take ranges of ids in turn all over the ensemble: if the work changes
/// slowly with the id, they take the same time.
struct ensemble_part {
  std::int64_t number = 1, of = 1;
  /// The name of a run among those that share all instances dynamically; empty: it does not share.
  std::string among = {};
  bool is_all() const { return of == 1 && among.empty(); }
};

/// "3/16". Throws `error` (exit_usage) for anything else.
ensemble_part part_called(const std::string& text);
std::string text_of(const ensemble_part& part);

/// The ranges of a part in an ensemble of `count` instances, in the order of ids. Ranges begin at multiples of `whole`,
/// so that no chunk of `whole` instances is split between parts.
std::vector<id_range> ranges_of(const ensemble_part& part, std::int64_t count, std::int64_t whole = 1);

// For disjoint ranges in the order of ids:
std::int64_t instances_in(const std::vector<id_range>& ranges);
/// The ids of 0, ..., count - 1 that are in no range.
std::vector<id_range> complement(const std::vector<id_range>& ranges, std::int64_t count);
/// The ids that are in both.
std::vector<id_range> intersection(const std::vector<id_range>& a, const std::vector<id_range>& b);

}  // namespace saltus::host
