// Runs a few instances of a plan to predict the time of all, or to compare it with another plan.
//
// The instances are spread evenly over all ids: for a sweep, evenly over its axes; random samples are equivalent
// anyway.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/cancellation.hpp"
#include "ensemble/backend.hpp"
#include "ensemble/rescue.hpp"

namespace saltus::host {

/// Makes a chunk of `count` instances with evenly spread ids: the k-th is number floor((k + offset) N / count), for 0
/// <= offset < 1. Its first_id is 0: the chunk has the inputs of these ids, not the ids.
void fill_spread(const plan& p, std::int64_t count, double offset, chunk_data& chunk);

/// The cost of one round, in which the backend integrates as many chunks at once as it can.
struct pilot_round {
  std::int64_t instances = 0;
  int chunks = 0;
  double seconds = 0;         ///< wall time, without compilation of fallback integrators
  double thread_seconds = 0;  ///< in the backend, summed over chunks
  double after_seconds = 0;   ///< in fallback integrators, which share all threads
  abi::usage usage{};
  long long evaluations = 0;  ///< of right-hand sides
  double progress = 1;        ///< fraction of the time spans that was covered; less than 1: the round was cut short
};

class pilot {
 public:
  /// Refers to its arguments. A round is cut short after `longest` seconds, fallback integrators included, or when
  /// `stop` is cancelled.
  pilot(const plan& p, backend& where, double longest, const cancellation& stop);

  /// Integrates `count` instances in each chunk; the instances of all chunks are evenly spread.
  pilot_round run(std::int64_t count, double offset);

  const std::vector<chunk_data>& chunks() const { return chunks_; }
  /// Rows of the event log per instance in the last round: their mean and its standard error.
  std::pair<double, double> event_rows() const;

 private:
  void carry_on(pilot_round& r, const cancellation& over);
  double progress() const;

  const plan& plan_;
  backend& where_;
  double longest_;
  const cancellation& stop_;
  fallback_integrators fallback_;
  std::vector<chunk_data> chunks_;
};

}  // namespace saltus::host
