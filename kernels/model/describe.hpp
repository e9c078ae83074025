// A model's description for the host, made from its lists. The compiler supplies the names of the enumerators, so that a name stands in the
// model once. Host side only.
#pragma once

#include "model/checks.hpp"
#include "model/recorded_equations.hpp"
#ifndef SALTUS_UNCOUNTED  // defined for models whose functions do not take counting numbers
#include "model/structure.hpp"
#include "number/counted.hpp"
#include "number/degree.hpp"
#include "number/jet.hpp"
#endif

namespace saltus {

namespace detail {

template <template <class> class>
struct template_called;

/// The spelling of an enumerator: the compiler writes it into the name of this function ("... Value = ball::height]").
template <auto Value>
struct enumerator {
  static constexpr auto spell() {
    struct {
      char chars[128] = {};
    } r;
    const char* s = __PRETTY_FUNCTION__;
    int end = 0, last = 0;
    while (s[end] != 0) ++end;
    // g++ and clang end with "...Value = scope::name]" or "...Value = (scope::kind)3]" for a value without a name.
    while (end > 0 && s[end - 1] != ']') --end;
    --end;
    // g++ lists template arguments separated by "; ": ours is the only one.
    for (int i = 0; i < end; ++i)
      if (s[i] == ':' || s[i] == ' ' || s[i] == ')') last = i + 1;
    for (int i = last, j = 0; i < end && j < 127; ++i, ++j) r.chars[j] = s[i];
    return r;
  }
  static constexpr auto name = spell();
};

/// The names of a family's members: "height_7"; a single member has the family's name.
template <auto Value, int Count>
struct member_names {
  struct table {
    char of[Count][136];
  };
  static constexpr table make() {
    table r{};
    for (int i = 0; i < Count; ++i) {
      int end = 0;
      for (const char* s = enumerator<Value>::name.chars; *s != 0; ++s) r.of[i][end++] = *s;
      if (Count == 1) break;
      r.of[i][end++] = '_';
      int power = 1;
      while (power * 10 <= i) power *= 10;
      for (; power > 0; power /= 10) r.of[i][end++] = static_cast<char>('0' + i / power % 10);
    }
    return r;
  }
  static constexpr table names = make();
};

/// body(entry, name of the member, its index) for every member of every family of a list.
template <const auto& List, class F>
void each_member(F&& body) {
  constexpr int entries = sizeof(List) / sizeof(List[0]);
  static_for<entries>([&](auto k) {
    constexpr auto entry = List[k.value];
    for (int i = 0; i < entry.count; ++i)
      body(entry, member_names<entry.id, entry.count>::names.of[i], static_cast<int>(entry.id) + i);
  });
}

/// True if the enumeration has no enumerator with this value. The compiler then spells it as a number, or (clang 16 and later) refuses a
/// value that no enumerator could have.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"  // this test uses a value outside the range
template <class Id, int Value>
constexpr bool ends_before() {
  if constexpr (requires { typename enumerator<static_cast<Id>(Value)>; }) {
    const char c = enumerator<static_cast<Id>(Value)>::name.chars[0];
    return c >= '0' && c <= '9';
  } else {
    return true;
  }
}
#pragma GCC diagnostic pop

/// Writes a text at `to`, as far as `end`; returns its end.
inline char* append(char* to, const char* end, const char* text) {
  while (*text != 0 && to < end) *to++ = *text++;
  return to;
}
inline char* append_number(char* to, const char* end, int number) {
  char digits[16] = {};
  int first = 15;
  do digits[--first] = static_cast<char>('0' + number % 10);
  while ((number /= 10) > 0);
  return append(append(to, end, "_"), end, digits + first);
}

#ifndef SALTUS_UNCOUNTED
/// The operations of a model's functions on quantities that change with t or the states, counted by running them once with the model's
/// default values. Both sides of a selection are always computed, so the count does not depend on the point.
template <class Model>
class operations_of {
  using c = contract<Model>;
  using Real = pack<counted>;
  using Value = dual<Real>;

  vec<Real, c::parameter_count> p_;
  vec<Real, c::discrete_count> d_;
  vec<Real, c::state_count> y_;
  Real locked_[c::guard_count + 1];
  Real pieces_[tabulated_table_of<Model>.numbers + 1];
  double t_ = 0.0;

 public:
  operations_of() {
    if constexpr (requires { Model::span[1]; }) t_ = Model::span[0];
    const auto start = defaults_of<c::state_count>(Model::state_list);
    for (int i = 0; i < c::state_count; ++i) y_[i] = Real(start.of[i]);
    each_default_parameter<Model>([&](int i, double value) { p_[i] = Real(value); });
    each_default_discrete<Model>([&](int i, double value) { d_[i] = Real(value); });
    for (int i = 0; i < c::state_count; ++i) y_[i].held = false;
    for (Real& g : locked_) g = Real(1.0);
    for (Real& number : pieces_) number = Real(1.0);
  }

  long long rhs() const {
    const point<Model, Real, Real> at{Real::varying(t_), y_, p_, d_, locked_, pieces_};
    named<typename c::state, Real, c::state_count> const rate = {};
    named<typename c::state, Real, c::state_count> out;
    named_by<typename c::state, Real, c::state_count> slope{out.values};
    return count_varying_operations([&] {
             if constexpr (c::has_residual) Model::residual(at, rate, out);
             else Model::rhs(at, slope);
           })
        .flops;
  }

  /// The guards and their time derivatives along the solution, evaluated after every trial step.
  long long guards() const {
    if constexpr (c::guard_count == 0) {
      return 0;
    } else {
      vec<Value, c::state_count> y;
      for (int i = 0; i < c::state_count; ++i) y[i] = Value(y_[i], Real(1.0));
      const point<Model, Value, Real> at{Value(Real::varying(t_), Real(1.0)), y, p_, d_, locked_, pieces_};
      named<typename c::guard, Value, c::guard_count> out;
      return count_varying_operations([&] { Model::guards(at, out); }).flops;
    }
  }
};

/// Multipliers and accelerations of a mechanical system, which are smooth between events.
template <class Model>
struct smooth_motion {
  vec<graded, contract<Model>::constraint_count + 1> multiplier;
  vec<graded, contract<Model>::state_count> acceleration;
  smooth_motion() {
    const graded any(graded::Real(1.0), {smoothness::smooth});
    for (graded& x : multiplier.data) x = any;
    for (graded& x : acceleration.data) x = any;
  }
};

/// The smoothness of a model's functions. Each runs once, with the model's default values. Nothing is known of one that branches.
template <class Model>
class smoothness_in {
  using c = contract<Model>;
  vec<graded, c::state_count> y_;
  vec<graded, c::parameter_count> p_;
  vec<graded, c::discrete_count> d_;
  graded sides_[c::guard_count + 1], pieces_[tabulated_table_of<Model>.numbers + 1];

 public:
  smoothness_in() {
    const auto start = defaults_of<c::state_count>(Model::state_list);
    // Unknowns of equations of any order may be algebraic, coordinates of mechanical systems are projected, and delayed states are read here
    // as if they were present.
    constexpr bool are_integrated = !c::has_residual_of_any_order && !c::is_mechanical && c::delay_count == 0;
    constexpr auto is = are_integrated ? smoothness::linear : smoothness::smooth;
    for (int i = 0; i < c::state_count; ++i) y_[i] = graded(graded::Real(start.of[i]), {is});
    each_default_parameter<Model>([&](int i, double value) { p_[i] = graded(value); });
    each_default_discrete<Model>([&](int i, double value) { d_[i] = graded(value); });
    for (graded& g : sides_) g = graded(1.0);
    for (graded& number : pieces_) number = graded(1.0);
  }

  /// Right-hand sides are those of the model as it wrote them: residuals, or forces.
  void find(abi::description& d, abi::guard* guards, abi::quantity* outputs) const {
    smoothness of_guards = smoothness::held;
    if constexpr (c::guard_count > 0) {
      const auto all = rows<named<typename c::guard, graded, c::guard_count>>(
          [](const auto& at, auto& out) { Model::guards(at, out); });
      for (int i = 0; i < c::guard_count; ++i) guards[i].how_smooth = all.of[i];
      of_guards = all.together();
    }
    if constexpr (c::has_residual_of_any_order)
      d.equations_are =
          rows<named<typename c::row_of_residual, graded, c::state_count>>([](const auto& at, auto& zeros) {
            Model::residual(at, zeros);
          }).together();
    else
      d.equations_are = rows<named<typename c::state, graded, c::state_count>>([](const auto& at, auto& out) {
                          named_by<typename c::state, graded, c::state_count> rates{out.values};
                          const named<typename c::state, graded, c::state_count> slopes = varying_slopes();
                          if constexpr (c::has_residual) Model::residual(at, slopes, out);
                          else if constexpr (c::has_force) Model::force(at, rates);
                          else Model::rhs(at, rates);
                        }).together();
    if constexpr (c::output_count > 0) {
      const auto all = rows<named<typename c::output, graded, c::output_count>>(
          [](const auto& at, auto& out) { Model::outputs(at, out); });
      for (int i = 0; i < c::output_count; ++i) outputs[i].how_smooth = all.of[i];
      d.outputs_are = all.together();
    }
    // A slide divides by the rates of a guard along the fields on both sides.
    if (c::sliding_count > 0 && of_guards > d.equations_are) d.equations_are = of_guards;
  }

 private:
  static auto varying_slopes() {
    named<typename c::state, graded, c::state_count> r;
    for (graded& x : r.values.data) x = graded(graded::Real(1.0), {smoothness::smooth});
    return r;
  }

  template <int n>
  struct each_row {
    smoothness of[n];
    smoothness together() const {
      smoothness r = smoothness::held;
      for (const smoothness s : of) r = s > r ? s : r;
      return r;
    }
  };

  template <class Named, class Function>
  auto rows(const Function& function) const {
    const point<Model, graded, graded, c::has_residual_of_any_order> at{
        graded::input(0, 0.0), y_, p_, d_, sides_, pieces_};
    Named out;
    constexpr int n = sizeof(out.values) / sizeof(graded);
    has_branched = false;
    function(at, out);
    each_row<n> r;
    for (int i = 0; i < n; ++i) r.of[i] = has_branched ? smoothness::unknown : out.values[i].trace.of;
    return r;
  }
};

}  // namespace detail

template <class Model>
const detail::smooth_motion<Model>& motion_of(const point<Model, graded, graded>&) {
  static const detail::smooth_motion<Model> motion;
  return motion;
}

namespace detail {

/// The room that a model's functions need when they run over truncated series (number/jet.hpp).
template <class Model>
class series_of {
  using c = contract<Model>;
  using Real = pack<counted>;
  using Value = jet<Real>;

  vec<Real, c::parameter_count> p_;
  vec<Real, c::discrete_count> d_;
  Real locked_[c::guard_count + 1];
  Real pieces_[tabulated_table_of<Model>.numbers + 1];

 public:
  series_of() {
    each_default_parameter<Model>([&](int i, double value) { p_[i] = Real(value); });
    each_default_discrete<Model>([&](int i, double value) { d_[i] = Real(value); });
    for (Real& g : locked_) g = Real(1.0);
    for (Real& number : pieces_) number = Real(1.0);
  }

  /// A slide runs the fields on both sides.
  series_room room() {
    constexpr int fields = c::sliding_count > 0 ? 2 : 1;
    const auto of_one = on_all_paths([](const auto& at) {
      if constexpr (c::has_residual_of_any_order) {
        named<typename c::row_of_residual, Value, c::state_count> zeros;
        Model::residual(at, zeros);
      } else {
        named<typename c::state, Value, c::state_count> rates;
        named_by<typename c::state, Value, c::state_count> slope{rates.values};
        Model::rhs(at, slope);
      }
      if constexpr (c::guard_count > 0) {
        named<typename c::guard, Value, c::guard_count> out;
        Model::guards(at, out);
      }
      if constexpr (c::sliding_count > 0) slide(at);
    });
    return {fields * of_one.series, fields * of_one.numbers};
  }
  series_room room_of_outputs() {
    return on_all_paths([]([[maybe_unused]] const auto& at) {
      if constexpr (c::output_count > 0) {
        named<typename c::output, Value, c::output_count> out;
        Model::outputs(at, out);
      }
    });
  }

 private:
  /// A model that branches keeps at most the sum of what it keeps on its paths.
  template <class Functions>
  series_room on_all_paths(const Functions& functions) {
    series_room all = {0, 0};
    has_branched = false;
    constexpr lanes_recorded paths[] = {lanes_recorded::mixed, lanes_recorded::yes, lanes_recorded::no};
    for (const auto lanes : paths) {
      recorded_lanes = lanes;
      const auto room = room_once(functions);
      all = {all.series + room.series, all.numbers + room.numbers};
      if (!has_branched) break;
    }
    recorded_lanes = lanes_recorded::one;
    return all;
  }
  template <class Functions>
  series_room room_once(const Functions& functions) {
    constexpr int given = c::state_count + 1;
    constexpr series_room room = {1 << 16, 1 << 16};
    static Real numbers[jet_table<Real>::size(1, room)];
    jet_table<Real> table(numbers, 1, room);
    table.begin(0, given);
    table.shares = false;
    vec<Value, c::state_count> y;
    for (int i = 0; i < given; ++i) *table.row(i) = Real(1.0);
    for (int i = 0; i < c::state_count; ++i) y[i] = Value(table.row(i), &table);
    const point<Model, Value, Real, true> at{Value(table.row(c::state_count), &table), y, p_, d_, locked_, pieces_};
    functions(at);
    return {static_cast<int>(table.next - table.row(given)), static_cast<int>(table.next_number - table.numbers)};
  }

  /// Room needed in addition if the model slides (form/sliding.hpp): time derivatives of guards along the fields, and products with the
  /// share of one field.
  template <class Point>
  static void slide(const Point& at) {
    using Rated = dual<Value>;
    const Value sum = at.t + at.t;  // neither it nor its copies have a row yet
    vec<Rated, c::state_count> y;
    for (int i = 0; i < c::state_count; ++i) y[i] = Rated(at.y[i], sum);
    const point<Model, Rated, Real> along{Rated(at.t, Value(1.0)), y, at.p, at.modes, at.guard_values, at.pieces};
    named<typename c::guard, Rated, c::guard_count> rates;
    Model::guards(along, rates);
    const Value share = sum / (at.t + at.t);
    vec<Value, c::state_count> slope;
    for (int i = 0; i < c::state_count; ++i) slope[i] = share * (at.t + at.t);
  }
};

#endif

/// Checks that the list is as long as the enumeration.
#define SALTUS_COMPLETE(kind)                                             \
  if constexpr (c::kind##_count > 0)                                      \
  static_assert(detail::ends_before<typename c::kind, c::kind##_count>(), \
                "enum " #kind " has more entries than " #kind "_list: give each its entry")

}  // namespace detail

/// Builds abi::description of Model; everything it points to lives as long as the program (or the loaded module).
template <class Model>
struct describe {
  using c = contract<Model>;

  static const abi::description* get(const char* name) {
    static lists all;
    static abi::description d;
    all.fill();
    d.version = abi::version;
    d.name = name;
    // A model may use these names for a quantity, such as a source of heat.
    d.title = d.source = d.time_unit = "";
    if constexpr (requires { static_cast<const char*>(Model::title); }) d.title = Model::title;
    if constexpr (requires { static_cast<const char*>(Model::source); }) d.source = Model::source;
    if constexpr (requires { static_cast<const char*>(Model::time_unit); }) d.time_unit = Model::time_unit;
    point_to(all, d);
    tell_kind(d);
    count_operations(all, d);
    tell_equations(all, d);
    return &d;
  }

 private:
  static constexpr int quaternions = detail::count_quaternions<Model>();

  /// The memory that a description points to.
  struct lists {
    abi::quantity states[c::state_count], parameters[c::parameter_count + 1], discretes[c::discrete_count + 1],
        outputs[c::output_count + 1];
    abi::quantity constraints[c::constraint_count + quaternions + 1];
    abi::quantity invariants[c::invariant_count + 1];
    abi::guard guards[c::guard_count + 1];
    abi::time_event time_events[c::time_event_count + 1];
    abi::column columns[c::column_count + 1];
    abi::stream streams[c::stream_count + 1];
    abi::delay delays[c::delay_count + 1];
    char kept_names[c::discrete_count - c::declared_discrete_count + 1][160];
    abi::declared_table tables[c::table_count + 1];
    const char* equations[c::state_count + c::constraint_count];  ///< names
    const char* unknowns[c::state_count + c::constraint_count];
    abi::equation_record record;

    void fill() {
      check_completeness();
      const auto quantity = [](auto& list) {
        return [&list](const auto& v, const char* name, int i) {
          list[i] = {name, value_of(v), v.unit, v.about, index_of(v), smoothness::unknown};
        };
      };
      detail::each_member<Model::state_list>(quantity(states));
      if constexpr (c::parameter_count > 0) detail::each_member<Model::parameter_list>(quantity(parameters));
      if constexpr (c::declared_discrete_count > 0) detail::each_member<Model::discrete_list>(quantity(discretes));
      fill_kept();
      if constexpr (c::output_count > 0) detail::each_member<Model::output_list>(quantity(outputs));
      if constexpr (c::invariant_count > 0) detail::each_member<Model::invariant_list>(quantity(invariants));
      fill_constraints();
      fill_events();
      fill_tables();
      fill_equations();
    }

   private:
    static void check_completeness() {
      SALTUS_COMPLETE(state);
      SALTUS_COMPLETE(parameter);
      check_discretes();
      SALTUS_COMPLETE(guard);
      SALTUS_COMPLETE(time_event);
      SALTUS_COMPLETE(column);
      SALTUS_COMPLETE(output);
      SALTUS_COMPLETE(constraint);
      SALTUS_COMPLETE(invariant);
      SALTUS_COMPLETE(equation);
      SALTUS_COMPLETE(table);
      SALTUS_COMPLETE(stream);
      SALTUS_COMPLETE(delay);
    }
    static void check_discretes() {
      if constexpr (c::declared_discrete_count > 0)
        static_assert(detail::ends_before<typename c::discrete, c::declared_discrete_count>(),
                      "enum discrete has more entries than discrete_list: give each its entry");
    }
    void fill_tables() {
      if constexpr (c::table_count > 0)
        detail::each_member<Model::table_list>([&](const auto& v, const char* name, int i) {
          tables[i] = {name,         v.unit,  v.about, static_cast<int>(v.between), static_cast<int>(v.beyond),
                       v.knot_count, v.knots, v.choice};
        });
    }
    void fill_constraints() {
      if constexpr (c::constraint_count > 0)
        detail::each_member<Model::constraint_list>([&](const auto& v, const char* name, int i) {
          constraints[i] = {name, v.switched_by < 0 ? 0.0 : 1.0, v.unit, v.about, v.kind == holonomic ? 1 : 0};
        });
      if constexpr (quaternions > 0)
        for (int k = 0; k < quaternions; ++k) {
          const auto& first = states[static_cast<int>(Model::quaternion_list[k])];
          constraints[c::constraint_count + k] = {first.name, 0.0, "1", "is of length one", 2};
        }
    }
    void fill_equations() {
      for (int i = 0; i < c::state_count; ++i) equations[i] = unknowns[i] = states[i].name;
      for (int k = 0; k < c::constraint_count; ++k)
        equations[c::state_count + k] = unknowns[c::state_count + k] = constraints[k].name;
      if constexpr (c::equation_count > 0)
        detail::each_member<Model::equation_list>([&](const auto&, const char* name, int i) { equations[i] = name; });
    }
    void fill_events() {
      if constexpr (c::guard_count > 0)
        detail::each_member<Model::guard_list>([&](const auto& v, const char* name, int i) {
          guards[i] = {name,   v.which, v.side, v.ends == terminal ? 1 : 0, v.may_slide ? 1 : 0, smoothness::unknown,
                       v.about};
        });
      if constexpr (c::time_event_count > 0)
        detail::each_member<Model::time_event_list>([&](const auto& v, const char* name, int i) {
          time_events[i] = {name, v.about, v.capacity, v.carries, v.has_rows ? 1 : 0};
        });
      if constexpr (c::column_count > 0)
        detail::each_member<Model::column_list>([&](const auto& v, const char* name, int i) {
          columns[i] = {name, v.event, v.unit, v.about};
        });
      if constexpr (c::delay_count > 0) {
        detail::each_member<Model::delay_list>([&](const auto& v, const char* name, int i) {
          delays[i] = {name, v.about};
        });
        call_past();
      }
    }
    /// Calls the functions about the past once, so that their mistakes are found.
    static void call_past() {
      using one = pack<double, 1>;
      vec<one, c::parameter_count> p;
      detail::each_default_parameter<Model>([&](int i, double value) { p[i] = one(value); });
      named<typename c::delay, one, c::delay_count> lag;
      Model::delays(parameters_alone<Model, one>{p}, lag);
      if constexpr (detail::has_history<Model>) {
        named<typename c::state, one, c::state_count> y;
        Model::history(past_point<Model, one, one>{{p}, one(0.0)}, y);
      }
    }
    /// Names of the numbers that the engine keeps: fire_waiting, fire_time_0, fire_0_1 (number 1 of the item of rank 0); random_key_0,
    /// failures_draws_0.
    void fill_kept() {
      const auto keep = [&](int i, const char* name, const char* part, int k, int l, const char* about) {
        char* const to = kept_names[i - c::declared_discrete_count];
        char* const end = to + sizeof kept_names[0] - 1;
        char* at = detail::append(to, end, name);
        at = detail::append(at, end, part);
        if (k >= 0) at = detail::append_number(at, end, k);
        if (l >= 0) at = detail::append_number(at, end, l);
        *at = 0;
        discretes[i] = {to, 0.0, "1", about, 0, smoothness::held};
      };
      if constexpr (c::schedules)
        detail::each_member<Model::time_event_list>([&](const auto& v, const char* name, int i) {
          const auto queue = queue_of<Model>(i);
          if (queue.capacity == 0) return;
          keep(queue.first, name, "_waiting", -1, -1, "number of items under way");
          for (int rank = 0; rank < v.capacity; ++rank) {
            keep(queue.time(rank), name, "_time", rank, -1, "time at which an item is due");
            for (int k = 0; k < v.carries; ++k)
              keep(queue.carried(rank, k), name, "", rank, k, "a number that an item carries");
          }
        });
      if constexpr (c::stream_count > 0) {
        for (int k = 0; k < detail::parts_of_key; ++k)
          keep(c::random_key + k, "random", "_key", k, -1, "16 bits of the key of the random streams");
        detail::each_member<Model::stream_list>([&](const auto& v, const char* name, int i) {
          streams[i] = {name, v.about};
          for (int k = 0; k < detail::parts_of_count; ++k)
            keep(c::random_key + detail::parts_of_key + detail::parts_of_count * i + k, name, "_draws", k, -1,
                 k == 0 ? "number of draws, its last 16 bits" : "number of draws, the bits before them");
        });
      }
    }
  };

  static void point_to(const lists& all, abi::description& d) {
    d.state_count = c::state_count;
    d.parameter_count = c::parameter_count;
    d.discrete_count = c::discrete_count;
    d.guard_count = c::guard_count;
    d.time_event_count = c::time_event_count;
    d.column_count = c::column_count;
    d.stream_count = c::stream_count;
    d.delay_count = c::delay_count;
    d.history = detail::has_history<Model> ? 1 : 0;
    d.kept_count = c::discrete_count - c::declared_discrete_count;
    d.random_key = c::stream_count > 0 ? c::random_key : -1;
    d.output_count = c::output_count;
    d.table_count = c::table_count;
    d.constraint_count = c::constraint_count + quaternions;
    d.invariant_count = c::invariant_count;
    d.states = all.states;
    d.parameters = all.parameters;
    d.discretes = all.discretes;
    d.guards = all.guards;
    d.time_events = all.time_events;
    d.columns = all.columns;
    d.streams = all.streams;
    d.delays = all.delays;
    d.outputs = all.outputs;
    d.tables = all.tables;
    d.constraints = all.constraints;
    d.invariants = all.invariants;
  }

  static void tell_kind(abi::description& d) {
    d.coordinate_count = 0;
    d.reaches = c::has_reaching ? 1 : 0;
    if constexpr (c::is_mechanical) d.coordinate_count = static_cast<int>(Model::first_velocity);
    d.elimination = static_cast<int>(abi::elimination::as_measured);
    if constexpr (requires { Model::sparse_elimination; })
      d.elimination = static_cast<int>(Model::sparse_elimination ? abi::elimination::sparse : abi::elimination::dense);
    d.structure = nullptr;
    d.t_begin = 0.0;
    d.t_end = 1.0;
    if constexpr (requires { Model::span[1]; }) {
      d.t_begin = Model::span[0];
      d.t_end = Model::span[1];
    }
    d.equations = static_cast<int>(c::equations);
    d.singular_mass = c::mass_is_singular ? 1 : 0;
    if constexpr (requires { Model::arithmetic; }) d.arithmetic = Model::arithmetic ? 1 : 0;
    else d.arithmetic = 1;
  }

#ifndef SALTUS_UNCOUNTED
  static void tell_series(abi::description& d) {
    const auto room = detail::series_of<Model>().room(), of_outputs = detail::series_of<Model>().room_of_outputs();
    d.kept_series = room.series;
    d.kept_numbers = room.numbers;
    d.output_series = of_outputs.series;
    d.output_numbers = of_outputs.numbers;
  }
#endif

  static void count_operations([[maybe_unused]] lists& all, abi::description& d) {
    d.equations_are = d.outputs_are = smoothness::unknown;
    d.rhs_flops = d.guard_flops = d.kept_series = d.kept_numbers = d.output_series = d.output_numbers = -1;
#ifndef SALTUS_UNCOUNTED
    // Mechanical systems are not counted, because this would compile every derivative of every constraint. Equations of any order report
    // only the room for series, because counting numbers have no derivatives.
    if constexpr (c::is_mechanical) {
      d.structure = structure_of<Model>::get();
      detail::smoothness_in<Model>().find(d, all.guards, all.outputs);
    } else if constexpr (c::equations == equations::any_order) {
      tell_series(d);
      detail::smoothness_in<Model>().find(d, all.guards, all.outputs);
    } else {
      const detail::operations_of<Model> counting;
      d.rhs_flops = counting.rhs();
      d.guard_flops = counting.guards();
      if constexpr (c::equations == equations::plain) tell_series(d);
      detail::smoothness_in<Model>().find(d, all.guards, all.outputs);
    }
#endif
  }

  static void tell_equations(lists& all, abi::description& d) {
#ifndef SALTUS_UNCOUNTED
    constexpr bool are_recorded = true;
#else
    constexpr bool are_recorded = c::equations == equations::any_order;  // nothing can be said of them without the
                                                                         // record
#endif
    // A form of the model's own may make other equations from its functions.
    constexpr bool has_own_form = requires { typename detail::template_called<Model::template form>; };
    d.record = nullptr;
    if constexpr (are_recorded && !has_own_form) {
      all.record = recorded_equations<Model>::get();
      all.record.equation_names = all.equations;
      all.record.unknown_names = all.unknowns;
      d.record = &all.record;
    }
  }

  template <class V>
  static constexpr int index_of(const V& v) {
    if constexpr (requires { v.index; }) return v.index;
    else return 0;
  }
  template <class V>
  static constexpr double value_of(const V& v) {
    if constexpr (requires { v.value; }) return v.value;
    else return 0.0;
  }
};

#undef SALTUS_COMPLETE

}  // namespace saltus