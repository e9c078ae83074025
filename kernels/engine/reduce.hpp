// Reductions: numbers kept of a trajectory as it is committed, step by step. Extrema, integrals and what is made of them, quantiles
// over time, the value at a time; and of events how many there were, the first and the last. Within a window of time a step counts as
// far as it lies in it.
#pragma once

#include "engine/reduced_derivatives.hpp"
#include "engine/time_in_bins.hpp"

namespace saltus {

/// A quantity and its rate at a point: a state with its derivative, or an output by dual numbers.
template <class E, class Reduction, class Real>
SALTUS_FN void quantity_along(Real t, const vec<Real, E::n>& y, const vec<Real, E::n>& f,
                              const typename E::form::template held<Real>& c, Real& value, Real& rate) {
  if constexpr (Reduction::of_output) {
    const auto r = E::form::outputs_along(t, y, f, c);
    value = r.value[Reduction::index];
    rate = r.rate[Reduction::index];
  } else {
    value = y[Reduction::index];
    rate = f[Reduction::index];
  }
}

/// What a reduction starts from, at the first point of an instance. What has a window begins with the steps that lie in it.
template <class E, class Real>
SALTUS_FN void begin_reductions(instance<E, Real>& x, mask_of<Real> where) {
  E::each_reduction([&](auto r, [[maybe_unused]] int j, int at) SALTUS_INLINE_LAMBDA {
    using R = decltype(r);
    using of = reduction_traits<R>;
    for (int k = 0; k < numbers_kept_for(R::kind); ++k) assign_where(where, x.reduced[at + k], Real(0.0));
    if constexpr (R::kind == reduce::value || R::kind == reduce::first || R::kind == reduce::last)
      assign_where(where, x.reduced[at], Real(E::form::unset));
    if constexpr (of::is_extremum) {
      Real value = Real(-of::sign * limits<typename E::T>::largest), time = Real(E::form::unset), rate;
      if constexpr (!R::windowed) {
        quantity_along<E, R>(x.t, x.y, x.f, x.held, value, rate);
        time = x.t;
      }
      assign_where(where, x.reduced[at], value);
      if constexpr (of::has_time) assign_where(where, x.reduced[at + 1], time);
    }
    if constexpr (E::kept_directions > 0) begin_reduced_rates<E, R>(x, j, where);
  });
}

/// Takes a value at time t into an extremum.
template <class R, class E, class Real>
SALTUS_FN void take_extremum(instance<E, Real>& x, int at, Real value, Real t, mask_of<Real> where) {
  constexpr double sign = reduction_traits<R>::sign;
  if constexpr (reduction_traits<R>::has_time) {
    const auto better = where & (Real(sign) * value > Real(sign) * x.reduced[at]);
    assign_where(better, x.reduced[at], value);
    assign_where(better, x.reduced[at + 1], t);
  } else {
    assign_where(where, x.reduced[at], Real(sign) * max(Real(sign) * x.reduced[at], Real(sign) * value));
  }
}

/// An event may move a quantity beyond everything seen so far. Within a window the step that follows sees it.
template <class E, class Real>
SALTUS_FN void reduce_jump(instance<E, Real>& x, mask_of<Real> where) {
  E::each_reduction([&](auto r, int, int at) SALTUS_INLINE_LAMBDA {
    using R = decltype(r);
    if constexpr (reduction_traits<R>::is_extremum && !R::windowed) {
      Real value, rate;
      quantity_along<E, R>(x.t, x.y, x.f, x.held, value, rate);
      take_extremum<R>(x, at, value, x.t, where);
    }
  });
}

/// Event number `event` has happened in a lane; `point` is what the event log has of it.
template <class E, class T, int W, class Run>
SALTUS_FN void reduce_event(instance<E, pack<T, W>>& x, int lane, int event,
                            [[maybe_unused]] const vec<pack<T, 1>, E::logged>& point, const Run& run) {
  E::each_reduction([&](auto r, int j, int at) SALTUS_INLINE_LAMBDA {
    using R = decltype(r);
    if constexpr (is_of_event(R::kind)) {
      const auto window = window_of<R, pack<T, 1>>(run, j);
      const T t = x.t.get(lane), before = x.reduced[at].get(lane);
      if constexpr (E::kept_directions > 0)
        if (R::index == event) reduce_rates_of_event<R>(x, lane, j, window, before != before, point);
      if (R::index != event || !(window.from.v <= t && t <= window.to.v)) return;
      if constexpr (R::kind == reduce::count) x.reduced[at].set(lane, before + T(1.0));
      else if (R::kind == reduce::last || before != before) x.reduced[at].set(lane, t);
    }
  });
}

/// Where a cubic with these values and rates at its ends turns, as a part of h.
template <class Real>
SALTUS_FN Real turning_point(Real q0, Real d0, Real q1, Real d1, Real h, mask_of<Real> where) {
  // Root in (0, 1) of the cubic's slope a s^2 + b s + c with c = h d0, by the form that does not cancel.
  const Real a = Real(3.0) * (h * (d0 + d1) - Real(2.0) * (q1 - q0));
  const Real b = Real(6.0) * (q1 - q0) - Real(2.0) * h * (d0 + d0 + d1);
  const Real c = h * d0;
  const Real root = sqrt(max(b * b - Real(4.0) * a * c, Real(0.0)));
  const Real theta = select(where, Real(2.0) * c / (-b + copysign(root, c)), Real(0.5));
  const auto inside = (theta > Real(0.0)) & (theta < Real(1.0));
  return select(inside, theta, Real(0.5));
}

/// A quantity at the ends of a part of a step, and how long that is.
template <class Real>
struct stretch {
  Real left, right;  ///< parts of the step
  Real width;        ///< time
  Real q0, d0, q1, d1;
  mask_of<Real> inside;  ///< lanes in which there is such a part
};

/// An extremum between the ends of a stretch.
template <class Real>
struct turned {
  Real value, at;  ///< `sign` times the quantity; part of the step
};

/// How often a turning point is sought again where its time is asked for.
inline constexpr int attempts_for_time = 6;

/// Where a quantity turns in a stretch of a step of length h: at the turning point of the cubic through its ends, and again of the
/// cubic through that and the end behind which it lies. `look(at, q, d)` gives value and rate.
template <int Attempts, class Real, class Look>
SALTUS_FN_COLD turned<Real> highest_between(const Look& look, Real sign, stretch<Real> s, Real h) {
  turned<Real> r{max(sign * s.q0, sign * s.q1), s.left};
  for (int attempts = 0; attempts < Attempts; ++attempts) {
    const Real width = s.right - s.left;
    r.at = fma(width, turning_point(s.q0, s.d0, s.q1, s.d1, width * h, mask_of<Real>::all(true)), s.left);
    Real q, d;
    look(r.at, q, d);
    r.value = max(r.value, sign * q);
    const auto rises = sign * d > Real(0.0);
    s.left = select(rises, r.at, s.left), s.right = select(rises, s.right, r.at);
    s.q0 = select(rises, q, s.q0), s.q1 = select(rises, s.q1, q);
    s.d0 = select(rises, d, s.d0), s.d1 = select(rises, s.d1, d);
  }
  return r;
}

/// The part of a step that counts for reduction j; the quantity is not known yet.
template <class R, class Real, class Run>
SALTUS_FN stretch<Real> part_in_window(Real t, Real h, const Run& run, int j, mask_of<Real> where) {
  stretch<Real> p{};
  p.left = Real(0.0), p.right = Real(1.0), p.width = h, p.inside = where;
  if constexpr (R::windowed) {
    const auto window = window_of<R, Real>(run, j);
    p.left = max((window.from - t) / h, Real(0.0));
    p.right = min((window.to - t) / h, Real(1.0));
    p.inside = where & (p.left < p.right);
    p.width = select(p.inside, (p.right - p.left) * h, h);
  }
  return p;
}

/// The mean over [0, 1] by Gauss' rule, exact for polynomials of degree 2 Nodes - 1.
template <int Nodes, class Real, class Q>
SALTUS_FN Real gauss_mean(const Q& q) {
  constexpr double node[2][4] = {{0.3399810435848563, 0.8611363115940526, 0.0, 0.0},
                                 {0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363}};
  constexpr double weight[2][4] = {{0.6521451548625461, 0.3478548451374538, 0.0, 0.0},
                                   {0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763}};
  static_assert(Nodes == 4 || Nodes == 8);
  constexpr int rule = Nodes == 8;
  Real sum = Real(0.0);
  for (int k = 0; k < Nodes; ++k)
    sum = fma(Real(0.5 * weight[rule][k / 2]), q(Real(0.5 + (k % 2 == 0 ? -0.5 : 0.5) * node[rule][k / 2])), sum);
  return sum;
}

/// Adds a stretch that begins at time t to a reduction made of integrals of functions of a quantity; `mean_of(g)` is the mean of g(q)
/// over it. Mean and squared deviations are those of what was before and of the stretch, joined (T. F. Chan, G. H. Golub, R. J.
/// LeVeque, The American Statistician 37 (1983) 242): no digits cancel.
template <class R, class E, class Real, class Mean, class Run>
SALTUS_FN void integrate_stretch(instance<E, Real>& x, int j, int at, const stretch<Real>& p, Real t,
                                 const Mean& mean_of, const Run& run) {
  if constexpr (R::kind == reduce::rms) {
    const Real square = mean_of([](Real q) SALTUS_INLINE_LAMBDA { return q * q; });
    assign_where(p.inside, x.reduced[at], fma(p.width, square, x.reduced[at]));
  } else {
    const Real mean = mean_of([](Real q) SALTUS_INLINE_LAMBDA { return q; });
    const Real square = mean_of([&](Real q) SALTUS_INLINE_LAMBDA { return (q - mean) * (q - mean); });
    const Real before = max(t - max(x.t_begin, window_of<R, Real>(run, j).from), Real(0.0));
    const Real part = p.width / (before + p.width), off = mean - x.reduced[at];
    assign_where(p.inside, x.reduced[at + 1], x.reduced[at + 1] + p.width * square + off * off * (before * part));
    assign_where(p.inside, x.reduced[at], fma(off, part, x.reduced[at]));
  }
}

/// Adds a stretch to the time in bins, in straight pieces. `value(u)` is the quantity, u from 0 to 1.
template <int Pieces, class E, class T, int W, class Value>
SALTUS_FN_COLD void spend_stretch(instance<E, pack<T, W>>& x, int at, const stretch<pack<T, W>>& p,
                                  const Value& value) {
  using Real = pack<T, W>;
  const Real dt = p.width * Real(1.0 / Pieces);
  Real q0 = p.q0;
  for (int k = 1; k <= Pieces; ++k) {
    const Real q1 = k == Pieces ? p.q1 : value(Real(k * (1.0 / Pieces)));
    for (int lane = 0; lane < W; ++lane)
      if (p.inside[lane]) time_in_bins<E, T, W>(x, lane, at).add(q0.get(lane), q1.get(lane), dt.get(lane));
    q0 = q1;
  }
}

/// Records the value at the time that is asked for, if a step from t to t1 has come there. At the time of an event it is the value
/// after it: then the step that follows begins there.
template <class R, class E, class Real, class F, class Run>
SALTUS_FN void reduce_value(instance<E, Real>& x, const stages<typename E::Method, Real, E::n>& s, const F& f, Real t1,
                            int j, int at, mask_of<Real> where, const Run& run) {
  const Real time = Real(run.settings.windows[3 * j + 2]);
  const auto due = where & (s.t <= time) & (time <= t1);
  if (none(due)) return;
  const auto y = point_within<E>(s, f, interpolate<typename E::Method>(f, s), time, t1, due);
  Real value, rate;
  quantity_along<E, R>(time, y, s.f0(), x.held, value, rate);
  assign_where(due, x.reduced[at], value);
  if constexpr (E::kept_directions > 0) take_rates_of_value<R>(x, j, time, y, s.f0(), due);
}

/// A quantity within a step, on its dense output.
template <class R, class E, class Real>
SALTUS_FN void look_within(const instance<E, Real>& x, const interpolant_of<E, Real>& step, Real at, Real& q, Real& d) {
  auto slope = step.slope(at);
  each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { slope[i] = slope[i] / step.h; });
  quantity_along<E, R>(fma(at, step.h, step.t), step(at), slope, x.held, q, d);
}

/// Adds a step of a series to the reductions. Such a step is long, and its dense output is as good as its end: integrals are
/// Gauss' of 8 nodes, extrema are sought in four pieces, and time is counted in 32.
template <bool Extrema, class E, class Real, class F, class Run>
SALTUS_FN_COLD void reduce_series(instance<E, Real>& x, const stages<typename E::Method, Real, E::n>& s, const F& f,
                                  Real t1, mask_of<Real> where, const Run& run) {
  constexpr int pieces = 4;
  const auto step = interpolate<typename E::Method>(f, s);
  E::each_reduction([&](auto r, int j, int at) SALTUS_INLINE_LAMBDA {
    using R = decltype(r);
    using of = reduction_traits<R>;
    if constexpr (is_of_event(R::kind)) {
    } else if constexpr (R::kind == reduce::value) {
      reduce_value<R>(x, s, f, t1, j, at, where, run);
    } else {
      stretch<Real> p = part_in_window<R>(step.t, step.h, run, j, where);
      if (none(p.inside)) return;
      const auto place = [&](Real u)
                             SALTUS_INLINE_LAMBDA { return R::windowed ? fma(u, p.right - p.left, p.left) : u; };
      const auto look = [&](Real part, Real& q, Real& d) SALTUS_INLINE_LAMBDA { look_within<R>(x, step, part, q, d); };
      const auto value = [&](Real u) SALTUS_INLINE_LAMBDA {
        Real q, d;
        look(place(u), q, d);
        return q;
      };
      if constexpr (of::is_integral) {
        assign_where(p.inside, x.reduced[at], fma(p.width, gauss_mean<8, Real>(value), x.reduced[at]));
      } else if constexpr (R::kind == reduce::quantile) {
        look(place(Real(0.0)), p.q0, p.d0);
        look(place(Real(1.0)), p.q1, p.d1);
        spend_stretch<32>(x, at, p, value);
      } else if constexpr (!of::is_extremum) {
        integrate_stretch<R>(
            x, j, at, p, fma(p.left, step.h, step.t),
            [&](const auto& g) SALTUS_INLINE_LAMBDA {
              return gauss_mean<8, Real>([&](Real u) SALTUS_INLINE_LAMBDA { return g(value(u)); });
            },
            run);
      } else if constexpr (Extrema) {
        stretch<Real> piece = p;
        piece.left = place(Real(0.0));
        look(piece.left, piece.q0, piece.d0);
        if constexpr (R::windowed) take_extremum<R>(x, at, piece.q0, fma(piece.left, step.h, step.t), p.inside);
        for (int k = 1; k <= pieces; ++k) {
          piece.right = place(Real(k * (1.0 / pieces)));
          look(piece.right, piece.q1, piece.d1);
          take_extremum<R>(x, at, piece.q1, fma(piece.right, step.h, step.t), p.inside);
          const auto turns =
              p.inside & (Real(of::sign) * piece.d0 > Real(0.0)) & (Real(of::sign) * piece.d1 < Real(0.0));
          if (any(turns)) {
            constexpr int attempts = of::has_time ? attempts_for_time : 2;
            const auto top = highest_between<attempts>(look, Real(of::sign), piece, step.h);
            take_extremum<R>(x, at, Real(of::sign) * top.value, fma(top.at, step.h, step.t), turns);
          }
          piece.left = piece.right, piece.q0 = piece.q1, piece.d0 = piece.d1;
        }
      }
    }
  });
}

/// The quantity at the ends of what counts of a step.
template <class R, class E, class Real, class F>
SALTUS_FN void look_at_ends(const instance<E, Real>& x, const stages<typename E::Method, Real, E::n>& s, const F& f,
                            stretch<Real>& p) {
  quantity_along<E, R>(s.t, s.y, s.f0(), x.held, p.q0, p.d0);
  quantity_along<E, R>(s.t + s.h, s.y1, s.f1(), x.held, p.q1, p.d1);
  if constexpr (R::windowed) {
    const auto late = p.inside & (p.left > Real(0.0)), early = p.inside & (p.right < Real(1.0));
    if (none(late | early)) return;
    const auto step = interpolate<typename E::Method>(f, s);
    Real q, d;
    look_within<R>(x, step, p.left, q, d);
    assign_where(late, p.q0, q), assign_where(late, p.d0, d);
    look_within<R>(x, step, p.right, q, d);
    assign_where(early, p.q1, q), assign_where(early, p.d1, d);
  }
}

/// The extremum inside a stretch whose ends show one: at that of the cubic Hermite interpolant, valued on the dense output; where
/// its time is asked for it is sought where the rate of change is zero.
template <class R, class E, class Real, class F>
SALTUS_FN_COLD void take_turning_point(instance<E, Real>& x, const stages<typename E::Method, Real, E::n>& s,
                                       const F& f, int at, const stretch<Real>& p, mask_of<Real> turns) {
  const auto interpolant = interpolate<typename E::Method>(f, s);
  if constexpr (reduction_traits<R>::has_time) {
    const auto look = [&](Real part, Real& q, Real& d) SALTUS_INLINE_LAMBDA {
      if constexpr (E::form::has_field && !E::form::has_constraints) {
        const Real t = fma(part, s.h, s.t);
        const auto y = interpolant(part);
        quantity_along<E, R>(t, y, f(t, y), x.held, q, d);
      } else {
        look_within<R>(x, interpolant, part, q, d);
      }
    };
    if constexpr (E::form::has_field && !E::form::has_constraints)
      add_where(x.rhs_evaluations, turns, attempts_for_time);
    const auto top = highest_between<attempts_for_time>(look, Real(reduction_traits<R>::sign), p, s.h);
    take_extremum<R>(x, at, Real(reduction_traits<R>::sign) * top.value, fma(top.at, s.h, s.t), turns);
  } else {
    const Real in_stretch = turning_point(p.q0, p.d0, p.q1, p.d1, p.width, turns);
    const Real part = R::windowed ? fma(in_stretch, p.right - p.left, p.left) : in_stretch;
    Real q, d;
    quantity_along<E, R>(fma(part, s.h, s.t), interpolant(part), s.f0(), x.held, q, d);
    take_extremum<R>(x, at, q, s.t, turns);
  }
}

/// Adds a committed step that ends at t1 to the reductions. Integrals are Hermite's: trapezoid with end correction
/// h^2/12 (q0' - q1'), and what is not linear in the quantity is taken of the cubic that this rule integrates, by Gauss' rule.
/// With Extrema = false only the integrals go on.
template <bool Extrema = true, class E, class Real, class F, class Run>
SALTUS_FN void reduce_step(instance<E, Real>& x, const stages<typename E::Method, Real, E::n>& s, const F& f, Real t1,
                           mask_of<Real> where, const Run& run) {
  if constexpr (is_series_method<typename E::Method>) return reduce_series<Extrema>(x, s, f, t1, where, run);
  E::each_reduction([&](auto r, int j, int at) SALTUS_INLINE_LAMBDA {
    using R = decltype(r);
    using of = reduction_traits<R>;
    if constexpr (is_of_event(R::kind)) {
    } else if constexpr (R::kind == reduce::value) {
      reduce_value<R>(x, s, f, t1, j, at, where, run);
    } else if constexpr (Extrema || !of::is_extremum) {
      stretch<Real> p = part_in_window<R>(s.t, s.h, run, j, where);
      if constexpr (R::windowed)
        if (none(p.inside)) return;
      look_at_ends<R>(x, s, f, p);
      const auto cubic = [&](Real u) SALTUS_INLINE_LAMBDA {
        const Real rise = p.q1 - p.q0, first = fma(p.width, p.d0, -rise);
        const Real second = fma(-p.width, p.d0 + p.d1, rise + rise);
        return fma(u, fma(Real(1.0) - u, fma(u, second, first), rise), p.q0);
      };
      if constexpr (of::is_integral) {
        const Real area = p.width * (fma(p.width * Real(1.0 / 12.0), p.d0 - p.d1, Real(0.5) * (p.q0 + p.q1)));
        assign_where(p.inside, x.reduced[at], x.reduced[at] + area);
        if constexpr (E::kept_directions > 0) integrate_rates<E, R>(x, j, s, where);
      } else if constexpr (R::kind == reduce::quantile) {
        spend_stretch<8>(x, at, p, cubic);
      } else if constexpr (!of::is_extremum) {
        integrate_stretch<R>(
            x, j, at, p, R::windowed ? fma(p.left, s.h, s.t) : s.t,
            [&](const auto& g) SALTUS_INLINE_LAMBDA {
              return gauss_mean<4, Real>([&](Real u) SALTUS_INLINE_LAMBDA { return g(cubic(u)); });
            },
            run);
      } else {
        if constexpr (R::windowed) take_extremum<R>(x, at, p.q0, fma(p.left, s.h, s.t), p.inside);
        take_extremum<R>(x, at, p.q1, R::windowed ? fma(p.right, s.h, s.t) : t1, p.inside);
        const auto turns = p.inside & (Real(of::sign) * p.d0 > Real(0.0)) & (Real(of::sign) * p.d1 < Real(0.0));
        if (any(turns)) take_turning_point<R>(x, s, f, at, p, turns);
        if constexpr (E::kept_directions > 0)
          turn_rates<E, R>(x, j, s, f, turning_point(p.q0, p.d0, p.q1, p.d1, p.width, turns), p.d0, p.d1, where);
      }
    }
  });
}

/// What has come of reduction j at the end of an instance. A time is NaN, and so is what is made of no time at all.
template <class R, class E, class T, class Run>
SALTUS_FN_COLD double final_reduction(instance<E, pack<T, 1>>& x, int j, int at, const Run& run) {
  using of = reduction_traits<R>;
  using one = pack<T, 1>;
  constexpr double unset = E::form::unset;
  const auto window = window_of<R, one>(run, j);
  const auto everyone = mask_of<one>::all(true);
  if constexpr (is_of_event(R::kind)) {
    const auto number = static_cast<double>(x.reduced[at].v);
    return R::kind == reduce::count ? number : E::form::model_time(number);
  } else if constexpr (R::kind == reduce::value || (of::is_extremum && R::windowed)) {
    // What happens at the very end no step has seen.
    one value, rate;
    quantity_along<E, R>(x.t, x.y, x.f, x.held, value, rate);
    if constexpr (R::kind == reduce::value) {
      if (static_cast<T>(run.settings.windows[3 * j + 2]) == x.t.v) x.reduced[at] = value;
    } else if (window.from.v <= x.t.v && x.t.v <= window.to.v && x.t.v > x.t_begin.v) {
      take_extremum<R>(x, at, value, x.t, everyone);
    }
  }
  const auto number = static_cast<double>(x.reduced[at].v);
  if constexpr (of::has_time) return E::form::model_time(static_cast<double>(x.reduced[at + 1].v));
  else if constexpr (of::is_extremum)
    return R::windowed && abs(x.reduced[at]).v == static_cast<T>(limits<T>::largest) ? unset : number;
  else if constexpr (R::kind == reduce::quantile)
    return static_cast<double>(
        time_in_bins<E, T, 1>(x, 0, at).quantile(static_cast<T>(run.settings.windows[3 * j + 2])));
  else if constexpr (R::kind == reduce::value || R::kind == reduce::integral) return number;
  else {
    const double begin = static_cast<double>(max(x.t_begin, window.from).v);
    const double span = static_cast<double>(min(x.t, window.to).v) - begin;
    if (!(span > 0.0)) return R::kind == reduce::mean && !R::windowed ? number : unset;
    if constexpr (R::kind == reduce::mean) return number / span;
    constexpr int of_squares = R::kind == reduce::deviation ? 1 : 0;
    return sqrt(pack<double, 1>(static_cast<double>(x.reduced[at + of_squares].v) / span)).v;
  }
}

}  // namespace saltus
