// Common parts of the sliders on a crank: bodies, the loop and its start. A model defines its states, among them crank, x, y, rod and
// slider, and the names of the loop's closure conditions.
#pragma once
#include <saltus.hpp>

template <class Model>
struct slider_crank_of {
  static constexpr auto source = "textbook";
  static constexpr double span[] = {0.0, 10.0};

  enum parameter { radius, length, inertia, m_rod, m_slider, gravity, friction };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {radius, 0.2, "m", "of the crank"},
      {length, 0.5, "m", "of the rod"},
      {inertia, 0.03, "kg m2", "of the crank about its axis, where its centre of mass is"},
      {m_rod, 0.6, "kg", "of the rod, slender"},
      {m_slider, 0.8, "kg", "of the slider"},
      {gravity, 9.81, "m/s2", "acceleration of gravity, across the slider's way"},
      {friction, 0.0, "N s/m", "viscous, of the slider"}};
  enum guard { outer, inner };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {outer, saltus::falling, saltus::bilateral, "the slider turns back at its outer dead point"},
      {inner, saltus::rising, saltus::bilateral, "the slider turns back at its inner dead point"}};

  /// The configuration for the crank's angle and its angular velocity, with the slider on the side of the rod; rate(i) is the time
  /// derivative of coordinate i.
  static void place(auto& at, const auto& rate) {
    const auto s = sin(at[Model::crank]), c = cos(at[Model::crank]);
    const auto sine = -at[radius] / at[length] * s, cosine = sqrt(1.0 - sine * sine);
    at[Model::rod] = asin(sine);
    rate(Model::rod) = -at[radius] / at[length] * c / cosine * rate(Model::crank);
    at[Model::x] = at[radius] * c + 0.5 * at[length] * cosine;
    at[Model::y] = at[radius] * s + 0.5 * at[length] * sine;
    at[Model::slider] = at[radius] * c + at[length] * cosine;
    rate(Model::x) = -at[radius] * s * rate(Model::crank) - 0.5 * at[length] * sine * rate(Model::rod);
    rate(Model::y) = at[radius] * c * rate(Model::crank) + 0.5 * at[length] * cosine * rate(Model::rod);
    rate(Model::slider) = -at[radius] * s * rate(Model::crank) - at[length] * sine * rate(Model::rod);
  }
  /// Residuals of the loop's closure.
  static void close(const auto& at, auto& c) {
    const auto along = 0.5 * at[length] * cos(at[Model::rod]), across = 0.5 * at[length] * sin(at[Model::rod]);
    c[Model::pin_x] = at[Model::x] - along - at[radius] * cos(at[Model::crank]);
    c[Model::pin_y] = at[Model::y] - across - at[radius] * sin(at[Model::crank]);
    c[Model::wrist_x] = at[Model::x] + along - at[Model::slider];
    c[Model::wrist_y] = at[Model::y] + across;
  }
};
