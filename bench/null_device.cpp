// The host's half of a run on a CUDA device, without a device: memory of the device is host memory, copies are memcpy, and
// kernels end all instances at once (testing/fake_cuda_driver.hpp). The processor time of the driver itself is not counted;
// the rest is the host's work: columns, staging, counts, threads.
//
//     bench_null_device [MODEL INPUT FROM TO [COUNT ...]]    by default lorenz rho 0 21, and 10^4 to 10^7 instances
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <sys/resource.h>

#include <fmt/format.h>

#include "abi/device.hpp"
#include "backend/cuda/plugin.hpp"
#include "testing/ensemble.hpp"
#include "testing/fake_cuda_driver.hpp"

extern "C" saltus::host::cuda_backend_function saltus_cuda_backend;

namespace {

using namespace saltus;

/// A device that takes no time: the first round begins and ends all instances.
void end_all(std::string_view kernel, int, void** arguments) {
  if (kernel == "saltus_describe") {
    **static_cast<abi::device_module**>(arguments[0]) = {.version = abi::version,
                                                         .record_reals = 20,
                                                         .record_integers = 12,
                                                         .record_slot = 0,
                                                         .rows_per_landing = 100,
                                                         .tolerance_bytes = 64};
    return;
  }
  if (kernel != "saltus_turn_over") return;
  const auto& c = *static_cast<abi::device_chunk*>(arguments[0]);
  abi::device_progress& p = *c.progress;
  p.ready[0] = p.ready[1] = p.parked[0] = p.parked[1] = p.vacant[0] = p.vacant[1] = p.fresh = 0;
  p.next = p.stored = c.in.count;
  std::memset(c.out.status, static_cast<int>(status::finished), static_cast<std::size_t>(c.in.count));
}

struct cost {
  double wall, processor;  ///< ns per instance
  long faults;             ///< page faults
};

double now(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

cost cost_of(const host::plan& p, host::backend& where) {
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  const auto processor_seconds = [] {
    return now(CLOCK_PROCESS_CPUTIME_ID) - 1e-9 * static_cast<double>(test::fake_cuda_done().nanoseconds);
  };
  const double wall = now(CLOCK_MONOTONIC), processor = processor_seconds();
  const host::cancellation stop;
  host::run_ensemble(p, where, stop);
  const double per_instance = 1e9 / static_cast<double>(p.count);
  const cost r{per_instance * (now(CLOCK_MONOTONIC) - wall), per_instance * (processor_seconds() - processor), 0};
  getrusage(RUSAGE_SELF, &after);
  return {r.wall, r.processor, after.ru_minflt - before.ru_minflt};
}

}  // namespace

int main(int argc, char** argv) {
  const std::string model = argc > 4 ? argv[1] : "lorenz", input = argc > 4 ? argv[2] : "rho";
  const std::string from = argc > 4 ? argv[3] : "0", to = argc > 4 ? argv[4] : "21";
  std::vector<std::int64_t> counts;
  for (int k = 5; k < argc; ++k) counts.push_back(std::stoll(argv[k]));
  if (counts.empty()) counts = {10'000, 100'000, 1'000'000, 10'000'000};
  constexpr int rounds = 9;
  test::the_fake_cuda().run_kernel = end_all;
  test::the_fake_cuda().memory = std::size_t{16} << 30;
  test::the_fake_cuda().multiprocessors = 132;
  test::the_fake_cuda().blocks_per_multiprocessor = 8;
  fmt::print(
      "| instances | chunk | wall, ns | processor, ns | page faults | first run: wall, ns | page faults |\n"
      "|---|---|---|---|---|---|---|\n");
  for (const std::int64_t n : counts) {
    auto p = test::plan_of(model, {fmt::format("sweep.{}={{from={},to={},count={}}}", input, from, to, n)});
    p.backend = host::backend_kind::cuda;
    const std::unique_ptr<host::backend> where(saltus_cuda_backend(p, 0));
    const cost first = cost_of(p, *where);
    std::vector<cost> more;
    for (int round = 0; round < rounds; ++round) more.push_back(cost_of(p, *where));
    const auto median = [&](auto cost::*what) {
      std::nth_element(more.begin(), more.begin() + rounds / 2, more.end(),
                       [&](const cost& a, const cost& b) { return a.*what < b.*what; });
      return more[rounds / 2].*what;
    };
    fmt::print("| {} | {} | {:.1f} | {:.1f} | {} | {:.1f} | {} |\n", n, where->chunk_size(), median(&cost::wall),
               median(&cost::processor), median(&cost::faults), first.wall, first.faults);
    std::fflush(stdout);
  }
}
