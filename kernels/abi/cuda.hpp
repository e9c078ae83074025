// The boundary between the host program and a module compiled for a CUDA device: what its kernels take and share.
//
// All pointers in these structs point to device memory. A module exports four kernels (run/cuda.cuh), which the host
// launches round after round: saltus_begin, saltus_sail, saltus_land (each with any number of threads) and
// saltus_turn_over (with one). Their arguments are a cuda_chunk and the run's tolerances. What these are, only the kernels
// know: saltus_tolerances makes them from the settings, once for a run, and the host hands on their bytes. It and
// saltus_describe, which writes a cuda_module, are launched with one thread.
#pragma once

#include "abi/module.hpp"

namespace saltus::abi {

/// Threads per block of every kernel. Threads of a block share nothing: blocks are small so that they fill a
/// multiprocessor well whatever number of registers they need.
inline constexpr int cuda_block = 64;

/// Instances in flight. Each has a place, and its numbers lie in strips of one memory sector: a lane that loads an instance
/// alone uses every byte of what the memory sends, and lanes of neighbouring places still read neighbouring strips.
struct cuda_pool {
  int places;
  void* reals;     ///< [record_reals] for each place, of the module's arithmetic (pool_index)
  void* integers;  ///< [record_integers] for each place, as wide; all bits set where no instance has been yet
};
inline constexpr int sector_bytes = 32;

/// Where number j of a place lies among numbers of some bytes each.
template <int Bytes>
constexpr long long pool_index(int j, int place, int places) {
  constexpr int strip = sector_bytes / Bytes;
  return (static_cast<long long>(j / strip) * places + place) * strip + j % strip;
}
/// What `numbers` for each of so many places take up.
constexpr long long pool_bytes(int numbers, int bytes, int places) {
  const int strip = sector_bytes / bytes;
  return static_cast<long long>((numbers + strip - 1) / strip) * places * sector_bytes;
}

/// Places that wait for the same kernel: a round consumes one half and fills the other. Each has room for all places.
struct cuda_list {
  int* place[2];
};

/// The event log of a chunk. The host empties it between rounds.
struct cuda_events {
  long long capacity;
  long long* slot;
  double* time;
  int* guard;
  double* before;  ///< [row][state_count]
  double* after;   ///< [row][state_count]
};

/// Instances of a chunk that could not go on: their last accepted points, as in a snapshot. There are as many rows as
/// instances, or none where nobody carries on with them.
struct cuda_exceptions {
  long long capacity;
  long long* slot;
  double* reals;        ///< [row][record_reals]
  long long* integers;  ///< [row][record_integers]
};

/// How far a chunk has come. Threads change it by atomic additions, of which a memory partition does one at a time: what
/// all warps add to at the same time lies in different ones. Only saltus_turn_over begins a new round.
struct cuda_progress {
  int half;      ///< of the lists, the one that this round consumes
  int fresh;     ///< instances that begin in this round, in the first of the vacant places
  int landable;  ///< parked places that land in this round: the event log has room for them

  alignas(256) int ready[2];  ///< lengths of the lists
  alignas(256) int parked[2];
  alignas(256) int vacant[2];
  alignas(256) int taken;  ///< ready places that warps have asked for in this round

  alignas(256) long long next;  ///< the first slot that has not begun
  long long stored;             ///< instances whose result is stored
  long long rows;               ///< of the event log
  long long exceptions;         ///< instances that could not go on, with or without a row
  usage used;                   ///< where a pass of a warp counts for all of its threads
};

/// One chunk on its way through a device.
struct cuda_chunk {
  settings how;
  batch in;
  results out;
  const int* order;  ///< [in.count] slots in the order in which they begin; null: as they stand
  cuda_pool pool;
  cuda_list ready, parked, vacant;
  cuda_events events;
  cuda_exceptions exceptions;
  cuda_progress* progress;
  int turn_budget;  ///< turns of a thread in one launch of saltus_sail
};

/// What a module says about itself.
struct cuda_module {
  int version;
  int record_reals, record_integers;  ///< numbers kept per instance in flight
  int record_slot;                    ///< of the integers, the one that is the slot in the chunk
  int rows_per_landing;               ///< the most rows that one landing adds to the event log
  int tolerance_bytes;                ///< size of the kernels' second argument
};

/// Parked places that may land while the event log has `rows` rows, so that it cannot overflow.
constexpr int landable_places(const cuda_chunk& c, long long rows, int rows_per_landing) {
  const bool appends = c.how.log_events != 0 && !has_bounded_log(c.how);
  const long long room = appends ? (c.events.capacity - rows) / rows_per_landing : c.pool.places;
  return static_cast<int>(room < c.pool.places ? room : c.pool.places);
}

/// Where a chunk starts from: its first round begins instances in all places, which `vacant.place[0]` lists.
constexpr cuda_progress cuda_start(const cuda_chunk& c, int rows_per_landing) {
  cuda_progress p{};
  p.vacant[0] = c.pool.places;
  p.fresh = static_cast<int>(c.in.count < c.pool.places ? c.in.count : c.pool.places);
  p.landable = landable_places(c, 0, rows_per_landing);
  return p;
}

}  // namespace saltus::abi
