#include "ensemble/sampler.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include <fmt/format.h>

#include <Random123/philox.h>

#include "base/error.hpp"
#include "spec/axis_values.hpp"
#include "spec/distribution.hpp"

namespace saltus::host {
namespace {

double random_value(const random_column& column, std::uint64_t seed, std::uint64_t id) {
  // A spec leaves at least 1e-3 of the probability between min and max: 1e5 draws outside have probability 1e-43.
  constexpr std::uint64_t attempts = 100'000;
  const std::uint64_t identity =
      (static_cast<std::uint64_t>(column.what.which) << 32) | static_cast<std::uint32_t>(column.what.index);
  for (std::uint64_t attempt = 0; attempt < attempts; ++attempt) {
    const r123::Philox4x64::ctr_type counter = {{id, identity, attempt, 0}};
    const r123::Philox4x64::key_type key = {{seed, 0}};
    const auto bits = r123::Philox4x64()(counter, key);
    const double value = draw(column.drawn_from, bits[0], bits[1]);
    if (column.drawn_from.min <= value && value <= column.drawn_from.max) return value;
  }
  throw error(exit_failure, fmt::format("instance {}: no value of {} within its min and max in {} draws", id,
                                        column.what.name, attempts));
}

double* column_of(columns& out, const target& what) {
  switch (what.which) {
    case target::kind::parameter: return out.parameters.data() + what.index * out.count;
    case target::kind::state: return out.initial.data() + what.index * out.count;
    case target::kind::t_begin: return out.t_begin.data();
    case target::kind::t_end: return out.t_end.data();
  }
  return nullptr;
}

/// Every instance of column j gets fixed[j].
void spread(const std::vector<double>& fixed, std::int64_t count, std::vector<double>& out) {
  out.clear();
  for (const double value : fixed) out.insert(out.end(), count, value);
}

}  // namespace

void sampler::fill(std::int64_t first, std::int64_t count, columns& out) const {
  assert(first >= 0 && count >= 0 && first + count <= plan_->count);
  out.count = count;
  spread(plan_->parameters, count, out.parameters);
  spread(plan_->initial, count, out.initial);
  spread({plan_->t_begin}, count, out.t_begin);
  spread({plan_->t_end}, count, out.t_end);

  std::int64_t stride = plan_->samples;  // ids from one value of the axis to its next
  for (auto axis = plan_->axes.rbegin(); axis != plan_->axes.rend(); stride *= axis->count, ++axis) {
    for (const auto& column : axis->columns) {
      double* to = column_of(out, column.what);
      for (std::int64_t i = 0; i < count; ++i) to[i] = value_at(column, (first + i) / stride % axis->count);
    }
  }
  for (const auto& column : plan_->random) {
    double* to = column_of(out, column.what);
    for (std::int64_t i = 0; i < count; ++i)
      to[i] = random_value(column, plan_->seed, static_cast<std::uint64_t>(first + i));
  }
}

}  // namespace saltus::host
