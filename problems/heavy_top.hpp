// A heavy symmetric top with a fixed point, as a free body held there by a joint: centre of mass, unit quaternion and three constraints,
// which reduce its six degrees of freedom to three.
#include <saltus.hpp>

struct heavy_top {
  static constexpr auto title = "Heavy symmetric top, held by a joint";
  static constexpr auto source =
      "J. L. Lagrange, 1788; data: M. Arnold, O. Bruls, A. Cardona, Multibody Syst. Dyn. 33 (2015) 1";
  static constexpr double span[] = {0.0, 2.0};

  enum state { x, y, z, p0, p1, p2, p3, vx, vy, vz, wx, wy, wz };
  static constexpr auto first_velocity = vx;
  static constexpr bool mass_is_diagonal = true;
  static constexpr state quaternion_list[] = {p0};
  static constexpr saltus::variable<state> state_list[] = {
      {x, 0.0, "m", "centre of mass"},
      {y, 1.0, "m", "centre of mass"},
      {z, 0.0, "m", "centre of mass, upward"},
      {p0, 1.0, "1", "real part of the quaternion that turns the body's axes into those in space"},
      {p1, 0.0, "1", "its x part"},
      {p2, 0.0, "1", "its y part"},
      {p3, 0.0, "1", "its z part"},
      {vx, 0.0, "m/s", "dx/dt (default: as it turns)"},
      {vy, 0.0, "m/s", "dy/dt (default: as it turns)"},
      {vz, 0.0, "m/s", "dz/dt (default: as it turns)"},
      {wx, 0.0, "rad/s", "angular velocity about the body's first axis"},
      {wy, 150.0, "rad/s", "about the second, of symmetry"},
      {wz, -4.61538, "rad/s", "about the third"}};
  enum parameter { m, height, across, along, gravity };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {m, 15.0, "kg", "mass"},
      {height, 1.0, "m", "of the centre of mass above the joint, along the second axis"},
      {across, 0.234375, "kg m2", "moment of inertia about the centre of mass, across the axis of symmetry"},
      {along, 0.46875, "kg m2", "moment of inertia about the axis of symmetry"},
      {gravity, 9.81, "m/s2", "acceleration of gravity"}};
  enum constraint { joint_x, joint_y, joint_z };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      {joint_x, saltus::holonomic, "m", "the joint is at the origin, x"},
      {joint_y, saltus::holonomic, "m", "the joint is at the origin, y"},
      {joint_z, saltus::holonomic, "m", "the joint is at the origin, z"}};
  enum output { energy, spin, vertical, support };
  static constexpr saltus::derived<output> output_list[] = {
      {energy, "J", "kinetic and potential energy"},
      {spin, "kg m2/s", "angular momentum about the axis of symmetry"},
      {vertical, "kg m2/s", "angular momentum about the vertical through the joint"},
      {support, "N", "of the joint, upward"}};

  static auto omega(const auto& at) { return saltus::vector_3{at[wx], at[wy], at[wz]}; }
  static auto momentum(const auto& at) {
    return saltus::vector_3{at[across] * at[wx], at[along] * at[wy], at[across] * at[wz]};
  }
  static void initial(auto& at) {
    const auto p = saltus::quaternion_at(at, p0);
    const auto r = rotated(p, saltus::vector_3{0.0, at[height], 0.0});
    const auto v = rotated(p, saltus::vector_3{-at[wz] * at[height], 0.0, at[wx] * at[height]});
    at[x] = r.x;
    at[y] = r.y;
    at[z] = r.z;
    at[vx] = v.x;
    at[vy] = v.y;
    at[vz] = v.z;
  }
  static void kinematics(const auto& at, auto& dq) {
    dq[x] = at[vx];
    dq[y] = at[vy];
    dq[z] = at[vz];
    saltus::turn(dq, p0, saltus::quaternion_at(at, p0), omega(at));
  }
  static void mass(const auto& at, auto& matrix) {
    matrix(vx, vx) = matrix(vy, vy) = matrix(vz, vz) = at[m];
    matrix(wx, wx) = matrix(wz, wz) = at[across];
    matrix(wy, wy) = at[along];
  }
  static void force(const auto& at, auto& f) {
    const auto torque = cross(momentum(at), omega(at));
    f[vx] = f[vy] = 0.0;
    f[vz] = -at[m] * at[gravity];
    f[wx] = torque.x;
    f[wy] = torque.y;
    f[wz] = torque.z;
  }
  static void constraints(const auto& at, auto& c) {
    const auto r = rotated(saltus::quaternion_at(at, p0), saltus::vector_3{0.0, at[height], 0.0});
    c[joint_x] = at[x] - r.x;
    c[joint_y] = at[y] - r.y;
    c[joint_z] = at[z] - r.z;
  }
  static void outputs(const auto& at, auto& out) {
    const auto L = rotated(saltus::quaternion_at(at, p0), momentum(at));
    out[energy] = 0.5 * at[m] * (at[vx] * at[vx] + at[vy] * at[vy] + at[vz] * at[vz]) +
                  0.5 * dot(momentum(at), omega(at)) + at[m] * at[gravity] * at[z];
    out[spin] = at[along] * at[wy];
    out[vertical] = L.z + at[m] * (at[x] * at[vy] - at[y] * at[vx]);
    out[support] = at.multiplier(joint_z);
  }
};
