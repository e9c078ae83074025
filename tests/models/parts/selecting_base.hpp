// Common part of models whose functions select by modes and by states, over random numbers.
#pragma once

#include <saltus.hpp>

struct selecting_base {
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 4.0};
  enum parameter { c, power = c + 8 };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      saltus::variable<parameter>{c, 0.5, "1", "of forces, levels and switches"}.of(8),
      {power, 1.5, "1", "of a force"}};
  enum discrete { on };
  static constexpr saltus::variable<discrete> discrete_list[] = {{on, 0.0, "1", "which branch"}};
  enum guard { beats, turns, meets };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {beats, saltus::both, saltus::bilateral, "one of two levels, by the mode"},
      {turns, saltus::rising, saltus::bilateral, "one of two speeds, by the mode"},
      {meets, saltus::falling, saltus::bilateral, "the places, one of them bent beyond a level"}};

  static auto pull(const auto& at, const auto& place, const auto& other) {
    const auto beyond = place - at(c, 0);
    const auto stiff = select(beyond > 0.0 * beyond, beyond * beyond * beyond, 0.0 * beyond);
    const auto bent = pow(1.0 + place * place, at[power]);
    return select(at.is_on(on), -(1.0 + at(c, 1)) * place, -(1.0 + at(c, 2)) * bent * place) - stiff +
           0.3 * at(c, 3) * other;
  }
  static void look(const auto& at, auto& g, const auto& first, const auto& speed, const auto& second,
                   const auto& its_speed) {
    const auto beyond = first - at(c, 4);
    g[beats] = select(at.is_on(on), first - 0.4 * at(c, 5), second + 0.4 * at(c, 6));
    g[turns] = select(at.is_on(on), speed, its_speed - 0.2 * at(c, 7));
    g[meets] = select(at.above(turns), first - second, second - first) +
               select(beyond > 0.0 * beyond, beyond * beyond, 0.0 * beyond);
  }
  static void change(auto& now) {
    if (now.due(beats)) now[on] = 1.0 - now[on];
  }
};
