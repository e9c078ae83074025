#include "ensemble/run_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace saltus::host {

namespace {

constexpr std::int64_t block = statistics_block;

/// The rows of a block: `count` from `first` on in its columns, the first one of instance `first_id`.
struct block_rows {
  const unsigned char* status;
  std::int64_t first;
  int count;
  std::int64_t first_id;
};

// The same operations on wider registers if there are any; nothing is contracted, so the bits are the same.
summary summary_by_words(const number_column& column, const block_rows& r) {
  return summary_of_block(whole_warp{}, column, r.status, r.first, r.count, r.first_id);
}
#if defined(__x86_64__)
__attribute__((target("avx2"))) summary summary_by_avx2(const number_column& column, const block_rows& r) {
  return summary_of_block(whole_warp{}, column, r.status, r.first, r.count, r.first_id);
}
const auto summarise = __builtin_cpu_supports("avx2") ? summary_by_avx2 : summary_by_words;
#else
const auto summarise = summary_by_words;
#endif

histogram_bins bins_of(const histogram_request& h) { return {h.from, h.to, h.bins}; }

std::vector<std::vector<long long>> empty_histograms(const plan& p) {
  std::vector<std::vector<long long>> r;
  for (const histogram_request& h : p.histograms) r.emplace_back(static_cast<std::size_t>(bins_of(h).counters()), 0LL);
  return r;
}

/// The summaries of a block; counts its values in `histograms`.
std::vector<summary> summaries_of(const plan& p, const std::vector<number_column>& columns, const block_rows& rows,
                                  std::vector<std::vector<long long>>& histograms) {
  std::vector<summary> r;
  for (const number_column& column : columns) r.push_back(summarise(column, rows));
  for (std::size_t j = 0; j < p.histograms.size(); ++j)
    count_block(whole_warp{}, columns[static_cast<std::size_t>(p.histograms[j].column)], rows.status, rows.first,
                rows.count, bins_of(p.histograms[j]), histograms[j].data());
  return r;
}

}  // namespace

std::vector<number_column> number_columns(const plan& p, std::int64_t count, const abi::results& out) {
  std::vector<number_column> r;
  const auto add = [&](const double* first, std::size_t columns) {
    for (std::size_t j = 0; j < columns; ++j) r.push_back({first + static_cast<std::int64_t>(j) * count, nullptr});
  };
  add(out.final_state, p.model.states.size());
  add(out.final_output, p.model.outputs.size());
  add(out.final_discrete, declared_discretes(p.model).size());
  add(out.t_final, 1);
  add(out.reductions, p.reductions.size());
  for (int j = 0; j < abi::counter_count; ++j)
    if (abi::counter_table[j].in_statistics) r.push_back({nullptr, out.*abi::counter_members<long long*>[j]});
  const auto times = p.sample_count;
  for (std::int64_t j = 0; j < static_cast<std::int64_t>(band_columns(p)); ++j)
    r.push_back({out.samples + j / times * count * times + j % times, nullptr, times});
  return r;
}

std::array<double, statistic_names.size()> statistic_numbers(const summary& s) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const auto n = static_cast<double>(s.count);
  if (s.count == 0) return {0.0, none, none, none, none, none, none};
  return {n,
          s.mean,
          s.count > 1 ? std::sqrt(s.squares / (n - 1)) : none,
          s.min,
          s.max,
          static_cast<double>(s.min_id),
          static_cast<double>(s.max_id)};
}

namespace {
/// Counts the values of a chunk at sample times, regardless of blocks.
std::vector<value_counts> values_of(const plan& p, const chunk_data& chunk, const std::vector<number_column>& columns) {
  std::vector<value_counts> r;
  std::vector<double> values;
  for (auto column = columns.end() - static_cast<std::ptrdiff_t>(band_columns(p)); column != columns.end(); ++column) {
    values.clear();
    for (std::int64_t slot = 0; slot < chunk.count; ++slot) {
      const double x = column->at(slot);
      const auto status = static_cast<saltus::status>(chunk.status[static_cast<std::size_t>(slot)]);
      if (is_ok(status) && std::isfinite(x)) values.push_back(x);
    }
    r.emplace_back(values);
  }
  return r;
}
}  // namespace

chunk_blocks blocks_of(const plan& p, std::int64_t first_id, std::int64_t instances) {
  return blocks_of(p.count, first_id, instances, block);
}

void make_statistics(const plan& p, chunk_data& chunk) {
  if (!p.statistics) return;
  const auto blocks = blocks_of(p, chunk.first_id, chunk.count);
  const auto columns = number_columns(p, chunk.count, chunk.results());
  const std::size_t width = columns.size();
  chunk_statistics& made = chunk.statistics;
  const bool on_device = !made.costs.empty();
  const std::int64_t end = blocks.first + blocks.count * block;
  if (!on_device) made.histograms = empty_histograms(p);
  if (p.bands) made.values = values_of(p, chunk, columns);
  made.summaries.resize(static_cast<std::size_t>(blocks.count) * width);
  for (std::int64_t first = blocks.first, b = 0; first < end; first += block, ++b) {
    if (on_device && made.costs[static_cast<std::size_t>(b)].is_left == 0) continue;
    const auto count = static_cast<int>(std::min(block, chunk.count - first));
    const auto of =
        summaries_of(p, columns, {chunk.status.data(), first, count, chunk.first_id + first}, made.histograms);
    std::copy(of.begin(), of.end(), made.summaries.begin() + b * static_cast<std::int64_t>(width));
  }
}

statistics_sum::statistics_sum(const plan& p)
    : plan_(&p), histograms_(empty_histograms(p)), values_(band_columns(p)), spread_(p.count, block) {}

void statistics_sum::add(chunk_data& chunk) {
  if (!plan_->statistics) return;
  const auto blocks = blocks_of(*plan_, chunk.first_id, chunk.count);
  const std::int64_t number = (chunk.first_id + blocks.first) / block;
  const std::int64_t width = blocks.count > 0 ? std::ssize(chunk.statistics.summaries) / blocks.count : std::int64_t{0};
  carry(chunk, 0, blocks.first);
  for (std::int64_t b = 0; b < blocks.count; ++b) {
    const auto first = chunk.statistics.summaries.begin() + b * width;
    push(number + b, {first, first + width});
  }
  carry(chunk, std::min(blocks.first + blocks.count * block, chunk.count), chunk.count);
  for (std::size_t j = 0; j < histograms_.size(); ++j) count(j, chunk.statistics.histograms[j]);
  for (std::size_t j = 0; j < values_.size(); ++j) values_[j].add(chunk.statistics.values[j]);
}

void statistics_sum::grow() { spread_ = spread_blocks(plan_->count, block); }

statistics statistics_sum::finish() {
  statistics r;
  if (!plan_->statistics) return r;
  while (const auto cut = spread_.take_incomplete()) push(*cut);
  r.columns = statistic_columns(*plan_);
  r.summaries.resize(r.columns.size() + band_columns(*plan_));
  // The remaining sums have as many blocks as the powers of two in the binary form of the total number.
  bool is_first = true;
  for (const auto& [where, of] : pending_.pending()) {
    for (std::size_t j = 0; j < r.summaries.size(); ++j)
      r.summaries[j] = is_first ? of[j] : merge(of[j], r.summaries[j]);
    is_first = false;
  }
  r.bands.assign(r.summaries.begin() + std::ssize(r.columns), r.summaries.end());
  r.summaries.resize(r.columns.size());
  r.values = values_;
  for (std::size_t j = 0; j < histograms_.size(); ++j) {
    const auto bins = bins_of(plan_->histograms[j]);
    const auto all = histograms_[j].begin();
    r.histograms.push_back(
        {plan_->histograms[j].name, bins, {all, all + bins.bins}, all[bins.bins], all[bins.bins + 1]});
  }
  return r;
}

/// Adds rows to a block that is spread over chunks, and makes its summaries once it is complete.
void statistics_sum::carry(chunk_data& chunk, std::int64_t from, std::int64_t to) {
  if (from == to) return;
  const auto whole =
      spread_.take(chunk.first_id, number_columns(*plan_, chunk.count, chunk.results()), chunk.status.data(), from, to);
  if (whole) push(*whole);
}

void statistics_sum::push(const spread_blocks::whole& of) {
  const block_rows all{of.status.data(), 0, static_cast<int>(of.rows), of.number * block};
  push(of.number, summaries_of(*plan_, of.columns(block), all, histograms_));
}

void statistics_sum::push(std::int64_t number, std::vector<summary> of) {
  pending_.push({0, number}, std::move(of), [](const std::vector<summary>& early, const std::vector<summary>& late) {
    std::vector<summary> r;
    for (std::size_t j = 0; j < early.size(); ++j) r.push_back(merge(early[j], late[j]));
    return r;
  });
}

void statistics_sum::count(std::size_t histogram, const std::vector<long long>& more) {
  for (std::size_t k = 0; k < more.size(); ++k) histograms_[histogram][k] += more[k];
}

}  // namespace saltus::host
