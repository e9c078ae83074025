// How the instances of a run ended and what they cost, added up.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "abi/counters.hpp"
#include "abi/status.hpp"
#include "ensemble/chunk.hpp"
#include "spec/model.hpp"

namespace saltus::host {

/// What became of a guard in the instances that ended well.
struct guard_tally {
  std::int64_t fired = 0;
  std::int64_t began_beyond = 0;     ///< it could not fire at the start and never after
  std::int64_t crossed_against = 0;  ///< it could not fire at the start, but at the end, and did not
};

/// The two largest of a number's magnitudes over the instances that ended well, and whose the largest is.
struct largest_tally {
  double first = 0, second = 0;
  std::int64_t of = -1, count = 0;  ///< the first one of several; how many were finite
  void add(double magnitude, std::int64_t id);
  void add(const largest_tally& more);
};

/// Instances that ended well with a number that is not finite: how many, and the first.
struct lost_tally {
  std::int64_t count = 0, first = -1;
  void add(const lost_tally& more);
};

/// How many instances ended how, and what they cost in all. Of N instances, ok + rescued + failed + not_finished = N.
struct tally : abi::counters<std::int64_t> {
  tally() : counters{} {}
  std::array<std::int64_t, status_count> by_status = {};
  std::array<std::int64_t, status_count> by_rescue = {};  ///< of those that ended well by rescue: after which exception
  std::int64_t switched = 0;                              ///< instances that went over to the stiff method
  std::vector<std::int64_t> dependent;  ///< by constraint: instances that ended where it depends on others
  std::vector<guard_tally> guards;      ///< empty as long as nothing was added
  std::vector<largest_tally> finals;    ///< of each state at the end; likewise
  std::vector<lost_tally> outputs;      ///< of each output at the end; likewise
  not_finite_instance not_finite;       ///< that with the lowest id

  void add(const chunk_data& chunk);
  void add(const tally& more);
  std::int64_t ok() const;  ///< without those that were rescued
  std::int64_t rescued() const;
  std::int64_t failed() const;
  std::int64_t not_finished() const;

 private:
  void add_guards(const chunk_data& chunk);
  void add_finals(const chunk_data& chunk);
  void note(const not_finite_instance& one);
};

/// "19 of 20 instances failed, 0 % allowed (run.allowed_failed): 19 step_budget"; empty if no more failed than this share.
std::string too_many_failed(const tally& t, double allowed);
/// Of a chunk whose columns are all here.
tally tally_of(const chunk_data& chunk);

/// "instance 7: the right-hand side of `y` is not finite just beyond t = 1, y = 0"
std::string text_of(const not_finite_instance& one);
/// Constraints that depend on others where instances have ended, and in how many.
std::vector<std::pair<std::string, std::int64_t>> dependent_constraints(const model& m, const tally& t);

/// What is odd about guards, one sentence each: that one began beyond zero and never fired, or was crossed only against its
/// direction.
std::vector<std::string> remarks_on_guards(const model& m, const std::vector<guard_tally>& counts);
/// These, that a state of one instance is far beyond that of all others, and outputs that are not finite at the end.
std::vector<std::string> remarks(const model& m, const tally& counts);

}  // namespace saltus::host
