// Device memory and inputs of pieces. Part of the plug-in library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "abi/device.hpp"
#include "backend/device/device_driver.hpp"
#include "backend/device/piece.hpp"
#include "backend/device/run_data.hpp"
#include "ensemble/chunk_data.hpp"

namespace saltus::host {

/// Uploads one piece after another into one block of memory, which is allocated once.
class piece_inputs {
 public:
  explicit piece_inputs(device_piece& piece) : piece_(piece) {}
  ~piece_inputs() { piece_.run.share.hold(memory_.bytes(), 0); }
  piece_inputs(const piece_inputs&) = delete;
  piece_inputs& operator=(const piece_inputs&) = delete;

  /// Throws device_error if there is too little memory.
  void upload(const chunk_data& chunk) {
    const run_data& run = piece_.run;
    if (const std::size_t bytes = run.bytes_for(piece_.count); bytes > memory_.bytes()) allocate(bytes);
    arena parts(memory_.address());
    piece_.c = run.arrange(parts, piece_.count);
    piece_.c.in.first_id = chunk.first_id + piece_.first;
    upload_columns(chunk);
    upload_order(chunk);
    there_ = piece_.count;
    empty_pool();
    piece_.state = abi::device_start(piece_.c, run.module.about.rows_per_landing);
  }

  /// Frees the memory; no work that uses it may be under way.
  void give_back() { allocate(0); }

 private:
  void allocate(std::size_t bytes) {
    const std::size_t before = memory_.bytes();
    memory_ = device_memory(0);  // frees the old block first
    piece_.run.share.hold(before, 0);
    memory_ = device_memory(bytes);
    piece_.run.share.hold(0, bytes);
    there_ = 0;
  }

  /// Columns that are equal for all instances are already there if the piece before had the same size.
  void upload_columns(const chunk_data& chunk) {
    const plan& what = piece_.run.what;
    const bool is_there = there_ == piece_.count;
    const auto all = static_cast<std::size_t>(chunk.count), count = static_cast<std::size_t>(piece_.count),
               first = static_cast<std::size_t>(piece_.first);
    const auto columns = [&](const double* to, const std::vector<double>& from, target::kind kind) {
      for (std::size_t j = 0; j * all < from.size(); ++j)
        if (!is_there || varies(what, kind, static_cast<int>(j)))
          piece_.staging.upload(to + j * count, from.data() + j * all + first, count);
    };
    const abi::device_chunk& c = piece_.c;
    columns(c.in.parameters, chunk.parameters, target::kind::parameter);
    columns(c.in.initial, chunk.initial, target::kind::state);
    columns(c.in.discrete, chunk.discrete, target::kind::discrete);
    columns(c.in.t_begin, chunk.t_begin, target::kind::t_begin);
    columns(c.in.t_end, chunk.t_end, target::kind::t_end);
    const auto rows = [&](const long long* to, const std::vector<long long>& from) {
      for (std::size_t j = 0; j * all < from.size(); ++j)
        piece_.staging.upload(to + j * count, from.data() + j * all + first, count);
    };
    rows(c.in.first_row, chunk.first_row);
    rows(c.in.end_row, chunk.end_row);
  }

  void upload_order(const chunk_data& chunk) {
    std::vector<int>& order = piece_.order;
    order.clear();
    for (const int slot : chunk.order)
      if (slot >= piece_.first && slot < piece_.first + piece_.count)
        order.push_back(slot - static_cast<int>(piece_.first));
    piece_.staging.upload(piece_.c.order, order.data(), order.size());
    if (order.empty()) piece_.c.order = nullptr;
  }

  /// Marks all places as vacant.
  void empty_pool() {
    const abi::device_chunk& c = piece_.c;
    piece_.stream.fill(c.pool.integers, 0xff,
                       static_cast<std::size_t>(piece_.run.pool_bytes(piece_.run.module.about.record_integers, c)));
    std::vector<int> vacant(static_cast<std::size_t>(c.pool.places));
    std::iota(vacant.begin(), vacant.end(), 0);
    piece_.staging.upload(c.vacant.place[0], vacant.data(), vacant.size());
  }

  device_piece& piece_;
  device_memory memory_{0};
  std::int64_t there_ = 0;  ///< number of instances whose inputs are in the memory
};

}  // namespace saltus::host
