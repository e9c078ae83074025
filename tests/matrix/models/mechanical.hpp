// A bead on a ring, and a mass on a spring whose rest length changes when the mass passes a mark.
#include <saltus.hpp>

struct mechanical {
  static constexpr auto title = "mechanical system with a constraint";
  static constexpr auto source = "tests: closed form between events (tests/matrix/forms.py)";
  static constexpr double span[] = {0.0, 3.0};

  enum state { x, y, z, vx, vy, vz };
  static constexpr auto first_velocity = vx;
  static constexpr saltus::variable<state> state_list[] = {{x, 1.0, "m", "of the bead"}, {y, 0.0, "m", "of the bead"},
                                                           {z, 0.9, "m", "of the mass"}, {vx, 0.0, "m/s", "dx/dt"},
                                                           {vy, 2.0, "m/s", "dy/dt"},    {vz, 0.0, "m/s", "dz/dt"}};
  enum parameter { turn, k };
  static constexpr saltus::variable<parameter> parameter_list[] = {{turn, 2.0, "1/s", "rate at which the bead turns"},
                                                                   {k, 2.5, "1/s", "angular frequency of the mass"}};
  enum discrete { target };
  static constexpr saltus::variable<discrete> discrete_list[] = {{target, 0.0, "m", "where the spring has no force"}};
  enum constraint { ring };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      {ring, saltus::holonomic, "m2", "the bead stays on its ring"}};
  enum guard { low, high, cross };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {low, saltus::falling, saltus::bilateral, "z falls below its lower mark"},
      {high, saltus::rising, saltus::bilateral, "z rises above its upper mark"},
      {cross, saltus::both, saltus::bilateral, "the bead crosses the upright axis"}};
  enum output { fast, slow, pull };
  static constexpr saltus::derived<output> output_list[] = {
      {fast, "1", "much faster than the states"}, {slow, "1", "as slow as z"}, {pull, "N/m", "multiplier of the ring"}};

  static void initial(auto& at) { at[vy] = at[turn]; }
  static void mass(const auto&, auto& m) {
    m(vx, vx) = m(vy, vy) = 2.0;
    m(vz, vz) = 0.5;
  }
  static void force(const auto& at, auto& f) {
    f[vx] = f[vy] = 0.0;
    f[vz] = -0.5 * at[k] * at[k] * (at[z] - at[target]);
  }
  static void constraints(const auto& at, auto& c) { c[ring] = 0.5 * (at[x] * at[x] + at[y] * at[y] - 1.0); }
  static void guards(const auto& at, auto& g) {
    g[low] = at[z] - 0.3;
    g[high] = at[z] - 0.8;
    g[cross] = at[x];
  }
  static void transition(auto& now) {
    if (now.due(low)) {
      now[target] = 1.0;
      now[vz] = 0.5 * now[vz];
    }
    if (now.due(high)) {
      now[target] = 0.0;
      now[vz] = 0.5 * now[vz];
    }
  }
  static void outputs(const auto& at, auto& out) {
    out[fast] = (0.5 + at[z]) * cos(40.0 * at.t - 1.0);
    out[slow] = at[z] * at[z];
    out[pull] = at.multiplier(ring);
  }
};
