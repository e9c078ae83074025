// Where what determines an algebraic state, or a highest derivative, becomes singular on the way, an instance ends there: however smooth
// the curve is that a step would go on along, the equations do not say that it is their solution.
//
//     x' = -2 a b z,  0 = x - a z^2,  z(0) = z_0:   z = z_0 - b t,  det J = 2 a z up to a sign
//
// which is zero at t = z_0 / b if z_0 is positive, and never if it is negative.
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

std::string written(const std::string& form) {
  static const auto folder = std::filesystem::temp_directory_path() / fmt::format("saltus_singular_{}", ::getpid());
  std::filesystem::create_directories(folder);
  const auto file = folder / fmt::format("impasse_{}.hpp", form);
  const bool any_order = form == "any_order" || form == "local";
  std::ofstream(file) << "#include <saltus.hpp>\nstruct impasse_" << form << R"( {
  static constexpr double span[] = {0.0, 5.0};
  enum state { x, z };
  static constexpr saltus::variable<state> state_list[] = {{x, 1.0, "1", ""}, saltus::variable<state>{z, 1.0, "1", ""})"
                      << (any_order ? "" : ".algebraic()") << R"(};
  enum parameter { a, b, z0 };
  static constexpr saltus::variable<parameter> parameter_list[] = {{a, 1.0, "1", ""}, {b, 0.5, "1", ""}, {z0, 1.0, "1", ""}};
  enum output { at_which, slope };
  static constexpr saltus::derived<output> output_list[] = {{at_which, "1", "z_0 / b"}, {slope, "1", "b"}};
  static void outputs(const auto& at, auto& out) {
    out[at_which] = at[z0] / at[b] + 0.0 * at[z];
    out[slope] = at[b] + 0.0 * at[z];
  }
  static void initial(auto& at) {
    at[x] = at[a] * at[z0] * at[z0];
    at[z] = at[z0];
  }
)"
                      << (any_order            ? R"(
  static void residual(const auto& at, auto& r) {
    r[x] = at.d(x, 1) + 2.0 * at[a] * at[b] * at[z];
    r[z] = at[x] - at[a] * at[z] * at[z];
  }
};
)"
                          : form == "residual" ? R"(
  static void residual(const auto& at, const auto& dy, auto& r) {
    r[x] = dy[x] + 2.0 * at[a] * at[b] * at[z];
    r[z] = at[x] - at[a] * at[z] * at[z];
  }
};
)"
                                               : R"(
  static void rhs(const auto& at, auto& dy) {
    dy[x] = -2.0 * at[a] * at[b] * at[z];
    dy[z] = at[x] - at[a] * at[z] * at[z];
  }
};
)");
  return file.string();
}

class Impasse : public ::testing::TestWithParam<way> {
 protected:
  void end_where_they_must(std::int64_t count) const {
    const auto& [form, method] = GetParam();
    std::vector<std::string> settings = {"method=" + method,
                                         fmt::format("sample.count={}", count),
                                         "sample.seed=3",
                                         "sample.a={uniform=[0.5,2.0]}",
                                         "sample.b={uniform=[0.5,2.0]}",
                                         "sample.z0={uniform=[-2.0,2.0]}",
                                         "rescue=false",
                                         "rtol=1e-7"};
    if (form == "local") settings.push_back("coordinates=unitary");
    const auto r = run(written(form), settings);
    for (std::int64_t i = 0; i < count; ++i) {
      const double end = r.output(0, i), b = r.output(1, i), z0 = b * end;
      const auto at = static_cast<std::size_t>(i);
      const char* const status = status_table[r.status[at]].name;
      SCOPED_TRACE(fmt::format("instance {}: z_0 {}, b {}", i, z0, b));
      if (z0 < 0.0) {
        ASSERT_STREQ(status, "finished");
        ASSERT_NEAR(r.final("z", i), z0 - 5.0 * b, 1e-4);
      } else {
        // Steps of implicit methods may find no solution before their end shows which way the determinant has turned.
        const std::string why = status;
        ASSERT_TRUE(why == "singular" || (why == "newton_failed" && (form == "semi" || form == "residual"))) << why;
        ASSERT_NEAR(r.t_final[at], end, 2e-3 * end);
      }
    }
  }
};

std::vector<way> all_ways() {
  std::vector<way> all;
  for (const auto& m : host::known_methods()) {
    if (m.for_mechanics || (m.embedded_order == 0 && !m.is_series)) continue;
    all.push_back({"any_order", std::string(m.name)});
    if (m.is_explicit) all.push_back({"local", std::string(m.name)});
    else all.push_back({"semi", std::string(m.name)});
    if (!m.is_explicit && !m.is_rosenbrock) all.push_back({"residual", std::string(m.name)});
  }
  return all;
}

TEST_P(Impasse, IsNotPassed) { end_where_they_must(200); }

class ManyImpasses : public Impasse {};
TEST_P(ManyImpasses, AreNotPassed) { end_where_they_must(5'000); }

const auto name_of_way = [](const auto& w) { return w.param.form + "_by_" + w.param.method; };
INSTANTIATE_TEST_SUITE_P(Some, Impasse,
                         ::testing::Values(way{"any_order", "taylor16"}, way{"any_order", "dop853"},
                                           way{"any_order", "radau5"}, way{"local", "dp5"}, way{"semi", "trapezoid"},
                                           way{"semi", "rodas5p"}, way{"residual", "esdirk4"}),
                         name_of_way);
INSTANTIATE_TEST_SUITE_P(All, ManyImpasses, ::testing::ValuesIn(all_ways()), name_of_way);

}  // namespace
}  // namespace saltus::test
