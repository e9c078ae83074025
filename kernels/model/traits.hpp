// Constants that the engine derives from a model's lists: the number of members of each kind, and tables of their traits.
#pragma once

#include "linear/system.hpp"
#include "model/declare.hpp"
#include "model/kept_numbers.hpp"
#include "model/offsets.hpp"
#include "number/base.hpp"

namespace saltus {

namespace detail {

enum class no_parameter : int {};
enum class no_discrete : int {};
enum class no_guard : int {};
enum class no_time_event : int {};
enum class no_column : int {};
enum class no_output : int {};
enum class no_constraint : int {};
enum class no_invariant : int {};
enum class no_equation : int {};
enum class no_table : int {};
enum class no_stream : int {};
enum class no_delay : int {};

/// Number of members of all families of a list.
template <class T, int N>
constexpr int count_of(const T (&list)[N]) {
  int sum = 0;
  for (int i = 0; i < N; ++i) sum += list[i].count;
  return sum;
}

/// True if the families follow one another without a gap, so that the list and the enumeration agree.
template <class T, int N>
constexpr bool in_order(const T (&list)[N]) {
  int next = 0;
  for (int i = 0; i < N; ++i) {
    if (static_cast<int>(list[i].id) != next || list[i].count < 1) return false;
    next += list[i].count;
  }
  return true;
}

template <class Model>
struct kinds {
#define SALTUS_LISTED(kind)                                                                                \
  template <class M>                                                                                       \
  static auto pick_##kind() {                                                                              \
    if constexpr (requires { M::kind##_list[0]; }) return typename M::kind{};                              \
    else return no_##kind{};                                                                               \
  }                                                                                                        \
  template <class M>                                                                                       \
  static constexpr int count_##kind() {                                                                    \
    if constexpr (requires { M::kind##_list[0]; }) {                                                       \
      static_assert(in_order(M::kind##_list),                                                              \
                    "the entries of " #kind "_list must stand in the order of enum " #kind ", each once"); \
      return count_of(M::kind##_list);                                                                     \
    } else {                                                                                               \
      return 0;                                                                                            \
    }                                                                                                      \
  }                                                                                                        \
  using kind = decltype(pick_##kind<Model>());
#define SALTUS_KIND(kind) \
  SALTUS_LISTED(kind)     \
  static constexpr int kind##_count = count_##kind<Model>();
  SALTUS_LISTED(discrete)
  SALTUS_KIND(parameter)
  SALTUS_KIND(guard)
  SALTUS_KIND(time_event)
  SALTUS_KIND(column)
  SALTUS_KIND(output)
  SALTUS_KIND(constraint)
  SALTUS_KIND(invariant)
  SALTUS_KIND(equation)
  SALTUS_KIND(table)
  SALTUS_KIND(stream)
  SALTUS_KIND(delay)
#undef SALTUS_KIND
#undef SALTUS_LISTED
  /// The discrete variables that the model declares, then those that the engine keeps for it (model/kept_numbers.hpp).
  static constexpr int declared_discrete_count = count_discrete<Model>();
  static constexpr auto queues = make_queue_table<Model, time_event_count>(declared_discrete_count);
  static constexpr bool schedules = queues.numbers > 0;
  static constexpr int random_key = declared_discrete_count + queues.numbers;
  static constexpr int discrete_count = random_key + numbers_of_streams(stream_count);
  static_assert(
      requires { Model::state_list[0]; },
      "a model needs at least one state: enum state { ... }; and static constexpr saltus::variable<state> "
      "state_list[]");
  using state = typename Model::state;
  static constexpr int state_count = count_of(Model::state_list);
  /// The values of an instance: its states, or unknowns and their derivatives.
  using values = value_layout<Model, state_count>;
  static constexpr int value_count = values::count;
  static_assert(in_order(Model::state_list),
                "the entries of state_list must stand in the order of enum state, each once");
};

/// True if the model states its equations as a mechanical system.
template <class Model>
inline constexpr bool is_mechanical = requires {
  Model::first_velocity;
};

/// Number of unit quaternions among the coordinates of a mechanical system.
template <class Model>
constexpr int count_quaternions() {
  if constexpr (requires { Model::quaternion_list[0]; })
    return static_cast<int>(sizeof(Model::quaternion_list) / sizeof(Model::quaternion_list[0]));
  else return 0;
}
/// True if each quaternion is four coordinates and none belongs to two quaternions.
template <class Model>
constexpr bool quaternions_are_right() {
  if constexpr (count_quaternions<Model>() > 0) {
    int next = 0;
    for (const auto first : Model::quaternion_list) {
      if (static_cast<int>(first) < next) return false;
      next = static_cast<int>(first) + 4;
    }
    return next <= static_cast<int>(Model::first_velocity);
  } else {
    return true;
  }
}

/// Traits of a constraint of a mechanical system.
struct constraint_traits {
  bool holonomic;
  double decay_rate;
  int switched_by;  ///< the discrete variable that switches it; -1: always on
};

template <int N>
struct constraint_table {
  constraint_traits of[N > 0 ? N : 1];
};

template <class Model, int N>
constexpr constraint_table<N> make_constraint_table() {
  constraint_table<N> r{};
  if constexpr (N > 0) {
    int at = 0;
    for (const auto& c : Model::constraint_list)
      for (int i = 0; i < c.count; ++i)
        r.of[at++] = {c.kind == holonomic, c.decay_rate, c.switched_by < 0 ? -1 : c.switched_by + i};
  }
  return r;
}

/// Traits of a guard.
struct guard_traits {
  direction which;
  sidedness side;
  bool terminal, slides, condition;
  smoothness how_smooth;
};

template <class Model, int N>
struct guard_table {
  guard_traits of[N > 0 ? N : 1];
};

template <class Model, int N>
constexpr guard_table<Model, N> make_guard_table() {
  guard_table<Model, N> r{};
  if constexpr (N > 0) {
    int at = 0;
    for (const auto& g : Model::guard_list)
      for (int i = 0; i < g.count; ++i) {
        r.of[at] = {g.which,     g.side,           g.ends == ending::terminal,
                    g.may_slide, g.only_condition, smoothness_of<Model>.guard(at)};
        ++at;
      }
  }
  return r;
}

template <class Model, int N>
constexpr int count_sliding() {
  int n = 0;
  if constexpr (N > 0)
    for (const auto& g : Model::guard_list) n += g.may_slide ? g.count : 0;
  return n;
}
template <class Model, int N>
constexpr bool sliding_is_right() {
  if constexpr (N > 0)
    for (const auto& g : Model::guard_list)
      if (g.may_slide && (g.which != both || g.side != bilateral)) return false;
  return true;
}
template <class Model, int N>
constexpr bool conditions_are_right() {
  if constexpr (N > 0)
    for (const auto& g : Model::guard_list)
      if (g.only_condition && g.which != both) return false;
  return true;
}
template <class Model, int N>
constexpr bool has_conditions() {
  if constexpr (N > 0)
    for (const auto& g : Model::guard_list)
      if (g.only_condition) return true;
  return false;
}

/// The recorded time events of a model and the columns of their rows. A row is its time, then the columns of its event in their order.
template <int Events, int Columns>
struct record_table {
  int event[Events > 0 ? Events : 1];        ///< the time event of each record
  int record[Events > 0 ? Events : 1];       ///< the record of each time event; -1: it is not recorded
  int width[Events > 0 ? Events : 1];        ///< numbers in a row of each record
  int in_row[Columns > 0 ? Columns : 1];     ///< of each column in a row
  int record_of[Columns > 0 ? Columns : 1];  ///< the record of each column
  int count;
  bool columns_are_right;  ///< each column belongs to a recorded time event
};

template <class Model, int Events, int Columns>
constexpr record_table<Events, Columns> make_record_table() {
  record_table<Events, Columns> r{};
  r.columns_are_right = true;
  if constexpr (Events > 0)
    for (const auto& e : Model::time_event_list) {
      const int i = static_cast<int>(e.id);
      r.record[i] = e.has_rows ? r.count : -1;
      if (!e.has_rows) continue;
      r.event[r.count] = i;
      r.width[r.count++] = 1;
    }
  if constexpr (Columns > 0)
    for (const auto& c : Model::column_list) {
      const int i = static_cast<int>(c.id);
      const bool is_right = c.event >= 0 && c.event < Events && r.record[c.event < 0 ? 0 : c.event] >= 0;
      r.columns_are_right = r.columns_are_right && is_right;
      if (!is_right) continue;
      r.record_of[i] = r.record[c.event];
      r.in_row[i] = r.width[r.record_of[i]]++;
    }
  return r;
}

/// Traits of a table that a model reads.
struct tabulated_traits {
  interpolation between;
  at_ends beyond;
  int first;   ///< index of its first number (numbers_of_piece)
  int choice;  ///< the parameter that is the number of its curve; -1: there is one curve
};

/// Number of values that represent a table within a piece: one value for a step; else the start time of the piece and the coefficients of a
/// polynomial in the time since then.
constexpr int numbers_of_piece(interpolation between) {
  return between == interpolation::step ? 1 : between == interpolation::linear ? 3 : 5;
}

template <class Model, int N>
struct tabulated_table {
  tabulated_traits of[N > 0 ? N : 1];
  int numbers;  ///< of all tables
  bool jump;    ///< at least one table may jump
};

template <class Model, int N>
constexpr tabulated_table<Model, N> make_tabulated_table() {
  tabulated_table<Model, N> r{};
  if constexpr (N > 0) {
    int at = 0;
    for (const auto& v : Model::table_list)
      for (int i = 0; i < v.count; ++i) {
        r.of[at++] = {v.between, v.beyond, r.numbers, v.choice};
        r.numbers += numbers_of_piece(v.between);
        r.jump = r.jump || v.between == interpolation::step;
      }
  }
  return r;
}

/// The differentiation index of every state (`variable::algebraic`).
template <int N>
struct index_table {
  int of[N];
};
template <class Model>
constexpr auto make_index_table() {
  index_table<kinds<Model>::state_count> r{};
  int at = 0;
  for (const auto& v : Model::state_list)
    for (int i = 0; i < v.count; ++i) r.of[at++] = v.index;
  return r;
}
template <class Model>
constexpr int highest_index() {
  int r = 0;
  for (const auto& v : Model::state_list) r = v.index > r ? v.index : r;
  return r;
}
template <class Model>
constexpr bool indices_are_right() {
  for (const auto& v : Model::state_list)
    if (v.index < 0 || v.index > 2) return false;
  return true;
}
/// True if all algebraic states have the same index.
template <class Model>
constexpr bool has_one_index() {
  for (const auto& v : Model::state_list)
    if (v.index != 0 && v.index != highest_index<Model>()) return false;
  return true;
}

/// Columns of the Jacobian that share a direction, or colour: no row has an entry in two of them (Curtis, Powell, Reid, J. Inst. Math.
/// Appl. 13 (1974) 117). Without a list of entries every column has its own colour.
template <int N>
struct colouring {
  bool entry[N][N];
  int of[N];
  int count;
};
template <class Model, int N>
constexpr colouring<N> make_colouring() {
  colouring<N> r{};
  if constexpr (requires { Model::sparsity[0]; }) {
    for (const auto& e : Model::sparsity) r.entry[static_cast<int>(e.row)][static_cast<int>(e.column)] = true;
    for (int j = 0; j < N; ++j) {
      bool taken[N + 1]{};
      for (int other = 0; other < j; ++other)
        for (int i = 0; i < N; ++i)
          if (r.entry[i][j] && r.entry[i][other]) taken[r.of[other]] = true;
      while (taken[r.of[j]]) ++r.of[j];
      r.count = r.of[j] >= r.count ? r.of[j] + 1 : r.count;
    }
  } else {
    for (int i = 0; i < N; ++i) {
      for (int j = 0; j < N; ++j) r.entry[i][j] = true;
      r.of[i] = i;
    }
    r.count = N;
  }
  return r;
}

/// Default value of member i of a list of families.
template <class T, int N>
struct default_values {
  double of[N > 0 ? N : 1];
};
template <int Count, class T, int N>
constexpr default_values<T, Count> defaults_of(const T (&list)[N]) {
  default_values<T, Count> r{};
  int at = 0;
  for (const auto& v : list)
    for (int i = 0; i < v.count; ++i) r.of[at++] = v.value;
  return r;
}

/// Default values of all values of an instance; NaN for derivatives of unknowns, which have no default.
template <class Model>
constexpr auto default_values_of() {
  using values = typename kinds<Model>::values;
  const auto unknowns = defaults_of<kinds<Model>::state_count>(Model::state_list);
  if constexpr (values::has_derivatives) {
    default_values<double, values::count> r{};
    for (double& value : r.of) value = no_number;
    for (int i = 0; i < kinds<Model>::state_count; ++i) r.of[values::first(i)] = unknowns.of[i];
    return r;
  } else {
    return unknowns;
  }
}

/// Default values of all discrete variables; those that the engine keeps begin with zero.
template <class Model>
constexpr auto default_discretes_of() {
  constexpr int declared = kinds<Model>::declared_discrete_count;
  default_values<double, kinds<Model>::discrete_count> r{};
  if constexpr (declared > 0) {
    const auto values = defaults_of<declared>(Model::discrete_list);
    for (int i = 0; i < declared; ++i) r.of[i] = values.of[i];
  }
  return r;
}

/// body(i, value) for the default value of each parameter, or of each discrete variable.
template <class Model, class F>
constexpr void each_default_parameter(F&& body) {
  if constexpr (constexpr int count = kinds<Model>::parameter_count; count > 0) {
    const auto values = defaults_of<count>(Model::parameter_list);
    for (int i = 0; i < count; ++i) body(i, values.of[i]);
  }
}
template <class Model, class F>
constexpr void each_default_discrete(F&& body) {
  if constexpr (constexpr int count = kinds<Model>::discrete_count; count > 0) {
    const auto values = default_discretes_of<Model>();
    for (int i = 0; i < count; ++i) body(i, values.of[i]);
  }
}

}  // namespace detail

/// The queues of the time events of a model.
template <class Model>
inline constexpr auto queue_table_of = detail::kinds<Model>::queues;

/// The queue of time event i: constant if i is.
template <class Model>
SALTUS_FN constexpr detail::queue_traits queue_of(int i) {
  return queue_table_of<Model>.of[i];
}

/// Traits of the guards of a model.
template <class Model>
inline constexpr auto guard_table_of = detail::make_guard_table<Model, detail::kinds<Model>::guard_count>();

/// Traits of guard i: constant if i is.
template <class Model>
SALTUS_FN constexpr detail::guard_traits guard_traits_of(int i) {
  return guard_table_of<Model>.of[i];
}

/// Traits of the tables that a model reads.
template <class Model>
inline constexpr auto tabulated_table_of = detail::make_tabulated_table<Model, detail::kinds<Model>::table_count>();

/// Traits of table i: constant if i is.
template <class Model>
SALTUS_FN constexpr detail::tabulated_traits tabulated_traits_of(int i) {
  return tabulated_table_of<Model>.of[i];
}

/// The recorded time events of a model and the columns of their rows.
template <class Model>
inline constexpr auto record_table_of =
    detail::make_record_table<Model, detail::kinds<Model>::time_event_count, detail::kinds<Model>::column_count>();

/// The record of a time event, -1 if it has none, and of a column; the index of a column in a row: constant if i is.
template <class Model>
SALTUS_FN constexpr int record_of_event(int i) {
  return record_table_of<Model>.record[i];
}
template <class Model>
SALTUS_FN constexpr int record_of_column(int i) {
  return record_table_of<Model>.record_of[i];
}
template <class Model>
SALTUS_FN constexpr int place_of_column(int i) {
  return record_table_of<Model>.in_row[i];
}
/// The time event of a record, and the numbers in a row of it.
template <class Model>
SALTUS_FN constexpr int event_of_record(int k) {
  return record_table_of<Model>.event[k];
}
template <class Model>
SALTUS_FN constexpr int width_of_record(int k) {
  return record_table_of<Model>.width[k];
}

/// The colouring of a model's Jacobian.
template <class Model>
inline constexpr auto colouring_of = detail::make_colouring<Model, detail::kinds<Model>::state_count>();

/// The index of every state of a model.
template <class Model>
inline constexpr auto index_table_of = detail::make_index_table<Model>();

/// The index of state i: constant if i is.
template <class Model>
SALTUS_FN constexpr int index_of_state(int i) {
  return index_table_of<Model>.of[i];
}

}  // namespace saltus
