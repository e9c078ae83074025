// Compares the results of two runs of an ensemble bit for bit.
#pragma once

#include <cstdint>
#include <vector>

#include "ensemble/chunk_data.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// The differences between the results of two runs; two NaNs are equal.
struct difference {
  std::int64_t compared = 0;   ///< instances that were compared
  std::int64_t instances = 0;  ///< of these: with different bits in final states, end, status, steps or events
  double largest = 0;          ///< of final states, |a - b| / max(1, |a|); infinity: only one is finite

  void add(const difference& more);
};

/// Results of a run, kept for comparison with other runs; only the first ones if all would take too much memory.
class kept_results {
 public:
  explicit kept_results(const plan& p);
  void keep(const chunk_data& chunk);
  difference compare(const chunk_data& chunk) const;

 private:
  std::int64_t kept_;
  std::vector<double> final_state_, t_final_;
  std::vector<unsigned char> status_;
  std::vector<long long> steps_, events_;
};

}  // namespace saltus::host
