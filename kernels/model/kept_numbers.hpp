// The numbers that the engine keeps for a model behind its discrete variables: the queues of scheduled events, and the key and the counts of
// random streams. As discrete variables they move with an instance, are results from which a run continues, and have derivatives.
#pragma once

#include "number/base.hpp"

namespace saltus::detail {

/// The queue of a time event: the number of items waiting, then for each rank a time and the numbers carried. Items stand in the order of
/// their times, and items of one time in the order in which they were scheduled. Numbers behind the last item are zero. A number of items
/// that cannot be marks a fault: -1 a delay that is none, capacity + 1 an item too many.
struct queue_traits {
  int capacity, carries;
  int first;  ///< index of the number of items among the discrete variables; -1: the model schedules nothing

  constexpr SALTUS_FN int time(int rank) const { return first + 1 + rank * (1 + carries); }
  constexpr SALTUS_FN int carried(int rank, int k) const { return time(rank) + 1 + k; }
};

template <int N>
struct queue_table {
  queue_traits of[N > 0 ? N : 1];
  int numbers;       ///< of all queues; 0: the model schedules nothing
  int most_carried;  ///< by an item
  bool all;          ///< every time event is scheduled
  bool sound;        ///< capacities and numbers carried are in their ranges
};

inline constexpr int most_carried = 8, largest_capacity = 4096;

/// A time event that is not scheduled has the number of items of another one, to mark a fault.
template <class Model, int N>
constexpr queue_table<N> make_queue_table(int first) {
  queue_table<N> r{};
  r.sound = true;
  r.all = N > 0;
  if constexpr (N > 0) {
    bool any = false;
    for (const auto& e : Model::time_event_list) any = any || e.capacity > 0;
    int at = 0;
    for (const auto& e : Model::time_event_list) {
      const bool has_queue = e.capacity > 0;
      r.of[at++] = {e.capacity, e.carries, has_queue ? first + r.numbers : any ? first : -1};
      if (has_queue) r.numbers += 1 + e.capacity * (1 + e.carries);
      r.most_carried = e.carries > r.most_carried ? e.carries : r.most_carried;
      r.all = r.all && e.capacity > 0;
      r.sound = r.sound && 0 <= e.capacity && e.capacity <= largest_capacity && 0 <= e.carries &&
                e.carries <= most_carried && (e.capacity > 0 || e.carries == 0);
    }
  }
  return r;
}

/// Random streams: a key of four numbers of 16 bits, then for each stream the number of its draws, as its last 16 bits and the rest. Numbers
/// of this size are exact in float as well.
inline constexpr int parts_of_key = 4, parts_of_count = 2;
inline constexpr double part_of_key = 65536.0;
constexpr int numbers_of_streams(int streams) { return streams > 0 ? parts_of_key + parts_of_count * streams : 0; }

}  // namespace saltus::detail
