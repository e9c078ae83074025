// What a model is: the names it declares, the functions it may write, and the point at which they are evaluated.
//
// A model is a struct named like its file. It declares up to six enumerations with a list each,
//
//     enum state     { ... };  static constexpr saltus::variable<state>     state_list[]     = {{id, default, unit, about}, ...};
//     enum parameter { ... };  static constexpr saltus::variable<parameter> parameter_list[] = ...
//     enum discrete  { ... };  static constexpr saltus::variable<discrete>  discrete_list[]  = ...
//     enum guard     { ... };  static constexpr saltus::crossing<guard>     guard_list[]     = {{id, direction, sidedness, about}, ...};
//     enum time_event   { ... };  static constexpr saltus::timed<time_event>      time_event_list[]   = {{id, about}, ...};
//     enum output    { ... };  static constexpr saltus::derived<output>     output_list[]    = {{id, unit, about}, ...};
//
// (only `state` is compulsory), and writes the functions
//
//     static void initial(auto& at);                          // at[state] = ...; may depend on parameters and time
//     static void rhs(const auto& at, auto& dy);              // dy[state] = ...; of an algebraic variable: 0 = ...
//     static void mass(const auto& at, auto& m);              // m(row, column) = ...: m dy/dt is what rhs gives
//     static void residual(const auto& at, const auto& dy, auto& r);  // in place of rhs: 0 = r[state]
//     static void guards(const auto& at, auto& g);            // g[guard] = ...
//     static void time_events(const auto& at, auto& when);       // when.at(time_event, time), when.every(time_event, period, first)
//     static void outputs(const auto& at, auto& out);         // out[output] = ...
//     static void transition(auto& now);                      // at an event: if (now.due(guard)) now[state] = ...
//     static void mode(auto& now);                            // discrete variables from guard signs: now.above(guard)
//     static void rest(auto& now);                            // where events accumulate: the state at their limit
//     static auto max_step(const auto& at);                   // the longest step at which the guards can be trusted
//
// and, optionally, which entries of the Jacobian df/dy of `rhs` are not zero throughout, so that implicit methods need fewer
// derivatives: static constexpr saltus::entry<state> sparsity[] = {{row, column}, ...}
//
// `rhs` or `residual` is compulsory. A model with guards but no `transition` uses their signs (at.above) or only logs the events.
// `initial`, `rhs`, `mass`, `residual`, `guards`, `time_events`, `outputs` and `max_step` run for several instances at once: a condition on a value
// is `select(condition, a, b)`. `transition`, `mode` and `rest` run for one instance: an ordinary `if` is right there,
// and a value becomes a plain number where that is asked for: int(now[gear]), double(now.t).
//
// Many alike are a family: saltus::variable<state>{height, 1.0, "m", "..."}.of(100), whose members are at(height, i),
// dy(height, i), now.due(contact, i), and are called height_0 ... height_99 outside; the next enumerator counts on from
// there: enum state { height, velocity = height + 100 }. docs/add_a_problem.md is the tutorial.
#pragma once

#include "abi/unit.hpp"
#include "linear/system.hpp"
#include "number/dual.hpp"
#include "number/math.hpp"

namespace saltus {

enum direction : int { rising = abi::rising, falling = abi::falling, both = abi::both };
enum sidedness : int {
  bilateral = abi::bilateral,   ///< g goes through zero; the event is placed just past it (CEL+, Compere 5.4)
  unilateral = abi::unilateral  ///< g never passes zero; the event is placed just before it (CEL-, Compere 5.5)
};
enum class ending : int { continues, terminal };
inline constexpr ending continues = ending::continues;
inline constexpr ending terminal = ending::terminal;

/// A state, parameter or discrete variable: identity, default, unit ("1" if none), meaning.
template <class Id>
struct variable {
  Id id;
  double value;
  const char* unit;
  const char* about;
  int count = 1;
  int index = 0;  ///< of a state: 0 differential; 1, 2: algebraic, fixed by a constraint of that index

  /// A family of n alike.
  constexpr variable of(int n) const {
    variable r = *this;
    r.count = n;
    return r;
  }
  /// A state without a rate: its entry of the right-hand side is a constraint, 0 = g(t, y). Index 1: the constraints can
  /// be solved for the algebraic states. Index 2 (Hessenberg): they do not contain them, but their rates can.
  constexpr variable algebraic(int differentiation_index = 1) const {
    variable r = *this;
    r.index = differentiation_index;
    return r;
  }
};

/// An entry of the Jacobian of `rhs`: the rate of `row` depends on `column`.
template <class Id>
struct entry {
  Id row, column;
};

/// A guard: g crosses zero in `direction`.
template <class Id>
struct crossing {
  Id id;
  saltus::direction which;
  saltus::sidedness side;
  const char* about;
  saltus::ending ends = continues;
  bool may_slide = false;
  bool only_condition = false;
  int count = 1;

  /// A family of n alike.
  constexpr crossing of(int n) const {
    crossing r = *this;
    r.count = n;
    return r;
  }
  /// The right-hand side switches with this guard's sign (at.above), and where both sides push onto g = 0 the solution
  /// slides along it (Filippov). Direction both, bilateral.
  constexpr crossing sliding() const {
    crossing r = *this;
    r.may_slide = true;
    return r;
  }
  /// This guard's sign matters only to `mode`: where it crosses and no discrete variable changes, nothing happens.
  constexpr crossing condition() const {
    crossing r = *this;
    r.only_condition = true;
    return r;
  }
};

/// A time event, known beforehand; `time_events` gives its times.
template <class Id>
struct timed {
  Id id;
  const char* about;
  int count = 1;
};

/// An output: computed from the point, never integrated.
template <class Id>
struct derived {
  Id id;
  const char* unit;
  const char* about;
  int count = 1;

  /// A family of n alike.
  constexpr derived of(int n) const {
    derived r = *this;
    r.count = n;
    return r;
  }
};

namespace detail {

enum class no_parameter : int {};
enum class no_discrete : int {};
enum class no_guard : int {};
enum class no_time_event : int {};
enum class no_output : int {};

/// Members of all families of a list.
template <class T, int N>
constexpr int count_of(const T (&list)[N]) {
  int sum = 0;
  for (int i = 0; i < N; ++i) sum += list[i].count;
  return sum;
}

/// True if the families follow one another without a gap: the list and the enumeration cannot drift apart.
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
#define SALTUS_KIND(kind)                                                                                  \
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
  using kind = decltype(pick_##kind<Model>());                                                             \
  static constexpr int kind##_count = count_##kind<Model>();
  SALTUS_KIND(parameter)
  SALTUS_KIND(discrete)
  SALTUS_KIND(guard)
  SALTUS_KIND(time_event)
  SALTUS_KIND(output)
#undef SALTUS_KIND
  static_assert(
      requires { Model::state_list[0]; },
      "a model needs at least one state: enum state { ... }; and static constexpr saltus::variable<state> "
      "state_list[]");
  using state = typename Model::state;
  static constexpr int state_count = count_of(Model::state_list);
  static_assert(in_order(Model::state_list),
                "the entries of state_list must stand in the order of enum state, each once");
};

/// What the engine must know of a guard.
struct guard_traits {
  direction which;
  sidedness side;
  bool terminal, slides, condition;
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
      for (int i = 0; i < g.count; ++i)
        r.of[at++] = {g.which, g.side, g.ends == ending::terminal, g.may_slide, g.only_condition};
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

/// The index of every state (`variable::algebraic`).
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
/// Algebraic states are all of one index.
template <class Model>
constexpr bool has_one_index() {
  for (const auto& v : Model::state_list)
    if (v.index != 0 && v.index != highest_index<Model>()) return false;
  return true;
}

/// Columns of the Jacobian that share a direction, or colour: no row has an entry in two of them (Curtis, Powell, Reid,
/// J. Inst. Math. Appl. 13 (1974) 117). Without a list of entries every column is of its own.
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

}  // namespace detail

/// What the engine must know of the guards of a model.
template <class Model>
inline constexpr auto guard_table_of = detail::make_guard_table<Model, detail::kinds<Model>::guard_count>();

/// Guard i of a model: constant where i is.
template <class Model>
SALTUS_FN constexpr detail::guard_traits guard_traits_of(int i) {
  return guard_table_of<Model>.of[i];
}

/// How the columns of a model's Jacobian are found together.
template <class Model>
inline constexpr auto colouring_of = detail::make_colouring<Model, detail::kinds<Model>::state_count>();

/// The index of every state of a model.
template <class Model>
inline constexpr auto index_table_of = detail::make_index_table<Model>();

/// The index of state i: constant where i is.
template <class Model>
SALTUS_FN constexpr int index_of_state(int i) {
  return index_table_of<Model>.of[i];
}

/// A vector addressed by enumerators of one kind: what `rhs`, `guards` and `outputs` fill in.
template <class Id, class Real, int N>
struct named {
  vec<Real, N> values;
  SALTUS_FN Real& operator[](Id i) { return values[static_cast<int>(i)]; }
  SALTUS_FN const Real& operator[](Id i) const { return values[static_cast<int>(i)]; }
  /// Member k of a family.
  SALTUS_FN Real& operator()(Id i, int k) { return values[static_cast<int>(i) + k]; }
  SALTUS_FN const Real& operator()(Id i, int k) const { return values[static_cast<int>(i) + k]; }
};

/// The same, of values that lie elsewhere.
template <class Id, class Real, int N>
struct named_by {
  vec<Real, N>& values;
  SALTUS_FN Real& operator[](Id i) const { return values[static_cast<int>(i)]; }
  /// Member k of a family.
  SALTUS_FN Real& operator()(Id i, int k) const { return values[static_cast<int>(i) + k]; }
};

/// A matrix addressed by two states, zero where nothing is written: what `mass` fills in. The row is that of the equation
/// (of the entry of `rhs`), the column that of the rate.
template <class Id, class Real, int N>
struct named_matrix {
  Real values[N][N];
  SALTUS_FN Real& operator()(Id row, Id column) { return values[static_cast<int>(row)][static_cast<int>(column)]; }
  /// Members k and l of two families.
  SALTUS_FN Real& operator()(Id row, int k, Id column, int l) {
    return values[static_cast<int>(row) + k][static_cast<int>(column) + l];
  }
};

namespace detail {

/// What the functions of a model fill in, and may be taken for one of its names.
template <class T>
inline constexpr bool is_argument = false;
template <class T>
inline constexpr bool is_argument<const T> = is_argument<T>;
template <class Id, class Real, int N>
inline constexpr bool is_argument<named<Id, Real, N>> = true;
template <class Id, class Real, int N>
inline constexpr bool is_argument<named_by<Id, Real, N>> = true;
template <class Id, class Real, int N>
inline constexpr bool is_argument<named_matrix<Id, Real, N>> = true;

/// In guards(at, g) the argument g hides a parameter g: at[g] is asked with the argument, and means the parameter. The same
/// for the other names that arguments are given above: dy, m, r, out.
#define SALTUS_HIDDEN(type, kind, name)     \
  template <class Model, class Real, int N> \
  requires requires { Model::name; }        \
  SALTUS_FN constexpr auto hidden_by(type<typename kinds<Model>::kind, Real, N>&) { return Model::name; }
SALTUS_HIDDEN(named_by, state, dy)     // rhs
SALTUS_HIDDEN(const named, state, dy)  // residual
SALTUS_HIDDEN(named, state, r)
SALTUS_HIDDEN(named_matrix, state, m)
SALTUS_HIDDEN(named, guard, g)
SALTUS_HIDDEN(named, output, out)
#undef SALTUS_HIDDEN

#define SALTUS_HIDDEN_NAMES                                                                                  \
  template <class Argument>                                                                                  \
  requires detail::is_argument<Argument> SALTUS_FN const auto& operator[](Argument& argument) const {        \
    static_assert(                                                                                           \
        requires { detail::hidden_by<Model>(argument); },                                                    \
        "an argument of the function has the name of a quantity and hides it: call the argument otherwise"); \
    return (*this)[detail::hidden_by<Model>(argument)];                                                      \
  }                                                                                                          \
  template <class Argument>                                                                                  \
  requires detail::is_argument<Argument> SALTUS_FN const auto& operator()(Argument& argument, int k) const { \
    static_assert(                                                                                           \
        requires { detail::hidden_by<Model>(argument); },                                                    \
        "an argument of the function has the name of a quantity and hides it: call the argument otherwise"); \
    return (*this)(detail::hidden_by<Model>(argument), k);                                                   \
  }

}  // namespace detail

/// What a constant mass matrix may depend on.
template <class Model, class Real>
struct constants {
  using kinds = detail::kinds<Model>;
  const vec<Real, kinds::parameter_count>& p;
  const vec<Real, kinds::discrete_count>& d;

  SALTUS_FN const Real& operator[](typename kinds::parameter i) const { return p[static_cast<int>(i)]; }
  SALTUS_FN const Real& operator[](typename kinds::discrete i) const { return d[static_cast<int>(i)]; }
  SALTUS_FN const Real& operator()(typename kinds::parameter i, int k) const { return p[static_cast<int>(i) + k]; }
  SALTUS_FN const Real& operator()(typename kinds::discrete i, int k) const { return d[static_cast<int>(i) + k]; }
  SALTUS_HIDDEN_NAMES
  SALTUS_FN mask_of<Real> is_on(typename kinds::discrete i, int k = 0) const {
    return d[static_cast<int>(i) + k] > Real(0.5);
  }
};

/// Where a model's functions are evaluated: time, states, parameters, discrete variables and the locked guard signs, each
/// by its enumerator: at[velocity], at[restitution], at.t, at.above(impact); members of families by at(height, i).
/// `Value` is the type of t and y (a dual while rates are taken), `Real` that of what is constant through a step.
template <class Model, class Value, class Real>
struct point {
  using kinds = detail::kinds<Model>;
  Value t;
  const vec<Value, kinds::state_count>& y;
  const vec<Real, kinds::parameter_count>& p;
  const vec<Real, kinds::discrete_count>& d;
  const Real* locked;  ///< guard values at the start of the step (discontinuity locking)

  SALTUS_FN const Value& operator[](typename kinds::state i) const { return y[i]; }
  SALTUS_FN const Real& operator[](typename kinds::parameter i) const { return p[static_cast<int>(i)]; }
  SALTUS_FN const Real& operator[](typename kinds::discrete i) const { return d[static_cast<int>(i)]; }
  SALTUS_FN const Value& operator()(typename kinds::state i, int k) const { return y[i + k]; }
  SALTUS_FN const Real& operator()(typename kinds::parameter i, int k) const { return p[static_cast<int>(i) + k]; }
  SALTUS_FN const Real& operator()(typename kinds::discrete i, int k) const { return d[static_cast<int>(i) + k]; }
  SALTUS_HIDDEN_NAMES
  /// A discrete variable read as a switch.
  SALTUS_FN mask_of<Real> is_on(typename kinds::discrete i, int k = 0) const {
    return d[static_cast<int>(i) + k] > Real(0.5);
  }
  /// L of Compere 5.3, held through the step: was g >= 0 when the step began?
  SALTUS_FN mask_of<Real> above(typename kinds::guard i, int k = 0) const {
    return locked[static_cast<int>(i) + k] >= Real(0.0);
  }
};

#undef SALTUS_HIDDEN_NAMES

/// The starting point, as `initial` sees it: states may be written.
template <class Model, class Real>
struct start {
  using kinds = detail::kinds<Model>;
  Real t;
  vec<Real, kinds::state_count>& y;
  const vec<Real, kinds::parameter_count>& p;
  vec<Real, kinds::discrete_count>& d;

  SALTUS_FN Real& operator[](typename kinds::state i) { return y[i]; }
  SALTUS_FN Real& operator[](typename kinds::discrete i) { return d[static_cast<int>(i)]; }
  SALTUS_FN const Real& operator[](typename kinds::parameter i) const { return p[static_cast<int>(i)]; }
  SALTUS_FN Real& operator()(typename kinds::state i, int k) { return y[i + k]; }
  SALTUS_FN Real& operator()(typename kinds::discrete i, int k) { return d[static_cast<int>(i) + k]; }
  SALTUS_FN const Real& operator()(typename kinds::parameter i, int k) const { return p[static_cast<int>(i) + k]; }
};

/// The timetable of an instance, as `time_events` fills it in: for every time event the next of its times after `t`.
/// Sign is -1 in a run backward in time, where the next time is an earlier one.
template <class Model, class Real, int Sign>
struct schedule {
  using kinds = detail::kinds<Model>;
  Real t;                                   ///< the model's time
  vec<Real, kinds::time_event_count> next;  ///< Sign times the next time
  mask_of<Real> sound;                      ///< no time was a NaN, and every period leads on from t

  /// The time event comes at `time`; called again, at that time too.
  SALTUS_FN void at(typename kinds::time_event i, Real time) {
    sound = sound & (time == time);
    consider(i, time);
  }
  /// The time event comes at first + k period, k = 0, 1, 2, ...; each time is that product to one rounding.
  SALTUS_FN void every(typename kinds::time_event i, Real period, Real first = Real(0.0)) {
    sound = sound & (t + period > t) & (first == first);
    const Real k = floor((t - first) / period);
    for (int j = -1; j <= 2; ++j) {
      const Real number = k + Real(static_cast<double>(j));
      consider(i, select(number >= Real(0.0), fma(number, period, first), t));
    }
    if constexpr (Sign > 0) consider(i, first);
  }

 private:
  SALTUS_FN void consider(typename kinds::time_event i, Real time) {
    Real& n = next[static_cast<int>(i)];
    n = select((Real(Sign) * time > Real(Sign) * t) & (Real(Sign) * time < n), Real(Sign) * time, n);
  }
};

/// One instance at one event, as `transition`, `mode` and `rest` see it. `Real` is a pack of one: conditions are ordinary
/// `if`s.
template <class Model, class Real>
struct event {
  using kinds = detail::kinds<Model>;
  Real t;
  vec<Real, kinds::state_count>& y;
  const vec<Real, kinds::parameter_count>& p;
  vec<Real, kinds::discrete_count>& d;
  vec<Real, kinds::guard_count> g;                                ///< guard values at this moment
  vec<Real, kinds::guard_count + kinds::time_event_count> fired;  ///< 1 for every guard and time event that is due now
  bool stopped = false;

  SALTUS_FN Real& operator[](typename kinds::state i) { return y[i]; }
  SALTUS_FN Real& operator[](typename kinds::discrete i) { return d[static_cast<int>(i)]; }
  SALTUS_FN const Real& operator[](typename kinds::parameter i) const { return p[static_cast<int>(i)]; }
  SALTUS_FN Real& operator()(typename kinds::state i, int k) { return y[i + k]; }
  SALTUS_FN Real& operator()(typename kinds::discrete i, int k) { return d[static_cast<int>(i) + k]; }
  SALTUS_FN const Real& operator()(typename kinds::parameter i, int k) const { return p[static_cast<int>(i) + k]; }
  SALTUS_FN bool is_on(typename kinds::discrete i, int k = 0) const {
    return bool(d[static_cast<int>(i) + k] > Real(0.5));
  }
  /// Is this guard one of those that fire now? All that are due at the located time are, together, once.
  SALTUS_FN bool due(typename kinds::guard i, int k = 0) const {
    return bool(fired[static_cast<int>(i) + k] > Real(0.5));
  }
  /// Is it this time event now?
  SALTUS_FN bool due(typename kinds::time_event i) const {
    return bool(fired[kinds::guard_count + static_cast<int>(i)] > Real(0.5));
  }
  /// The sign of a guard: is g >= 0?
  SALTUS_FN bool above(typename kinds::guard i, int k = 0) const {
    return bool(g[static_cast<int>(i) + k] >= Real(0.0));
  }
  /// Ends this instance here, with status `stopped`.
  SALTUS_FN void stop() { stopped = true; }
};

/// What the engine asks of a model, checked once, with one sentence for each mistake.
template <class Model>
struct contract : detail::kinds<Model> {
  using kinds = detail::kinds<Model>;
  using one = pack<double, 1>;
  using at = point<Model, one, one>;
  using rates = named<typename kinds::state, one, kinds::state_count>;
  using signs = named<typename kinds::guard, one, kinds::guard_count>;
  using outs = named<typename kinds::output, one, kinds::output_count>;
  using masses = named_matrix<typename kinds::state, one, kinds::state_count>;

  static constexpr bool has_initial = requires(start<Model, one> & s) { Model::initial(s); };
  static constexpr bool has_rhs = requires(const at& a, rates& dy) { Model::rhs(a, dy); };
  static constexpr bool has_mass = requires(const at& a, masses& m) { Model::mass(a, m); };
  static constexpr bool has_residual = requires(const at& a, const rates& dy, rates& r) { Model::residual(a, dy, r); };
  static constexpr int highest_index = detail::highest_index<Model>();
  static constexpr bool has_guards = requires(const at& a, signs& g) { Model::guards(a, g); };
  static constexpr bool has_time_events = requires(const at& a, schedule<Model, one, 1>& w) {
    Model::time_events(a, w);
  };
  static constexpr bool has_outputs = requires(const at& a, outs& o) { Model::outputs(a, o); };
  static constexpr bool has_transition = requires(event<Model, one> & e) { Model::transition(e); };
  static constexpr bool has_mode = requires(event<Model, one> & e) { Model::mode(e); };
  static constexpr bool has_rest = requires(event<Model, one> & e) { Model::rest(e); };
  static constexpr bool has_max_step = requires(const at& a) { Model::max_step(a); };
  static constexpr int sliding_count = detail::count_sliding<Model, kinds::guard_count>();
  static constexpr bool has_conditions = detail::has_conditions<Model, kinds::guard_count>();

  /// The mass matrix depends on time or state.
  static constexpr bool mass_varies = [] {
    if constexpr (requires { Model::mass_varies; }) return static_cast<bool>(Model::mass_varies);
    else return false;
  }();
  /// The mass matrix is singular although no state by itself is algebraic: rates are mixed in its rows.
  static constexpr bool mass_is_singular = [] {
    if constexpr (requires { Model::mass_is_singular; }) return static_cast<bool>(Model::mass_is_singular);
    else return false;
  }();
  static constexpr detail::equations equations = has_residual || (has_mass && mass_varies) ? detail::equations::implicit
                                                 : has_mass          ? detail::equations::with_mass
                                                 : highest_index > 0 ? detail::equations::semi_explicit
                                                                     : detail::equations::plain;

  static_assert(has_rhs || has_residual,
                "the model has no right-hand side: write static void rhs(const auto& at, auto& dy)");
  static_assert(!(has_rhs && has_residual),
                "the model has a right-hand side and a residual: write one of rhs and residual, not both");
  static_assert(!(has_mass && has_residual),
                "the model has a mass matrix and a residual: a residual contains the mass matrix already");
  static_assert(has_mass || !(mass_varies || mass_is_singular),
                "the model says how its mass matrix is but has none: write static void mass(const auto& at, auto& m)");
  static_assert(detail::indices_are_right<Model>(), "the index of an algebraic state is 1 or 2");
  static_assert(detail::has_one_index<Model>(), "algebraic states are all of index 1, or all of index 2");
  static_assert(highest_index < 2 || equations == detail::equations::semi_explicit,
                "algebraic states of index 2 need a plain rhs: no mass matrix and no residual");
  static_assert(highest_index == 0 || !mass_is_singular,
                "mass_is_singular is for a mass matrix in whose rows rates are mixed: no state of it is algebraic");
  static_assert(sliding_count == 0 || equations == detail::equations::plain,
                "a model that slides has a plain rhs: no algebraic state, mass matrix or residual");
  static_assert(kinds::guard_count == 0 || has_guards,
                "the model lists guards but does not compute them: write static void guards(const auto& at, auto& g)");
  static_assert(kinds::guard_count > 0 || !has_guards,
                "the model computes guards but does not list them: add enum guard { ... }; and guard_list[]");
  static_assert(
      kinds::time_event_count == 0 || has_time_events,
      "the model lists time events but gives no times: write static void time_events(const auto& at, auto& when)");
  static_assert(kinds::time_event_count > 0 || !has_time_events,
                "the model gives times of time events but does not list them: add enum time_event { ... }; and "
                "time_event_list[]");
  static_assert(
      !has_transition || kinds::guard_count > 0 || kinds::time_event_count > 0,
      "the model has a transition but no guard or time event that could lead to it: add enum guard { ... }; and "
      "guard_list[]");
  static_assert(detail::conditions_are_right<Model, kinds::guard_count>(),
                "a guard that is only a condition must have direction both: its sign counts on either side");
  static_assert(detail::sliding_is_right<Model, kinds::guard_count>(),
                "a guard on which the solution may slide must be bilateral with direction both");
  static_assert(
      !has_conditions || has_mode,
      "a guard that is only a condition needs a mode that it could change: write static void mode(auto& now)");
  static_assert(
      kinds::output_count == 0 || has_outputs,
      "the model lists outputs but does not compute them: write static void outputs(const auto& at, auto& out)");
  static_assert(kinds::output_count > 0 || !has_outputs,
                "the model computes outputs but does not list them: add enum output { ... }; and output_list[]");
};

}  // namespace saltus
