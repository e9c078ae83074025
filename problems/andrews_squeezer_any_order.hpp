// Andrews' squeezing mechanism (andrews_squeezer.hpp) in the handbook's form: M(p) p'' = f(p, p') - G(p)' lambda, 0 = g(p).
#include "parts/andrews_squeezer.hpp"

struct andrews_squeezer_any_order : andrews_squeezer_of<andrews_squeezer_any_order> {
  static constexpr auto title = "Andrews' squeezing mechanism as a residual, index 3";

  enum state { beta, Theta, gamma, Phi, delta, Omega, epsilon, on_1x, on_1y, on_2x, on_2y, on_3x, on_3y };
  static constexpr saltus::variable<state> state_list[] = {
      {beta, -0.0617138900142764496, "rad", "of the crank"},
      {Theta, 0.0, "rad", "of the coupler on the crank"},
      {gamma, 0.455279819163070380, "rad", "of the body at the spring"},
      {Phi, 0.222668390165885885, "rad", "of the first link, in its joint"},
      {delta, 0.487364979543842550, "rad", "of the body that this link is on"},
      {Omega, -0.222668390165885885, "rad", "of the second link, in its joint"},
      {epsilon, 1.23054744454982119, "rad", "of the body that this link is on"},
      {on_1x, 98.5668703962410896, "N", "multiplier of loop_1x"},
      {on_1y, -6.12268834425566265, "N", "multiplier of loop_1y"},
      {on_2x, 0.0, "N", "multiplier of loop_2x"},
      {on_2y, 0.0, "N", "multiplier of loop_2y"},
      {on_3x, 0.0, "N", "multiplier of loop_3x"},
      {on_3y, 0.0, "N", "multiplier of loop_3y"}};
  enum equation { torques, loop_1x = torques + 7, loop_1y, loop_2x, loop_2y, loop_3x, loop_3y };
  static constexpr saltus::equated<equation> equation_list[] = {
      saltus::equated<equation>{torques, "N m", "of a body, or a link, in the order of the angles"}.of(7),
      {loop_1x, "m", "the loop through B is closed, x"},
      {loop_1y, "m", "the loop through B is closed, y"},
      {loop_2x, "m", "the loop through delta and A is closed, x"},
      {loop_2y, "m", "the loop through delta and A is closed, y"},
      {loop_3x, "m", "the loop through epsilon and A is closed, x"},
      {loop_3y, "m", "the loop through epsilon and A is closed, y"}};

  static void initial(auto& at) {
    for (int i = 0; i < 7; ++i) at.d(beta, i, 1) = 0.0;  // of all seven angles
  }

  static void residual(const auto& at, auto& r) {
    const auto balance = [&](state i) -> auto& { return r(torques, static_cast<int>(i)); };
    loads(at, balance);
    each_mass(at, [&](state i, state j, const auto& value) {
      balance(i) += value * at.d(j, 2);
      if (i != j) balance(j) += value * at.d(i, 2);
    });
    each_force(
        at, [&](state i) { return at.d(i, 1); }, [&](state i, const auto& value) { balance(i) -= value; });
    close(at, r);
  }

  /// Torques of the multipliers: the transposed Jacobian of the loops.
  static void loads(const auto& at, const auto& balance) {
    const auto x = at[on_1x] + at[on_2x] + at[on_3x],
               y = at[on_1y] + at[on_2y] + at[on_3y];  // all three loops pass through the crank
    const auto coupler = d * (sin(at[beta] + at[Theta]) * x - cos(at[beta] + at[Theta]) * y);
    balance(beta) = rr * (cos(at[beta]) * y - sin(at[beta]) * x) + coupler;
    balance(Theta) = coupler;
    balance(gamma) = -ss * (cos(at[gamma]) * at[on_1x] + sin(at[gamma]) * at[on_1y]);
    const auto first = -e * (cos(at[Phi] + at[delta]) * at[on_2x] + sin(at[Phi] + at[delta]) * at[on_2y]);
    balance(Phi) = first;
    balance(delta) = first + zt * (sin(at[delta]) * at[on_2x] - cos(at[delta]) * at[on_2y]);
    const auto second = zf * (sin(at[Omega] + at[epsilon]) * at[on_3x] - cos(at[Omega] + at[epsilon]) * at[on_3y]);
    balance(Omega) = second;
    balance(epsilon) = second - u * (cos(at[epsilon]) * at[on_3x] + sin(at[epsilon]) * at[on_3y]);
  }
};
