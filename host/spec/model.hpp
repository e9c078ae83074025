// A model as the host knows it: names, units, defaults. All come from its compiled description, not from its source
// text.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "abi/module.hpp"

namespace saltus::host {

struct quantity {
  std::string name;
  double value = 0;  ///< default; states: initial value; unused for outputs
  std::string unit;
  std::string about;
  int index = 0;  ///< for a state: 0 differential; 1, 2: algebraic, determined by a constraint of that index
  smoothness how_smooth = smoothness::unknown;  ///< of an output
};

struct guard {
  std::string name;
  abi::direction direction;
  abi::sidedness sidedness;
  bool terminal;
  std::string about;
  bool slides = false;  ///< the solution may slide along it
  smoothness how_smooth = smoothness::unknown;
};

/// A constraint of a mechanical system.
struct constraint {
  std::string name, unit, about;
  bool holonomic;
  bool switched;    ///< it holds only while a discrete variable is on
  bool quaternion;  ///< four coordinates are a unit quaternion: saltus adds this constraint itself
};

/// A column of the rows of a recorded time event.
struct recorded_column {
  std::string name, unit, about;
};

/// An event whose time is known beforehand.
struct time_event {
  std::string name;
  std::string about;
  int capacity = 0;  ///< number of items that transitions may have scheduled at the same time; 0: it is not scheduled
  int carries = 0;   ///< numbers that each of them carries
  bool recorded = false;  ///< its times are those of rows of data
  std::vector<recorded_column> columns = {};
};

/// A stream of random numbers.
struct random_stream {
  std::string name, about;
};

/// A delay of states.
struct time_lag {
  std::string name, about;
};

/// A function of time that the model reads, given by values at knots.
struct tabulated {
  std::string name, unit, about;
  interpolation between;
  at_ends beyond;
  std::vector<double> times, values;  ///< the model's own knots; empty: it has none
  int choice = -1;                    ///< the parameter that is the number of its curve; -1: it has one curve
};

/// A source file of a model.
struct model_file {
  std::filesystem::path file;
  std::string hash;  ///< of its content, 32 hex digits
};

/// An entry of a matrix.
struct matrix_entry {
  int row, column;
};
/// The entries that may be non-zero in the matrices of a mechanical system.
struct mechanical_structure {
  std::vector<matrix_entry> mass;      ///< of the lower triangle; rows and columns are velocities
  std::vector<matrix_entry> jacobian;  ///< rows are constraints, columns velocities
};

/// The equations 0 = f_i of a model as an expression graph (number/expression.hpp). The unknowns of a mechanical system
/// are its states, followed by the multipliers of its constraints.
struct equation_record {
  std::vector<expression> nodes;  ///< operands come before the nodes that use them
  std::vector<int> equations;     ///< the node of each equation; -1: not written
  std::vector<std::string> equation_names, unknown_names;
  std::vector<int> observed;  ///< the nodes of guards and outputs
};

/// An entry of the matrix J of equations of any order, found by a directional derivative.
struct stage_entry {
  int row, column, direction;
  bool operator==(const stage_entry&) const = default;
};
/// Offsets of equations and unknowns of any order, and the directions that find their J.
struct stage_offsets {
  std::vector<int> c, d;
  std::vector<stage_entry> entries;  ///< sorted by direction
  std::vector<int> levels;           ///< for each direction, the offset of its equations
};
/// A comparison of a discrete variable, or of a guard's sign, with a number.
struct mode_condition {
  bool of_guard;
  int index, relation;
  double value;
};
/// The derivative array of a model, used instead of its structural analysis (structure/rank_of_array.hpp).
struct model_array {
  int times, rank, rows, freedom, points;
  double time_scale, gap;
  std::vector<int> order;  ///< order of the highest derivative of each unknown in the equations
};
/// The results of the structural analysis, for modules (kernels/model/offsets.hpp).
struct model_offsets {
  std::vector<stage_offsets> sets;         ///< one for all modes, or several
  std::vector<mode_condition> conditions;  ///< conditions that select one of several sets
  std::vector<int> set_of;                 ///< the set for each combination of answers
  std::vector<int> observed;               ///< for each unknown, the highest derivative in guards and outputs
  std::optional<model_array> array;        ///< if present, there are no sets
};

class loaded_model;

struct model {
  std::string name;
  std::string title;
  std::string source;
  std::string time_unit;            ///< empty: unknown
  std::filesystem::path header;     ///< the file it was read from
  std::vector<model_file> sources;  ///< the header and all its includes, except saltus' kernels and system files
  std::vector<quantity> states, parameters, discretes, outputs;
  std::vector<constraint> constraints;  ///< for a mechanical system
  std::vector<quantity> invariants;     ///< for a mechanical system
  bool reaches = false;                 ///< constraints may be approached, and reaching each is an event
  /// for a mechanical system: number of states before its velocities; else 0
  int coordinates = 0;
  std::optional<mechanical_structure> structure;  ///< for a mechanical system, if known
  abi::elimination elimination = abi::elimination::as_measured;
  std::optional<equation_record> record;  ///< if known
  std::optional<model_offsets> offsets;   ///< for equations of any order that can be solved
  std::string why_unsolved;               ///< for equations that cannot be solved: the reason
  std::vector<guard> guards;
  std::vector<time_event> time_events;
  std::vector<random_stream> streams;
  std::vector<time_lag> delays;
  bool has_history = false;  ///< it says what its states were before the start
  /// The last ones of `discretes`, which the engine keeps: queues of scheduled events and random streams.
  int kept = 0;
  int random_key = -1;  ///< first of four discrete variables with the key of an instance; -1: no random streams
  std::vector<tabulated> tables;
  double t_begin = 0, t_end = 1;  ///< its own default span
  abi::equations equations = abi::plain;
  bool singular_mass = false;  ///< the mass matrix is singular, but no single state is algebraic
  bool arithmetic = false;
  std::int64_t rhs_flops = -1;                  ///< counted operations of one right-hand side; -1: unknown
  std::int64_t guard_flops = -1;                ///< of all guards with their time derivatives
  int kept_series = -1;                         ///< series kept by right-hand side and guards; -1: unknown
  int kept_numbers = -1;                        ///< single numbers kept by them
  int output_series = -1, output_numbers = -1;  ///< the same for outputs
  smoothness equations_are = smoothness::unknown, outputs_are = smoothness::unknown;
  /// Keeps loaded modules for further runs in this process (compile/loaded_model.hpp); null: nothing is kept.
  std::shared_ptr<loaded_model> loaded;
};

/// The table whose curve a parameter chooses; null: none.
inline const tabulated* table_chosen_by(const model& m, int parameter) {
  const auto found =
      std::find_if(m.tables.begin(), m.tables.end(), [&](const tabulated& t) { return t.choice == parameter; });
  return found == m.tables.end() ? nullptr : &*found;
}

/// The parameter that chooses the curve of a table that has several.
inline const quantity& chooser_of(const model& m, const tabulated& t) {
  return m.parameters[static_cast<std::size_t>(t.choice)];
}

/// The source files of a model, its header first.
inline std::vector<std::filesystem::path> files_of_model(const model& m) {
  std::vector<std::filesystem::path> files = {m.header};
  for (const model_file& source : m.sources)
    if (source.file != m.header) files.push_back(source.file);
  return files;
}

/// The highest index of its states; 0: none is algebraic.
inline int highest_index(const model& m) {
  int highest = 0;
  for (const quantity& state : m.states) highest = std::max(highest, state.index);
  return highest;
}

/// Must states meet equations at all times, and are these known, so that their residuals are?
inline bool has_residuals(const model& m) {
  return highest_index(m) > 0 || !m.constraints.empty() || m.offsets.has_value();
}

/// Must states meet equations at all times, or may they have to?
inline bool has_constraints(const model& m) {
  return has_residuals(m) || m.singular_mass || m.equations == abi::implicit || m.equations == abi::any_order;
}

/// The discrete variables that the model declares.
inline std::span<const quantity> declared_discretes(const model& m) {
  return std::span(m.discretes).first(m.discretes.size() - static_cast<std::size_t>(m.kept));
}

/// Those that the engine keeps for it.
inline std::span<const quantity> kept_discretes(const model& m) {
  return std::span(m.discretes).last(static_cast<std::size_t>(m.kept));
}

/// Is this discrete variable one that the engine keeps?
inline bool is_kept(const model& m, std::size_t discrete) { return discrete >= declared_discretes(m).size(); }

/// Does a transition schedule time events?
inline bool schedules(const model& m) {
  return std::any_of(m.time_events.begin(), m.time_events.end(), [](const time_event& e) { return e.capacity > 0; });
}

/// Can an event occur: a guard changes sign, a time event is due, a constraint is reached?
inline bool has_events(const model& m) { return !m.guards.empty() || !m.time_events.empty() || m.reaches; }

/// Names of the sources of a residual, by number: equations of any order, constraints, or the equations of algebraic
/// states. Further numbers are states whose value from a transition violates the constraints, and rows of a mechanical
/// system's mass matrix that is singular together with the constraints.
inline std::vector<std::string> names_of_residuals(const model& m) {
  std::vector<std::string> names;
  if (m.offsets) names = m.record->equation_names;
  for (const constraint& c : m.constraints) names.push_back(c.name);
  if (names.empty())
    for (const quantity& state : m.states) names.push_back(state.name);
  if (m.offsets || !m.constraints.empty() || highest_index(m) == 2)
    for (const quantity& state : m.states) names.push_back(state.name + "_as_written");
  if (!m.constraints.empty())
    for (auto i = static_cast<std::size_t>(m.coordinates); i < m.states.size(); ++i)
      names.push_back("mass_of_" + m.states[i].name);
  return names;
}

/// The time events whose times are those of rows of data.
inline std::vector<time_event> recorded_events(const model& m) {
  std::vector<time_event> all;
  for (const time_event& e : m.time_events)
    if (e.recorded) all.push_back(e);
  return all;
}

/// The names of events in the event log, by number: guards, time events, reached constraints, and sliding exits from
/// each guard that may slide.
inline std::vector<std::string> event_names(const model& m) {
  std::vector<std::string> names;
  for (const guard& g : m.guards) names.push_back(g.name);
  for (const time_event& i : m.time_events) names.push_back(i.name);
  if (m.reaches)
    for (const constraint& c : m.constraints)
      if (!c.quaternion) names.push_back("reaches_" + c.name);
  for (const guard& g : m.guards)
    if (g.slides) names.push_back("leaves_" + g.name);
  return names;
}

}  // namespace saltus::host
