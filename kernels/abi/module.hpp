// The boundary between the host program and a compiled module (one model x one method).
//
// Plain structs of numbers and pointers, so that a shared object built by another compiler, or a cubin, agrees with the
// host about every byte. All arrays are columns ("structure of arrays"): column j of a chunk of `count` instances is
// `data[j * count + i]`.
#pragma once

#include "abi/choices.hpp"
#include "abi/counters.hpp"
#include "number/equations.hpp"
#include "number/expression.hpp"

namespace saltus::abi {

inline constexpr int version = 20;

using saltus::equations;
using enum equations;

/// A state, a parameter, a discrete variable or an output: what the outside calls it.
struct quantity {
  const char* name;
  double value;  ///< default (states: initial value); unused for outputs
  const char* unit;
  const char* about;
  int index;  ///< of a state: 0 differential; 1, 2: algebraic
};

struct guard {
  const char* name;
  int direction;  ///< abi::direction
  int sidedness;  ///< abi::sidedness
  int terminal;   ///< 1: the instance ends at this event
  int slides;     ///< 1: the solution may slide along it
  const char* about;
};

/// An event whose time is known beforehand.
struct time_event {
  const char* name;
  const char* about;
};

/// A value of a table at a time.
struct knot {
  double t, value;
};

/// A function of time given by values at knots, and those that it has if it is given no others.
struct declared_table {
  const char* name;
  const char* unit;
  const char* about;
  int interpolation;  ///< saltus::interpolation
  int at_ends;        ///< saltus::at_ends
  int knot_count;     ///< 0: it must be given
  const knot* knots;
};

/// Which entries the matrices of a mechanical system may have: of M those of the lower triangle that are ever written, of J
/// those of a constraint (row) and a velocity (column) that depend on each other.
struct mechanical_structure {
  int mass_entries, jacobian_entries;
  const int *mass_rows, *mass_columns;
  const int *jacobian_rows, *jacobian_columns;
};

/// The equations 0 = f_i of a model and their unknowns. Of a mechanical system the unknowns are its states and then the
/// multipliers of its constraints, and so are its equations.
struct equation_record {
  int node_count;
  const expression* nodes;            ///< [node_count]; those that a node is made of stand before it
  int count;                          ///< of equations, and of unknowns
  const int* equations;               ///< [count] the node that is to be zero; -1: nothing was written
  const char* const* equation_names;  ///< [count]
  const char* const* unknown_names;   ///< [count]
  int observed_count;                 ///< of guards and outputs
  const int* observed;                ///< [observed_count] their nodes; -1: nothing was written
};

/// What a model says about itself; exported by every module as `saltus_description`.
struct description {
  int version;
  const char* name;
  const char* title;
  const char* source;
  const char* time_unit;  ///< empty: not known
  int state_count, parameter_count, discrete_count, guard_count, time_event_count, output_count, table_count;
  const quantity* states;
  const quantity* parameters;
  const quantity* discretes;
  const guard* guards;
  const time_event* time_events;
  const quantity* outputs;
  const declared_table* tables;
  /// Of a mechanical system; index 0: nonholonomic, 1: holonomic, 2: of a unit quaternion; value: 1 if it is switched.
  const quantity* constraints;
  int constraint_count;
  const quantity* invariants;  ///< of a mechanical system
  int invariant_count;
  int reaches;                            ///< 1: constraints may be approached, and reaching each is an event
  int coordinate_count;                   ///< of a mechanical system: the states before its velocities; else 0
  int elimination;                        ///< of a mechanical system: abi::elimination
  const mechanical_structure* structure;  ///< of a mechanical system; null: not known
  const equation_record* record;          ///< what the equations are made of; null: not known
  double t_begin, t_end;                  ///< the model's own default span
  int equations;                          ///< of saltus::equations
  int singular_mass;                      ///< 1: a singular mass matrix with no algebraic state
  int arithmetic;                         ///< 1: only + - * / sqrt and saltus' own functions: same bits on every device
  long long rhs_flops;                    ///< operations of one right-hand side (or residual); -1: not known
  long long guard_flops;                  ///< of all guards with their rates; -1: not known
  int kept_series;                        ///< that a right-hand side and the guards keep as series; -1: not known
  int kept_numbers;                       ///< and single numbers that they keep
  int output_series, output_numbers;      ///< the same of the outputs
};

/// Linear algebra on the host, for matrices that are too large for lanes. Matrices lie column by column, complex numbers as
/// pairs. `rows[k]` is the row that was exchanged with row k.
struct dense_algebra {
  void (*factor)(int n, double* a, int* rows);
  void (*solve)(int n, const double* a, const int* rows, double* b);
  void (*factor_complex)(int n, double* a, int* rows);
  void (*solve_complex)(int n, const double* a, const int* rows, double* b);
};

/// A table as a polynomial for each piece between two knots, in powers of the time since the first of them.
struct table {
  long long pieces;
  const double* knots;         ///< [pieces + 1], ascending
  const double* coefficients;  ///< [pieces][4], from the constant one on
  double last;                 ///< the value at the last knot
};

/// What holds for every instance of a run. Times and tolerances in the model's units.
struct settings {
  double rtol;
  const double* atol;          ///< [state_count], and as many for each direction whose errors count
  double event_tol;            ///< time tolerance of event location; 0: to rounding
  double first_step;           ///< 0: chosen from the equations
  double max_step;             ///< infinity: unlimited (a model may set a smaller one)
  double fixed_step;           ///< > 0: constant steps, no error control
  long long max_steps;         ///< budget of trial steps per instance
  long long max_events;        ///< budget of events per instance
  int sample_count;            ///< time grid: 0 none
  const double* sample_times;  ///< [sample_count] absolute times, or null: equally spaced over each instance's span
  const double*
      windows;  ///< [reduction][3]: the first and the last time that counts, and the time of a value or the order of a
                ///< quantile; times go forward, in a run backward they are negative

  // the event log
  int log_events;                      ///< 1: there is one
  const unsigned char* logged_events;  ///< [event] 1: it is logged; null: all are
  double log_from, log_to;             ///< the first and the last time that is logged; forward, as in `windows`
  int log_first, log_last;  ///< of what is left, so many rows of each instance alone (results::kept_rows); both 0: all

  // events in full (docs/events.md)
  double
      concurrency_time;  ///< bilateral guards whose roots lie within this time fire together (Compere's eps_c); 0: off
  double concurrency_value;  ///< as long as none of them is further than this beyond zero (eps_ROC)
  double zeno_part;          ///< accumulating events are cut short when what is left is this part of the span; 0: never
  int conservative;          ///< 1: rescue: events are located by bracketing alone, with more attempts
  int consistency;           ///< abi::consistency: how algebraic models are given a consistent start
  const dense_algebra* algebra;  ///< null on a device
  const table* tables;           ///< [table_count]
  double inject;                 ///< share of instances given an artificial exception; 0 but in tests
  long long inject_seed;
  double growth_from;  ///< Lyapunov exponents are of the time from there on; -infinity: of all of it
};

/// Do rows of the event log go where there is always room for them?
SALTUS_FN constexpr bool has_bounded_log(const settings& s) { return s.log_first + s.log_last > 0; }

/// One chunk of instances: the inputs.
struct batch {
  long long count;
  long long first_id;        ///< id of instance 0 of this chunk
  const double* parameters;  ///< [parameter_count][count]
  const double* initial;     ///< [state_count][count]; NaN: the model's own value
  const double* t_begin;     ///< [count]
  const double* t_end;       ///< [count]; before t_begin in a run backward in time
  /// [discrete_count][count] initial values of discrete variables; NaN: the model's own. Null: all are.
  const double* discrete = nullptr;
};

/// One chunk of instances: the outputs, and a column [count] for each counter. Every pointer has room for the whole chunk; the
/// host presets all to "not run".
struct results : counters<long long*> {
  double* final_state;           ///< [state_count][count]
  double* final_output;          ///< [output_count][count]
  double* final_discrete;        ///< [discrete_count][count]
  double* t_final;               ///< [count]
  unsigned char* status;         ///< [count], saltus::status; on a CPU `interrupted` while the instance is under way
  double* residual;              ///< [count] models with constraints: largest residual of one after any accepted step
  long long* residual_of;        ///< [count] the number of that equation (of its state); -1: none
  double* samples;               ///< [state_count + output_count][count][sample_count], NaN where not reached;
                                 ///< behind them as many of derivatives for each direction
  double* reductions;            ///< [reduction_count][count]
  unsigned char* guard_history;  ///< [guard_count][count], bits of abi::guard_history
  double*
      final_derivative;  ///< [directions][state_count + output_count + 1 + reduction_count][count]: of the end, with
                         ///< t_final the last of it, and of reductions
  ///< of Lyapunov exponents: [2 exponents + 1][count]: these, their standard errors, events grazed
  unsigned char* sensitivity;  ///< [count], saltus::sensitivity
  long long* logged;           ///< [count] with log_first or log_last: rows that the log would have without these
  double*
      kept_rows;  ///< [count][log_first + log_last][time, event, before, after]: the first rows, and behind them the
                  ///< last ones by turns
};

/// What became of a guard in an instance. It can fire while its value may cross zero in its declared direction.
enum guard_history : unsigned char {
  began_beyond = 1,  ///< it could not fire at the start
  has_fired = 2,
  ends_armed = 4  ///< it could fire at the end
};

/// An instance in flight as plain numbers: all that is needed to continue it (engine/instance.hpp).
struct snapshot {
  const double* reals;        ///< [record_reals]
  const long long* integers;  ///< [record_integers]
};

/// What the host answers to a report of progress: to stop as soon as possible, to go on, or to go on but to end those
/// instances under way to whose `results::status` it has given another value than `interrupted`, with that status.
enum command : int { stop = 0, go_on = 1, end_some = 2 };

/// Where a CPU module reports events, exceptions and progress; the callbacks run on the thread that called `run`.
struct sink {
  void* context;
  /// One due guard of one event: slot in the chunk, time, guard, state before and after ([state_count] each, and behind them in
  /// both the outputs, if they are logged, and the derivative of the time in each direction).
  /// Numbers of guards are followed by those of time events, and then by one for the end of sliding along each sliding guard.
  void (*append)(void* context, long long slot, double t, int guard, const double* before, const double* after);
  /// An instance could not go on (`rescuable`): its last accepted point, from which another integrator may.
  void (*except)(void* context, long long slot, const snapshot* last);
  /// `finished` more instances have ended since the last call; returns an abi::command.
  int (*progress)(void* context, long long finished);
};

/// How well the lanes were filled, summed over a call.
struct usage {
  long long turns;       ///< passes of the sail loop
  long long lane_turns;  ///< lanes that did useful work in them
  long long landings;    ///< passes of the landing
  long long landed;      ///< lanes that did useful work in them
};

/// What a CPU module exports as `saltus_module`.
struct module {
  int version;
  int lanes;                          ///< instances per vector
  int record_reals, record_integers;  ///< numbers kept per instance in flight
  /// Integrates the whole chunk on the calling thread; returns 0, or 1 when stopped by `progress`.
  int (*run)(const settings*, const batch*, const results*, const sink*, usage*);
  /// The same for `count` instances of the chunk that have been under way before, from their last accepted points.
  int (*resume)(const settings*, const batch*, const results*, const sink*, usage*, long long count, const snapshot*);
};

}  // namespace saltus::abi
