// A block that rocks on its two lower corners, which neither slip nor bounce. Two constraints hold the standing corner. When the other
// corner lands, the constraints of the two change places. The projection onto the new constraints keeps the angular momentum about the new
// corner: Housner's impact, omega <- (1 - 3/2 sin^2 a) omega, tan a = width/height. The impacts accumulate, and the block comes to rest on
// both corners, until the ground's acceleration lifts one: the force of its constraint has fallen to zero.
#include <saltus.hpp>

struct rocking_block {
  static constexpr auto title = "Rocking block";
  static constexpr auto source = "G. W. Housner, Bull. Seism. Soc. Am. 53 (1963) 403";
  static constexpr double span[] = {0.0, 10.0};

  enum state { x, y, angle, vx, vy, omega };
  static constexpr auto first_velocity = vx;
  static constexpr saltus::variable<state> state_list[] = {
      {x, 0.0, "m", "centre of mass, horizontal, relative to the ground"},
      {y, 0.0, "m", "centre of mass, upward"},
      {angle, 0.1, "rad", "of the block; above 0 it stands on its left corner"},
      {vx, 0.0, "m/s", "dx/dt"},
      {vy, 0.0, "m/s", "dy/dt"},
      {omega, 0.0, "rad/s", "d angle/dt"}};
  enum parameter { inertia, half_width, half_height, gravity, slowest, shake, frequency };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {inertia, 1.0, "kg", "mass of the block"},
      {half_width, 0.2, "m", "half its width"},
      {half_height, 0.8, "m", "half its height"},
      {gravity, 9.81, "m/s2", "acceleration of gravity"},
      {slowest, 1e-6, "rad/s", "a block that lands more slowly stays on both corners"},
      {shake, 0.0, "m/s2", "amplitude of the ground's acceleration"},
      {frequency, 5.0, "rad/s", "of the ground's acceleration, a sine"}};
  enum discrete { on_left, on_right, left_held, right_held };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {on_left, 1.0, "1", "1 while the left corner is on the ground"},
      {on_right, 1.0, "1", "1 while the right corner is on the ground"},
      {left_held, 1.0, "1", "1 while friction holds the left corner"},
      {right_held, 0.0, "1", "1 while friction holds the right corner"}};
  enum constraint { hold_left, hold_right, left, right };
  static constexpr saltus::constrained<constraint> constraint_list[] = {
      saltus::constrained<constraint>{hold_left, saltus::nonholonomic, "m/s", "the left corner slips"}.when(left_held),
      saltus::constrained<constraint>{hold_right, saltus::nonholonomic, "m/s", "the right corner slips"}.when(
          right_held),
      saltus::constrained<constraint>{left, saltus::holonomic, "m", "height of the left corner"}.when(on_left),
      saltus::constrained<constraint>{right, saltus::holonomic, "m", "height of the right corner"}.when(on_right)};
  enum guard { left_lands, right_lands, left_lifts, right_lifts };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {left_lands, saltus::falling, saltus::unilateral, "the left corner meets the ground"},
      {right_lands, saltus::falling, saltus::unilateral, "the right corner meets the ground"},
      {left_lifts, saltus::falling, saltus::bilateral, "at rest: the ground no longer carries the left corner"},
      {right_lifts, saltus::falling, saltus::bilateral, "at rest: the ground no longer carries the right corner"}};
  enum output { energy };
  static constexpr saltus::derived<output> output_list[] = {{energy, "J", "kinetic and potential energy"}};

  static void initial(auto& at) {
    const auto tilted_left = at[angle] > 0.0, tilted_right = at[angle] < 0.0;
    const auto side = select(tilted_right, 1.0, -1.0);
    at[on_left] = at[left_held] = select(tilted_right, 0.0, 1.0);
    at[on_right] = select(tilted_left, 0.0, 1.0);
    at[right_held] = select(tilted_right, 1.0, 0.0);
    at[x] = side * at[half_width] * (1.0 - cos(at[angle])) - at[half_height] * sin(at[angle]);
    at[y] = at[half_height] * cos(at[angle]) - side * at[half_width] * sin(at[angle]);
  }
  static void mass(const auto& at, auto& m) {
    m(vx, vx) = m(vy, vy) = at[inertia];
    m(omega, omega) = at[inertia] * (at[half_width] * at[half_width] + at[half_height] * at[half_height]) * (1.0 / 3.0);
  }
  static void force(const auto& at, auto& f) {
    f[vx] = -at[inertia] * at[shake] * sin(at[frequency] * at.t);
    f[vy] = -at[inertia] * at[gravity];
    f[omega] = 0.0;
  }
  static auto height(const auto& at, double side) {
    return at[y] + side * at[half_width] * sin(at[angle]) - at[half_height] * cos(at[angle]);
  }
  static auto slip(const auto& at, double side) {
    return at[vx] + (at[half_height] * cos(at[angle]) - side * at[half_width] * sin(at[angle])) * at[omega];
  }
  static void constraints(const auto& at, auto& c) {
    c[hold_left] = slip(at, -1.0);
    c[hold_right] = slip(at, 1.0);
    c[left] = height(at, -1.0);
    c[right] = height(at, 1.0);
  }
  static void guards(const auto& at, auto& g) {
    const auto rests = at.is_on(on_left) & at.is_on(on_right);
    g[left_lands] = select(at.is_on(on_left), 1.0, height(at, -1.0));
    g[right_lands] = select(at.is_on(on_right), 1.0, height(at, 1.0));
    g[left_lifts] = select(rests, at.multiplier(left), 1.0);
    g[right_lifts] = select(rests, at.multiplier(right), 1.0);
  }
  static void transition(auto& now) {
    if ((now.due(left_lands) || now.due(right_lands)) && abs(now[omega]) < now[slowest]) {
      rest(now);
    } else if (now.due(left_lands) || now.due(left_lifts)) {
      const bool lands = now.due(left_lands);
      now[on_left] = now[left_held] = lands ? 1.0 : 0.0;
      now[on_right] = now[right_held] = lands ? 0.0 : 1.0;
      now.release(lands ? right : left);
    } else {
      const bool lands = now.due(right_lands);
      now[on_right] = now[right_held] = lands ? 1.0 : 0.0;
      now[on_left] = now[left_held] = lands ? 0.0 : 1.0;
      now.release(lands ? left : right);
    }
  }
  static void rest(auto& now) {
    now[on_left] = now[on_right] = now[left_held] = 1.0;
    now[right_held] = now[omega] = now[vx] = now[vy] = 0.0;
  }
  static void outputs(const auto& at, auto& out) {
    const auto r2 = at[half_width] * at[half_width] + at[half_height] * at[half_height];
    out[energy] = at[inertia] *
                  (0.5 * (at[vx] * at[vx] + at[vy] * at[vy]) + at[omega] * at[omega] * r2 / 6.0 + at[gravity] * at[y]);
  }
};
