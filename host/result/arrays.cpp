#include "result/arrays.hpp"

#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <netcdf.h>

#include "abi/status.hpp"
#include "base/error.hpp"

namespace saltus::host {

using detail::field;
using detail::shape;
using detail::size_of;

namespace {

using number = result_array::number;

number number_of(int netcdf_type) {
  switch (netcdf_type) {
    case NC_UBYTE: return number::byte;
    case NC_INT: return number::int32;
    case NC_INT64: return number::int64;
    default: return number::real;
  }
}

template <class Number>
void fill(std::vector<std::byte>& bytes, Number value) {
  for (std::size_t at = 0; at < bytes.size(); at += sizeof value) std::memcpy(&bytes[at], &value, sizeof value);
}

/// Sets the values for instances that are never written.
void preset(result_array& a) {
  switch (a.type) {
    case number::real: return fill(a.numbers, std::numeric_limits<double>::quiet_NaN());
    case number::int64: return fill(a.numbers, static_cast<std::int64_t>(a.what.unset));
    case number::int32: return fill(a.numbers, static_cast<std::int32_t>(a.what.unset));
    case number::byte: return fill(a.numbers, static_cast<unsigned char>(a.what.unset));
  }
}

result_array array_of(field f, const plan& p) {
  result_array a;
  a.what = std::move(f);
  a.type = number_of(a.what.type);
  a.attributes = attributes_of(a.what);
  for (auto& [name, length] : detail::axes_of(a.what, p)) {
    a.dimensions.push_back(std::move(name));
    a.shape.push_back(length);
  }
  std::size_t numbers = 1;
  for (const std::int64_t length : a.shape) numbers *= static_cast<std::size_t>(length);
  a.numbers.resize(numbers * size_of(a.what.type));
  if (a.what.fixed.empty()) preset(a);
  else std::memcpy(a.numbers.data(), a.what.fixed.data(), a.numbers.size());
  return a;
}

/// Bytes of the variables with one row per instance; events are not included.
double bytes_of_rows(const std::vector<field>& fields, const plan& p) {
  double row = 0;
  for (const field& f : fields) {
    const auto size = static_cast<double>(size_of(f.type));
    if (f.shape == shape::instance) row += size;
    if (f.shape == shape::instance_time) row += size * static_cast<double>(p.sample_count);
  }
  return row * static_cast<double>(p.count);
}

std::vector<result_array> arrays_of(const plan& p) {
  // bytes: beyond any machine's memory, and small enough that sizes below do not overflow
  constexpr double beyond = 1e15;
  auto fields = detail::fields_of(p);
  const double bytes = bytes_of_rows(fields, p);
  try {
    if (bytes > beyond) throw std::bad_alloc();
    std::vector<result_array> all;
    for (field& f : fields) all.push_back(array_of(std::move(f), p));
    return all;
  } catch (const std::bad_alloc&) {
    throw error(
        exit_failure,
        fmt::format("the result of {} instances would take {:.3g} GB of memory, and there is not so much: fewer "
                    "instances or samples, or output.rows = false make it smaller",
                    p.count, 1e-9 * bytes));
  }
}

}  // namespace

result_arrays::result_arrays(const plan& p, const provenance& origin)
    : plan_(p), variables_(arrays_of(p)), attributes_(attributes_of(p, origin)) {}

void result_arrays::write(const chunk_data& chunk, const tally& counts) {
  if (chunk.first_id < 0 || written_ + chunk.count > plan_.count || chunk.first_id + chunk.count > plan_.count)
    throw std::logic_error("result_arrays: more instances than the plan has");
  const auto derived = detail::derive(chunk, plan_);
  for (result_array& a : variables_) {
    if (!a.what.numbers || a.what.shape == shape::event || chunk.count == 0) continue;
    const std::size_t row = a.numbers.size() / static_cast<std::size_t>(plan_.count);
    std::memcpy(a.numbers.data() + static_cast<std::size_t>(chunk.first_id) * row, a.what.numbers(chunk, derived),
                static_cast<std::size_t>(chunk.count) * row);
  }
  written_ += chunk.count;
  tally_.add(counts);
  if (!plan_.log_events) return;
  waiting_.put({chunk.first_id, chunk.count, chunk.log});
  while (const auto next = waiting_.take_next()) write_events(*next);
}

void result_arrays::count(std::int64_t instances, const tally& counts) {
  written_ += instances;
  tally_.add(counts);
}

void result_arrays::write_events(const waiting_logs::chunk_log& chunk) {
  const chunk_data none;
  detail::derived_columns some;
  some.before.resize(logged_numbers(plan_));
  some.after.resize(logged_numbers(plan_));
  chunk.log.for_each([&](const event_row& row) { some.add(row, chunk.first); });
  if (some.time.empty()) return;
  for (result_array& a : variables_) {
    if (a.what.shape != shape::event) continue;
    const auto* const from = static_cast<const std::byte*>(a.what.numbers(none, some));
    a.numbers.insert(a.numbers.end(), from, from + some.time.size() * size_of(a.what.type));
    a.shape[0] += static_cast<std::int64_t>(some.time.size());
  }
}

void result_arrays::write_final(const statistics& all, const sensitivity_indices& indices) {
  for (result_array& a : variables_) {
    if (const auto numbers = detail::final_numbers_of(a.what, plan_, all, indices); !numbers.empty())
      std::memcpy(a.numbers.data(), numbers.data(), a.numbers.size());
    for (auto& more : attributes_of_final(a.what, plan_, all)) a.attributes.push_back(std::move(more));
  }
  if (!indices.outcomes.empty())
    for (auto& more : attributes_of(indices)) attributes_.push_back(std::move(more));
}

void result_arrays::close(double wall_time_s, const statistics& all, const sensitivity_indices& indices) {
  while (const auto next = waiting_.take_first()) write_events(*next);
  write_final(all, indices);
  attributes_.push_back({"wall_time_s", wall_time_s});
  tally_.by_status[static_cast<std::size_t>(status::not_run)] += plan_.count - written_;
  for (auto& more : attributes_of(plan_, tally_)) attributes_.push_back(std::move(more));
  attributes_.push_back({"state", std::string(tally_.not_finished() > 0 ? "interrupted" : "complete")});
}

}  // namespace saltus::host
