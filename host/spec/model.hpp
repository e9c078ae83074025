// A model as the host knows it: names, units, defaults. Read from its compiled description, never from its source text.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "abi/module.hpp"

namespace saltus::host {

struct quantity {
  std::string name;
  double value = 0;  ///< default; states: initial value; unused for outputs
  std::string unit;
  std::string about;
  int index = 0;  ///< of a state: 0 differential; 1, 2: algebraic, fixed by a constraint of that index
};

struct guard {
  std::string name;
  abi::direction direction;
  abi::sidedness sidedness;
  bool terminal;
  std::string about;
  bool slides = false;  ///< the solution may slide along it
};

/// A constraint of a mechanical system.
struct constraint {
  std::string name, unit, about;
  bool holonomic;
  bool switched;    ///< it holds only while a discrete variable is on
  bool quaternion;  ///< that four coordinates are a unit quaternion: none of the model's own
};

/// An event whose time is known beforehand.
struct time_event {
  std::string name;
  std::string about;
};

/// A function of time that the model reads, given by values at knots.
struct tabulated {
  std::string name, unit, about;
  interpolation between;
  at_ends beyond;
  std::vector<double> times, values;  ///< the model's own knots; empty: it has none
};

/// A file that a model is written in.
struct model_file {
  std::filesystem::path file;
  std::string hash;  ///< of its content, 32 hex digits
};

/// An entry of a matrix.
struct matrix_entry {
  int row, column;
};
/// Which entries the matrices of a mechanical system may have.
struct mechanical_structure {
  std::vector<matrix_entry> mass;      ///< of the lower triangle, by velocities
  std::vector<matrix_entry> jacobian;  ///< a row for each constraint, a column for each velocity
};

/// What the equations 0 = f_i of a model are made of (number/expression.hpp). Of a mechanical system the unknowns are its states and
/// then the multipliers of its constraints.
struct equation_record {
  std::vector<expression> nodes;  ///< those that a node is made of stand before it
  std::vector<int> equations;     ///< the node of each; -1: nothing was written
  std::vector<std::string> equation_names, unknown_names;
  std::vector<int> observed;  ///< the nodes of guards and outputs
};

/// An entry of the matrix J of equations of any order, found by a derivative in a direction.
struct stage_entry {
  int row, column, direction;
  bool operator==(const stage_entry&) const = default;
};
/// Offsets of equations and unknowns of any order, and how their J is found.
struct stage_offsets {
  std::vector<int> c, d;
  std::vector<stage_entry> entries;  ///< by directions
  std::vector<int> levels;           ///< of each direction, the offset of the equations that it is for
};
/// A comparison of a discrete variable, or of a guard's sign, with a number.
struct mode_condition {
  bool of_guard;
  int index, relation;
  double value;
};
/// The derivative array of a model in place of its structural analysis (structure/rank_of_array.hpp).
struct model_array {
  int times, rank, rows, freedom, points;
  double time_scale, gap;
  std::vector<int> order;  ///< of the highest derivative of each unknown in the equations
};
/// What the structural analysis has found of a model, for modules (kernels/model/offsets.hpp).
struct model_offsets {
  std::vector<stage_offsets> sets;         ///< one for all modes, or several
  std::vector<mode_condition> conditions;  ///< that choose one of several
  std::vector<int> set_of;                 ///< by the answers to them
  std::vector<int> observed;               ///< of each unknown, the highest derivative in guards and outputs
  std::optional<model_array> array;        ///< and then there are no sets
};

class loaded_model;

struct model {
  std::string name;
  std::string title;
  std::string source;
  std::string time_unit;            ///< empty: not known
  std::filesystem::path header;     ///< the file it was read from
  std::vector<model_file> sources;  ///< this and all that it includes, but for saltus' kernels and the system's files
  std::vector<quantity> states, parameters, discretes, outputs;
  std::vector<constraint> constraints;            ///< of a mechanical system
  std::vector<quantity> invariants;               ///< of a mechanical system
  bool reaches = false;                           ///< constraints may be approached, and reaching each is an event
  int coordinates = 0;                            ///< of a mechanical system: the states before its velocities; else 0
  std::optional<mechanical_structure> structure;  ///< of a mechanical system, where it is known
  abi::elimination elimination = abi::elimination::as_measured;
  std::optional<equation_record> record;  ///< where it is known
  std::optional<model_offsets> offsets;   ///< of equations of any order that can be solved
  std::string why_unsolved;               ///< of those that cannot
  std::vector<guard> guards;
  std::vector<time_event> time_events;
  std::vector<tabulated> tables;
  double t_begin = 0, t_end = 1;  ///< its own default span
  abi::equations equations = abi::plain;
  bool singular_mass = false;  ///< a singular mass matrix, but no state by itself is algebraic
  bool arithmetic = false;
  std::int64_t rhs_flops = -1;                  ///< operations of one right-hand side, counted; -1: not known
  std::int64_t guard_flops = -1;                ///< of all guards with their rates
  int kept_series = -1;                         ///< that a right-hand side and the guards keep as series; -1: not known
  int kept_numbers = -1;                        ///< and single numbers that they keep
  int output_series = -1, output_numbers = -1;  ///< the same of the outputs
  /// What of it is loaded stays so, for further runs in this process (compile/loaded_model.hpp); null: nothing does.
  std::shared_ptr<loaded_model> loaded;
};

/// The files that a model is written in, its header first.
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

/// Are there equations that states must meet at every instant, and is it known which, so that their residuals are?
inline bool has_residuals(const model& m) {
  return highest_index(m) > 0 || !m.constraints.empty() || m.offsets.has_value();
}

/// Are there equations that states must meet at every instant, or may there be?
inline bool has_constraints(const model& m) {
  return has_residuals(m) || m.singular_mass || m.equations == abi::implicit || m.equations == abi::any_order;
}

/// Can anything happen at an instant: a guard crosses, a time comes, a constraint is reached?
inline bool has_events(const model& m) { return !m.guards.empty() || !m.time_events.empty() || m.reaches; }

/// What a residual may be of, by its number: an equation of any order, a constraint, or the equation of an algebraic state. Behind
/// these a state as a transition has written it, which the constraints do not allow; and a row of a mechanical system's mass matrix, which
/// is singular with the constraints.
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

/// What the event log calls its events, by their numbers: guards, time events, constraints that are reached, and the end of
/// sliding along each guard that may slide.
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
