// Derivatives of a system's equations (linear/system.hpp) by dual numbers: a few directions at a time through the model's own
// function.
#pragma once

#include "linear/lu.hpp"
#include "linear/system.hpp"
#include "number/dual.hpp"

namespace saltus {

/// The division of `Directions` derivatives into `count` sweeps of `width` each. Wide duals fill the registers.
template <int Directions, int widest = widest_sweep>
struct sweeps {
  static constexpr int count = (Directions + widest - 1) / widest;
  static constexpr int width = (Directions + count - 1) / (count > 0 ? count : 1);
};

/// body(first direction) for every sweep.
template <int Directions, int widest = widest_sweep, class F>
SALTUS_FN void each_sweep(F&& body) {
  using how = sweeps<Directions, widest>;
  if constexpr (how::count <= 3) {
    static_for<how::count>([&](auto s) SALTUS_INLINE_LAMBDA { body(static_cast<int>(s) * how::width); });
  } else {
    for (int s = 0; s < how::count; ++s) body(s * how::width);
  }
}

/// x with `derivative` in direction number `direction`, if the sweep that begins with `first` contains that direction.
template <int width, class Real>
SALTUS_FN dual<Real, width> seeded(Real x, int direction, int first, Real derivative) {
  dual<Real, width> r(x);
  static_for<width>([&](auto k) SALTUS_INLINE_LAMBDA {
    if (first + k == direction) r.d[k] = derivative;
  });
  return r;
}

/// f, df/dy and df/dt at a point.
template <class Real, int n>
struct linear_rhs {
  vec<Real, n> f, dt;
  matrix<Real, n> dy;
};

template <class System, class Real, int n>
SALTUS_FN linear_rhs<Real, n> linearise(const System& system, Real t, const vec<Real, n>& y) {
  constexpr int colours = detail::colours_of<System, n>();  // time is one more direction
  constexpr int widest = detail::widest_sweep_of<System>(), width = sweeps<colours + 1, widest>::width;
  using Value = dual<Real, width>;
  linear_rhs<Real, n> r;
  if constexpr (colours < n)
    each<n>([&](int i) SALTUS_INLINE_LAMBDA { each<n>([&](int j) SALTUS_INLINE_LAMBDA { r.dy[i][j] = Real(0.0); }); });
  each_sweep<colours + 1, widest>([&](int first) SALTUS_INLINE_LAMBDA {
    vec<Value, n> along;
    each<n>([&](int j) SALTUS_INLINE_LAMBDA {
      along[j] = seeded<width>(y[j], detail::colour_of<System>(j), first, Real(1.0));
    });
    const auto f = system.rhs(seeded<width>(t, colours, first, Real(1.0)), along);
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      r.f[i] = f[i].value;
      static_for<width>([&](auto k) SALTUS_INLINE_LAMBDA {
        if (first + k == colours) r.dt[i] = f[i].d[k];
        if constexpr (colours == n) {
          if (first + k < n) r.dy[i][first + k] = f[i].d[k];
        } else {
          for (int j = 0; j < n; ++j)
            if (detail::has_entry<System>(i, j) && detail::colour_of<System>(j) == first + k) r.dy[i][j] = f[i].d[k];
        }
      });
    });
  });
  return r;
}

/// Derivatives of F(t, y, dy) by y in one matrix and by dy in the other.
template <class Real, int n>
struct linear_residual {
  matrix<Real, n> by_y, by_rate;
};

template <class System, class Real, int n>
SALTUS_FN linear_residual<Real, n> linearise(const System& system, Real t, const vec<Real, n>& y,
                                             const vec<Real, n>& rate) {
  constexpr int width = sweeps<n>::width;
  using Value = dual<Real, width>;
  linear_residual<Real, n> r;
  for (int of_rate = 0; of_rate < 2; ++of_rate) {
    each_sweep<n>([&](int first) SALTUS_INLINE_LAMBDA {
      vec<Value, n> at, along;
      const Real one_of_y = Real(of_rate ? 0.0 : 1.0), one_of_rate = Real(of_rate ? 1.0 : 0.0);
      each<n>([&](int j) SALTUS_INLINE_LAMBDA {
        at[j] = seeded<width>(y[j], j, first, one_of_y);
        along[j] = seeded<width>(rate[j], j, first, one_of_rate);
      });
      const auto F = system.residual(Value(t), at, along);
      auto& by = of_rate ? r.by_rate : r.by_y;
      each<n>([&](int i) SALTUS_INLINE_LAMBDA {
        static_for<width>([&](auto k) SALTUS_INLINE_LAMBDA {
          if (first + k < n) by[i][first + k] = F[i].d[k];
        });
      });
    });
  }
  return r;
}

/// M of a system's equations M dy = f, or dF/d(dy). Systems without a matrix have 1 for differential states and 0 for the others.
template <class System, class Real, int n>
struct mass_matrix {
  static constexpr bool has_mass = System::kind == equations::with_mass || System::kind == equations::implicit;
  matrix<Real, has_mass ? n : 0> m;

  SALTUS_FN vec<Real, n> times_mass(const vec<Real, n>& v) const {
    vec<Real, n> r;
    if constexpr (has_mass) {
      each<n>([&](int i) SALTUS_INLINE_LAMBDA {
        Real sum = m[i][0] * v[0];
        for (int j = 1; j < n; ++j) sum = fma(m[i][j], v[j], sum);
        r[i] = sum;
      });
    } else {
      each<n>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = System::index(i) == 0 ? v[i] : Real(0.0); });
    }
    return r;
  }
};

/// The derivatives M and -J of a system's equations M dy = f, or of 0 = F(t, y, dy), with further quantities for the stages.
template <class System, class Real, int n>
struct linear_system : mass_matrix<System, Real, n> {
  static constexpr auto kind = System::kind;
  static constexpr bool is_plain = kind == equations::plain;
  using mass_matrix<System, Real, n>::has_mass;
  using mass_matrix<System, Real, n>::m;
  using mass_matrix<System, Real, n>::times_mass;

  matrix<Real, n> minus_j;
  vec<Real, n> f, dt;  ///< right-hand side and its derivative by time; `implicit`: M dy, 0
  static constexpr int evaluations =
      kind == equations::implicit
          ? 2 * sweeps<n>::count
          : sweeps<detail::colours_of<System, n>() + 1, detail::widest_sweep_of<System>()>::count;

  SALTUS_FN linear_system(const System& system, Real t, const vec<Real, n>& y, const vec<Real, n>& rate) {
    if constexpr (kind == equations::implicit) {
      const auto l = linearise(system, t, y, rate);
      minus_j = l.by_y;
      m = l.by_rate;
      each<n>([&](int i) SALTUS_INLINE_LAMBDA { dt[i] = Real(0.0); });
      f = times_mass(rate);
    } else {
      const auto l = linearise(system, t, y);
      f = l.f;
      dt = l.dt;
      if constexpr (has_mass) m = system.mass();
      each<n>([&](int i)
                  SALTUS_INLINE_LAMBDA { each<n>([&](int j) SALTUS_INLINE_LAMBDA { minus_j[i][j] = -l.dy[i][j]; }); });
    }
  }

  /// The size of the terms of each equation at a point where its residual is r. The part of r that no derivative explains counts as one
  /// term. `rate_terms` is the size of the summands of dy.
  SALTUS_FN_COLD vec<Real, n> size_of_terms(const vec<Real, n>& r, const vec<Real, n>& y, const vec<Real, n>& dy,
                                            const vec<Real, n>& rate_terms) const {
    vec<Real, n> size;
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      Real known = Real(0.0), sum = Real(0.0);
      for (int j = 0; j < n; ++j) {
        known = fma(minus_j[i][j], y[j], known);
        sum = fma(abs(minus_j[i][j]), abs(y[j]), sum);
        if constexpr (has_mass) {
          known = fma(m[i][j], dy[j], known);
          sum = fma(abs(m[i][j]), rate_terms[j], sum);
        }
      }
      if constexpr (!has_mass)
        if (System::index(i) == 0) {
          known = known + dy[i];
          sum = sum + rate_terms[i];
        }
      size[i] = sum + abs(r[i] - known);
    });
    return size;
  }

  /// shift M - J, over reals or complex numbers.
  template <class Number>
  SALTUS_FN matrix<Number, n> shifted(Number shift) const {
    matrix<Number, n> w;
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      each<n>([&](int j) SALTUS_INLINE_LAMBDA {
        if constexpr (has_mass) w[i][j] = Number(minus_j[i][j]) + shift * Number(m[i][j]);
        else w[i][j] = i == j && System::index(i) == 0 ? Number(minus_j[i][j]) + shift : Number(minus_j[i][j]);
      });
    });
    return w;
  }
};

/// The fraction of the size of an equation's terms that rounding may leave: some ulps for each term and for the functions in it.
template <class T>
inline constexpr double rounding_of_terms = 64.0 * limits<T>::epsilon;

/// The lanes in which the equations hold as well as they can: their residuals are rounding of their terms. No iteration improves them,
/// whatever the tolerance.
template <class Real, int n>
SALTUS_FN mask_of<Real> is_rounding(const vec<Real, n>& r, const vec<Real, n>& size_of_terms) {
  auto all_of_it = mask_of<Real>::all(true);
  each<n>([&](int i) SALTUS_INLINE_LAMBDA {
    all_of_it = all_of_it & (abs(r[i]) <= Real(rounding_of_terms<scalar_of<Real>>) * size_of_terms[i]);
  });
  return all_of_it;
}

}  // namespace saltus
