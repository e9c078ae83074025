// The stiff ensembles of bench/stiff once more, apart from the models of saltus: right-hand sides, Jacobians and residuals
// written out by hand, for double and long double. A problem's parameters p stand in the order of its table's columns; all
// other constants are doubles, so that every solver has the same ones.
//
// Sources: F. Mazzia, C. Magherini, Test Set for Initial Value Problem Solvers, release 2.4 (2008); E. Hairer, G. Wanner,
// Solving Ordinary Differential Equations II, 2nd ed. (1996), section IV.10, for Robertson's problem and van der Pol's.
#pragma once

#include <cmath>

namespace peers {

/// Robertson: y1 -> y2 (k1), y2 + y3 -> y1 + y3 (k2), 2 y2 -> y2 + y3 (k3).
struct robertson {
  static constexpr const char* name = "robertson";
  static constexpr int         n = 3, outputs = 3, parameters = 3;

  static void start(const double*, double* y) { y[0] = 1.0, y[1] = 0.0, y[2] = 0.0; }
  template <class Real>
  static void rhs(const double* p, const Real* y, Real* dy) {
    const Real forth = p[0] * y[0], back = p[1] * y[1] * y[2], on = p[2] * y[1] * y[1];
    dy[0] = back - forth;
    dy[1] = forth - back - on;
    dy[2] = on;
  }
  /// j(row, column) = ...; what is zero is not written.
  template <class Real>
  static void jacobian(const double* p, const Real* y, auto&& j) {
    const Real by_2 = p[1] * y[2], by_3 = p[1] * y[1], on = 2.0 * p[2] * y[1];
    j(0, 0) = -p[0], j(0, 1) = by_2, j(0, 2) = by_3;
    j(1, 0) = p[0], j(1, 1) = -by_2 - on, j(1, 2) = -by_3;
    j(2, 1) = on;
  }
  /// The states of the model from those that are integrated.
  template <class Real>
  static void output(const double*, const Real* y, Real* out) {
    for (int i = 0; i < n; ++i) out[i] = y[i];
  }

  /// As a DAE: the third equation is the conservation of mass.
  struct dae {
    static constexpr int n = 3;

    static void start(const double* p, double* y, double* dy) {
      robertson::start(p, y);
      robertson::rhs(p, y, dy);
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
struct van_der_pol {
  static constexpr const char* name = "van_der_pol";
  static constexpr int         n = 2, outputs = 2, parameters = 1;

  static void start(const double*, double* y) { y[0] = 2.0, y[1] = 0.0; }
  template <class Real>
  static void rhs(const double* p, const Real* y, Real* dy) {
    dy[0] = y[1];
    dy[1] = p[0] * (1.0 - y[0] * y[0]) * y[1] - y[0];
  }
  template <class Real>
  static void jacobian(const double* p, const Real* y, auto&& j) {
    j(0, 1) = 1.0;
    j(1, 0) = -2.0 * p[0] * y[0] * y[1] - 1.0;
    j(1, 1) = p[0] * (1.0 - y[0] * y[0]);
  }
  template <class Real>
  static void output(const double*, const Real* y, Real* out) {
    out[0] = y[0], out[1] = y[1];
  }
};

/// HIRES, the high irradiance responses of photomorphogenesis: p[0] is k+.
struct hires {
  static constexpr const char* name = "hires";
  static constexpr int         n = 8, outputs = 8, parameters = 1;
  static constexpr double      k1 = 1.71;

  static void start(const double*, double* y) {
    for (int i = 0; i < n; ++i) y[i] = 0.0;
    y[0] = 1.0, y[7] = 0.0057;
  }
  template <class Real>
  static void rhs(const double* p, const Real* y, Real* dy) {
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
  template <class Real>
  static void output(const double*, const Real* y, Real* out) {
    for (int i = 0; i < n; ++i) out[i] = y[i];
  }
};

/// The chemical Akzo Nobel problem: p[0] is k1, p[1] is k3, p[2] is Ks. Here y6 = Ks y1 y4 is put in everywhere.
struct chemical_akzo {
  static constexpr const char* name = "chemical_akzo";
  static constexpr int         n = 5, outputs = 6, parameters = 3;
  static constexpr double      k2 = 0.58, k4 = 0.42, K = 34.4, klA = 3.3, pCO2 = 0.9, H = 737.0;

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
  /// Of `rates` to y1 .. y5 with y6 held, and to y6.
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
  static void rhs(const double* p, const Real* y, Real* dy) {
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

  /// As a DAE: y6 by its own equation.
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

}  // namespace peers
