// Coefficients of the methods. Explicit methods: order conditions at compile time and at run time, and the proof that the check
// detects a coefficient off by 1e-10, a claimed order too high, and one too low. Implicit methods: the same in long double
// and with full matrices.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "method/list.hpp"
#include "method/order_conditions.hpp"

namespace methods = saltus::methods;
using methods::defect;
using methods::tableau;

namespace {

static_assert(methods::order_conditions(methods::explicit_methods{}));

void print_row(const char* name, const double* residual, int order) {
  std::printf("  %-10s", name);
  for (int n = 1; n <= order + 1; ++n) std::printf(" %7.1e", residual[n]);
  std::printf("\n");
}

TEST(tableaus, residuals_of_every_method) {
  methods::for_each(methods::explicit_methods{}, [](auto method) {
    using M = decltype(method);
    SCOPED_TRACE(M::name);
    const methods::residuals r = residuals_of(tableau<M>());
    std::printf("%s: row sums %.1e; residuals of the trees with 1, 2, ... nodes, the last not to be fulfilled\n",
                M::title, r.row_sum);
    print_row("advancing", r.advancing, M::order);
    if (M::embedded_order > 0) print_row("embedded", r.embedded, M::embedded_order);
    if (M::two_errors) print_row("embedded3", r.embedded3, M::embedded3_order);
    print_row("dense", r.dense, M::dense_order);
    if (M::middle_order > 3) print_row("middle", r.middle, M::middle_order);
    EXPECT_EQ(defect_of(tableau<M>()), defect::none);
  });
}

// b - seeing_e and b - seeing_e3 of the pair whose estimate is zero where f depends on t alone: of orders 5 and 3, also for such f.
TEST(tableaus, second_estimate_of_a_blind_pair) {
  using M = methods::fehlberg_8;
  static_assert(M::blind_estimate);
  const tableau<M> m;
  const methods::elementary_weights<M> weights(m);
  const auto check = [&](const auto& estimate, int order) {
    double all[tableau<M>::stages] = {}, of_time = 0.0;
    for (int i = 0; i < M::stages; ++i) {
      all[i] = estimate[i];
      of_time += estimate[i] * std::pow(M::c[i], order);
    }
    methods::residuals::by_nodes residual = {};
    weights.compare(m.embedded(all), 1.0, order, residual);
    for (int n = 1; n <= order; ++n) EXPECT_LT(residual[n], 1e-14) << n;
    EXPECT_GT(residual[order + 1], 1e-6);
    EXPECT_GT(std::abs(of_time), 1e-4) << "the estimate sees functions of time";
  };
  check(M::seeing_e, 5);
  check(M::seeing_e3, 3);
}

// Specs name methods, so existing names must stay; new ones may be added.
TEST(tableaus, keys) {
  std::set<std::string> keys;
  methods::for_each(methods::all_methods{}, [&](auto method) { keys.insert(decltype(method)::name); });
  EXPECT_EQ(keys.size(), std::size_t(methods::all_methods::size)) << "two methods of one name";
  for (const char* name :
       {"kutta3",  "bs3",     "rk4",      "rkf45",    "rkf78",      "dp5",        "tsit5",  "dop853",
        "rdpk510", "taylor8", "taylor12", "taylor16", "taylor20",   "trapezoid",  "sdirk4", "esdirk4",
        "rodas4",  "rodas5p", "radau5",   "infltrap", "inflsdirk4", "inflesdirk4"})
    EXPECT_EQ(keys.count(name), 1u) << name;
  EXPECT_EQ(methods::all_methods::size, methods::explicit_methods::size + methods::series_methods::size +
                                            methods::implicit_methods::size + methods::mechanical_methods::size);
}

// Hairer, Norsett, Wanner, Solving ODEs I, II.2: gamma of the trees with 4 and 5 nodes.
TEST(rooted_trees, density) {
  const auto gammas = [](int nodes) {
    std::vector<double> r;
    for (int t = methods::trees_up_to[nodes - 1]; t < methods::trees_up_to[nodes]; ++t)
      r.push_back(methods::rooted_trees.tree[t].gamma);
    std::sort(r.begin(), r.end());
    return r;
  };
  EXPECT_EQ(gammas(4), (std::vector<double>{4, 8, 12, 24}));
  EXPECT_EQ(gammas(5), (std::vector<double>{5, 10, 15, 20, 20, 30, 40, 60, 120}));
  for (int n = 1; n <= methods::largest_tree; ++n) {
    EXPECT_EQ(gammas(n).front(), n) << "the bush";
    EXPECT_DOUBLE_EQ(gammas(n).back(), std::tgamma(n + 1.0)) << "the tall tree: n!";
  }
}

/// Applies one change to a fresh copy of the coefficients at each call, and counts the copies that the check accepts.
template <class M>
struct perturbation {
  int tried = 0;
  int accepted = 0;

  template <class Change>
  void operator()(const std::string& what, Change change) {
    tableau<M> m;
    change(m);
    ++tried;
    if (defect_of(m) != defect::none) return;
    ++accepted;
    ADD_FAILURE() << M::name << ": not seen: " << what;
  }
};

TEST(order_conditions, reject_every_coefficient_off_by_1e_10) {
  const double nudge = 1e-10;
  methods::for_each(methods::explicit_methods{}, [&](auto method) {
    using M = decltype(method);
    perturbation<M> nudged;
    for (int i = 0; i < tableau<M>::own; ++i) {
      const std::string at = "[" + std::to_string(i) + "]";
      nudged("c" + at, [&](auto& m) { m.c[i] += nudge; });
      for (int j = 0; j < i; ++j)
        nudged("a" + at + "[" + std::to_string(j) + "]", [&](auto& m) { m.a[i][j] += nudge; });
      for (int r = 0; r < M::dense_rows; ++r)
        nudged("d[" + std::to_string(r) + "]" + at, [&](auto& m) { m.d[r][i] += nudge; });
    }
    for (int i = 0; i < M::stages; ++i) {
      const std::string at = "[" + std::to_string(i) + "]";
      nudged("b" + at, [&](auto& m) { m.b[i] += nudge; });
      nudged("b, the row of f1 and its c, at " + at, [&](auto& m) {
        m.b[i] += nudge;
        m.a[m.f1][i] += nudge;
        m.c[m.f1] += nudge;
      });
      if (M::embedded_order > 0) nudged("e" + at, [&](auto& m) { m.e[i] += nudge; });
      if (M::two_errors) nudged("e3" + at, [&](auto& m) { m.e3[i] += nudge; });
    }
    std::printf("%s: %d coefficients moved, %d not seen\n", M::title, nudged.tried, nudged.accepted);
  });
}

// Two coefficients of a row moved against each other keep its sum, so c_i = sum_j a_ij does not detect them. If both have the same
// c_j (DOP853's stages 11 and 12), only conditions with seven nodes do, and weakly: hence 1e-8.
TEST(order_conditions, reject_pairs_in_a_row_off_by_1e_8) {
  const double nudge = 1e-8;
  methods::for_each(methods::explicit_methods{}, [&](auto method) {
    using M = decltype(method);
    perturbation<M> nudged;
    for (int i = 2; i < tableau<M>::own; ++i) {
      for (int j = 1; j < i; ++j) {
        // Stages 12 and 13 of RKF78 both equal f at the end of the step, to a higher order than stage 14.
        if (std::is_same_v<M, methods::fehlberg_8> && i == 14 && j == 13) continue;
        nudged("a[" + std::to_string(i) + "][" + std::to_string(j - 1) + "] and the next", [&](auto& m) {
          m.a[i][j - 1] += nudge;
          m.a[i][j] -= nudge;
          if (i != m.f1) return;
          m.b[j - 1] += nudge;
          m.b[j] -= nudge;
        });
      }
    }
    std::printf("%s: %d pairs moved, %d not seen\n", M::title, nudged.tried, nudged.accepted);
  });
}

struct kutta_3_as_4 : methods::kutta_3 {
  static constexpr int order = 4;
};
struct runge_kutta_4_as_3 : methods::runge_kutta_4 {
  static constexpr int order = 3;
};
// All weights of Simpson's rule, so it is exact for f(t) alone, but sum b_i a_ij c_j = 1/12 instead of 1/6.
struct simpson_without_coupling : methods::kutta_3 {
  static constexpr double a[3][3] = {{}, {1.0 / 2}, {0.0, 1.0}};
};
struct embedded_too_high : methods::dormand_prince_5 {
  static constexpr int embedded_order = 5;
};
struct embedded_too_low : methods::dormand_prince_5 {
  static constexpr int embedded_order = 3;
};
struct embedded3_too_high : methods::dormand_prince_8 {
  static constexpr int embedded3_order = 4;
};
struct dense_too_high : methods::bogacki_shampine_3 {
  static constexpr int dense_order = 4;
};
struct dense_row_forgotten : methods::tsitouras_5 {
  static constexpr int dense_rows = 0;
};
struct dense_too_low : methods::dormand_prince_8 {
  static constexpr int dense_order = 6;
};
struct middle_too_high : methods::fehlberg_8 {
  static constexpr int middle_order = 6;
};
struct middle_too_low : methods::dormand_prince_8 {
  static constexpr int middle_order = 5;
};
struct fsal_denied : methods::bogacki_shampine_3 {
  static constexpr bool fsal = false;
};
struct fsal_claimed : methods::runge_kutta_4 {
  static constexpr bool fsal = true;
};
struct estimate_denied : methods::bogacki_shampine_3 {
  static constexpr int embedded_order = 0;
};
struct estimate_claimed : methods::runge_kutta_4 {
  static constexpr int embedded_order = 3;
};
struct midpoint_rule : methods::kutta_3 {
  static constexpr double c[3] = {0.5, 0.5, 1.0};
  static constexpr double a[3][3] = {{0.5}, {1.0 / 2}, {-1.0, 2.0}};
};

template <class Method>
constexpr defect claim = defect_of(tableau<Method>());

static_assert(claim<kutta_3_as_4> == defect::advancing);
static_assert(claim<runge_kutta_4_as_3> == defect::understated);
static_assert(claim<simpson_without_coupling> == defect::advancing);
static_assert(claim<embedded_too_high> == defect::embedded);
static_assert(claim<embedded_too_low> == defect::understated);
static_assert(claim<embedded3_too_high> == defect::embedded);
static_assert(claim<dense_too_high> == defect::dense);
static_assert(claim<dense_row_forgotten> == defect::dense);
static_assert(claim<dense_too_low> == defect::understated);
static_assert(claim<middle_too_high> == defect::middle);
static_assert(claim<middle_too_low> == defect::understated);
static_assert(claim<fsal_denied> == defect::fsal);
static_assert(claim<fsal_claimed> == defect::fsal);
static_assert(claim<estimate_denied> == defect::no_estimate);
static_assert(claim<estimate_claimed> == defect::no_estimate);
static_assert(claim<midpoint_rule> == defect::not_explicit);
static_assert(!methods::order_conditions(methods::list<methods::runge_kutta_4, kutta_3_as_4>{}));

// Every comparison with NaN is false, so no check may take a false comparison for a satisfied condition.
TEST(order_conditions, reject_nan_and_infinity) {
  methods::for_each(methods::explicit_methods{}, [](auto method) {
    using M = decltype(method);
    perturbation<M> spoiled;
    for (const double bad : {std::nan(""), HUGE_VAL}) {
      spoiled("a[1][0]", [&](auto& m) { m.a[1][0] = bad; });
      spoiled("b[0]", [&](auto& m) { m.b[0] = bad; });
      spoiled("c[1]", [&](auto& m) { m.c[1] = bad; });
      if (M::embedded_order > 0) spoiled("e[0]", [&](auto& m) { m.e[0] = bad; });
      if (M::dense_rows > 0) spoiled("d[0][0]", [&](auto& m) { m.d[0][0] = bad; });
    }
    EXPECT_GT(spoiled.tried, 0);
  });
}

template <class Method>
void expect_embedded(const std::vector<double>& published) {
  SCOPED_TRACE(Method::name);
  ASSERT_EQ(published.size(), std::size_t(Method::stages));
  for (int i = 0; i < Method::stages; ++i)
    EXPECT_NEAR(Method::b[i] - Method::e[i], published[std::size_t(i)], 1e-15) << "stage " << i;
}

// The order conditions also hold for b + e; b_hat from the papers cited at the methods determines the sign.
TEST(tableaus, embedded_weights_as_published) {
  expect_embedded<methods::bogacki_shampine_3>({7.0 / 24, 1.0 / 4, 1.0 / 3, 1.0 / 8});
  expect_embedded<methods::fehlberg_5>({25.0 / 216, 0, 1408.0 / 2565, 2197.0 / 4104, -1.0 / 5, 0, 0});
  expect_embedded<methods::fehlberg_8>(
      {41.0 / 840, 0, 0, 0, 0, 34.0 / 105, 9.0 / 35, 9.0 / 35, 9.0 / 280, 9.0 / 280, 41.0 / 840, 0, 0, 0});
  expect_embedded<methods::dormand_prince_5>(
      {5179.0 / 57600, 0, 7571.0 / 16695, 393.0 / 640, -92097.0 / 339200, 187.0 / 2100, 1.0 / 40});
  expect_embedded<methods::rdpk_5>({-0.02019255440012066080909, 0.02737903480959184339933, 0.3028818636145965534365,
                                    -0.03656843880622222190071, 0.3982664774676767729863, -0.05715959421140685436681,
                                    0.09849855103848558320961, 0.06654601552456084978615, 0.09073479542748112726465,
                                    0.08432289325330803924892, 0.04529095628204896774513});
}

// Row 6 of the paper's A (github.com/ranocha/Optimized-RK-CFD, 3SstarpFSAL510.txt) and b, against the sums of the registers:
// the order conditions alone would accept another method with the same orders.
TEST(tableaus, registers_of_rdpk_5_are_the_published_method) {
  using M = methods::rdpk_5;
  const double row6[6] = {-0.4472686975456023729615, -0.06001391098389336725224, 2.189514876449574045974,
                          -1.812203163411484485467,  0.5294644275851393826312,   0.1455051657916305055731};
  const tableau<M> m;
  for (int j = 0; j < 6; ++j) EXPECT_NEAR(m.a[6][j], row6[j], 1e-15) << j;
  for (int j = 0; j < M::stages; ++j) EXPECT_NEAR(m.b[j], M::b[j], 1e-15) << j;
}

// gamma1_0 and delta_0 multiply the first point, gamma2_0 the first sum, which is zero.
TEST(order_conditions, reject_every_number_of_a_register_off_by_1e_10) {
  using M = methods::rdpk_5;
  constexpr int count = M::stages - 1;
  struct {
    double gamma1[count], gamma2[count], delta[count], beta[count];
  } m;
  double* const arrays[] = {m.gamma1, m.gamma2, m.delta, m.beta};
  for (int array = 0; array < 4; ++array)
    for (int index = 0; index < count; ++index) {
      std::copy_n(M::gamma1, count, m.gamma1), std::copy_n(M::gamma2, count, m.gamma2);
      std::copy_n(M::delta, count, m.delta), std::copy_n(M::beta, count, m.beta);
      arrays[array][index] += 1e-10;
      tableau<M> off;
      off.expand(m);
      for (int j = 0; j < M::stages; ++j) off.b[j] = off.a[M::stages - 1][j];
      EXPECT_EQ(defect_of(off) == defect::none, array < 3 && index == 0) << array << " " << index;
    }
}

// O(h^5) for a 5(4) pair; for DOP853 |E5|^2 / |E3| is O(h^6)^2 / O(h^4) = O(h^8).
TEST(tableaus, order_of_the_error_estimate) {
  EXPECT_EQ(methods::error_order<methods::kutta_3>, 0);
  EXPECT_EQ(methods::error_order<methods::bogacki_shampine_3>, 2);
  EXPECT_EQ(methods::error_order<methods::fehlberg_5>, 4);
  EXPECT_EQ(methods::error_order<methods::fehlberg_8>, 7);
  EXPECT_EQ(methods::error_order<methods::dormand_prince_5>, 4);
  EXPECT_EQ(methods::error_order<methods::tsitouras_5>, 4);
  EXPECT_EQ(methods::error_order<methods::dormand_prince_8>, 7);
  EXPECT_EQ(methods::error_order<methods::rdpk_5>, 4);
}

/// Largest difference between the weights of the nested form and the published b_i(s) over s = 0, 0.01, ... 1.
template <class Method, class Published>
double largest_difference(Published published) {
  double largest = 0.0;
  for (int k = 0; k <= 100; ++k) {
    const double s = k / 100.0;
    const auto w = tableau<Method>().dense(s);
    for (int i = 0; i < Method::stages; ++i) largest = std::max(largest, std::abs(w.weight[i].value - published(i, s)));
  }
  return largest;
}

// Ch. Tsitouras, Comput. Math. Appl. 62 (2011) 770: the b_i(s) of the paper.
TEST(tableaus, tsitouras_5_dense_output_is_the_published_one) {
  const auto published = [](int i, double s) {
    switch (i) {
      case 0:
        return -1.0530884977290216 * s * (s - 1.3299890189751412) *
               (s * s - 1.4364028541716351 * s + 0.7139816917074209);
      case 1: return 0.1017 * s * s * (s * s - 2.1966568338249754 * s + 1.2949852507374631);
      case 2: return 2.490627285651252793 * s * s * (s * s - 2.38535645472061657 * s + 1.57803468208092486);
      case 3: return -16.54810288924490272 * (s - 1.21712927295533244) * (s - 0.61620406037800089) * s * s;
      case 4: return 47.37952196281928122 * (s - 1.203071208372362603) * (s - 0.658047292653547382) * s * s;
      case 5: return -34.87065786149660974 * (s - 1.2) * (s - 0.666666666666666667) * s * s;
      default: return 2.5 * (s - 1.0) * (s - 0.6) * s * s;
    }
  };
  EXPECT_LT(largest_difference<methods::tsitouras_5>(published), 1e-14);
}

// L. F. Shampine, Math. Comp. 46 (1986) 135, in the powers s .. s^4 as SciPy's RK45.P has it.
TEST(tableaus, dormand_prince_5_dense_output_is_shampines) {
  const auto published = [](int i, double s) {
    static constexpr double p[7][4] = {
        {1, -8048581381.0 / 2820520608, 8663915743.0 / 2820520608, -12715105075.0 / 11282082432},
        {},
        {0, 131558114200.0 / 32700410799, -68118460800.0 / 10900136933, 87487479700.0 / 32700410799},
        {0, -1754552775.0 / 470086768, 14199869525.0 / 1410260304, -10690763975.0 / 1880347072},
        {0, 127303824393.0 / 49829197408, -318862633887.0 / 49829197408, 701980252875.0 / 199316789632},
        {0, -282668133.0 / 205662961, 2019193451.0 / 616988883, -1453857185.0 / 822651844},
        {0, 40617522.0 / 29380423, -110615467.0 / 29380423, 69997945.0 / 29380423}};
    return s * (p[i][0] + s * (p[i][1] + s * (p[i][2] + s * p[i][3])));
  };
  EXPECT_LT(largest_difference<methods::dormand_prince_5>(published), 1e-14);
}

// The estimate of Fehlberg's 7(8) pair vanishes if f depends on t alone, a trap documented at the method.
TEST(tableaus, fehlberg_8_estimate_is_blind_to_time) {
  using M = methods::fehlberg_8;
  for (int power = 0; power <= 20; ++power) {
    double error = 0.0;
    for (int i = 0; i < M::stages; ++i) error += M::e[i] * std::pow(M::c[i], power);
    EXPECT_EQ(error, 0.0) << "t^" << power;
  }
}

// ---- implicit methods -----------------------------------------------------------------------------------------------

using exact = long double;

/// A square matrix.
template <int n>
struct square {
  exact a[n][n] = {};

  friend square operator*(const square& x, const square& y) {
    square r;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        for (int k = 0; k < n; ++k) r.a[i][j] += x.a[i][k] * y.a[k][j];
    return r;
  }
  friend square operator+(square x, const square& y) {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) x.a[i][j] += y.a[i][j];
    return x;
  }
  /// Inverse by elimination with column pivoting.
  square inverse() const {
    square m = *this, r;
    for (int i = 0; i < n; ++i) r.a[i][i] = 1;
    for (int k = 0; k < n; ++k) {
      int best = k;
      for (int i = k; i < n; ++i)
        if (std::abs(m.a[i][k]) > std::abs(m.a[best][k])) best = i;
      std::swap(m.a[k], m.a[best]), std::swap(r.a[k], r.a[best]);
      const exact pivot = m.a[k][k];
      for (int j = 0; j < n; ++j) m.a[k][j] /= pivot, r.a[k][j] /= pivot;
      for (int i = 0; i < n; ++i) {
        const exact factor = m.a[i][k];
        for (int j = 0; j < n && i != k; ++j) m.a[i][j] -= factor * m.a[k][j], r.a[i][j] -= factor * r.a[k][j];
      }
    }
    return r;
  }
};

/// An implicit method in the form for which the order conditions are known, from its declared numbers:
///     k_i = h f(y + sum_j alpha_ij k_j) + h J sum_j gamma_ij k_j
/// with gamma = 0 for a Runge-Kutta method. The last of the `count` weights is that of f at the beginning of the step.
template <class M>
struct implicit_form {
  static constexpr int n = M::stages, count = n + 1;
  using weights = exact[count];

  exact c[n] = {}, d[n] = {};  ///< as declared
  square<count> alpha, gamma;  ///< the last row and column: f at the beginning
  static constexpr int further = M::dense_rows > 2 ? M::dense_rows : 2;
  weights advancing = {}, estimate = {}, slope0 = {}, slope1 = {}, powers[3] = {},
          rows[further] = {};  ///< of the dense output beyond the cubic

  implicit_form() {
    if constexpr (M::is_rosenbrock) from_rosenbrock();
    else if constexpr (M::kind == methods::family::dirk) from_dirk();
    else from_collocation();
  }

  /// Weights of the dense output at s; for a Rosenbrock method from its own polynomial.
  void dense(exact s, weights& w) const {
    for (int i = 0; i < count; ++i) {
      const exact b = advancing[i];
      if constexpr (M::is_rosenbrock) {
        w[i] = s * (b + (1 - s) * (powers[0][i] + s * (powers[1][i] + s * powers[2][i])));
      } else {
        exact beyond = rows[further - 1][i];
        for (int r = further - 2; r >= 0; --r) beyond = rows[r][i] + (r % 2 == 0 ? s : 1 - s) * beyond;
        beyond *= 1 - s;
        w[i] = s * (b + (1 - s) * (slope0[i] - b + s * (2 * b - slope0[i] - slope1[i] + beyond)));
      }
    }
  }

  /// Largest value of sum_i w_i phi_i(t) - target(t) over the trees with `nodes` nodes.
  template <class Target>
  exact residual(const weights& w, int nodes, Target target) const {
    const int all = methods::trees_up_to[nodes];
    std::vector<exact> phi(static_cast<std::size_t>(all * count)), product = phi;
    exact worst = 0;
    for (int t = 0; t < all; ++t) {
      const auto& tree = methods::rooted_trees.tree[t];
      exact sum = 0;
      for (int i = 0; i < count; ++i) {
        const auto at = [&](int tree_number, int stage) {
          return static_cast<std::size_t>(tree_number * count + stage);
        };
        exact along = 0, with_gamma = 0;
        for (int j = 0; j < count && t > 0; ++j) {
          along += alpha.a[i][j] * phi[at(tree.branch, j)];
          with_gamma += (alpha.a[i][j] + gamma.a[i][j]) * phi[at(tree.branch, j)];
        }
        product[at(t, i)] = t == 0 ? 1 : product[at(tree.trunk, i)] * along;
        // J acts only at nodes with one branch (Hairer, Wanner II, IV.7).
        phi[at(t, i)] = t > 0 && tree.trunk == 0 ? with_gamma : product[at(t, i)];
        sum += w[i] * phi[at(t, i)];
      }
      if (t >= methods::trees_up_to[nodes - 1]) {
        const exact off = std::abs(sum - target(nodes, tree.gamma));
        worst = !(off <= worst) ? off : worst;
      }
    }
    return worst;
  }
  exact of_solution(const weights& w, int nodes, exact s = 1) const {
    return residual(w, nodes, [s](int power, double density) { return std::pow(s, exact(power)) / density; });
  }
  exact of_nothing(const weights& w, int nodes) const {
    return residual(w, nodes, [](int, double) { return exact(0); });
  }
  /// Largest error of the order conditions up to `order`; [1]: of the next order.
  template <class Residual>
  static std::pair<exact, exact> of_order(int order, Residual residual_at) {
    exact worst = 0;
    for (int nodes = 1; nodes <= order; ++nodes) worst = std::max(worst, residual_at(nodes));
    return {worst, residual_at(order + 1)};
  }

 private:
  void from_dirk() {
    for (int i = 0; i < n; ++i) {
      c[i] = M::c[i];
      for (int j = 0; j < n; ++j) alpha.a[i][j] = M::a[i][j];
      advancing[i] = M::a[n - 1][i], estimate[i] = M::e[i], slope0[i] = M::slope0[i];
    }
    slope1[n - 1] = 1;
  }

  void from_collocation() {
    square<n> inverse;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) inverse.a[i][j] = M::inverse_a[i][j];
    const auto a = inverse.inverse();
    for (int i = 0; i < n; ++i) {
      c[i] = M::c[i];
      for (int j = 0; j < n; ++j) {
        alpha.a[i][j] = a.a[i][j];
        estimate[j] += M::e[i] * a.a[i][j] / M::mu;
        slope0[j] += M::slope0[i] * a.a[i][j];
        if constexpr (M::dense_rows > 0)
          for (int r = 0; r < M::dense_rows; ++r) rows[r][j] += M::dense[r][i] * a.a[i][j];
      }
      advancing[i] = a.a[n - 1][i];
    }
    estimate[n] = 1 / exact(M::mu);
    slope1[n - 1] = 1;
  }

  void from_rosenbrock() {
    square<n> without, points;
    exact last[n] = {};
    for (int i = 0; i < n; ++i) {
      c[i] = M::c[i], d[i] = M::d[i];
      without.a[i][i] = 1 / exact(M::gamma);
      for (int j = 0; j < i; ++j) {
        without.a[i][j] = -exact(M::u[i][j]);
        points.a[i][j] = i < M::tail ? exact(declared(i, j)) : points.a[i - 1][j] + (j == i - 1 ? 1 : 0);
      }
    }
    const auto g = without.inverse(), a = points * g;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) alpha.a[i][j] = a.a[i][j], gamma.a[i][j] = g.a[i][j];
      last[i] = points.a[n - 1][i] + (i == n - 1 ? 1 : 0);
    }
    for (int j = 0; j < n; ++j) {
      estimate[j] = g.a[n - 1][j];
      for (int i = 0; i < n; ++i) {
        advancing[j] += last[i] * g.a[i][j];
        for (int r = 0; r < M::dense_powers; ++r) powers[r][j] += M::dense[r][i] * g.a[i][j];
      }
    }
  }
  static double declared(int i, int j) {
    if constexpr (M::is_rosenbrock) return j < M::tail && i < M::tail ? M::a[i][j] : 0.0;
    else return 0.0;
  }
};

/// Tolerance of sums of declared coefficients, which have 16 digits and sizes up to a hundred.
template <class M>
constexpr double coefficient_rounding = M::is_rosenbrock ? 4e-14 : 2e-15;

TEST(implicit_tableaus, order_conditions) {
  methods::for_each(methods::implicit_methods{}, [](auto method) {
    using M = decltype(method);
    SCOPED_TRACE(M::name);
    using form = implicit_form<M>;
    const form m;
    const exact rounding = coefficient_rounding<M>;
    const auto expect = [&](const char* what, int order, auto residual_at) {
      // Collocation has its order by conditions of its own (of_radau_are_collocation), also beyond the largest trees.
      const bool to_the_end = order < methods::largest_tree;
      const auto found = form::of_order(to_the_end ? order : methods::largest_tree - 1, residual_at);
      std::printf("%-34s %-16s order %d: residual %7.1e, of the next order %7.1e\n", M::title, what, order,
                  static_cast<double>(found.first), static_cast<double>(found.second));
      EXPECT_LE(found.first, rounding) << what;
      if (to_the_end) { EXPECT_GE(found.second, 1e-6) << what << ": its order is understated"; }
    };
    for (int i = 0; i < M::stages; ++i) {
      exact sum = 0, slopes = 0;
      for (int j = 0; j < M::stages; ++j) sum += m.alpha.a[i][j], slopes += m.gamma.a[i][j];
      EXPECT_NEAR(static_cast<double>(sum - m.c[i]), 0, rounding) << "c of stage " << i;
      EXPECT_NEAR(static_cast<double>(slopes - m.d[i]), 0, rounding) << "d of stage " << i;
    }
    expect("advancing", M::order, [&](int k) { return m.of_solution(m.advancing, k); });
    // The estimate is the difference of two formulas, which is zero up to the lower order.
    expect("estimate", M::embedded_order, [&](int k) { return m.of_nothing(m.estimate, k); });
    expect("dense output", M::dense_order, [&](int k) {
      exact worst = 0;
      for (int eighth = 1; eighth < 8; ++eighth) {
        typename form::weights w = {};
        m.dense(eighth / exact(8), w);
        worst = std::max(worst, m.of_solution(w, k, eighth / exact(8)));
      }
      return worst;
    });
  });
}

// Errors in a coefficient that a test of observed orders would miss: in late digits, or in a coefficient that rarely
// matters.
TEST(implicit_tableaus, reject_every_coefficient_off_by_1e_8) {
  methods::for_each(methods::implicit_methods{}, [](auto method) {
    using M = decltype(method);
    using form = implicit_form<M>;
    const exact nudge = 1e-8, seen = 5e-12;
    int tried = 0, unseen = 0;
    const auto is_seen = [&](const form& m) {
      ++tried;
      for (int nodes = 1; nodes <= M::order; ++nodes) {
        if (m.of_solution(m.advancing, nodes) > seen) return;
        if (nodes <= M::embedded_order && m.of_nothing(m.estimate, nodes) > seen) return;
      }
      for (int i = 0; i < M::stages; ++i) {
        exact sum = -m.c[i], slopes = -m.d[i];
        for (int j = 0; j < M::stages; ++j) sum += m.alpha.a[i][j], slopes += m.gamma.a[i][j];
        if (std::abs(sum) > seen || std::abs(slopes) > seen) return;
      }
      ++unseen;
    };
    for (int i = 0; i < M::stages; ++i) {
      for (int j = 0; j < M::stages; ++j) {
        form m;
        m.alpha.a[i][j] += nudge;
        is_seen(m);
      }
      form w, e, c;
      w.advancing[i] += nudge, e.estimate[i] += nudge, c.c[i] += nudge;
      is_seen(w), is_seen(e), is_seen(c);
    }
    EXPECT_EQ(unseen, 0) << M::name << " of " << tried;
  });
}

// Stiffly accurate: the last stage is the new point; and gamma is the same in every implicit stage.
TEST(implicit_tableaus, are_stiffly_accurate) {
  methods::for_each(methods::implicit_methods{}, [](auto method) {
    using M = decltype(method);
    SCOPED_TRACE(M::name);
    if constexpr (M::kind == methods::family::dirk) {
      EXPECT_EQ(M::c[M::stages - 1], 1.0);
      for (int i = 0; i < M::stages; ++i) {
        EXPECT_EQ(M::a[i][i], i == 0 && M::explicit_first ? 0.0 : M::gamma);
        for (int j = i + 1; j < M::stages; ++j) EXPECT_EQ(M::a[i][j], 0.0);
      }
    }
    // b_i = alpha_si + gamma_si (Hairer, Wanner II, IV.7; gamma = 0 for Runge-Kutta methods). The lower order of a Rosenbrock
    // method has the same formula one stage earlier.
    const implicit_form<M> m;
    for (int j = 0; j < M::stages; ++j)
      EXPECT_NEAR(static_cast<double>(m.advancing[j] - m.alpha.a[M::stages - 1][j] - m.gamma.a[M::stages - 1][j]), 0,
                  coefficient_rounding<M>);
    if constexpr (M::is_rosenbrock) {
      for (int j = 0; j < M::stages; ++j)
        EXPECT_NEAR(static_cast<double>(m.advancing[j] - m.estimate[j] - m.alpha.a[M::stages - 2][j] -
                                        m.gamma.a[M::stages - 2][j]),
                    0, coefficient_rounding<M>);
    }
  });
}

// Hairer, Wanner II, IV.5 and IV.8: collocation at the Radau points, and the basis that block-diagonalises its matrix.
template <class M>
void expect_radau() {
  SCOPED_TRACE(M::name);
  constexpr int n = M::stages;
  const implicit_form<M> m;
  for (int k = 1; k <= M::order; ++k) {  // B(2n - 1), C(n), D(n - 1)
    exact b = 0, power[n], before[n];
    for (int i = 0; i < n; ++i) before[i] = std::pow(m.c[i], exact(k - 1)), power[i] = before[i] * m.c[i];
    for (int i = 0; i < n; ++i) b += m.advancing[i] * before[i];
    EXPECT_NEAR(static_cast<double>(b * k), 1, 2e-15);
    for (int i = 0; i < n; ++i) {
      exact along = 0, back = 0;
      for (int j = 0; j < n; ++j)
        along += m.alpha.a[i][j] * before[j], back += m.advancing[j] * before[j] * m.alpha.a[j][i];
      if (k <= n) { EXPECT_NEAR(static_cast<double>(along - power[i] / k), 0, 1e-15); }
      if (k <= n - 1) { EXPECT_NEAR(static_cast<double>(back - m.advancing[i] * (1 - power[i]) / k), 0, 1e-15); }
    }
  }
  square<n> t, back, inverse;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      t.a[i][j] = M::t[i][j], back.a[i][j] = M::inverse_t[i][j], inverse.a[i][j] = M::inverse_a[i][j];
  const auto one = back * t, blocks = back * inverse * t;
  exact wanted[n][n] = {{M::mu}};
  for (int p = 0; 2 * p + 2 < n; ++p) {
    const exact re = M::mu_pair[p][0], im = M::mu_pair[p][1];
    const int i = 2 * p + 1;
    wanted[i][i] = wanted[i + 1][i + 1] = re, wanted[i][i + 1] = -im, wanted[i + 1][i] = im;
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      EXPECT_NEAR(static_cast<double>(one.a[i][j]), i == j, 5e-15);
      EXPECT_NEAR(static_cast<double>(blocks.a[i][j] - wanted[i][j]), 0, 1e-13) << i << j;
    }
  // The elimination of stages without exchanges (method/collocation_matrix.hpp) needs eigenvalues with a positive real part in all leading
  // parts: Cayley's transform of each has a spectral radius below one.
  for (int part = 1; part <= n; ++part) {
    square<n> less, more;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const exact leading = i < part && j < part ? inverse.a[i][j] : exact(i == j);
        less.a[i][j] = leading - (i == j), more.a[i][j] = leading + (i == j);
      }
    auto power = less * more.inverse();
    for (int k = 0; k < 10; ++k) power = power * power;
    for (const auto& row : power.a)
      for (const exact x : row) EXPECT_LT(std::abs(x), 1e-9) << part;
  }
}

TEST(implicit_tableaus, of_radau_are_collocation) {
  expect_radau<methods::radau_5>();
  expect_radau<methods::radau_9>();
  expect_radau<methods::radau_13>();
  const exact root = std::sqrt(exact(6));
  EXPECT_EQ(methods::radau_5::c[0], static_cast<double>((4 - root) / 10));
  EXPECT_EQ(methods::radau_5::c[1], static_cast<double>((4 + root) / 10));
}

}  // namespace
