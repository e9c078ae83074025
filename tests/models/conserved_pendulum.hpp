// A pendulum in space with three Cartesian coordinates, its energy and its spin declared as invariants, and a wall. With drag the energy
// is not invariant; with `twice` it is declared a second time, so that invariants depend on each other.
#include <saltus.hpp>

struct conserved_pendulum {
  static constexpr auto title = "Pendulum in space that keeps its energy and its spin";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 10.0};

  enum state { x, y, z, vx, vy, vz };
  static constexpr auto first_velocity = vx;
  static constexpr bool mass_is_diagonal = true;
  static constexpr saltus::variable<state> state_list[] = {
      {x, 1.0, "m", "from the pivot"}, {y, 0.0, "m", "from the pivot"}, {z, 0.0, "m", "above the pivot"},
      {vx, 0.0, "m/s", "velocity"},    {vy, 0.0, "m/s", "velocity"},    {vz, 0.0, "m/s", "velocity"}};
  enum parameter { m, gravity, drag, twice, wall, restitution };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {m, 2.0, "kg", "mass of the bob"}, {gravity, 9.81, "m/s2", "acceleration of gravity"},
      {drag, 0.0, "N s/m", "viscous"},   {twice, 0.0, "1", "1: the energy is declared twice"},
      {wall, -9.0, "m", "x of a wall"},  {restitution, 0.5, "1", "of the wall"}};
  enum discrete { touching };
  static constexpr saltus::variable<discrete> discrete_list[] = {{touching, 0.0, "1", "1 while it leans on the wall"}};
  enum constraint { rod, gap };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      {rod, saltus::holonomic, "m2", "the rod is of length 1"},
      saltus::constrained<constraint>{gap, saltus::holonomic, "m", "to the wall"}.when(touching)};
  enum invariant { total, spin, again };
  static constexpr saltus::conserved<invariant> invariant_list[] = {
      {total, "J", "energy"}, {spin, "N m s", "angular momentum about the vertical"}, {again, "J", "twice the energy"}};
  enum guard { meets };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {meets, saltus::falling, saltus::unilateral, "the bob meets the wall"}};
  enum output { energy, momentum };
  static constexpr saltus::derived<output> output_list[] = {{energy, "J", "kinetic and potential energy"},
                                                            {momentum, "N m s", "about the vertical"}};

  static auto energy_of(const auto& at) {
    return at[m] * (0.5 * (at[vx] * at[vx] + at[vy] * at[vy] + at[vz] * at[vz]) + at[gravity] * at[z]);
  }
  static auto momentum_of(const auto& at) { return at[m] * (at[x] * at[vy] - at[y] * at[vx]); }

  static void mass(const auto& at, auto& a) { a(vx, vx) = a(vy, vy) = a(vz, vz) = at[m]; }
  static void force(const auto& at, auto& f) {
    f[vx] = -at[drag] * at[vx];
    f[vy] = -at[drag] * at[vy];
    f[vz] = -at[drag] * at[vz] - at[m] * at[gravity];
  }
  static void constraints(const auto& at, auto& c) {
    c[rod] = 0.5 * (at[x] * at[x] + at[y] * at[y] + at[z] * at[z] - 1.0);
    c[gap] = at[x] - at[wall];
  }
  static void invariants(const auto& at, auto& i) {
    i[total] = energy_of(at);
    i[spin] = momentum_of(at);
    i[again] = select(at[twice] > 0.5, 2.0 * energy_of(at), 0.0);
  }
  static void guards(const auto& at, auto& g) { g[meets] = select(at.is_on(touching), 1.0, at[x] - at[wall]); }
  static void transition(auto& now) {
    if (now.due(meets)) now.impact(gap, now[restitution]);
  }
  static void outputs(const auto& at, auto& out) {
    out[energy] = energy_of(at);
    out[momentum] = momentum_of(at);
  }
};
