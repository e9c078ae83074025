// The inverse of the standard normal distribution: algorithm AS 241, routine PPND16 (M. J. Wichura, Appl. Statist. 37 (1988) 477), with a
// relative error of about 1e-16.
#pragma once

#include "number/math.hpp"

namespace saltus {

namespace detail {
/// The quotient of two polynomials of degree 7 in x, constant terms first.
template <class Real>
SALTUS_FN Real quotient_of_polynomials(Real x, const double (&above)[8], const double (&below)[8]) {
  Real p = Real(above[7]), q = Real(below[7]);
  for (int i = 6; i >= 0; --i) {
    p = fma(p, x, Real(above[i]));
    q = fma(q, x, Real(below[i]));
  }
  return p / q;
}
}  // namespace detail

/// x with probability u of a smaller standard normal number, for 0 < u < 1.
template <class T, int W>
SALTUS_FN pack<T, W> normal_quantile(pack<T, W> u) {
  using Real = pack<T, W>;
  // clang-format off
  constexpr double a[] = {3.3871328727963666080,     1.3314166789178437745e+2, 1.9715909503065514427e+3,
                          1.3731693765509461125e+4,  4.5921953931549871457e+4, 6.7265770927008700853e+4,
                          3.3430575583588128105e+4,  2.5090809287301226727e+3};
  constexpr double b[] = {1.0,                       4.2313330701600911252e+1, 6.8718700749205790830e+2,
                          5.3941960214247511077e+3,  2.1213794301586595867e+4, 3.9307895800092710610e+4,
                          2.8729085735721942674e+4,  5.2264952788528545610e+3};
  constexpr double c[] = {1.42343711074968357734,    4.63033784615654529590,    5.76949722146069140550,
                          3.64784832476320460504,    1.27045825245236838258,    2.41780725177450611770e-1,
                          2.27238449892691845833e-2, 7.74545014278341407640e-4};
  constexpr double d[] = {1.0,                       2.05319162663775882187,    1.67638483018380384940,
                          6.89767334985100004550e-1, 1.48103976427480074590e-1, 1.51986665636164571966e-2,
                          5.47593808499534494600e-4, 1.05075007164441684324e-9};
  constexpr double e[] = {6.65790464350110377720,    5.46378491116411436990,    1.78482653991729133580,
                          2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                          2.71155556874348757815e-5, 2.01033439929228813265e-7};
  constexpr double f[] = {1.0,                       5.99832206555887937690e-1, 1.36929880922735805310e-1,
                          1.48753612908506148525e-2, 7.86869131145613259100e-4, 1.84631831751005468180e-5,
                          1.42151175831644588870e-7, 2.04426310338993978564e-15};
  // clang-format on
  const Real q = u - Real(0.5);
  const Real centre = q * detail::quotient_of_polynomials(Real(0.180625) - q * q, a, b);
  const Real r = sqrt(-log(min(u, Real(1.0) - u)));
  const Real near = detail::quotient_of_polynomials(r - Real(1.6), c, d);
  const Real far = detail::quotient_of_polynomials(r - Real(5.0), e, f);
  const Real tail = copysign(select(r <= Real(5.0), near, far), q);
  return select(abs(q) <= Real(0.425), centre, tail);
}

}  // namespace saltus
