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
#include "number/smoothness.hpp"

namespace saltus::abi {

inline constexpr int version = 31;

using saltus::equations;
using enum equations;

/// Description of a state, a parameter, a discrete variable or an output.
struct quantity {
  const char* name;
  double value;  ///< default (states: initial value); unused for outputs
  const char* unit;
  const char* about;
  int index;              ///< of a state: 0 differential; 1, 2: algebraic
  smoothness how_smooth;  ///< of an output
};

struct guard {
  const char* name;
  int direction;  ///< abi::direction
  int sidedness;  ///< abi::sidedness
  int terminal;   ///< 1: the instance ends at this event
  int slides;     ///< 1: the solution may slide along it
  smoothness how_smooth;
  const char* about;
};

/// An event whose time is known in advance.
struct time_event {
  const char* name;
  const char* about;
  int capacity;  ///< number of items that transitions may have scheduled at the same time; 0: it is not scheduled
  int carries;   ///< numbers that each of them carries
  int recorded;  ///< 1: its times are those of rows of data (abi::record)
};

/// A column of the rows of a recorded time event.
struct column {
  const char* name;
  int event;  ///< its time event
  const char* unit;
  const char* about;
};

/// A stream of random numbers.
struct stream {
  const char* name;
  const char* about;
};

/// A delay of states.
struct delay {
  const char* name;
  const char* about;
};

/// A value of a table at a time.
struct knot {
  double t, value;
};

/// A function of time given by values at knots, with its default knots.
struct declared_table {
  const char* name;
  const char* unit;
  const char* about;
  int interpolation;  ///< saltus::interpolation
  int at_ends;        ///< saltus::at_ends
  int knot_count;     ///< 0: the spec must give the knots
  const knot* knots;
  int choice;  ///< the parameter that is the number of its curve; -1: it has one curve
};

/// Entries of the matrices of a mechanical system that may be non-zero: of M, the entries of the lower triangle that the model ever writes;
/// of J, the pairs of a constraint (row) and a velocity (column) that depend on each other.
struct mechanical_structure {
  int mass_entries, jacobian_entries;
  const int *mass_rows, *mass_columns;
  const int *jacobian_rows, *jacobian_columns;
};

/// The equations 0 = f_i of a model and their unknowns. In a mechanical system the unknowns are its states, then the multipliers of its
/// constraints; its equations stand in the same order.
struct equation_record {
  int node_count;
  const expression* nodes;            ///< [node_count]; the operands of a node stand before it
  int count;                          ///< number of equations, and of unknowns
  const int* equations;               ///< [count] the node that must vanish; -1: the model wrote nothing
  const char* const* equation_names;  ///< [count]
  const char* const* unknown_names;   ///< [count]
  int observed_count;                 ///< number of guards and outputs
  const int* observed;                ///< [observed_count] their nodes; -1: the model wrote nothing
};

/// A model's description of itself; every module exports it as `saltus_description`.
struct description {
  int version;
  const char* name;
  const char* title;
  const char* source;
  const char* time_unit;  ///< empty: not known
  int state_count, parameter_count, discrete_count, guard_count, time_event_count, column_count, output_count,
      table_count, stream_count, delay_count;
  int kept_count;  ///< the last ones of the discrete variables, which the engine keeps: queues and random streams
  int random_key;  ///< index of the first of four discrete variables with the key of an instance; -1: no random streams
  const quantity* states;
  const quantity* parameters;
  const quantity* discretes;
  const guard* guards;
  const time_event* time_events;
  const column* columns;
  const stream* streams;
  const delay* delays;
  int history;  ///< 1: the model has a function for states before the start
  const quantity* outputs;
  const declared_table* tables;
  /// Constraints of a mechanical system; index 0: nonholonomic, 1: holonomic, 2: of a unit quaternion; value: 1 if it is switched.
  const quantity* constraints;
  int constraint_count;
  const quantity* invariants;  ///< of a mechanical system
  int invariant_count;
  int reaches;                            ///< 1: constraints may be approached, and reaching each is an event
  int coordinate_count;                   ///< of a mechanical system: the states before its velocities; else 0
  int elimination;                        ///< of a mechanical system: abi::elimination
  const mechanical_structure* structure;  ///< of a mechanical system; null: not known
  const equation_record* record;          ///< the graph of the equations; null: not known
  double t_begin, t_end;                  ///< the model's own default span
  int equations;                          ///< of saltus::equations
  int singular_mass;                      ///< 1: a singular mass matrix with no algebraic state
  int arithmetic;                         ///< 1: only + - * / sqrt and saltus' own functions: same bits on every device
  long long rhs_flops;                    ///< operations of one right-hand side (or residual); -1: not known
  long long guard_flops;                  ///< of all guards with their time derivatives; -1: not known
  int kept_series;                        ///< series kept by a right-hand side and the guards; -1: not known
  int kept_numbers;                       ///< single numbers that they keep
  int output_series, output_numbers;      ///< the same for the outputs
  smoothness equations_are, outputs_are;  ///< right-hand sides (or residuals), and the outputs
};

/// Linear algebra on the host, for matrices that are too large for lanes. Matrices lie column by column, complex numbers as
/// pairs. `rows[k]` is the row that was exchanged with row k.
struct dense_algebra {
  void (*factor)(int n, double* a, int* rows);
  void (*solve)(int n, const double* a, const int* rows, double* b);
  void (*factor_complex)(int n, double* a, int* rows);
  void (*solve_complex)(int n, const double* a, const int* rows, double* b);
};

/// A measured value, which adds weight (x - value)^2 / 2 to the objective of a gradient.
struct datum {
  double time;
  int of;  ///< x: output i is number i, state i is -1 - i
  double value, weight;
};

/// A table as one polynomial for each piece between two knots, in powers of the time since the piece's first knot. Its curves have the same
/// knots.
struct table {
  long long pieces, curves;
  const double* knots;         ///< [pieces + 1], ascending
  const double* coefficients;  ///< [curves][pieces][4], constant term first
  const double* last;          ///< [curves] the value at the last knot
};

/// The rows of a recorded time event, of all instances: one after another, each its time and then its columns. The rows of an instance
/// stand together, ascending in time (batch::first_row).
struct record {
  const double* rows;
};

/// Settings that hold for every instance of a run. Times and tolerances are in the model's units.
struct settings {
  double rtol;
  const double* atol;          ///< [state_count], then as many for each direction whose errors count
  double event_tol;            ///< time tolerance of event location; 0: to rounding
  double first_step;           ///< 0: chosen from the equations
  double max_step;             ///< infinity: unlimited (a model may set a smaller one)
  double fixed_step;           ///< > 0: constant steps, no error control
  long long max_steps;         ///< budget of trial steps per instance
  long long max_events;        ///< budget of events per instance
  int sample_count;            ///< time grid: 0 none
  const double* sample_times;  ///< [sample_count] absolute times, or null: equally spaced over each instance's span
  /// [reduction][3]: the first and the last time that counts, and the time of a value or the order of a quantile. Times increase along the
  /// run; in a run backward in time they are negated.
  const double* windows;

  // the event log
  int log_events;                      ///< 1: there is one
  const unsigned char* logged_events;  ///< [event] 1: it is logged; null: all are
  double log_from, log_to;             ///< first and last time that is logged, with signs as in `windows`
  int log_first, log_last;             ///< rows kept per instance after these filters: the first and last ones
                                       ///< (results::kept_rows); both 0: all

  // event handling (docs/events.md)
  double
      concurrency_time;  ///< bilateral guards whose roots lie within this time fire together (Compere's eps_c); 0: off
  double concurrency_value;  ///< ... as long as none of them is further beyond zero than this (eps_ROC)
  double zeno_part;  ///< accumulating events are cut short when the time left to their limit is this part of the span;
                     ///< 0: never
  int conservative;  ///< 1: conservative mode: events are located by bracketing alone, with more attempts
  int consistency;   ///< abi::consistency: how algebraic models are initialised consistently
  const dense_algebra* algebra;  ///< null on a device
  const table* tables;           ///< [table_count]
  double inject;                 ///< share of instances given an artificial exception; 0 except in tests
  long long inject_seed;
  double growth_from;      ///< Lyapunov exponents count from this time on; -infinity: over the whole span
  const record* records;   ///< one for each recorded time event
  int gradient_count;      ///< derivatives of the objective; 0 without a gradient
  const int* gradient_of;  ///< [gradient_count] parameter j is number j, the initial value of state i is -1 - i
  /// In the objective: [state_count] final values, [integrals] (form/integrals.hpp), [output_count] final values, t_final, [integrals] means.
  const double* gradient_weights;
  const datum* data;  ///< [data_count] of the objective, ascending in time
  int data_count;
  long long history;  ///< steps that an instance with delays remembers: a power of two
  int rows_are_past;  ///< 1: rows up to the start of an instance were given before; 0: no row may be before it
};

/// True if the event log keeps a bounded number of rows per instance, for which there is always room.
SALTUS_FN constexpr bool has_bounded_log(const settings& s) { return s.log_first + s.log_last > 0; }

/// One chunk of instances: the inputs.
struct batch {
  long long count;
  long long first_id;        ///< id of instance 0 of this chunk
  const double* parameters;  ///< [parameter_count][count]
  const double* initial;     ///< [state_count][count]; NaN: the model's own value
  const double* t_begin;     ///< [count]
  const double* t_end;       ///< [count]; before t_begin in a run backward in time
  /// [discrete_count][count] initial values of discrete variables; a NaN, or a null pointer, stands for the model's own.
  const double* discrete = nullptr;
  /// [recorded time event][count] the rows of an instance: the first one, and the one behind the last.
  const long long* first_row = nullptr;
  const long long* end_row = nullptr;
};

/// Results of one chunk of instances, with a column [count] for each counter. Every pointer has room for the whole chunk; the host presets
/// all instances to "not run".
struct results : counters<long long*> {
  double* final_state;     ///< [state_count][count]
  double* final_output;    ///< [output_count][count]
  double* final_discrete;  ///< [discrete_count][count]
  double* t_final;         ///< [count]
  unsigned char* status;   ///< [count], saltus::status; on a CPU `interrupted` while the instance is under way
  double* residual;  ///< [count] models with constraints: largest residual of any constraint after any accepted step
  long long* residual_of;  ///< [count] number of that constraint's equation (of its state); -1: none
  double* samples;         ///< [state_count + output_count][count][sample_count], NaN where not reached; then as many
                           ///< derivatives for each direction
  double* reductions;      ///< [reduction_count][count]
  unsigned char* guard_history;  ///< [guard_count][count], bits of abi::guard_history
  /// [directions][state_count + output_count + 1 + reduction_count][count]: derivatives of the final states and outputs, of t_final, and of
  /// the reductions. For Lyapunov exponents [2 exponents + 1][count]: the exponents, their standard errors, the events grazed.
  double* final_derivative;
  unsigned char* sensitivity;  ///< [count], saltus::sensitivity
  double* gradient;            ///< [1 + gradient_count][count]: the objective, and its derivatives
  long long* logged;  ///< [count] with log_first or log_last: rows that the log would have without these limits
  /// [count][log_first + log_last][time, event, before, after]: the first rows, then a ring buffer of the last ones.
  double* kept_rows;
};

/// History of a guard in an instance. A guard can fire while its value may cross zero in its declared direction.
enum guard_history : unsigned char {
  began_beyond = 1,  ///< it could not fire at the start
  has_fired = 2,
  ends_armed = 4  ///< it could fire at the end
};

/// An instance in flight as plain numbers, sufficient to continue it (engine/instance.hpp).
struct snapshot {
  const double* reals;        ///< [snapshot_reals]
  const long long* integers;  ///< [record_integers]
};

/// The host's answer to a report of progress: stop as soon as possible; go on; or go on but end some instances under way. The host selects
/// these by writing their new status into `results::status` in place of `interrupted`.
enum command : int { stop = 0, go_on = 1, end_some = 2 };

/// Where a CPU module reports events, exceptions and progress; the callbacks run on the thread that called `run`.
struct sink {
  void* context;
  /// One due guard of one event: slot in the chunk, time, guard, state before and after. Both states are [state_count] numbers, followed by
  /// the outputs, if these are logged, and by the derivative of the event time in each direction. `guard` numbers the guards first, then
  /// the time events, then the end of sliding along each sliding guard.
  void (*append)(void* context, long long slot, double t, int guard, const double* before, const double* after);
  /// An instance could not go on (`rescuable`): `last` is its last accepted point, from which another integrator may continue.
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

/// The interface that a CPU module exports as `saltus_module`.
struct module {
  int version;
  int lanes;                            ///< instances per vector
  int snapshot_reals, record_integers;  ///< numbers of a snapshot
  /// Integrates the whole chunk on the calling thread; returns 0, or 1 when stopped by `progress`.
  int (*run)(const settings*, const batch*, const results*, const sink*, usage*);
  /// The same for `count` instances of the chunk that were begun before, from their last accepted points.
  int (*resume)(const settings*, const batch*, const results*, const sink*, usage*, long long count, const snapshot*);
};

}  // namespace saltus::abi
