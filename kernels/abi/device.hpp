// The boundary between the host program and a module compiled for a CUDA device: arguments of its kernels and shared data.
//
// All pointers in these structs point to device memory. A module exports five kernels (run/on_cuda.cuh), which the host launches round after
// round: saltus_begin, saltus_sail, saltus_land_quickly if there are quick landings, saltus_land (each with any number of threads) and
// saltus_turn_over (with one). Their arguments are a
// device_chunk and the run's tolerances. The kernels alone know the layout of the tolerances: saltus_tolerances makes them from the settings
// once per run, and the host passes on their bytes. saltus_tolerances and saltus_describe, which writes a device_module, are launched with
// one thread.
#pragma once

#include "abi/module.hpp"

namespace saltus::abi {

/// Threads per block of every kernel. Threads of a block share nothing; small blocks fill a multiprocessor well for any number of
/// registers.
inline constexpr int device_block = 64;

/// Instances in flight. Each has a place, and its numbers lie in strips of one memory sector. So a lane that loads one instance uses every
/// byte of a sector, and lanes of neighbouring places read neighbouring strips.
struct device_pool {
  int places;
  void* reals;      ///< [record_reals] for each place, in the module's arithmetic (pool_index)
  void* integers;   ///< [record_integers] for each place, as wide as the reals; all bits set before the first instance
  void* histories;  ///< numbers of a history for each place; null for models without delays
};
inline constexpr int sector_bytes = 32;

/// Index of number j of a place, for numbers of `Bytes` bytes.
template <int Bytes>
constexpr long long pool_index(int j, int place, int places) {
  constexpr int strip = sector_bytes / Bytes;
  return (static_cast<long long>(j / strip) * places + place) * strip + j % strip;
}
/// Bytes taken by `numbers` numbers for each of `places` places.
constexpr long long pool_bytes(int numbers, int bytes, int places) {
  const int strip = sector_bytes / bytes;
  return static_cast<long long>((numbers + strip - 1) / strip) * places * sector_bytes;
}

/// Places that wait for the same kernel. A round consumes one half and fills the other. Each half has room for all places.
struct device_list {
  int* place[2];
};

/// The event log of a chunk. The host empties it between rounds.
struct device_events {
  long long capacity;
  long long* slot;
  double* time;
  int* guard;
  double* before;  ///< [row][state_count]
  double* after;   ///< [row][state_count]
};

/// Last accepted points of the instances of a chunk that could not go on, as in a snapshot. There are as many rows as instances, or none if
/// no fallback integrator continues them.
struct device_exceptions {
  long long capacity;
  long long* slot;
  double* reals;        ///< [row][snapshot_reals]
  long long* integers;  ///< [row][record_integers]
};

/// Progress of a chunk. Threads change it by atomic additions. A memory partition performs one atomic addition at a time, so counters that
/// all warps add to at the same time lie in different partitions. Only saltus_turn_over begins a new round.
struct device_progress {
  int half;      ///< the half of each list that this round consumes
  int fresh;     ///< instances that begin in this round, in the first of the vacant places
  int landable;  ///< parked places that land in this round: the event log has room for them

  alignas(256) int ready[2];  ///< lengths of the lists
  alignas(256) int parked[2];
  alignas(256) int vacant[2];
  alignas(256) int unlanded;  ///< length of device_chunk::unlanded
  alignas(256) int taken;     ///< ready places that warps have asked for in this round

  alignas(256) long long next;  ///< the first slot that has not begun
  long long stored;             ///< instances whose result is stored
  long long rows;               ///< rows of the event log
  long long exceptions;         ///< instances that could not go on, with or without a row
  int worked;                   ///< rounds that had anything to do
  usage used;                   ///< here, a pass of a warp counts for all of its threads
};

/// One chunk on its way through a device.
struct device_chunk {
  settings how;
  batch in;
  results out;
  const int* order;  ///< [in.count] slots in the order in which they begin; null: in ascending order
  device_pool pool;
  device_list ready, parked, vacant;
  int* unlanded;  ///< places that a quick landing leaves to a full one in the same round; null: all landings are full
  device_events events;
  device_exceptions exceptions;
  device_progress* progress;
  int turn_budget;  ///< turns of a thread in one launch of saltus_sail
  int look_every;   ///< turns of these after which a warp looks for threads without an instance
};

/// A module's description of itself.
struct device_module {
  int version;
  int record_reals, record_integers;                    ///< numbers kept per instance in flight
  int snapshot_reals;                                   ///< of the reals, those of a snapshot
  int record_slot;                                      ///< index of the chunk's slot among the integers
  int rows_per_landing;                                 ///< the most rows that one landing adds to the event log
  int tolerance_bytes;                                  ///< size of the kernels' second argument
  bool lands_quickly;                                   ///< it exports saltus_land_quickly
  long long history_numbers, history_numbers_per_step;  ///< of an instance of a model with delays
};

/// True if landings append rows to the log of a chunk. A landing that is begun twice would append them twice.
constexpr bool appends_events(const settings& how) { return how.log_events != 0 && !has_bounded_log(how); }

/// Number of parked places that may land while the event log has `rows` rows, so that it cannot overflow.
constexpr int landable_places(const device_chunk& c, long long rows, int rows_per_landing) {
  const long long room = appends_events(c.how) ? (c.events.capacity - rows) / rows_per_landing : c.pool.places;
  return static_cast<int>(room < c.pool.places ? room : c.pool.places);
}

/// Initial progress of a chunk: its first round begins instances in all places, which `vacant.place[0]` lists.
constexpr device_progress device_start(const device_chunk& c, int rows_per_landing) {
  device_progress p{};
  p.vacant[0] = c.pool.places;
  p.fresh = static_cast<int>(c.in.count < c.pool.places ? c.in.count : c.pool.places);
  p.landable = landable_places(c, 0, rows_per_landing);
  return p;
}

}  // namespace saltus::abi
