// The kernels of a CUDA device (run/on_cuda.cuh) as ordinary functions, whose threads run one after another.
#pragma once

#include <bit>
#include <stdexcept>
#include <string>
#include <string_view>

#include "run/on_cuda.cuh"
#include "statistics/cuda_statistics.cuh"

namespace saltus::test {

/// One thread's part in a kernel.
template <class E, class Warp>
void emulate_thread(std::string_view kernel, const abi::device_chunk& chunk,
                    const tolerances<E, pack<typename E::T, 1>>& tol, const Warp& warp) {
  const cuda_rounds<E, Warp> rounds(chunk, tol, warp);
  if (kernel == "saltus_begin") rounds.begin_fresh();
  else if (kernel == "saltus_sail") rounds.sail_ready();
  else if (kernel == "saltus_land") rounds.land_parked();
  else if (kernel == "saltus_land_quickly")
    cuda_rounds<quick<E>, Warp>(chunk, std::bit_cast<tolerances<quick<E>, pack<typename E::T, 1>>>(tol), warp)
        .land_quickly();
  else if (kernel == "saltus_turn_over") rounds.turn_over();
  else throw std::logic_error("no kernel " + std::string(kernel));
}

/// The kernel of statistics, the same for all models.
inline void emulate_statistics(int threads, void** arguments) {
  const auto& work = *static_cast<const abi::device_statistics*>(arguments[0]);
  const whole_warp warp;
  for (int i = 0; i < threads / statistics_lanes; ++i)
    statistics_of_chunk<whole_warp>(work, warp).make(i, threads / statistics_lanes);
}

/// Runs a kernel of a module of engine E; `arguments` are as for cuLaunchKernel. Every thread is a warp of its own.
template <class E>
void emulate(std::string_view kernel, int threads, void** arguments) {
  if (kernel == "saltus_describe") {
    **static_cast<abi::device_module**>(arguments[0]) = cuda_module_of<E>;
    return;
  }
  if (kernel == "saltus_tolerances") {
    using Tolerances = tolerances<E, pack<typename E::T, 1>>;
    **static_cast<Tolerances**>(arguments[1]) =
        tolerances_from<E, pack<typename E::T, 1>>(*static_cast<const abi::settings*>(arguments[0]));
    return;
  }
  if (kernel == "saltus_statistics") return emulate_statistics(threads, arguments);
  const auto& chunk = *static_cast<const abi::device_chunk*>(arguments[0]);
  const auto& tol = *static_cast<const tolerances<E, pack<typename E::T, 1>>*>(arguments[1]);
  for (int i = 0; i < threads; ++i) emulate_thread<E>(kernel, chunk, tol, lone_warp(i, threads));
}

}  // namespace saltus::test
