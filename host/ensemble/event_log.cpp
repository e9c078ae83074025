#include "ensemble/event_log.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/temporary_file.hpp"

namespace saltus::host {
namespace {

/// A row in the file is: time, guard, states before, states after, all as doubles.
std::size_t words_of(int state_count) { return 2 + 2 * static_cast<std::size_t>(state_count); }

std::int64_t bytes_of(std::size_t numbers) { return static_cast<std::int64_t>(numbers * sizeof(double)); }

}  // namespace

void event_log::append(long long s, double t, int g, const double* y_before, const double* y_after) {
  slot.push_back(s);
  time.push_back(t);
  guard.push_back(g);
  before.insert(before.end(), y_before, y_before + state_count);
  after.insert(after.end(), y_after, y_after + state_count);
  spill_if_long();
}

void event_log::append(const event_log& more) {
  if (!more.runs_.empty()) {
    spill();  // the rows here precede those of `more`
    if (!slot.empty()) {
      more.for_each([&](const event_row& r) { append(r.slot, r.time, r.guard, r.before, r.after); });
      return;
    }
    runs_.insert(runs_.end(), more.runs_.begin(), more.runs_.end());
  }
  const auto add = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  add(slot, more.slot);
  add(time, more.time);
  add(guard, more.guard);
  add(before, more.before);
  add(after, more.after);
  spill_if_long();
}

void event_log::spill_if_long() {
  if (slot.size() * static_cast<std::size_t>(row_bytes()) > memory && !unspillable_) spill();
}

/// The permutation that sorts the rows in memory by slot, stable.
std::vector<std::size_t> event_log::order() const {
  // Counting sort: slots are small integers.
  const long long last = slot.empty() ? 0 : *std::max_element(slot.begin(), slot.end());
  std::vector<std::size_t> next(static_cast<std::size_t>(last) + 2), rows(slot.size());
  for (const long long s : slot) ++next[static_cast<std::size_t>(s) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  for (std::size_t i = 0; i < slot.size(); ++i) rows[next[static_cast<std::size_t>(slot[i])]++] = i;
  return rows;
}

/// Moves all rows in memory to a run in the file; they stay in memory if it cannot be written.
void event_log::spill() {
  if (slot.empty() || unspillable_) return;
  const auto width = static_cast<std::size_t>(state_count), words = words_of(state_count);
  std::vector<double> numbers;
  run fresh;
  if (!file_) file_ = std::make_shared<temporary_file>(folder);
  numbers.reserve(slot.size() * words);
  for (const std::size_t row : order()) {
    if (fresh.shares.empty() || fresh.shares.back().slot != slot[row])
      fresh.shares.push_back({slot[row], 0, file_->size() + bytes_of(numbers.size())});
    ++fresh.shares.back().rows;
    numbers.insert(numbers.end(), {time[row], static_cast<double>(guard[row])});
    for (const auto* y : {&before, &after}) {
      const auto at = y->begin() + static_cast<std::ptrdiff_t>(row * width);
      numbers.insert(numbers.end(), at, at + static_cast<std::ptrdiff_t>(width));
    }
  }
  unspillable_ = !file_->add({reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double)});
  if (unspillable_) return;
  fresh.file = file_;
  runs_.push_back(std::move(fresh));
  for (auto* column : {&time, &before, &after}) column->clear();
  slot.clear();
  guard.clear();
}

void event_log::forget(const std::vector<bool>& which) {
  const auto is_dropped = [&](long long s) { return static_cast<bool>(which[static_cast<std::size_t>(s)]); };
  for (run& r : runs_) std::erase_if(r.shares, [&](const share& s) { return is_dropped(s.slot); });
  const auto width = static_cast<std::size_t>(state_count);
  std::size_t kept = 0;
  for (std::size_t row = 0; row < slot.size(); ++row) {
    if (is_dropped(slot[row])) continue;
    slot[kept] = slot[row];
    time[kept] = time[row];
    guard[kept] = guard[row];
    for (auto* y : {&before, &after}) std::copy_n(y->data() + row * width, width, y->data() + kept * width);
    ++kept;
  }
  slot.resize(kept);
  time.resize(kept);
  guard.resize(kept);
  before.resize(kept * width);
  after.resize(kept * width);
}

void event_log::clear() {
  slot.clear();
  time.clear();
  guard.clear();
  before.clear();
  after.clear();
  runs_.clear();
  file_.reset();
  unspillable_ = false;
}

std::int64_t event_log::rows() const {
  auto all = static_cast<std::int64_t>(slot.size());
  for (const run& r : runs_)
    for (const share& s : r.shares) all += s.rows;
  return all;
}

std::vector<long long> event_log::rows_by_slot(std::size_t count) const {
  std::vector<long long> rows(count, 0);
  for (const run& r : runs_)
    for (const share& s : r.shares) rows[static_cast<std::size_t>(s.slot)] += s.rows;
  for (const long long s : slot) ++rows[static_cast<std::size_t>(s)];
  return rows;
}

void event_log::for_each(const std::function<void(const event_row&)>& look) const {
  const auto width = static_cast<std::size_t>(state_count), words = words_of(state_count);
  const auto here = order();
  std::size_t next = 0;  // among the rows in memory
  std::vector<std::size_t> at(runs_.size(), 0);
  std::vector<double> some;
  const auto look_at_share = [&](const run& r, const share& s) {
    constexpr std::int64_t block = 4096;  // rows read at a time
    for (std::int64_t first = 0; first < s.rows; first += block) {
      some.resize(static_cast<std::size_t>(std::min(block, s.rows - first)) * words);
      r.file->read(s.begin + bytes_of(static_cast<std::size_t>(first) * words), some.data(),
                   some.size() * sizeof(double));
      for (const double* row = some.data(); row < some.data() + some.size(); row += words)
        look({s.slot, row[0], static_cast<int>(row[1]), row + 2, row + 2 + width});
    }
  };
  // Takes the least remaining slot: first from the runs in the order of their creation, then from memory.
  for (;;) {
    bool any = next < here.size();
    long long least = any ? slot[here[next]] : 0;
    for (std::size_t k = 0; k < runs_.size(); ++k) {
      if (at[k] == runs_[k].shares.size()) continue;
      const long long s = runs_[k].shares[at[k]].slot;
      least = any ? std::min(least, s) : s;
      any = true;
    }
    if (!any) return;
    for (std::size_t k = 0; k < runs_.size(); ++k)
      if (at[k] < runs_[k].shares.size() && runs_[k].shares[at[k]].slot == least)
        look_at_share(runs_[k], runs_[k].shares[at[k]++]);
    for (; next < here.size() && slot[here[next]] == least; ++next) {
      const std::size_t row = here[next];
      look({slot[row], time[row], guard[row], before.data() + row * width, after.data() + row * width});
    }
  }
}

}  // namespace saltus::host
