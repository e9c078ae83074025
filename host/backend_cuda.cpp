// The CUDA backend: a chunk lies in device memory, and kernels are launched round after round (run_cuda.cuh) in a stream
// of its own. Part of the plug-in library.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "abi_cuda.hpp"
#include "backend.hpp"
#include "cuda_driver.hpp"
#include "cuda_plugin.hpp"
#include "error.hpp"
#include "nvrtc.hpp"

namespace saltus::host {

namespace {

constexpr std::int64_t most_instances    = 1 << 20;   ///< in a chunk
constexpr std::size_t  most_host_bytes   = 1u << 30;  ///< of a chunk in host memory, where a few chunks are at once
constexpr std::int64_t fewest_exceptions = 1024;      ///< for which a chunk has room
constexpr int          places_per_thread = 4;         ///< how often a thread can swap before a round ends
constexpr int          turn_budget       = 4096;      ///< turns in a launch: some ten milliseconds
constexpr int          chunks_at_once    = 2;         ///< the end of one is covered by the middle of another
// Rounds are launched ahead until the host looks again after about this time.
constexpr double shortest_look = 0.005, longest_look = 0.050;  // s
constexpr int    most_rounds_ahead = 64;

/// A kernel and how many blocks of it the device holds at once.
struct kernel {
  CUfunction code;
  int        blocks;
};

/// A unit loaded onto the device.
struct loaded_unit {
  cuda_module    code;
  kernel         begin, sail, land;
  CUfunction     turn_over;
  abi::cuda_unit about;

  loaded_unit(const std::string& cubin, const cuda_device& device)
      : code(cubin),
        begin(resident("saltus_begin", device)),
        sail(resident("saltus_sail", device)),
        land(resident("saltus_land", device)),
        turn_over(code.kernel("saltus_turn_over")),
        about(describe()) {
    if (about.version != abi::version)
      throw error(exit_failure, "a compiled unit is of another version of saltus: clear the cache");
  }

 private:
  kernel resident(const char* name, const cuda_device& device) const {
    kernel k{code.kernel(name), 0};
    SALTUS_CUDA(cuOccupancyMaxActiveBlocksPerMultiprocessor, &k.blocks, k.code, abi::cuda_block, 0);
    k.blocks *= device.multiprocessors();
    return k;
  }
  abi::cuda_unit describe() const {
    const cuda_memory     there(sizeof(abi::cuda_unit));
    const cuda_stream     stream;
    const abi::cuda_unit* address = reinterpret_cast<abi::cuda_unit*>(there.address());
    abi::cuda_unit        unit{};
    void*                 arguments[] = {&address};
    stream.launch(code.kernel("saltus_describe"), 1, 1, arguments);
    stream.download(&unit, address, 1);
    stream.wait();
    return unit;
  }
};

/// The columns of counters, in the order of chunk_data::counters.
std::array<long long**, 8> counters_of(abi::results& r) {
  return {&r.steps,       &r.rejected,   &r.evaluations, &r.events,
          &r.corrections, &r.misordered, &r.phantoms,    &r.undetermined};
}

/// Hands out parts of a block of device memory, or only adds up what they need.
class carver {
 public:
  explicit carver(CUdeviceptr base) : base_(base) {}
  template <class Number>
  void carve(Number*& part, std::int64_t count) {
    part = count > 0 ? reinterpret_cast<Number*>(base_ + used_) : nullptr;
    used_ += (static_cast<std::size_t>(count) * sizeof(Number) + 255) / 256 * 256;
  }
  std::size_t used() const { return used_; }

 private:
  CUdeviceptr base_;
  std::size_t used_ = 0;
};

/// The plan's tolerances as kernels take them: saltus::tolerances over packs of one.
template <class T, class Integer>
std::vector<unsigned char> tolerances_of(const plan& p) {
  std::vector<T> reals = {static_cast<T>(p.rtol)};
  for (const double a : p.atol) reals.push_back(static_cast<T>(a));
  for (const double r : {p.event_tol, p.fixed_step, p.concurrency_time, p.concurrency_value, p.zeno})
    reals.push_back(static_cast<T>(r));
  const Integer budgets[] = {static_cast<Integer>(p.max_steps), static_cast<Integer>(p.max_events)};
  // Then a pointer to the host's linear algebra, of which a device has none, and `surer`, which is false: all zero.
  constexpr std::size_t      word    = sizeof(void*);
  const std::size_t          numbers = reals.size() * sizeof(T) + sizeof(budgets);
  std::vector<unsigned char> bytes((numbers + word - 1) / word * word + 2 * word);
  std::memcpy(bytes.data(), reals.data(), reals.size() * sizeof(T));
  std::memcpy(bytes.data() + reals.size() * sizeof(T), budgets, sizeof(budgets));
  return bytes;
}

/// What a chunk needs to know about its run; the same for all chunks.
struct run_data {
  plan                       what;
  abi::settings              how;
  cuda_device                device{0};
  built_cuda                 built;
  loaded_unit                unit;
  std::vector<unsigned char> tolerances;
  std::size_t                memory;  ///< bytes of device memory for one chunk

  explicit run_data(const plan& p)
      : what(p),
        how(settings_of(what)),
        built(build_cuda_unit(p, device.capability())),
        unit(built.cubin, device),
        tolerances(p.precision == "float" ? tolerances_of<float, std::int32_t>(p)
                                          : tolerances_of<double, std::int64_t>(p)) {
    std::size_t left = 0, all = 0;
    SALTUS_CUDA(cuMemGetInfo, &left, &all);
    memory = left / 10 * 9 / chunks_at_once;
    if (tolerances.size() != static_cast<std::size_t>(unit.about.tolerance_bytes))
      throw error(exit_failure, "internal: host and kernels differ about the tolerances");
  }

  /// Of the kernels' arithmetic, and of their integers.
  std::int64_t number_bytes() const { return what.precision == "float" ? 4 : 8; }

  int places_for(std::int64_t count) const {
    const std::int64_t most = std::int64_t{places_per_thread} * unit.sail.blocks * abi::cuda_block;
    return static_cast<int>(std::min(count, most));
  }

  /// Arranges a chunk of `count` instances in device memory.
  abi::cuda_chunk arrange(carver& memory_, std::int64_t count) const {
    const auto         states = std::ssize(what.model.states), outputs = std::ssize(what.model.outputs);
    const std::int64_t places = places_for(count);
    abi::cuda_chunk    c{};
    c.how         = how;
    c.how.atol    = nullptr;  // kernels take the tolerances as an argument
    c.in.count    = count;
    c.turn_budget = turn_budget;
    memory_.carve(c.progress, 1);
    memory_.carve(c.how.sample_times, how.sample_times ? how.sample_count : 0);

    memory_.carve(c.in.parameters, std::ssize(what.model.parameters) * count);
    memory_.carve(c.in.initial, states * count);
    memory_.carve(c.in.t_begin, count);
    memory_.carve(c.in.t_end, count);

    memory_.carve(c.out.final_state, states * count);
    memory_.carve(c.out.final_output, outputs * count);
    memory_.carve(c.out.final_discrete, std::ssize(what.model.discretes) * count);
    memory_.carve(c.out.t_final, count);
    memory_.carve(c.out.status, count);
    for (long long** column : counters_of(c.out)) memory_.carve(*column, count);
    memory_.carve(c.out.residual, count);
    memory_.carve(c.out.residual_of, count);
    memory_.carve(c.out.samples, (states + outputs) * count * how.sample_count);
    memory_.carve(c.out.reductions, std::ssize(what.reductions) * count);

    c.pool.places = static_cast<int>(places);
    unsigned char *real_bytes, *integer_bytes;
    memory_.carve(real_bytes, unit.about.record_reals * number_bytes() * places);
    memory_.carve(integer_bytes, unit.about.record_integers * number_bytes() * places);
    c.pool.reals    = real_bytes;
    c.pool.integers = integer_bytes;
    for (abi::cuda_list* list : {&c.ready, &c.parked, &c.vacant})
      for (int*& half : list->place) memory_.carve(half, places);

    if (how.log_events != 0) {
      // Room for all places to land at once, if that is not more than an eighth of the memory.
      const auto row = static_cast<std::int64_t>(sizeof(long long) + sizeof(double) + sizeof(int)) + 16 * states;
      const auto most =
          std::max<std::int64_t>(static_cast<std::int64_t>(memory / 8) / row, unit.about.rows_per_landing);
      c.events.capacity = std::min(places * unit.about.rows_per_landing, most);
      memory_.carve(c.events.slot, c.events.capacity);
      memory_.carve(c.events.time, c.events.capacity);
      memory_.carve(c.events.guard, c.events.capacity);
      memory_.carve(c.events.before, c.events.capacity * states);
      memory_.carve(c.events.after, c.events.capacity * states);
    }
    if (const bool all_may_be_stiff = !what.stiff_method.empty(); all_may_be_stiff || what.rescue) {
      c.exceptions.capacity = all_may_be_stiff ? count : std::min(count, std::max(fewest_exceptions, count / 8));
      memory_.carve(c.exceptions.slot, c.exceptions.capacity);
      memory_.carve(c.exceptions.reals, c.exceptions.capacity * unit.about.record_reals);
      memory_.carve(c.exceptions.integers, c.exceptions.capacity * unit.about.record_integers);
    }
    return c;
  }

  std::size_t bytes_for(std::int64_t count) const {
    carver c(0);
    arrange(c, count);
    return c.used();
  }
};

/// Integrates one chunk after another, in one block of memory and one stream.
class chunk_runner {
 public:
  explicit chunk_runner(const run_data& run) : run_(run) {}

  void integrate(chunk_data& chunk, const std::function<bool(std::int64_t)>& finished, abi::usage& usage) {
    upload(chunk);
    std::int64_t reported = 0;
    for (int rounds = 1;;) {
      const auto begin = std::chrono::steady_clock::now();
      run_rounds(rounds);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      if (took.count() < shortest_look) rounds = std::min(2 * rounds, most_rounds_ahead);
      if (took.count() > longest_look) rounds = std::max(rounds / 2, 1);
      take_events(chunk);
      const bool go_on = finished(state_.stored - reported);
      reported         = state_.stored;
      if (is_done()) break;
      if (go_on) continue;
      store_unfinished();
      break;
    }
    download(chunk);
    take_exceptions(chunk);
    usage.turns += state_.used.turns;
    usage.lane_turns += state_.used.lane_turns;
    usage.landings += state_.used.landings;
    usage.landed += state_.used.landed;
  }

 private:
  void upload(const chunk_data& chunk) {
    if (const std::size_t bytes = run_.bytes_for(chunk.count); bytes > memory_.bytes()) {
      memory_ = cuda_memory(0);  // give it back first
      memory_ = cuda_memory(bytes);
    }
    carver parts(memory_.address());
    c_             = run_.arrange(parts, chunk.count);
    c_.in.first_id = chunk.first_id;
    const auto all = [&](const auto* to, const auto& from) { stream_.upload(to, from.data(), from.size()); };
    all(c_.in.parameters, chunk.parameters);
    all(c_.in.initial, chunk.initial);
    all(c_.in.t_begin, chunk.t_begin);
    all(c_.in.t_end, chunk.t_end);
    if (c_.how.sample_times != nullptr) all(c_.how.sample_times, run_.what.sample_times);
    const auto places = static_cast<std::size_t>(c_.pool.places);
    stream_.fill(c_.pool.integers, 0xff,
                 static_cast<std::size_t>(run_.unit.about.record_integers * run_.number_bytes()) * places);
    std::vector<int> vacant(places);
    std::iota(vacant.begin(), vacant.end(), 0);
    all(c_.vacant.place[0], vacant);
    state_ = abi::cuda_start(c_, run_.unit.about.rows_per_landing);
  }

  /// Some rounds, and a look at how far they went.
  void run_rounds(int rounds) {
    stream_.upload(c_.progress, &state_, 1);
    for (int i = 0; i < rounds; ++i) {
      launch(run_.unit.begin);
      launch(run_.unit.sail);
      launch(run_.unit.land);
      launch({run_.unit.turn_over, 1}, 1);
    }
    look();
  }
  void look() {
    stream_.download(&state_, c_.progress, 1);
    stream_.wait();
  }
  void launch(const kernel& k, int block = abi::cuda_block) {
    const int blocks      = std::min(k.blocks, (c_.pool.places + block - 1) / block);
    void*     arguments[] = {&c_, const_cast<unsigned char*>(run_.tolerances.data())};
    stream_.launch(k.code, blocks, block, arguments);
  }

  bool is_done() const {
    return state_.ready[state_.half] + state_.parked[state_.half] + state_.vacant[state_.half] == 0;
  }

  /// Empties the event log on the device.
  void take_events(chunk_data& chunk) {
    const auto more = static_cast<std::size_t>(state_.rows), n = run_.what.model.states.size();
    const auto take = [&](auto& to, const auto* from, std::size_t width) {
      to.resize(to.size() + more * width);
      stream_.download(to.data() + to.size() - more * width, from, more * width);
    };
    take(chunk.log.slot, c_.events.slot, 1);
    take(chunk.log.time, c_.events.time, 1);
    take(chunk.log.guard, c_.events.guard, 1);
    take(chunk.log.before, c_.events.before, n);
    take(chunk.log.after, c_.events.after, n);
    stream_.wait();
    state_.rows     = 0;
    state_.landable = abi::landable_places(c_, 0, run_.unit.about.rows_per_landing);
  }

  /// Instances under way are stored as they stand, by the kernel that stores those that have ended.
  void store_unfinished() {
    const int h = state_.half;
    for (auto [list, length] : {std::pair{&c_.ready, &state_.ready[h]}, std::pair{&c_.parked, &state_.parked[h]}}) {
      stream_.copy(c_.vacant.place[h] + state_.vacant[h], list->place[h], static_cast<std::size_t>(*length));
      state_.vacant[h] += std::exchange(*length, 0);
    }
    state_.fresh = 0;
    stream_.upload(c_.progress, &state_, 1);
    launch(run_.unit.begin);
    look();
  }

  /// Fetches the results of all instances that have begun; the others keep what the chunk was preset to.
  void download(chunk_data& chunk) {
    const auto count = static_cast<std::size_t>(chunk.count), begun = static_cast<std::size_t>(state_.next);
    const auto fetch = [&](auto& to, const auto* from, std::size_t width) {
      for (std::size_t first = 0; first < to.size(); first += count * width)
        stream_.download(to.data() + first, from + first, begun * width);
    };
    fetch(chunk.final_state, c_.out.final_state, 1);
    fetch(chunk.final_output, c_.out.final_output, 1);
    fetch(chunk.final_discrete, c_.out.final_discrete, 1);
    fetch(chunk.t_final, c_.out.t_final, 1);
    fetch(chunk.status, c_.out.status, 1);
    const auto counters = counters_of(c_.out);
    for (std::size_t j = 0; j < counters.size(); ++j) fetch(*chunk.counters()[j], *counters[j], 1);
    if (has_residuals(run_.what.model)) {
      fetch(chunk.residual, c_.out.residual, 1);
      fetch(chunk.residual_of, c_.out.residual_of, 1);
    }
    fetch(chunk.reductions, c_.out.reductions, 1);
    if (c_.how.sample_count > 0) fetch(chunk.samples, c_.out.samples, static_cast<std::size_t>(c_.how.sample_count));
    stream_.wait();
  }

  /// Fetches the instances that could not go on, as many as the device had room for.
  void take_exceptions(chunk_data& chunk) {
    const auto rows = static_cast<std::size_t>(std::min(state_.exceptions, c_.exceptions.capacity));
    const auto take = [&](auto& to, const auto* from, int width) {
      to.resize(rows * static_cast<std::size_t>(width));
      stream_.download(to.data(), from, to.size());
    };
    take(chunk.exceptions.slot, c_.exceptions.slot, 1);
    take(chunk.exceptions.reals, c_.exceptions.reals, run_.unit.about.record_reals);
    take(chunk.exceptions.integers, c_.exceptions.integers, run_.unit.about.record_integers);
    stream_.wait();
  }

  const run_data&    run_;
  cuda_stream        stream_;
  cuda_memory        memory_{0};
  abi::cuda_chunk    c_{};
  abi::cuda_progress state_{};  ///< as of the last look
};

class cuda_backend final : public backend {
 public:
  explicit cuda_backend(const plan& p) : run_(p), chunk_size_(p.chunk > 0 ? p.chunk : chosen_chunk()) {}
  ~cuda_backend() override {
    try {
      run_.device.use();  // to give memory back on this thread
    } catch (const error&) {}
  }

  std::string device() const override {
    const int capability = run_.device.capability();
    return fmt::format("cuda: {} (compute capability {}.{}, {} multiprocessors), {} of {}", run_.device.name(),
                       capability / 10, capability % 10, run_.device.multiprocessors(), nvrtc_version(),
                       run_.what.precision);
  }
  std::string  model_hash() const override { return run_.built.key; }
  double       compile_seconds() const override { return run_.built.seconds; }
  std::int64_t chunk_size() const override { return chunk_size_; }
  int          concurrency() const override { return run_.what.count > chunk_size_ ? chunks_at_once : 1; }

  void integrate(chunk_data& chunk, const std::function<bool(std::int64_t)>& finished, abi::usage& usage) override {
    run_.device.use();
    std::unique_ptr<chunk_runner> runner;
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        runner = std::move(idle_.back());
        idle_.pop_back();
      }
    }
    if (!runner) runner = std::make_unique<chunk_runner>(run_);
    runner->integrate(chunk, finished, usage);
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(runner));
  }

 private:
  /// As many instances as fit: a large chunk keeps the device full for longest.
  std::int64_t chosen_chunk() const {
    const plan&  p     = run_.what;
    const auto   bytes = [&](std::int64_t count) { return chunk_data_bytes(p) * static_cast<std::size_t>(count); };
    std::int64_t size  = std::min(p.count, most_instances);
    while (size > 1 && (bytes(size) > most_host_bytes || run_.bytes_for(size) > run_.memory)) size = (size + 1) / 2;
    return size;
  }
  /// Bytes of one instance of a chunk_data, which for samples are many.
  static std::size_t chunk_data_bytes(const plan& p) {
    const std::size_t states = p.model.states.size(), outputs = p.model.outputs.size();
    return 8 * (p.model.parameters.size() + 2 * states + outputs + p.model.discretes.size() + p.reductions.size() + 15 +
                (states + outputs) * static_cast<std::size_t>(p.sample_count));
  }

  run_data                                   run_;
  std::int64_t                               chunk_size_;
  std::mutex                                 mutex_;
  std::vector<std::unique_ptr<chunk_runner>> idle_;
};

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

const char* saltus_cuda_version() { return SALTUS_VERSION; }

void saltus_cuda_absent(std::string& reason, std::string& name) {
  try {
    int count = 0;
    SALTUS_CUDA(cuInit, 0);
    SALTUS_CUDA(cuDeviceGetCount, &count);
    if (count > 0) name = cuda_device(0).name();
    else reason = "the driver finds no device";
  } catch (const error& e) { reason = e.what(); }
}

backend* saltus_cuda_backend(const plan& p) { return new cuda_backend(p); }

}  // extern "C"
#pragma GCC visibility pop

}  // namespace saltus::host
