// The requirements on a model, one sentence for each mistake; those of each kind of equations stand together. They are checked when a model
// is described, before anything of the engine is compiled for it.
#pragma once

#include "model/views.hpp"

namespace saltus {

/// The engine's requirements on a model, checked once.
template <class Model>
struct contract : detail::kinds<Model> {
  using kinds = detail::kinds<Model>;
  using one = pack<double, 1>;
  using at = point<Model, one, one>;
  using rates = named<typename kinds::state, one, kinds::state_count>;
  using signs = named<typename kinds::guard, one, kinds::guard_count>;
  using outs = named<typename kinds::output, one, kinds::output_count>;
  using masses = named_matrix<typename kinds::state, one, kinds::state_count>;

  using rows = named<typename kinds::constraint, one, kinds::constraint_count>;
  using kept = named<typename kinds::invariant, one, kinds::invariant_count>;
  using symmetric = named_symmetric_matrix<typename kinds::state, one, kinds::state_count, 0>;

  static constexpr bool has_initial = requires(start<Model, one> & s) { Model::initial(s); };
  static constexpr bool has_rhs = requires(const at& a, rates& dy) { Model::rhs(a, dy); };
  static constexpr bool has_mass = requires(const at& a, masses& m) { Model::mass(a, m); };
  static constexpr bool has_residual = requires(const at& a, const rates& dy, rates& r) { Model::residual(a, dy, r); };
  /// The argument r of a residual of any order: indexed by the equations that the model names, or by its states.
  using row_of_residual =
      typename detail::choose<(kinds::equation_count > 0), typename kinds::equation, typename kinds::state>::type;
  using zeros = named<row_of_residual, one, kinds::state_count>;
  static constexpr bool has_residual_of_any_order = requires(const at& a, zeros& r) { Model::residual(a, r); };
  static constexpr bool has_force = requires(const at& a, rates& f) { Model::force(a, f); };
  static constexpr bool has_symmetric_mass = requires(const at& a, symmetric& m) { Model::mass(a, m); };
  static constexpr bool has_constraints = requires(const at& a, rows& c) { Model::constraints(a, c); };
  static constexpr bool has_invariants = requires(const at& a, kept& i) { Model::invariants(a, i); };
  static constexpr bool has_reaching = requires(const at& a, rows& eta) { Model::reaching(a, eta); };
  static constexpr int highest_index = detail::highest_index<Model>();
  static constexpr bool has_guards = requires(const at& a, signs& g) { Model::guards(a, g); };
  static constexpr bool has_time_events = requires(const at& a, schedule<Model, one, 1>& w) {
    Model::time_events(a, w);
  };
  /// Every time event is scheduled or recorded, so that `time_events` need not give times; and whether one is both.
  static constexpr bool times_are_known = [] {
    if constexpr (kinds::time_event_count > 0)
      for (const auto& e : Model::time_event_list)
        if (!e.has_rows && e.capacity == 0) return false;
    return true;
  }();
  static constexpr bool is_of_two_kinds = [] {
    if constexpr (kinds::time_event_count > 0)
      for (const auto& e : Model::time_event_list)
        if (e.has_rows && e.capacity != 0) return true;
    return false;
  }();
  static constexpr bool has_outputs = requires(const at& a, outs& o) { Model::outputs(a, o); };
  static constexpr bool has_transition = requires(event<Model, one> & e) { Model::transition(e); };
  static constexpr bool has_mode = requires(event<Model, one> & e) { Model::mode(e); };
  static constexpr bool has_rest = requires(event<Model, one> & e) { Model::rest(e); };
  static constexpr bool has_max_step = requires(const at& a) { Model::max_step(a); };
  static constexpr bool has_delays =
      requires(const parameters_alone<Model, one>& a, named<typename kinds::delay, one, kinds::delay_count>& lag) {
    Model::delays(a, lag);
  };
  static constexpr int sliding_count = detail::count_sliding<Model, kinds::guard_count>();
  static constexpr bool has_conditions = detail::has_conditions<Model, kinds::guard_count>();

  /// The mass matrix depends on time or state.
  static constexpr bool mass_varies = [] {
    if constexpr (requires { Model::mass_varies; }) return static_cast<bool>(Model::mass_varies);
    else return false;
  }();
  /// The mass matrix is singular although no single state is algebraic: its rows mix time derivatives.
  static constexpr bool mass_is_singular = [] {
    if constexpr (requires { Model::mass_is_singular; }) return static_cast<bool>(Model::mass_is_singular);
    else return false;
  }();
  static constexpr bool is_mechanical = detail::is_mechanical<Model>;
  static constexpr saltus::equations equations = is_mechanical               ? saltus::equations::plain
                                                 : has_residual_of_any_order ? saltus::equations::any_order
                                                 : has_residual || (has_mass && mass_varies)
                                                     ? saltus::equations::implicit
                                                 : has_mass          ? saltus::equations::with_mass
                                                 : highest_index > 0 ? saltus::equations::semi_explicit
                                                                     : saltus::equations::plain;

  // residuals and mass matrices
  static_assert(has_rhs || has_residual || has_residual_of_any_order || is_mechanical,
                "the model has no right-hand side: write static void rhs(const auto& at, auto& dy)");
  // mechanical systems
  static_assert(!is_mechanical || !(has_rhs || has_residual || has_residual_of_any_order),
                "a mechanical model (first_velocity) has mass, force and constraints, and no rhs or residual");
  static_assert(!is_mechanical || highest_index == 0,
                "a mechanical model has no algebraic states: multipliers are found by themselves (at.multiplier)");
  static_assert(is_mechanical || kinds::constraint_count == 0,
                "constraints are for mechanical models: say which state is the first velocity, static constexpr auto "
                "first_velocity = ...");
  static_assert(
      !is_mechanical || sliding_count == 0,
      "a mechanical model has no sliding guards: what sticks is a constraint that a discrete variable switches");
  static_assert(kinds::constraint_count > 0 || !has_reaching,
                "reaching is about constraints, and the model lists none");
  static_assert(has_force || !is_mechanical,
                "a mechanical model needs forces: write static void force(const auto& at, auto& f)");
  static_assert(has_symmetric_mass || !is_mechanical,
                "a mechanical model needs a mass matrix: write static void mass(const auto& at, auto& m)");
  static_assert(
      kinds::constraint_count == 0 || has_constraints,
      "the model lists constraints but does not compute them: write static void constraints(const auto& at, auto& c)");
  static_assert(
      kinds::constraint_count > 0 || !has_constraints,
      "the model computes constraints but does not list them: add enum constraint { ... }; and constraint_list[]");
  static_assert(is_mechanical || kinds::invariant_count == 0,
                "invariants are for mechanical models: say which state is the first velocity, static constexpr auto "
                "first_velocity = ...");
  static_assert(
      kinds::invariant_count == 0 || has_invariants,
      "the model lists invariants but does not compute them: write static void invariants(const auto& at, auto& i)");
  static_assert(
      kinds::invariant_count > 0 || !has_invariants,
      "the model computes invariants but does not list them: add enum invariant { ... }; and invariant_list[]");
  static_assert(kinds::invariant_count == 0 || !has_reaching,
                "a model that approaches its constraints (reaching) has no invariants: forces that drive it to them "
                "change its energy");
  static_assert(is_mechanical || detail::count_quaternions<Model>() == 0, "quaternion_list is for mechanical models");
  static_assert(detail::quaternions_are_right<Model>(),
                "quaternion_list has the first of the four coordinates of each unit quaternion, in their order");
  static_assert(!(has_rhs && (has_residual || has_residual_of_any_order)),
                "the model has a right-hand side and a residual: write one of rhs and residual, not both");
  static_assert(!(has_mass && (has_residual || has_residual_of_any_order)),
                "the model has a mass matrix and a residual: a residual contains the mass matrix already");
  static_assert(is_mechanical || has_mass || !(mass_varies || mass_is_singular),
                "the model says how its mass matrix is but has none: write static void mass(const auto& at, auto& m)");
  // residuals of any order
  static_assert(!(has_residual && has_residual_of_any_order),
                "the model has a residual(at, dy, r) and a residual(at, r): write one of them, the second with at.d(x, "
                "k) for derivatives");
  static_assert(!has_residual_of_any_order || highest_index == 0,
                "of a residual(at, r) no state is declared algebraic: which derivatives it has is found by itself");
  static_assert(kinds::equation_count == 0 || has_residual_of_any_order,
                "equation_list names the equations of a residual(at, r), and the model has none: write static void "
                "residual(const auto& at, auto& r)");
  static_assert(
      kinds::equation_count == 0 || kinds::equation_count == kinds::state_count,
      "a residual(at, r) has as many equations as there are states: equation_list and state_list differ in length");
  // algebraic states
  static_assert(detail::indices_are_right<Model>(), "the index of an algebraic state is 1 or 2");
  static_assert(detail::has_one_index<Model>(), "algebraic states are all of index 1, or all of index 2");
  static_assert(highest_index < 2 || equations == saltus::equations::semi_explicit,
                "algebraic states of index 2 need a plain rhs: no mass matrix and no residual");
  static_assert(highest_index == 0 || !mass_is_singular,
                "mass_is_singular is for a mass matrix in whose rows rates are mixed: no state of it is algebraic");
  // sliding
  static_assert(sliding_count == 0 || equations == saltus::equations::plain,
                "a model that slides has a plain rhs: no algebraic state, mass matrix or residual");
  static_assert(detail::sliding_is_right<Model, kinds::guard_count>(),
                "a guard on which the solution may slide must be bilateral with direction both");
  // lists and functions
  static_assert(kinds::guard_count == 0 || has_guards,
                "the model lists guards but does not compute them: write static void guards(const auto& at, auto& g)");
  static_assert(kinds::guard_count > 0 || !has_guards,
                "the model computes guards but does not list them: add enum guard { ... }; and guard_list[]");
  static_assert(
      kinds::time_event_count == 0 || has_time_events || times_are_known,
      "the model lists time events but gives no times: write static void time_events(const auto& at, auto& when), or "
      "add .scheduled(n) or .recorded() to each");
  static_assert(
      kinds::queues.sound,
      "a scheduled time event has a capacity of 1 to 4096 items, .scheduled(n), each carrying up to 8 numbers, "
      ".carrying(k)");
  static_assert(record_table_of<Model>.columns_are_right,
                "a column belongs to a time event that is recorded: {id, time_event, unit, about}, and {time_event, "
                "about}.recorded()");
  static_assert(!is_of_two_kinds, "a time event is scheduled or recorded, not both");
  static_assert(kinds::time_event_count > 0 || !has_time_events,
                "the model gives times of time events but does not list them: add enum time_event { ... }; and "
                "time_event_list[]");
  static_assert(
      !has_transition || kinds::guard_count > 0 || kinds::time_event_count > 0,
      "the model has a transition but no guard or time event that could lead to it: add enum guard { ... }; and "
      "guard_list[]");
  static_assert(detail::conditions_are_right<Model, kinds::guard_count>(),
                "a guard that is only a condition must have direction both: its sign counts on either side");
  static_assert(
      !has_conditions || has_mode,
      "a guard that is only a condition needs a mode that it could change: write static void mode(auto& now)");
  static_assert(
      kinds::output_count == 0 || has_outputs,
      "the model lists outputs but does not compute them: write static void outputs(const auto& at, auto& out)");
  // delays
  static_assert(kinds::delay_count == 0 || has_delays,
                "the model lists delays but does not compute them from its parameters: write static void delays(const "
                "auto& at, auto& lag), where at has no time, state or discrete variable");
  static_assert(kinds::delay_count > 0 || !has_delays,
                "the model computes delays but does not list them: add enum delay { ... }; and delay_list[]");
  static_assert(kinds::delay_count > 0 || !detail::has_history<Model>,
                "the model has a history but no delay that could reach it: add enum delay { ... }; and delay_list[]");
  static_assert(kinds::delay_count == 0 || (equations == saltus::equations::plain && !is_mechanical &&
                                            highest_index == 0 && sliding_count == 0),
                "delays are for a plain rhs, dy/dt = f: no algebraic state, mass matrix, residual, mechanical system "
                "or sliding guard");
  // outputs
  static_assert(kinds::output_count > 0 || !has_outputs,
                "the model computes outputs but does not list them: add enum output { ... }; and output_list[]");
};

}  // namespace saltus
