// The source of instances for a run that shares its ensemble with others: ranges of ids that no other run has.
//
// Exclusive ranges only save work: an instance that two runs integrate has the same bits in both, and a journal counts
// it once. A claim may therefore be lost, or be given twice, when a machine or a file system fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "ensemble/part.hpp"

namespace saltus::host {

class claims {
 public:
  virtual ~claims() = default;
  /// The next range, of about `wanted` instances, or more if ranges are handed out in larger pieces; none if nothing
  /// can be taken now. Called by one thread at a time.
  virtual std::optional<id_range> next(std::int64_t wanted) = 0;
  /// Number of instances that no run has taken. Any thread.
  virtual std::int64_t unclaimed() const = 0;
  /// The number of these that only this run may take. Any thread.
  virtual std::int64_t reserved() const { return 0; }
};

/// Ranges that are fixed beforehand: those of a part.
class listed_claims final : public claims {
 public:
  explicit listed_claims(std::vector<id_range> all) : all_(std::move(all)) {}
  std::optional<id_range> next(std::int64_t) override {
    return next_ < all_.size() ? std::optional(all_[next_++]) : std::nullopt;
  }
  std::int64_t unclaimed() const override {
    std::int64_t sum = 0;
    for (std::size_t i = next_; i < all_.size(); ++i) sum += all_[i].count;
    return sum;
  }
  std::int64_t reserved() const override { return unclaimed(); }

 private:
  const std::vector<id_range> all_;
  std::size_t next_ = 0;
};

}  // namespace saltus::host
