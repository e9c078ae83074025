// Runs a chunk on an emulated device with a minimal version of the host's half of the backend.
#pragma once

#include <functional>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "emulated_cuda.hpp"
#include "ensemble/backend.hpp"
#include "ensemble/settings.hpp"

namespace saltus::test {

/// Distribution of a run over the emulated device.
struct spread {
  int places, threads, turn_budget;
  long long event_rows;
};

/// Integrates a chunk on the emulated device: the host's part of a run, in the memory of the host. `run_kernel` runs one kernel,
/// as `emulate` does.
template <class E>
class emulated_run {
 public:
  using runner = std::function<void(std::string_view kernel, int threads, void** arguments)>;

  emulated_run(const abi::settings& how, host::chunk_data& c, const spread& s, runner run_kernel = emulate<E>)
      : run_kernel_(std::move(run_kernel)),
        tol_(tolerances_from<E, pack<typename E::T, 1>>(how)),
        data_(c),
        spread_(s) {
    const auto places = static_cast<std::size_t>(s.places), rows = static_cast<std::size_t>(s.event_rows);
    const auto n = static_cast<std::size_t>(E::logged);
    constexpr int bytes = sizeof(typename E::T);
    reals_.resize(static_cast<std::size_t>(abi::pool_bytes(cuda_module_of<E>.record_reals, bytes, s.places)) / bytes);
    integers_.resize(
        static_cast<std::size_t>(abi::pool_bytes(cuda_module_of<E>.record_integers, bytes, s.places)) / bytes,
        integer_of<typename E::T>(-1));
    for (auto& list : lists_) list.resize(places);
    std::iota(lists_[4].begin(), lists_[4].end(), 0);
    slot_.resize(rows), time_.resize(rows), guard_.resize(rows), before_.resize(rows * n), after_.resize(rows * n);
    chunk_.how = how;
    chunk_.in = c.batch();
    chunk_.out = c.results();
    histories_.resize(places * static_cast<std::size_t>(history_numbers<E>(how.history)));
    chunk_.pool = {s.places, reals_.data(), integers_.data(), histories_.data()};
    chunk_.ready = {{lists_[0].data(), lists_[1].data()}};
    chunk_.parked = {{lists_[2].data(), lists_[3].data()}};
    chunk_.vacant = {{lists_[4].data(), lists_[5].data()}};
    if (has_quick_landings<E> && !abi::appends_events(how)) chunk_.unlanded = lists_[6].data();
    chunk_.events = {s.event_rows, slot_.data(), time_.data(), guard_.data(), before_.data(), after_.data()};
    const auto all = static_cast<std::size_t>(c.count),
               record = static_cast<std::size_t>(cuda_module_of<E>.snapshot_reals),
               record_integers = static_cast<std::size_t>(cuda_module_of<E>.record_integers);
    c.exceptions.slot.resize(all), c.exceptions.reals.resize(all * record),
        c.exceptions.integers.resize(all * record_integers);
    chunk_.exceptions = {c.count, c.exceptions.slot.data(), c.exceptions.reals.data(), c.exceptions.integers.data()};
    chunk_.progress = &progress;
    chunk_.turn_budget = s.turn_budget;
    chunk_.look_every = 1 + (s.threads + s.turn_budget) % 8;
    progress = abi::device_start(chunk_, cuda_module_of<E>.rows_per_landing);
  }

  void run() {
    for (rounds = 0; !is_done(); ++rounds) {
      launch("saltus_begin", spread_.threads);
      launch("saltus_sail", spread_.threads);
      if (chunk_.unlanded != nullptr) launch("saltus_land_quickly", spread_.threads);
      if (chunk_.unlanded != nullptr) left_to_full_landings += progress.unlanded;
      launch("saltus_land", spread_.threads);
      if (progress.rows > spread_.event_rows) throw std::logic_error("the event log overflows");
      launch("saltus_turn_over", 1);
      drain();
    }
    auto& e = data_.exceptions;
    const auto some = static_cast<std::size_t>(progress.exceptions);
    e.slot.resize(some), e.reals.resize(some * static_cast<std::size_t>(cuda_module_of<E>.snapshot_reals)),
        e.integers.resize(some * static_cast<std::size_t>(cuda_module_of<E>.record_integers));
  }

  bool is_done() const {
    return progress.ready[progress.half] + progress.parked[progress.half] + progress.vacant[progress.half] == 0;
  }

  abi::device_progress progress;
  int rounds = 0;
  long long left_to_full_landings = 0;  ///< by quick ones

 private:
  void launch(const char* kernel, int threads) {
    void* arguments[] = {&chunk_, &tol_};
    run_kernel_(kernel, threads, arguments);
  }
  void drain() {
    for (std::size_t row = 0; row < static_cast<std::size_t>(progress.rows); ++row)
      data_.log.append(slot_[row], time_[row], guard_[row], &before_[row * E::logged], &after_[row * E::logged]);
    progress.rows = 0;
    progress.landable = abi::landable_places(chunk_, 0, cuda_module_of<E>.rows_per_landing);
  }

  runner run_kernel_;
  tolerances<E, pack<typename E::T, 1>> tol_;
  host::chunk_data& data_;
  spread spread_;
  std::vector<typename E::T> reals_, histories_;
  std::vector<integer_of<typename E::T>> integers_;
  std::vector<int> lists_[7];
  std::vector<long long> slot_;
  std::vector<double> time_, before_, after_;
  std::vector<int> guard_;
  abi::device_chunk chunk_{};
};

}  // namespace saltus::test
