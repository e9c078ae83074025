// The CUDA backend: a chunk lies in device memory, and kernels are launched round after round (run_cuda.cuh) in a stream
// of its own. Part of the plug-in library.
#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "abi/cuda.hpp"
#include "backend/cuda/driver.hpp"
#include "backend/cuda/plugin.hpp"
#include "backend/cuda/share.hpp"
#include "backend/cuda/statistics.hpp"
#include "backend/cuda/throughput.hpp"
#include "base/error.hpp"
#include "compile/nvrtc.hpp"
#include "ensemble/backend.hpp"
#include "ensemble/settings.hpp"

namespace saltus::host {

namespace {

constexpr std::int64_t max_instances = 1 << 20;   ///< in a chunk
constexpr std::int64_t max_host_bytes = 1 << 30;  ///< of a chunk in host memory, where a few chunks are at once
constexpr int chunks_per_run = 6;                 ///< of a run that is not large: copies of one behind work on another
constexpr int places_per_thread = 4;              ///< how often a thread can swap before a round ends
constexpr int chunks_at_once = 3;                 ///< one comes, one is integrated, one goes
// Rounds are launched ahead until the host looks again after about this time; where one takes longer, it has fewer turns.
constexpr double shortest_look = 0.005, longest_look = 0.050;  // s
constexpr int max_rounds_ahead = 64, max_turns = 4096, fewest_turns = 64;
// Nothing is known of a turn before the first round, and the watchdog of a display ends kernels after some seconds.
constexpr int first_turns = 128;
/// Of the memory that is left: the rest is for statistics, code and what the driver takes for itself.
constexpr double usable_part = 0.9;
/// A chunk is not cut into smaller pieces than this where memory runs out.
constexpr std::int64_t smallest_piece = 32;

/// A kernel and how many blocks of it the device holds at once.
struct kernel {
  CUfunction code;
  int blocks;
};

/// The first branch of drivers for a major version of CUDA (release notes of the CUDA toolkit, "CUDA Driver").
std::string driver_for(int version) {
  switch (version / 1000) {
    case 11: return "driver R450 or newer";
    case 12: return "driver R525 or newer";
    case 13: return "driver R580 or newer";
    default: return fmt::format("a driver for CUDA {} or newer", version / 1000);
  }
}

/// Why the driver cannot take what this NVRTC makes; empty if it can. It takes code of its own major version and of all
/// before, whatever the minor one; but it must know the very version of what it is to compile by itself.
std::string too_old_driver(bool for_ptx) {
  int driver = 0;
  SALTUS_CUDA(cuDriverGetVersion, &driver);
  const int ours = nvrtc_cuda_version();
  if (for_ptx ? driver >= ours : driver / 1000 >= ours / 1000) return {};
  return fmt::format("the NVIDIA driver is for CUDA {}, and {} makes {} for CUDA {}: install {}{}",
                     cuda_version_text(driver), nvrtc_version(), for_ptx ? "PTX" : "kernels", cuda_version_text(ours),
                     for_ptx ? fmt::format("a driver for CUDA {} or newer", cuda_version_text(ours)) : driver_for(ours),
                     for_ptx ? "" : fmt::format(", or build saltus with CUDA {}", driver / 1000));
}

/// The module of a plan, which the driver must be able to take.
cuda_module_code code_for(const plan& p, int capability) {
  auto code = build_cuda_module(p, capability);
  if (code.sail.ptx_of != 0)
    if (const std::string reason = too_old_driver(true); !reason.empty())
      throw error(exit_device, fmt::format("a device of compute capability {}.{} is newer than {}: {}", capability / 10,
                                           capability % 10, nvrtc_version(), reason));
  return code;
}

/// A module loaded onto the device.
struct loaded_module {
  cuda_module beginning, sailing, landing;
  kernel begin, sail, land;
  CUfunction turn_over;
  std::size_t local_bytes;  ///< of device memory, for the local memory of as many threads as the device holds
  abi::cuda_module about;

  loaded_module(const cuda_module_code& code, const cuda_device& device)
      : beginning(code.begin.code),
        sailing(code.sail.code),
        landing(code.land.code),
        begin(resident(beginning, "saltus_begin", device)),
        sail(resident(sailing, "saltus_sail", device)),
        land(resident(landing, "saltus_land", device)),
        turn_over(beginning.kernel("saltus_turn_over")),
        local_bytes(local_memory(device)),
        about(describe()) {
    if (about.version != abi::version)
      throw error(exit_failure, "a compiled module is of another version of saltus: clear the cache");
  }

  /// A run's tolerances as the kernels take them.
  std::vector<unsigned char> tolerances_from(abi::settings how, const std::vector<double>& atol) const {
    std::vector<unsigned char> bytes(static_cast<std::size_t>(about.tolerance_bytes));
    const cuda_memory atol_there(atol.size() * sizeof(double)), made(bytes.size());
    const cuda_stream stream;
    double* const numbers = reinterpret_cast<double*>(atol_there.address());
    how.atol = numbers;
    how.algebra = nullptr;
    unsigned char* address = reinterpret_cast<unsigned char*>(made.address());
    void* arguments[] = {&how, &address};
    stream.upload(numbers, atol.data(), atol.size());
    stream.launch(beginning.kernel("saltus_tolerances"), 1, 1, arguments);
    stream.download(bytes.data(), address, bytes.size());
    stream.wait();
    return bytes;
  }

 private:
  static kernel resident(const cuda_module& code, const char* name, const cuda_device& device) {
    kernel k{code.kernel(name), 0};
    SALTUS_CUDA(cuOccupancyMaxActiveBlocksPerMultiprocessor, &k.blocks, k.code, abi::cuda_block, 0);
    k.blocks *= device.multiprocessors();
    return k;
  }
  /// The driver takes it at the first launch of a kernel that needs more than all before, whatever else is there by then.
  std::size_t local_memory(const cuda_device& device) const {
    std::size_t most = 0;
    for (const kernel& k : {begin, sail, land}) most = std::max(most, cuda_module::local_bytes(k.code));
    return most * static_cast<std::size_t>(device.attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)) *
           static_cast<std::size_t>(device.multiprocessors());
  }
  abi::cuda_module describe() const {
    const cuda_memory there(sizeof(abi::cuda_module));
    const cuda_stream stream;
    const abi::cuda_module* address = reinterpret_cast<abi::cuda_module*>(there.address());
    abi::cuda_module module{};
    void* arguments[] = {&address};
    stream.launch(beginning.kernel("saltus_describe"), 1, 1, arguments);
    stream.download(&module, address, 1);
    stream.wait();
    return module;
  }
};

/// Hands out parts of a block of device memory, or only adds up what they need.
class arena {
 public:
  explicit arena(CUdeviceptr base) : base_(base) {}
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

/// What a chunk needs to know about its run; the same for all chunks.
struct run_data {
  plan what;
  abi::settings how;
  cuda_device device;
  cuda_module_code built;
  loaded_module module;
  std::vector<unsigned char> tolerances;
  mutable memory_share share;
  std::size_t memory;  ///< bytes of device memory for one chunk

  std::optional<statistics_module> statistics;  ///< if nothing else is wanted of most instances
  mutable busy_time busy;                       ///< seconds in which rounds were under way

  run_data(const plan& p, int device_number)
      : what(p),
        how(settings_of(what)),
        device(device_number),
        built(code_for(p, device.capability())),
        module(built, device),
        tolerances(module.tolerances_from(how, p.atol)),
        share(device_number) {
    const std::size_t left = share.of(cuda_device::memory_left());
    memory = static_cast<std::size_t>(usable_part * static_cast<double>(left - std::min(left, module.local_bytes))) /
             chunks_at_once;
    if (!what.rows) statistics.emplace(device);
  }

  /// Kernels have run: the driver has what it takes for their local memory.
  void hold_local_memory() const {
    std::call_once(has_run_, [this] { share.hold(0, module.local_bytes); });
  }

  /// Of the kernels' arithmetic, and of their integers.
  std::int64_t number_bytes() const { return what.precision == "float" ? 4 : 8; }

  int places_for(std::int64_t count) const {
    const std::int64_t most = std::int64_t{places_per_thread} * module.sail.blocks * abi::cuda_block;
    return static_cast<int>(std::min(count, most));
  }

  std::int64_t pool_bytes(int numbers, const abi::cuda_chunk& c) const {
    return abi::pool_bytes(numbers, static_cast<int>(number_bytes()), c.pool.places);
  }

  /// Arranges a chunk of `count` instances in device memory.
  abi::cuda_chunk arrange(arena& memory_, std::int64_t count) const {
    const auto states = std::ssize(what.model.states), outputs = std::ssize(what.model.outputs);
    const std::int64_t places = places_for(count);
    abi::cuda_chunk c{};
    c.how = how;
    c.how.atol = nullptr;  // kernels take the tolerances as an argument
    c.in.count = count;
    memory_.carve(c.progress, 1);
    memory_.carve(c.how.sample_times, how.sample_times ? how.sample_count : 0);

    memory_.carve(c.in.parameters, std::ssize(what.model.parameters) * count);
    memory_.carve(c.in.initial, states * count);
    memory_.carve(c.in.t_begin, count);
    memory_.carve(c.in.t_end, count);
    memory_.carve(c.order, what.by_work ? count : 0);

    memory_.carve(c.out.final_state, states * count);
    memory_.carve(c.out.final_output, outputs * count);
    memory_.carve(c.out.final_discrete, std::ssize(what.model.discretes) * count);
    memory_.carve(c.out.t_final, count);
    memory_.carve(c.out.status, count);
    for (const auto column : abi::counter_members<long long*>) memory_.carve(c.out.*column, count);
    memory_.carve(c.out.residual, count);
    memory_.carve(c.out.residual_of, count);
    memory_.carve(c.out.samples, (states + outputs) * count * how.sample_count);
    memory_.carve(c.out.reductions, std::ssize(what.reductions) * count);
    memory_.carve(c.out.guard_history, std::ssize(what.model.guards) * count);

    c.pool.places = static_cast<int>(places);
    unsigned char *real_bytes, *integer_bytes;
    memory_.carve(real_bytes, pool_bytes(module.about.record_reals, c));
    memory_.carve(integer_bytes, pool_bytes(module.about.record_integers, c));
    c.pool.reals = real_bytes;
    c.pool.integers = integer_bytes;
    for (abi::cuda_list* list : {&c.ready, &c.parked, &c.vacant})
      for (int*& half : list->place) memory_.carve(half, places);

    if (how.log_events != 0) {
      // Room for all places to land at once, if that is not more than an eighth of the memory.
      const auto row = static_cast<std::int64_t>(sizeof(long long) + sizeof(double) + sizeof(int)) + 16 * states;
      const auto most =
          std::max<std::int64_t>(static_cast<std::int64_t>(memory / 8) / row, module.about.rows_per_landing);
      c.events.capacity = std::min(places * module.about.rows_per_landing, most);
      memory_.carve(c.events.slot, c.events.capacity);
      memory_.carve(c.events.time, c.events.capacity);
      memory_.carve(c.events.guard, c.events.capacity);
      memory_.carve(c.events.before, c.events.capacity * states);
      memory_.carve(c.events.after, c.events.capacity * states);
    }
    if (!what.stiff_method.empty() || what.rescue) {
      // All of them may come: what begins afresh for want of room here would not have the bits of what goes on.
      c.exceptions.capacity = count;
      memory_.carve(c.exceptions.slot, c.exceptions.capacity);
      memory_.carve(c.exceptions.reals, c.exceptions.capacity * module.about.record_reals);
      memory_.carve(c.exceptions.integers, c.exceptions.capacity * module.about.record_integers);
    }
    return c;
  }

  std::size_t bytes_for(std::int64_t count) const {
    arena c(0);
    arrange(c, count);
    return c.used();
  }

 private:
  mutable std::once_flag has_run_;
};

/// Integrates one chunk after another, in one block of memory and one stream. Nothing here waits for what is done in the
/// streams of others: memory is asked for once, and what is copied goes through pinned memory. Where the memory does not
/// do, a chunk goes piece by piece: its neighbouring instances in one piece, with the bits that they have in any other.
class chunk_runner {
 public:
  /// `others_give_back` waits until others have given some of their memory back; false if there is nobody to wait for.
  chunk_runner(const run_data& run, std::function<bool()> others_give_back)
      : run_(run), others_give_back_(std::move(others_give_back)) {
    if (run.statistics) statistics_.emplace(run.what, *run.statistics);
  }
  ~chunk_runner() { run_.share.hold(memory_.bytes(), 0); }
  chunk_runner(const chunk_runner&) = delete;
  chunk_runner& operator=(const chunk_runner&) = delete;

  void integrate(chunk_data& chunk, const std::function<bool(std::int64_t)>& finished, abi::usage& usage) {
    for (std::int64_t first = 0; first < chunk.count; first += piece_.count) {
      begin_piece(chunk, first);
      const bool go_on = run_piece(chunk, finished);
      const std::int64_t begun = is_done() || !order_.empty() ? piece_.count : state_.next;
      if (!made_statistics(chunk)) download(chunk, 0, begun);
      download_histories(chunk, begun);
      if (!is_done()) forget_not_begun(chunk);
      take_exceptions(chunk);
      usage.turns += state_.used.turns;
      usage.lane_turns += state_.used.lane_turns;
      usage.landings += state_.used.landings;
      usage.landed += state_.used.landed;
      if (!go_on) break;
    }
  }

 private:
  /// Brings a piece of the chunk that begins with this slot to the device, and runs its first rounds: by then all memory
  /// has been asked for. Where there is not enough, the same with half as many instances.
  void begin_piece(const chunk_data& chunk, std::int64_t first) {
    for (;;) try {
        piece_ = {first, std::min(chunk.count - first, most_)};
        upload(chunk);
        run_rounds(rounds_);
        run_.hold_local_memory();
        return;
      } catch (const cuda_error& e) {
        if (!e.is_out_of_memory()) throw;
        stream_.wait();  // what is under way uses the memory
        allocate(0);
        most_ = std::max((piece_.count + 1) / 2, smallest_piece);
        if (piece_.count > smallest_piece) continue;
        most_ = std::numeric_limits<std::int64_t>::max();
        if (!others_give_back_())
          throw error(exit_failure,
                      fmt::format("{}: the device has {} bytes left, which is too little for {} instances: "
                                  "let other programs give theirs back, or use backend = \"cpu\"",
                                  e.what(), cuda_device::memory_left(), piece_.count));
      }
  }

  /// Goes on until all instances of the piece have ended; false if it is told to stop before.
  bool run_piece(chunk_data& chunk, const std::function<bool(std::int64_t)>& finished) {
    std::int64_t reported = 0;
    for (;;) {
      take_events(chunk);
      const bool go_on = finished(state_.stored - reported);
      reported = state_.stored;
      if (is_done()) return go_on;
      if (!go_on) {
        store_unfinished();
        return false;
      }
      run_rounds(rounds_);
    }
  }

  void allocate(std::size_t bytes) {
    const std::size_t before = memory_.bytes();
    memory_ = cuda_memory(0);  // give it back first
    run_.share.hold(before, 0);
    memory_ = cuda_memory(bytes);
    run_.share.hold(0, bytes);
    inputs_ = 0;
  }

  void upload(const chunk_data& chunk) {
    if (const std::size_t bytes = run_.bytes_for(piece_.count); bytes > memory_.bytes()) allocate(bytes);
    arena parts(memory_.address());
    c_ = run_.arrange(parts, piece_.count);
    c_.in.first_id = chunk.first_id + piece_.first;
    // Columns that are the same for all instances are there already where the piece before was of the same size.
    const bool is_there = inputs_ == piece_.count;
    const auto columns = [&](const double* to, const std::vector<double>& from, target::kind what) {
      const auto all = static_cast<std::size_t>(chunk.count), count = static_cast<std::size_t>(piece_.count),
                 first = static_cast<std::size_t>(piece_.first);
      for (std::size_t j = 0; j * all < from.size(); ++j)
        if (!is_there || varies(run_.what, what, static_cast<int>(j)))
          staging_.upload(to + j * count, from.data() + j * all + first, count);
    };
    columns(c_.in.parameters, chunk.parameters, target::kind::parameter);
    columns(c_.in.initial, chunk.initial, target::kind::state);
    columns(c_.in.t_begin, chunk.t_begin, target::kind::t_begin);
    columns(c_.in.t_end, chunk.t_end, target::kind::t_end);
    order_.clear();
    for (const int slot : chunk.order)
      if (slot >= piece_.first && slot < piece_.first + piece_.count)
        order_.push_back(slot - static_cast<int>(piece_.first));
    staging_.upload(c_.order, order_.data(), order_.size());
    if (order_.empty()) c_.order = nullptr;
    if (c_.how.sample_times != nullptr && !is_there)
      staging_.upload(c_.how.sample_times, run_.what.sample_times.data(), run_.what.sample_times.size());
    inputs_ = piece_.count;
    stream_.fill(c_.pool.integers, 0xff,
                 static_cast<std::size_t>(run_.pool_bytes(run_.module.about.record_integers, c_)));
    std::vector<int> vacant(static_cast<std::size_t>(c_.pool.places));
    std::iota(vacant.begin(), vacant.end(), 0);
    staging_.upload(c_.vacant.place[0], vacant.data(), vacant.size());
    state_ = abi::cuda_start(c_, run_.module.about.rows_per_landing);
  }

  /// How many rounds are launched before the next look, and how many turns each has, after some that have taken a time.
  void look_again_after(double took) {
    if (took < shortest_look) {
      if (turns_ < max_turns) turns_ *= 2;
      else rounds_ = std::min(2 * rounds_, max_rounds_ahead);
    }
    if (took > longest_look) {
      if (rounds_ > 1) rounds_ /= 2;
      else turns_ = std::max(turns_ / 2, fewest_turns);
    }
  }

  /// Some rounds, and a look at how far they went. What they took is measured by the device: the host's clock would count
  /// what the thread waits for besides.
  void run_rounds(int rounds) {
    c_.turn_budget = turns_;
    staging_.upload(c_.progress, &state_, 1);
    begun_.put_into(stream_);
    for (int i = 0; i < rounds; ++i) {
      launch(run_.module.begin);
      launch(run_.module.sail);
      launch(run_.module.land);
      launch({run_.module.turn_over, 1}, 1);
    }
    ended_.put_into(stream_);
    look();
    const double took = ended_.seconds_since(begun_);
    const double now = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    run_.busy.add(now - took, now);
    look_again_after(took);
  }
  void look() {
    staging_.download(&state_, c_.progress, 1);
    staging_.land();
    stream_.wait();  // throws what went wrong in a kernel
    if (c_.how.log_events != 0 && state_.rows > c_.events.capacity)
      throw error(exit_failure,
                  fmt::format("internal: {} rows of an event log that has room for {}: a landing logs more "
                              "than {} rows; please report the model",
                              state_.rows, c_.events.capacity, run_.module.about.rows_per_landing));
  }
  void launch(const kernel& k, int block = abi::cuda_block) {
    const int blocks = std::min(k.blocks, (c_.pool.places + block - 1) / block);
    void* arguments[] = {&c_, const_cast<unsigned char*>(run_.tolerances.data())};
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
      staging_.download(to.data() + to.size() - more * width, from, more * width);
    };
    take(chunk.log.slot, c_.events.slot, 1);
    take(chunk.log.time, c_.events.time, 1);
    take(chunk.log.guard, c_.events.guard, 1);
    take(chunk.log.before, c_.events.before, n);
    take(chunk.log.after, c_.events.after, n);
    staging_.land();
    for (auto row = chunk.log.slot.end() - static_cast<long>(more); row != chunk.log.slot.end(); ++row)
      *row += piece_.first;
    chunk.log.spill_if_long();
    state_.rows = 0;
    state_.landable = abi::landable_places(c_, 0, run_.module.about.rows_per_landing);
  }

  /// Instances under way are stored as they stand, by the kernel that stores those that have ended.
  void store_unfinished() {
    const int h = state_.half;
    for (auto [list, length] : {std::pair{&c_.ready, &state_.ready[h]}, std::pair{&c_.parked, &state_.parked[h]}}) {
      stream_.copy(c_.vacant.place[h] + state_.vacant[h], list->place[h], static_cast<std::size_t>(*length));
      state_.vacant[h] += std::exchange(*length, 0);
    }
    state_.fresh = 0;
    staging_.upload(c_.progress, &state_, 1);
    launch(run_.module.begin);
    look();
  }

  /// Makes the statistics of the chunk on the device, and fetches no more of its results than the host needs besides.
  /// False if that cannot be done: then it needs them all.
  bool made_statistics(chunk_data& chunk) {
    if (!statistics_ || !is_done() || piece_.count < chunk.count) return false;
    std::optional<std::vector<std::int64_t>> blocks;
    try {
      blocks = statistics_->make(stream_, staging_, c_.out, chunk);
    } catch (const cuda_error& e) {
      if (!e.is_out_of_memory()) throw;
    }
    if (!blocks) return false;
    // Every block takes a copy for each column: beyond some share of them all at once is faster.
    if (std::ssize(*blocks) > 16 + std::ssize(chunk.statistics.costs) / 16) {
      chunk.statistics.has_rows.assign(chunk.statistics.has_rows.size(), true);
      download(chunk, 0, chunk.count);
      return true;
    }
    for (const std::int64_t b : *blocks) {
      const std::int64_t first = b * statistics_block;
      download(chunk, first, std::min<std::int64_t>(statistics_block, chunk.count - first));
    }
    return true;
  }

  /// Fetches the results of the instances first, ..., first + rows - 1 of the piece; the others keep what the chunk was
  /// preset to.
  void download(chunk_data& chunk, std::int64_t first, std::int64_t rows) {
    const auto all = static_cast<std::size_t>(chunk.count), count = static_cast<std::size_t>(piece_.count);
    const auto before = static_cast<std::size_t>(piece_.first), skipped = static_cast<std::size_t>(first);
    const auto fetch = [&](auto& to, const auto* from, std::size_t width) {
      for (std::size_t j = 0; j * all * width < to.size(); ++j)
        staging_.download(to.data() + (j * all + before + skipped) * width, from + (j * count + skipped) * width,
                          static_cast<std::size_t>(rows) * width);
    };
    fetch(chunk.final_state, c_.out.final_state, 1);
    fetch(chunk.final_output, c_.out.final_output, 1);
    fetch(chunk.final_discrete, c_.out.final_discrete, 1);
    fetch(chunk.t_final, c_.out.t_final, 1);
    fetch(chunk.status, c_.out.status, 1);
    // Without guards and time events nothing lands, and what only that changes is preset.
    const bool has_events = !run_.what.model.guards.empty() || !run_.what.model.time_events.empty();
    for (std::size_t j = 0; j < abi::counter_count; ++j)
      if (has_events || abi::counter_table[j].changed_by != abi::change::landing)
        fetch(chunk.*abi::counter_members<std::vector<long long>>[j], c_.out.*abi::counter_members<long long*>[j], 1);
    if (has_residuals(run_.what.model)) {
      fetch(chunk.residual, c_.out.residual, 1);
      fetch(chunk.residual_of, c_.out.residual_of, 1);
    }
    fetch(chunk.reductions, c_.out.reductions, 1);
    if (c_.how.sample_count > 0) fetch(chunk.samples, c_.out.samples, static_cast<std::size_t>(c_.how.sample_count));
    staging_.land();
  }

  /// Of all instances of the piece, whether their other results are needed or not.
  void download_histories(chunk_data& chunk, std::int64_t rows) {
    const auto all = static_cast<std::size_t>(chunk.count), count = static_cast<std::size_t>(piece_.count);
    for (std::size_t j = 0; j * all < chunk.guard_history.size(); ++j)
      staging_.download(chunk.guard_history.data() + j * all + static_cast<std::size_t>(piece_.first),
                        c_.out.guard_history + j * count, static_cast<std::size_t>(rows));
    staging_.land();
  }

  /// Those that have begun when a run is stopped are the first ones of the piece's order: what was fetched of the others is
  /// not theirs.
  void forget_not_begun(chunk_data& chunk) {
    if (order_.empty()) return;
    std::vector<long long> slots(order_.begin() + state_.next, order_.end());
    for (long long& slot : slots) slot += piece_.first;
    for (const long long slot : slots)
      chunk.status[static_cast<std::size_t>(slot)] = static_cast<unsigned char>(status::not_run);
    chunk.forget(slots);
  }

  /// Fetches the instances that could not go on, as many as the device had room for.
  void take_exceptions(chunk_data& chunk) {
    const auto rows = static_cast<std::size_t>(std::min(state_.exceptions, c_.exceptions.capacity));
    const auto take = [&](auto& to, const auto* from, int width) {
      const std::size_t before = to.size(), more = rows * static_cast<std::size_t>(width);
      to.resize(before + more);
      staging_.download(to.data() + before, from, more);
    };
    take(chunk.exceptions.slot, c_.exceptions.slot, 1);
    take(chunk.exceptions.reals, c_.exceptions.reals, run_.module.about.record_reals);
    take(chunk.exceptions.integers, c_.exceptions.integers, run_.module.about.record_integers);
    staging_.land();
    auto& list = chunk.exceptions;
    const auto width = static_cast<std::size_t>(run_.module.about.record_integers);
    for (std::size_t row = list.slot.size() - rows; row < list.slot.size(); ++row) {
      list.slot[row] += piece_.first;
      list.integers[row * width + static_cast<std::size_t>(run_.module.about.record_slot)] += piece_.first;
    }
  }

  /// Neighbouring instances of a chunk that are on the device at once: all of them, where there is memory.
  struct part_of_chunk {
    std::int64_t first, count;
  };

  const run_data& run_;
  std::function<bool()> others_give_back_;

  cuda_stream stream_;
  cuda_staging staging_{stream_};
  cuda_memory memory_{0};
  cuda_event begun_{cuda_event::kind::time}, ended_{cuda_event::kind::time};  ///< of some rounds
  part_of_chunk piece_{0, 0};
  std::int64_t most_ = std::numeric_limits<std::int64_t>::max();  ///< of a piece: for which there was memory
  std::vector<int> order_;   ///< slots of the piece in the order in which they begin; or as they stand
  std::int64_t inputs_ = 0;  ///< instances of the piece whose inputs are in the memory
  int rounds_ = 1, turns_ = first_turns;
  abi::cuda_chunk c_{};
  abi::cuda_progress state_{};  ///< as of the last look

  std::optional<device_statistics> statistics_;
};

class cuda_backend final : public backend {
 public:
  cuda_backend(const plan& p, int device)
      : run_(p, device), number_(device), chunk_size_(p.chunk > 0 ? p.chunk : chosen_chunk()) {
    run_.share.plan(run_.module.local_bytes +
                    run_.bytes_for(std::min(chunk_size_, p.count)) * static_cast<std::size_t>(concurrency()));
  }
  ~cuda_backend() override {
    try {
      run_.device.use();  // to give memory back on this thread
    } catch (const error&) {}
  }

  std::string device() const override {
    const int capability = run_.device.capability();
    return fmt::format("cuda: device {}, {} (compute capability {}.{}, {} multiprocessors), {}{} of {}", number_,
                       run_.device.name(), capability / 10, capability % 10, run_.device.multiprocessors(),
                       nvrtc_version(), run_.built.sail.ptx_of != 0 ? ", as PTX for the driver," : "",
                       run_.what.precision);
  }
  std::string model_hash() const override { return run_.built.key(); }
  double compile_seconds() const override { return run_.built.seconds; }
  std::int64_t chunk_size() const override { return chunk_size_; }
  bool gains_by_order() const override { return true; }
  double peak_flops() const override {
    const double clock = 1e3 * run_.device.attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);  // the attribute is in kHz
    return 2.0 * cuda_fma_per_clock(run_.device.capability(), run_.what.precision) * run_.device.multiprocessors() *
           clock;
  }
  std::int64_t smallest_chunk() const override { return std::min<std::int64_t>(chunk_size_, threads()); }
  bool uses_host_threads() const override { return false; }
  std::optional<double> busy_seconds() const override { return run_.busy.seconds(); }
  int concurrency() const override {
    const std::int64_t chunks = (run_.what.count + chunk_size_ - 1) / chunk_size_;
    return static_cast<int>(std::clamp<std::int64_t>(chunks, 1, chunks_at_once));
  }

  void integrate(chunk_data& chunk, const std::function<bool(std::int64_t)>& finished, abi::usage& usage) override {
    run_.device.use();
    const at_work here(*this);
    std::unique_ptr<chunk_runner> runner;
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        runner = std::move(idle_.back());
        idle_.pop_back();
      }
    }
    if (!runner) runner = std::make_unique<chunk_runner>(run_, [this] { return wait_for_memory(); });
    runner->integrate(chunk, finished, usage);
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(runner));
  }

 private:
  /// Counts those that integrate a chunk.
  class at_work {
   public:
    explicit at_work(cuda_backend& where) : where_(where) { count(1); }
    ~at_work() { count(-1); }
    at_work(const at_work&) = delete;
    at_work& operator=(const at_work&) = delete;

   private:
    void count(int more) {
      const std::lock_guard lock(where_.mutex_);
      where_.working_ += more;
      where_.ended_.notify_all();
    }
    cuda_backend& where_;
  };

  /// Waits until one of those at work has ended, unless all of them wait, and takes the memory of the idle ones.
  bool wait_for_memory() {
    std::unique_lock lock(mutex_);
    if (idle_.empty()) {
      const int before = working_;
      if (before - waiting_ <= 1) return false;
      ++waiting_;
      ended_.wait(lock, [&] { return !idle_.empty() || working_ < before || working_ - waiting_ < 1; });
      --waiting_;
    }
    idle_.clear();
    return true;
  }

  /// Threads that sail at once.
  std::int64_t threads() const { return std::int64_t{run_.module.sail.blocks} * abi::cuda_block; }

  /// As many instances as fit, since a large chunk keeps the device full for long; but several chunks, if each still fills
  /// all places.
  std::int64_t chosen_chunk() const {
    const plan& p = run_.what;
    const std::int64_t least = std::min(places_per_thread * threads(), max_instances);
    std::int64_t size = std::min(p.count, std::clamp(p.count / chunks_per_run, least, max_instances));
    while (size > 1 && (chunk_bytes(p, size) > max_host_bytes || run_.bytes_for(size) > run_.memory))
      size = (size + 1) / 2;
    return size;
  }

  run_data run_;
  int number_;
  std::int64_t chunk_size_;
  std::mutex mutex_;
  std::condition_variable ended_;
  int working_ = 0, waiting_ = 0;  ///< those that integrate a chunk
  std::vector<std::unique_ptr<chunk_runner>> idle_;
};

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

const char* saltus_cuda_version() { return SALTUS_VERSION; }

void saltus_cuda_absent(std::string& reason, std::vector<std::string>& names) {
  try {
    int count = 0;
    SALTUS_CUDA(cuInit, 0);
    SALTUS_CUDA(cuDeviceGetCount, &count);
    if (reason = too_old_driver(false); !reason.empty()) return;
    for (int i = 0; i < count; ++i) names.push_back(cuda_device::name_of(i));
    if (count == 0) reason = "the driver finds no device";
  } catch (const error& e) { reason = e.what(); }
}

backend* saltus_cuda_backend(const plan& p, int device) { return new cuda_backend(p, device); }

}  // extern "C"
#pragma GCC visibility pop

}  // namespace saltus::host
