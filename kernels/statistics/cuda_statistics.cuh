// Statistics of a chunk on a device, so that its columns need not leave it: a warp computes the summary of one column of one block of
// instances (statistics.hpp), or adds up the costs of the block.
//
// CUB does not add up real numbers here: the order of its reductions is its own and changes with its tuning, and a CPU could not reproduce
// it. Integers could be left to CUB, but a separate reduction would only read the columns again.
#pragma once

#include "statistics/device_statistics.hpp"
#include "statistics/statistics.hpp"

namespace saltus {

#if defined(__CUDACC__) || defined(SALTUS_EMULATED_GRID)
/// A thread as one lane of a warp, with the members of a whole_warp.
class lane_of_warp {
 public:
  static constexpr int held = 1;
  static constexpr int rows = statistics_block / statistics_lanes;

  template <class F>
  __device__ void each_lane(F&& body) const {
    body(0);
  }
  template <class F>
  __device__ void each_value(F&& body) const {
    static_for<rows>([&](auto row) { body(static_cast<int>(row), 0, row * statistics_lanes + lane()); });
  }
  template <class Number, class F>
  __device__ Number meet(Number (&x)[held], F&& join) const {
    for (int distance = statistics_lanes / 2; distance > 0; distance /= 2)
      join(x[0], __shfl_down_sync(~0u, x[0], distance));
    return __shfl_sync(~0u, x[0], 0);
  }
  __device__ void count_in(long long& to) const { atomicAdd(reinterpret_cast<unsigned long long*>(&to), 1ull); }
  __device__ bool stores() const { return lane() == 0; }

 private:
  __device__ static int lane() { return static_cast<int>(threadIdx.x % statistics_lanes); }
};
#endif

/// One warp's part in the statistics of a chunk: warp number `number` of `warps`.
template <class Warp>
class statistics_of_chunk {
 public:
  SALTUS_FN statistics_of_chunk(const abi::device_statistics& s, const Warp& warp) : s_(s), warp_(warp) {}

  SALTUS_FN void make(int number, int warps) const {
    const int64 blocks = (s_.count + statistics_block - 1) / statistics_block;
    for (int64 task = number; task < blocks * (s_.columns + 1); task += warps) {
      const int64 block = task / (s_.columns + 1);
      const int column = static_cast<int>(task % (s_.columns + 1));
      if (column < s_.columns) summarise(block, column);
      else count_up(block);
    }
  }

 private:
  SALTUS_FN int64 first_of(int64 block) const { return block * statistics_block; }
  SALTUS_FN int size_of(int64 block) const {
    const int64 left = s_.count - first_of(block);
    return static_cast<int>(left < statistics_block ? left : statistics_block);
  }

  SALTUS_FN void summarise(int64 block, int column) const {
    const int64 first = first_of(block);
    const summary r = summary_of_block(warp_, s_.column[column], s_.status, first, size_of(block), s_.first_id + first);
    if (warp_.stores()) s_.summaries[block * s_.columns + column] = r;
  }

  SALTUS_FN void count_up(int64 block) const {
    const int64 first = first_of(block);
    const int count = size_of(block);
    abi::block_costs r{};
    for (int j = 0; j < abi::counter_count; ++j)
      r.counters[j] = total(count, [&](int at) SALTUS_INLINE_LAMBDA { return s_.counters[j].integers[first + at]; });
    r.is_left = 0 < total(count, [&](int at) SALTUS_INLINE_LAMBDA {
                  return static_cast<int64>(s_.carried_on >> s_.status[first + at] & 1u);
                });
    if (warp_.stores()) s_.costs[block] = r;
    if (r.is_left != 0) return;
    for (int j = 0; j < s_.histograms; ++j)
      count_block(warp_, s_.column[s_.histogram[j].column], s_.status, first, count, s_.histogram[j].bins,
                  s_.histogram[j].counters);
  }

  /// The sum of number(at) over the positions of a block.
  template <class F>
  SALTUS_FN int64 total(int count, F&& number) const {
    int64 sum[Warp::held];
    warp_.each_lane([&](int k) SALTUS_INLINE_LAMBDA { sum[k] = 0; });
    warp_.each_value([&](int, int k, int at) SALTUS_INLINE_LAMBDA {
      if (at < count) sum[k] += number(at);
    });
    return warp_.meet(sum, [](int64& mine, int64 other) SALTUS_INLINE_LAMBDA { mine += other; });
  }

  const abi::device_statistics& s_;
  const Warp& warp_;
};

}  // namespace saltus

#if defined(__CUDACC__)
/// The kernel saltus_statistics: any number of blocks of whole warps.
#define SALTUS_CUDA_STATISTICS                                                                                \
  extern "C" __global__ void saltus_statistics(const __grid_constant__ saltus::abi::device_statistics work) { \
    const saltus::lane_of_warp warp;                                                                          \
    const int number = static_cast<int>((blockIdx.x * blockDim.x + threadIdx.x) / 32);                        \
    const int warps = static_cast<int>(gridDim.x * blockDim.x / 32);                                          \
    saltus::statistics_of_chunk<saltus::lane_of_warp>(work, warp).make(number, warps);                        \
  }
#endif
