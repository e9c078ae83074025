// If the equations that determine an algebraic state or a highest derivative become singular on the way, the instance ends there. A step
// could continue along a smooth curve, but the equations do not say that this curve is their solution.
//
//     x' = -2 a b w,  0 = x - a w^2,  w = z - c,  w(0) = z_0:   w = z_0 - b t,  det J = 2 a w up to a sign
//
// This is zero at t = z_0 / b if z_0 is positive, and never if it is negative. The same holds for a varying mass matrix and for a residual
// without algebraic states: 2 a w z' = -2 a b w has the same w, with x' = z beside it.
#include <cmath>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "spec/methods.hpp"
#include "testing/ensemble.hpp"

namespace saltus::test {
namespace {

struct way {
  std::string form, method;
};
void PrintTo(const way& w, std::ostream* out) { *out << w.form << " by " << w.method; }

std::filesystem::path header(const std::string& name) {
  static const auto folder = std::filesystem::temp_directory_path() / fmt::format("saltus_singular_{}", ::getpid());
  std::filesystem::create_directories(folder);
  return folder / (name + ".hpp");
}

std::string written(const std::string& form) {
  const auto file = header("impasse_" + form);
  const bool any_order = form == "any_order" || form == "local" || form == "array";
  const bool of_rates = form == "diagonal" || form == "dense" || form == "rates";
  std::ofstream(file) << "#include <saltus.hpp>\nstruct impasse_" << form << R"( {
  static constexpr double span[] = {0.0, 5.0};
  enum state { x, z };
  static constexpr saltus::variable<state> state_list[] = {{x, 1.0, "1", ""}, saltus::variable<state>{z, 1.0, "1", ""})"
                      << (any_order || of_rates ? "" : ".algebraic()") << R"(};
  enum parameter { a, b, z0, c };
  static constexpr saltus::variable<parameter> parameter_list[] = {{a, 1.0, "1", ""}, {b, 0.5, "1", ""}, {z0, 1.0, "1", ""}, {c, 0.0, "1", ""}};
  enum output { at_which, slope };
  static constexpr saltus::derived<output> output_list[] = {{at_which, "1", "z_0 / b"}, {slope, "1", "b"}};
  static void outputs(const auto& at, auto& out) {
    out[at_which] = at[z0] / at[b] + 0.0 * at[z];
    out[slope] = at[b] + 0.0 * at[z];
  }
  static void initial(auto& at) {
    at[x] = at[a] * at[z0] * at[z0];
    at[z] = at[z0] + at[c];
  }
)"
                      << (any_order            ? R"(
  static void residual(const auto& at, auto& r) {
    r[x] = at.d(x, 1) + 2.0 * at[a] * at[b] * (at[z] - at[c]);
    r[z] = at[x] - at[a] * (at[z] - at[c]) * (at[z] - at[c]);
  }
};
)"
                          : form == "residual" ? R"(
  static void residual(const auto& at, const auto& dy, auto& r) {
    r[x] = dy[x] + 2.0 * at[a] * at[b] * (at[z] - at[c]);
    r[z] = at[x] - at[a] * (at[z] - at[c]) * (at[z] - at[c]);
  }
};
)"
                          : form == "rates"    ? R"(
  static void residual(const auto& at, const auto& dy, auto& r) {
    r[x] = dy[x] - at[z];
    r[z] = 2.0 * at[a] * (at[z] - at[c]) * (dy[z] + at[b]);
  }
};
)"
                          : form == "diagonal" ? R"(
  static constexpr bool mass_varies = true;
  static void mass(const auto& at, auto& m) {
    m(x, x) = 1.0;
    m(z, z) = 2.0 * at[a] * (at[z] - at[c]);
  }
  static void rhs(const auto& at, auto& dy) {
    dy[x] = at[z];
    dy[z] = -2.0 * at[a] * at[b] * (at[z] - at[c]);
  }
};
)"
                          : form == "dense"    ? R"(
  static constexpr bool mass_varies = true;
  static void mass(const auto& at, auto& m) {  // sum and difference of the rows of the diagonal one
    const auto w = at[z] - at[c];
    m(x, x) = 1.0;
    m(x, z) = 2.0 * at[a] * w;
    m(z, x) = 1.0;
    m(z, z) = -2.0 * at[a] * w;
  }
  static void rhs(const auto& at, auto& dy) {
    const auto w = at[z] - at[c];
    dy[x] = at[z] - 2.0 * at[a] * at[b] * w;
    dy[z] = at[z] + 2.0 * at[a] * at[b] * w;
  }
};
)"
                                            : R"(
  static void rhs(const auto& at, auto& dy) {
    dy[x] = -2.0 * at[a] * at[b] * (at[z] - at[c]);
    dy[z] = at[x] - at[a] * (at[z] - at[c]) * (at[z] - at[c]);
  }
)" + std::string(form == "mass" ? "  static void mass(const auto&, auto& m) { m(x, x) = 1.0; }\n};\n" : "};\n"));
  return file.string();
}

class Impasse : public ::testing::TestWithParam<way> {
 protected:
  void end_where_they_must(std::int64_t count, double rtol = 1e-7, double c = 0.0) const {
    const auto& [form, method] = GetParam();
    std::vector<std::string> settings = {"method=" + method,
                                         fmt::format("sample.count={}", count),
                                         "sample.seed=3",
                                         "sample.a={uniform=[0.5,2.0]}",
                                         "sample.b={uniform=[0.5,2.0]}",
                                         "sample.z0={uniform=[-2.0,2.0]}",
                                         "rescue=false",
                                         fmt::format("c={}", c),
                                         fmt::format("rtol={}", rtol)};
    if (form == "local") settings.push_back("coordinates=unitary");
    if (form == "array") settings.push_back("structure=array");
    const auto r = run(written(form), settings);
    for (std::int64_t i = 0; i < count; ++i) {
      const double end = r.output(0, i), b = r.output(1, i), z0 = b * end;
      const auto at = static_cast<std::size_t>(i);
      const char* const status = status_table[r.status[at]].name;
      SCOPED_TRACE(fmt::format("instance {}: z_0 {}, b {}", i, z0, b));
      if (z0 < 0.0) {
        ASSERT_STREQ(status, "finished");
        ASSERT_NEAR(r.final("z", i), c + z0 - 5.0 * b, 1e3 * rtol);
      } else {
        ASSERT_STREQ(status, "singular");
        // x is known to an absolute tolerance, here rtol, and w to the root of that over a >= 0.5.
        ASSERT_NEAR(r.t_final[at], end, std::sqrt(10.0 * rtol / 0.5) / b);
      }
    }
  }
};

std::vector<way> all_ways() {
  std::vector<way> all;
  for (const auto& m : host::known_methods()) {
    if (m.for_mechanics || (m.embedded_order == 0 && !m.is_series)) continue;
    all.push_back({"any_order", std::string(m.name)});
    if (m.is_explicit && !m.is_series) all.push_back({"array", std::string(m.name)});
    if (m.is_explicit) all.push_back({"local", std::string(m.name)});
    else all.insert(all.end(), {{"semi", std::string(m.name)}, {"mass", std::string(m.name)}});
    if (!m.is_explicit && !m.is_rosenbrock)
      for (const char* form : {"residual", "rates", "diagonal", "dense"}) all.push_back({form, std::string(m.name)});
  }
  return all;
}

TEST_P(Impasse, IsNotPassed) { end_where_they_must(200); }

// Tolerances at which z counts as zero long before it is, and a determinant that vanishes where z is not near zero.
class Tolerances : public Impasse {};
TEST_P(Tolerances, HideNoImpasse) {
  for (const double rtol : {1e-3, 1e-5, 1e-9})
    for (const double c : {0.0, 1.0}) {
      SCOPED_TRACE(fmt::format("rtol {}, c {}", rtol, c));
      end_where_they_must(100, rtol, c);
    }
}

class ManyImpasses : public Impasse {};
TEST_P(ManyImpasses, AreNotPassed) { end_where_they_must(5'000); }

const auto name_of_way = [](const auto& w) { return w.param.form + "_by_" + w.param.method; };
INSTANTIATE_TEST_SUITE_P(Some, Impasse,
                         ::testing::Values(way{"any_order", "taylor16"}, way{"any_order", "dop853"},
                                           way{"any_order", "radau5"}, way{"local", "dp5"}, way{"array", "dp5"},
                                           way{"array", "dop853"}, way{"semi", "trapezoid"}, way{"semi", "rodas5p"},
                                           way{"residual", "esdirk4"}),
                         name_of_way);
INSTANTIATE_TEST_SUITE_P(Some, Tolerances,
                         ::testing::Values(way{"any_order", "rodas4"}, way{"semi", "rodas4"}, way{"semi", "rodas5p"},
                                           way{"semi", "esdirk4"}, way{"mass", "rodas5p"}, way{"residual", "radau5"},
                                           way{"rates", "radau5"}, way{"diagonal", "radau5"},
                                           way{"diagonal", "esdirk4"}, way{"dense", "radau5"}),
                         name_of_way);
INSTANTIATE_TEST_SUITE_P(All, ManyImpasses, ::testing::ValuesIn(all_ways()), name_of_way);

// M(q) with det M = q, and forces for which q = q_0 - b t^2 / 2 also beyond q = 0, where M is not positive definite.
std::string mass_that_vanishes(const std::string& kind) {
  const auto file = header("mass_" + kind);
  std::ofstream(file) << "#include <saltus.hpp>\nstruct mass_" << kind << R"( {
  static constexpr double span[] = {0.0, 5.0};
  enum state { q, s, v, w };
  static constexpr auto first_velocity = v;
  static constexpr saltus::variable<state> state_list[] = {{q, 1.0, "1", ""}, {s, 0.0, "1", ""}, {v, 0.0, "1", ""}, {w, 1.0, "1", ""}};
  enum parameter { b, q0 };
  static constexpr saltus::variable<parameter> parameter_list[] = {{b, 1.0, "1", ""}, {q0, 1.0, "1", ""}};
  enum output { at_which, curvature };
  static constexpr saltus::derived<output> output_list[] = {{at_which, "1", "2 q_0 / b"}, {curvature, "1", "b"}};
  static void outputs(const auto& at, auto& out) {
    out[at_which] = 2.0 * at[q0] / at[b];
    out[curvature] = at[b];
  }
  static void initial(auto& at) { at[q] = at[q0]; }
)"
                      << (kind == "diagonal" ? R"(  static constexpr bool mass_is_diagonal = true;
  static void mass(const auto& at, auto& m) {
    m(v, v) = at[q];
    m(w, w) = 1.0;
  }
  static void force(const auto& at, auto& f) {
    f[v] = -at[b] * at[q];
    f[w] = 0.0;
  }
};
)"
                                             : R"(  static void mass(const auto& at, auto& m) {
    m(v, v) = at[q];
    m(w, v) = at[q];
    m(w, w) = at[q] + 1.0;
  }
  static void force(const auto& at, auto& f) {
    f[v] = -at[b] * at[q];
    f[w] = -at[b] * at[q];
  }
};
)");
  return file.string();
}

class MassThatVanishes : public ::testing::TestWithParam<way> {};
TEST_P(MassThatVanishes, IsNotPassed) {
  const auto& [kind, method] = GetParam();
  const double rtol = 1e-7;
  const auto r = run(mass_that_vanishes(kind),
                     {"method=" + method, "sample.count=200", "sample.seed=3", "sample.b={uniform=[-2.0,2.0]}",
                      "sample.q0={uniform=[0.5,2.0]}", "rescue=false", fmt::format("rtol={}", rtol)});
  int singular = 0;
  for (std::int64_t i = 0; i < 200; ++i) {
    const double square = r.output(0, i), b = r.output(1, i);
    const auto at = static_cast<std::size_t>(i);
    const char* const status = status_table[r.status[at]].name;
    SCOPED_TRACE(fmt::format("instance {}: 2 q_0 / b = {}", i, square));
    if (square < 0.0 || square > 25.0) {
      ASSERT_STREQ(status, "finished");
      ASSERT_NEAR(r.final("q", i), 0.5 * b * (square - 25.0), 1e3 * rtol);
    } else {
      ASSERT_STREQ(status, "singular");
      ASSERT_NEAR(r.t_final[at], std::sqrt(square), 1e3 * rtol);
      ++singular;
    }
  }
  EXPECT_GT(singular, 80);
}
INSTANTIATE_TEST_SUITE_P(All, MassThatVanishes,
                         ::testing::Values(way{"diagonal", "dp5"}, way{"diagonal", "radau5"}, way{"dense", "dop853"},
                                           way{"dense", "esdirk4"}, way{"dense", "inflesdirk4"}),
                         name_of_way);

std::string written(const std::string& name, const std::string& span, const std::string& rate) {
  const auto file = header(name);
  std::ofstream(file) << "#include <saltus.hpp>\nstruct " << name << " {\n  static constexpr double span[] = {0.0, "
                      << span << R"(};
  enum state { x, z };
  static constexpr saltus::variable<state> state_list[] = {{x, 1.0, "1", ""}, saltus::variable<state>{z, 1.0, "1", ""}.algebraic()};
  enum parameter { d };
  static constexpr saltus::variable<parameter> parameter_list[] = {{d, 0.001, "1", ""}};
  static void rhs(const auto& at, auto& dy) {
    dy[x] = )" << rate << R"(;
    dy[z] = at[x] - at[z] * at[z];
  }
};
)";
  return file.string();
}

// z = exp(-t/2) comes arbitrarily close to the singularity at zero, but never reaches it.
TEST(NoImpasse, OfAStateThatDiesAway) {
  const auto file = written("dies_away", "60.0", "-at[x]");
  for (const std::string method : {"rodas5p", "rodas4", "radau5", "esdirk4"})
    for (const double rtol : {1e-4, 1e-6, 1e-8}) {
      const auto r = run(file, {"method=" + method, fmt::format("rtol={}", rtol), "rescue=false"});
      SCOPED_TRACE(fmt::format("{}, {}", method, rtol));
      EXPECT_STREQ(status_table[r.status[0]].name, "finished");
      EXPECT_NEAR(r.final("z"), std::exp(-30.0), 10.0 * rtol);
    }
}
// z = d + (1 + cos t) / 2 turns around close to it.
TEST(NoImpasse, OfAStateThatTurnsBack) {
  const auto file = written("turns_back", "9.0", "-at[z] * sin(at.t)");
  for (const std::string method : {"rodas5p", "rodas4", "radau5", "esdirk4"})
    for (const double d : {0.1, 0.01, 0.001}) {
      const auto r = run(file, {"method=" + method, "rtol=1e-8", "rescue=false", fmt::format("d={}", d),
                                fmt::format("x={}", (1.0 + d) * (1.0 + d))});
      SCOPED_TRACE(fmt::format("{}, {}", method, d));
      EXPECT_STREQ(status_table[r.status[0]].name, "finished");
      EXPECT_NEAR(r.final("z"), d + 0.5 + 0.5 * std::cos(9.0), 1e-3);
    }
}

}  // namespace
}  // namespace saltus::test
