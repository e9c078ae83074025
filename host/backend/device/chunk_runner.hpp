// Runs chunks on a device: uploads inputs, launches rounds of kernels, fetches events, results and exceptions. Part of
// the plug-in library.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "backend/device/device_driver.hpp"
#include "backend/device/piece.hpp"
#include "backend/device/piece_inputs.hpp"
#include "backend/device/piece_results.hpp"
#include "backend/device/rounds.hpp"
#include "backend/device/run_data.hpp"
#include "base/error.hpp"
#include "ensemble/chunk_data.hpp"

namespace saltus::host {

/// If memory runs out, a chunk is not cut into pieces smaller than this.
inline constexpr std::int64_t smallest_piece = 32;

/// Integrates one chunk after another, in one block of memory and one stream. If memory does not suffice, a chunk is
/// integrated in pieces of neighbouring instances; the bits do not depend on the pieces.
class chunk_runner {
 public:
  /// Runners at work at the same time have different ranks: kernels of the lowest go first. `chunk`: the usual number of instances.
  /// `others_give_back` waits until other runners have freed memory; returns false if there are none to wait for.
  chunk_runner(const run_data& run, int rank, std::int64_t chunk, std::function<bool()> others_give_back)
      : piece_(run, rank, chunk), others_give_back_(std::move(others_give_back)) {}

  void integrate(chunk_data& chunk, const std::function<bool(std::int64_t)>& finished, abi::usage& usage) {
    results_.prepare(chunk);
    for (std::int64_t first = 0; first < chunk.count; first += piece_.count) {
      begin_piece(chunk, first);
      const bool go_on = run_piece(chunk, finished);
      results_.take(chunk);
      const abi::usage& used = piece_.state.used;
      usage.turns += used.turns;
      usage.lane_turns += used.lane_turns;
      usage.landings += used.landings;
      usage.landed += used.landed;
      if (!go_on) return results_.leave_out_the_rest(chunk);
    }
  }

 private:
  /// Uploads the piece of the chunk that begins with slot `first`, and runs its first rounds, after which all memory
  /// has been allocated. If memory runs out, halves the number of instances and tries again.
  void begin_piece(const chunk_data& chunk, std::int64_t first) {
    for (;;) try {
        piece_.first = first;
        piece_.count = std::min(chunk.count - first, most_);
        inputs_.upload(chunk);
        rounds_.run();
        piece_.run.hold_local_memory();
        return;
      } catch (const device_error& e) {
        if (!e.is_out_of_memory()) throw;
        piece_.stream.wait();  // work under way uses the memory
        inputs_.give_back();
        most_ = std::max((piece_.count + 1) / 2, smallest_piece);
        if (piece_.count > smallest_piece) continue;
        most_ = std::numeric_limits<std::int64_t>::max();
        if (!others_give_back_())
          throw error(exit_failure,
                      fmt::format("{}: the device has {} bytes left, which is too little for {} instances: "
                                  "let other programs give theirs back, or use backend = \"cpu\"",
                                  e.what(), device_in_use::memory_left(), piece_.count));
      }
  }

  /// Runs rounds until all instances of the piece have ended; returns false if told to stop before.
  bool run_piece(chunk_data& chunk, const std::function<bool(std::int64_t)>& finished) {
    std::int64_t reported = 0;
    for (;;) {
      results_.take_events(chunk);
      const bool go_on = finished(piece_.state.stored - reported);
      reported = piece_.state.stored;
      if (piece_.is_done()) return go_on;
      if (!go_on) {
        rounds_.store_unfinished();
        return false;
      }
      rounds_.run();
    }
  }

  device_piece piece_;
  piece_inputs inputs_{piece_};
  rounds rounds_{piece_};
  piece_results results_{piece_};
  std::function<bool()> others_give_back_;
  std::int64_t most_ = std::numeric_limits<std::int64_t>::max();  ///< largest piece for which there was memory
};

}  // namespace saltus::host
