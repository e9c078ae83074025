// A disc rolls on a plane without slipping: one constraint on its height and two on velocities. By default it runs round a circle and leans
// as its speed demands.
#include <saltus.hpp>

struct rolling_disc {
  static constexpr auto title = "Rolling disc, nonholonomic, a unit quaternion";
  static constexpr auto source = "E. J. Routh, Dynamics of a System of Rigid Bodies, 1905; P. Appell, 1900";
  static constexpr double span[] = {0.0, 10.0};

  enum state { x, y, z, p0, p1, p2, p3, vx, vy, vz, wx, wy, wz };
  static constexpr auto first_velocity = vx;
  static constexpr bool mass_is_diagonal = true;
  static constexpr state quaternion_list[] = {p0};
  static constexpr saltus::variable<state> state_list[] = {
      {x, 0.0, "m", "centre"},
      {y, 0.0, "m", "centre"},
      {z, 0.0, "m", "centre, upward (default: as it leans)"},
      {p0, 1.0, "1",
       "real part of the quaternion that turns the body's axes into those in space (default: as it leans)"},
      {p1, 0.0, "1", "its x part"},
      {p2, 0.0, "1", "its y part"},
      {p3, 0.0, "1", "its z part"},
      {vx, 0.0, "m/s", "dx/dt (default: as it rolls)"},
      {vy, 0.0, "m/s", "dy/dt (default: as it rolls)"},
      {vz, 0.0, "m/s", "dz/dt (default: as it rolls)"},
      {wx, 0.0, "rad/s", "angular velocity about the body's first axis (default: steady rolling, and `wobble`)"},
      {wy, 0.0, "rad/s", "about the second (default: steady rolling)"},
      {wz, 0.0, "rad/s", "about the third, of symmetry (default: steady rolling)"}};
  enum parameter { m, radius, gravity, lean, turning, wobble };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {m, 2.0, "kg", "mass, of a thin disc"},
      {radius, 0.3, "m", "of the disc"},
      {gravity, 9.81, "m/s2", "acceleration of gravity"},
      {lean, 1.2, "rad", "angle between the axis of symmetry and the vertical at the start"},
      {turning, 1.0, "rad/s", "angular velocity of steady rolling about the vertical"},
      {wobble, 0.0, "rad/s", "rate of leaning at the start"}};
  enum constraint { height, slip_x, slip_y };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      {height, saltus::holonomic, "m", "the lowest point is on the plane"},
      {slip_x, saltus::nonholonomic, "m/s", "the lowest point is at rest, x"},
      {slip_y, saltus::nonholonomic, "m/s", "the lowest point is at rest, y"}};
  enum output { upright, energy, contact_x, contact_y, support };
  static constexpr saltus::derived<output> output_list[] = {
      {upright, "1", "cosine of the angle between the axis of symmetry and the vertical"},
      {energy, "J", "kinetic and potential energy"},
      {contact_x, "N", "force of the plane, x"},
      {contact_y, "N", "force of the plane, y"},
      {support, "N", "force of the plane, upward"}};

  static auto omega(const auto& at) { return saltus::vector_3{at[wx], at[wy], at[wz]}; }
  /// From the centre to the lowest point, in the body's axes: down as far as the disc's plane allows.
  static auto lowest(const auto& at) {
    const auto up = rotated_back(saltus::quaternion_at(at, p0), saltus::vector_3{0.0, 0.0, 1.0});
    const auto scale = -at[radius] / sqrt(up.x * up.x + up.y * up.y);
    return saltus::vector_3{scale * up.x, scale * up.y, 0.0};
  }
  /// Turned by `lean` about the first axis: the second axis points up the disc. The balance of momenta gives the angular velocity about the
  /// third axis.
  static void initial(auto& at) {
    const auto s = sin(at[lean]), c = cos(at[lean]);
    at[p0] = cos(0.5 * at[lean]);
    at[p1] = sin(0.5 * at[lean]);
    at[z] = at[radius] * s;
    at[wx] = at[wobble];
    at[wy] = at[turning] * s;
    const auto inertia = 0.25 * at[radius] * at[radius];  // about a transverse axis, over the mass
    at[wz] =
        c * (inertia * at[turning] * at[turning] * s - at[gravity] * at[radius]) / (6.0 * inertia * at[turning] * s);
    const auto v = rotated(saltus::quaternion_at(at, p0), cross(lowest(at), omega(at)));
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
  static auto inertia(const auto& at) { return 0.25 * at[m] * at[radius] * at[radius]; }
  static auto momentum(const auto& at) {
    return saltus::vector_3{inertia(at) * at[wx], inertia(at) * at[wy], 2.0 * inertia(at) * at[wz]};
  }
  static void mass(const auto& at, auto& matrix) {
    matrix(vx, vx) = matrix(vy, vy) = matrix(vz, vz) = at[m];
    matrix(wx, wx) = matrix(wy, wy) = inertia(at);
    matrix(wz, wz) = 2.0 * inertia(at);
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
    const auto p = saltus::quaternion_at(at, p0);
    const auto r = lowest(at);
    const auto turned = rotated(p, cross(omega(at), r));
    c[height] = at[z] + rotated(p, r).z;
    c[slip_x] = at[vx] + turned.x;
    c[slip_y] = at[vy] + turned.y;
  }
  static void outputs(const auto& at, auto& out) {
    out[upright] = rotated(saltus::quaternion_at(at, p0), saltus::vector_3{0.0, 0.0, 1.0}).z;
    out[energy] = 0.5 * at[m] * (at[vx] * at[vx] + at[vy] * at[vy] + at[vz] * at[vz]) +
                  0.5 * dot(momentum(at), omega(at)) + at[m] * at[gravity] * at[z];
    out[contact_x] = at.multiplier(slip_x);
    out[contact_y] = at.multiplier(slip_y);
    out[support] = at.multiplier(height);
  }
};
