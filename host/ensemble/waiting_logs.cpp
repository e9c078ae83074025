#include "ensemble/waiting_logs.hpp"

#include <utility>

namespace saltus::host {

namespace {
std::int64_t bytes_in_memory(const event_log& log) { return std::ssize(log.slot) * log.row_bytes(); }
}  // namespace

void waiting_logs::put(chunk_log chunk) {
  rows_ += chunk.log.rows();
  // The next log does not wait, so it need not spill.
  if (chunk.first != next_ && in_memory_ + bytes_in_memory(chunk.log) > bound_) chunk.log.spill();
  in_memory_ += bytes_in_memory(chunk.log);
  const auto first = chunk.first;
  waiting_.emplace(first, std::move(chunk));
}

std::optional<waiting_logs::chunk_log> waiting_logs::take_next() {
  if (waiting_.empty() || waiting_.begin()->first != next_) return {};
  return take_first();
}

std::optional<waiting_logs::chunk_log> waiting_logs::take_first() {
  if (waiting_.empty()) return {};
  chunk_log first = std::move(waiting_.extract(waiting_.begin()).mapped());
  next_ = first.first + first.count;
  rows_ -= first.log.rows();
  in_memory_ -= bytes_in_memory(first.log);
  return first;
}

}  // namespace saltus::host
