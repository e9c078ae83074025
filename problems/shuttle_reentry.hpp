// A space shuttle re-enters at a prescribed drag: a constraint in which the bank angle does not occur determines it. Index 3.
#include <saltus.hpp>

struct shuttle_reentry {
  static constexpr auto title = "Re-entry of a space shuttle at a prescribed drag, index 3";
  static constexpr auto source =
      "K. E. Brenan, S. L. Campbell, L. R. Petzold, Numerical Solution of Initial-Value Problems in DAEs, section 6.2; "
      "with the "
      "coefficient of omega^2 r, mu and V0 that make the published start consistent, and with H and gamma of it put on "
      "the "
      "constraint and its derivative";
  static constexpr double span[] = {332.868734542, 419.868734542};
  static constexpr double degree = 0.01745329251994329577;

  enum state { H, xi, lambda, V, gamma, A, beta };
  static constexpr saltus::variable<state> state_list[] = {
      {H, 264039.32771908800692, "ft", "altitude"},
      {xi, 177.718047 * degree, "rad", "longitude"},
      {lambda, 32.0417885 * degree, "rad", "latitude"},
      {V, 24317.0798, "ft/s", "speed"},
      {gamma, -0.74998648883861063845 * degree, "rad", "flight path angle"},
      {A, 62.7883367 * degree, "rad", "azimuth"},
      {beta, 41.099988978985 * degree, "rad", "bank angle"},
  };
  enum parameter { mu, radius, omega, mass, area, CL, CD, C0, C1, C2, C3, V0 };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {mu, 0.1407653916e17, "ft3/s2", "of the Earth"},
      {radius, 20902900.0, "ft", "of the Earth"},
      {omega, 0.72921159e-4, "rad/s", "rotation of the Earth"},
      {mass, 5964.496499824, "slug", "of the shuttle"},
      {area, 2690.0, "ft2", "of the wings"},
      {CL, 0.84 - 0.48 * (38.0 - 40.0) / 26.0, "1", "lift coefficient at 40 degrees"},
      {CD, 0.78 - 0.58 * (38.0 - 40.0) / 26.0, "1", "drag coefficient at 40 degrees"},
      {C0, 3.974960446019, "ft/s2", "of the prescribed drag"},
      {C1, -0.01448947694635, "1/s", "of the prescribed drag"},
      {C2, -0.2156171551995e-4, "1/ft", "of the prescribed drag"},
      {C3, -0.1089609507291e-7, "s/ft2", "of the prescribed drag"},
      {V0, 24317.0798, "ft/s", "speed about which it is expanded"},
  };
  enum equation { altitude, longitude, latitude, speed, path, azimuth, prescribed_drag };
  static constexpr saltus::equated<equation> equation_list[] = {
      {altitude, "ft/s", "H'"},
      {longitude, "rad/s", "xi'"},
      {latitude, "rad/s", "lambda'"},
      {speed, "ft/s2", "V'"},
      {path, "rad/s", "gamma'"},
      {azimuth, "rad/s", "A'"},
      {prescribed_drag, "ft/s2", "the deceleration by drag is that of the profile"}};

  static void residual(const auto& at, auto& f) {
    const auto v = at[V];
    const auto r = at[H] + at[radius], g = at[mu] / (r * r);
    const auto pressure = 0.5 * 0.002378 * exp(-at[H] / 23800.0) * at[area] * v * v;
    const auto drag = at[CD] * pressure / at[mass], lift = at[CL] * pressure / at[mass];
    const auto sg = sin(at[gamma]), cg = cos(at[gamma]), sl = sin(at[lambda]), cl = cos(at[lambda]);
    const auto sa = sin(at[A]), ca = cos(at[A]);
    const auto turning = at[omega] * at[omega] * r * cl;
    f[altitude] = at.d(H, 1) - v * sg;
    f[longitude] = at.d(xi, 1) - v * cg * sa / (r * cl);
    f[latitude] = at.d(lambda, 1) - v / r * cg * ca;
    f[speed] = at.d(V, 1) + drag + g * sg + turning * (sl * ca * cg - cl * sg);
    f[path] = at.d(gamma, 1) - lift * cos(at[beta]) / v - cg / v * (v * v / r - g) - 2.0 * at[omega] * cl * sa -
              turning / v * (sl * ca * sg + cl * cg);
    f[azimuth] = at.d(A, 1) - lift * sin(at[beta]) / (v * cg) - v / r * cg * sa * sl / cl +
                 2.0 * at[omega] * (cl * ca * sg / cg - sl) - turning * sl * sa / (v * cg);
    const auto faster = v - at[V0];
    f[prescribed_drag] = drag - (at[C0] + faster * (at[C1] + faster * (at[C2] + faster * at[C3])));
  }
};
