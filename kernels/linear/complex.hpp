// Complex numbers over any Real, with the operations that the complex block of Radau IIA needs.
#pragma once

#include "number/real.hpp"

namespace saltus {

template <class Real>
struct complex {
  using mask_type = mask_of<Real>;
  Real re, im;

  complex() = default;
  SALTUS_FN complex(Real r) : re(r), im(0.0) {}
  SALTUS_FN complex(Real r, Real i) : re(r), im(i) {}

  SALTUS_FN friend complex operator+(const complex& a, const complex& b) { return {a.re + b.re, a.im + b.im}; }
  SALTUS_FN friend complex operator-(const complex& a, const complex& b) { return {a.re - b.re, a.im - b.im}; }
  SALTUS_FN friend complex operator*(const complex& a, const complex& b) {
    return {fma(a.re, b.re, -(a.im * b.im)), fma(a.re, b.im, a.im * b.re)};
  }
  SALTUS_FN friend complex select(mask_type m, const complex& a, const complex& b) {
    return {select(m, a.re, b.re), select(m, a.im, b.im)};
  }
  /// c - a b
  SALTUS_FN friend complex less_product(const complex& c, const complex& a, const complex& b) {
    return {fma(-a.re, b.re, fma(a.im, b.im, c.re)), fma(-a.re, b.im, fma(-a.im, b.re, c.im))};
  }
  SALTUS_FN friend complex reciprocal(const complex& a) {
    const Real inverse = Real(1.0) / fma(a.re, a.re, a.im * a.im);
    return {a.re * inverse, -(a.im * inverse)};
  }
  /// re| + |im|, by which pivots are compared.
  SALTUS_FN friend Real magnitude(const complex& a) { return abs(a.re) + abs(a.im); }
};

}  // namespace saltus
