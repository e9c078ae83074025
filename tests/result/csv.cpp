// CSV files: the lines of chunks that come in any order, and what is refused.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "marked.hpp"
#include "result/csv_writer.hpp"
#include "result/format.hpp"
#include "result/reader.hpp"

namespace saltus::host::result_test {
namespace {

plan with_median(std::int64_t count) {
  plan p = valve(count);
  p.reductions = {{reduction::kind::quantile, false, 0, "quantile(lift, 0.5)"}};
  return p;
}

std::vector<std::string> lines_of(const fs::path& file) {
  std::vector<std::string> all;
  std::istringstream text(content(file));
  for (std::string line; std::getline(text, line);) all.push_back(line);
  return all;
}

TEST(CsvFile, HasALineForEachInstanceInTheOrderOfIds) {
  const folder in;
  const plan p = with_median(10);
  std::string whole;
  for (const std::int64_t bound : {csv_writer::usual_bound, std::int64_t{200}}) {  // in memory, and in a temporary file
    csv_writer writer(in / "a.csv", p, existing::replaced, abandoned::set_aside, bound);
    for (const std::int64_t first : {6, 3, 0, 9}) {
      auto chunk = marked(p, first, std::min<std::int64_t>(3, p.count - first));
      if (first == 3) {
        chunk.status[1] = static_cast<unsigned char>(status::event_budget);
        chunk.reductions[1] = nan;
      }
      static_cast<result_output&>(writer).write(chunk);
    }
    EXPECT_FALSE(fs::exists(in / "a.csv") && whole.empty());
    writer.close(1.5);
    const std::string text = content(in / "a.csv");
    EXPECT_EQ(text, whole.empty() ? text : whole);
    whole = text;
  }
  EXPECT_FALSE(fs::exists(in / "a.csv.part"));
  const auto lines = lines_of(in / "a.csv");
  ASSERT_EQ(lines.size(), 11u);
  EXPECT_EQ(lines[0].substr(0, 97),
            "instance,flow,final_lift,final_velocity,final_force,final_open,t_final,status,ok,exception,steps,");
  EXPECT_TRUE(lines[0].ends_with(",\"quantile(lift, 0.5)\"")) << lines[0];
  EXPECT_TRUE(lines[1].starts_with("0,1.125,5,5.125,6,7,8,finished,true,none,10,20,")) << lines[1];
  EXPECT_TRUE(lines[5].starts_with("4,4001.125,4005,4005.125,4006,4007,4008,event_budget,false,none,14,")) << lines[5];
  EXPECT_TRUE(lines[5].ends_with(",NaN")) << lines[5];
  EXPECT_TRUE(lines[10].ends_with(",9009")) << lines[10];
}

TEST(CsvFile, HasLinesOfInstancesThatNeverRan) {
  const folder in;
  const plan p = with_median(6);
  csv_writer writer(in / "a.csv", p);
  static_cast<result_output&>(writer).write(marked(p, 2, 2));
  writer.close(1.5);
  const auto lines = lines_of(in / "a.csv");
  ASSERT_EQ(lines.size(), 7u);
  for (const std::size_t missing : {0, 1, 4, 5})
    EXPECT_TRUE(
        lines[missing + 1].starts_with(fmt::format("{},NaN,NaN,NaN,NaN,NaN,NaN,not_run,false,none,0,", missing)))
        << lines[missing + 1];
  EXPECT_TRUE(lines[3].starts_with("2,2001.125,")) << lines[3];
}

/// Cells of a line; quotes may contain commas.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line)
    if (c == '"') quoted = !quoted;
    else if (c == ',' && !quoted) cells.emplace_back();
    else cells.back() += c;
  return cells;
}

TEST(CsvFile, HasEveryNumberWithAllItsDigits) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> reals = {0.1,         1.0 / 3,    -0.0, 1e300, 5e-324, 0x1.fffffffffffffp1023,
                                     123456789.0, 0x1p53 + 2, inf,  -inf,  nan};
  const auto count = std::ssize(reals);
  plan p = with_median(count);
  p.title = "Two \"valves\", with\na line";
  auto chunk = marked(p, 0, count);
  chunk.final_state = reals;
  chunk.final_state.insert(chunk.final_state.end(), reals.rbegin(), reals.rend());
  constexpr auto least = std::numeric_limits<long long>::min(), greatest = std::numeric_limits<long long>::max();
  chunk.steps[0] = greatest, chunk.steps[1] = least, chunk.steps[2] = (1LL << 53) + 1;
  for (std::size_t k = 0; k < reals.size(); ++k) chunk.status[k] = static_cast<unsigned char>(k);
  chunk.exception[3] = static_cast<unsigned char>(status::not_located);
  const folder in;
  csv_writer writer(in / "a.csv", p);
  static_cast<result_output&>(writer).write(chunk);
  writer.close(1.5);
  const auto lines = lines_of(in / "a.csv");
  const auto header = cells_of(lines.at(0));
  ASSERT_EQ(std::ssize(lines), count + 1);
  EXPECT_EQ(header.back(), "quantile(lift, 0.5)");
  const auto cell = [&](std::size_t instance, const char* name) {
    const auto cells = cells_of(lines[instance + 1]);
    EXPECT_EQ(cells.size(), header.size());
    return cells.at(static_cast<std::size_t>(std::find(header.begin(), header.end(), name) - header.begin()));
  };
  for (std::size_t k = 0; k < reals.size(); ++k) {
    for (const auto& [name, x] : {std::pair("final_lift", reals[k]), {"final_velocity", reals[reals.size() - 1 - k]}}) {
      const double back = std::strtod(cell(k, name).c_str(), nullptr);
      EXPECT_TRUE(std::memcmp(&back, &x, sizeof x) == 0 || (back != back && x != x)) << cell(k, name) << " for " << x;
    }
    EXPECT_EQ(cell(k, "instance"), std::to_string(k));
    EXPECT_EQ(cell(k, "status"), status_names[k]);
    EXPECT_EQ(cell(k, "ok"), k < 2 ? "true" : "false");
    EXPECT_EQ(cell(k, "exception"), k == 3 ? "not_located" : "none");
  }
  EXPECT_EQ(cell(8, "final_lift"), "inf");
  EXPECT_EQ(cell(9, "final_lift"), "-inf");
  EXPECT_EQ(cell(10, "final_lift"), "NaN");
  EXPECT_EQ(cell(2, "final_lift"), "-0");
  EXPECT_EQ(cell(0, "steps"), "9223372036854775807");
  EXPECT_EQ(cell(1, "steps"), "-9223372036854775808");
  EXPECT_EQ(cell(2, "steps"), "9007199254740993");
}

TEST(CsvFile, IsKeptRefusedAndReplacedLikeAnyResult) {
  const folder in;
  const plan p = with_median(6);
  {
    csv_writer writer(in / "a.csv", p);
    static_cast<result_output&>(writer).write(marked(p, 4, 2));
    EXPECT_EQ(writer.keep("disk full"), 2);
  }
  EXPECT_EQ(lines_of(in / "a.csv.part").size(), 3u);
  {
    csv_writer writer(in / "a.csv", p);
    EXPECT_EQ(writer.set_aside(), in / "a.csv.part.1");
    writer.close(1.5);
  }
  EXPECT_TRUE(is_result(in / "a.csv"));
  EXPECT_EQ(complaint([&] { csv_writer(in / "a.csv", p); }).first, exit_usage);
  csv_writer(in / "a.csv", p, existing::replaced).close(1.5);
  EXPECT_NE(complaint([&] { result_file(in / "a.csv"); }).second.find("pandas.read_csv"), std::string::npos);
  std::ofstream(in / "b.csv") << "instance,flow\n0,1\n";
  EXPECT_NE(
      complaint([&] { csv_writer(in / "b.csv", p, existing::replaced); }).second.find("is not a result of saltus"),
      std::string::npos);
}

TEST(CsvFile, RefusesWhatALineCannotHold) {
  const auto refused = [](const char* key, auto change) {
    plan p = valve(3);
    p.file = "a.csv";
    EXPECT_NO_THROW(check_output_options(p));
    change(p);
    const auto [code, words] = complaint([&] { check_output_options(p); });
    EXPECT_EQ(code, exit_usage);
    EXPECT_TRUE(words.starts_with(fmt::format("output.{}", key))) << words;
  };
  refused("rows", [](plan& p) { p.rows = false, p.statistics = true; });
  refused("samples", [](plan& p) { p.sample_count = 3; });
  refused("events", [](plan& p) { p.log_events = true; });
  refused("statistics", [](plan& p) { p.statistics = true; });
  refused("histogram", [](plan& p) { p.statistics = true, p.histograms = {{"steps", 0, 0, 1, 2}}; });
  refused("indices", [](plan& p) { p.indices = {0}; });
  refused("compression = 1", [](plan& p) { p.compression = 1; });
}

}  // namespace
}  // namespace saltus::host::result_test
