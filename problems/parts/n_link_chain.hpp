// Common parts of the chains of all lengths: n slender links, hinged one to the next and the first to a fixed point, each with the
// coordinates of its middle and its angle.
#pragma once

#include <saltus.hpp>

template <int n>
struct n_link_chain_of {
  static constexpr auto source = "textbook";
  static constexpr double span[] = {0.0, 2.0};

  enum state { x, y = x + n, angle = y + n, vx = angle + n, vy = vx + n, omega = vy + n };
  static constexpr auto first_velocity = vx;
  static constexpr bool mass_is_diagonal = true;
  static constexpr saltus::variable<state> state_list[] = {
      saltus::variable<state>{x, 0.0, "m", "middle of a link (default: where its angles put it)"}.of(n),
      saltus::variable<state>{y, 0.0, "m", "middle of a link, upward (default: where its angles put it)"}.of(n),
      saltus::variable<state>{angle, 0.0, "rad",
                              "of a link (default: the first is level, the last stands `curl` higher)"}
          .of(n),
      saltus::variable<state>{vx, 0.0, "m/s", "dx/dt"}.of(n),
      saltus::variable<state>{vy, 0.0, "m/s", "dy/dt"}.of(n),
      saltus::variable<state>{omega, 0.0, "rad/s", "d angle/dt"}.of(n)};
  enum parameter { link_mass, length, gravity, friction, curl };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {link_mass, 0.5, "kg", "of a link"},
      {length, 0.2, "m", "of a link"},
      {gravity, 9.81, "m/s2", "acceleration of gravity, downward"},
      {friction, 0.0, "N m s", "viscous, between two links, and at the fixed point"},
      {curl, 1.0, "rad", "by how much the last link is turned against the first at the start"}};
  enum constraint { hinge_x, hinge_y = hinge_x + n };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      saltus::constrained<constraint>{hinge_x, saltus::holonomic, "m", "a link begins where the one before it ends, x"}
          .of(n),
      saltus::constrained<constraint>{hinge_y, saltus::holonomic, "m", "a link begins where the one before it ends, y"}
          .of(n)};
  enum output { energy, pull_x, pull_y };
  static constexpr saltus::derived<output> output_list[] = {{energy, "J", "kinetic and potential energy"},
                                                            {pull_x, "N", "of the fixed point on the chain, x"},
                                                            {pull_y, "N", "of the fixed point on the chain, upward"}};

  static void initial(auto& at) {
    for (int i = 0; i < n; ++i) at(angle, i) = at[curl] * (n > 1 ? static_cast<double>(i) / (n - 1) : 0.0);
    for (int i = 0; i < n; ++i) {
      const auto along = 0.5 * at[length] * cos(at(angle, i)), across = 0.5 * at[length] * sin(at(angle, i));
      at(x, i) = along;
      at(y, i) = across;
      if (i == 0) continue;
      at(x, i) = along + at(x, i - 1) + 0.5 * at[length] * cos(at(angle, i - 1));
      at(y, i) = across + at(y, i - 1) + 0.5 * at[length] * sin(at(angle, i - 1));
    }
  }
  static auto inertia(const auto& at) { return at[link_mass] * at[length] * at[length] / 12.0; }
  static void mass(const auto& at, auto& m) {
    for (int i = 0; i < n; ++i) {
      m(vx, i, vx, i) = m(vy, i, vy, i) = at[link_mass];
      m(omega, i, omega, i) = inertia(at);
    }
  }
  static void force(const auto& at, auto& f) {
    for (int i = 0; i < n; ++i) {
      f(vx, i) = 0.0;
      f(vy, i) = -at[link_mass] * at[gravity];
      f(omega, i) = -at[friction] * at(omega, i);
      if (i > 0) f(omega, i) = f(omega, i) + at[friction] * at(omega, i - 1);
      if (i > 0) f(omega, i - 1) = f(omega, i - 1) - at[friction] * (at(omega, i - 1) - at(omega, i));
    }
  }
  static void constraints(const auto& at, auto& c) {
    auto end_x = 0.0 * at(x, 0), end_y = end_x;  // end of the previous link
    for (int i = 0; i < n; ++i) {
      const auto along = 0.5 * at[length] * cos(at(angle, i)), across = 0.5 * at[length] * sin(at(angle, i));
      c(hinge_x, i) = at(x, i) - along - end_x;
      c(hinge_y, i) = at(y, i) - across - end_y;
      end_x = at(x, i) + along;
      end_y = at(y, i) + across;
    }
  }
  static void outputs(const auto& at, auto& out) {
    out[energy] = 0.0;
    for (int i = 0; i < n; ++i)
      out[energy] += 0.5 * at[link_mass] * (at(vx, i) * at(vx, i) + at(vy, i) * at(vy, i)) +
                     0.5 * inertia(at) * at(omega, i) * at(omega, i) + at[link_mass] * at[gravity] * at(y, i);
    out[pull_x] = at.multiplier(hinge_x);
    out[pull_y] = at.multiplier(hinge_y);
  }
};
