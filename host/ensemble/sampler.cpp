#include "ensemble/sampler.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <Random123/philox.h>
#include <Random123/u01fixedpt.h>

#include "base/error.hpp"
#include "spec/axis_values.hpp"
#include "spec/distribution.hpp"

namespace saltus::host {
namespace {

r123::Philox4x64::ctr_type random_bits(const target& what, std::uint64_t seed, std::uint64_t id,
                                       std::uint64_t attempt) {
  const std::uint64_t identity =
      (static_cast<std::uint64_t>(what.which) << 32) | static_cast<std::uint32_t>(what.index);
  const r123::Philox4x64::ctr_type counter = {{id, identity, attempt, 0}};
  const r123::Philox4x64::key_type key = {{seed, 0}};
  return r123::Philox4x64()(counter, key);
}

inline double random_probability(const target& what, std::uint64_t seed, std::int64_t id) {
  return u01fixedpt_open_open_64_double(random_bits(what, seed, static_cast<std::uint64_t>(id), 0)[0]);
}

double random_value(const random_column& column, std::uint64_t seed, std::uint64_t id) {
  // The spec guarantees a probability of at least 1e-3 between min and max: 1e5 draws outside have probability 1e-43.
  constexpr std::uint64_t attempts = 100'000;
  for (std::uint64_t attempt = 0; attempt < attempts; ++attempt) {
    const auto bits = random_bits(column.what, seed, id, attempt);
    const double value = draw(column.drawn_from, bits[0], bits[1]);
    if (column.drawn_from.min <= value && value <= column.drawn_from.max) return value;
  }
  throw error(exit_failure, fmt::format("instance {}: no value of {} within its min and max in {} draws", id,
                                        column.what.name, attempts));
}

/// 64 bits for the random streams of an instance: for each seed a permutation of the ids.
std::uint64_t key_of_streams(std::uint64_t seed, std::uint64_t id) {
  r123::Philox2x32::ctr_type bits = {{static_cast<std::uint32_t>(id), static_cast<std::uint32_t>(id >> 32)}};
  for (const auto half : {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)})
    bits = r123::Philox2x32()(bits, {{half}});
  return static_cast<std::uint64_t>(bits[1]) << 32 | bits[0];
}

/// A Gaussian copula: u becomes normal scores, which are correlated and become probabilities again.
void correlate(const std::vector<double>& cholesky, std::vector<double>& u) {
  if (cholesky.empty()) return;
  const std::size_t n = u.size();
  for (double& p : u) p = normal_quantile(p);
  for (std::size_t i = n; i-- > 0;) {
    double sum = 0;
    for (std::size_t k = 0; k <= i; ++k) sum += cholesky[i * n + k] * u[k];
    u[i] = std::clamp(normal_cumulative(sum), 0x1p-1022, 1 - 0x1p-53);
  }
}

double* column_of(columns& out, const target& what) {
  switch (what.which) {
    case target::kind::parameter: return out.parameters.data() + what.index * out.count;
    case target::kind::state: return out.initial.data() + what.index * out.count;
    case target::kind::t_begin: return out.t_begin.data();
    case target::kind::t_end: return out.t_end.data();
    case target::kind::discrete: return out.discrete.data() + what.index * out.count;
  }
  return nullptr;
}

/// Sets the columns of `out` to the plan's fixed values, unless all that do not vary have them already.
void spread(const plan& p, std::int64_t count, columns& out) {
  auto last = std::exchange(out.spread, {count});
  const auto to = [&](std::vector<double>& columns, const std::vector<double>& fixed) {
    for (const double value : fixed) out.spread.fixed.push_back(std::bit_cast<std::uint64_t>(value));
    columns.resize(fixed.size() * static_cast<std::size_t>(count));
  };
  const auto varied = [&](const target& what) {
    out.spread.varied.insert(out.spread.varied.end(), {static_cast<int>(what.which), static_cast<int>(what.index)});
  };
  const std::vector<double> t_begin = {p.t_begin}, t_end = {p.t_end}, none;
  const std::pair<std::vector<double>*, const std::vector<double>*> all[] = {
      {&out.parameters, &p.parameters},
      {&out.initial, &p.initial},
      {&out.discrete, gives_discretes(p) ? &p.discrete : &none},
      {&out.t_begin, &t_begin},
      {&out.t_end, &t_end}};
  for (const auto& [columns, fixed] : all) to(*columns, *fixed);
  for (const auto& axis : p.axes)
    for (const auto& column : axis.columns) varied(column.what);
  for (const auto& column : p.random) varied(column.what);
  if (last.count == count && last.fixed == out.spread.fixed && last.varied == out.spread.varied) return;
  for (const auto& [columns, fixed] : all)
    for (std::size_t j = 0; j < fixed->size(); ++j)
      std::fill_n(columns->begin() + static_cast<std::ptrdiff_t>(j) * count, count, (*fixed)[j]);
}

/// The rows of data of the instances from `first` on.
void fill_records(const run_records& records, std::int64_t first, columns& out) {
  const auto count = static_cast<std::size_t>(out.count);
  for (auto* column : {&out.first_row, &out.end_row}) column->resize(records.all().size() * count);
  out.record_id.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto instance = first + static_cast<std::int64_t>(i);
    out.record_id[i] = records.keys().id(instance);
    for (std::size_t k = 0; k < records.all().size(); ++k)
      std::tie(out.first_row[k * count + i], out.end_row[k * count + i]) = records.rows_of(k, instance);
  }
}

}  // namespace

void sampler::fill(std::int64_t first, std::int64_t count, columns& out) const {
  assert(first >= 0 && count >= 0 && first + count <= plan_->count);
  out.count = count;
  spread(*plan_, count, out);

  std::int64_t stride = plan_->samples;  // difference in id between neighbouring values of the axis
  for (auto axis = plan_->axes.rbegin(); axis != plan_->axes.rend(); stride *= axis->count, ++axis) {
    for (const auto& column : axis->columns)
      spread_values(*axis, column, first, stride, {column_of(out, column.what), static_cast<std::size_t>(count)});
  }
  fill_samples(first, out);
  if (plan_->records) fill_records(*plan_->records, first, out);
  if (plan_->model.random_key >= 0) fill_keys(first, out);
}

void sampler::fill_keys(std::int64_t first, columns& out) const {
  const int key = plan_->model.random_key;
  for (int part = 0; part < 4; ++part) {
    if (!is_drawn_key(*plan_, target::kind::discrete, key + part)) continue;
    double* const to = out.discrete.data() + (key + part) * out.count;
    for (std::int64_t i = 0; i < out.count; ++i)
      to[i] = static_cast<double>(key_of_streams(plan_->seed, static_cast<std::uint64_t>(first + i)) >> (16 * part) &
                                  0xffff);
  }
}

void sampler::fill_samples(std::int64_t first, columns& out) const {
  const auto& random = plan_->random;
  if (plan_->correlation.empty()) {
    for (std::size_t j = 0; j < random.size(); ++j) fill_sample(j, first, out);
    return;
  }
  std::vector<double> u(random.size());
  std::vector<double*> to;
  for (const auto& column : random) to.push_back(column_of(out, column.what));
  for (std::int64_t i = 0; i < out.count; ++i) {
    for (std::size_t j = 0; j < random.size(); ++j) u[j] = probability(j, first + i);
    correlate(plan_->correlation, u);
    for (std::size_t j = 0; j < random.size(); ++j) to[j][i] = quantile(random[j].drawn_from, u[j]);
  }
}

void sampler::fill_sample(std::size_t input, std::int64_t first, columns& out) const {
  const random_column& column = plan_->random[input];
  const distribution& d = column.drawn_from;
  const bool is_free = plan_->design.which == design::kind::random;
  double* const to = column_of(out, column.what);
  const auto each = [&](auto&& value_of) {
    for (std::int64_t i = 0; i < out.count; ++i) to[i] = value_of(first + i);
  };
  // A loop without calls, for the most frequent distribution. Its draws are its quantiles.
  if (is_free && d.which == distribution::kind::uniform && !is_truncated(d))
    each([&](std::int64_t id) { return uniform_value(d, random_probability(column.what, plan_->seed, id)); });
  else if (is_free && has_draw(d))
    each([&](std::int64_t id) { return random_value(column, plan_->seed, static_cast<std::uint64_t>(id)); });
  else each([&](std::int64_t id) { return quantile(d, probability(input, id)); });
}

double sampler::probability(std::size_t input, std::int64_t id) const {
  if (plan_->design.which != design::kind::random) return points_.at(id % plan_->samples, static_cast<int>(input));
  return random_probability(plan_->random[input].what, plan_->seed, id);
}

}  // namespace saltus::host
