// Counts of how the instances of a run ended and what they cost.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "abi/counters.hpp"
#include "abi/status.hpp"
#include "ensemble/chunk_data.hpp"
#include "spec/model.hpp"

namespace saltus::host {

/// Has an instance ended? A number that is no status, in a damaged file, counts as ended.
inline bool has_ended(unsigned char status) {
  return status >= status_count || status_table[status].group != status_group::not_finished;
}

/// The history of a guard in the instances that ended well.
struct guard_tally {
  std::int64_t fired = 0;
  std::int64_t began_beyond = 0;     ///< it began on the far side, where it could not fire, and never fired
  std::int64_t crossed_against = 0;  ///< it began on the far side, ended where it could fire, and never fired
};

/// The two largest magnitudes of a number over the instances that ended well, and the instance of the largest.
struct largest_tally {
  double first = 0, second = 0;
  std::int64_t of = -1, count = 0;  ///< id of the largest (the first of equals); number of finite values
  void add(double magnitude, std::int64_t id);
  void add(const largest_tally& more);
};

/// Instances that ended well with a number that is not finite: their count, and the first id.
struct lost_tally {
  std::int64_t count = 0, first = -1;
  void add(const lost_tally& more);
};

/// Numbers of instances by status, and their total cost. For N instances, ok + rescued + failed + not_finished = N.
struct tally : abi::counters<std::int64_t> {
  tally() : counters{} {}
  std::array<std::int64_t, status_count> by_status = {};
  std::array<std::int64_t, status_count> by_rescue = {};  ///< instances that ended well by rescue, by their exception
  std::int64_t switched = 0;                              ///< instances that changed to the stiff method
  std::vector<std::int64_t> dependent;  ///< by constraint: instances that ended where it depends on others
  std::vector<guard_tally> guards;      ///< empty until something is added
  std::vector<largest_tally> finals;    ///< for each state at the end; likewise
  std::vector<lost_tally> outputs;      ///< for each output at the end; likewise
  not_finite_instance not_finite;       ///< the one with the lowest id

  void add(const chunk_data& chunk);
  void add(const tally& more);
  std::int64_t ok() const;  ///< without rescued ones
  std::int64_t rescued() const;
  std::int64_t failed() const;
  std::int64_t not_finished() const;

 private:
  void add_later_work(const chunk_data& chunk);
  void add_guards(const chunk_data& chunk);
  void add_finals(const chunk_data& chunk);
  void note(const not_finite_instance& one);
};

/// "19 of 20 instances failed, 0 % allowed (run.allowed_failed): 19 step_budget"; empty if at most this share failed.
std::string too_many_failed(const tally& t, double allowed);
/// The tally of a chunk whose columns are all on the host.
tally tally_of(const chunk_data& chunk);

/// "instance 7: the right-hand side of `y` is not finite just beyond t = 1, y = 0"
std::string text_of(const not_finite_instance& one);
/// Constraints that depend on others where instances ended, with the number of instances.
std::vector<std::pair<std::string, std::int64_t>> dependent_constraints(const model& m, const tally& t);

/// Remarks about suspicious guards, one sentence each: a guard began beyond zero and never fired, or was crossed only
/// against its direction.
std::vector<std::string> remarks_on_guards(const model& m, const std::vector<guard_tally>& counts);
/// remarks_on_guards, and remarks on a state of one instance far beyond that of all others, on outputs that are not
/// finite at the end, and on rounding of linear solves.
std::vector<std::string> remarks(const model& m, const tally& counts);

}  // namespace saltus::host
