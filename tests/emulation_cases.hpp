// Common part of the tests of emulated CUDA kernels: one engine, run on lanes and by threads one after another.
#pragma once

#include <algorithm>

#include <gtest/gtest.h>

#include "emulated_run.hpp"

namespace saltus::test {

/// Runs some instances on lanes and on the emulated device; `swept` goes from `from` to `to`.
template <class E>
void expect_same_as_lanes_with(host::plan p, int swept, double from, double to) {
  if constexpr (E::inject) p.inject_exceptions = 0.3;
  if constexpr (E::samples) p.sample_count = 9;
  if constexpr (E::reductions > 0) p.reductions.resize(E::reductions);
  const abi::settings how = host::settings_of(p);
  constexpr int W = sizeof(typename E::T) == 8 ? 8 : 16;
  // The smallest event log has room for the rows of one landing at a time.
  constexpr long long tight = cuda_module_of<E>.rows_per_landing, ample = 5000;
  for (const std::int64_t count : {1, 33, 1000}) {
    auto one = scattered_chunk(p, swept, from, to, count), wide = one;
    on_lanes<E, 1>(how, one);
    on_lanes<E, W>(how, wide);
    EXPECT_EQ("", differences(one, wide)) << count << " instances on " << W << " lanes";
    if constexpr (E::kept_directions > 0) {  // so that NaN is not only compared with NaN
      EXPECT_GE(2 * std::count(one.sensitivity.begin(), one.sensitivity.end(), 0), count);
    }
    std::vector<spread> spreads = {{5000, 64, 1000, ample}, {7, 3, 7, tight}, {40, 5, 1000, 3 * tight}};
    if (count < 1000) spreads.insert(spreads.end(), {{1, 1, 1, tight}, {32, 100, 1, ample}});
    for (const spread& s : spreads) {
      SCOPED_TRACE(testing::Message() << count << " instances, " << s.places << " places, " << s.threads << " threads, "
                                      << s.turn_budget << " turns, " << s.event_rows << " rows");
      auto here = scattered_chunk(p, swept, from, to, count);
      emulated_run<E> device(how, here, s);
      device.run();
      EXPECT_EQ("", differences(one, here));
      EXPECT_EQ(count == 1000 && E::inject, here.exceptions.slot.size() > 100);
      EXPECT_EQ(count, device.progress.stored);
      if (E::inject) continue;
      // Every trial step is one turn of a thread, including the trial steps of landing.
      long long trials = 0;
      for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) trials += here.steps[i] + here.rejected[i];
      EXPECT_EQ(trials, device.progress.used.lane_turns);
      EXPECT_LE(device.progress.used.landed, device.progress.used.lane_turns);
      // Few of many landings are no quick ones.
      if (count == 1000 && !p.log_events) { EXPECT_LT(4 * device.left_to_full_landings, device.progress.used.landed); }
    }
  }
}

/// With an event log, where all landings are full, and without one, where there may be quick ones.
template <class E>
void expect_same_as_lanes(host::plan p, int swept, double from, double to) {
  expect_same_as_lanes_with<E>(p, swept, from, to);
  if constexpr (has_quick_landings<E>) {
    SCOPED_TRACE("without an event log");
    p.log_events = false;
    expect_same_as_lanes_with<E>(p, swept, from, to);
  }
}

template <class Model, methods::text Method, class T, bool Samples, class... Reductions>
using engine_of = engine<form_of<Model>, methods::by_name<Method>, T, options{.samples = Samples}, Reductions...>;

}  // namespace saltus::test
