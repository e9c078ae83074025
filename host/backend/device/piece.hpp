// The piece of a chunk on which a device works at a time, and its stream. Part of the plug-in library.
#pragma once

#include <cstdint>
#include <vector>

#include "abi/device.hpp"
#include "backend/device/device_driver.hpp"
#include "backend/device/run_data.hpp"
#include "backend/device/staging.hpp"
#include "ensemble/chunk_data.hpp"

namespace saltus::host {

/// Neighbouring instances of a chunk that are on the device at once: all of them if memory suffices. Pieces go through
/// one stream one after another, and copies go through pinned memory, so that no stream waits for another.
struct device_piece {
  /// For pieces of up to `most` instances.
  device_piece(const run_data& r, int rank, std::int64_t most)
      : run(r), stream(rank), staging(stream, static_cast<std::size_t>(chunk_bytes(r.what, most))) {}

  bool is_done() const { return state.ready[state.half] + state.parked[state.half] + state.vacant[state.half] == 0; }

  const run_data& run;
  device_stream stream;
  device_staging staging;
  std::int64_t first = 0, count = 0;  ///< slots of the chunk
  std::vector<int> order;             ///< slots of the piece in the order in which they begin; empty: ascending
  abi::device_chunk c{};
  abi::device_progress state{};  ///< as of the last look
};

}  // namespace saltus::host
