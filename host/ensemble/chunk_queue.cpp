#include "ensemble/chunk_queue.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "ensemble/backend.hpp"
#include "ensemble/claims.hpp"

namespace saltus::host {

namespace {

struct worker {
  backend& where;
  int width;        ///< ranges that it integrates at once
  int tickets = 0;  ///< ranges that it may still get
  std::counting_semaphore<> permits;
  std::int64_t instances = 0;
  double seconds = 0;  ///< of integration, summed over concurrent ranges

  worker(backend& b, int concurrency) : where(b), width(concurrency), permits(concurrency) {}
  bool has_shown_its_speed() const { return instances > 0 && seconds > 0; }
  double instances_per_second() const { return static_cast<double>(instances) / seconds * width; }
};

}  // namespace

struct chunk_queue::state {
  const plan& p;
  const std::vector<id_range> kept;  ///< in the order of ids
  claims* from;
  const bool only_kept;
  std::int64_t next = 0, claimed = 0;  ///< the first id that was not handed out, and the end of the claimed ids
  std::vector<std::unique_ptr<worker>> workers{};
  std::size_t next_kept = 0;
  std::mutex mutex{};
  std::condition_variable changed{};
  std::int64_t handed_out = 0, handed_out_kept = 0, outstanding = 0, max_outstanding = 0;
  bool given_up = false;

  bool is_shared() const { return workers.size() > 1; }
  std::int64_t end() const { return from ? claimed : p.count; }  // not a constant: a plan may grow
  bool has_ended() const { return given_up || (next >= end() && !from); }
  std::int64_t to_come() const { return end() - next + (from ? from->unclaimed() : 0); }
  /// Claims more only after the last claim is handed out.
  void claim(std::int64_t wanted) {
    const auto more = next < end() || !from ? std::nullopt : from->next(wanted);
    if (more) next = more->first, claimed = more->end();
  }

  /// If only kept ranges are handed out, skips to the next one.
  void skip() {
    if (only_kept) next = next_kept < kept.size() ? kept[next_kept].first : end();
  }

  bool is_kept() const { return next_kept < kept.size() && kept[next_kept].first == next; }
  /// The end of the instances before the next kept range.
  std::int64_t end_of_new() const { return next_kept < kept.size() ? std::min(kept[next_kept].first, end()) : end(); }

  std::size_t first_free() const {
    const auto free = std::find_if(workers.begin(), workers.end(), [](const auto& w) { return w->tickets > 0; });
    return static_cast<std::size_t>(free - workers.begin());
  }

  /// The share of the work expected of a worker: by measured speeds once those of all workers are known, before that by
  /// the size of their ranges.
  double share_of(const worker& which) const {
    const bool known =
        std::all_of(workers.begin(), workers.end(), [](const auto& w) { return w->has_shown_its_speed(); });
    const auto weight = [&](const worker& w) {
      return known ? w.instances_per_second() : static_cast<double>(w.where.chunk_size()) * w.width;
    };
    double all = 0;
    for (const auto& w : workers) all += weight(*w);
    return weight(which) / all;
  }

  /// Half of the worker's remaining share, divided among its concurrent ranges; at most the backend's chunk size, at
  /// least its smallest worthwhile range. Whole blocks of instances if a device may make their statistics
  /// (run_statistics.hpp).
  std::int64_t size_for(const worker& w) const {
    std::int64_t size = w.where.chunk_size();
    if (is_shared() && p.chunk == 0) {
      const double left = static_cast<double>(to_come()) * share_of(w) / (2 * w.width);
      size = std::clamp(static_cast<std::int64_t>(left), std::min(w.where.smallest_chunk(), size), size);
    }
    return p.rows || size < statistics_block ? std::max<std::int64_t>(size, 1) : size - size % statistics_block;
  }
};

chunk_queue::chunk_queue(const plan& p, backend& where, const std::vector<id_range>& kept, claims* from, bool only_kept)
    : state_(new state{p, kept, from, only_kept}) {
  state_->skip();
  const auto parts = where.parts();
  for (backend* b : parts) {
    auto& w = state_->workers.emplace_back(std::make_unique<worker>(*b, std::max(1, b->concurrency())));
    // The inputs of further ranges are sampled while a device is busy; CPU lanes sample their own.
    w->tickets = parts.size() == 1 ? 2 * w->width : w->width + (b->uses_host_threads() ? 0 : 2);
    state_->max_outstanding += 2 * w->tickets * b->chunk_size();
  }
}

chunk_queue::~chunk_queue() = default;

std::size_t chunk_queue::workers() const { return state_->workers.size(); }
backend& chunk_queue::operator[](std::size_t worker) { return state_->workers[worker]->where; }
std::counting_semaphore<>& chunk_queue::permits(std::size_t worker) { return state_->workers[worker]->permits; }

int chunk_queue::threads() const {
  if (!state_->is_shared()) return state_->workers.front()->width;
  int all = 1;  // one thread waits for a worker
  for (const auto& w : state_->workers) all += w->tickets;
  return all;
}

std::size_t chunk_queue::max_ranges() const {
  constexpr std::size_t where_shared = 1024;
  return state_->is_shared() ? where_shared : static_cast<std::size_t>(2 * state_->workers.front()->width);
}

std::optional<chunk_queue::range> chunk_queue::next() {
  state& s = *state_;
  std::unique_lock lock(s.mutex);
  std::size_t who = 0;
  s.changed.wait(lock, [&] {
    who = s.first_free();
    const bool is_somebody_free = who < s.workers.size() || s.is_kept();
    return s.has_ended() || !s.is_shared() || (is_somebody_free && s.outstanding < s.max_outstanding);
  });
  if (s.has_ended()) return {};
  if (!s.is_shared() || s.is_kept()) who = 0;
  const bool is_kept = s.is_kept();
  const std::int64_t wanted = is_kept ? s.kept[s.next_kept].count : s.size_for(*s.workers[who]);
  s.claim(wanted);
  if (s.next >= s.end()) return {};
  const range r{{s.next, is_kept ? wanted : std::min(wanted, s.end_of_new() - s.next)}, who, is_kept};
  if (is_kept) ++s.next_kept, s.handed_out_kept += r.count;
  else s.workers[who]->tickets -= 1;
  s.next += r.count;
  s.skip();
  s.handed_out += r.count;
  s.outstanding += r.count;
  return r;
}

std::int64_t chunk_queue::handed_out() const {
  const std::lock_guard lock(state_->mutex);
  return state_->handed_out;
}

chunk_queue::remainder chunk_queue::not_handed_out() const {
  const std::lock_guard lock(state_->mutex);
  const state& s = *state_;
  if (s.from) return {0, s.claimed - s.next + s.from->reserved()};
  const std::int64_t kept = instances_in(s.kept) - s.handed_out_kept;
  return {kept, s.p.count - s.handed_out - kept};
}

void chunk_queue::is_integrated(const range& r, double seconds) {
  const std::lock_guard lock(state_->mutex);
  worker& w = *state_->workers[r.worker];
  w.tickets += 1;
  w.seconds += seconds;
  if (seconds > 0) w.instances += r.count;
  state_->changed.notify_all();
}

void chunk_queue::is_written(const range& r) {
  const std::lock_guard lock(state_->mutex);
  state_->outstanding -= r.count;
  state_->changed.notify_all();
}

void chunk_queue::give_up() {
  const std::lock_guard lock(state_->mutex);
  state_->given_up = true;
  state_->changed.notify_all();
}

}  // namespace saltus::host
