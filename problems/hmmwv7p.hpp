// Half of a vehicle in its plane of symmetry, in the absolute coordinates of seven bodies: a chassis, and at each axle two arms and a
// spindle with its wheel. The upper arms are mounted in stiff bushings; the wheels roll over a bump. Nine degrees of freedom, with
// eigenvalues from 3 to 2.6e5 per second.
//
// The model follows the vehicle of Haug, Negrut and Engstler, who print neither masses nor geometry; these are invented. x points forward,
// z up, angles turn from x to z.
#include <saltus.hpp>

struct hmmwv7p {
  static constexpr auto title = "Half a vehicle on a bump";
  static constexpr auto source =
      "after the HMMWV14 of E. J. Haug, D. Negrut, C. Engstler; planar, masses and geometry made up";
  static constexpr double span[] = {0.0, 2.0};

  // Bodies: the chassis, then lower arm, spindle with wheel and upper arm of the front axle, then of the rear axle.
  static constexpr int bodies = 7, axles = 2, chassis = 0;
  static constexpr int lower(int axle) { return 1 + 3 * axle; }
  static constexpr int spindle(int axle) { return 2 + 3 * axle; }
  static constexpr int upper(int axle) { return 3 + 3 * axle; }

  enum state { x, z = x + bodies, angle = z + bodies, vx = angle + bodies, vz = vx + bodies, omega = vz + bodies };
  static constexpr auto first_velocity = vx;
  static constexpr saltus::variable<state> state_list[] = {
      saltus::variable<state>{x, 0.0, "m", "centre of mass, forward"}.of(bodies),
      saltus::variable<state>{z, 0.0, "m", "centre of mass, upward"}.of(bodies),
      saltus::variable<state>{angle, 0.0, "rad", "of a lower arm: pi at the start, from its pivot to the wheel"}.of(
          bodies),
      saltus::variable<state>{vx, 0.0, "m/s", "dx/dt"}.of(bodies),
      saltus::variable<state>{vz, 0.0, "m/s", "dz/dt"}.of(bodies),
      saltus::variable<state>{omega, 0.0, "rad/s", "d angle/dt"}.of(bodies)};

  enum parameter { speed, gravity, bushing, bushing_damping, spring, damper, preload, tyre, tyre_damping, bump };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {speed, 4.4704, "m/s", "forward, at the start"},
      {gravity, 9.81, "m/s2", "acceleration of gravity"},
      {bushing, 2e7, "N/m", "stiffness of a bushing"},
      {bushing_damping, 2e6, "N s/m", "of a bushing"},
      {spring, 1.7e5, "N/m", "stiffness of a suspension"},
      {damper, 1.5e4, "N s/m", "of a suspension"},
      {preload, 9400.0, "N", "of a suspension when it is 0.5 m long"},
      {tyre, 296325.0, "N/m", "vertical stiffness of a tyre"},
      {tyre_damping, 3502.0, "N s/m", "of a tyre"},
      {bump, 4.11, "m", "where the axis of the half cylinder lies"}};

  enum discrete { on_bump, pressed = on_bump + axles };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      saltus::variable<discrete>{on_bump, 0.0, "1", "1 while the wheel is on the bump"}.of(axles),
      saltus::variable<discrete>{pressed, 1.0, "1", "1 while the tyre touches the ground"}.of(axles)};

  static constexpr int joints = 3 * axles;
  enum constraint { joint_x, joint_z = joint_x + joints };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      saltus::constrained<constraint>{joint_x, saltus::holonomic, "m",
                                      "pivot, lower and upper end of a spindle, forward"}
          .of(joints),
      saltus::constrained<constraint>{joint_z, saltus::holonomic, "m", "the same, upward"}.of(joints)};

  enum guard { begins, ends = begins + axles, pressing = ends + axles };
  static constexpr saltus::event_function<guard> guard_list[] = {
      saltus::event_function<guard>{begins, saltus::both, saltus::bilateral, "the wheel is where the bump begins"}.of(
          axles),
      saltus::event_function<guard>{ends, saltus::both, saltus::bilateral, "the wheel is where the bump ends"}.of(
          axles),
      saltus::event_function<guard>{pressing, saltus::both, saltus::bilateral, "the tyre meets or leaves the ground"}
          .of(axles)};

  static constexpr double pi = 3.14159265358979323846;
  static constexpr double arm = 0.45;                                                // m, the length of an arm
  static constexpr double wheel_radius = 0.47, bump_radius = 0.05;                   // m
  static constexpr double wheelbase_half = 1.651;                                    // m
  static constexpr double chassis_height = 0.71, hub_height = 0.4468;                // m, at the start
  static constexpr double mass_of[] = {1200.0, 16.0, 60.0, 24.4, 16.0, 60.0, 24.4};  // kg

  static constexpr double inertia_of(int body) {
    if (body == chassis) return 1500.0;
    return body % 3 == 2 ? 1.5 : mass_of[body] * arm * arm / 12.0;
  }
  /// Position of the centre of the wheel on the chassis, forward.
  static constexpr double hub(int axle) { return axle == 0 ? wheelbase_half : -wheelbase_half; }

  /// A point fixed to a body, with its velocity.
  template <class Value>
  struct place {
    Value x, z, vx, vz;
  };
  /// The point of a body at (along, across) in its own axes.
  static auto point_of(const auto& at, int body, double along, double across) {
    const auto c = cos(at(angle, body)), s = sin(at(angle, body));
    const auto dx = along * c - across * s, dz = along * s + across * c;
    const auto w = at(omega, body);
    return place<decltype(dx + w)>{at(x, body) + dx, at(z, body) + dz, at(vx, body) - w * dz, at(vz, body) + w * dx};
  }
  static auto pivot(const auto& at, int axle) {
    return point_of(at, chassis, hub(axle) + arm, hub_height - 0.1 - chassis_height);
  }
  static auto bearing(const auto& at, int axle) {
    return point_of(at, chassis, hub(axle) + arm, hub_height + 0.15 - chassis_height);
  }
  static auto mount(const auto& at, int axle) {
    return point_of(at, chassis, hub(axle) + 0.15, hub_height + 0.4 - chassis_height);
  }

  static void initial(auto& at) {
    at(z, chassis) = chassis_height;
    for (int i = 0; i < axles; ++i) {
      at(x, lower(i)) = at(x, upper(i)) = hub(i) + 0.5 * arm;
      at(x, spindle(i)) = hub(i);
      at(z, lower(i)) = hub_height - 0.1;
      at(z, spindle(i)) = hub_height;
      at(z, upper(i)) = hub_height + 0.15;
      at(angle, lower(i)) = pi;
    }
    for (int b = 0; b < bodies; ++b) at(vx, b) = at[speed];
  }

  static void mass(const auto&, auto& matrix) {
    for (int b = 0; b < bodies; ++b) {
      matrix(vx, b, vx, b) = matrix(vz, b, vz, b) = mass_of[b];
      matrix(omega, b, omega, b) = inertia_of(b);
    }
  }

  static void constraints(const auto& at, auto& c) {
    for (int i = 0; i < axles; ++i) {
      const auto join = [&](int joint, const auto& a, const auto& b) {
        c(joint_x, 3 * i + joint) = a.x - b.x;
        c(joint_z, 3 * i + joint) = a.z - b.z;
      };
      join(0, pivot(at, i), point_of(at, lower(i), -0.5 * arm, 0.0));
      join(1, point_of(at, lower(i), 0.5 * arm, 0.0), point_of(at, spindle(i), 0.0, -0.1));
      join(2, point_of(at, spindle(i), 0.0, 0.15), point_of(at, upper(i), -0.5 * arm, 0.0));
    }
  }

  /// Adds a force on a body at a point.
  static void push(const auto& at, auto& f, int body, const auto& p, const auto& fx, const auto& fz) {
    f(vx, body) = f(vx, body) + fx;
    f(vz, body) = f(vz, body) + fz;
    f(omega, body) = f(omega, body) + ((p.x - at(x, body)) * fz - (p.z - at(z, body)) * fx);
  }
  static void force(const auto& at, auto& f) {
    for (int b = 0; b < bodies; ++b) {
      f(vx, b) = f(omega, b) = 0.0;
      f(vz, b) = -(at[gravity] * mass_of[b]);
    }
    for (int i = 0; i < axles; ++i) {
      suspend(at, f, i);
      bear(at, f, i);
      f(vz, spindle(i)) = f(vz, spindle(i)) + tyre_force(at, i);
    }
  }
  /// Spring and damper between the chassis and the lower arm.
  static void suspend(const auto& at, auto& f, int axle) {
    const auto a = mount(at, axle), b = point_of(at, lower(axle), 0.3 - 0.5 * arm, 0.0);
    const auto dx = a.x - b.x, dz = a.z - b.z, length = sqrt(dx * dx + dz * dz);
    const auto speed_of_length = (dx * (a.vx - b.vx) + dz * (a.vz - b.vz)) / length;
    const auto tension = at[spring] * (length - 0.5) + at[damper] * speed_of_length - at[preload];
    const auto fx = tension * dx / length, fz = tension * dz / length;
    push(at, f, chassis, a, -fx, -fz);
    push(at, f, lower(axle), b, fx, fz);
  }
  /// The bushing between the upper arm and the chassis. It acts on both at the end of the arm.
  static void bear(const auto& at, auto& f, int axle) {
    const auto a = point_of(at, upper(axle), 0.5 * arm, 0.0), u = bearing(at, axle);
    const auto vx_there = at(vx, chassis) - at(omega, chassis) * (a.z - at(z, chassis));
    const auto vz_there = at(vz, chassis) + at(omega, chassis) * (a.x - at(x, chassis));
    const auto fx = at[bushing] * (u.x - a.x) + at[bushing_damping] * (vx_there - a.vx);
    const auto fz = at[bushing] * (u.z - a.z) + at[bushing_damping] * (vz_there - a.vz);
    push(at, f, upper(axle), a, fx, fz);
    push(at, f, chassis, a, -fx, -fz);
  }

  /// Height by which the bump raises a wheel, as a disc rolls over a cylinder; off the bump, the value at its end.
  static auto raised(const auto& at, int axle) {
    const auto d = at(x, spindle(axle)) - at[bump];
    const double both = wheel_radius + bump_radius;
    return sqrt(max(both * both - d * d, 0.01 * both * both));
  }
  static auto deflection(const auto& at, int axle) {
    return select(at.is_on(on_bump, axle), raised(at, axle), wheel_radius + 0.0 * at(x, spindle(axle))) -
           at(z, spindle(axle));
  }
  static auto tyre_force(const auto& at, int axle) {
    const auto d = at(x, spindle(axle)) - at[bump];
    const auto slope = select(at.is_on(on_bump, axle), -d / raised(at, axle), 0.0 * d);
    const auto speed_of_deflection = slope * at(vx, spindle(axle)) - at(vz, spindle(axle));
    const auto pressed_force = at[tyre] * deflection(at, axle) + at[tyre_damping] * speed_of_deflection;
    return select(at.is_on(pressed, axle), pressed_force, 0.0 * d);
  }

  /// Half the length of the path of the wheel's centre on the bump.
  static constexpr double reach = 0.22248595461286989;
  static void guards(const auto& at, auto& g) {
    for (int i = 0; i < axles; ++i) {
      g(begins, i) = at(x, spindle(i)) - (at[bump] - reach);
      g(ends, i) = at(x, spindle(i)) - (at[bump] + reach);
      g(pressing, i) = deflection(at, i);
    }
  }
  static void transition(auto& now) {
    for (int i = 0; i < axles; ++i) {
      if (now.due(begins, i) || now.due(ends, i))
        now(on_bump, i) = now.above(begins, i) && !now.above(ends, i) ? 1.0 : 0.0;
      if (now.due(pressing, i)) now(pressed, i) = now.above(pressing, i) ? 1.0 : 0.0;
    }
  }
};
