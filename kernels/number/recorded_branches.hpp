// The branches of a model that is recorded. A model may skip work that no lane needs, by any, all and none of a comparison; a record of one
// lane would show one path alone. Host side only.
#pragma once

#include "number/real.hpp"

namespace saltus {

/// The lanes for which the model's functions run.
enum class lanes_recorded {
  one,    ///< any, all and none have one answer
  mixed,  ///< conditions hold in some lanes and not in others: no work is skipped
  yes,    ///< every condition holds in all lanes
  no      ///< or in none
};
inline lanes_recorded recorded_lanes = lanes_recorded::one;

/// True if the model has branched.
inline bool has_branched = false;

/// any and all of a condition with this answer in one lane.
inline bool any_recorded(bool answer) {
  has_branched = true;
  return recorded_lanes == lanes_recorded::one ? answer : recorded_lanes != lanes_recorded::no;
}
inline bool all_recorded(bool answer) {
  has_branched = true;
  return recorded_lanes == lanes_recorded::one ? answer : recorded_lanes == lanes_recorded::yes;
}

/// The answer of a comparison. It is no `bool`, so that a model can branch on it by any, all and none alone.
struct recorded_answer {
  bool answer = false;

  recorded_answer() = default;
  recorded_answer(bool is) : answer(is) {}
  recorded_answer(mask_of<pack<double, 1>> held) : answer(held[0]) {}
  static recorded_answer all(bool value) { return value; }
  bool operator[](int) const { return answer; }

  friend recorded_answer operator&(recorded_answer a, recorded_answer b) { return a.answer && b.answer; }
  friend recorded_answer operator|(recorded_answer a, recorded_answer b) { return a.answer || b.answer; }
  friend recorded_answer operator^(recorded_answer a, recorded_answer b) { return a.answer != b.answer; }
  friend recorded_answer operator!(recorded_answer a) { return !a.answer; }
  friend recorded_answer operator&&(recorded_answer a, recorded_answer b) { return a & b; }
  friend recorded_answer operator||(recorded_answer a, recorded_answer b) { return a | b; }
  friend bool any(recorded_answer a) { return any_recorded(a.answer); }
  friend bool all(recorded_answer a) { return all_recorded(a.answer); }
  friend bool none(recorded_answer a) { return !any_recorded(a.answer); }
};

}  // namespace saltus
