// Takes chunks through a device: inputs there, rounds of kernels, events, results and exceptions back. Part of the plug-in library.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "abi/cuda.hpp"
#include "backend/cuda/driver.hpp"
#include "backend/cuda/run_data.hpp"
#include "backend/cuda/statistics.hpp"
#include "base/error.hpp"
#include "ensemble/chunk.hpp"

namespace saltus::host {

// Rounds are launched ahead until the host looks again after about this time; where one takes longer, it has fewer turns.
inline constexpr double shortest_look = 0.005, longest_look = 0.050;  // s
inline constexpr int max_rounds_ahead = 64, max_turns = 4096, fewest_turns = 64;
// Nothing is known of a turn before the first round, and the watchdog of a display ends kernels after some seconds.
inline constexpr int first_turns = 128;
/// A chunk is not cut into smaller pieces than this where memory runs out.
inline constexpr std::int64_t smallest_piece = 32;

/// Integrates one chunk after another, in one block of memory and one stream. Nothing here waits for what is done in the
/// streams of others: memory is asked for once, and what is copied goes through pinned memory. Where the memory does not
/// do, a chunk goes piece by piece: its neighbouring instances in one piece, with the bits that they have in any other.
class chunk_runner {
 public:
  /// `others_give_back` waits until others have given some of their memory back; false if there is nobody to wait for.
  chunk_runner(const run_data& run, std::function<bool()> others_give_back)
      : run_(run), others_give_back_(std::move(others_give_back)) {
    if (run.statistics) statistics_.emplace(run.what, *run.statistics);
  }
  ~chunk_runner() { run_.share.hold(memory_.bytes(), 0); }
  chunk_runner(const chunk_runner&) = delete;
  chunk_runner& operator=(const chunk_runner&) = delete;

  void integrate(chunk_data& chunk, const std::function<bool(std::int64_t)>& finished, abi::usage& usage) {
    for (std::int64_t first = 0; first < chunk.count; first += piece_.count) {
      begin_piece(chunk, first);
      const bool go_on = run_piece(chunk, finished);
      const std::int64_t begun = is_done() || !order_.empty() ? piece_.count : state_.next;
      if (!made_statistics(chunk)) download(chunk, 0, begun);
      download_histories(chunk, begun);
      if (!is_done()) forget_not_begun(chunk);
      take_exceptions(chunk);
      usage.turns += state_.used.turns;
      usage.lane_turns += state_.used.lane_turns;
      usage.landings += state_.used.landings;
      usage.landed += state_.used.landed;
      if (!go_on) break;
    }
  }

 private:
  /// Brings a piece of the chunk that begins with this slot to the device, and runs its first rounds: by then all memory
  /// has been asked for. Where there is not enough, the same with half as many instances.
  void begin_piece(const chunk_data& chunk, std::int64_t first) {
    for (;;) try {
        piece_ = {first, std::min(chunk.count - first, most_)};
        upload(chunk);
        run_rounds(rounds_);
        run_.hold_local_memory();
        return;
      } catch (const cuda_error& e) {
        if (!e.is_out_of_memory()) throw;
        stream_.wait();  // what is under way uses the memory
        allocate(0);
        most_ = std::max((piece_.count + 1) / 2, smallest_piece);
        if (piece_.count > smallest_piece) continue;
        most_ = std::numeric_limits<std::int64_t>::max();
        if (!others_give_back_())
          throw error(exit_failure,
                      fmt::format("{}: the device has {} bytes left, which is too little for {} instances: "
                                  "let other programs give theirs back, or use backend = \"cpu\"",
                                  e.what(), cuda_device::memory_left(), piece_.count));
      }
  }

  /// Goes on until all instances of the piece have ended; false if it is told to stop before.
  bool run_piece(chunk_data& chunk, const std::function<bool(std::int64_t)>& finished) {
    std::int64_t reported = 0;
    for (;;) {
      take_events(chunk);
      const bool go_on = finished(state_.stored - reported);
      reported = state_.stored;
      if (is_done()) return go_on;
      if (!go_on) {
        store_unfinished();
        return false;
      }
      run_rounds(rounds_);
    }
  }

  void allocate(std::size_t bytes) {
    const std::size_t before = memory_.bytes();
    memory_ = cuda_memory(0);  // give it back first
    run_.share.hold(before, 0);
    memory_ = cuda_memory(bytes);
    run_.share.hold(0, bytes);
    inputs_ = 0;
  }

  void upload(const chunk_data& chunk) {
    if (const std::size_t bytes = run_.bytes_for(piece_.count); bytes > memory_.bytes()) allocate(bytes);
    arena parts(memory_.address());
    c_ = run_.arrange(parts, piece_.count);
    c_.in.first_id = chunk.first_id + piece_.first;
    // Columns that are the same for all instances are there already where the piece before was of the same size.
    const bool is_there = inputs_ == piece_.count;
    const auto columns = [&](const double* to, const std::vector<double>& from, target::kind what) {
      const auto all = static_cast<std::size_t>(chunk.count), count = static_cast<std::size_t>(piece_.count),
                 first = static_cast<std::size_t>(piece_.first);
      for (std::size_t j = 0; j * all < from.size(); ++j)
        if (!is_there || varies(run_.what, what, static_cast<int>(j)))
          staging_.upload(to + j * count, from.data() + j * all + first, count);
    };
    columns(c_.in.parameters, chunk.parameters, target::kind::parameter);
    columns(c_.in.initial, chunk.initial, target::kind::state);
    columns(c_.in.t_begin, chunk.t_begin, target::kind::t_begin);
    columns(c_.in.t_end, chunk.t_end, target::kind::t_end);
    order_.clear();
    for (const int slot : chunk.order)
      if (slot >= piece_.first && slot < piece_.first + piece_.count)
        order_.push_back(slot - static_cast<int>(piece_.first));
    staging_.upload(c_.order, order_.data(), order_.size());
    if (order_.empty()) c_.order = nullptr;
    if (c_.how.sample_times != nullptr && !is_there)
      staging_.upload(c_.how.sample_times, run_.what.sample_times.data(), run_.what.sample_times.size());
    inputs_ = piece_.count;
    stream_.fill(c_.pool.integers, 0xff,
                 static_cast<std::size_t>(run_.pool_bytes(run_.module.about.record_integers, c_)));
    std::vector<int> vacant(static_cast<std::size_t>(c_.pool.places));
    std::iota(vacant.begin(), vacant.end(), 0);
    staging_.upload(c_.vacant.place[0], vacant.data(), vacant.size());
    state_ = abi::cuda_start(c_, run_.module.about.rows_per_landing);
  }

  /// How many rounds are launched before the next look, and how many turns each has, after some that have taken a time.
  void look_again_after(double took) {
    if (took < shortest_look) {
      if (turns_ < max_turns) turns_ *= 2;
      else rounds_ = std::min(2 * rounds_, max_rounds_ahead);
    }
    if (took > longest_look) {
      if (rounds_ > 1) rounds_ /= 2;
      else turns_ = std::max(turns_ / 2, fewest_turns);
    }
  }

  /// Some rounds, and a look at how far they went. What they took is measured by the device: the host's clock would count
  /// what the thread waits for besides.
  void run_rounds(int rounds) {
    c_.turn_budget = turns_;
    staging_.upload(c_.progress, &state_, 1);
    begun_.put_into(stream_);
    for (int i = 0; i < rounds; ++i) {
      launch(run_.module.begin);
      launch(run_.module.sail);
      launch(run_.module.land);
      launch({run_.module.turn_over, 1}, 1);
    }
    ended_.put_into(stream_);
    look();
    const double took = ended_.seconds_since(begun_);
    const double now = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    run_.busy.add(now - took, now);
    look_again_after(took);
  }
  void look() {
    staging_.download(&state_, c_.progress, 1);
    staging_.land();
    stream_.wait();  // throws what went wrong in a kernel
    if (c_.how.log_events != 0 && state_.rows > c_.events.capacity)
      throw error(exit_failure,
                  fmt::format("internal: {} rows of an event log that has room for {}: a landing logs more "
                              "than {} rows; please report the model",
                              state_.rows, c_.events.capacity, run_.module.about.rows_per_landing));
  }
  void launch(const kernel& k, int block = abi::cuda_block) {
    const int blocks = std::min(k.blocks, (c_.pool.places + block - 1) / block);
    void* arguments[] = {&c_, const_cast<unsigned char*>(run_.tolerances.data())};
    stream_.launch(k.code, blocks, block, arguments);
  }

  bool is_done() const {
    return state_.ready[state_.half] + state_.parked[state_.half] + state_.vacant[state_.half] == 0;
  }

  /// Empties the event log on the device.
  void take_events(chunk_data& chunk) {
    const auto more = static_cast<std::size_t>(state_.rows), n = run_.what.model.states.size();
    const auto take = [&](auto& to, const auto* from, std::size_t width) {
      to.resize(to.size() + more * width);
      staging_.download(to.data() + to.size() - more * width, from, more * width);
    };
    take(chunk.log.slot, c_.events.slot, 1);
    take(chunk.log.time, c_.events.time, 1);
    take(chunk.log.guard, c_.events.guard, 1);
    take(chunk.log.before, c_.events.before, n);
    take(chunk.log.after, c_.events.after, n);
    staging_.land();
    for (auto row = chunk.log.slot.end() - static_cast<long>(more); row != chunk.log.slot.end(); ++row)
      *row += piece_.first;
    chunk.log.spill_if_long();
    state_.rows = 0;
    state_.landable = abi::landable_places(c_, 0, run_.module.about.rows_per_landing);
  }

  /// Instances under way are stored as they stand, by the kernel that stores those that have ended.
  void store_unfinished() {
    const int h = state_.half;
    for (auto [list, length] : {std::pair{&c_.ready, &state_.ready[h]}, std::pair{&c_.parked, &state_.parked[h]}}) {
      stream_.copy(c_.vacant.place[h] + state_.vacant[h], list->place[h], static_cast<std::size_t>(*length));
      state_.vacant[h] += std::exchange(*length, 0);
    }
    state_.fresh = 0;
    staging_.upload(c_.progress, &state_, 1);
    launch(run_.module.begin);
    look();
  }

  /// Makes the statistics of the chunk on the device, and fetches no more of its results than the host needs besides.
  /// False if that cannot be done: then it needs them all.
  bool made_statistics(chunk_data& chunk) {
    if (!statistics_ || !is_done() || piece_.count < chunk.count) return false;
    std::optional<std::vector<std::int64_t>> blocks;
    try {
      blocks = statistics_->make(stream_, staging_, c_.out, chunk);
    } catch (const cuda_error& e) {
      if (!e.is_out_of_memory()) throw;
    }
    if (!blocks) return false;
    // Every block takes a copy for each column: beyond some share of them all at once is faster.
    if (std::ssize(*blocks) > 16 + std::ssize(chunk.statistics.costs) / 16) {
      chunk.statistics.has_rows.assign(chunk.statistics.has_rows.size(), true);
      download(chunk, 0, chunk.count);
      return true;
    }
    for (const std::int64_t b : *blocks) {
      const std::int64_t first = b * statistics_block;
      download(chunk, first, std::min<std::int64_t>(statistics_block, chunk.count - first));
    }
    return true;
  }

  /// Fetches the results of the instances first, ..., first + rows - 1 of the piece; the others keep what the chunk was
  /// preset to.
  void download(chunk_data& chunk, std::int64_t first, std::int64_t rows) {
    const auto all = static_cast<std::size_t>(chunk.count), count = static_cast<std::size_t>(piece_.count);
    const auto before = static_cast<std::size_t>(piece_.first), skipped = static_cast<std::size_t>(first);
    const auto fetch = [&](auto& to, const auto* from, std::size_t width) {
      for (std::size_t j = 0; j * all * width < to.size(); ++j)
        staging_.download(to.data() + (j * all + before + skipped) * width, from + (j * count + skipped) * width,
                          static_cast<std::size_t>(rows) * width);
    };
    fetch(chunk.final_state, c_.out.final_state, 1);
    fetch(chunk.final_output, c_.out.final_output, 1);
    fetch(chunk.final_discrete, c_.out.final_discrete, 1);
    fetch(chunk.t_final, c_.out.t_final, 1);
    fetch(chunk.status, c_.out.status, 1);
    // Without events nothing lands, and what only that changes is preset.
    for (std::size_t j = 0; j < abi::counter_count; ++j)
      if (has_events(run_.what.model) || abi::counter_table[j].changed_by != abi::change::landing)
        fetch(chunk.*abi::counter_members<std::vector<long long>>[j], c_.out.*abi::counter_members<long long*>[j], 1);
    if (has_residuals(run_.what.model)) {
      fetch(chunk.residual, c_.out.residual, 1);
      fetch(chunk.residual_of, c_.out.residual_of, 1);
    }
    fetch(chunk.reductions, c_.out.reductions, 1);
    if (c_.how.sample_count > 0) fetch(chunk.samples, c_.out.samples, static_cast<std::size_t>(c_.how.sample_count));
    staging_.land();
  }

  /// Of all instances of the piece, whether their other results are needed or not.
  void download_histories(chunk_data& chunk, std::int64_t rows) {
    const auto all = static_cast<std::size_t>(chunk.count), count = static_cast<std::size_t>(piece_.count);
    for (std::size_t j = 0; j * all < chunk.guard_history.size(); ++j)
      staging_.download(chunk.guard_history.data() + j * all + static_cast<std::size_t>(piece_.first),
                        c_.out.guard_history + j * count, static_cast<std::size_t>(rows));
    staging_.land();
  }

  /// Those that have begun when a run is stopped are the first ones of the piece's order: what was fetched of the others is
  /// not theirs.
  void forget_not_begun(chunk_data& chunk) {
    if (order_.empty()) return;
    std::vector<long long> slots(order_.begin() + state_.next, order_.end());
    for (long long& slot : slots) slot += piece_.first;
    for (const long long slot : slots)
      chunk.status[static_cast<std::size_t>(slot)] = static_cast<unsigned char>(status::not_run);
    chunk.forget(slots);
  }

  /// Fetches the instances that could not go on, as many as the device had room for.
  void take_exceptions(chunk_data& chunk) {
    const auto rows = static_cast<std::size_t>(std::min(state_.exceptions, c_.exceptions.capacity));
    const auto take = [&](auto& to, const auto* from, int width) {
      const std::size_t before = to.size(), more = rows * static_cast<std::size_t>(width);
      to.resize(before + more);
      staging_.download(to.data() + before, from, more);
    };
    take(chunk.exceptions.slot, c_.exceptions.slot, 1);
    take(chunk.exceptions.reals, c_.exceptions.reals, run_.module.about.record_reals);
    take(chunk.exceptions.integers, c_.exceptions.integers, run_.module.about.record_integers);
    staging_.land();
    auto& list = chunk.exceptions;
    const auto width = static_cast<std::size_t>(run_.module.about.record_integers);
    for (std::size_t row = list.slot.size() - rows; row < list.slot.size(); ++row) {
      list.slot[row] += piece_.first;
      list.integers[row * width + static_cast<std::size_t>(run_.module.about.record_slot)] += piece_.first;
    }
  }

  /// Neighbouring instances of a chunk that are on the device at once: all of them, where there is memory.
  struct part_of_chunk {
    std::int64_t first, count;
  };

  const run_data& run_;
  std::function<bool()> others_give_back_;

  cuda_stream stream_;
  cuda_staging staging_{stream_};
  cuda_memory memory_{0};
  cuda_event begun_{cuda_event::kind::time}, ended_{cuda_event::kind::time};  ///< of some rounds
  part_of_chunk piece_{0, 0};
  std::int64_t most_ = std::numeric_limits<std::int64_t>::max();  ///< of a piece: for which there was memory
  std::vector<int> order_;   ///< slots of the piece in the order in which they begin; or as they stand
  std::int64_t inputs_ = 0;  ///< instances of the piece whose inputs are in the memory
  int rounds_ = 1, turns_ = first_turns;
  abi::cuda_chunk c_{};
  abi::cuda_progress state_{};  ///< as of the last look

  std::optional<device_statistics> statistics_;
};

}  // namespace saltus::host
