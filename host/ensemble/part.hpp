// Parts of an ensemble: several runs, on one machine or many, each of which integrates instances of its own.
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

/// The part `number` of so many, from 1. They have ranges of ids in turn, all over the ensemble: where the work changes slowly
/// with the id, parts take the same time.
struct ensemble_part {
  std::int64_t number = 1, of = 1;
  std::string among = {};  ///< the name of a run among those that share all instances as they go; empty: it does not
  bool is_all() const { return of == 1 && among.empty(); }
};

/// "3/16". Throws `error` (exit_usage) for anything else.
ensemble_part part_called(const std::string& text);
std::string text_of(const ensemble_part& part);

/// The ranges of a part in an ensemble of `count` instances, in the order of their ids. With `whole` they begin at its multiples: no
/// two parts have instances of one chunk of so many.
std::vector<id_range> ranges_of(const ensemble_part& part, std::int64_t count, std::int64_t whole = 1);

// Of ranges in the order of their ids that do not meet:
std::int64_t instances_in(const std::vector<id_range>& ranges);
/// What they leave of the ids 0, ..., count - 1.
std::vector<id_range> complement(const std::vector<id_range>& ranges, std::int64_t count);
/// What is in both.
std::vector<id_range> intersection(const std::vector<id_range>& a, const std::vector<id_range>& b);

}  // namespace saltus::host
