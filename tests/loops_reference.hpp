// Trajectories of tests/models/two_loops.hpp in closed form, event by event, in 80-bit arithmetic or with 50 digits; their derivatives by
// differences.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <boost/multiprecision/cpp_bin_float.hpp>

#include "event_runs.hpp"

namespace saltus::test {

using fifty_digits =
    boost::multiprecision::number<boost::multiprecision::cpp_bin_float<50>, boost::multiprecision::et_off>;

template <class Number>
struct loops_of {
  using real = Number;
  static constexpr std::size_t count = 13;  ///< parameters, in the order of the model; then x and y at the start
  static inline const std::vector<std::string> names = {"x_rate", "y_rate", "x_low",  "x_high", "y_low",
                                                        "y_high", "x_mark", "y_mark", "keep",   "add",
                                                        "mix",    "dose",   "period", "x",      "y"};
  std::array<real, count + 2> p;

  struct end {
    real x, y;
    std::vector<real> times;
    std::vector<int> what;  ///< bit 0: x passes its mark, 1: y does, 2: a pulse
  };

  /// Time from a value to a mark on the way to a target; infinite if the mark is not on the way.
  static real time_to(real value, real mark, real target, real rate) {
    using std::log;
    const real part = (mark - target) / (value - target);
    return value != mark && part > 0 && part < 1 ? real(-log(part) / rate) : std::numeric_limits<real>::infinity();
  }

  /// Runs to t_end. Events that differ only by rounding are simultaneous. Returns nothing if other events are within `margin` of each other
  /// or of the end, or leave a value that close to its mark, since a small change would alter their order and a comparison means nothing.
  std::optional<end> run(real t_end, real margin) const {
    using std::exp, std::fabs;
    const real together = 10000 * std::numeric_limits<real>::epsilon();
    bool near = false;
    const real x_rate = p[0], y_rate = p[1], x_mark = p[6], y_mark = p[7], period = p[12];
    real t = 0, x = p[13], y = p[14];
    int x_side = 0, y_side = 0, pulses = 0;
    end r;
    while (r.times.size() < 200) {
      const real x_to = y_side ? p[3] : p[2], y_to = x_side ? p[5] : p[4];
      const real times[] = {time_to(x, x_mark, x_to, x_rate), time_to(y, y_mark, y_to, y_rate),
                            period * (pulses + 1) - t};
      const real next = *std::min_element(times, times + 3);
      const real step = std::min(next, t_end - t);
      if (next < margin || fabs(next - (t_end - t)) < margin) return {};
      const real x_left = (x - x_to) * exp(-x_rate * step), y_left = (y - y_to) * exp(-y_rate * step);
      x = x_to + x_left, y = y_to + y_left, t += step;
      if (next > step) {
        r.x = x, r.y = y;
        return r;
      }
      int due = 0;
      for (int i = 0; i < 3; ++i) {
        if (times[i] <= next + together) due |= 1 << i;
        else if (times[i] < next + margin) return {};
      }
      if (due & 1) x = x_mark;
      if (due & 2) y = y_mark;
      bool x_above = due & 1 ? -x_rate * x_left > 0 : x > x_mark, y_above = due & 2 ? -y_rate * y_left > 0 : y > y_mark;
      int fired = 0;
      for (; due != 0;) {
        fired |= due;
        r.times.push_back(t), r.what.push_back(due);
        if (due & 1) x_side = 1 - x_side, y = p[8] * y + p[9];
        if (due & 2) y_side = 1 - y_side, x += p[10] * y;
        if (due & 4) x += p[11], ++pulses;
        // A value that the reset moves over its mark passes it once; a value left close to its mark is not compared.
        const auto moved = [&](real value, real mark, bool& above, real to, real rate) {
          if (value == mark) {
            const bool up = rate * (to - value) > 0;
            near = near || up != above;
            return false;
          }
          near = near || fabs(value - mark) < margin;
          const bool is = value > mark, was = above;
          above = is;
          return is != was;
        };
        const bool x_moved = moved(x, x_mark, x_above, y_side ? p[3] : p[2], x_rate);
        const bool y_moved = moved(y, y_mark, y_above, x_side ? p[5] : p[4], y_rate);
        if (near) return {};
        due = ((x_moved ? 1 : 0) | (y_moved ? 2 : 0)) & ~fired;
      }
    }
    return {};
  }
};
using loops = loops_of<long double>;

/// The numbers of `count` random trajectories; a quarter of them have two identical quantities, so that their events are simultaneous.
inline std::vector<std::vector<double>> random_loops(std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  const auto draw = [&](double low, double high) { return std::uniform_real_distribution<double>(low, high)(random); };
  std::vector<std::vector<double>> rows;
  for (std::size_t n = 0; n < count; ++n) {
    std::vector<double> p = {draw(0.5, 2),    draw(0.5, 2),    draw(-2, -0.6),  draw(0.6, 2),  draw(-2, -0.6),
                             draw(0.6, 2),    draw(-0.5, 0.5), draw(-0.5, 0.5), draw(-1, 1.2), draw(-0.5, 0.5),
                             draw(-0.5, 0.5), draw(-0.5, 0.5), draw(0.3, 1.2),  draw(-2, 2),   draw(-2, 2)};
    if (n % 4 == 0) p[1] = p[0], p[4] = p[2], p[5] = p[3], p[7] = p[6], p[14] = p[13];
    // The events are also independent: resets change nothing, and all targets lie behind the marks.
    if (n % 8 == 0)
      p[8] = 1, p[9] = p[10] = 0, p[2] = p[4] = draw(0.6, 1), p[3] = p[5] = draw(0.6, 1),
      p[13] = p[14] = draw(-2, -0.6);
    if (n % 16 == 0) p[3] = p[2], p[5] = p[4];  // switching changes no target
    rows.push_back(p);
  }
  return rows;
}
/// The settings of a run of these trajectories.
inline std::vector<std::string> settings_of(const std::vector<std::vector<double>>& rows) {
  std::vector<std::string> settings;
  for (std::size_t i = 0; i < loops::names.size(); ++i) {
    std::vector<double> column;
    for (const auto& row : rows) column.push_back(row[i]);
    settings.push_back(set("sweep.zip." + loops::names[i], column));
  }
  return settings;
}

}  // namespace saltus::test
