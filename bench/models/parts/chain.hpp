// Masses in a row between two walls, on springs that harden as they stretch: the chain of Fermi, Pasta, Ulam and
// Tsingou, of any length. Every mass is coupled to its neighbours only, so the work grows linearly with the number of
// states. The start is equally rough everywhere, so the step size does not depend on the length.
#pragma once

#include <saltus.hpp>

template <int Masses>
struct chain_of {
  static constexpr auto source =
      "E. Fermi, J. Pasta, S. Ulam, Los Alamos report LA-1940 (1955); the start is of our own";
  static constexpr double span[] = {0.0, 20.0};

  enum state { position, velocity = position + Masses };
  static constexpr saltus::variable<state> state_list[] = {
      saltus::variable<state>{position, 0.0, "1", "displacement from rest (default: amplitude cos(turn i))"}.of(Masses),
      saltus::variable<state>{velocity, 0.0, "1", "velocity (default: amplitude sin(turn i))"}.of(Masses),
  };

  enum parameter { amplitude, turn, bend };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {amplitude, 0.4, "1", "of the start"},
      {turn, 2.4, "1", "phase from a mass to the next at the start"},
      {bend, 0.25, "1", "alpha: the force of a spring stretched by s is s + alpha s^2"},
  };

  enum output { energy };
  static constexpr saltus::derived<output> output_list[] = {{energy, "1", "kinetic and elastic energy: constant"}};

  static void initial(auto& at) {
    for (int i = 0; i < Masses; ++i) {
      at(position, i) = at[amplitude] * cos(at[turn] * i);
      at(velocity, i) = at[amplitude] * sin(at[turn] * i);
    }
  }

  /// Elongation of spring i, which ends at mass i.
  static auto stretch(const auto& at, int i) {
    if (i == 0) return at(position, 0) - 0.0;
    if (i == Masses) return 0.0 - at(position, Masses - 1);
    return at(position, i) - at(position, i - 1);
  }

  static void rhs(const auto& at, auto& dy) {
    const auto force = [&](int i) {
      const auto s = stretch(at, i);
      return s + at[bend] * s * s;
    };
    auto before = force(0);
    for (int i = 0; i < Masses; ++i) {
      const auto after = force(i + 1);
      dy(position, i) = at(velocity, i);
      dy(velocity, i) = after - before;
      before = after;
    }
  }

  static void outputs(const auto& at, auto& out) {
    out[energy] = 0.0;
    for (int i = 0; i <= Masses; ++i) {
      const auto s = stretch(at, i);
      out[energy] += (0.5 + at[bend] / 3.0 * s) * s * s;
    }
    for (int i = 0; i < Masses; ++i) out[energy] += 0.5 * at(velocity, i) * at(velocity, i);
  }
};
