// A chunk of instances on its way from the sampler to the writer: inputs, results, event log, exceptions. It depends on
// the plan and the module interface, not on backends or files.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "abi/counters.hpp"
#include "abi/module.hpp"
#include "abi/status.hpp"
#include "ensemble/chunk_indices.hpp"
#include "ensemble/columns.hpp"
#include "ensemble/event_log.hpp"
#include "ensemble/value_counts.hpp"
#include "spec/plan.hpp"
#include "statistics/device_statistics.hpp"
#include "statistics/statistics.hpp"

namespace saltus::host {

/// Instances of a chunk that lanes could not continue, in the order of arrival, with their last accepted points
/// (abi::snapshot).
struct exception_list {
  std::vector<long long> slot;      ///< of the instance in its chunk
  std::vector<double> reals;        ///< [row][snapshot_reals]
  std::vector<long long> integers;  ///< [row][record_integers]

  void append(long long slot, const abi::snapshot& last, const abi::module& from);
  void append(const exception_list& more);
  /// Removes the rows of some instances, [slot], and returns them.
  exception_list take(const std::vector<bool>& which);
  void clear();
};

/// The statistics of one chunk by blocks of `statistics_block` instances; a block begins at an id that is a multiple of
/// that. The last one of the ensemble may be shorter. Instances of a chunk before its first block and after its last
/// one belong to blocks that are spread over chunks.
struct chunk_statistics {
  std::vector<summary> summaries;                  ///< [block][column], the columns at sample times (band_columns) last
  std::vector<std::vector<long long>> histograms;  ///< [histogram][counter]
  std::vector<value_counts> values;                ///< [column at a sample time]

  // for a chunk whose columns, except `status`, have stayed on the device that made them; else empty
  std::vector<abi::block_costs> costs;  ///< [block]
  std::vector<bool> has_rows;           ///< [block] its rows were copied to the host nevertheless

  void clear() {
    summaries.clear();
    histograms.clear();
    values.clear();
    costs.clear();
    has_rows.clear();
  }
};

/// An instance that ended because a number was not finite, and the place where that happened (not_finite.hpp).
struct not_finite_instance {
  std::int64_t id = -1;  ///< -1: there is none
  saltus::status status = saltus::status::not_finite;
  std::string text = {};  ///< "the right-hand side of `y` is not finite just beyond t = 1"; empty: unknown
};

/// A chunk of instances as columns: the sampler writes the inputs, the module writes results and counters.
struct chunk_data : columns, abi::counters<std::vector<long long>> {
  std::int64_t first_id = 0;

  // preset until a module writes them: status not_run, numbers NaN, counters 0
  std::vector<double> final_state, final_output, final_discrete;  ///< [quantity][count]
  std::vector<double> t_final;
  std::vector<unsigned char> status;       ///< saltus::status
  std::vector<unsigned char> exception;    ///< saltus::status with which lanes gave up before rescue took over; 0: none
  std::vector<double> residual;            ///< the largest residual of a constraint; 0 without algebraic states
  std::vector<long long> residual_of;      ///< number of the state whose equation has it; -1: none
  std::vector<std::int64_t> dependent;     ///< constraints that depend on each other at its end, one bit each
  std::vector<double> switched;            ///< time at which the instance changed to an implicit method; NaN: never
  std::vector<unsigned char> switched_to;  ///< 0: to none, 1: to plan::stiff_method, 2: to plan::lasting_method
  std::vector<double> samples;             ///< [state + output, then their derivatives][count][sample]
  std::vector<double> reductions;          ///< [reduction][count]
  std::vector<unsigned char> guard_history;  ///< [guard][count], bits of abi::guard_history
  std::vector<double> final_derivative;      ///< [parameter][state + output + t_final + reduction][count]
  std::vector<unsigned char> sensitivity;    ///< saltus::sensitivity
  std::vector<double> gradient;              ///< [outcome, then its derivatives][count]
  // Rows of the event log for instances that keep a bounded number of them, until they are moved to `log`.
  std::vector<long long> logged;  ///< number of rows without the bound
  std::vector<double> kept_rows;  ///< abi::results::kept_rows
  event_log log;
  exception_list exceptions;
  chunk_statistics statistics;
  chunk_indices indices;
  not_finite_instance not_finite;  ///< the first one of the chunk
  std::string trouble;             ///< message of an exception that the model threw for an instance; empty: none
  std::vector<int> order;          ///< slots in the order in which they begin (order.hpp); empty: ascending

  chunk_data() = default;
  chunk_data(const plan& p, std::int64_t first, std::int64_t instances) { reset(p, first, instances); }
  /// Makes columns for `instances` instances, the first with id `first`. Numbers in them are left as they are.
  void arrange(const plan& p, std::int64_t first, std::int64_t instances);
  /// Presets all results.
  void preset();
  /// Presets the results that are not fetched from a device, unless they still hold their presets.
  void preset_not_fetched();
  /// Notes that the host has written results itself: lanes of a CPU, fallback integrators, a journal.
  void note_writer_on_host() { not_fetched_is_preset_ = false; }
  bool has_no_writer_on_host() const { return not_fetched_is_preset_; }
  /// Is counter j 0 for all instances, because it cannot change on a device, and the host has written nothing?
  bool is_preset(std::size_t j) const { return not_fetched_is_preset_ && !counted_[j]; }
  /// arrange, and presets every number.
  void reset(const plan& p, std::int64_t first, std::int64_t instances);
  /// Did every instance reach the end of its time span?
  bool has_all_finished() const;
  /// Presets the results of some instances again, except status, exception, `switched` and `switched_to`.
  void forget(const std::vector<long long>& slots);
  /// The same, but keeps their rows in the event log.
  void forget_results(const std::vector<long long>& slots);
  /// Moves bounded rows to the event log once no more are added.
  void log_kept_rows(const event_selection& which);

  /// Pointers into this object in the form that a compiled module expects; valid until the next `reset`.
  abi::batch batch() const;
  abi::results results();

 private:
  template <class Body>
  void each_result(Body&& body);

  double no_residual_ = 0;  ///< preset of `residual`
  std::size_t sample_count_ = 0;
  bool not_fetched_is_preset_ = false, has_residuals_ = false;
  std::array<bool, abi::counter_count> counted_ = {};  ///< is_counted
};

/// Can counter number j change in a run?
bool is_counted(const plan& p, std::size_t j);

/// Bytes of a chunk's columns, event log and exceptions: the traffic to and from a backend.
std::int64_t moved_bytes(const chunk_data& chunk);
/// The same for a chunk of `instances` without events and exceptions, from the plan alone.
std::int64_t chunk_bytes(const plan& p, std::int64_t instances);

}  // namespace saltus::host
