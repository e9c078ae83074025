// Fetches the results of a piece from the device: events, results, exceptions, statistics. Part of the plug-in library.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "abi/device.hpp"
#include "backend/device/device_driver.hpp"
#include "backend/device/piece.hpp"
#include "backend/device/run_data.hpp"
#include "backend/device/summaries.hpp"
#include "ensemble/chunk_data.hpp"

namespace saltus::host {

class piece_results {
 public:
  explicit piece_results(device_piece& piece) : piece_(piece) {
    if (const run_data& run = piece.run; run.statistics) statistics_.emplace(run.what, *run.statistics);
  }

  /// Moves the event log of the device to the chunk.
  void take_events(chunk_data& chunk) {
    const abi::device_chunk& c = piece_.c;
    const auto more = static_cast<std::size_t>(piece_.state.rows), n = logged_numbers(piece_.run.what);
    append(chunk.log.slot, c.events.slot, more);
    append(chunk.log.time, c.events.time, more);
    append(chunk.log.guard, c.events.guard, more);
    append(chunk.log.before, c.events.before, more * n);
    append(chunk.log.after, c.events.after, more * n);
    piece_.staging.land();
    for (auto row = chunk.log.slot.end() - static_cast<long>(more); row != chunk.log.slot.end(); ++row)
      *row += piece_.first;
    chunk.log.spill_if_long();
    piece_.state.rows = 0;
    piece_.state.landable = abi::landable_places(c, 0, piece_.run.module.about.rows_per_landing);
  }

  /// Before the first piece of a chunk: presets what is not fetched.
  void prepare(chunk_data& chunk) const {
    if (statistics_) chunk.preset();
    chunk.preset_not_fetched();
  }

  /// Presets the results of the pieces that follow, which a stop has left out.
  void leave_out_the_rest(chunk_data& chunk) const {
    std::vector<long long> slots(static_cast<std::size_t>(chunk.count - piece_.first - piece_.count));
    std::iota(slots.begin(), slots.end(), piece_.first + piece_.count);
    forget(chunk, slots);
  }

  /// Fetches all other results, when the piece is done or was stopped.
  void take(chunk_data& chunk) {
    const std::int64_t begun = piece_.is_done() || !piece_.order.empty() ? piece_.count : piece_.state.next;
    if (!made_statistics(chunk)) download(chunk, {0, begun});
    download_histories(chunk, begun);
    if (!piece_.is_done()) forget_not_begun(chunk);
    take_exceptions(chunk);
  }

 private:
  /// Makes the statistics of the chunk on the device, and fetches only those results that the host needs besides.
  /// Returns false if that is impossible: the host then needs all results.
  bool made_statistics(chunk_data& chunk) {
    if (!statistics_ || !piece_.is_done() || piece_.count < chunk.count) return false;
    std::optional<std::vector<std::int64_t>> blocks;
    try {
      blocks = statistics_->make(piece_.stream, piece_.staging, piece_.c.out, chunk);
    } catch (const device_error& e) {
      if (!e.is_out_of_memory()) throw;
    }
    if (!blocks) return false;
    // Every block takes one copy per column: beyond some share of blocks, copying all at once is faster.
    if (std::ssize(*blocks) > 16 + std::ssize(chunk.statistics.costs) / 16) {
      chunk.statistics.has_rows.assign(chunk.statistics.has_rows.size(), true);
      download(chunk, {0, chunk.count});
      return true;
    }
    for (const std::int64_t b : *blocks) {
      const std::int64_t first = b * statistics_block;
      download(chunk, {first, std::min<std::int64_t>(statistics_block, chunk.count - first)});
    }
    return true;
  }

  /// Rows first, ..., first + count - 1 of the piece.
  struct piece_rows {
    std::int64_t first, count;
  };

  /// Fetches the results of some instances of the piece; the others keep the presets of the chunk.
  void download(chunk_data& chunk, piece_rows rows) {
    const abi::results& out = piece_.c.out;
    const abi::settings& how = piece_.c.how;
    const plan& what = piece_.run.what;
    const auto fetch = [&](auto& to, const auto* from, std::size_t width) {
      download_columns(chunk, to, from, width, rows);
    };
    fetch(chunk.final_state, out.final_state, 1);
    fetch(chunk.final_output, out.final_output, 1);
    fetch(chunk.final_discrete, out.final_discrete, 1);
    fetch(chunk.t_final, out.t_final, 1);
    fetch(chunk.status, out.status, 1);
    for (std::size_t j = 0; j < abi::counter_count; ++j)
      if (is_counted(what, j))
        fetch(chunk.*abi::counter_members<std::vector<long long>>[j], out.*abi::counter_members<long long*>[j], 1);
    if (has_residuals(what.model)) {
      fetch(chunk.residual, out.residual, 1);
      fetch(chunk.residual_of, out.residual_of, 1);
    }
    fetch(chunk.reductions, out.reductions, 1);
    fetch(chunk.final_derivative, out.final_derivative, 1);
    fetch(chunk.sensitivity, out.sensitivity, 1);
    if (const std::size_t kept = bounded_rows(what); kept > 0) {
      fetch(chunk.logged, out.logged, 1);
      fetch(chunk.kept_rows, out.kept_rows, kept * (2 + 2 * logged_numbers(what)));
    }
    if (how.sample_count > 0) fetch(chunk.samples, out.samples, static_cast<std::size_t>(how.sample_count));
    piece_.staging.land();
  }

  /// Fetches the guard histories of all instances of the piece, whether their other results are needed or not.
  void download_histories(chunk_data& chunk, std::int64_t rows) {
    download_columns(chunk, chunk.guard_history, piece_.c.out.guard_history, 1, {0, rows});
    piece_.staging.land();
  }

  /// Fetches rows in columns of `width` numbers per instance.
  template <class Numbers, class Number>
  void download_columns(const chunk_data& chunk, Numbers& to, const Number* from, std::size_t width, piece_rows rows) {
    const auto all = static_cast<std::size_t>(chunk.count), count = static_cast<std::size_t>(piece_.count);
    const auto before = static_cast<std::size_t>(piece_.first), skipped = static_cast<std::size_t>(rows.first);
    for (std::size_t j = 0; j * all * width < to.size(); ++j)
      piece_.staging.download(to.data() + (j * all + before + skipped) * width, from + (j * count + skipped) * width,
                              static_cast<std::size_t>(rows.count) * width);
  }

  /// When a run is stopped, the instances that have begun are the first ones in the piece's order.
  void forget_not_begun(chunk_data& chunk) {
    std::vector<long long> slots;
    for (std::int64_t k = piece_.state.next; k < piece_.count; ++k)
      slots.push_back(piece_.first + (piece_.order.empty() ? k : piece_.order[static_cast<std::size_t>(k)]));
    forget(chunk, slots);
  }

  static void forget(chunk_data& chunk, const std::vector<long long>& slots) {
    for (const long long slot : slots)
      chunk.status[static_cast<std::size_t>(slot)] = static_cast<unsigned char>(status::not_run);
    chunk.forget(slots);
  }

  /// Fetches the snapshots of instances that lanes could not continue, as many as fitted on the device.
  void take_exceptions(chunk_data& chunk) {
    const abi::device_chunk& c = piece_.c;
    const auto& about = piece_.run.module.about;
    auto& list = chunk.exceptions;
    const auto rows = static_cast<std::size_t>(std::min(piece_.state.exceptions, c.exceptions.capacity));
    const auto width = static_cast<std::size_t>(about.record_integers);
    append(list.slot, c.exceptions.slot, rows);
    append(list.reals, c.exceptions.reals, rows * static_cast<std::size_t>(about.snapshot_reals));
    append(list.integers, c.exceptions.integers, rows * width);
    piece_.staging.land();
    for (std::size_t row = list.slot.size() - rows; row < list.slot.size(); ++row) {
      list.slot[row] += piece_.first;
      list.integers[row * width + static_cast<std::size_t>(about.record_slot)] += piece_.first;
    }
  }

  template <class Numbers, class Number>
  void append(Numbers& to, const Number* from, std::size_t more) {
    to.resize(to.size() + more);
    piece_.staging.download(to.data() + to.size() - more, from, more);
  }

  device_piece& piece_;
  std::optional<device_statistics> statistics_;
};

}  // namespace saltus::host
