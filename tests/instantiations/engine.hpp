// For tests/headers.sh: an engine with everything that can happen at events, and the minimum that the kernels need for a run.
// Include it after the header under test, so that this header cannot supply an include that the other lacks.
#pragma once

#include "../models/everything.hpp"
#include "abi/module.hpp"
#include "form/of_model.hpp"
#include "method/by_name.hpp"

namespace saltus::instantiations {

template <methods::text Method, detection Detection = detection::hermite>
using engine_with = engine<form_of<everything>, methods::by_name<Method>, double,
                           options{.detect = Detection, .samples = true, .inject = true}>;
using plain = engine_with<"dp5">;
using certified = engine_with<"dp5", detection::certified>;
using implicit = engine_with<"radau5">;
using one = pack<double, 1>;
using two = pack<double, 2>;

struct run {
  struct {
    SALTUS_FN void except(int64, const double*, const long long*) const {}
  } events;
  const abi::settings& settings;
  const abi::batch& batch;
  const abi::results& results;
  SALTUS_FN void store_sample(int64, int, int64, double) const {}
  template <class State>
  SALTUS_FN void log_event(int64, int, double, int, const State&, const State&) const {}
  SALTUS_FN void note_event(int64, int) const {}
  SALTUS_FN double parameter(int, int64) const { return 0.0; }
  SALTUS_FN double initial(int, int64) const { return 0.0; }
  SALTUS_FN double initial_discrete(int, int64) const { return 0.0; }
  SALTUS_FN unsigned char& history(int guard, int64) const { return results.guard_history[guard]; }
};

}  // namespace saltus::instantiations
