// Instances in the order of their ids, handed out in pieces to whoever is free. One backend is given pieces of the size
// that it wants. Where several share the queue each is given pieces of its own size, which shrink towards the end with what
// is left for it, by the speed it has shown: the last ones are done at about the same time.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <vector>

#include "ensemble/backend.hpp"
#include "ensemble/statistics.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

class chunk_queue {
 public:
  /// Instances first, ..., first + count - 1 for one of the takers.
  struct piece {
    std::int64_t first, count;
    std::size_t taker;
  };

  /// Refers to both.
  chunk_queue(const plan& p, backend& where) : plan_(p) {
    const auto parts = where.parts();
    for (backend* b : parts) {
      auto& t = takers_.emplace_back(std::make_unique<taker>(*b, std::max(1, b->concurrency())));
      // The inputs of further pieces are made while a device is at work; lanes make theirs themselves.
      t->tickets = parts.size() == 1 ? 2 * t->width : t->width + (b->uses_host_threads() ? 0 : 2);
      most_outstanding_ += 2 * t->tickets * b->chunk_size();
    }
  }

  std::size_t takers() const { return takers_.size(); }
  backend& operator[](std::size_t taker) { return takers_[taker]->where; }
  /// As many pieces as may be integrated by a taker at once.
  std::counting_semaphore<>& places(std::size_t taker) { return takers_[taker]->places; }

  /// Threads that pieces occupy at once, of which some only wait.
  int threads() const {
    if (!is_shared()) return takers_.front()->width;
    int all = 1;  // waits for a taker
    for (const auto& t : takers_) all += t->tickets;
    return all;
  }
  /// Pieces that may be under way at once, those included that wait for one with a lower id to be written.
  std::size_t most_pieces() const { return is_shared() ? 1024 : static_cast<std::size_t>(2 * takers_.front()->width); }

  /// The next piece; waits for somebody who is free to take it. None when all are handed out, or after `give_up`.
  std::optional<piece> next() {
    std::unique_lock lock(mutex_);
    std::size_t who = 0;
    changed_.wait(lock, [&] {
      who = first_free();
      return given_up_ || next_ >= plan_.count || !is_shared() ||
             (who < takers_.size() && outstanding_ < most_outstanding_);
    });
    if (given_up_ || next_ >= plan_.count) return {};
    if (!is_shared()) who = 0;
    const piece p{next_, std::min(size_for(*takers_[who]), plan_.count - next_), who};
    takers_[who]->tickets -= 1;
    next_ += p.count;
    outstanding_ += p.count;
    return p;
  }
  /// A piece has been integrated, in some seconds (0: it was not): its taker may have another one.
  void is_integrated(const piece& p, double seconds) {
    const std::lock_guard lock(mutex_);
    taker& t = *takers_[p.taker];
    t.tickets += 1;
    t.seconds += seconds;
    if (seconds > 0) t.instances += p.count;
    changed_.notify_all();
  }
  /// A piece has been written and its memory is free.
  void is_written(const piece& p) {
    const std::lock_guard lock(mutex_);
    outstanding_ -= p.count;
    changed_.notify_all();
  }
  /// Nothing more is handed out: something went wrong.
  void give_up() {
    const std::lock_guard lock(mutex_);
    given_up_ = true;
    changed_.notify_all();
  }

 private:
  struct taker {
    backend& where;
    int width, tickets = 0;
    std::counting_semaphore<> places;
    std::int64_t instances = 0;
    double seconds = 0;  ///< in which they were integrated, those of pieces at once added up

    taker(backend& b, int concurrency) : where(b), width(concurrency), places(concurrency) {}
    double instances_per_second() const { return static_cast<double>(instances) / seconds * width; }
  };

  bool is_shared() const { return takers_.size() > 1; }
  std::size_t first_free() const {
    const auto free = std::find_if(takers_.begin(), takers_.end(), [](const auto& t) { return t->tickets > 0; });
    return static_cast<std::size_t>(free - takers_.begin());
  }

  /// The part of the work that is expected of a taker: by what it has done in which time once that is known of all, before
  /// that by the size of the pieces it wants.
  double share_of(const taker& which) const {
    const bool known =
        std::all_of(takers_.begin(), takers_.end(), [](const auto& t) { return t->instances > 0 && t->seconds > 0; });
    const auto weight = [&](const taker& t) {
      return known ? t.instances_per_second() : static_cast<double>(t.where.chunk_size()) * t.width;
    };
    double all = 0;
    for (const auto& t : takers_) all += weight(*t);
    return weight(which) / all;
  }
  /// Half of what is left for each of its pieces at once, between what it wants and the least that is worth while; whole
  /// blocks of instances where a device may make their statistics (statistics.hpp).
  std::int64_t size_for(const taker& t) const {
    std::int64_t size = t.where.chunk_size();
    if (is_shared() && plan_.chunk == 0) {
      const double left = static_cast<double>(plan_.count - next_) * share_of(t) / (2 * t.width);
      size = std::clamp(static_cast<std::int64_t>(left), std::min(t.where.smallest_chunk(), size), size);
    }
    return plan_.rows || size < statistics_block ? std::max<std::int64_t>(size, 1) : size - size % statistics_block;
  }

  const plan& plan_;
  std::vector<std::unique_ptr<taker>> takers_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t next_ = 0, outstanding_ = 0, most_outstanding_ = 0;
  bool given_up_ = false;
};

}  // namespace saltus::host
