// A rigid body without torques: Euler's equations, with the orientation as a unit quaternion. A spin about the middle axis is unstable: the
// body soon tumbles over.
#include <saltus.hpp>

struct free_body {
  static constexpr auto title = "Free rigid body, a unit quaternion";
  static constexpr auto source = "L. Euler, 1758; L. D. Landau, E. M. Lifshitz, Mechanics, section 37";
  static constexpr double span[] = {0.0, 20.0};

  enum state { p0, p1, p2, p3, wx, wy, wz };
  static constexpr auto first_velocity = wx;
  static constexpr bool mass_is_diagonal = true;
  static constexpr state quaternion_list[] = {p0};
  static constexpr saltus::variable<state> state_list[] = {
      {p0, 1.0, "1", "real part of the quaternion that turns the body's axes into those in space"},
      {p1, 0.0, "1", "its x part"},
      {p2, 0.0, "1", "its y part"},
      {p3, 0.0, "1", "its z part"},
      {wx, 0.1, "rad/s", "angular velocity about the body's first axis"},
      {wy, 2.0, "rad/s", "about the second"},
      {wz, 0.2, "rad/s", "about the third"}};
  enum parameter { A, B, C };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {A, 1.0, "kg m2", "moment of inertia about the first axis"},
      {B, 2.0, "kg m2", "about the second"},
      {C, 3.0, "kg m2", "about the third"}};
  enum output { energy, Lx, Ly, Lz };
  static constexpr saltus::derived<output> output_list[] = {{energy, "J", "kinetic energy"},
                                                            {Lx, "kg m2/s", "angular momentum in space"},
                                                            {Ly, "kg m2/s", "angular momentum in space"},
                                                            {Lz, "kg m2/s", "angular momentum in space"}};

  static auto omega(const auto& at) { return saltus::vector_3{at[wx], at[wy], at[wz]}; }
  static auto momentum(const auto& at) { return saltus::vector_3{at[A] * at[wx], at[B] * at[wy], at[C] * at[wz]}; }
  static void kinematics(const auto& at, auto& dq) { saltus::turn(dq, p0, saltus::quaternion_at(at, p0), omega(at)); }
  static void mass(const auto& at, auto& m) {
    m(wx, wx) = at[A];
    m(wy, wy) = at[B];
    m(wz, wz) = at[C];
  }
  static void force(const auto& at, auto& f) {
    const auto torque = cross(momentum(at), omega(at));
    f[wx] = torque.x;
    f[wy] = torque.y;
    f[wz] = torque.z;
  }
  static void outputs(const auto& at, auto& out) {
    const auto L = rotated(saltus::quaternion_at(at, p0), momentum(at));
    out[energy] = 0.5 * dot(momentum(at), omega(at));
    out[Lx] = L.x;
    out[Ly] = L.y;
    out[Lz] = L.z;
  }
};
