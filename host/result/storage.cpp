#include "result/storage.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include <netcdf.h>

namespace saltus::host {

using detail::dimension;
using detail::field;

namespace {

/// A sum of products that saturates at the largest integer.
class size_sum {
 public:
  void add(const std::vector<std::int64_t>& factors) {
    std::int64_t product = 1;
    bool is_beyond = false;
    for (const std::int64_t factor : factors) is_beyond |= __builtin_mul_overflow(product, factor, &product);
    if (is_beyond || __builtin_add_overflow(total_, product, &total_))
      total_ = std::numeric_limits<std::int64_t>::max();
  }
  std::int64_t total() const { return total_; }

 private:
  std::int64_t total_ = 0;
};

}  // namespace

std::vector<std::size_t> detail::chunk_lengths(const field& f, const plan& p) {
  constexpr auto statistic = dimension::kind::statistic;
  if (f.axes.empty() || (f.axes.size() == 1 && f.is_along(statistic))) return {};
  std::vector<std::size_t> lengths;
  for (const dimension& d : f.axes) {
    const auto length = static_cast<std::size_t>(d.length);
    lengths.push_back(d.which == dimension::kind::time ? std::min(length, max_chunk_rows)
                                                       : std::max<std::size_t>(length, 1));
  }
  if (f.has_rows())
    lengths[0] = std::clamp<std::size_t>(max_chunk_rows * f.number_bytes() / f.row_bytes(), 1, lengths[0]);
  if (f.has_events())  // a short run has few events
    lengths[0] = std::clamp<std::size_t>(static_cast<std::size_t>(p.count), 1024, max_chunk_rows);
  return lengths;
}

std::size_t detail::bytes_of_chunk(const field& f, const std::vector<std::size_t>& chunk) {
  return std::accumulate(chunk.begin(), chunk.end(), f.number_bytes(), std::multiplies<std::size_t>());
}

std::int64_t expected_bytes(const plan& p) {
  size_sum bytes;
  for (const field& f : detail::fields_of(p)) {
    std::vector<std::int64_t> factors{static_cast<std::int64_t>(f.number_bytes())};
    for (const dimension& d : f.axes) factors.push_back(d.length);  // events do not count
    bytes.add(factors);
  }
  return bytes.total();
}

std::int64_t stored_bytes(const plan& p, std::int64_t event_rows) { return stored_bytes(p, event_rows, p.count); }

std::int64_t stored_bytes(const plan& p, std::int64_t event_rows, std::int64_t instances) {
  // Bytes of the file itself, of a variable, and of an entry in its chunk index: measured with NetCDF 4.9.0, HDF5
  // 1.10.8.
  constexpr std::int64_t head = 12'000, head_of_variable = 2'100, entry = 36;
  size_sum bytes;
  bytes.add({head});
  for (const field& f : detail::fields_of(p)) {
    const auto chunk = detail::chunk_lengths(f, p);
    bytes.add({head_of_variable});
    if (chunk.empty()) continue;
    std::vector<std::int64_t> factors{static_cast<std::int64_t>(detail::bytes_of_chunk(f, chunk)) + entry};
    for (std::size_t k = 0; k < chunk.size(); ++k) {
      const dimension& d = f.axes[k];
      const std::int64_t n = d.which == dimension::kind::instance ? instances
                             : d.which == dimension::kind::event  ? event_rows
                                                                  : d.length;
      const auto width = static_cast<std::int64_t>(chunk[k]);
      factors.push_back(n / width + (n % width > 0));
    }
    bytes.add(factors);
  }
  return bytes.total();
}

std::int64_t buffer_bytes(const plan& p) {
  std::int64_t bytes = 0;
  for (const field& f : detail::fields_of(p))
    if (const auto chunk = detail::chunk_lengths(f, p); !chunk.empty())
      bytes += 2 * static_cast<std::int64_t>(detail::bytes_of_chunk(f, chunk));
  return bytes;
}

}  // namespace saltus::host
