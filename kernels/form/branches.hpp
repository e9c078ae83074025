// Constraints that become dependent during the motion: a dead point, at which branches of the motion meet. A flat parallelogram of bars may
// continue as a parallelogram or crossed. The equations do not determine the branch, and a step that ends beyond the point has chosen one
// by chance.
//
// Between two points of one branch the determinant of
//
//     J(y1) M^-1 J(y0)'
//
// is positive, since it is positive for y1 = y0. It changes its sign at a simple branch point, as det (J; T') does, T being a basis of the
// null space of J(y0), which numerical continuation monitors (E. L. Allgower, K. Georg, Introduction to Numerical Continuation Methods,
// chapter 8). It also changes its sign if the directions of motion turn by more than a right angle in one step. Such a step is repeated
// with a smaller size, which distinguishes the two cases.
#pragma once

#include "form/independence.hpp"
#include "model/mechanics.hpp"

namespace saltus::detail {

/// The constraints of one point, switched, with M factorised there.
template <class Bodies, class Real, class Point>
struct constraints_there {
  typename Bodies::template rows<Real> rows;
  typename Bodies::template inertia<Real> inertia;

  SALTUS_FN explicit constraints_there(const Point& at) : rows(switched(at)), inertia(at, rows) {}
  SALTUS_FN static auto switched(const Point& at) {
    auto r = Bodies::jacobian_at(at);
    each<Bodies::constraints>([&](int k) SALTUS_INLINE_LAMBDA {
      r.position[k] = r.velocity[k] = r.bend[k] = Real(0.0);  // not needed
    });
    Bodies::switch_off(at, r);
    return r;
  }
};

/// How independent constraints are at a point: the remainder of each gradient after the others are eliminated, squared, in the metric of
/// the kinetic energy. It is relative to its value at another point, which the motion has passed.
template <class Bodies, class Real, class Point>
SALTUS_FN_COLD independence<Real> independence_at(const Point& at, const Point& before) {
  const constraints_there<Bodies, Real, Point> here(at), there(before);
  const auto a =
      here.inertia.template of_constraints<false>([&](int k) SALTUS_INLINE_LAMBDA { return Bodies::is_on(at, k); });
  independence<Real> r;
  each<Bodies::constraints>([&](int k) SALTUS_INLINE_LAMBDA {
    const auto on = Bodies::is_on(at, k);
    const auto square = [&](const auto& of) SALTUS_INLINE_LAMBDA {
      Real sum = Real(0.0);
      for (int j = 0; j < Bodies::velocities; ++j) {
        const Real x = of.inertia.reduced[k][j];
        sum = fma(x * of.inertia.mass.over_d[j], x, sum);
      }
      return sum;
    };
    const Real whole = square(here), was = square(there);
    const Real left = select(was > whole, whole / was, Real(1.0));
    const Real part = select(on, select(whole > Real(0.0), min(a.d[k] / whole, left), Real(0.0)), Real(1.0));
    const auto less = part < r.least;  // after a pivot of zero the others are NaN
    r.of = select(less, Real(static_cast<double>(k)), r.of);
    r.least = select(less, part, r.least);
  });
  return r;
}

/// The lanes in which two points are not known to lie on one branch.
template <class Bodies, class Real, class Point>
SALTUS_FN_COLD mask_of<Real> on_other_branches(const Point& from, const Point& to) {
  constexpr int m = Bodies::constraints, n = Bodies::velocities;
  const constraints_there<Bodies, Real, Point> begin(from);
  const auto end = constraints_there<Bodies, Real, Point>::switched(to);
  matrix<Real, m> a;
  each<m>([&](int k) SALTUS_INLINE_LAMBDA {
    Real row[n];
    begin.inertia.reduce(end.by[k], row);
    for (int l = 0; l < m; ++l) {
      a[k][l] = Real(0.0);
      for (int j = 0; j < n; ++j)
        a[k][l] = fma(row[j] * begin.inertia.mass.over_d[j], begin.inertia.reduced[l][j], a[k][l]);
    }
    a[k][k] = select(Bodies::is_on(to, k), a[k][k], Real(1.0));
  });
  const ldu<Real, m> f(a);
  // All leading minors: further constraints do not remove a dependence among the first ones.
  auto r = mask_of<Real>::all(false);
  each<m>([&](int k) SALTUS_INLINE_LAMBDA { r = r | !(f.d[k] > Real(0.0)); });
  return r;
}

}  // namespace saltus::detail
