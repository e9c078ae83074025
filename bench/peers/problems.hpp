// The ensembles of bench/beside written independently of the saltus models: right-hand sides, guards, transitions,
// Jacobians and residuals, by hand for double and long double. All programs that run another solver use them, and so does
// the reference. A problem's parameters p are in the order of its table's columns; all other constants are doubles, so that
// every solver has the same ones.
//
// A problem has at most one guard g. The guard starts above zero (or at zero and rising), and its event is a falling zero;
// with `direction` 0 the event is a zero in either direction. Besides the states, a transition changes the mode: numbers m
// that are constant between events.
#pragma once

#include <cmath>
#include <limits>
#include <string>

#include "../models/parts/outer_solar_system.hpp"

namespace peers {

/// Common part of most problems. `output` maps the integrated states to the states of the model; `max_step` is short enough
/// that a step cannot pass two events at once.
template <int N, int Parameters>
struct problem {
  static constexpr int n = N, outputs = N, parameters = Parameters, modes = 0, direction = -1;
  static constexpr double max_step = std::numeric_limits<double>::infinity();

  static void start_mode(const double*, double*) {}
  template <class Real>
  static void output(const double*, const Real* y, Real* out) {
    for (int i = 0; i < N; ++i) out[i] = y[i];
  }
};

template <class Problem>
constexpr bool has_events = requires(const double* y) {
  Problem::guard(y, y, 0.0, y);
};

/// Stiff problems have a Jacobian.
template <class Problem>
constexpr bool is_stiff = requires(const double* y, double& (*j)(int, int)) {
  Problem::jacobian(y, y, j);
};

/// E. N. Lorenz, J. Atmos. Sci. 20 (1963) 130: p[0] is rho.
struct lorenz : problem<3, 1> {
  static constexpr const char* name = "lorenz";

  static void start(const double*, double* y) { y[0] = y[1] = y[2] = 10.0; }
  template <class Real>
  static void rhs(const double* p, const Real*, Real, const Real* y, Real* dy) {
    dy[0] = 10.0 * (y[1] - y[0]);
    dy[1] = y[0] * (p[0] - y[2]) - y[1];
    dy[2] = y[0] * y[1] - 8.0 / 3.0 * y[2];
  }
};

/// A bouncing ball: p[0] is the height it is dropped from, p[1] the coefficient of restitution.
struct bouncing_ball : problem<2, 2> {
  static constexpr const char* name = "bouncing_ball";

  static void start(const double* p, double* y) { y[0] = p[0], y[1] = 0.0; }
  template <class Real>
  static void rhs(const double*, const Real*, Real, const Real* y, Real* dy) {
    dy[0] = y[1];
    dy[1] = Real(-9.81);
  }
  template <class Real>
  static Real guard(const double*, const Real*, Real, const Real* y) {
    return y[0];
  }
  template <class Real>
  static void transition(const double* p, Real*, Real, Real* y) {
    y[0] = 0;  // rounding must not leave it below zero
    y[1] = -p[1] * y[1];
  }
};

/// The same ball in air, with the drag of a basketball.
struct ball_drag : bouncing_ball {
  static constexpr const char* name = "ball_drag";
  static constexpr double drag = 0.01;

  template <class Real>
  static void rhs(const double*, const Real*, Real, const Real* y, Real* dy) {
    using std::abs;
    dy[0] = y[1];
    dy[1] = -9.81 - drag * y[1] * abs(y[1]);
  }

  /// In closed form (problems/ball_drag.hpp), since methods of high order lose theirs where the velocity changes its sign.
  static void solution(const double* p, long double t, long double* y, long& events) {
    const long double g = 9.81, k = drag, c = sqrtl(g / k), w = sqrtl(g * k);
    long double top = p[0];  // height from which the ball falls
    for (events = 0;; ++events) {
      const long double fall = acoshl(expl(k * top)) / w;
      if (t < fall) {
        y[0] = top - logl(coshl(w * t)) / k;
        y[1] = -c * tanhl(w * t);
        return;
      }
      t -= fall;
      const long double speed = p[1] * c * sqrtl(-expm1l(-2.0L * k * top)), angle = atanl(speed / c);
      top = log1pl(speed * speed / (c * c)) / (2.0L * k);
      if (t < angle / w) {
        y[0] = logl(cosl(angle - w * t) / cosl(angle)) / k;
        y[1] = c * tanl(angle - w * t);
        ++events;
        return;
      }
      t -= angle / w;
    }
  }
};

/// L. G. Birta, T. I. Oren, D. L. Kettenis, Trans. Soc. Comput. Simul. 2 (1985) 189, problem 1: p[0] is A, m[0] is u.
struct bok_1 : problem<3, 1> {
  static constexpr const char* name = "bok_1";
  static constexpr int modes = 1, direction = 0;
  static constexpr double pi = 3.14159265358979323846;

  static void start(const double*, double* y) { y[0] = 0.0, y[1] = 1.0, y[2] = 0.0; }
  static void start_mode(const double*, double* m) { m[0] = 1.0; }
  template <class Real>
  static void rhs(const double*, const Real* m, Real, const Real* y, Real* dy) {
    dy[0] = pi * y[1];
    dy[1] = -pi * y[0];
    dy[2] = m[0] * m[0] * m[0];
  }
  template <class Real>
  static Real guard(const double* p, const Real*, Real t, const Real* y) {
    return y[0] - p[0] * t;
  }
  template <class Real>
  static void transition(const double*, Real* m, Real, Real* y) {
    m[0] = -m[0] * y[0];
  }
};

/// J. P. Den Hartog, Trans. ASME 53 (1931) 107, with a static friction above the kinetic one: p[0] is the amplitude of
/// the drive, m[0] the direction: 1 moving right, -1 moving left, 0 stuck.
struct coulomb_oscillator : problem<2, 1> {
  static constexpr const char* name = "coulomb_oscillator";
  static constexpr int modes = 1;
  static constexpr double frequency = 0.5, holds = 0.6, drags = 0.5;
  static constexpr double max_step = 0.2 * (2.0 * 3.14159265358979323846) / frequency;

  template <class Real>
  static Real force(const double* p, Real t, const Real* y) {
    using std::cos;
    return p[0] * cos(frequency * t) - y[0];
  }
  static void start(const double*, double* y) { y[0] = y[1] = 0.0; }
  static void start_mode(const double* p, double* m) { m[0] = p[0] > holds ? 1.0 : 0.0; }
  template <class Real>
  static void rhs(const double* p, const Real* m, Real t, const Real* y, Real* dy) {
    dy[0] = y[1];
    dy[1] = m[0] == 0 ? Real(0) : force(p, t, y) - drags * m[0];
  }
  template <class Real>
  static Real guard(const double* p, const Real* m, Real t, const Real* y) {
    if (m[0] != 0) return m[0] * y[1];
    const Real now = force(p, t, y);
    return holds * holds - now * now;
  }
  template <class Real>
  static void transition(const double* p, Real* m, Real t, Real* y) {
    const bool halted = m[0] != 0;
    const Real now = force(p, t, y);
    y[1] = 0;
    m[0] = halted && now * now <= holds * holds ? 0 : now > 0 ? 1 : -1;
  }
};

/// J. B. Keller, M. Miksis, J. Acoust. Soc. Am. 68 (1980) 628, two waves, as in problems/keller_miksis.hpp, with the
/// constants of a run computed once: p is M, G, S, V and the pressures at rest, of the first wave and of the second
/// wave.
struct keller_miksis : problem<2, 7> {
  static constexpr const char* name = "keller_miksis";
  static constexpr double w1 = 2.0 * 3.14159265358979323846, w2 = 1.5 * w1, q = 4.2;

  static void start(const double*, double* y) { y[0] = 1.0, y[1] = 0.0; }
  template <class Real>
  static void rhs(const double* p, const Real*, Real t, const Real* y, Real* dy) {
    using std::cos, std::pow, std::sin;
    const Real mv = p[0] * y[1], angle1 = w1 * t, angle2 = w2 * t;
    const Real excess = p[4] + p[5] * sin(angle1) + p[6] * sin(angle2);
    const Real change = p[5] * w1 * cos(angle1) + p[6] * w2 * cos(angle2);
    const Real force = p[1] * pow(y[0], Real(-q)) * (1.0 + (1.0 - q) * mv) - (1.0 + mv) * excess -
                       (p[2] + p[3] * y[1]) / y[0] - (1.5 - 0.5 * mv) * y[1] * y[1] - p[0] * y[0] * change;
    dy[0] = y[1];
    dy[1] = force / ((1.0 - mv) * y[0] + p[0] * p[3]);
  }
};

/// C. Hos, A. R. Champneys, Physica D 241 (2012) 2068: p[0] is the flow. A flow so low that impacts accumulate would leave
/// the valve at rest on its seat, which is omitted here.
struct relief_valve : problem<3, 1> {
  static constexpr const char* name = "relief_valve";

  static void start(const double*, double* y) { y[0] = 0.2, y[1] = y[2] = 0.0; }
  template <class Real>
  static void rhs(const double* p, const Real*, Real, const Real* y, Real* dy) {
    using std::sqrt;
    dy[0] = y[1];
    dy[1] = y[2] - 1.25 * y[1] - (y[0] + 10.0);
    dy[2] = 20.0 * (p[0] - y[0] * sqrt(y[2]));
  }
  template <class Real>
  static Real guard(const double*, const Real*, Real, const Real* y) {
    return y[0];
  }
  template <class Real>
  static void transition(const double*, Real*, Real, Real* y) {
    y[0] = 0;
    y[1] = -0.8 * y[1];
  }
};

/// Two bodies in the plane of their orbit: p[0] is dy/dt at the start.
struct two_bodies : problem<4, 1> {
  static constexpr const char* name = "two_bodies";

  static void start(const double* p, double* y) { y[0] = 1.0, y[1] = y[2] = 0.0, y[3] = p[0]; }
  template <class Real>
  static void rhs(const double*, const Real*, Real, const Real* y, Real* dy) {
    using std::sqrt;
    const Real square = y[0] * y[0] + y[1] * y[1], pull = 1.0 / (square * sqrt(square));
    dy[0] = y[2], dy[1] = y[3];
    dy[2] = -pull * y[0], dy[3] = -pull * y[1];
  }
};

/// The sun and five planets: p[0] is the mass of Jupiter. The states are all x, then all y, all z, and their derivatives.
struct six_bodies : problem<36, 1> {
  static constexpr const char* name = "six_bodies";
  using data = outer_solar_system;
  static constexpr int bodies = data::bodies;

  static void start(const double*, double* y) {
    for (int i = 0; i < bodies; ++i)
      for (int axis = 0; axis < 6; ++axis) y[bodies * axis + i] = data::start[i][axis];
  }
  template <class Real>
  static void rhs(const double* p, const Real*, Real, const Real* y, Real* dy) {
    using std::sqrt;
    for (int i = 0; i < 3 * bodies; ++i) dy[i] = y[3 * bodies + i], dy[3 * bodies + i] = 0;
    for (int i = 0; i < bodies; ++i)
      for (int j = 0; j < i; ++j) {
        Real d[3], square = 0;
        for (int axis = 0; axis < 3; ++axis) {
          d[axis] = y[bodies * axis + i] - y[bodies * axis + j];
          square += d[axis] * d[axis];
        }
        const Real pull = data::gravity / (square * sqrt(square));
        const double of_i = i == 1 ? p[0] : data::mass[i], of_j = j == 1 ? p[0] : data::mass[j];
        for (int axis = 0; axis < 3; ++axis) {
          dy[bodies * (3 + axis) + i] -= of_j * pull * d[axis];
          dy[bodies * (3 + axis) + j] += of_i * pull * d[axis];
        }
      }
  }
};

/// M. Henon, C. Heiles, Astron. J. 69 (1964) 73: p[0] is y at the start. An event is a zero of x in either direction and changes nothing.
struct henon_heiles : problem<4, 1> {
  static constexpr const char* name = "henon_heiles";
  static constexpr int direction = 0;

  static void start(const double* p, double* y) { y[0] = 0.3, y[1] = p[0], y[2] = 0.2, y[3] = 0.1; }
  template <class Real>
  static void rhs(const double*, const Real*, Real, const Real* y, Real* dy) {
    dy[0] = y[2], dy[1] = y[3];
    dy[2] = -y[0] - 2.0 * (y[0] * y[1]);
    dy[3] = y[1] * y[1] - y[1] - y[0] * y[0];
  }
  template <class Real>
  static Real guard(const double*, const Real*, Real, const Real* y) {
    return y[0];
  }
  template <class Real>
  static void transition(const double*, Real*, Real, Real*) {}
};

// Stiff ensembles: F. Mazzia, C. Magherini, Test Set for Initial Value Problem Solvers, release 2.4 (2008); E. Hairer,
// G. Wanner, Solving Ordinary Differential Equations II, 2nd ed. (1996), section IV.10, for Robertson's problem and van
// der Pol's.

/// Robertson: y1 -> y2 (k1), y2 + y3 -> y1 + y3 (k2), 2 y2 -> y2 + y3 (k3).
struct robertson : problem<3, 3> {
  static constexpr const char* name = "robertson";

  static void start(const double*, double* y) { y[0] = 1.0, y[1] = 0.0, y[2] = 0.0; }
  template <class Real>
  static void rhs(const double* p, const Real*, Real, const Real* y, Real* dy) {
    const Real forth = p[0] * y[0], back = p[1] * y[1] * y[2], on = p[2] * y[1] * y[1];
    dy[0] = back - forth;
    dy[1] = forth - back - on;
    dy[2] = on;
  }
  /// j(row, column) = ...; zero entries are not written.
  template <class Real>
  static void jacobian(const double* p, const Real* y, auto&& j) {
    const Real by_2 = p[1] * y[2], by_3 = p[1] * y[1], on = 2.0 * p[2] * y[1];
    j(0, 0) = -p[0], j(0, 1) = by_2, j(0, 2) = by_3;
    j(1, 0) = p[0], j(1, 1) = -by_2 - on, j(1, 2) = -by_3;
    j(2, 1) = on;
  }

  /// The problem as a DAE: the third equation is the conservation of mass.
  struct dae {
    static constexpr int n = 3;

    static void start(const double* p, double* y, double* dy) {
      robertson::start(p, y);
      robertson::rhs(p, static_cast<const double*>(nullptr), 0.0, y, dy);
    }
    static void residual(const double* p, const double* y, const double* dy, double* r) {
      const double forth = p[0] * y[0], back = p[1] * y[1] * y[2], on = p[2] * y[1] * y[1];
      r[0] = dy[0] + forth - back;
      r[1] = dy[1] - forth + back + on;
      r[2] = y[0] + y[1] + y[2] - 1.0;
    }
    /// dr/dy + c dr/d(dy)
    static void jacobian(const double* p, const double* y, double c, auto&& j) {
      const double by_2 = p[1] * y[2], by_3 = p[1] * y[1], on = 2.0 * p[2] * y[1];
      j(0, 0) = c + p[0], j(0, 1) = -by_2, j(0, 2) = -by_3;
      j(1, 0) = -p[0], j(1, 1) = c + by_2 + on, j(1, 2) = by_3;
      j(2, 0) = j(2, 1) = j(2, 2) = 1.0;
    }
    static void output(const double*, const double* y, double* out) {
      for (int i = 0; i < n; ++i) out[i] = y[i];
    }
  };
};

/// x'' = mu (1 - x^2) x' - x
struct van_der_pol : problem<2, 1> {
  static constexpr const char* name = "van_der_pol";

  static void start(const double*, double* y) { y[0] = 2.0, y[1] = 0.0; }
  template <class Real>
  static void rhs(const double* p, const Real*, Real, const Real* y, Real* dy) {
    dy[0] = y[1];
    dy[1] = p[0] * (1.0 - y[0] * y[0]) * y[1] - y[0];
  }
  template <class Real>
  static void jacobian(const double* p, const Real* y, auto&& j) {
    j(0, 1) = 1.0;
    j(1, 0) = -2.0 * p[0] * y[0] * y[1] - 1.0;
    j(1, 1) = p[0] * (1.0 - y[0] * y[0]);
  }
};

/// HIRES, the high irradiance responses of photomorphogenesis: p[0] is k+.
struct hires : problem<8, 1> {
  static constexpr const char* name = "hires";
  static constexpr double k1 = 1.71;

  static void start(const double*, double* y) {
    for (int i = 0; i < n; ++i) y[i] = 0.0;
    y[0] = 1.0, y[7] = 0.0057;
  }
  template <class Real>
  static void rhs(const double* p, const Real*, Real, const Real* y, Real* dy) {
    const Real joins = p[0] * y[5] * y[7], parts = 1.81 * y[6];
    dy[0] = -k1 * y[0] + 0.43 * y[1] + 8.32 * y[2] + 0.0007;
    dy[1] = k1 * y[0] - 8.75 * y[1];
    dy[2] = -10.03 * y[2] + 0.43 * y[3] + 0.035 * y[4];
    dy[3] = 8.32 * y[1] + k1 * y[2] - 1.12 * y[3];
    dy[4] = -1.745 * y[4] + 0.43 * y[5] + 0.43 * y[6];
    dy[5] = -joins + 0.69 * y[3] + k1 * y[4] - 0.43 * y[5] + 0.69 * y[6];
    dy[6] = joins - parts;
    dy[7] = parts - joins;
  }
  template <class Real>
  static void jacobian(const double* p, const Real* y, auto&& j) {
    const Real by_6 = p[0] * y[7], by_8 = p[0] * y[5];
    j(0, 0) = -k1, j(0, 1) = 0.43, j(0, 2) = 8.32;
    j(1, 0) = k1, j(1, 1) = -8.75;
    j(2, 2) = -10.03, j(2, 3) = 0.43, j(2, 4) = 0.035;
    j(3, 1) = 8.32, j(3, 2) = k1, j(3, 3) = -1.12;
    j(4, 4) = -1.745, j(4, 5) = 0.43, j(4, 6) = 0.43;
    j(5, 3) = 0.69, j(5, 4) = k1, j(5, 5) = -0.43 - by_6, j(5, 6) = 0.69, j(5, 7) = -by_8;
    j(6, 5) = by_6, j(6, 6) = -1.81, j(6, 7) = by_8;
    j(7, 5) = -by_6, j(7, 6) = 1.81, j(7, 7) = -by_8;
  }
};

/// The chemical Akzo Nobel problem: p[0] is k1, p[1] is k3, p[2] is Ks. Here y6 = Ks y1 y4 is substituted everywhere.
struct chemical_akzo : problem<5, 3> {
  static constexpr const char* name = "chemical_akzo";
  static constexpr int outputs = 6;
  static constexpr double k2 = 0.58, k4 = 0.42, K = 34.4, klA = 3.3, pCO2 = 0.9, H = 737.0;

  static void start(const double*, double* y) { y[0] = 0.444, y[1] = 0.00123, y[2] = 0.0, y[3] = 0.007, y[4] = 0.0; }

  template <class Real>
  static void rates(const double* p, const Real* y, Real y6, Real* dy) {
    using std::sqrt;
    const Real root = sqrt(y[1]), square = y[0] * y[0];
    const Real r1 = p[0] * square * square * root, r2 = k2 * y[2] * y[3], r3 = k2 / K * y[0] * y[4],
               r4 = p[1] * y[0] * y[3] * y[3], r5 = k4 * y6 * y6 * root, in = klA * (pCO2 / H - y[1]);
    dy[0] = -2.0 * r1 + r2 - r3 - r4;
    dy[1] = -0.5 * r1 - r4 - 0.5 * r5 + in;
    dy[2] = r1 - r2 + r3;
    dy[3] = -r2 + r3 - 2.0 * r4;
    dy[4] = r2 - r3 + r5;
  }
  /// Derivatives of `rates` with respect to y1 .. y5 with y6 held, and with respect to y6.
  template <class Real>
  static void jacobian_of_rates(const double* p, const Real* y, Real y6, auto&& j) {
    using std::sqrt;
    const Real root = sqrt(y[1]), square = y[0] * y[0];
    const Real r1_1 = 4.0 * p[0] * square * y[0] * root, r1_2 = p[0] * square * square / (2.0 * root);
    const Real r2_3 = k2 * y[3], r2_4 = k2 * y[2], r3_1 = k2 / K * y[4], r3_5 = k2 / K * y[0];
    const Real r4_1 = p[1] * y[3] * y[3], r4_4 = 2.0 * p[1] * y[0] * y[3];
    const Real r5_2 = k4 * y6 * y6 / (2.0 * root), r5_6 = 2.0 * k4 * y6 * root;
    j(0, 0) = -2.0 * r1_1 - r3_1 - r4_1, j(0, 1) = -2.0 * r1_2, j(0, 2) = r2_3, j(0, 3) = r2_4 - r4_4, j(0, 4) = -r3_5;
    j(1, 0) = -0.5 * r1_1 - r4_1, j(1, 1) = -0.5 * r1_2 - 0.5 * r5_2 - klA, j(1, 3) = -r4_4, j(1, 5) = -0.5 * r5_6;
    j(2, 0) = r1_1 + r3_1, j(2, 1) = r1_2, j(2, 2) = -r2_3, j(2, 3) = -r2_4, j(2, 4) = r3_5;
    j(3, 0) = r3_1 - 2.0 * r4_1, j(3, 2) = -r2_3, j(3, 3) = -r2_4 - 2.0 * r4_4, j(3, 4) = r3_5;
    j(4, 0) = -r3_1, j(4, 1) = r5_2, j(4, 2) = r2_3, j(4, 3) = r2_4, j(4, 4) = -r3_5, j(4, 5) = r5_6;
  }

  template <class Real>
  static void rhs(const double* p, const Real*, Real, const Real* y, Real* dy) {
    rates<Real>(p, y, p[2] * y[0] * y[3], dy);
  }
  template <class Real>
  static void jacobian(const double* p, const Real* y, auto&& j) {
    Real all[5][6] = {};
    jacobian_of_rates<Real>(p, y, p[2] * y[0] * y[3], [&](int row, int column) -> Real& { return all[row][column]; });
    for (int row = 0; row < n; ++row) {
      all[row][0] += all[row][5] * p[2] * y[3];
      all[row][3] += all[row][5] * p[2] * y[0];
      for (int column = 0; column < n; ++column) j(row, column) = all[row][column];
    }
  }
  template <class Real>
  static void output(const double* p, const Real* y, Real* out) {
    for (int i = 0; i < n; ++i) out[i] = y[i];
    out[5] = p[2] * y[0] * y[3];
  }

  /// The problem as a DAE: y6 has its own equation.
  struct dae {
    static constexpr int n = 6;

    static void start(const double* p, double* y, double* dy) {
      chemical_akzo::start(p, y);
      y[5] = p[2] * y[0] * y[3];
      rates(p, y, y[5], dy);
      dy[5] = p[2] * (dy[0] * y[3] + y[0] * dy[3]);
    }
    static void residual(const double* p, const double* y, const double* dy, double* r) {
      rates(p, y, y[5], r);
      for (int i = 0; i < 5; ++i) r[i] = dy[i] - r[i];
      r[5] = p[2] * y[0] * y[3] - y[5];
    }
    static void jacobian(const double* p, const double* y, double c, auto&& j) {
      jacobian_of_rates(p, y, y[5], j);
      for (int row = 0; row < 5; ++row) {
        for (int column = 0; column < 6; ++column) j(row, column) = -j(row, column);
        j(row, row) += c;
      }
      j(5, 0) = p[2] * y[3], j(5, 3) = p[2] * y[0], j(5, 5) = -1.0;
    }
    static void output(const double*, const double* y, double* out) {
      for (int i = 0; i < n; ++i) out[i] = y[i];
    }
  };
};

/// Calls `f` with the problem of that name; false if there is none.
bool with_problem(const std::string& name, auto&& f) {
  const auto among = [&]<class... Problem>() { return ((name == Problem::name && (f(Problem{}), true)) || ...); };
  return among
      .template operator()<lorenz, bouncing_ball, ball_drag, bok_1, coulomb_oscillator, keller_miksis, relief_valve,
                           two_bodies, six_bodies, henon_heiles, robertson, van_der_pol, hires, chemical_akzo>();
}

}  // namespace peers
