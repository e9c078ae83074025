// The data that all chunks of a run on a device share, and the layout of a chunk in device memory. Part of the plug-in
// library.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "abi/device.hpp"
#include "backend/device/device_driver.hpp"
#include "backend/device/loaded_module.hpp"
#include "backend/device/memory_share.hpp"
#include "backend/device/settings_on_device.hpp"
#include "backend/device/summaries.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

inline constexpr int places_per_thread = 4;  ///< number of times that a thread can swap before a round ends
inline constexpr int chunks_at_once = 8;     ///< some are uploaded, some are integrated, some are fetched
/// Fraction of free memory for chunks: the rest is for statistics, code and the driver itself.
inline constexpr double usable_part = 0.9;

/// The data of a run that its chunks need; the same for all chunks.
struct run_data {
  plan what;
  device_in_use device;
  device_binaries built;
  loaded_module module;
  settings_on_device settings;
  std::vector<unsigned char> tolerances;
  mutable memory_share share;
  std::size_t memory;  ///< bytes of device memory for one chunk

  std::optional<statistics_module> statistics;  ///< present if nothing but statistics is wanted of most instances
  mutable busy_time busy;                       ///< seconds in which rounds were under way
  mutable launch_sum launched;

  run_data(const plan& p, int device_number)
      : what(p),
        device(device_number),
        built(binaries_for(p, device)),
        module(built, device),
        settings(what),
        tolerances(module.tolerances_from(settings.how())),
        share(device_number) {
    const std::size_t left = share.of(device_in_use::memory_left());
    memory = static_cast<std::size_t>(usable_part * static_cast<double>(left - std::min(left, module.local_bytes))) /
             chunks_at_once;
    if (!what.rows && !what.bands && what.indices.empty()) statistics.emplace(device);
  }

  /// Notes that kernels have run: the driver has now allocated their local memory.
  void hold_local_memory() const {
    std::call_once(has_run_, [this] { share.hold(0, module.local_bytes); });
  }

  /// Bytes of a number in the kernels, real or integer.
  std::int64_t number_bytes() const { return bytes_of(what.precision); }

  int places_for(std::int64_t count) const {
    std::int64_t most = std::int64_t{places_per_thread} * module.sail.blocks * abi::device_block;
    // Histories may take half of a chunk's memory.
    if (const auto bytes = history_numbers() * number_bytes(); bytes > 0)
      most = std::clamp<std::int64_t>(static_cast<std::int64_t>(memory / 2) / bytes, 1, most);
    return static_cast<int>(std::min(count, most));
  }

  /// Numbers of the history of one instance; 0 for models without delays.
  std::int64_t history_numbers() const {
    return module.about.history_numbers + module.about.history_numbers_per_step * settings.how().history;
  }

  std::int64_t pool_bytes(int numbers, const abi::device_chunk& c) const {
    return abi::pool_bytes(numbers, static_cast<int>(number_bytes()), c.pool.places);
  }

  /// Arranges a chunk of `count` instances in device memory.
  abi::device_chunk arrange(arena& memory_, std::int64_t count) const {
    abi::device_chunk c{};
    c.how = settings.how();
    c.in.count = count;
    memory_.carve(c.progress, 1);
    carve_inputs(c, memory_);
    carve_results(c, memory_);
    carve_pool(c, memory_);
    if (abi::appends_events(c.how)) carve_events(c, memory_);
    if (!what.stiff_method.empty() || what.rescue) carve_exceptions(c, memory_);
    return c;
  }

  std::size_t bytes_for(std::int64_t count) const {
    arena c(0);
    arrange(c, count);
    return c.used();
  }

 private:
  void carve_inputs(abi::device_chunk& c, arena& memory_) const {
    const std::int64_t count = c.in.count;
    memory_.carve(c.in.parameters, std::ssize(what.model.parameters) * count);
    memory_.carve(c.in.initial, std::ssize(what.model.states) * count);
    if (gives_discretes(what)) memory_.carve(c.in.discrete, std::ssize(what.model.discretes) * count);
    memory_.carve(c.in.t_begin, count);
    memory_.carve(c.in.t_end, count);
    const std::int64_t rows = what.records ? std::ssize(what.records->all()) * count : 0;
    memory_.carve(c.in.first_row, rows);
    memory_.carve(c.in.end_row, rows);
    memory_.carve(c.order, what.by_work ? count : 0);
  }
  void carve_results(abi::device_chunk& c, arena& memory_) const {
    const std::int64_t count = c.in.count;
    const auto states = std::ssize(what.model.states), outputs = std::ssize(what.model.outputs);
    memory_.carve(c.out.final_state, states * count);
    memory_.carve(c.out.final_output, outputs * count);
    memory_.carve(c.out.final_discrete, std::ssize(what.model.discretes) * count);
    memory_.carve(c.out.t_final, count);
    memory_.carve(c.out.status, count);
    for (const auto column : abi::counter_members<long long*>) memory_.carve(c.out.*column, count);
    memory_.carve(c.out.residual, count);
    memory_.carve(c.out.residual_of, count);
    memory_.carve(c.out.samples, static_cast<std::int64_t>(sampled_columns(what)) * count * c.how.sample_count);
    memory_.carve(c.out.reductions, std::ssize(what.reductions) * count);
    memory_.carve(c.out.guard_history, std::ssize(what.model.guards) * count);
    memory_.carve(c.out.final_derivative, static_cast<std::int64_t>(sensitivity_columns(what)) * count);
    memory_.carve(c.out.sensitivity, has_sensitivity(what) ? count : 0);
    const auto kept = static_cast<std::int64_t>(bounded_rows(what));
    memory_.carve(c.out.logged, kept > 0 ? count : 0);
    memory_.carve(c.out.kept_rows, count * kept * static_cast<std::int64_t>(2 + 2 * logged_numbers(what)));
  }
  void carve_pool(abi::device_chunk& c, arena& memory_) const {
    c.pool.places = places_for(c.in.count);
    unsigned char *real_bytes, *integer_bytes;
    memory_.carve(real_bytes, pool_bytes(module.about.record_reals, c));
    memory_.carve(integer_bytes, pool_bytes(module.about.record_integers, c));
    if (!what.model.delays.empty()) {
      unsigned char* history_bytes;
      memory_.carve(history_bytes, history_numbers() * number_bytes() * c.pool.places);
      c.pool.histories = history_bytes;
    }
    c.pool.reals = real_bytes;
    c.pool.integers = integer_bytes;
    for (abi::device_list* list : {&c.ready, &c.parked, &c.vacant})
      for (int*& half : list->place) memory_.carve(half, c.pool.places);
    const bool lands_quickly = module.land_quickly && !abi::appends_events(c.how);
    memory_.carve(c.unlanded, lands_quickly ? c.pool.places : 0);
  }
  void carve_events(abi::device_chunk& c, arena& memory_) const {
    const auto numbers = static_cast<std::int64_t>(logged_numbers(what));
    const std::int64_t places = c.pool.places;
    // Space for all places to land at once, but at most an eighth of the memory.
    const auto row = static_cast<std::int64_t>(sizeof(long long) + sizeof(double) + sizeof(int)) + 16 * numbers;
    const auto most =
        std::max<std::int64_t>(static_cast<std::int64_t>(memory / 8) / row, module.about.rows_per_landing);
    c.events.capacity = std::min(places * module.about.rows_per_landing, most);
    memory_.carve(c.events.slot, c.events.capacity);
    memory_.carve(c.events.time, c.events.capacity);
    memory_.carve(c.events.guard, c.events.capacity);
    memory_.carve(c.events.before, c.events.capacity * numbers);
    memory_.carve(c.events.after, c.events.capacity * numbers);
  }
  void carve_exceptions(abi::device_chunk& c, arena& memory_) const {
    // All instances may become exceptions: without a snapshot, one would begin afresh and get other bits.
    c.exceptions.capacity = c.in.count;
    memory_.carve(c.exceptions.slot, c.exceptions.capacity);
    memory_.carve(c.exceptions.reals, c.exceptions.capacity * module.about.snapshot_reals);
    memory_.carve(c.exceptions.integers, c.exceptions.capacity * module.about.record_integers);
  }

  mutable std::once_flag has_run_;
};

}  // namespace saltus::host
