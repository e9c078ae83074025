// Artificial exceptions, for tests of the rescue: a share of the instances, chosen by their ids, is stopped once with a status that the
// host can rescue.
#pragma once

#include "engine/instance.hpp"

namespace saltus {

/// Sixty-four well mixed bits of a number (S. Vigna, SplitMix64).
SALTUS_FN uint64 mixed(uint64 z) {
  z += 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

/// The exception of an instance: `finished` if it has none.
template <class Run>
SALTUS_FN status injected(int64 slot, const Run& run, int& step) {
  const uint64 bits =
      mixed(static_cast<uint64>(run.batch.first_id + slot) ^ mixed(static_cast<uint64>(run.settings.inject_seed)));
  step = 1 + static_cast<int>(bits >> 59);
  if (static_cast<double>(bits & 0xfffffffull) >= run.settings.inject * double(0x10000000ull)) return status::finished;
  constexpr status all[] = {status::not_located, status::step_too_small, status::not_finite};
  return all[(bits >> 32) % 3];
}

/// Stops lanes selected for `not_located`, at their first landing.
template <class E, class Real, class Run>
SALTUS_FN void inject_at_landing(instance<E, Real>& x, mask_of<Real> where, const Run& run) {
  for (int lane = 0; lane < Real::lanes; ++lane) {
    int step;
    if (where[lane] && injected(x.slot.get(lane), run, step) == status::not_located)
      x.status.set(lane, static_cast<integer_of<typename E::T>>(status::not_located));
  }
}

/// Stops lanes selected for another status, after some steps.
template <class E, class Real, class Run>
SALTUS_FN void inject_while_sailing(instance<E, Real>& x, mask_of<Real> where, const Run& run) {
  for (int lane = 0; lane < Real::lanes; ++lane) {
    if (!where[lane] || x.status.get(lane) != static_cast<integer_of<typename E::T>>(status::interrupted)) continue;
    int step;
    const status why = injected(x.slot.get(lane), run, step);
    if (why != status::finished && why != status::not_located && x.steps.get(lane) == step)
      x.status.set(lane, static_cast<integer_of<typename E::T>>(why));
  }
}

}  // namespace saltus
