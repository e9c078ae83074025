// Instances in the order of their ids, handed out in ranges to whoever is free. A single backend is given ranges of the size
// that it wants. Where several share the queue each is given ranges of its own size, which shrink towards the end with what
// is left for it, by the speed it has shown: the last ones are done at about the same time.
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
  /// Instances for one of the workers; or such that are kept, and that nobody needs to integrate.
  struct range : id_range {
    std::size_t worker;
    bool is_kept;
  };

  /// A worker for each part of the backend. Instances come from the claims, if there are any, or else are all of the plan,
  /// of which some are kept; if `only_kept`, these alone. Refers to what it is given.
  chunk_queue(const plan& p, backend& where, const std::vector<id_range>& kept = {}, claims* from = nullptr,
              bool only_kept = false);
  ~chunk_queue();

  std::size_t workers() const;
  backend& operator[](std::size_t worker);
  /// As many ranges as a worker may integrate at once.
  std::counting_semaphore<>& places(std::size_t worker);

  /// Threads that ranges occupy at once, of which some only wait.
  int threads() const;
  /// Ranges that may be under way at once, those included that wait for one with a lower id to be written.
  std::size_t max_ranges() const;

  /// The next range; waits for a worker that is free to take it. None when all are handed out, or after `give_up`.
  std::optional<range> next();
  /// Instances that were handed out.
  std::int64_t handed_out() const;
  /// Instances that were not, and that nobody else integrates: such that are kept, and all others.
  struct remainder {
    std::int64_t kept, others;
  };
  remainder not_handed_out() const;
  /// A range that was not kept has been integrated, in some seconds (0: it was not): its worker may have another one.
  void is_integrated(const range& r, double seconds);
  /// A range has been written and its memory is free.
  void is_written(const range& r);
  /// Nothing more is handed out: something went wrong.
  void give_up();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace saltus::host
