// Makes the statistics of a chunk on the device that has its columns (statistics/cuda_statistics.cuh), so that only the blocks
// that the host needs are fetched. Part of the plug-in library.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "abi/device.hpp"
#include "abi/status.hpp"
#include "backend/device/device_driver.hpp"
#include "backend/device/staging.hpp"
#include "ensemble/rescue.hpp"
#include "ensemble/run_statistics.hpp"
#include "statistics/device_statistics.hpp"

namespace saltus::host {

/// The statistics kernel, the same for all models.
class statistics_module {
 public:
  explicit statistics_module(const device_in_use& device)
      : built_(statistics_binary_for(device)),
        code_(built_.code),
        make_(code_.kernel("saltus_statistics")),
        blocks_(device_code::blocks_at_once(make_, abi::device_block) * device.multiprocessors()) {}

  void launch(const device_stream& stream, abi::device_statistics work) const {
    void* arguments[] = {&work};
    stream.launch(make_, blocks_, abi::device_block, arguments);
  }

 private:
  device_binary built_;
  device_code code_;
  device_kernel make_;
  int blocks_ = 0;
};

/// The statistics of one chunk after another, in a separate block of memory.
class device_statistics {
 public:
  device_statistics(const plan& p, const statistics_module& module) : plan_(p), module_(module) {}

  /// Makes the statistics of a chunk whose results are at `out` on the device, and fetches them and every status.
  /// Returns the blocks whose rows the host also needs, in ascending order: those with instances for fallback
  /// integrators, and a few to learn from. Returns nothing, and does nothing, for chunks whose blocks are spread over
  /// others.
  std::optional<std::vector<std::int64_t>> make(const device_stream& stream, device_staging& staging,
                                                const abi::results& out, chunk_data& chunk) {
    const auto blocks = blocks_of(plan_, chunk.first_id, chunk.count);
    const auto count = static_cast<std::size_t>(blocks.count), width = statistic_columns(plan_).size();
    if (blocks.first != 0 || blocks.count * statistics_block < chunk.count) return {};
    arrange(stream, staging, out, chunk, count);
    module_.launch(stream, work_);

    chunk_statistics& made = chunk.statistics;
    made.summaries.resize(count * width);
    made.costs.resize(count);
    staging.download(made.summaries.data(), work_.summaries, count * width);
    staging.download(made.costs.data(), work_.costs, count);
    staging.download(chunk.status.data(), out.status, chunk.status.size());
    made.histograms.clear();
    for (const abi::device_histogram& h : histograms_) {
      made.histograms.emplace_back(static_cast<std::size_t>(h.bins.counters()));
      staging.download(made.histograms.back().data(), h.counters, made.histograms.back().size());
    }
    staging.land();
    return blocks_needed(made);
  }

 private:
  static constexpr std::int64_t to_learn_from = 8;  ///< blocks per chunk

  std::vector<std::int64_t> blocks_needed(chunk_statistics& made) const {
    const auto blocks = std::ssize(made.costs), apart = std::max<std::int64_t>(blocks / to_learn_from, 1);
    std::vector<std::int64_t> r;
    made.has_rows.assign(made.costs.size(), false);
    for (std::int64_t b = 0; b < blocks; ++b) {
      if (made.costs[static_cast<std::size_t>(b)].is_left == 0 && (!plan_.by_work || b % apart != 0)) continue;
      made.has_rows[static_cast<std::size_t>(b)] = true;
      r.push_back(b);
    }
    return r;
  }

  /// Prepares the arguments of the kernel.
  void arrange(const device_stream& stream, device_staging& staging, const abi::results& out, const chunk_data& chunk,
               std::size_t blocks) {
    const auto columns = number_columns(plan_, chunk.count, out);
    const std::size_t width = statistic_columns(plan_).size();
    std::size_t counters = 0;
    for (const histogram_request& h : plan_.histograms)
      counters += static_cast<std::size_t>(histogram_bins{h.from, h.to, h.bins}.counters());
    const std::size_t parts[] = {width * sizeof(number_column), blocks * width * sizeof(summary),
                                 blocks * sizeof(abi::block_costs),
                                 plan_.histograms.size() * sizeof(abi::device_histogram), counters * sizeof(long long)};
    std::size_t bytes = 0;
    for (const std::size_t part : parts) bytes += part;  // all are multiples of 8
    if (bytes > memory_.bytes()) {
      memory_ = device_memory(0);  // frees the old block first
      memory_ = device_memory(bytes);
    }
    device_address at = memory_.address();
    const auto next = [&](auto*& part, std::size_t k) {
      part = reinterpret_cast<std::remove_reference_t<decltype(part)>>(at);
      at += parts[k];
    };
    work_ = {};
    work_.count = chunk.count;
    work_.first_id = chunk.first_id;
    work_.status = out.status;
    for (int s = 0; s < status_count; ++s)
      if ((plan_.rescue && is_rescued_from(static_cast<status>(s), plan_.model)) ||
          (!plan_.stiff_method.empty() && is_stiff(static_cast<status>(s))))
        work_.carried_on |= 1u << s;
    work_.columns = static_cast<int>(width);
    work_.histograms = static_cast<int>(plan_.histograms.size());
    for (int j = 0; j < abi::counter_count; ++j)
      work_.counters[j] = {nullptr, out.*abi::counter_members<long long*>[j]};
    long long* bins = nullptr;
    next(work_.column, 0), next(work_.summaries, 1), next(work_.costs, 2), next(work_.histogram, 3), next(bins, 4);
    staging.upload(work_.column, columns.data(), columns.size());
    stream.fill(bins, 0, counters * sizeof(long long));
    histograms_.clear();
    for (const histogram_request& h : plan_.histograms) {
      histograms_.push_back({h.column, {h.from, h.to, h.bins}, bins});
      bins += histograms_.back().bins.counters();
    }
    staging.upload(work_.histogram, histograms_.data(), histograms_.size());
  }

  const plan& plan_;
  const statistics_module& module_;
  device_memory memory_{0};
  abi::device_statistics work_{};
  std::vector<abi::device_histogram> histograms_;
};

}  // namespace saltus::host
