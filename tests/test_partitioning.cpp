// Methods in descriptor form with coordinate partitioning: order, Newton matrix, constraints, events, switched constraints, bits.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>

#include "event_runs.hpp"
#include "form/of_model.hpp"
#include "method/by_name.hpp"
#include "method/coordinate_partitioning.hpp"
#include "models/loaded_double_pendulum.hpp"
#include "models/rod_and_stop.hpp"
#include "saltus.hpp"
#include "same_bits.hpp"

#include "../problems/hmmwv7p.hpp"

namespace saltus::test {
namespace {

const std::string methods_here[] = {"inflsdirk4", "inflesdirk4", "infltrap"};

void expect_finished_on_constraints(const outcome& r) {
  for (std::size_t i = 0; i < r.status.size(); ++i) {
    ASSERT_EQ(name_of(r.status[i]), "finished") << r.plan.method << ", instance " << i;
    ASSERT_EQ(r.exception[i], 0) << r.plan.method << ", instance " << i;
    EXPECT_LE(r.residual[i], 1e-12) << r.plan.method << ", instance " << i;
  }
}

// ---- the formulas ----------------------------------------------------------------------------------------------------

// Haug, Negrut and Engstler print the coefficients of positions by accelerations (tables 2 and 3): a a.
TEST(partitioning, coefficients_of_positions_are_those_of_the_tables) {
  const double printed[5][5] = {{1.0 / 16},
                                {1.0 / 4, 1.0 / 16},
                                {3.0 / 20, -1.0 / 50, 1.0 / 16},
                                {41.0 / 340, -143.0 / 5440, 15.0 / 1088, 1.0 / 16},
                                {47.0 / 64, -179.0 / 384, 475.0 / 128, -85.0 / 24, 1.0 / 16}};
  const double embedded[5] = {65.0 / 96, 1.0 / 32, 25.0 / 16, -85.0 / 48, 0.0};
  using M = methods::infl_sdirk_4;
  for (int j = 0; j < 5; ++j) {
    double of_embedded = 0;
    for (int i = 0; i < 5; ++i) {
      double sum = 0;
      for (int l = 0; l < 5; ++l) sum += M::a[i][l] * M::a[l][j];
      EXPECT_NEAR(sum, printed[i][j], 1e-15) << i << ", " << j;
      of_embedded += (M::a[4][i] - M::e[i]) * M::a[i][j];
    }
    EXPECT_NEAR(of_embedded, embedded[j], 2e-15) << j;
  }
  using T = methods::infl_trapezoid_2;
  EXPECT_EQ(T::a[1][0] * T::a[0][0] + T::a[1][1] * T::a[1][0], 0.25);
  EXPECT_EQ(T::a[1][1] * T::a[1][1], 0.25);
}

/// A model prepared for a test of single evaluations; parameters have their declared values.
template <class Model>
struct still_system {
  using form = form_of<Model>;
  using real = pack<double, 1>;
  typename form::template step_constants<real> c;

  still_system() {
    for (int i = 0; i < form::params; ++i) c.p[i] = Model::parameter_list[i].value;
  }
  real floor(int) const { return 1.0; }
};

template <class Model>
struct at_work {
  using real = pack<double, 1>;
  using system_type = still_system<Model>;
  using whole = detail::partitioned_system<system_type, real>;
  static constexpr int k = whole::k, m = whole::m, n = whole::n, free = whole::free;
  using state = vec<real, n>;

  system_type system;
  real t{0.3};
  state y;
  vec<real, k> acceleration;
  vec<real, m> multiplier;

  /// A point on the constraints near `guess`, with the accelerations and multipliers of the motion there.
  explicit at_work(const std::array<double, n>& guess, std::array<double, 2> modes = {}) {
    for (int i = 0; i < system_type::form::discretes; ++i) system.c.d[i] = modes[static_cast<std::size_t>(i)];
    for (int i = 0; i < n; ++i) y[i] = guess[static_cast<std::size_t>(i)];
    const auto p = parts();
    EXPECT_TRUE(none(p.recover(p.tangent_at(t, y), t, y, mask_of<real>::all(true))));
    const auto point = p.at(t, y);
    const auto& motion = motion_of(point);
    acceleration = motion.acceleration;
    multiplier = motion.multiplier;
  }
  whole parts() const {
    const auto point = system_type::form::point_of_bodies(t, y, system.c);
    return {system, {point, whole::bodies::jacobian_at(point)}};
  }

  /// Psi of eq. 48 with the stage's point at y if the accelerations are those of y.
  vec<real, k + m> psi(const whole& p, double hg, const vec<real, k + m>& unknown) const {
    state at = y;
    for (int i = 0; i < k; ++i) {
      const real dv = hg * (unknown[i] - acceleration[i]);
      at[i] = at[i] + hg * dv;
      at[k + i] = at[k + i] + dv;
    }
    // After the first change alone the dependent coordinates are off the constraints.
    EXPECT_TRUE(none(p.recover(p.tangent_at(t, y), t, at, mask_of<real>::all(true))));
    const auto point = p.at(t, at);
    const auto rows = whole::bodies::rows_at(point);
    vec<real, k> a;
    for (int i = 0; i < k; ++i) a[i] = unknown[i];
    auto left = whole::times(whole::bodies::mass(point), a);
    const auto f = whole::bodies::force(point);
    vec<real, k + m> r;
    for (int i = 0; i < k; ++i) {
      r[i] = left[i] - f[i];
      for (int c = 0; c < m; ++c) r[i] = r[i] - rows.by[c][i] * unknown[k + c];
    }
    for (int c = 0; c < m; ++c) {
      r[k + c] = rows.bend[c];
      for (int i = 0; i < k; ++i) r[k + c] = r[k + c] + rows.by[c][i] * unknown[i];
      if (none(p.part.on[c])) r[k + c] = unknown[k + c];
    }
    return r;
  }

  /// Eq. 51 by central differences.
  matrix<real, k + m> by_differences(const whole& p, double hg) const {
    vec<real, k + m> at;
    for (int i = 0; i < k; ++i) at[i] = acceleration[i];
    for (int c = 0; c < m; ++c) at[k + c] = multiplier[c];
    matrix<real, k + m> r;
    for (int j = 0; j < k + m; ++j) {
      const double d = 1e-5 * std::max(1.0, std::fabs(at[j].v));
      auto up = at, down = at;
      up[j] = at[j] + d;
      down[j] = at[j] - d;
      const auto a = psi(p, hg, up), b = psi(p, hg, down);
      for (int i = 0; i < k + m; ++i) r[i][j] = (a[i] - b[i]) / real(2 * d);
    }
    return r;
  }
};

/// R is the Schur complement of eq. 51: for any load on the independent equations both give the same accelerations.
template <class Model>
void expect_the_matrix(const at_work<Model>& w, double hg, double tolerance) {
  using W = at_work<Model>;
  using real = typename W::real;
  constexpr int k = W::k, m = W::m;
  const auto p = w.parts();
  const detail::linear_stages<typename W::system_type, real> lin(p, w.t, w.y, w.acceleration);
  for (int c = 0; c < m; ++c)
    EXPECT_NEAR(lin.multiplier[c].v, w.multiplier[c].v, 1e-10 * (1 + std::fabs(w.multiplier[c].v)));
  const lu<real, W::free> reduced(lin.reduced(hg));
  const lu<real, k + m> whole(w.by_differences(p, hg));
  for (int load = 0; load < k; ++load) {
    vec<real, k + m> right;
    vec<real, k> of_v;
    for (int i = 0; i < k + m; ++i) right[i] = i == load ? 1.0 : 0.0;
    for (int i = 0; i < k; ++i) of_v[i] = right[i];
    const auto all = whole.solve(right);
    vec<real, k> accelerations;
    for (int i = 0; i < k; ++i) accelerations[i] = all[i];
    const auto expected = p.free_of(accelerations), got = reduced.solve(lin.here.gather(of_v));
    for (int f = 0; f < W::free; ++f)
      EXPECT_NEAR(got[f].v, expected[f].v, tolerance) << "load " << load << ", free " << f;
  }
}

TEST(partitioning, newtons_matrix_is_that_of_central_differences) {
  const std::array<double, 12> guess = {0.5, 0.2, 0.4, 1.3, -0.1, -0.7, 0.3, 0.4, 1.0, 0.5, -0.6, -2.0};
  for (const double hg : {0.3, 0.05, -0.2}) {
    SCOPED_TRACE(hg);
    expect_the_matrix(at_work<loaded_double_pendulum>(guess), hg, 3e-8);
  }
}

TEST(partitioning, newtons_matrix_where_a_constraint_is_on_or_off) {
  const std::array<double, 8> guess = {0.4, 0.3, 0.6, 0.3, -0.3, 0.4, 1.0, 0.4};
  for (const double latched : {0.0, 1.0}) {
    SCOPED_TRACE(latched);
    expect_the_matrix(at_work<rod_and_stop>(guess, {latched}), 0.2, 3e-8);
  }
}

TEST(partitioning, names_the_first_constraint_that_depends_on_others) {
  using work = at_work<loaded_double_pendulum>;
  const work w({0.5, 0.2, 0.4, 1.3, -0.1, -0.7, 0.3, 0.4, 1.0, 0.5, -0.6, -2.0});
  const auto point = w.parts().at(w.t, w.y);
  auto rows = work::whole::bodies::jacobian_at(point);
  using parts = detail::partition<work::whole::bodies, work::real>;
  EXPECT_TRUE(none(parts(point, rows).singular));
  for (int j = 0; j < work::k; ++j) rows.by[2][j] = rows.by[0][j] * 1e6 - rows.by[1][j];
  const parts p(point, rows);
  EXPECT_TRUE(all(p.singular));
  EXPECT_EQ(p.of.v, 2.0);
}

// ---- order -----------------------------------------------------------------------------------------------------------

outcome with_fixed_steps(const std::string& model, const std::string& method, double t, int steps) {
  return run(model, {"method=" + method, fmt::format("t=[0.0,{:e}]", t), fmt::format("step={:.17e}", t / steps),
                     "rtol=1e-13", "run.lanes=1"});
}

/// Largest error of the states at the end.
double error_of(const outcome& r, const outcome& exact) {
  double worst = 0;
  for (std::size_t i = 0; i < exact.final_state.size(); ++i)
    worst = std::max(worst, std::fabs(r.final_state[i] - exact.final_state[i]));
  return worst;
}

void expect_order(const std::string& model, const std::string& method, double t, int steps, double order) {
  const auto exact = run(model, {"method=dop853", "rtol=1e-13", fmt::format("t=[0.0,{:e}]", t), "run.lanes=1"});
  const auto coarse = with_fixed_steps(model, method, t, steps), fine = with_fixed_steps(model, method, t, 2 * steps);
  expect_finished_on_constraints(coarse);
  expect_finished_on_constraints(fine);
  const double e = error_of(coarse, exact), half = error_of(fine, exact);
  fmt::print("{:<24} {:<10} {:.3e} {:.3e}: order {:.3f}\n", exact.plan.model.name, method, e, half,
             std::log2(e / half));
  EXPECT_NEAR(std::log2(e / half), order, 0.15) << method;
}

TEST(partitioning, observed_order_is_the_order) {
  expect_order("compound_pendulum", "inflsdirk4", 5.0, 400, 4);
  expect_order("compound_pendulum", "inflesdirk4", 5.0, 400, 4);
  expect_order("compound_pendulum", "infltrap", 5.0, 400, 2);
}

TEST(partitioning, observed_order_where_mass_and_forces_depend_on_everything) {
  expect_order(test_model("loaded_double_pendulum"), "inflsdirk4", 2.0, 400, 4);
  expect_order(test_model("loaded_double_pendulum"), "infltrap", 2.0, 400, 2);
}

// theta(5) and omega(5) of M. D. Compere's example by elliptic functions.
TEST(partitioning, compound_pendulum_has_the_exact_solution) {
  const auto r = run("compound_pendulum", {"method=inflsdirk4", "rtol=1e-10", "run.lanes=1"});
  expect_finished_on_constraints(r);
  EXPECT_NEAR(r.final("angle"), 0.3738942186662719547, 1e-9);
  EXPECT_NEAR(r.final("omega"), 0.8611552694957156350, 1e-9);
}

// The stiff direction turns with the motion: stages of order 1 lose more of the order than those of order 2 or 3, and steps become short.
// radau5 takes as many steps for the index-2 form after Gear, Gupta and Leimkuhler as for the model of bodies, with the same solution,
// so the elimination of multipliers costs no steps.
TEST(partitioning, stages_of_low_order_are_slow_where_stiff_springs_turn) {
  const auto exact = run(test_model("two_bobs"), {"method=dop853", "rtol=1e-12", "atol=1e-12", "run.lanes=1"});
  const auto steps_of = [&](const char* model, const char* method, double error) {
    const auto r = run(test_model(model), {fmt::format("method={}", method), "rtol=1e-8", "atol=1e-8", "run.lanes=1"});
    expect_finished_on_constraints(r);
    double off = 0;
    for (const char* state : {"x", "y", "a", "b"}) off = std::max(off, std::abs(r.final(state) - exact.final(state)));
    fmt::print("{:<16} {:<12} {:6} steps, off by {:.1e}\n", model, method, r.steps[0], off);
    EXPECT_LE(off, error) << model << ", " << method;
    return static_cast<double>(r.steps[0]);
  };
  const double of_order_1 = steps_of("two_bobs", "inflsdirk4", 1e-5),
               of_order_2 = steps_of("two_bobs", "inflesdirk4", 1e-5),
               of_order_3 = steps_of("two_bobs", "radau5", 1e-6),
               by_hand = steps_of("two_bobs_index_2", "radau5", 1e-6);
  EXPECT_GT(of_order_1, 6.0 * of_order_2);
  EXPECT_GT(of_order_2, 1.5 * of_order_3);
  EXPECT_NEAR(by_hand / of_order_3, 1.0, 0.2);
}

// ---- the partition ---------------------------------------------------------------------------------------------------

// During full turns each of the three coordinates is the worst choice of an independent one at some angle.
TEST(partitioning, goes_through_full_turns) {
  const std::vector<std::string> spin = {"t=[0.0,20.0]", "run.lanes=1", "initial.omega=15.0"};
  const auto exact = run("compound_pendulum", with({"method=dop853", "rtol=1e-13"}, spin));
  EXPECT_GT(exact.final("angle"), 40 * 6.28);
  for (const auto& [method, rtol, error] :
       {std::tuple{"inflsdirk4", "rtol=1e-9", 2e-6}, std::tuple{"infltrap", "rtol=1e-7", 2e-3}}) {
    const auto r = run("compound_pendulum", with({fmt::format("method={}", method), rtol}, spin));
    expect_finished_on_constraints(r);
    fmt::print("{:<10} {} steps, {} rejected, angle off by {:.1e}\n", method, r.steps[0], r.rejected[0],
               r.final("angle") - exact.final("angle"));
    EXPECT_NEAR(r.final("angle"), exact.final("angle"), error) << method;
  }
}

/// Time of one turn of the crank of crank_loop, as declared: by its energy as a function of its angle. The integrand is smooth and
/// periodic, so the trapezoidal rule is exact up to rounding.
double time_of_a_revolution(double w0) {
  const double a = 0.3, l = 1.0, m1 = 2.0, m2 = 1.5, m3 = 1.0, g = 9.81, pi = 3.14159265358979323846;
  const auto inertia = [&](double angle) {
    const double s = std::sin(angle), c = std::cos(angle), rod = -std::asin(a / l * s),
                 w = -a * c / (l * std::cos(rod));
    const double vx = -a * s - 0.5 * l * std::sin(rod) * w, vy = 0.5 * a * c, slider = -a * s - l * std::sin(rod) * w;
    return m1 * a * a / 3 + m2 * (vx * vx + vy * vy + l * l * w * w / 12) + m3 * slider * slider;
  };
  const auto potential = [&](double angle) { return g * 0.5 * a * (m1 + m2) * std::sin(angle); };
  const double energy = 0.5 * inertia(0.5) * w0 * w0 + potential(0.5);
  double sum = 0;
  const int points = 400;
  for (int i = 0; i < points; ++i) {
    const double angle = 2 * pi * i / points;
    sum += std::sqrt(0.5 * inertia(angle) / (energy - potential(angle)));
  }
  return sum * 2 * pi / points;
}

// No coordinate can stay independent: at some angle each determines nothing about the others.
TEST(partitioning, a_loop_stays_closed_through_its_dead_points) {
  const double speeds[] = {8.0, 10.0, 14.0};
  for (const double w0 : speeds) {
    const int revolutions = 20;
    const double t = revolutions * time_of_a_revolution(w0);
    const auto r = run(test_model("crank_loop"), {"method=inflsdirk4", "rtol=1e-11", "run.lanes=1",
                                                  set("initial.w_crank", w0), fmt::format("t=[0.0,{:.17e}]", t)});
    expect_finished_on_constraints(r);
    EXPECT_NEAR(r.final("crank"), 0.5 + revolutions * 6.283185307179586477, 2e-7) << w0;
    EXPECT_NEAR(r.final("w_crank"), w0, 2e-7) << w0;
  }
}

// ---- events ----------------------------------------------------------------------------------------------------------

TEST(partitioning, events_are_where_an_explicit_method_finds_them) {
  const std::vector<std::string> common = {"output.events=true", "run.lanes=1"};
  const auto exact = run(test_model("rod_and_stop"), with({"method=dop853", "rtol=1e-12"}, common));
  ASSERT_EQ(name_of(exact.status[0]), "finished");
  const auto names = names_of(exact);
  for (const char* name : {"stop", "meets", "lets_go"})
    EXPECT_NE(std::count(names.begin(), names.end(), name), 0) << name;
  const auto r = run(test_model("rod_and_stop"), with({"method=inflsdirk4", "rtol=1e-10"}, common));
  expect_finished_on_constraints(r);
  ASSERT_EQ(names_of(r), names);
  for (std::size_t e = 0; e < exact.log.size(); ++e) {
    EXPECT_NEAR(r.log[e].time, exact.log[e].time, 3e-9) << r.log[e].guard;
    for (std::size_t i = 0; i < r.log[e].after.size(); ++i)
      EXPECT_NEAR(r.log[e].after[i], exact.log[e].after[i], 1e-7) << r.log[e].guard << ", state " << i;
  }
}

// ---- a stiff vehicle -------------------------------------------------------------------------------------------------

// hmmwv7p in minimal coordinates, DOP853 at rtol 1e-12 with steps limited by stability; SciPy's Radau at 1e-10 agrees to 6e-13.
constexpr double vehicle_events[] = {0.500320987135939, 0.591031409824681, 0.599183901685820, 0.611337093942829,
                                     1.238958122964421, 1.330157836953990, 1.339168614452930, 1.352485915689027};
constexpr double vehicle_x = 8.940814594361786, vehicle_z = 0.713993119624616;

outcome vehicle_at(const std::string& rtol) {
  return run("hmmwv7p", {"method=inflsdirk4", "rtol=" + rtol, "output.events=true", "run.lanes=1"});
}

TEST(partitioning, vehicle_meets_and_leaves_the_bump_on_time) {
  const auto r = vehicle_at("1e-8");
  expect_finished_on_constraints(r);
  const std::vector<std::string> names = {"begins_0", "pressing_0", "ends_0", "pressing_0",
                                          "begins_1", "pressing_1", "ends_1", "pressing_1"};
  ASSERT_EQ(names_of(r), names);
  for (std::size_t e = 0; e < names.size(); ++e) EXPECT_NEAR(r.log[e].time, vehicle_events[e], 1e-8) << names[e];
  EXPECT_NEAR(r.final("x_0"), vehicle_x, 1e-8);
  EXPECT_NEAR(r.final("z_0"), vehicle_z, 1e-8);
}

/// A model's vector field, d/dt (q, v) with multipliers eliminated, and s = (Phi, d Phi/dt), as saltus evaluates them, with their
/// Jacobians at a point.
template <class Model>
struct linearised {
  using form = form_of<Model>;
  using real = pack<double, 1>;
  static constexpr int n = form::states, k = form::coordinates, m = form::constraints, width = 6;
  Eigen::MatrixXd field{n, n}, constraints{2 * m, n};

  linearised(const still_system<Model>& system, const vec<real, n>& y) {
    for (int first = 0; first < n; first += width) {
      vec<dual<real, width>, n> along;
      for (int j = 0; j < n; ++j) along[j] = seeded<width>(y[j], j, first, real(1.0));
      const dual<real, width> t(real(0.0));
      const auto f = form::rhs(t, along, system.c);
      const auto s = form::system_of_bodies::levels_at(form::point_of_bodies(t, along, system.c));
      for (int j = first; j < std::min(first + width, n); ++j) {
        for (int i = 0; i < n; ++i) field(i, j) = f[i].d[j - first].v;
        for (int i = 0; i < m; ++i) {
          constraints(i, j) = s.position[i].d[j - first].v;
          constraints(m + i, j) = s.velocity[i].d[j - first].v;
        }
      }
    }
  }

  /// The field's derivative by the states in `free`; the constraints determine the others.
  Eigen::MatrixXd by(const std::vector<int>& free) const {
    const auto f = static_cast<Eigen::Index>(free.size());
    std::vector<int> others;
    for (int i = 0; i < n; ++i)
      if (std::find(free.begin(), free.end(), i) == free.end()) others.push_back(i);
    EXPECT_EQ(others.size(), static_cast<std::size_t>(2 * m));
    Eigen::MatrixXd all = Eigen::MatrixXd::Zero(n, f);
    all(free, Eigen::all) = Eigen::MatrixXd::Identity(f, f);
    all(others, Eigen::all) =
        -constraints(Eigen::all, others).partialPivLu().solve(constraints(Eigen::all, free)).eval();
    return (field * all)(free, Eigen::all);
  }
};

// tests/reference/vehicle.py computes them from nine minimal coordinates and differences in 60 digits. Two are zero, because the vehicle
// moves forward.
TEST(partitioning, vehicle_has_the_eigenvalues_of_its_minimal_coordinates) {
  using V = ::hmmwv7p;
  using system_type = still_system<V>;
  using real = system_type::real;
  system_type system;
  for (int i = 0; i < V::axles; ++i) {
    system.c.d[V::on_bump + i] = 0.0;
    system.c.d[V::pressed + i] = 1.0;
  }
  vec<real, 42> y;
  for (int i = 0; i < 42; ++i) y[i] = 0.0;
  start<V, real> begin{real(0.0), y, system.c.p, system.c.d};
  V::initial(begin);
  std::vector<int> free = {V::x, V::z};
  for (int b = 0; b < V::bodies; ++b) free.push_back(V::angle + b);
  for (std::size_t i = 0; i < 9; ++i) free.push_back(free[i] + V::vx);
  const Eigen::VectorXcd found = linearised<V>(system, y).by(free).eigenvalues();
  std::vector<std::complex<double>> left(found.begin(), found.end());
  using z = std::complex<double>;
  const z all[] = {-260539.0183326883,
                   -255722.543100855,
                   -36584.53510960402,
                   -34472.75070561521,
                   -117.7380883573261,
                   -97.14943193700527,
                   -46.77807061652706,
                   -31.03737148379391,
                   -10.00791506101963,
                   -10.00772257421073,
                   -10.00040222337471,
                   -10.00039585778679,
                   {-8.506152250585413, 14.52430075465605},
                   {-8.506152250585413, -14.52430075465605},
                   {-3.740505181884168, 9.767614649659207},
                   {-3.740505181884168, -9.767614649659207},
                   0.0,
                   0.0};
  for (const z value : all) {
    const auto nearest = std::min_element(left.begin(), left.end(), [value](const z& a, const z& b) {
      return std::abs(a - value) < std::abs(b - value);
    });
    // The zeros share one eigenvector, so rounding enters by its square root.
    EXPECT_LE(std::abs(*nearest - value), value == 0.0 ? 1e-4 : 1e-7 + 1e-11 * std::abs(value)) << value;
    left.erase(nearest);
  }
  EXPECT_TRUE(left.empty());
}

// An explicit method needs 9e5 evaluations for these two seconds at every tolerance.
TEST(partitioning, vehicle_takes_steps_by_its_tolerance_not_by_its_bushings) {
  for (const double tolerance : {1e-2, 1e-3, 1e-4, 1e-5}) {
    const auto r = vehicle_at(fmt::format("{:.0e}", tolerance));
    expect_finished_on_constraints(r);
    const double x = r.final("x_0") - vehicle_x, z = r.final("z_0") - vehicle_z;
    fmt::print("rtol {:.0e}: {} steps, {} rejected, {} evaluations, off by {:.1e} m forward, {:.1e} m upward\n",
               tolerance, r.steps[0], r.rejected[0], r.rhs_evaluations[0], x, z);
    EXPECT_LE(std::fabs(x), tolerance * (1 + vehicle_x));
    EXPECT_LE(std::fabs(z), tolerance * (1 + vehicle_z));
    EXPECT_LE(r.rhs_evaluations[0], 10000);
  }
}

// ---- bits ------------------------------------------------------------------------------------------------------------

TEST(partitioning, has_the_same_bits_on_any_lanes) {
  const std::vector<std::string> common = {"rtol=1e-6", "output.events=true", "sweep.angle={from=0.3,to=2.5,count=19}",
                                           "output.samples.count=7", "run.threads=1"};
  for (const auto& method : methods_here) {
    const auto settings = with(common, {"method=" + method});
    const auto one = run(test_model("rod_and_stop"), with(settings, {"run.lanes=1"}));
    const auto eight = run(test_model("rod_and_stop"), with(settings, {"run.lanes=8"}));
    ASSERT_GE(one.plan.count, 19);
    for (std::int64_t i = 0; i < one.plan.count; ++i) expect_same(one, i, eight, i);
    expect_same_log(one, eight);
  }
}

// With more than eight coordinates a lookup finds places, lane by lane.
TEST(partitioning, vehicle_has_the_same_bits_on_any_lanes) {
  const std::vector<std::string> settings = {"method=inflsdirk4", "rtol=1e-4", "output.events=true",
                                             "sweep.speed={from=3.0,to=6.0,count=11}", "run.threads=1"};
  const auto one = run("hmmwv7p", with(settings, {"run.lanes=1"}));
  const auto eight = run("hmmwv7p", with(settings, {"run.lanes=8"}));
  for (std::int64_t i = 0; i < one.plan.count; ++i) expect_same(one, i, eight, i);
  expect_same_log(one, eight);
}

// ---- rejected cases --------------------------------------------------------------------------------------------------

TEST(partitioning, is_for_mechanical_models_alone) {
  for (const auto& method : methods_here) {
    try {
      plan_of("relief_valve", {"method=" + method});
      FAIL() << method;
    } catch (const std::exception& e) {
      EXPECT_NE(std::string(e.what()).find("integrates mechanical models alone"), std::string::npos) << e.what();
    }
  }
}

}  // namespace
}  // namespace saltus::test
