#!/usr/bin/env python3
"""Makes tests/jet_reference.hpp: Taylor coefficients of every function of the contract, along a cubic, by mpmath (python3-mpmath)
in 60 digits: by the integral formula of Cauchy."""
import mpmath as mp

mp.mp.dps = 60
ORDERS = 21


def u(t):
    return mp.mpf("0.6") + mp.mpf("0.25") * t - mp.mpf("0.125") * t**2 + mp.mpf("0.0625") * t**3


def w(t):
    return mp.mpf("1.5") - mp.mpf("0.5") * t + mp.mpf("0.25") * t**2


# The argument's coefficients are exact in binary, except the first, which is rounded as in the test.
FIRST = mp.mpf(float(0.6))


def exact_u(t):
    return u(t) - mp.mpf("0.6") + FIRST


FUNCTIONS = {
    "product": lambda t: exact_u(t) * w(t),
    "quotient": lambda t: exact_u(t) / w(t),
    "square": lambda t: exact_u(t) ** 2,
    "sqrt": lambda t: mp.sqrt(exact_u(t)),
    "cbrt": lambda t: mp.cbrt(exact_u(t)),
    "exp": lambda t: mp.exp(exact_u(t)),
    "expm1": lambda t: mp.expm1(exact_u(t)),
    "log": lambda t: mp.log(exact_u(t)),
    "log2": lambda t: mp.log(exact_u(t), 2),
    "log10": lambda t: mp.log10(exact_u(t)),
    "sin": lambda t: mp.sin(exact_u(t)),
    "cos": lambda t: mp.cos(exact_u(t)),
    "tan": lambda t: mp.tan(exact_u(t)),
    "asin": lambda t: mp.asin(exact_u(t)),
    "acos": lambda t: mp.acos(exact_u(t)),
    "atan": lambda t: mp.atan(exact_u(t)),
    "sinh": lambda t: mp.sinh(exact_u(t)),
    "cosh": lambda t: mp.cosh(exact_u(t)),
    "tanh": lambda t: mp.tanh(exact_u(t)),
    "atan2": lambda t: mp.atan(exact_u(t) / w(t)),
    "hypot": lambda t: mp.sqrt(exact_u(t) ** 2 + w(t) ** 2),
    "pow_number": lambda t: exact_u(t) ** mp.mpf("-1.5"),
    "pow_of_number": lambda t: mp.mpf(3) ** exact_u(t),
    "pow": lambda t: exact_u(t) ** w(t),
    "cube": lambda t: exact_u(t) ** 3,
}

print("""// Made by tests/reference/jets.py: coefficients of t^0 .. t^%d of functions of u = 0.6 + t/4 - t^2/8 + t^3/16 and
// w = 1.5 - t/2 + t^2/4, by mpmath.
#pragma once

namespace saltus::test {

struct jet_reference {
  const char* function;
  double of[%d];
};

// clang-format off
constexpr jet_reference jet_references[] = {""" % (ORDERS - 1, ORDERS))
for name, function in FUNCTIONS.items():
    # Cauchy's integral on a circle well inside the radius of convergence: the trapezoidal rule converges exponentially.
    n, radius = 512, mp.mpf("0.5")
    values = [function(radius * mp.expjpi(mp.mpf(2 * k) / n)) for k in range(n)]
    coefficients = []
    for order in range(ORDERS):
        total = mp.fsum(values[k] * mp.expjpi(-mp.mpf(2 * k * order) / n) for k in range(n)) / n
        coefficients.append(mp.re(total) / radius**order)
    print('    {"%s", {%s}},' % (name, ",\n      ".join(
        ", ".join(mp.nstr(c, 20) for c in coefficients[i:i + 5]) for i in range(0, ORDERS, 5))))
print("""};
// clang-format on

}  // namespace saltus::test""")
