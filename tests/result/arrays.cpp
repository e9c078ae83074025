// A result in memory must equal that of the file.
#include "result/arrays.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <variant>

#include <fmt/format.h>

#include "marked.hpp"
#include "study/prepare.hpp"
#include "study/run.hpp"
#include "testing/source_folder.hpp"

namespace saltus::host::result_test {
namespace {

/// Compares dimensions, type, attributes and every bit.
void expect_same(const reader& file, const result_array& a) {
  const std::string& name = a.what.name;
  ASSERT_TRUE(file.has(name)) << name;
  std::string dimensions;
  for (const auto& one : a.dimensions) dimensions += (dimensions.empty() ? "" : ",") + one;
  EXPECT_EQ(file.dimensions(name), dimensions) << name;
  EXPECT_EQ(file.type(name), a.what.type) << name;
  std::vector<std::byte> numbers(a.numbers.size());
  std::size_t count = 1;
  for (const auto length : a.shape) count *= static_cast<std::size_t>(length);
  ASSERT_EQ(file.type(name) == NC_DOUBLE ? file.reals(name).size() : file.integers(name).size(), count) << name;
  ASSERT_EQ(nc_get_var(file.file(), file.id(name), numbers.data()), NC_NOERR) << name;
  EXPECT_EQ(std::memcmp(numbers.data(), a.numbers.data(), numbers.size()), 0) << name;
  for (const auto& [key, value] : a.attributes) {
    ASSERT_TRUE(file.has_attribute(name, key.c_str())) << name << ": " << key;
    if (const auto* text = std::get_if<std::string>(&value)) { EXPECT_EQ(file.text(name, key.c_str()), *text) << name; }
    if (const auto* flags = std::get_if<std::vector<int>>(&value)) { EXPECT_EQ(file.flags(name), *flags) << name; }
  }
}

void expect_same(const fs::path& path, const result_arrays& arrays) {
  const reader file(path);
  int variables = 0, attributes = 0;
  nc_inq(file.file(), nullptr, &variables, &attributes, nullptr);
  const int of_names = file.has("statistic") ? 1 : 0;
  EXPECT_EQ(arrays.variables().size(), static_cast<std::size_t>(variables - of_names));
  EXPECT_EQ(arrays.attributes().size(), static_cast<std::size_t>(attributes));
  for (const auto& a : arrays.variables()) expect_same(file, a);
  for (const auto& [key, value] : arrays.attributes()) {
    if (key == "created" || key == "history") continue;  // these contain the time of creation
    if (const auto* text = std::get_if<std::string>(&value)) { EXPECT_EQ(file.text("", key.c_str()), *text) << key; }
  }
}

const result_array& called(const result_arrays& all, const std::string& name) {
  return *std::find_if(all.variables().begin(), all.variables().end(),
                       [&](const auto& a) { return a.what.name == name; });
}

TEST(result_arrays, are_those_of_the_file_whatever_the_order_of_chunks) {
  const folder dir;
  plan p = stiff_valve(10);
  also_varies(p, target::kind::state, 1);
  also_varies(p, target::kind::t_end, 0);
  p.sample_count = 3;
  p.log_events = true;
  p.reductions = {{reduction::kind::mean, false, 0, "mean(lift)"}};
  netcdf_writer writer(dir / "a.nc", p, origin);
  result_arrays arrays(p, origin);
  for (const std::int64_t first : {7, 0, 4}) {  // ids 3 and 6 are never written, 4 and 5 are
    chunk_data c = marked(p, first, first == 4 ? 2 : 3);
    for (long long slot = c.count - 1; slot >= 0; --slot) {
      const double before[] = {0.5 + static_cast<double>(first + slot), 1}, after[] = {2, 3};
      if (first + slot != 1) c.log.append(slot, 0.25 * static_cast<double>(first + slot), 1, before, after);
    }
    writer.write(c);
    arrays.write(c);
  }
  writer.close(1.5);
  arrays.close(1.5);
  expect_same(dir / "a.nc", arrays);
  EXPECT_EQ(called(arrays, "event_time").shape, std::vector<std::int64_t>{7});
  std::vector<long long> of(7);
  std::memcpy(of.data(), called(arrays, "event_instance").numbers.data(), 7 * sizeof of[0]);
  EXPECT_EQ(of, (std::vector<long long>{0, 2, 4, 5, 7, 8, 9}));
}

TEST(result_arrays, more_than_there_is_of_memory_is_refused) {
  const auto [code, said] = complaint([] { result_arrays(valve(std::int64_t{1} << 40), origin); });
  EXPECT_EQ(code, exit_failure);
  EXPECT_NE(said.find("of memory"), std::string::npos) << said;
}

const run_options in_memory = [] {
  run_options o;
  o.in_memory = true;
  return o;
}();

/// A run into a file and the same run into memory must agree.
void expect_same_run(const folder& dir, const model& ball, const std::vector<std::string>& settings) {
  std::vector<flag> flags = {{"--set", "sweep.restitution={array=\"e\"}"}, {"--set", "run.chunk=3"}};
  for (const auto& one : settings) flags.push_back({"--set", one});
  spec_document spec = from_model("bouncing_ball", flags);
  spec.arrays["e"] = {0.5, 0.6, 0.625, 0.7, 0.75, 0.8, 0.9};
  plan p = plan_of(spec, ball);
  p.file = dir / fmt::format("{}.nc", settings.size());
  const auto r = run(p, in_memory);
  ASSERT_EQ(r.summary.counts.ok() + r.summary.counts.rescued(), 7);
  expect_same(p.file, *r.arrays);
}

// Both runs use one module; samples are tested by marked chunks.
TEST(result_arrays, hold_rows_events_and_statistics_of_a_run) {
  const folder dir;
  const model ball = load(fs::path(saltus::test::in_source("problems/bouncing_ball.hpp")));
  const std::string reduce = "output.reduce=[\"max(height)\"]";
  expect_same_run(dir, ball,
                  {"t=[0,2]", reduce, "output.events=true", "output.histogram={steps={from=0,to=100,bins=4}}"});
  expect_same_run(dir, ball, {"t=[0,2]", reduce, "output.rows=false"});
}

TEST(result_arrays, a_model_that_is_loaded_is_compiled_once_and_no_other_text_is_taken_for_it) {
  const folder dir;
  const fs::path header = dir / "decay.hpp";
  const auto write = [&](const char* rate) {
    std::ofstream(header) << "#include <saltus.hpp>\nstruct decay {\n"
                             "  static constexpr auto title = \"decay\";\n  static constexpr auto source = \"\";\n"
                             "  static constexpr double span[] = {0.0, 1.0};\n  enum state { x };\n"
                             "  static constexpr saltus::variable<state> state_list[] = {{x, 1.0, \"1\", \"x\"}};\n"
                             "  static void rhs(const auto& at, auto& dy) { dy[x] = -"
                          << rate << " * at[x]; }\n};\n";
  };
  write("1.0");
  const model decay = load(header);
  const plan p = plan_of(from_model(header.string(), {}), decay);
  const auto final_x = [&](const plan& of) {
    double x = 0;
    std::memcpy(&x, called(*run(of, in_memory).arrays, "final_x").numbers.data(), sizeof x);
    return x;
  };
  EXPECT_NEAR(final_x(p), std::exp(-1.0), 1e-5);
  fs::remove(header);
  EXPECT_NEAR(final_x(p), std::exp(-1.0), 1e-5) << "the loaded model needs no header";
  write("2.0");
  EXPECT_NEAR(final_x(p), std::exp(-1.0), 1e-5) << "the loaded model does not change";
  plan other = p;
  other.method = "bs3";
  EXPECT_NE(complaint([&] { run(other, in_memory); }).second.find("has changed"), std::string::npos);
}

}  // namespace
}  // namespace saltus::host::result_test
