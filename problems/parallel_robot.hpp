// A robot of two arms that carry a plate, with dry friction. A controller whose torque saturates drives its motors. The orders of
// derivatives change with the saturation.
#include <saltus.hpp>

struct parallel_robot {
  static constexpr auto title = "Parallel robot with saturating controllers, index 3";
  static constexpr auto source =
      "N. S. Nedialkov, N. Ramdani, hybrid DAETS; with gravity (0, +g), as z is upward, which the printed signs of the "
      "rest ask for";
  static constexpr double span[] = {0.0, 5.0};
  static constexpr double pi = 3.14159265358979323846;

  enum state { x, z, q, wanted = q + 2, load = wanted + 2, torque = load + 2, sum = torque + 2 };
  static constexpr saltus::variable<state> state_list[] = {
      {x, 0.0, "m", "of the plate, to the side"},
      {z, -0.57445626465380286598, "m", "of the plate, upward"},
      saltus::variable<state>{q, 0.0, "rad", "angle of an arm"}.of(2),
      saltus::variable<state>{wanted, 0.0, "rad", "the angle that it is to have"}.of(2),
      saltus::variable<state>{load, 0.0, "N/m", "multiplier of a rod"}.of(2),
      saltus::variable<state>{torque, 0.0, "N m", "of a motor, after the gear"}.of(2),
      saltus::variable<state>{sum, 0.0, "rad s", "integral of the controller"}.of(2),
  };
  enum parameter { xp, L, l, m1, m2, m3, m4, Jmot, Jred, I, Fs, Fv, alpha, gear, g, Kc, Ti, Td };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {xp, 0.1, "m", "half the distance of the motors"},
      {L, 0.3, "m", "length of an arm"},
      {l, 0.7, "m", "length of a rod"},
      {m1, 0.82, "kg", "mass of an arm"},
      {m2, 0.14, "kg", "mass of a rod"},
      {m3, 0.5, "kg", "mass of the plate"},
      {m4, 5.0, "kg", "mass of the load"},
      {Jmot, 0.37e-2, "kg m2", "inertia of a motor"},
      {Jred, 9.09e-4, "kg m2", "inertia of a gear"},
      {I, 0.018895002, "kg m2", "inertia of an arm"},
      {Fs, 3.0, "N m", "dry friction"},
      {Fv, 0.5, "N m s", "viscous friction"},
      {alpha, 50.0, "N m", "the largest torque"},
      {gear, 5.0, "1", "ratio of the gear"},
      {g, 9.81, "m/s2", "acceleration of gravity"},
      {Kc, 600.0, "N m", "gain of the controller"},
      {Ti, 300.0, "s", "its integral time"},
      {Td, 0.05, "s", "its derivative time"},
  };
  enum equation {
    closure,
    reference = closure + 2,
    plate = reference + 2,
    arm = plate + 2,
    motor = arm + 2,
    integral = motor + 2
  };
  static constexpr saltus::equated<equation> equation_list[] = {
      saltus::equated<equation>{closure, "m2", "a rod keeps its length"}.of(2),
      saltus::equated<equation>{reference, "m2", "and would do so at the place wanted"}.of(2),
      saltus::equated<equation>{plate, "N", "forces on the plate"}.of(2),
      saltus::equated<equation>{arm, "N m", "torques on an arm"}.of(2),
      saltus::equated<equation>{motor, "N m", "the torque is that of the controller, or the largest"}.of(2),
      saltus::equated<equation>{integral, "rad", "what is summed up"}.of(2),
  };
  enum guard { turns, over = turns + 2, under = over + 2 };
  static constexpr saltus::event_function<guard> guard_list[] = {
      saltus::event_function<guard>{turns, saltus::both, saltus::bilateral, "the arm changes its direction"}.of(2),
      saltus::event_function<guard>{over, saltus::both, saltus::bilateral, "the torque asked for is above the largest"}
          .of(2),
      saltus::event_function<guard>{under, saltus::both, saltus::bilateral, "it is below the smallest"}.of(2),
  };

  // At rest, at a height from which both rods reach the plate; the guesses of the desired angles are near those at which the reference
  // closes. The torques asked for are then beyond the largest, one on either side.
  static void initial(auto& at) {
    at.d(x, 1) = 0.0;
    at.d(z, 1) = 0.0;
    for (int i = 0; i < 2; ++i) {
      at.d(q, i, 1) = 0.0;
      at(wanted, i) = 0.08;
    }
  }

  // From the end of arm i, at the angle a, to the plate: half the gradient of the closure with respect to the plate's position.
  static auto across(const auto& at, int i, const auto& px, const auto& a) {
    return select(i == 0, px - at[xp] - at[L] * cos(a), px + at[xp] + at[L] * cos(a));
  }
  static auto up(const auto& at, const auto& pz, const auto& a) { return pz + at[L] * sin(a); }
  static auto off(const auto& at, const auto& dx, const auto& dz) { return dx * dx + dz * dz - at[l] * at[l]; }
  static auto error(const auto& at, int i, int k) { return at.d(wanted, i, k) - at.d(q, i, k); }
  static auto asked(const auto& at, int i) {
    return at[Kc] * (error(at, i, 0) + at(sum, i) / at[Ti] + at[Td] * error(at, i, 1));
  }

  static void residual(const auto& at, auto& r) {
    const auto xd = -0.35 * sin(2.0 * pi * at.t), zd = -0.7 + 0.1 * cos(2.0 * pi * at.t);
    const auto mass = at[m2] + at[m3] + at[m4];
    r(plate, 0) = mass * at.d(x, 2);
    r(plate, 1) = mass * (at.d(z, 2) + at[g]);
    for (int i = 0; i < 2; ++i) {
      const auto angle = at(q, i), acceleration = at.d(q, i, 2);
      const auto dx = across(at, i, at[x], angle), dz = up(at, at[z], angle);
      r(closure, i) = off(at, dx, dz);
      r(reference, i) = off(at, across(at, i, xd, at(wanted, i)), up(at, zd, at(wanted, i)));
      r(plate, 0) += 2.0 * dx * at(load, i);
      r(plate, 1) += 2.0 * dz * at(load, i);
      const auto lever = 2.0 * at[L] * (select(i == 0, dx, -dx) * sin(angle) + dz * cos(angle));
      r(arm, i) = -at(torque, i) + (at[gear] * at[gear] * (at[Jmot] + at[Jred]) + at[I]) * acceleration +
                  select(at.above(turns, i), at[Fs], -at[Fs]) + at[Fv] * at.d(q, i, 1) - at[m1] * at[g] * cos(angle) +
                  0.5 * at[m2] * at[L] * (at[L] * acceleration - at[g] * cos(angle)) + lever * at(load, i);
      r(motor, i) =
          at(torque, i) - select(at.above(over, i), at[alpha], select(at.above(under, i), asked(at, i), -at[alpha]));
      r(integral, i) = at.d(sum, i, 1) - error(at, i, 0);
    }
  }

  static void guards(const auto& at, auto& gap) {
    for (int i = 0; i < 2; ++i) {
      gap(turns, i) = at.d(q, i, 1);
      gap(over, i) = asked(at, i) - at[alpha];
      gap(under, i) = asked(at, i) + at[alpha];
    }
  }
};
