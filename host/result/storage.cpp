#include "result/storage.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include <netcdf.h>

#include "ensemble/indices.hpp"
#include "ensemble/statistics.hpp"

namespace saltus::host {

using detail::field;
using detail::max_chunk_rows;
using detail::shape;
using detail::size_of;

namespace {

/// A sum of products that saturates at the largest integer.
class size_sum {
 public:
  void add(std::int64_t size, std::int64_t rows = 1, std::int64_t columns = 1) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(size, rows, &product) || __builtin_mul_overflow(product, columns, &product) ||
        __builtin_add_overflow(total_, product, &total_))
      total_ = std::numeric_limits<std::int64_t>::max();
  }
  std::int64_t total() const { return total_; }

 private:
  std::int64_t total_ = 0;
};

}  // namespace

std::vector<std::size_t> detail::chunk_shape(const field& f, const plan& p) {
  const auto n = static_cast<std::size_t>(p.count);
  const auto times = static_cast<std::size_t>(p.sample_count);
  switch (f.shape) {
    case shape::instance: return {std::min(n, max_chunk_rows)};
    case shape::instance_time:
      return {std::clamp<std::size_t>(max_chunk_rows / times, 1, n), std::min(times, max_chunk_rows)};
    case shape::event: return {std::clamp<std::size_t>(n, 1024, max_chunk_rows)};  // a short run has few events
    case shape::time: return {std::min(times, max_chunk_rows)};
    case shape::time_statistic: return {std::min(times, max_chunk_rows), statistic_names.size()};
    case shape::time_quantile: return {std::min(times, max_chunk_rows), p.quantiles.size()};
    case shape::quantile: return {p.quantiles.size()};
    case shape::bin: return {static_cast<std::size_t>(p.histograms[static_cast<std::size_t>(f.of)].bins)};
    case shape::knots: return {f.fixed.size()};
    case shape::outcome_input:
    case shape::outcome_pair: {
      const auto inputs = static_cast<int>(p.random.size());
      const auto width = f.shape == shape::outcome_input ? p.random.size() : input_pairs(p.design, inputs).size();
      return {p.indices.size(), std::max<std::size_t>(width, 1)};
    }
    default: return {};
  }
}

std::size_t detail::bytes_of_chunk(const field& f, const std::vector<std::size_t>& chunk) {
  return std::accumulate(chunk.begin(), chunk.end(), size_of(f.type), std::multiplies<std::size_t>());
}

std::int64_t expected_bytes(const plan& p) {
  size_sum bytes;
  for (const field& f : detail::fields_of(p)) {
    std::int64_t rows = 1, columns = 1;  // for at most two dimensions; events do not count
    const auto axes = detail::axes_of(f, p);
    if (!axes.empty()) rows = axes[0].second;
    if (axes.size() > 1) columns = axes[1].second;
    bytes.add(static_cast<std::int64_t>(size_of(f.type)), rows, columns);
  }
  return bytes.total();
}

std::int64_t stored_bytes(const plan& p, std::int64_t event_rows) { return stored_bytes(p, event_rows, p.count); }

std::int64_t stored_bytes(const plan& p, std::int64_t event_rows, std::int64_t instances) {
  // Bytes of the file itself, of a variable, and of an entry in its chunk index: measured with NetCDF 4.9.0, HDF5
  // 1.10.8.
  constexpr std::int64_t head = 12'000, head_of_variable = 2'100, entry = 36;
  // The number of chunks of length `to`.
  const auto number_of_chunks = [](std::int64_t n, std::size_t to) {
    const auto width = static_cast<std::int64_t>(to);
    return n / width + (n % width > 0);
  };
  size_sum bytes;
  bytes.add(head);
  for (const field& f : detail::fields_of(p)) {
    const auto chunk = detail::chunk_shape(f, p);
    bytes.add(head_of_variable);
    if (chunk.empty()) continue;
    const bool one_axis = f.shape != shape::instance && f.shape != shape::instance_time && f.shape != shape::event;
    const std::int64_t rows =
        one_axis ? 1 : number_of_chunks(f.shape == shape::event ? event_rows : instances, chunk[0]);
    const bool over_time =
        f.shape == shape::time || f.shape == shape::time_statistic || f.shape == shape::time_quantile;
    const std::int64_t columns = over_time                         ? number_of_chunks(p.sample_count, chunk[0])
                                 : f.shape == shape::instance_time ? number_of_chunks(p.sample_count, chunk[1])
                                                                   : 1;
    bytes.add(static_cast<std::int64_t>(detail::bytes_of_chunk(f, chunk)) + entry, rows, columns);
  }
  return bytes.total();
}

std::int64_t buffer_bytes(const plan& p) {
  std::int64_t bytes = 0;
  for (const field& f : detail::fields_of(p))
    if (const auto chunk = detail::chunk_shape(f, p); !chunk.empty())
      bytes += 2 * static_cast<std::int64_t>(detail::bytes_of_chunk(f, chunk));
  return bytes;
}

}  // namespace saltus::host
