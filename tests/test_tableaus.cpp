// The coefficients of the explicit methods: order conditions by the compiler and at run time, and that the check sees
// what it is there for - a coefficient off by 1e-10, a claim too high, a claim too low.
#include "method/order_conditions.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace methods = saltus::methods;
using methods::defect;
using methods::tableau;

namespace {

static_assert(methods::order_conditions<methods::kutta_3>());
static_assert(methods::order_conditions<methods::bogacki_shampine_3>());
static_assert(methods::order_conditions<methods::runge_kutta_4>());
static_assert(methods::order_conditions<methods::fehlberg_5>());
static_assert(methods::order_conditions<methods::fehlberg_8>());
static_assert(methods::order_conditions<methods::dormand_prince_5>());
static_assert(methods::order_conditions<methods::tsitouras_5>());
static_assert(methods::order_conditions<methods::dormand_prince_8>());
static_assert(methods::order_conditions(methods::all{}));

void print_row(const char* name, const double* residual, int order) {
  std::printf("  %-10s", name);
  for (int n = 1; n <= order + 1; ++n) std::printf(" %7.1e", residual[n]);
  std::printf("\n");
}

TEST(tableaus, residuals_of_every_method) {
  methods::for_each(methods::all{}, [](auto method) {
    using M = decltype(method);
    SCOPED_TRACE(M::name);
    const methods::residuals r = residuals_of(tableau<M>());
    std::printf("%s: row sums %.1e; residuals of the trees with 1, 2, ... nodes, the last not to be fulfilled\n",
                M::title, r.row_sum);
    print_row("advancing", r.advancing, M::order);
    if (M::embedded_order > 0) print_row("embedded", r.embedded, M::embedded_order);
    if (M::two_errors) print_row("embedded3", r.embedded3, M::embedded3_order);
    print_row("dense", r.dense, M::dense_order);
    EXPECT_EQ(defect_of(tableau<M>()), defect::none);
  });
}

TEST(tableaus, keys) {
  std::vector<std::string> keys;
  methods::for_each(methods::all{}, [&](auto method) { keys.push_back(decltype(method)::name); });
  const std::vector<std::string> expected = {"kutta3", "bs3", "rk4", "rkf45", "rkf78", "dp5", "tsit5", "dop853"};
  EXPECT_EQ(keys, expected);
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

/// Applies one change to a fresh copy of the coefficients at each call, and counts the copies that are not rejected.
template <class M>
struct perturbation {
  int tried    = 0;
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
  methods::for_each(methods::all{}, [&](auto method) {
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

// Two coefficients of a row moved against each other keep its sum, so that c_i = sum_j a_ij does not see it. 1e-8,
// because where both have the same c_j (DOP853's stages 11 and 12) only conditions of seven nodes do, and weakly.
TEST(order_conditions, reject_pairs_in_a_row_off_by_1e_8) {
  const double nudge = 1e-8;
  methods::for_each(methods::all{}, [&](auto method) {
    using M = decltype(method);
    perturbation<M> nudged;
    for (int i = 2; i < tableau<M>::own; ++i) {
      for (int j = 1; j < i; ++j) {
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
// All weights of Simpson's rule, so exact for f(t) alone, but sum b_i a_ij c_j = 1/12 instead of 1/6.
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
  static constexpr double c[3]    = {0.5, 0.5, 1.0};
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
static_assert(claim<fsal_denied> == defect::fsal);
static_assert(claim<fsal_claimed> == defect::fsal);
static_assert(claim<estimate_denied> == defect::no_estimate);
static_assert(claim<estimate_claimed> == defect::no_estimate);
static_assert(claim<midpoint_rule> == defect::not_explicit);
static_assert(!methods::order_conditions(methods::list<methods::runge_kutta_4, kutta_3_as_4>{}));

// Every comparison with NaN is false: none may read that as a fulfilled condition.
TEST(order_conditions, reject_nan_and_infinity) {
  methods::for_each(methods::all{}, [](auto method) {
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

// The order conditions hold for b + e as well; b_hat from the papers named as the methods' sources fixes the sign.
TEST(tableaus, embedded_weights_as_published) {
  expect_embedded<methods::bogacki_shampine_3>({7.0 / 24, 1.0 / 4, 1.0 / 3, 1.0 / 8});
  expect_embedded<methods::fehlberg_5>({25.0 / 216, 0, 1408.0 / 2565, 2197.0 / 4104, -1.0 / 5, 0});
  expect_embedded<methods::fehlberg_8>({41.0 / 840, 0, 0, 0, 0, 34.0 / 105, 9.0 / 35, 9.0 / 35, 9.0 / 280, 9.0 / 280,
                                        41.0 / 840, 0, 0});
  expect_embedded<methods::dormand_prince_5>(
      {5179.0 / 57600, 0, 7571.0 / 16695, 393.0 / 640, -92097.0 / 339200, 187.0 / 2100, 1.0 / 40});
}

// O(h^5) for a 5(4) pair; for DOP853 |E5|^2 / |E3| is O(h^6)^2 / O(h^4) = O(h^8).
TEST(tableaus, order_of_the_error_estimate) {
  std::vector<int> orders;
  methods::for_each(methods::all{}, [&](auto method) { orders.push_back(methods::error_order<decltype(method)>); });
  EXPECT_EQ(orders, (std::vector<int>{0, 2, 0, 4, 7, 4, 4, 7}));
}

/// The weights of the nested form minus published b_i(s), the largest over s = 0, 0.01, ... 1.
template <class Method, class Published>
double largest_difference(Published published) {
  double largest = 0.0;
  for (int k = 0; k <= 100; ++k) {
    const double s = k / 100.0;
    const auto   w = tableau<Method>().dense(s);
    for (int i = 0; i < Method::stages; ++i)
      largest = std::max(largest, std::abs(w.weight[i].value - published(i, s)));
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

// The estimate of Fehlberg's 7(8) pair vanishes where f depends on t alone: a trap stated at the method.
TEST(tableaus, fehlberg_8_estimate_is_blind_to_time) {
  using M = methods::fehlberg_8;
  for (int power = 0; power <= 20; ++power) {
    double error = 0.0;
    for (int i = 0; i < M::stages; ++i) error += M::e[i] * std::pow(M::c[i], power);
    EXPECT_EQ(error, 0.0) << "t^" << power;
  }
}

}  // namespace
