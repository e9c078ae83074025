// Source texts of the models that test the program.
#pragma once

#include <string>

namespace command_line {

/// A bilinear oscillator: spring constant 1 above rest, `stiffness` below. Released at 1 it passes rest at pi/2 with velocity -1.
/// From t = limit on the right-hand side is NaN; before, the extra term is exactly zero.
inline const std::string oscillator = R"(#include <saltus.hpp>

struct oscillator {
  static constexpr auto   title  = "Oscillator, \"soft\" above\\stiff below, by Jörg";
  static constexpr auto   source = "none";
  static constexpr double span[] = {0.0, 2.0};

  enum state { place, velocity };
  static constexpr saltus::variable<state> state_list[] = {
      {place, 1.0, "m", "distance from rest"},
      {velocity, 0.0, "m/s", "its rate"},
  };
  enum parameter { stiffness, limit };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {stiffness, 4.0, "1/s2", "of the lower spring"},
      {limit, 1e9, "s", "time at which the right-hand side ceases to be a number"},
  };
  enum guard { centre };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {centre, saltus::both, saltus::bilateral, "from one spring to the other"},
  };
  static void rhs(const auto& at, auto& dy) {
    dy[place]    = at[velocity];
    dy[velocity] = -select(at.above(centre), 1.0, at[stiffness]) * at[place] + 0.0 * sqrt(at[limit] - at.t);
  }
  static void guards(const auto& at, auto& g) { g[centre] = at[place]; }
};
)";

/// Decay whose rate is partly in the header and partly in a file that it includes.
inline const std::string decay = R"(#include <saltus.hpp>
#include "factor.hpp"

struct decay {
  static constexpr double span[] = {0.0, 1.0};
  enum state { amount };
  static constexpr saltus::variable<state> state_list[] = {{amount, 1.0, "kg", "what is left"}};
  static void rhs(const auto& at, auto& dy) { dy[amount] = -1.0 * factor * at[amount]; }
};
)";

/// x' = speed below zero, -speed above: x slides along zero. A time event adds 0.1 at 0.25, 0.75, ...
inline const std::string relay = R"(#include <saltus.hpp>

struct relay {
  static constexpr double span[] = {0.0, 1.5};
  enum state { x };
  static constexpr saltus::variable<state> state_list[] = {{x, 1.0, "1", "what is controlled"}};
  enum parameter { speed };
  static constexpr saltus::variable<parameter> parameter_list[] = {{speed, 1.0, "1/s", "of the approach"}};
  enum guard { line };
  static constexpr saltus::event_function<guard> guard_list[] = {
      saltus::event_function<guard>{line, saltus::both, saltus::bilateral, "where the relay switches"}.sliding()};
  enum time_event { kick };
  static constexpr saltus::timed<time_event> time_event_list[] = {{kick, "what it must make up for"}};
  static void rhs(const auto& at, auto& dy) { dy[x] = select(at.above(line), -at[speed], at[speed]); }
  static void guards(const auto& at, auto& g) { g[line] = at[x]; }
  static void time_events(const auto&, auto& when) { when.every(kick, 0.5, 0.25); }
  static void transition(auto& now) {
    if (now.due(kick)) now[x] = now[x] + 0.1;
  }
};
)";

/// A tank that drains with Torricelli's speed, speed^2 = level - outlet (with g = 1/2), until the speed is half of its initial
/// value: the speed falls by 1/2 per unit of time. No speed exists for a level below the outlet.
inline const std::string tank = R"(#include <saltus.hpp>

struct tank {
  static constexpr double span[] = {0.0, 10.0};
  enum state { level, speed };
  static constexpr saltus::variable<state> state_list[] = {
      {level, 1.0, "m", "of the water"}, saltus::variable<state>{speed, 0.3, "m/s", "at the outlet"}.algebraic()};
  enum parameter { outlet };
  static constexpr saltus::variable<parameter> parameter_list[] = {{outlet, 0.0, "m", "height of the outlet"}};
  enum guard { half };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {half, saltus::falling, saltus::bilateral, "half of the speed at the start", saltus::terminal}};
  static void rhs(const auto& at, auto& dy) {
    dy[level] = -at[speed];
    dy[speed] = at[speed] * at[speed] - (at[level] - at[outlet]);
  }
  static void guards(const auto& at, auto& g) { g[half] = at[speed] * at[speed] - 0.25 * (1.0 - at[outlet]); }
};
)";

/// y relaxes to cos(t) at a rate of `eagerness`; it starts at 1 and stays at cos(t) for every eagerness.
inline const std::string chase = R"(#include <saltus.hpp>

struct chase {
  static constexpr double span[] = {0.0, 10.0};
  enum state { y };
  static constexpr saltus::variable<state> state_list[] = {{y, 1.0, "1", "follows the cosine"}};
  enum parameter { eagerness };
  static constexpr saltus::variable<parameter> parameter_list[] = {{eagerness, 1.0, "1", "rate of approach"}};
  enum guard { zero };
  static constexpr saltus::event_function<guard> guard_list[] = {{zero, saltus::both, saltus::bilateral, "y = 0"}};
  static void rhs(const auto& at, auto& dy) { dy[y] = -at[eagerness] * (at[y] - cos(at.t)) - sin(at.t); }
  static void guards(const auto& at, auto& g) { g[zero] = at[y]; }
};
)";

/// A ball whose transition misbehaves at its third bounce, in the way that `kind` selects.
inline const std::string unruly = R"(#include <saltus.hpp>
#include <unistd.h>
#include <cstdlib>
#include <stdexcept>

struct unruly {
  static constexpr double span[] = {0.0, 2.0};
  enum state { height, velocity };
  static constexpr saltus::variable<state> state_list[] = {{height, 1.0, "m", "of the ball"}, {velocity, 0.0, "m/s", "its rate"}};
  enum parameter { kind };
  static constexpr saltus::variable<parameter> parameter_list[] = {{kind, 0.0, "1", "of what it does"}};
  enum discrete { bounces };
  static constexpr saltus::variable<discrete> discrete_list[] = {{bounces, 0.0, "1", "so far"}};
  enum guard { floor };
  static constexpr saltus::event_function<guard> guard_list[] = {{floor, saltus::falling, saltus::unilateral, "the floor"}};
  static void rhs(const auto& at, auto& dy) {
    dy[height]   = at[velocity];
    dy[velocity] = -9.81;
  }
  static void guards(const auto& at, auto& g) { g[floor] = at[height]; }
  static int deeper(const volatile int* last, int n) {
    volatile int here[64];
    here[0] = n;
    return n < 0 ? 0 : deeper(here, n + 1) + here[0] + *last;
  }
  static void transition(auto& now) {
    now[velocity] = -0.9 * now[velocity];
    now[bounces]  = now[bounces] + 1.0;
    if (static_cast<double>(now[bounces].v) < 3.0) return;
    volatile int            zero    = 0;
    volatile int* volatile  nowhere = nullptr;
    switch (static_cast<int>(now[kind].v)) {
      case 1: throw std::runtime_error("three bounces are enough");
      case 2: *nowhere = 1; break;  // crashes
      case 3: std::exit(0);
      case 4: zero = deeper(&zero, 0); break;
      case 5: std::abort();
      case 6: while (true) zero = zero + 1;
      case 7: ::_exit(0);
    }
  }
};
)";

/// y' = y with a right-hand side that misbehaves when it is examined, in the way that `how` selects.
inline std::string shy(const std::string& how) {
  return R"(#include <saltus.hpp>
#include <cstdlib>
#include <stdexcept>

struct shy {
  static constexpr double span[] = {0.0, 1.0};
  enum state { y };
  static constexpr saltus::variable<state> state_list[] = {{y, 1.0, "1", "grows"}};
  static void rhs(const auto& at, auto& dy) {
    dy[y] = at[y];
    )" + how +
         R"(
  }
};
)";
}

}  // namespace command_line
