// Launches rounds of kernels, and checks their progress. Part of the plug-in library.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "abi/device.hpp"
#include "backend/device/device_driver.hpp"
#include "backend/device/loaded_module.hpp"
#include "backend/device/piece.hpp"
#include "base/error.hpp"

namespace saltus::host {

// The host launches as many rounds ahead as take about this time; if a single round takes longer, it gets fewer turns.
inline constexpr double shortest_look = 0.005, longest_look = 0.050;  // s
inline constexpr double longest_awake = 0.0005;                       // s
inline constexpr int max_rounds_ahead = 64, max_turns = 4096, fewest_turns = 64;
// The first round is short: the time of a turn is still unknown, and the watchdog of a display ends kernels after some
// seconds.
inline constexpr int first_turns = 128;
inline constexpr int most_turns_between_looks = 8, turns_per_lost_one = 16;

/// Times the launches before a look, if the run asks for that.
class launch_stopwatch {
 public:
  launch_stopwatch(const device_piece& piece, int rounds) : piece_(piece) {
    if (piece.run.launched.is_timed()) laps_.reserve(launches::kernels.size() * static_cast<std::size_t>(rounds));
  }
  void lap() {
    if (!piece_.run.launched.is_timed()) return;
    laps_.emplace_back(device_event::kind::time, device_event::waiting::awake).put_into(piece_.stream);
  }
  /// The seconds of each kernel, once the laps have been waited for.
  std::array<double, launches::kernels.size()> seconds(const device_event& begun) const {
    std::array<double, launches::kernels.size()> r{};
    const device_event* before = &begun;
    for (std::size_t i = 0; i < laps_.size(); before = &laps_[i++]) r[i % r.size()] += laps_[i].seconds_since(*before);
    return r;
  }

 private:
  const device_piece& piece_;
  std::vector<device_event> laps_;
};

/// Rounds of one piece after another; the measured times are kept between pieces.
class rounds {
 public:
  explicit rounds(device_piece& piece) : piece_(piece) {}

  /// Runs some rounds and checks their progress. The device measures their time: the host's clock would include other
  /// waits of the thread.
  void run() {
    piece_.c.turn_budget = turns_;
    piece_.c.look_every = look_every();
    piece_.staging.upload(piece_.c.progress, &piece_.state, 1);
    const int worked_before = piece_.state.worked, ahead = ahead_;
    begun_.put_into(piece_.stream);
    launch_stopwatch stopwatch(piece_, ahead);
    if (piece_.run.launched.is_timed()) launch_singly(ahead, stopwatch);
    else launch_together(ahead);
    ended_.put_into(piece_.stream);
    // It will take about as long as the last time.
    if (took_ > longest_awake) ended_.wait();
    look();
    const double took = took_ = ended_.seconds_since(begun_);
    const int worked = piece_.state.worked - worked_before;
    piece_.run.launched.add({stopwatch.seconds(begun_), ahead, worked, 1, took});
    const double now = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    piece_.run.busy.add(now - took, now);
    look_again_after(took, worked);
  }

  /// Stores instances under way in their present state, with the kernel that stores ended ones.
  void store_unfinished() {
    abi::device_chunk& c = piece_.c;
    abi::device_progress& state = piece_.state;
    const int h = state.half;
    for (auto [list, length] : {std::pair{&c.ready, &state.ready[h]}, std::pair{&c.parked, &state.parked[h]}}) {
      piece_.stream.copy(c.vacant.place[h] + state.vacant[h], list->place[h], static_cast<std::size_t>(*length));
      state.vacant[h] += std::exchange(*length, 0);
    }
    state.fresh = 0;
    piece_.staging.upload(c.progress, &state, 1);
    launch(link_of(piece_.run.module.begin));
    look();
  }

 private:
  /// Adapts the number of rounds before the next look, and of turns per round, to the time that the last rounds took. No
  /// more rounds are launched ahead than had work: a launch of nothing takes some 2.5 us.
  void look_again_after(double took, int worked) {
    if (took < shortest_look) {
      if (turns_ < max_turns) turns_ *= 2;
      else ahead_ = std::min({2 * ahead_, worked + 1, max_rounds_ahead});
    }
    if (took > longest_look) {
      if (ahead_ > 1) ahead_ /= 2;
      else turns_ = std::max(turns_ / 2, fewest_turns);
    }
  }

  /// A thread whose instance has parked or ended has nothing to do until its warp looks: turns that a warp may sail
  /// between two looks without losing much, by the mean number of turns that an instance sails at a time.
  int look_every() const {
    const abi::usage& used = piece_.state.used;
    const long long ends = used.landed + piece_.state.stored;
    if (ends == 0) return most_turns_between_looks;
    const long long turns = used.lane_turns / ends / turns_per_lost_one;
    return static_cast<int>(std::clamp<long long>(turns, 1, most_turns_between_looks));
  }

  void look() {
    const abi::device_chunk& c = piece_.c;
    piece_.staging.download(&piece_.state, c.progress, 1);
    piece_.staging.land();  // throws errors of kernels
    if (c.how.log_events != 0 && !has_bounded_log(c.how) && piece_.state.rows > c.events.capacity)
      throw error(exit_failure,
                  fmt::format("internal: {} rows of an event log that has room for {}: a landing logs more "
                              "than {} rows; please report the model",
                              piece_.state.rows, c.events.capacity, piece_.run.module.about.rows_per_landing));
  }

  using link = device_chain::link;
  using arguments = std::array<void*, 2>;

  arguments arguments_of_kernels() { return {&piece_.c, const_cast<unsigned char*>(piece_.run.tolerances.data())}; }
  link link_of(const kernel& k) const {
    constexpr int block = abi::device_block;
    return {k.code, std::min(k.blocks, (piece_.c.pool.places + block - 1) / block), block};
  }
  /// The kernels of a round; the third one may be absent.
  std::array<std::optional<link>, launches::kernels.size()> links() const {
    const loaded_module& module = piece_.run.module;
    std::optional<link> quick;
    if (piece_.c.unlanded != nullptr) quick = link_of(*module.land_quickly);
    return {link_of(module.begin), link_of(module.sail), quick, link_of(module.land), link{module.turn_over, 1, 1}};
  }
  void launch(const link& l) { piece_.stream.launch(l.kernel, l.blocks, l.block, arguments_of_kernels().data()); }
  void launch_singly(int times, launch_stopwatch& stopwatch) {
    for (int i = 0; i < times; ++i)
      for (const auto& l : links()) {
        if (l) launch(*l);
        stopwatch.lap();
      }
  }
  void launch_together(int times) {
    std::vector<link> there;
    for (const auto& l : links())
      if (l) there.push_back(*l);
    round_.set(there, arguments_of_kernels().data());
    for (int i = 0; i < times; ++i) round_.launch(piece_.stream);
  }

  device_piece& piece_;
  device_chain round_;
  device_event begun_{device_event::kind::time, device_event::waiting::asleep},
      ended_{device_event::kind::time, device_event::waiting::asleep};
  double took_ = 0;  ///< seconds of the last rounds
  int ahead_ = 1, turns_ = first_turns;
};

}  // namespace saltus::host
