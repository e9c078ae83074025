// Rotations in space for authors of models, by unit quaternions (Euler parameters), which have no singular attitude. The functions take any
// number type; components of a vector may have different types (a state, a parameter, 0.0).
//
// A quaternion is four coordinates of a model in the order w, x, y, z. It turns components in the body's axes into those in space, r = p r'
// p*. Its time derivative is p' = p (0, omega)/2 for an angular velocity omega in the body's axes.
#pragma once

#include "number/base.hpp"

namespace saltus {

/// A vector in space.
template <class X, class Y = X, class Z = X>
struct vector_3 {
  X x;
  Y y;
  Z z;
};
template <class X, class Y, class Z>
vector_3(X, Y, Z) -> vector_3<X, Y, Z>;

template <class A, class B, class C, class D, class E, class F>
SALTUS_FN auto operator+(const vector_3<A, B, C>& a, const vector_3<D, E, F>& b) {
  return vector_3{a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class A, class B, class C, class D, class E, class F>
SALTUS_FN auto operator-(const vector_3<A, B, C>& a, const vector_3<D, E, F>& b) {
  return vector_3{a.x - b.x, a.y - b.y, a.z - b.z};
}
template <class Number, class A, class B, class C>
SALTUS_FN auto operator*(const Number& factor, const vector_3<A, B, C>& a) {
  return vector_3{factor * a.x, factor * a.y, factor * a.z};
}
template <class A, class B, class C, class D, class E, class F>
SALTUS_FN auto dot(const vector_3<A, B, C>& a, const vector_3<D, E, F>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class A, class B, class C, class D, class E, class F>
SALTUS_FN auto cross(const vector_3<A, B, C>& a, const vector_3<D, E, F>& b) {
  return vector_3{a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/// A rotation, where w^2 + x^2 + y^2 + z^2 = 1.
template <class Number>
struct quaternion {
  Number w, x, y, z;
};
template <class Number>
quaternion(Number, Number, Number, Number) -> quaternion<Number>;

/// The quaternion of four coordinates, the first of which is `first`; k selects a member of a family of quaternions.
template <class At, class State>
SALTUS_FN auto quaternion_at(const At& at, State first, int k = 0) {
  return quaternion{at(first, 4 * k), at(first, 4 * k + 1), at(first, 4 * k + 2), at(first, 4 * k + 3)};
}

/// The components in space of a vector given in the body's axes.
template <class Number, class A, class B, class C>
SALTUS_FN auto rotated(const quaternion<Number>& p, const vector_3<A, B, C>& r) {
  const vector_3 axis{p.x, p.y, p.z};
  const auto twice = 2.0 * cross(axis, r);
  return r + p.w * twice + cross(axis, twice);
}
/// The components in the body's axes of a vector given in space.
template <class Number, class A, class B, class C>
SALTUS_FN auto rotated_back(const quaternion<Number>& p, const vector_3<A, B, C>& r) {
  return rotated(quaternion{p.w, -p.x, -p.y, -p.z}, r);
}

/// The time derivatives of the four coordinates of a quaternion, dq[first] and the three after it, from the angular velocity in the body's
/// axes. For `kinematics`.
template <class Rates, class State, class Number, class A, class B, class C>
SALTUS_FN void turn(Rates& dq, State first, const quaternion<Number>& p, const vector_3<A, B, C>& omega) {
  dq(first, 0) = -0.5 * (p.x * omega.x + p.y * omega.y + p.z * omega.z);
  dq(first, 1) = 0.5 * (p.w * omega.x + p.y * omega.z - p.z * omega.y);
  dq(first, 2) = 0.5 * (p.w * omega.y + p.z * omega.x - p.x * omega.z);
  dq(first, 3) = 0.5 * (p.w * omega.z + p.x * omega.y - p.y * omega.x);
}

}  // namespace saltus
