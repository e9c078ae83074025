// The arguments of a model's functions: views in which values are read and written by the names that the model declares.
#pragma once

#include "model/delays.hpp"
#include "model/random_draws.hpp"
#include "model/scheduled.hpp"
#include "model/traits.hpp"
#include "number/dual.hpp"
#include "number/math.hpp"

namespace saltus {

/// A vector indexed by enumerators of one kind; `rhs`, `guards` and `outputs` fill it in.
template <class Id, class Real, int N>
struct named {
  vec<Real, N> values;
  SALTUS_FN Real& operator[](Id i) { return values[static_cast<int>(i)]; }
  SALTUS_FN const Real& operator[](Id i) const { return values[static_cast<int>(i)]; }
  /// Member k of a family.
  SALTUS_FN Real& operator()(Id i, int k) { return values[static_cast<int>(i) + k]; }
  SALTUS_FN const Real& operator()(Id i, int k) const { return values[static_cast<int>(i) + k]; }
};

/// The same for values that are stored elsewhere.
template <class Id, class Real, int N>
struct named_by {
  vec<Real, N>& values;
  SALTUS_FN Real& operator[](Id i) const { return values[static_cast<int>(i)]; }
  /// Member k of a family.
  SALTUS_FN Real& operator()(Id i, int k) const { return values[static_cast<int>(i) + k]; }
};

/// A matrix indexed by two states, zero where nothing is written; `mass` fills it in. The row is that of the equation (the entry of `rhs`),
/// the column that of the time derivative.
template <class Id, class Real, int N>
struct named_matrix {
  Real values[N][N];
  SALTUS_FN Real& operator()(Id row, Id column) { return values[static_cast<int>(row)][static_cast<int>(column)]; }
  /// Members k and l of two families.
  SALTUS_FN Real& operator()(Id row, int k, Id column, int l) {
    return values[static_cast<int>(row) + k][static_cast<int>(column) + l];
  }
};

/// A symmetric matrix indexed by two velocities, zero where nothing is written; `mass` of a mechanical system fills it in. An entry and its
/// mirror image are the same. `First` is the number of the first velocity.
template <class Id, class Real, int N, int First, bool Diagonal = false>
struct named_symmetric_matrix {
  Real values[N][N];  ///< only the lower triangle counts
  SALTUS_FN Real& operator()(Id row, Id column) { return at(static_cast<int>(row), static_cast<int>(column)); }
  /// Members k and l of two families.
  SALTUS_FN Real& operator()(Id row, int k, Id column, int l) {
    return at(static_cast<int>(row) + k, static_cast<int>(column) + l);
  }

 private:
  SALTUS_FN Real& at(int row, int column) {
    return row < column ? values[column - First][row - First] : values[row - First][column - First];
  }
};

/// The same for a model that declares its matrix diagonal. Entries written off the diagonal go to `beside`.
template <class Id, class Real, int N, int First>
struct named_symmetric_matrix<Id, Real, N, First, true> {
  vec<Real, N> values;
  Real beside;
  SALTUS_FN Real& operator()(Id row, Id column) { return at(static_cast<int>(row), static_cast<int>(column)); }
  /// Members k and l of two families.
  SALTUS_FN Real& operator()(Id row, int k, Id column, int l) {
    return at(static_cast<int>(row) + k, static_cast<int>(column) + l);
  }

 private:
  SALTUS_FN Real& at(int row, int column) { return row == column ? values[row - First] : beside; }
};

/// The same for a model whose entries are known in advance and numbered. Entries written elsewhere go to `beside`. `Numbers` has
/// of(row, column), which is negative where there is no entry.
template <class Id, class Real, class Numbers, int First>
struct named_sparse_symmetric_matrix {
  Real* numbers;
  Real beside;
  SALTUS_FN Real& operator()(Id row, Id column) { return at(static_cast<int>(row), static_cast<int>(column)); }
  /// Members k and l of two families.
  SALTUS_FN Real& operator()(Id row, int k, Id column, int l) {
    return at(static_cast<int>(row) + k, static_cast<int>(column) + l);
  }

 private:
  SALTUS_FN Real& at(int row, int column) {
    const int i = Numbers::of(row - First, column - First);
    return i < 0 ? beside : numbers[i];
  }
};

/// Forces per unit of a constraint's multiplier, zero where nothing is written; `friction` of a mechanical system fills it in.
template <class State, class Constraint, class Real, int N, int Count, int First>
struct named_friction {
  Real on_velocity[Count][N];  ///< a row for each constraint
  Real along_gradient[Count][Count];
  /// The force on a velocity.
  SALTUS_FN Real& operator()(State velocity, Constraint of) {
    return on_velocity[static_cast<int>(of)][static_cast<int>(velocity) - First];
  }
  /// The force along the gradient of another constraint, on or off: the one that holds while the contact sticks.
  SALTUS_FN Real& operator()(Constraint along, Constraint of) {
    return along_gradient[static_cast<int>(of)][static_cast<int>(along)];
  }
  /// Members k and l of two families.
  SALTUS_FN Real& operator()(State velocity, int k, Constraint of, int l) {
    return on_velocity[static_cast<int>(of) + l][static_cast<int>(velocity) + k - First];
  }
  SALTUS_FN Real& operator()(Constraint along, int k, Constraint of, int l) {
    return along_gradient[static_cast<int>(of) + l][static_cast<int>(along) + k];
  }
};

namespace detail {

/// True for types that functions of a model fill in, and whose arguments may have the name of a parameter.
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
template <class Id, class Real, int N, int First, bool Diagonal>
inline constexpr bool is_argument<named_symmetric_matrix<Id, Real, N, First, Diagonal>> = true;
template <class Id, class Real, class Numbers, int First>
inline constexpr bool is_argument<named_sparse_symmetric_matrix<Id, Real, Numbers, First>> = true;

/// In guards(at, g) the argument g hides a parameter g: at[g] is then called with the argument and means the parameter. The same holds for
/// the other names of arguments above: dy, m, r, out; in mechanical models f, dq, c, i, m.
#define SALTUS_HIDDEN(type, kind, name, which) \
  template <class Model, class Real, int N>    \
  requires(which) && requires { Model::name; } \
  SALTUS_FN constexpr auto hidden_by(type<typename kinds<Model>::kind, Real, N>&) { return Model::name; }
SALTUS_HIDDEN(named_by, state, dy, !is_mechanical<Model>)  // rhs
SALTUS_HIDDEN(const named, state, dy, true)                // residual
SALTUS_HIDDEN(named, state, r, true)
SALTUS_HIDDEN(named, equation, r, true)
SALTUS_HIDDEN(named_matrix, state, m, true)
SALTUS_HIDDEN(named, guard, g, true)
SALTUS_HIDDEN(named, output, out, true)
SALTUS_HIDDEN(named_by, state, f, is_mechanical<Model>)   // force
SALTUS_HIDDEN(named_by, state, dq, is_mechanical<Model>)  // kinematics
SALTUS_HIDDEN(named, constraint, c, true)
SALTUS_HIDDEN(named, invariant, i, true)
#undef SALTUS_HIDDEN
template <class Model, class Real, int N, int First, bool Diagonal>
requires requires { Model::m; }
SALTUS_FN constexpr auto hidden_by(named_symmetric_matrix<typename kinds<Model>::state, Real, N, First, Diagonal>&) {
  return Model::m;
}
template <class Model, class Real, class Numbers, int First>
requires requires { Model::m; }
SALTUS_FN constexpr auto hidden_by(named_sparse_symmetric_matrix<typename kinds<Model>::state, Real, Numbers, First>&) {
  return Model::m;
}

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

namespace detail {
/// The accelerations and multipliers at a point, once they are computed; empty for models without them.
template <class Model, class Value, bool = is_mechanical<Model>>
struct kept_motion {};
template <class Model, class Value>
struct kept_motion<Model, Value, true> {
  vec<Value, kinds<Model>::state_count - static_cast<int>(Model::first_velocity)> acceleration;
  vec<Value, kinds<Model>::constraint_count> multiplier;
  bool known = false;
  SALTUS_FN kept_motion() {}  // a defaulted constructor would zero the numbers at every point
};

/// What a point has beside its values: accelerations and multipliers, computed when first asked for; or the past, of models with delays,
/// which are not mechanical.
template <class Model, class Value, class Real>
using kept_at_point =
    typename choose<(kinds<Model>::delay_count > 0), known_past<Model, Real>, kept_motion<Model, Value>>::type;
}  // namespace detail

namespace detail {
/// Table i at time t, from the numbers of the current pieces of a model's tables.
template <class Model, class Value, class Real>
SALTUS_FN Value value_of_table(int i, const Value& t, const Real* pieces) {
  const auto is = tabulated_traits_of<Model>(i);
  const Real* const c = pieces + is.first;
  if (is.between == interpolation::step) return Value(c[0]);
  const Value u = t - c[0];
  if (is.between == interpolation::linear) return c[1] + u * c[2];
  return c[1] + u * (c[2] + u * (c[3] + u * c[4]));
}
}  // namespace detail

namespace detail {
/// The impulses that constraints have received at an event; empty for models without constraints.
template <class Model, class Real, bool = is_mechanical<Model>>
struct kept_impulses {};
template <class Model, class Real>
struct kept_impulses<Model, Real, true> {
  vec<Real, kinds<Model>::constraint_count> of{};
  vec<Real, kinds<Model>::constraint_count> slip{};  ///< velocity of slip of contacts with friction, after the last
                                                     ///< impact
};
}  // namespace detail

/// Restitution of an impact with friction. Newton's law acts on velocities, u+ = -e u-. Poisson's law acts on impulses: the expansion gives
/// e times the impulse of the compression.
enum class restitution_law { newton, poisson };

/// Contacts that collide at once, some of them with Coulomb's friction: the argument of event::impacts.
template <class Model, class Real>
struct contact_list {
  using constraint = typename detail::kinds<Model>::constraint;
  static constexpr int most = detail::kinds<Model>::constraint_count < 8 ? detail::kinds<Model>::constraint_count : 8;
  struct contact {
    int gap, slip;  ///< constraints; slip is -1 without friction
    Real friction;
  };
  contact of[most > 0 ? most : 1];
  int count = 0;  ///< above `most` there are too many, and no impulses are found

  /// A contact without friction; member k of a family.
  SALTUS_FN void add(constraint gap, int k = 0) { append(static_cast<int>(gap) + k, -1, Real(0.0)); }
  /// A contact with a coefficient of friction, along the gradient of the constraint `stick` that holds while the contact sticks; members k.
  SALTUS_FN void add(constraint gap, constraint stick, Real friction, int k = 0) {
    append(static_cast<int>(gap) + k, static_cast<int>(stick) + k, friction);
  }

 private:
  SALTUS_FN void append(int gap, int slip, Real friction) {
    if (count < most) of[count] = {gap, slip, friction};
    ++count;
  }
};

/// The arguments that a constant mass matrix may depend on.
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

/// The point at which a model's functions are evaluated: time, states, parameters, discrete variables and the locked guard signs, each by
/// its enumerator: at[velocity], at[restitution], at.t, at.above(impact); members of families by at(height, i). `Value` is the type of t
/// and y (a dual while derivatives are taken), `Real` that of quantities that are constant through a step. `OfSeries`: y has the unknowns
/// alone, as numbers that can be differentiated by time; else y has all values of an instance (model/offsets.hpp).
template <class Model, class Value, class Real, bool OfSeries = false>
struct point {
  using kinds = detail::kinds<Model>;
  static constexpr bool has_derivatives = kinds::values::has_derivatives && !OfSeries;
  static constexpr int values = OfSeries ? kinds::state_count : kinds::value_count;
  Value t;
  const vec<Value, values>& y;
  const vec<Real, kinds::parameter_count>& p;
  const vec<Real, kinds::discrete_count>& modes;  ///< the discrete variables
  const Real* guard_values;                       ///< guard values at the start of the step (discontinuity locking)
  const Real* pieces;                             ///< current pieces of the tables; null without tables

  SALTUS_FN decltype(auto) operator[](typename kinds::state i) const { return value(index_of(i)); }
  SALTUS_FN const Real& operator[](typename kinds::parameter i) const { return p[static_cast<int>(i)]; }
  SALTUS_FN const Real& operator[](typename kinds::discrete i) const { return modes[static_cast<int>(i)]; }
  SALTUS_FN decltype(auto) operator()(typename kinds::state i, int k) const { return value(index_of(i + k)); }
  SALTUS_FN const Real& operator()(typename kinds::parameter i, int k) const { return p[static_cast<int>(i) + k]; }
  SALTUS_FN const Real& operator()(typename kinds::discrete i, int k) const { return modes[static_cast<int>(i) + k]; }
  /// The value of a table at the time of this point.
  SALTUS_FN Value operator[](typename kinds::table i) const {
    return detail::value_of_table<Model>(static_cast<int>(i), t, pieces);
  }
  SALTUS_FN Value operator()(typename kinds::table i, int k) const {
    return detail::value_of_table<Model>(static_cast<int>(i) + k, t, pieces);
  }
  SALTUS_HIDDEN_NAMES
  /// The k-th time derivative of an unknown, k >= 0; d(x, 0) is at[x]. For member i of a family it is d(x, i, k): the order stands last.
  /// Available if numbers can be differentiated by time (they have a function derivative(value, k)), or if an instance holds derivatives:
  /// up to x^(d), d the offset of x. Beyond that it is a NaN.
  template <class Order>
  requires(has_derivatives || requires(const Value& x, Order k) { derivative(x, k); }) SALTUS_FN Value
      d(typename kinds::state i, Order k)
  const { return derivative_of(static_cast<int>(i), static_cast<int>(k)); }
  template <class Order>
  requires(has_derivatives || requires(const Value& x, Order k) { derivative(x, k); }) SALTUS_FN Value
      d(typename kinds::state i, int member, Order k)
  const { return derivative_of(static_cast<int>(i) + member, static_cast<int>(k)); }
  /// The value of a state a delay ago; of member k of a family.
  SALTUS_FN Value delayed(typename kinds::state i, typename kinds::delay lag) const { return value_before(i, lag); }
  SALTUS_FN Value delayed(typename kinds::state i, int k, typename kinds::delay lag) const {
    return value_before(static_cast<int>(i) + k, lag);
  }
  SALTUS_UNKNOWN_DELAY
  /// A discrete variable read as a switch.
  SALTUS_FN mask_of<Real> is_on(typename kinds::discrete i, int k = 0) const {
    return modes[static_cast<int>(i) + k] > Real(0.5);
  }
  /// Number of items of a scheduled time event that are under way.
  SALTUS_FN Real waiting(typename kinds::time_event i) const {
    static_assert(kinds::schedules, "no time event of the model is scheduled");
    const auto queue = queue_of<Model>(static_cast<int>(i));
    return queue.capacity == 0 ? Real(0.0) : modes[queue.first];
  }
  /// L of Compere 5.3, held through the step: true if g >= 0 when the step began.
  SALTUS_FN mask_of<Real> above(typename kinds::guard i, int k = 0) const {
    return guard_values[static_cast<int>(i) + k] >= Real(0.0);
  }
  /// The force of a constraint along its gradient, for guards and outputs of a mechanical system; 0 while the constraint is off.
  SALTUS_FN const Value& multiplier(typename kinds::constraint i, int k = 0) const {
    return motion_of(*this).multiplier[static_cast<int>(i) + k];
  }
  /// The time derivative of a velocity, for guards and outputs of a mechanical system.
  SALTUS_FN const Value& acceleration(typename kinds::state i, int k = 0) const {
    return motion_of(*this).acceleration[static_cast<int>(i) + k - static_cast<int>(Model::first_velocity)];
  }

  mutable detail::kept_at_point<Model, Value, Real> kept{};

 private:
  /// Some number types must know that they are an argument, and which (number/jet.hpp); an array of values cannot tell them.
  SALTUS_FN decltype(auto) value(int i) const {
    if constexpr (requires { Value::argument(t, i); }) return Value::argument(t, i);
    else return (y[i]);
  }
  /// Where no instance is under way, as in descriptions, the present value stands for it.
  SALTUS_FN Value value_before(int i, typename kinds::delay lag) const {
    if constexpr (requires { kept.past->value(i, 0, t, p); })
      if (kept.past != nullptr) return kept.past->value(i, static_cast<int>(lag), t, p);
    return Value(value(index_of(i)));
  }
  SALTUS_FN static constexpr int index_of(int i) {
    if constexpr (has_derivatives) return kinds::values::first(i);
    else return i;
  }
  SALTUS_FN Value derivative_of(int i, int k) const {
    if constexpr (has_derivatives)
      return k <= kinds::values::highest(i) ? Value(value(index_of(i) + k)) : Value(detail::no_number);
    else return derivative(value(i), k);
  }
};

#undef SALTUS_HIDDEN_NAMES

/// The starting point, as `initial` sees it: states may be written.
template <class Model, class Real>
struct start {
  using kinds = detail::kinds<Model>;
  using values = typename kinds::values;
  Real t;
  vec<Real, kinds::value_count>& y;
  const vec<Real, kinds::parameter_count>& p;
  vec<Real, kinds::discrete_count>& modes;
  const Real* pieces;  ///< current pieces of the tables

  SALTUS_FN Real& operator[](typename kinds::state i) { return y[values::first(i)]; }
  SALTUS_FN Real& operator[](typename kinds::discrete i) { return modes[static_cast<int>(i)]; }
  SALTUS_FN Real operator[](typename kinds::table i) const {
    return detail::value_of_table<Model>(static_cast<int>(i), t, pieces);
  }
  SALTUS_FN Real operator()(typename kinds::table i, int k) const {
    return detail::value_of_table<Model>(static_cast<int>(i) + k, t, pieces);
  }
  SALTUS_FN const Real& operator[](typename kinds::state i) const { return y[values::first(i)]; }
  SALTUS_FN const Real& operator[](typename kinds::parameter i) const { return p[static_cast<int>(i)]; }
  SALTUS_FN Real& operator()(typename kinds::state i, int k) { return y[values::first(i + k)]; }
  SALTUS_FN Real& operator()(typename kinds::discrete i, int k) { return modes[static_cast<int>(i) + k]; }
  SALTUS_FN const Real& operator()(typename kinds::state i, int k) const { return y[values::first(i + k)]; }
  SALTUS_FN const Real& operator()(typename kinds::parameter i, int k) const { return p[static_cast<int>(i) + k]; }
  /// The k-th derivative of an unknown in a model of any order: a guess. Values that are not written are free.
  SALTUS_FN Real& d(typename kinds::state i, int k) requires(values::has_derivatives) {
    return y[values::first(i) + k];
  }
  SALTUS_FN Real& d(typename kinds::state i, int member, int k) requires(values::has_derivatives) {
    return y[values::first(i + member) + k];
  }
  /// Schedules a time event at t + delay, delay >= 0, with the numbers that it carries. A delay of 1e30 or more schedules
  /// nothing.
  template <class Delay, class... Numbers>
  SALTUS_FN void after(typename kinds::time_event i, const Delay& delay, const Numbers&... numbers) {
    detail::schedule_item<Model>(modes, static_cast<int>(i), t, delay, 0, numbers...);
  }
  /// The next number of a random stream: uniform in (0, 1), or standard normal.
  SALTUS_FN Real uniform(typename kinds::stream i, int k = 0) {
    return Real(detail::draw_uniform<Model>(modes, static_cast<int>(i) + k));
  }
  SALTUS_FN Real normal(typename kinds::stream i, int k = 0) {
    return Real(normal_quantile(detail::draw_uniform<Model>(modes, static_cast<int>(i) + k)));
  }
};

/// The timetable of an instance, which `time_events` fills in: the next time after `t` of every time event. Sign is -1 in a run backward in
/// time, where the next time is an earlier one.
template <class Model, class Real, int Sign>
struct schedule {
  using kinds = detail::kinds<Model>;
  Real t;                                          ///< the model's time
  vec<Real, kinds::time_event_count> next;         ///< Sign times the next time
  mask_of<Real> sound;                             ///< no time is a NaN, and every period advances t
  vec<Real, record_table_of<Model>.count> delays;  ///< of the rows of each recorded time event

  /// The time event comes at `time`; called again, at that time too.
  SALTUS_FN void at(typename kinds::time_event i, Real time) {
    sound = sound & (time == time);
    has_no_rows(i);
    consider(i, time);
  }
  /// The time event comes at the times of its rows, each later by `lag`, which is not negative.
  SALTUS_FN void delay(typename kinds::time_event i, Real lag) {
    if (const int k = record_of_event<Model>(static_cast<int>(i)); k >= 0) {
      sound = sound & (lag >= Real(0.0));
      delays[k] = lag;
    } else {
      sound = mask_of<Real>::all(false);
    }
  }
  /// The time event comes at first + k period, k = 0, 1, 2, ...; each time is that product to one rounding.
  SALTUS_FN void every(typename kinds::time_event i, Real period, Real first = Real(0.0)) {
    sound = sound & (t + period > t) & (first == first);
    has_no_rows(i);
    const Real k = floor((t - first) / period);
    for (int j = -1; j <= 2; ++j) {
      const Real number = k + Real(static_cast<double>(j));
      consider(i, select(number >= Real(0.0), fma(number, period, first), t), first);
    }
    if constexpr (Sign > 0) consider(i, first, first);
  }

 private:
  /// The times of a recorded time event are those of its rows.
  SALTUS_FN void has_no_rows(typename kinds::time_event i) {
    if constexpr (record_table_of<Model>.count > 0)
      if (record_of_event<Model>(static_cast<int>(i)) >= 0) sound = mask_of<Real>::all(false);
  }
  /// A time is a later one if it is so by more than the rounding of `known`, from which it was found.
  SALTUS_FN void consider(typename kinds::time_event i, Real time, Real known = Real(0.0)) {
    Real& n = next[static_cast<int>(i)];
    const Real near = Real(4.0 * limits<scalar_of<Real>>::epsilon) * abs(known);
    n = select((Real(Sign) * time > Real(Sign) * t + near) & (Real(Sign) * time < n), Real(Sign) * time, n);
  }
};

/// A number that records whether it has been assigned to. Otherwise it behaves like the pack that it derives from.
template <class Real>
struct noted : Real {
  bool is_written = false;

  noted() = default;
  noted(const noted&) = default;
  SALTUS_FN noted(const Real& x) : Real(x) {}
  SALTUS_FN noted(double x) : Real(x) {}
  SALTUS_FN noted& operator=(const noted& x) { return *this = static_cast<const Real&>(x); }
  SALTUS_FN noted& operator=(double x) { return *this = Real(x); }
  SALTUS_FN noted& operator=(const Real& x) {
    Real::operator=(x);
    is_written = true;
    return *this;
  }
  SALTUS_FN noted& operator+=(const Real& b) { return *this = *this + b; }
  SALTUS_FN noted& operator-=(const Real& b) { return *this = *this - b; }
  SALTUS_FN noted& operator*=(const Real& b) { return *this = *this * b; }
  SALTUS_FN noted& operator/=(const Real& b) { return *this = *this / b; }
  /// Sets the value without marking it as written.
  SALTUS_FN void take(const Real& x) { Real::operator=(x); }
};

namespace detail {
/// True if an event may move states that its transition has not written, to satisfy the model's constraints. States that the transition has
/// written stay.
template <class Model>
inline constexpr bool moves_unwritten_states = [] {
  if constexpr (is_mechanical<Model>) return kinds<Model>::constraint_count + count_quaternions<Model>() > 0;
  else if constexpr (requires { Model::mass_is_singular; }) return static_cast<bool>(Model::mass_is_singular);
  else return kinds<Model>::values::has_derivatives || highest_index<Model>() == 2;
}();

/// The states of an instance at an event, as numbers that record whether the model writes to them.
template <class Model, class Real, bool = moves_unwritten_states<Model>>
struct states_of_event {
  static constexpr int count = kinds<Model>::value_count;
  vec<noted<Real>, count> noticed;

  SALTUS_FN void show(const vec<Real, count>& y) {
    for (int i = 0; i < count; ++i) noticed[i].take(y[i]);
  }
  SALTUS_FN void bring(vec<Real, count>& y) const {
    for (int i = 0; i < count; ++i) y[i] = noticed[i];
  }
  SALTUS_FN noted<Real>& at(vec<Real, count>&, int i) { return noticed[i]; }
  SALTUS_FN bool is_written(int i) const { return noticed[i].is_written; }
};
template <class Model, class Real>
struct states_of_event<Model, Real, false> {
  static constexpr int count = kinds<Model>::value_count;
  SALTUS_FN void show(const vec<Real, count>&) {}
  SALTUS_FN void bring(vec<Real, count>&) const {}
  SALTUS_FN Real& at(vec<Real, count>& y, int i) { return y[i]; }
};
}  // namespace detail

/// A row of data of a recorded time event, as `transition` sees it: row[column], and the time in the data, row.t.
template <class Model, class Real>
struct record_row {
  using kinds = detail::kinds<Model>;
  Real t;
  const double* numbers;
  int record;

  /// The value of a column; NaN for a column of another time event.
  SALTUS_FN Real operator[](typename kinds::column i) const {
    if (record_of_column<Model>(static_cast<int>(i)) != record) return Real(detail::no_number);
    return Real(numbers[place_of_column<Model>(static_cast<int>(i))]);
  }
  /// Items of scheduled time events have numbers by rank (event::each_due); rows have none: NaN.
  SALTUS_FN Real operator[](int) const { return Real(detail::no_number); }
};

namespace detail {
/// The rows that are due at an event, for each recorded time event; empty for models without.
template <class Model, int = record_table_of<Model>.count>
struct due_rows {};
template <class Model, int count>
requires(count > 0) struct due_rows<Model, count> {
  const double* first[count]{};
  int64 rows[count]{};
};
}  // namespace detail

/// One instance at one event, as `transition`, `mode` and `rest` see it. `Real` is a pack of one: conditions are ordinary `if`s. The engine
/// calls `begin` before these functions and `end` after them.
template <class Model, class Real>
struct event {
  using kinds = detail::kinds<Model>;
  using values = typename kinds::values;
  Real t;
  vec<Real, kinds::value_count>& y;
  const vec<Real, kinds::parameter_count>& p;
  vec<Real, kinds::discrete_count>& modes;
  const Real* pieces;                                             ///< pieces of the tables from here on
  vec<Real, kinds::guard_count> g;                                ///< guard values at this event
  vec<Real, kinds::guard_count + kinds::time_event_count> fired;  ///< 1 for every guard and time event that is due now
  bool stopped = false;
  bool no_impulses = false;   ///< impulses were asked for but not found
  bool is_undecided = false;  ///< a contact of an impact neither pushes nor opens, but would with other parameters
  detail::kept_impulses<Model, Real> impulses{};
  detail::states_of_event<Model, Real> states{};
  detail::due_rows<Model> recorded{};
  bool may_schedule = false;                                     ///< this is a transition, or a rest
  detail::items_at_hand<Model> at_hand{};                        ///< items that are due and have not been given
  [[no_unique_address]] detail::known_past<Model, Real> past{};  ///< of models with delays

  SALTUS_FN void begin() { states.show(y); }
  SALTUS_FN void end() const { states.bring(y); }

  SALTUS_FN auto& operator[](typename kinds::state i) { return states.at(y, values::first(i)); }
  SALTUS_FN Real& operator[](typename kinds::discrete i) { return modes[static_cast<int>(i)]; }
  // Read access for a model's own helper functions, which take const auto& because rhs calls them, too.
  SALTUS_FN const Real& operator[](typename kinds::state i) const { return y[values::first(i)]; }
  SALTUS_FN const Real& operator[](typename kinds::discrete i) const { return modes[static_cast<int>(i)]; }
  SALTUS_FN const Real& operator[](typename kinds::parameter i) const { return p[static_cast<int>(i)]; }
  SALTUS_FN auto& operator()(typename kinds::state i, int k) { return states.at(y, values::first(i + k)); }
  SALTUS_FN Real& operator()(typename kinds::discrete i, int k) { return modes[static_cast<int>(i) + k]; }
  SALTUS_FN const Real& operator()(typename kinds::state i, int k) const { return y[values::first(i + k)]; }
  SALTUS_FN const Real& operator()(typename kinds::discrete i, int k) const { return modes[static_cast<int>(i) + k]; }
  SALTUS_FN const Real& operator()(typename kinds::parameter i, int k) const { return p[static_cast<int>(i) + k]; }
  /// The value of a table now; at a jump, the value after it.
  SALTUS_FN Real operator[](typename kinds::table i) const {
    return detail::value_of_table<Model>(static_cast<int>(i), t, pieces);
  }
  SALTUS_FN Real operator()(typename kinds::table i, int k) const {
    return detail::value_of_table<Model>(static_cast<int>(i) + k, t, pieces);
  }
  SALTUS_FN bool is_on(typename kinds::discrete i, int k = 0) const {
    return bool(modes[static_cast<int>(i) + k] > Real(0.5));
  }
  /// The k-th derivative of an unknown in a model of any order, for k below its offset; the equations give the higher ones.
  SALTUS_FN auto& d(typename kinds::state i, int k) requires(values::has_derivatives) {
    return states.at(y, values::first(i) + k);
  }
  SALTUS_FN auto& d(typename kinds::state i, int member, int k) requires(values::has_derivatives) {
    return states.at(y, values::first(i + member) + k);
  }
  SALTUS_FN const Real& d(typename kinds::state i, int k) const requires(values::has_derivatives) {
    return y[values::first(i) + k];
  }
  SALTUS_FN const Real& d(typename kinds::state i, int member, int k) const requires(values::has_derivatives) {
    return y[values::first(i + member) + k];
  }
  /// True if this guard fires now. All guards that are due at the located time fire together, once.
  SALTUS_FN bool due(typename kinds::guard i, int k = 0) const {
    return bool(fired[static_cast<int>(i) + k] > Real(0.5));
  }
  /// True if this time event fires now.
  SALTUS_FN bool due(typename kinds::time_event i) const {
    return bool(fired[kinds::guard_count + static_cast<int>(i)] > Real(0.5));
  }
  /// The sign of a guard: true if g >= 0.
  SALTUS_FN bool above(typename kinds::guard i, int k = 0) const {
    return bool(g[static_cast<int>(i) + k] >= Real(0.0));
  }
  /// Ends this instance here, with status `stopped`.
  SALTUS_FN void stop() { stopped = true; }

  // Scheduled time events.

  /// Schedules a time event at t + delay, delay >= 0, with the numbers that it carries. With delay 0 it is due in the next transition at this
  /// time; a delay of 1e30 or more schedules nothing.
  template <class Delay, class... Numbers>
  SALTUS_FN void after(typename kinds::time_event i, const Delay& delay, const Numbers&... numbers) {
    const int e = static_cast<int>(i);
    detail::schedule_item<Model>(modes, e, t, delay, at_hand.of(e), numbers...);
    if (!may_schedule) queue(e).refuse();
  }
  /// body(item) for every item of a scheduled time event that is due now, in the order of their times, and of scheduling: item[k] is number
  /// k that it carries, item.t its time. Each is given once. Items that the transition does not ask for are dropped after it. For a recorded
  /// time event body(row) for each row of data that is due now, in the order of the data: row[column], and row.t its time in the data.
  template <class Body>
  SALTUS_FN void each_due(typename kinds::time_event i, Body&& body) {
    static_assert(kinds::schedules || record_table_of<Model>.count > 0,
                  "no time event of the model is scheduled or recorded");
    if constexpr (record_table_of<Model>.count > 0)
      if (const int k = record_of_event<Model>(static_cast<int>(i)); k >= 0) return each_row(k, body);
    if constexpr (kinds::schedules) {
      int& left = at_hand.count[static_cast<int>(i)];
      while (left > 0) {
        const auto item = queue(static_cast<int>(i)).at(0);
        queue(static_cast<int>(i)).remove(0);
        --left;
        body(item);
      }
    }
  }
  /// Takes back the items for which which(item) is true, or all. Items that are due and have not been given count as well. Returns their
  /// number.
  template <class Which>
  SALTUS_FN int cancel(typename kinds::time_event i, Which&& which) {
    static_assert(kinds::schedules, "no time event of the model is scheduled");
    const auto from = queue(static_cast<int>(i));
    int& left = at_hand.count[static_cast<int>(i)];
    int cancelled = 0;
    for (int rank = 0; rank < from.count();) {
      if (!bool(which(from.at(rank)))) {
        ++rank;
        continue;
      }
      from.remove(rank);
      if (rank < left) --left;
      ++cancelled;
    }
    return cancelled;
  }
  SALTUS_FN int cancel(typename kinds::time_event i) {
    return cancel(i, [](const auto&) SALTUS_INLINE_LAMBDA { return true; });
  }
  /// Number of items of a time event that are under way, with those that are due and have not been given.
  SALTUS_FN int waiting(typename kinds::time_event i) const {
    static_assert(kinds::schedules, "no time event of the model is scheduled");
    return detail::event_queue<Model, Real>(modes, static_cast<int>(i)).count();
  }
  /// Before a transition: items with times up to `latest` of time events that fire are due.
  SALTUS_FN void take_items(Real latest) requires(kinds::schedules) {
    for (int i = 0; i < kinds::time_event_count; ++i)
      at_hand.count[i] = bool(fired[kinds::guard_count + i] > Real(0.5)) ? queue(i).due(latest) : 0;
  }
  /// After a transition: drops due items that it has not asked for.
  SALTUS_FN void drop_items() requires(kinds::schedules) {
    for (int i = 0; i < kinds::time_event_count; ++i)
      for (; at_hand.count[i] > 0; --at_hand.count[i]) queue(i).remove(0);
  }

  /// The next number of a random stream: uniform in (0, 1), or standard normal. `mode` must not draw.
  SALTUS_FN Real uniform(typename kinds::stream i, int k = 0) {
    return Real(detail::draw_uniform<Model>(modes, static_cast<int>(i) + k));
  }
  SALTUS_FN Real normal(typename kinds::stream i, int k = 0) {
    return Real(normal_quantile(detail::draw_uniform<Model>(modes, static_cast<int>(i) + k)));
  }

  // For mechanical systems (model/impact.hpp). The gap of a contact is a constraint Phi >= 0, on while the contact is closed.

  /// An impact at a closing gap, constraint i: its velocity becomes -restitution times its value, and the velocities of all constraints
  /// that are on stay. Calls for one contact after another make a sequence of impacts. At an opening gap nothing happens.
  SALTUS_FN void impact(typename kinds::constraint i, Real restitution, int k = 0) {
    with_states([&]() SALTUS_INLINE_LAMBDA { collide(*this, static_cast<int>(i) + k, restitution); });
  }
  /// One impact of all contacts in the list at once. Impulses are not negative. No contact opens more slowly than by `restitution`; a
  /// contact with an impulse opens exactly so. Contacts that are on may open, too; `impulse` shows which contacts have an impulse.
  template <int count>
  SALTUS_FN void impacts(const typename kinds::constraint (&list)[count], Real restitution) {
    impacts(list, count, restitution);
  }
  SALTUS_FN void impacts(const typename kinds::constraint* list, int count, Real restitution) {
    with_states([&]() SALTUS_INLINE_LAMBDA { collide_at_once(*this, list, count, restitution); });
  }
  /// The same with Coulomb's friction: an impulse along the contact either ends the slip, or is `friction` times the impulse across it and
  /// opposes the remaining slip (model/rough_impact.hpp).
  SALTUS_FN void impacts(const contact_list<Model, Real>& list, Real restitution,
                         restitution_law law = restitution_law::newton) {
    with_states([&]() SALTUS_INLINE_LAMBDA { collide_with_friction(*this, list, restitution, law); });
  }
  /// An empty list of contacts, for a model with friction.
  SALTUS_FN contact_list<Model, Real> contacts() const { return {}; }
  /// The velocity of the constraint `stick` of a contact after the last impact with friction; exactly 0 if the contact sticks.
  SALTUS_FN const Real& slip(typename kinds::constraint stick, int k = 0) const {
    return impulses.slip[static_cast<int>(stick) + k];
  }
  /// The impulse that the impacts of this transition have given along the gradient of a constraint; exactly 0 if a contact has opened.
  SALTUS_FN const Real& impulse(typename kinds::constraint i, int k = 0) const {
    return impulses.of[static_cast<int>(i) + k];
  }
  /// Switches a constraint off and puts it, and its velocity, a few ulps to one side of zero, so that a guard of the gap does not take its
  /// rounding error for a contact.
  SALTUS_FN void release(typename kinds::constraint i, Real side = Real(1.0), int k = 0) {
    with_states([&]() SALTUS_INLINE_LAMBDA { let_go(*this, static_cast<int>(i) + k, side); });
  }
  /// d Phi/dt of a holonomic constraint, Phi of others, on or off.
  SALTUS_FN Real velocity_of(typename kinds::constraint i, int k = 0) const {
    states.bring(y);
    return level_of(*this, static_cast<int>(i) + k);
  }
  /// The same as point::multiplier, with the current velocities and discrete variables.
  SALTUS_FN Real multiplier(typename kinds::constraint i, int k = 0) const {
    states.bring(y);
    return here().multiplier(i, k);
  }
  SALTUS_FN Real acceleration(typename kinds::state i, int k = 0) const {
    states.bring(y);
    return here().acceleration(i, k);
  }
  /// The value of a state a delay ago; of member k of a family. Where it jumps at this time, it is the value from here on.
  SALTUS_FN Real delayed(typename kinds::state i, typename kinds::delay lag) const { return here().delayed(i, lag); }
  SALTUS_FN Real delayed(typename kinds::state i, int k, typename kinds::delay lag) const {
    return here().delayed(i, k, lag);
  }
  SALTUS_UNKNOWN_DELAY
  /// The current point of the instance.
  SALTUS_FN point<Model, Real, Real> here() const {
    if constexpr (kinds::delay_count > 0) return {t, y, p, modes, g.data, pieces, past};
    else return {t, y, p, modes, g.data, pieces};
  }

 private:
  SALTUS_FN detail::event_queue<Model, Real> queue(int i) { return {modes, i}; }
  /// body(row) for each row of record k that is due.
  template <class Body>
  SALTUS_FN void each_row(int k, Body&& body) const {
    for (int64 j = 0; j < recorded.rows[k]; ++j) {
      const double* const numbers = recorded.first[k] + j * width_of_record<Model>(k);
      body(record_row<Model, Real>{Real(numbers[0]), numbers, k});
    }
  }
  /// body() over the current states. States that it moves do not count as written.
  template <class F>
  SALTUS_FN void with_states(F&& body) {
    states.bring(y);
    body();
    states.show(y);
  }
};

#undef SALTUS_UNKNOWN_DELAY

}  // namespace saltus
