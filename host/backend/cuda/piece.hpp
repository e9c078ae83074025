// What a device works on at a time, and the stream in which it does. Part of the plug-in library.
#pragma once

#include <cstdint>
#include <vector>

#include "abi/cuda.hpp"
#include "backend/cuda/driver.hpp"
#include "backend/cuda/run_data.hpp"

namespace saltus::host {

/// Neighbouring instances of a chunk that are on the device at once: all of them, where there is memory. One piece after
/// another goes through one stream, and what is copied through pinned memory: nothing waits for what others do in theirs.
struct device_piece {
  explicit device_piece(const run_data& r) : run(r) {}

  bool is_done() const { return state.ready[state.half] + state.parked[state.half] + state.vacant[state.half] == 0; }

  const run_data& run;
  cuda_stream stream;
  cuda_staging staging{stream};
  std::int64_t first = 0, count = 0;  ///< slots of the chunk
  std::vector<int> order;             ///< slots of the piece in the order in which they begin; or as they stand
  abi::cuda_chunk c{};
  abi::cuda_progress state{};  ///< as of the last look
};

}  // namespace saltus::host
