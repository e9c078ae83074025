// Hands out instances in the order of their ids, in ranges, to free workers. A single backend gets ranges of its own
// chunk size. If several backends share the queue, each gets ranges of its own size, which shrink towards the end with
// its share of the remaining work, by its measured speed, so that all finish at about the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <semaphore>
#include <vector>

#include "ensemble/part.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

class backend;
class claims;

class chunk_queue {
 public:
  /// Instances for a worker; or kept instances, which need not be integrated.
  struct range : id_range {
    std::size_t worker;
    bool is_kept;
  };

  /// Makes one worker for each part of the backend. Instances come from the claims if there are any; otherwise they are
  /// all of the plan, of which some are kept, or, if `only_kept`, the kept ones alone. Refers to its arguments.
  chunk_queue(const plan& p, backend& where, const std::vector<id_range>& kept = {}, claims* from = nullptr,
              bool only_kept = false);
  ~chunk_queue();

  std::size_t workers() const;
  backend& operator[](std::size_t worker);
  /// A semaphore with one permit for each range that the worker may integrate at once.
  std::counting_semaphore<>& permits(std::size_t worker);

  /// Threads that ranges occupy at once; some of them only wait.
  int threads() const;
  /// Ranges that may be under way at once, including those that wait for a range with a lower id to be written.
  std::size_t max_ranges() const;

  /// The next range; waits for a free worker. None if all are handed out, or after `give_up`.
  std::optional<range> next();
  /// Number of instances handed out.
  std::int64_t handed_out() const;
  /// Instances that were not handed out and that no other run integrates: kept ones, and all others.
  struct remainder {
    std::int64_t kept, others;
  };
  remainder not_handed_out() const;
  /// Reports that a range that was not kept has been integrated in `seconds` (0: it was passed over); its worker may
  /// get another one.
  void is_integrated(const range& r, double seconds);
  /// Reports that a range has been written and its memory is free.
  void is_written(const range& r);
  /// Stops handing out ranges after a failure.
  void give_up();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace saltus::host
