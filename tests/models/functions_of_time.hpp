// The integrals of functions of u = begin + speed t and of a parameter.
#include <saltus.hpp>

struct functions_of_time {
  static constexpr auto title = "Integrals of functions of time";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 1.0};
  enum state {
    u,
    sine,
    exponential,
    logarithm,
    root,
    power,
    base,
    arc,
    bend,
    angle,
    inverse,
    arcsine,
    cube_root,
    self
  };
  static constexpr saltus::variable<state> state_list[] = {{u, 0.0, "1", "begin + speed t"},
                                                           {sine, 0.0, "1", "integral of sin(e u)"},
                                                           {exponential, 0.0, "1", "of exp(e u)"},
                                                           {logarithm, 0.0, "1", "of e log(u)"},
                                                           {root, 0.0, "1", "of sqrt(e + u)"},
                                                           {power, 0.0, "1", "of u^e"},
                                                           {base, 0.0, "1", "of e^u"},
                                                           {arc, 0.0, "1", "of atan(e u)"},
                                                           {bend, 0.0, "1", "of tanh(e u)"},
                                                           {angle, 0.0, "1", "of atan2(u, e)"},
                                                           {inverse, 0.0, "1", "of e / u"},
                                                           {arcsine, 0.0, "1", "of asin(u / e)"},
                                                           {cube_root, 0.0, "1", "of cbrt(e u)"},
                                                           {self, 0.0, "1", "of u^u"}};
  enum parameter { begin, speed, exponent };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {begin, 0.3, "1", "u at the start"}, {speed, 0.4, "1/s", "of u"}, {exponent, 2.0, "1", "e"}};
  static void initial(auto& at) { at[u] = at[begin]; }
  static void rhs(const auto& at, auto& dy) {
    const auto e = at[exponent];
    dy[u] = at[speed] + 0.0 * at[u];
    dy[sine] = sin(e * at[u]);
    dy[exponential] = exp(e * at[u]);
    dy[logarithm] = e * log(at[u]);
    dy[root] = sqrt(e + at[u]);
    dy[power] = pow(at[u], e);
    dy[base] = pow(e, at[u]);
    dy[arc] = atan(e * at[u]);
    dy[bend] = tanh(e * at[u]);
    dy[angle] = atan2(at[u], e);
    dy[inverse] = e / at[u];
    dy[arcsine] = asin(at[u] / e);
    dy[cube_root] = cbrt(e * at[u]);
    dy[self] = pow(at[u], at[u]);
  }
};
