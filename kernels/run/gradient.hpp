// The gradient of one outcome J of an instance by all parameters and initial values, at a cost that does not depend on their number: the
// discrete adjoint. The computed steps y_{k+1} = F(y_k, p) are run again, backward from the last one, over numbers with a tape, and
//
//     lambda_k = (dF/dy)^T lambda_{k+1},     dJ/dp = sum over k of (dF/dp)^T lambda_{k+1} + (dy_0/dp)^T lambda_0
//
// with lambda = dJ/dy at the end (Hager, Numer. Math. 87 (2000) 247; Sandu, ICCS 2006). This is the derivative of what was computed, with
// the lengths of the steps as constants, like that of form/sensitivities.hpp. F is the method's own `step`, which an implicit method transposes
// by method/adjoint_step.hpp. Events between steps are passed lane by lane (run/gradient_at_events.hpp).
#pragma once

#include "abi/sensitivity.hpp"
#include "chunk.hpp"
#include "method/adjoint_step.hpp"
#include "number/taped.hpp"
#include "run/gradient_at_events.hpp"

namespace saltus {

/// The backward sweep through the steps of up to W instances at a time. Lanes whose start is reached hand on zeros.
template <class E, int W>
class adjoint_sweep {
  using Real = pack<double, W>;
  using number = taped<Real>;
  using form = typename E::form;
  using row = trajectory_row<E>;
  using Method = typename E::plain_method;
  static constexpr int n = E::n, model_states = E::model_states;

 public:
  /// Stores the gradients of the instances in the first `some` slots.
  void run(const int64 (&slots)[W], int some, const trajectories<E>& all, const abi::settings& settings,
           const abi::batch& batch, const abi::results& results) {
    for (int lane = 0; lane < W; ++lane) {
      slots_[lane] = slots[lane < some ? lane : 0];
      of_[lane] = &all[slots_[lane]];
    }
    tol_ = tolerances_from<E, Real>(settings);
    for (int pass = 0; pass < 2; ++pass) {
      is_careful_ = pass == 1;
      begin(some, settings.data_count, batch);
      end_at_last_rows(settings, batch);
      through_data(settings, batch);
      while (through_events(settings, batch)) {
        through_step();
        through_data(settings, batch);
      }
      through_start(batch);
      bool finite = true;
      for (int lane = 0; lane < some; ++lane) finite = store(lane, settings, batch.count, results) && finite;
      if (finite) return;
    }
  }

 private:
  template <class, class, class, class, int>
  friend struct detail::adjoint_step;

  /// Parameters, given initial values and discrete variables stay on the tape, where they gather their adjoints. Lanes without an instance
  /// are at their start.
  void begin(int some, int data_count, const abi::batch& batch) {
    tape_.rewind(0);
    for (int j = 0; j < form::params; ++j) {
      held_.p[j] = input(column(batch.parameters, j, batch));
      constants_.p[j] = held_.p[j].value;
    }
    for (int i = 0; i < model_states; ++i) given_.y[i] = input(column(batch.initial, i, batch));
    for (int i = 0; i < form::discretes; ++i) {
      given_.d[i] = batch.discrete == nullptr ? number(form::unset) : number(column(batch.discrete, i, batch));
      held_.d[i] = input(Real(0.0));
    }
    held_size_ = tape_.size();
    for (int lane = 0; lane < W; ++lane) {
      row_[lane] = lane < some ? of_[lane]->rows() - 1 : 0;
      reason_[lane] = of_[lane]->reason;
      data_left_[lane] = lane < some ? data_count : 0;
    }
  }
  number input(const Real& value) { return number::input(tape_, value); }
  /// The numbers of the lanes in a column of the chunk.
  Real column(const double* columns, int i, const abi::batch& batch) const {
    Real r;
    for (int lane = 0; lane < W; ++lane) r.set(lane, columns[i * batch.count + slots_[lane]]);
    return r;
  }

  /// The row of each lane.
  void enter_rows() {
    const auto get = [&](int column) {
      Real r;
      for (int lane = 0; lane < W; ++lane) r.set(lane, of_[lane]->row(row_[lane], row::width)[column]);
      return r;
    };
    t_ = get(0), h_ = get(1);
    for (int i = 0; i < n; ++i) y_[i] = get(2 + i);
    for (int i = 0; i < form::piece_numbers; ++i) {
      constants_.pieces[i] = get(row::pieces + i);
      held_.pieces[i] = number(constants_.pieces[i]);
    }
    for (int i = 0; i < form::discretes; ++i) held_.d[i].value = constants_.d[i] = get(row::discretes + i);
    for (int i = 0; i < E::ng; ++i) {
      constants_.guard_values[i] = get(row::guards + i);
      held_.guard_values[i] = number(constants_.guard_values[i]);
    }
    row::each_of_slope_and_memory(slope_, constants_, [&](Real& one, int column) { one = get(column); });
  }

  void sweep(int size, int first) {
    if (is_careful_) tape_.template sweep<true>(size, first);
    else tape_.template sweep<false>(size, first);
  }

  /// The states y as inputs, behind what is held.
  vec<number, n> inputs(const vec<Real, n>& y) {
    tape_.rewind(held_size_);
    vec<number, n> r;
    for (int i = 0; i < n; ++i) r[i] = number::input(tape_, y[i]);
    return r;
  }
  /// Adds the derivatives of sum over i of weight_i result_i to the adjoints of the inputs.
  template <int count>
  void hand_on(const vec<number, count>& results, const vec<Real, count>& weight) {
    int end = held_size_;
    for (int i = 0; i < count; ++i) {
      if (results[i].on == nullptr) continue;
      results[i].adjoint() += weight[i];
      end = results[i].at >= end ? results[i].at + 1 : end;
    }
    sweep(end, held_size_);
  }

  /// The weights are those of states, integrals, outputs, the final time, and means: integrals over the time passed.
  void end_at_last_rows(const abi::settings& settings, const abi::batch& batch) {
    enter_rows();
    objective_ = Real(0.0);
    const auto y = inputs(y_);
    const auto t = input(t_);  // moves if an event ends the instance
    const auto outputs = form::output_values(t, y, held_);
    const auto add = [&](const number& outcome, double weight) {
      if (weight == 0.0) return;
      objective_ = fma(Real(weight), outcome.value, objective_);
      if (outcome.on != nullptr) outcome.adjoint() += Real(weight);
    };
    for (int i = 0; i < n; ++i) add(y[i], settings.gradient_weights[i]);
    for (int i = 0; i < form::outputs; ++i) add(outputs[i], settings.gradient_weights[n + i]);
    add(form::model_time(t), settings.gradient_weights[n + form::outputs]);
    for (int i = model_states; i < n; ++i)
      add(y[i] / (form::model_time(t) - number(column(batch.t_begin, 0, batch))),
          settings.gradient_weights[n + form::outputs + 1 + i - model_states]);
    sweep(tape_.size(), held_size_);
    for (int i = 0; i < n; ++i) lambda_[i] = y[i].adjoint(), of_slope_[i] = Real(0.0);
    for (int lane = 0; lane < W; ++lane) {
      at_events_[lane] = {};
      at_events_[lane].t.v = t.adjoint().get(lane);
    }
    t.adjoint() = Real(0.0);
  }

  /// Adds to the objective and its derivatives the data at the points where the lanes are: behind all events of that time.
  void through_data(const abi::settings& settings, const abi::batch& batch) {
    bool any = false;
    vec<Real, n> of_states;
    vec<Real, form::outputs> of_outputs, outputs;
    for (int i = 0; i < n; ++i) of_states[i] = Real(0.0);
    for (int i = 0; i < form::outputs; ++i) of_outputs[i] = Real(0.0);
    for (int lane = 0; lane < W; ++lane)
      while (is_at_datum(lane, settings, batch)) {
        if (!any) outputs = form::output_values(t_, y_, constants_);
        any = true;
        const auto& datum = settings.data[--data_left_[lane]];
        const auto add = [&](const Real& x, Real& derivative) {
          const double miss = x.get(lane) - datum.value;
          objective_.set(lane, objective_.get(lane) + 0.5 * datum.weight * miss * miss);
          derivative.set(lane, derivative.get(lane) + datum.weight * miss);
        };
        if (datum.of >= 0) add(outputs[datum.of], of_outputs[datum.of]);
        else add(y_[-1 - datum.of], of_states[-1 - datum.of]);
      }
    if (!any) return;
    const auto y = inputs(y_);
    hand_on(form::output_values(number(t_), y, held_), of_outputs);
    for (int i = 0; i < n; ++i) lambda_[i] += of_states[i] + y[i].adjoint();
  }
  /// True if the last datum that is left is at the time of a lane's point. One after that time is missed.
  bool is_at_datum(int lane, const abi::settings& settings, const abi::batch& batch) {
    if (data_left_[lane] == 0) return false;
    const double t = t_.get(lane), time = settings.data[data_left_[lane] - 1].time;
    const double near = rounding_of_time(pack<double, 1>(t), pack<double, 1>(batch.t_begin[slots_[lane]])).v;
    if (time > t + near) miss_data(lane);
    return data_left_[lane] > 0 && time >= t - near;
  }
  void miss_data(int lane) {
    data_left_[lane] = 0;
    objective_.set(lane, form::unset);
    if (reason_[lane] == sensitivity::defined) reason_[lane] = sensitivity::data_missed;
  }

  /// Moves each lane back to its next step, through the events behind that. Returns false if all are at their start.
  bool through_events(const abi::settings& settings, const abi::batch& batch) {
    steps_ = 0;
    for (int lane = 0; lane < W; ++lane) {
      while (--row_[lane] >= 0) {
        const double* const at = of_[lane]->row(row_[lane], row::width);
        if (at[1] > 0.0) break;
        if constexpr (row::has_events) pass_event(lane, at, settings, batch);
      }
      at_events_[lane].t.v = 0.0;  // a step ends at a fixed time
      if (row_[lane] >= 0) steps_ |= 1u << lane;
      else row_[lane] = 0;
    }
    return steps_ != 0;
  }

  /// Passes the row `at` of an event of one lane.
  void pass_event(int lane, const double* at, const abi::settings& settings, const abi::batch& batch) {
    auto& a = at_events_[lane];
    typename adjoint_at_events<E>::inputs of;
    for (int i = 0; i < n; ++i) a.y[i].v = lambda_[i].get(lane);
    for (int i = 0; i < model_states; ++i) of.given.y[i].v = given_.y[i].value.get(lane);
    for (int i = 0; i < form::discretes; ++i) {
      a.d[i].v = held_.d[i].adjoint().get(lane);
      of.given.d[i].v = given_.d[i].value.get(lane);
    }
    for (int j = 0; j < form::params; ++j) a.p[j].v = 0.0, of.p[j].v = constants_.p[j].get(lane);
    of.t_begin.v = form::time_sign * batch.t_begin[slots_[lane]];
    const auto reason = events_.pass(at, of, settings, a);
    if (reason != sensitivity::defined) reason_[lane] = reason;  // the first reason stays, and time runs backward
    for (int i = 0; i < n; ++i) lambda_[i].set(lane, a.y[i].v);
    for (int i = 0; i < form::discretes; ++i) held_.d[i].adjoint().set(lane, a.d[i].v);
    for (int j = 0; j < form::params; ++j) {
      Real& to = held_.p[j].adjoint();
      to.set(lane, to.get(lane) + a.p[j].v);
    }
  }

  void through_step() {
    enter_rows();
    const auto goes_on = mask_of<Real>::from_bits(steps_);
    h_ = select(goes_on, h_, Real(Method::is_explicit ? 0.0 : 0x1p-60));  // an implicit step divides by it
    vec<Real, n> weight, of_slope;
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      weight[i] = select(goes_on, lambda_[i], Real(0.0));
      of_slope[i] = select(goes_on, of_slope_[i], Real(0.0));
    });
    if constexpr (row::moves > 0)
      if (any_moves()) through_moves(weight, of_slope);
    const auto to_start = transposed_step(weight, of_slope);
    each<n>([&](int i) SALTUS_INLINE_LAMBDA { lambda_[i] = select(goes_on, to_start[i], lambda_[i]); });
  }

  step_system<E, Real> equations() const { return {constants_, &tol_}; }
  template <class... Settle>
  auto make_step(Settle&... settle) const {
    const auto system = equations();
    if constexpr (Method::is_explicit) return step<Method>(system, solution_point<Real, n>{t_, y_, system(t_, y_)}, h_);
    else return step<Method>(system, solution_point<Real, n>{t_, y_, slope_}, h_, settle...);
  }

  /// (dF/dy)^T weight. A method that does not keep its stages runs over the tape as a whole. Otherwise only the right-hand sides do, stage by
  /// stage from the last one, with k_i = f(Y_i), Y_i = y + h sum over j of a_ij k_j:
  ///
  ///     adjoint(k_i) = h (b_i weight + sum over l of a_li adjoint(Y_l)),     adjoint(Y_i) = f_y^T adjoint(k_i)
  vec<Real, n> transposed_step(const vec<Real, n>& weight, [[maybe_unused]] const vec<Real, n>& of_slope) {
    vec<Real, n> r = weight;
    if constexpr (!Method::is_explicit) {
      const auto system = equations();
      detail::adjoint_step<Method, step_system<E, Real>, adjoint_sweep, Real, n> adjoint{system, *this,    t_, h_, y_,
                                                                                         weight, of_slope, {}, {}};
      const auto solved = make_step(adjoint).solved;
      each<n>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = select(solved, adjoint.of_start[i], Real(form::unset)); });
      if constexpr (has_explicit_first<Method>) through_first_slope(adjoint.of_first_slope, r);
    } else if constexpr (!keeps_stages<Method>) {
      const auto f = [&](const number& t, const vec<number, n>& y) { return form::rhs(t, y, held_); };
      const auto y = inputs(y_);
      const auto rate = f(number(t_), y);
      hand_on(step<Method>(f, solution_point<number, n>{number(t_), y, rate}, number(h_)).y1, weight);
      for (int i = 0; i < n; ++i) r[i] = y[i].adjoint();
    } else {
      const auto s = make_step();
      vec<Real, n> of_point[Method::stages];
      static_for<Method::stages>([&](auto before_last) SALTUS_INLINE_LAMBDA {
        constexpr int i = Method::stages - 1 - before_last;
        of_point[i] = through_stage<i>(s, weight, of_point);
        each<n>([&](int j) SALTUS_INLINE_LAMBDA { r[j] += of_point[i][j]; });
      });
    }
    return r;
  }

  /// Hands on `weight`, the adjoint of the slope at the start of a step. That slope is the one at the end of the step before, or f where the
  /// engine has evaluated it: at the start and after events.
  void through_first_slope(const vec<Real, n>& weight, vec<Real, n>& lambda) {
    const auto f = equations()(t_, y_);
    vec<Real, n> of_f = weight;
    for (int lane = 0; lane < W; ++lane) {
      bool is_f = !follows_step(lane), is_same = true;
      for (int i = 0; i < n; ++i) is_same = is_same && f[i].get(lane) == slope_[i].get(lane);
      is_f = is_f || is_same;
      for (int i = 0; i < n; ++i) {
        of_slope_[i].set(lane, is_f ? 0.0 : weight[i].get(lane));
        if (!is_f) of_f[i].set(lane, 0.0);
      }
    }
    const auto by = through_rhs(t_, y_, of_f);
    each<n>([&](int i) SALTUS_INLINE_LAMBDA { lambda[i] += by[i]; });
  }
  /// True if the row before is a step with no parabola behind it.
  bool follows_step(int lane) const {
    if ((steps_ >> lane & 1u) == 0 || row_[lane] == 0) return false;
    const double* const before = of_[lane]->row(row_[lane] - 1, row::width);
    bool r = before[1] > 0.0;
    for (int k = 0; k + 1 < row::moves; ++k) r = r && before[row::due + k] == 0.0;
    return r;
  }

  /// Move k behind the step of a lane.
  double move_of(int lane, int k) const {
    return (steps_ >> lane & 1u) == 0 ? 0.0 : of_[lane]->row(row_[lane], row::width)[row::due + k];
  }
  bool any_moves() const {
    bool r = false;
    for (int lane = 0; lane < W; ++lane)
      for (int k = 0; k < row::moves; ++k) r = r || move_of(lane, k) != 0.0;
    return r;
  }
  /// The moves behind a step that lands (event/approach.hpp): from y and f = f(y) at its end, y <- y + d f + d (f* - f) / 2 and
  /// f <- f* = f(y + d f) along each parabola, and at last y <- y + d f.
  struct way_behind_step {
    vec<Real, row::moves> d, t;
    vec<Real, n> y[row::moves], rate[row::moves];  ///< before each move

    /// The point on the tangent at which f* of move k is.
    vec<Real, n> aim(int k) const { return detail::advance(y[k], d[k], rate[k]); }
  };
  way_behind_step follow_moves() const {
    const auto f = equations();
    way_behind_step way;
    for (int k = 0; k < row::moves; ++k)
      for (int lane = 0; lane < W; ++lane) way.d[k].set(lane, move_of(lane, k));
    way.t[0] = t_ + h_;
    const auto s = make_step();
    way.y[0] = s.y1;
    if constexpr (Method::is_explicit) way.rate[0] = f(way.t[0], way.y[0]);
    else way.rate[0] = s.f1();
    for (int k = 0; k + 1 < row::moves; ++k) {
      const Real d = way.d[k];
      way.t[k + 1] = way.t[k] + d;
      const auto there = f(way.t[k + 1], way.aim(k));
      each<n>([&](int i) SALTUS_INLINE_LAMBDA {
        const Real rate = way.rate[k][i];
        way.y[k + 1][i] = fma(d, rate, way.y[k][i]) + Real(0.5) * d * (there[i] - rate);
        way.rate[k + 1][i] = select(d != Real(0.0), there[i], rate);
      });
    }
    return way;
  }
  /// `lambda`, the adjoint at the landing point, becomes that at the end of the step, and `of_slope` that of the slope there, which an explicit
  /// method finds from the states.
  void through_moves(vec<Real, n>& lambda, [[maybe_unused]] vec<Real, n>& of_slope) {
    const auto way = follow_moves();
    vec<Real, n> of_rate, of_there;
    each<n>([&](int i) SALTUS_INLINE_LAMBDA { of_rate[i] = way.d[row::moves - 1] * lambda[i]; });
    for (int k = row::moves - 2; k >= 0; --k) {
      const Real d = way.d[k];
      const auto moves = d != Real(0.0);
      if (none(moves)) continue;
      each<n>([&](int i) SALTUS_INLINE_LAMBDA {
        const Real half = Real(0.5) * d * lambda[i];
        of_there[i] = select(moves, of_rate[i] + half, Real(0.0));
        of_rate[i] = select(moves, half, of_rate[i]);
      });
      const auto by = through_rhs(way.t[k + 1], way.aim(k), of_there);
      each<n>([&](int i) SALTUS_INLINE_LAMBDA {
        lambda[i] = select(moves, lambda[i] + by[i], lambda[i]);
        of_rate[i] = select(moves, fma(d, by[i], of_rate[i]), of_rate[i]);
      });
    }
    if constexpr (Method::is_explicit) {
      const auto by = through_rhs(way.t[0], way.y[0], of_rate);
      each<n>([&](int i) SALTUS_INLINE_LAMBDA { lambda[i] += by[i]; });
    } else {
      each<n>([&](int i) SALTUS_INLINE_LAMBDA { of_slope[i] += of_rate[i]; });
    }
  }
  /// f_y^T weight.
  vec<Real, n> through_rhs(const Real& t, const vec<Real, n>& point, const vec<Real, n>& weight) {
    const auto y = inputs(point);
    hand_on(form::rhs(number(t), y, held_), weight);
    vec<Real, n> r;
    each<n>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = y[i].adjoint(); });
    return r;
  }

  /// (f_ty dt + f_yy dy)^T weight.
  vec<Real, n> through_slope(const Real& t, const vec<Real, n>& point, const Real& dt, const vec<Real, n>& dy,
                             const vec<Real, n>& weight) {
    using along = dual<number>;
    const auto y = inputs(point);
    vec<along, n> at;
    for (int i = 0; i < n; ++i) at[i] = along(y[i], number(dy[i]));
    const auto f = form::rhs(along(number(t), number(dt)), at, held_);
    vec<number, n> slope;
    for (int i = 0; i < n; ++i) slope[i] = f[i].d[0];
    hand_on(slope, weight);
    vec<Real, n> r;
    each<n>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = y[i].adjoint(); });
    return r;
  }

  /// adjoint(Y_i), from those of the later stages.
  template <int i, class Stages>
  vec<Real, n> through_stage(const Stages& s, const vec<Real, n>& weight,
                             const vec<Real, n> (&of_point)[Method::stages]) {
    vec<Real, n> r;
    if constexpr (!acts(i)) {
      each<n>([&](int j) SALTUS_INLINE_LAMBDA { r[j] = Real(0.0); });
    } else {
      auto of_rate = weight, point = s.y;
      each<n>([&](int j) SALTUS_INLINE_LAMBDA {
        if constexpr (i > 0) point[j] = fma(h_, detail::slope_of_stage<Method, i>(s.k, j), s.y[j]);
        Real sum = Real(Method::b[i]) * weight[j];
        static_for<Method::stages - 1 - i>([&](auto later) SALTUS_INLINE_LAMBDA {
          constexpr int l = i + 1 + later;
          if constexpr (Method::a[l][i] != 0.0 && acts(l)) sum = fma(Real(Method::a[l][i]), of_point[l][j], sum);
        });
        of_rate[j] = h_ * sum;
      });
      r = through_rhs(fma(Real(Method::c[i]), h_, t_), point, of_rate);
    }
    return r;
  }
  /// True if y1 depends on stage i: the last one of an FSAL method is f1, of the next step.
  static constexpr bool acts(int i) {
    if (Method::b[i] != 0.0) return true;
    for (int l = i + 1; l < Method::stages; ++l)
      if (Method::a[l][i] != 0.0 && acts(l)) return true;
    return false;
  }

  /// From the states and discrete variables at the start to parameters and initial values.
  void through_start(const abi::batch& batch) {
    for (int lane = 0; lane < W; ++lane) {
      row_[lane] = 0;
      if (data_left_[lane] > 0) miss_data(lane);
    }
    enter_rows();
    const Real t_begin = column(batch.t_begin, 0, batch);  // of the model
    vec<Real, form::discretes> of_discretes;
    for (int i = 0; i < form::discretes; ++i) of_discretes[i] = held_.d[i].adjoint();
    inputs(y_);  // clears the adjoints of the last step
    tape_.rewind(held_size_);
    vec<number, model_states> y;
    auto d = held_.d;
    for (int i = 0; i < form::discretes; ++i) d[i] = number(default_discrete<typename E::Model>(i));
    set_initial<form>(number(t_begin), y, held_.p, d, held_.pieces.data, given_);
    const auto weigh = [](const number& result, const Real& weight) {
      if (result.on != nullptr) result.adjoint() += weight;
    };
    for (int i = 0; i < model_states; ++i) weigh(y[i], lambda_[i]);
    for (int i = 0; i < form::discretes; ++i) weigh(d[i], of_discretes[i]);
    sweep(tape_.size(), held_size_);
  }

  /// Returns true if the gradient of the lane is finite.
  bool store(int lane, const abi::settings& settings, int64 count, const abi::results& results) {
    double* const to = results.gradient + slots_[lane];
    const auto derivative = [&](int j) {
      const int of = settings.gradient_of[j];
      const number& input = of >= 0 ? held_.p[of >= 0 ? of : 0] : given_.y[of >= 0 ? 0 : -1 - of];
      return static_cast<double>(input.adjoint().get(lane));
    };
    bool finite = true;
    for (int j = 0; j < settings.gradient_count; ++j) finite = finite && derivative(j) - derivative(j) == 0.0;
    auto reason = reason_[lane];
    if (!finite && reason == sensitivity::defined) reason = sensitivity::not_finite;
    to[0] = static_cast<double>(objective_.get(lane));
    for (int j = 0; j < settings.gradient_count; ++j)
      to[(1 + j) * count] = reason == sensitivity::defined ? derivative(j) : form::unset;
    results.sensitivity[slots_[lane]] = static_cast<unsigned char>(reason);
    return reason != sensitivity::not_finite;
  }

  int64 slots_[W];
  const trajectory* of_[W];
  int64 row_[W];           ///< of each lane
  unsigned steps_ = 0;     ///< bit j: the row of lane j is a step
  sensitivity reason_[W];  ///< why there is no gradient
  int data_left_[W];       ///< data of the objective that the sweep has not reached
  adjoints<E> at_events_[W];
  adjoint_at_events<E> events_;
  tape<Real> tape_;
  int held_size_ = 0;  ///< operations before those of a step
  bool is_careful_ = false;
  typename form::template step_constants<number> held_;
  typename E::template step_constants<Real> constants_;  ///< their values
  tolerances<E, Real> tol_;
  Real t_, h_, objective_;
  vec<Real, n> y_, slope_;
  given_values<number, model_states, form::discretes> given_;
  vec<Real, n> lambda_;
  vec<Real, n> of_slope_;  ///< the adjoint of the slope at the end of the next step, beside lambda_
};

/// The instances of a chunk that have ended and wait for their gradients, until they fill the lanes. Empty without a gradient.
template <class E, int W>
class gradients {
 public:
  void take(const auto&...) {}
  void sweep(const auto&...) {}
};
template <class E, int W>
requires(E::gradient) class gradients<E, W> {
 public:
  /// An instance that has ended, with its last point.
  template <class Run>
  void take(instance<E, pack<double, 1>>& x, const trajectories<E>& all, const Run& run) {
    using row = trajectory_row<E>;
    trajectory& own = all[x.slot.v];
    const auto why = static_cast<status>(x.status.v);
    if (!is_ok(why)) return own.forget();
    if constexpr (E::form::model_guards > 0) look_at_end(x, mask_of<pack<double, 1>>::all(why == status::finished));
    own.reason = static_cast<sensitivity>(static_cast<int>(x.undefined.v));
    if (own.reason != sensitivity::defined && run.settings.data_count == 0) own.forget();
    row::write(own.append(row::width), x, x.t, 0.0, x.constants.guard_values, 0);
    waiting_[some_++] = x.slot.v;
    if (some_ == W) sweep(all, run);
  }
  /// Stores the gradients of those that wait.
  template <class Run>
  void sweep(const trajectories<E>& all, const Run& run) {
    if (some_ == 0) return;
    sweep_.run(waiting_, some_, all, run.settings, run.batch, run.results);
    for (int i = 0; i < some_; ++i) all[waiting_[i]].forget();
    some_ = 0;
  }

 private:
  int64 waiting_[W];
  int some_ = 0;
  adjoint_sweep<E, W> sweep_;
};

}  // namespace saltus
