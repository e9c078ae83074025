#include "study/cost.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>

#include <unistd.h>

#include <fmt/format.h>

#include "base/child.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/message.hpp"
#include "ensemble/chunk_data.hpp"
#include "ensemble/model_call.hpp"
#include "ensemble/pilot.hpp"
#include "ensemble/sampler.hpp"
#include "ensemble/settings.hpp"
#include "result/output.hpp"
#include "result/provenance.hpp"
#include "result/storage.hpp"

namespace saltus::host {

// -------------------------------------------------------------------------------------------------------------- bytes

namespace {

/// Converts a size that was computed as a real number; the largest integer if it exceeds that.
std::int64_t as_bytes(double size) {
  constexpr double beyond = 9223372036854775808.0;  // 2^63
  return size < beyond ? static_cast<std::int64_t>(size) : std::numeric_limits<std::int64_t>::max();
}

}  // namespace

std::int64_t event_row_bytes(const plan& p) { return 8 + 8 + 4 + 16 * static_cast<std::int64_t>(logged_numbers(p)); }

std::int64_t memory_bytes(const plan& p, std::int64_t chunk_size, int concurrency, double rows_per_instance) {
  const std::int64_t size = std::min(chunk_size, p.count);
  const std::int64_t chunks = std::min<std::int64_t>((p.count + size - 1) / size, 2 * concurrency);
  // Longer logs go to a temporary file.
  const double log = std::min(rows_per_instance * static_cast<double>(size) * static_cast<double>(event_row_bytes(p)),
                              static_cast<double>(event_log::max_in_memory));
  // One chunk is being written, with a sorted copy of its log.
  return as_bytes(static_cast<double>(chunks) * (static_cast<double>(chunk_bytes(p, size)) + log) + log +
                  static_cast<double>(p.file.empty() ? 0 : format_of(p.file).buffer_bytes(p)));
}

std::int64_t file_bytes(const plan& p, std::int64_t event_rows) {
  return p.file.empty() ? 0 : format_of(p.file).bytes(p, event_rows);
}

// ------------------------------------------------------------------------------------------------------------ seconds

namespace {

constexpr double longest_pilot = 10.0;  ///< seconds after which it is cut short
/// relative difference between two runs of the same work: clock rates, other processes
constexpr double clock_error = 0.15;

/// The cost of a result file.
struct write_cost {
  double fixed = 0, per_instance = 0;  ///< seconds
  double compression = 1;
};

/// Writes the chunk a few times into a file beside the future one; zero cost if that file cannot be written.
write_cost cost_of_writing(const plan& p, const backend& where, chunk_data chunk) {
  write_cost r;
  constexpr std::int64_t enough = 16 << 20;  // bytes
  const std::int64_t bytes = chunk_bytes(p, chunk.count) + chunk.log.rows() * event_row_bytes(p);
  // Repeated data would compress better than real data.
  const std::int64_t times =
      p.compression > 0 ? 1 : std::clamp<std::int64_t>(enough / std::max<std::int64_t>(bytes, 1), 1, 16);
  const std::string name = name_beside(p.file, "pilot");
  const auto write = [&](std::int64_t times_over) {
    plan few = p;
    few.file = name;
    few.count = chunk.count * times_over;
    few.statistics = false;  // there are none over all instances yet
    few.histograms.clear();
    const auto begin = monotonic_clock::now();
    const auto file = make_output(name, few, provenance_of(p, where, {}), existing::replaced);
    for (std::int64_t k = 0; k < times_over; ++k) {
      chunk.first_id = k * chunk.count;
      file->write(chunk);
    }
    file->close(0);
    return seconds_since(begin);
  };
  try {
    std::error_code ignored;
    const double once = write(1);
    const auto size = static_cast<double>(std::filesystem::file_size(name, ignored));
    const double more = write(times + 1);
    std::filesystem::remove_all(name, ignored);
    r.per_instance = std::max(0.0, more - once) / static_cast<double>(times * chunk.count);
    r.fixed = std::max(0.0, once - r.per_instance * static_cast<double>(chunk.count));
    if (p.compression > 0) {
      plan few = p;
      few.count = chunk.count;
      r.compression = std::min(1.0, size / static_cast<double>(format_of(name).bytes(few, chunk.log.rows())));
    }
  } catch (const error&) {
    std::error_code ignored;
    std::filesystem::remove_all(name, ignored);
  }
  return r;
}

/// Seconds that `threads` threads need for `count` instances in chunks of `size`, the last one shorter, handed out in
/// order.
double makespan(std::int64_t count, std::int64_t size, int threads,
                const std::function<double(std::int64_t)>& of_chunk) {
  const std::int64_t whole = count / size, rest = count % size;
  const double one = of_chunk(size), last = rest > 0 ? of_chunk(rest) : 0.0;
  const std::int64_t full_turns = whole / threads;
  const double full = static_cast<double>(full_turns) * one;
  return whole % threads == 0 ? full + last : full + std::max(one, last);
}

}  // namespace

namespace {

/// The rounds of a pilot that took a large part of its time, and their sum.
struct measured_rounds {
  pilot_round all{};
  std::vector<double> each{};  ///< thread seconds per instance, by round
  bool cut_short = false;      ///< the last round was cut short

  void add(const pilot_round& round) {
    all.instances += round.instances;
    all.chunks += round.chunks;
    all.thread_seconds += round.thread_seconds / round.progress;
    all.after_seconds += round.after_seconds;
    all.usage.turns += round.usage.turns;
    all.usage.lane_turns += round.usage.lane_turns;
    each.push_back(round.thread_seconds / static_cast<double>(round.instances));
  }
  /// Relative standard error of the mean of `each`.
  double error() const {
    if (each.size() < 2) return 0;
    const auto n = static_cast<double>(each.size());
    double mean = 0, squares = 0;
    for (const double x : each) mean += x / n;
    for (const double x : each) squares += (x / mean - 1) * (x / mean - 1);
    return std::sqrt(squares / (n - 1) / n);
  }
};

/// Runs ever more instances, at most `most`, until a round takes a large part of `seconds`; such rounds are the
/// measurement.
measured_rounds fly(pilot& flight, std::int64_t first, std::int64_t most, double seconds, const cancellation& stop) {
  const auto start = monotonic_clock::now();
  std::vector<pilot_round> rounds;
  measured_rounds r;
  constexpr double offsets[] = {0.5, 0.1, 0.9, 0.3, 0.7};
  for (std::int64_t count = first;;) {
    const auto round = flight.run(count, offsets[rounds.size() % std::size(offsets)]);
    const double took = round.seconds, left = seconds - seconds_since(start);
    r.cut_short = round.progress < 1;
    if (rounds.empty() || round.instances > rounds.back().instances) rounds.clear();
    rounds.push_back(round);
    if (stop || r.cut_short || left < took || rounds.size() == std::size(offsets)) break;
    // The remaining time must suffice for three more rounds.
    const auto next = static_cast<std::int64_t>(static_cast<double>(count) * left / 4 / took);
    if (count < most && next > 2 * count) count = std::min({most, next, 16 * count});
  }
  for (const auto& round : rounds) r.add(round);
  return r;
}

/// Thread seconds for a chunk. The last instances of a chunk leave lanes idle, for about the same number of turns
/// whatever its length.
struct chunk_cost {
  double idle = 0, per_instance;

  chunk_cost(const pilot_round& all, int lanes)
      : per_instance(all.thread_seconds / static_cast<double>(all.instances)) {
    if (lanes == 1 || all.usage.turns == 0) return;
    const auto tried = static_cast<double>(all.instances);
    const double turn = all.thread_seconds / static_cast<double>(all.usage.turns);
    per_instance = turn * static_cast<double>(all.usage.lane_turns) / lanes / tried;
    idle = std::max(0.0, all.thread_seconds - per_instance * tried) / all.chunks;
  }
  double operator()(std::int64_t instances) const { return idle + per_instance * static_cast<double>(instances); }
};

/// Seconds per instance for work outside the backend: inputs, presets, counting.
double cost_beside(const plan& p, std::int64_t size) {
  chunk_data chunk;
  const auto begin = monotonic_clock::now();
  int times = 0;
  do {
    chunk.reset(p, 0, size);
    sampler(p).fill(0, size, chunk);
    tally().add(chunk);
    ++times;
  } while (seconds_since(begin) < 0.01);
  return seconds_since(begin) / times / static_cast<double>(size);
}

prediction predict_one(const plan& p, backend& where, double seconds, const cancellation& stop) {
  const int threads = where.concurrency(), lanes = where.lanes();
  const std::int64_t size = std::min(where.chunk_size(), p.count);
  const std::int64_t most = std::clamp<std::int64_t>(p.count / threads, 1, size);
  pilot flight(p, where, longest_pilot, stop);
  const auto start = monotonic_clock::now();
  const auto rounds = fly(flight, std::min<std::int64_t>(most, lanes > 1 ? lanes : 256), most, seconds, stop);
  const chunk_cost of_chunk(rounds.all, lanes);
  const auto n = static_cast<double>(p.count);
  const double after = rounds.all.after_seconds / static_cast<double>(rounds.all.instances);  // with all threads
  const double beside = cost_beside(p, size);
  const auto writing = p.file.empty() || !p.rows ? write_cost{} : cost_of_writing(p, where, flight.chunks().front());

  // A thread that samples inputs or writes does not integrate; and only one thread writes at a time.
  const int workers = std::max(threads, threads_of(p));
  const double shared =
      makespan(p.count, size, threads, of_chunk) + n * after + n * (beside + writing.per_instance) / workers;
  const double alone = n * writing.per_instance + of_chunk(size);
  const double off = std::hypot(clock_error, 2 * rounds.error()) + (rounds.cut_short ? 1.0 : 0.0);

  prediction r;
  r.cut_short = rounds.cut_short;
  r.seconds.value = std::max(shared, alone) + writing.fixed;
  r.seconds.low = r.seconds.value / (1 + off);
  r.seconds.high = r.seconds.value * (1 + off);
  tally counts;
  for (const chunk_data& some : flight.chunks()) counts.add(some);
  r.guards = counts.guards;
  r.pilot_ended = counts.ok() + counts.rescued();
  r.by_status = counts.by_status;
  r.pilot_instances = rounds.all.instances;
  r.pilot_seconds = seconds_since(start);
  r.write_seconds = n * writing.per_instance + writing.fixed;
  r.compression = writing.compression;
  if (p.log_events) {
    const auto [rows, error] = flight.event_rows();
    r.event_rows = {n * rows, std::max(0.0, n * (rows - 2 * error)), n * (rows + 2 * error)};
  }
  return r;
}

}  // namespace

namespace {

// Backends that share a queue take instances in proportion to their speeds, so rates add up.
prediction predict_all(const plan& p, backend& where, double seconds, const cancellation& stop) {
  const auto parts = where.parts();
  prediction all;
  estimate rate;
  for (backend* part : parts) {
    const prediction one = predict_one(p, *part, seconds / static_cast<double>(parts.size()), stop);
    const auto before = std::pair(all.pilot_instances, all.pilot_seconds);
    rate = {rate.value + 1 / one.seconds.value, rate.low + 1 / one.seconds.high, rate.high + 1 / one.seconds.low};
    const bool cut_short = all.cut_short || one.cut_short;
    all = one;
    all.pilot_instances += before.first;
    all.pilot_seconds += before.second;
    all.cut_short = cut_short;
  }
  all.seconds = {1 / rate.value, 1 / rate.high, 1 / rate.low};
  return all;
}

// A prediction as bytes from a child process: the numbers, then the guards.
static_assert(std::is_trivially_copyable_v<predicted_numbers> && std::is_trivially_copyable_v<guard_tally>);

std::string as_bytes_of(const prediction& r) {
  std::string bytes(reinterpret_cast<const char*>(static_cast<const predicted_numbers*>(&r)),
                    sizeof(predicted_numbers));
  bytes.append(reinterpret_cast<const char*>(r.guards.data()), r.guards.size() * sizeof(guard_tally));
  return bytes;
}

prediction from_bytes_of(const std::string& bytes) {
  predicted_numbers numbers;
  std::memcpy(&numbers, bytes.data(), sizeof numbers);
  std::vector<guard_tally> guards((bytes.size() - sizeof numbers) / sizeof(guard_tally));
  std::memcpy(guards.data(), bytes.data() + sizeof numbers, guards.size() * sizeof(guard_tally));
  return {numbers, guards};
}

}  // namespace

prediction predict(const plan& p, backend& where, double seconds, const cancellation& stop) {
  const auto parts = where.parts();
  // A device cannot be used in a child process, and a model that fails on a device does not harm this one.
  if (!std::all_of(parts.begin(), parts.end(), [](const backend* b) { return b->uses_host_threads(); }))
    return predict_all(p, where, seconds, stop);
  const auto task = [&] {
    try {
      return as_bytes_of(predict_all(p, where, seconds, stop));
    } catch (const model_crash& crash) { throw child_failure(signal_text(crash.signal)); }
  };
  try {
    return from_bytes_of(in_child(task, 0, stop));
  } catch (const child_failure& failure) {
    throw error(exit_failure, fmt::format("the model {} crashed in a pilot of a few instances: {}; saltus run tells in "
                                          "which instance, and where",
                                          p.model.name, failure.what()));
  }
}

}  // namespace saltus::host
