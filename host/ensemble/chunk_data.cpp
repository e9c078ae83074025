#include "ensemble/chunk_data.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <limits>
#include <utility>

#include "abi/sensitivity.hpp"
#include "abi/status.hpp"
#include "base/files.hpp"
#include "spec/methods.hpp"

namespace saltus::host {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr auto no_sensitivity = static_cast<unsigned char>(saltus::sensitivity::not_ended);

template <class Number>
std::int64_t bytes_of(const std::vector<Number>& column) {
  return static_cast<std::int64_t>(column.size() * sizeof(Number));
}

/// Converts a size that was computed as a real number; the largest integer if it exceeds that.
std::int64_t as_bytes(double size) {
  constexpr double beyond = 9223372036854775808.0;  // 2^63
  return size < beyond ? static_cast<std::int64_t>(size) : std::numeric_limits<std::int64_t>::max();
}

void preset_what_no_module_writes(chunk_data& c) {
  std::fill(c.exception.begin(), c.exception.end(), static_cast<unsigned char>(0));
  std::fill(c.dependent.begin(), c.dependent.end(), 0);
  std::fill(c.switched.begin(), c.switched.end(), nan);
  std::fill(c.switched_to.begin(), c.switched_to.end(), static_cast<unsigned char>(0));
}

}  // namespace

void exception_list::append(long long s, const abi::snapshot& last, const abi::module& from) {
  slot.push_back(s);
  reals.insert(reals.end(), last.reals, last.reals + from.snapshot_reals);
  integers.insert(integers.end(), last.integers, last.integers + from.record_integers);
}

void exception_list::append(const exception_list& more) {
  const auto add = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  add(slot, more.slot);
  add(reals, more.reals);
  add(integers, more.integers);
}

exception_list exception_list::take(const std::vector<bool>& which) {
  exception_list taken, kept;
  const std::size_t rows = slot.size();
  for (std::size_t row = 0; row < rows; ++row) {
    exception_list& to = which[static_cast<std::size_t>(slot[row])] ? taken : kept;
    const auto copy = [&](auto& column, const auto& from) {
      const std::size_t width = from.size() / rows;
      column.insert(column.end(), from.data() + row * width, from.data() + (row + 1) * width);
    };
    to.slot.push_back(slot[row]);
    copy(to.reals, reals);
    copy(to.integers, integers);
  }
  *this = std::move(kept);
  return taken;
}

void exception_list::clear() {
  slot.clear();
  reals.clear();
  integers.clear();
}

void chunk_data::arrange(const plan& p, std::int64_t first, std::int64_t instances) {
  not_fetched_is_preset_ = not_fetched_is_preset_ && count == instances;
  first_id = first;
  count = instances;
  const auto n = static_cast<std::size_t>(instances);
  const auto& m = p.model;
  const auto all = [n](auto& array, std::size_t width) { array.resize(width * n); };
  all(parameters, m.parameters.size());
  all(initial, m.states.size());
  all(discrete, gives_discretes(p) ? m.discretes.size() : 0);
  all(t_begin, 1);
  all(t_end, 1);
  all(first_row, p.records ? p.records->all().size() : 0);
  all(end_row, p.records ? p.records->all().size() : 0);
  all(final_state, m.states.size());
  all(final_output, m.outputs.size());
  all(final_discrete, m.discretes.size());
  all(t_final, 1);
  all(status, 1);
  all(exception, 1);
  for (const auto counter : abi::counter_members<std::vector<long long>>) all(this->*counter, 1);
  for (std::size_t j = 0; j < abi::counter_count; ++j) counted_[j] = is_counted(p, j);
  has_residuals_ = has_residuals(m);
  no_residual_ = has_residuals_ ? nan : 0.0;
  all(residual, 1);
  all(residual_of, 1);
  all(dependent, m.constraints.empty() ? 0 : 1);
  all(switched, 1);
  all(switched_to, 1);
  all(samples, sampled_columns(p) * static_cast<std::size_t>(p.sample_count));
  all(reductions, p.reductions.size());
  all(guard_history, m.guards.size());
  all(final_derivative, sensitivity_columns(p));
  all(sensitivity, has_sensitivity(p) ? 1 : 0);
  all(gradient, gradient_columns(p));
  const auto kept = bounded_rows(p);
  all(logged, kept > 0 ? 1 : 0);
  all(kept_rows, kept * (2 + 2 * logged_numbers(p)));  // `logged` says how many rows are valid
  sample_count_ = static_cast<std::size_t>(p.sample_count);
  log.clear();
  log.state_count = static_cast<int>(logged_numbers(p));
  // Rows that exceed memory go to the folder of the result: other folders may have no disk, or a small one.
  log.folder = p.file.empty() ? std::filesystem::path() : folder_of(p.file);
  exceptions.clear();
  statistics.clear();
  not_finite = {};
  trouble.clear();
  order.clear();
}

/// body(column, its preset, numbers per instance side by side) for each column that a module writes.
template <class Body>
void chunk_data::each_result(Body&& body) {
  for (auto* numbers :
       {&final_state, &final_output, &final_discrete, &t_final, &reductions, &final_derivative, &gradient})
    body(*numbers, nan, 1);
  for (const auto counter : abi::counter_members<std::vector<long long>>) body(this->*counter, 0, 1);
  body(residual, no_residual_, 1);
  body(residual_of, -1, 1);
  if (sample_count_ > 0) body(samples, nan, sample_count_);
  body(guard_history, static_cast<unsigned char>(0), 1);
  body(sensitivity, no_sensitivity, 1);
  body(logged, 0, 1);
}

void chunk_data::preset() {
  each_result([](auto& column, auto value, std::size_t) { std::fill(column.begin(), column.end(), value); });
  std::fill(status.begin(), status.end(), static_cast<unsigned char>(saltus::status::not_run));
  preset_what_no_module_writes(*this);
  note_writer_on_host();
}

void chunk_data::preset_not_fetched() {
  if (std::exchange(not_fetched_is_preset_, true)) return;
  for (std::size_t j = 0; j < abi::counter_count; ++j)
    if (auto& counter = this->*abi::counter_members<std::vector<long long>>[j]; !counted_[j])
      std::fill(counter.begin(), counter.end(), 0);
  if (!has_residuals_) {
    std::fill(residual.begin(), residual.end(), no_residual_);
    std::fill(residual_of.begin(), residual_of.end(), -1);
  }
  preset_what_no_module_writes(*this);
}

void chunk_data::reset(const plan& p, std::int64_t first, std::int64_t instances) {
  arrange(p, first, instances);
  spread = {};
  for (const auto column : starts) std::fill((this->*column).begin(), (this->*column).end(), nan);
  preset();
}

bool chunk_data::has_all_finished() const {
  // The first one has, and each has the status of the one before it.
  return status.empty() || (status[0] == static_cast<unsigned char>(saltus::status::finished) &&
                            std::memcmp(status.data(), status.data() + 1, status.size() - 1) == 0);
}

void chunk_data::forget_results(const std::vector<long long>& slots) {
  const auto n = static_cast<std::size_t>(count);
  each_result([&](auto& column, auto value, std::size_t row) {
    for (const long long slot : slots)
      for (std::size_t at = static_cast<std::size_t>(slot) * row; at < column.size(); at += n * row)
        std::fill_n(&column[at], row, value);
  });
}

void chunk_data::log_kept_rows(const event_selection& which) {
  const auto width = static_cast<std::size_t>(2 + 2 * log.state_count);
  const long long first = which.first, last = which.last;
  for (std::size_t slot = 0; slot < logged.size(); ++slot) {
    const auto append = [&](long long kept) {
      const double* const row =
          &kept_rows[(slot * static_cast<std::size_t>(first + last) + static_cast<std::size_t>(kept)) * width];
      log.append(static_cast<long long>(slot), row[0], static_cast<int>(row[1]), row + 2, row + 2 + log.state_count);
    };
    const long long rows = std::exchange(logged[slot], 0);
    for (long long k = 0; k < std::min(rows, first); ++k) append(k);
    for (long long k = std::max(first, rows - last); k < rows && last > 0; ++k) append(first + (k - first) % last);
  }
}

void chunk_data::forget(const std::vector<long long>& slots) {
  forget_results(slots);
  std::vector<bool> dropped(static_cast<std::size_t>(count), false);
  for (const long long slot : slots) dropped[static_cast<std::size_t>(slot)] = true;
  log.forget(dropped);
}

abi::batch chunk_data::batch() const {
  return {count,
          first_id,
          parameters.data(),
          initial.data(),
          t_begin.data(),
          t_end.data(),
          discrete.empty() ? nullptr : discrete.data(),
          first_row.data(),
          end_row.data()};
}

abi::results chunk_data::results() {
  abi::results r{};
  r.final_state = final_state.data();
  r.final_output = final_output.data();
  r.final_discrete = final_discrete.data();
  r.t_final = t_final.data();
  r.status = status.data();
  abi::each_counter(r, *this, [](long long*& to, std::vector<long long>& column) { to = column.data(); });
  r.residual = residual.data();
  r.residual_of = residual_of.data();
  r.samples = samples.data();
  r.reductions = reductions.data();
  r.guard_history = guard_history.data();
  r.final_derivative = final_derivative.data();
  r.sensitivity = sensitivity.data();
  r.gradient = gradient.data();
  r.logged = logged.data();
  r.kept_rows = kept_rows.data();
  return r;
}

bool is_counted(const plan& p, std::size_t j) {
  switch (abi::counter_table[j].changed_by) {
    case abi::change::sailing:
    case abi::change::constraints: return true;  // invariants alone are constraints, too
    case abi::change::landing: return has_events(p.model);
    case abi::change::certification: return has_events(p.model) && p.detection == detection::certified;
    case abi::change::rosenbrock: return method_called(p.method).is_rosenbrock && p.model.equations == abi::plain;
  }
  return true;
}

std::int64_t moved_bytes(const chunk_data& c) {
  std::int64_t sum = 0;
  for (const auto* column : {&c.parameters, &c.initial, &c.discrete, &c.t_begin, &c.t_end, &c.final_state,
                             &c.final_output, &c.final_discrete, &c.t_final, &c.residual, &c.samples, &c.reductions,
                             &c.final_derivative, &c.gradient, &c.kept_rows, &c.exceptions.reals})
    sum += bytes_of(*column);
  for (const auto counter : abi::counter_members<std::vector<long long>>) sum += bytes_of(c.*counter);
  for (const auto* column : {&c.first_row, &c.end_row, &c.residual_of, &c.exceptions.slot, &c.exceptions.integers})
    sum += bytes_of(*column);
  return sum + bytes_of(c.status) + bytes_of(c.guard_history) + bytes_of(c.sensitivity) +
         c.log.rows() * c.log.row_bytes();
}

std::int64_t chunk_bytes(const plan& p, std::int64_t instances) {
  const auto states = std::ssize(p.model.states), outputs = std::ssize(p.model.outputs);
  const auto inputs = std::ssize(p.model.parameters) + states + 2 +
                      (gives_discretes(p) ? std::ssize(p.model.discretes) : 0) +
                      2 * (p.records ? std::ssize(p.records->all()) : 0);
  const auto finals = states + outputs + std::ssize(p.model.discretes) + 1;
  const auto words = inputs + finals + abi::counter_count + 3 +
                     static_cast<std::int64_t>(sampled_columns(p)) * p.sample_count + std::ssize(p.reductions) +
                     static_cast<std::int64_t>(sensitivity_columns(p) + gradient_columns(p) +
                                               bounded_rows(p) * (2 + 2 * logged_numbers(p)));
  // three words: residual, its equation, switched; bytes: status, exception, switched_to, and the history of every guard
  const auto single = 3.0 + static_cast<double>(std::ssize(p.model.guards)) + (has_sensitivity(p) ? 1.0 : 0.0);
  return as_bytes(static_cast<double>(instances) * (8.0 * static_cast<double>(words) + single));
}

}  // namespace saltus::host
