#include "result/arrays.hpp"

#include <cstring>
#include <new>

#include <fmt/format.h>
#include <netcdf.h>

#include "base/error.hpp"

namespace saltus::host {

using detail::field;

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

result_array array_of(const field& f) {
  result_array a;
  a.what = f;
  a.type = number_of(f.type);
  a.attributes = attributes_of(f);
  for (const detail::dimension& d : f.axes) {
    a.dimensions.push_back(d.name);
    a.shape.push_back(d.length);
  }
  const std::size_t bytes = f.row_bytes() * static_cast<std::size_t>(f.axes.empty() ? 1 : f.axes[0].length);
  a.numbers.resize(bytes);
  if (f.fixed.empty()) f.put_unset(a.numbers.data(), bytes);
  else std::memcpy(a.numbers.data(), f.fixed.data(), bytes);
  return a;
}

/// Bytes of the variables with one row per instance; events are not included.
double bytes_of_rows(const std::vector<field>& fields, const plan& p) {
  double row = 0;
  for (const field& f : fields)
    if (f.has_rows()) row += static_cast<double>(f.row_bytes());
  return row * static_cast<double>(p.count);
}

std::vector<result_array> arrays_of(const std::vector<field>& fields, const plan& p) {
  // bytes: beyond any machine's memory, and small enough that sizes below do not overflow
  constexpr double beyond = 1e15;
  const double bytes = bytes_of_rows(fields, p);
  try {
    if (bytes > beyond) throw std::bad_alloc();
    std::vector<result_array> all;
    for (const field& f : fields) all.push_back(array_of(f));
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
    : result_output(p),
      variables_(arrays_of(fields_, p)),
      attributes_(attributes_of(p, origin)),
      log_(plan_, [this](const detail::derived_columns& events) { put_events(events); }) {}

void result_arrays::put_rows(const chunk_data& chunk, const detail::derived_columns& derived) {
  for (std::size_t k = 0; k < fields_.size(); ++k)
    if (const field& f = fields_[k]; f.has_rows())
      std::memcpy(variables_[k].numbers.data() + static_cast<std::size_t>(chunk.first_id) * f.row_bytes(),
                  f.numbers(chunk, derived), static_cast<std::size_t>(chunk.count) * f.row_bytes());
}

void result_arrays::put_events(const detail::derived_columns& events) {
  for (result_array& a : variables_) {
    if (!a.what.has_events()) continue;
    const auto* const from = static_cast<const std::byte*>(a.what.numbers({}, events));
    a.numbers.insert(a.numbers.end(), from, from + events.time.size() * a.what.row_bytes());
    a.shape[0] += std::ssize(events.time);
  }
}

void result_arrays::put_final(std::size_t k, const detail::final_values& values) {
  if (const auto bytes = values.bytes(); !bytes.empty())
    std::memcpy(variables_[k].numbers.data(), bytes.data(), bytes.size());
  for (const attribute& more : values.attributes) variables_[k].attributes.push_back(more);
}

void result_arrays::end(const std::vector<attribute>& last) {
  attributes_.insert(attributes_.end(), last.begin(), last.end());
}

}  // namespace saltus::host
