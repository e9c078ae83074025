// The public interface: saltus.hpp, and saltus.h over it.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <saltus/saltus.hpp>

namespace {

const std::vector<double> heights = {1.0, 2.0, 3.5};

saltus::study balls() {
  saltus::study s("bouncing_ball");
  s.set("t", "[0.0, 0.4]").column("height", heights);
  return s;
}

template <class Call>
std::string refused(Call&& call, int code = SALTUS_USAGE) {
  try {
    call();
  } catch (const saltus::error& e) {
    EXPECT_EQ(code, e.exit_code);
    return e.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return {};
}

TEST(Face, RunsColumnsAndReadsTheResult) {
  auto s = balls();
  std::int64_t ended = 0, all = 0;
  s.on_progress([&](std::int64_t some, std::int64_t of) { ended = std::max(ended, some), all = of; });
  EXPECT_EQ(3, s.count());
  const auto r = s.run();
  EXPECT_EQ(0, r.exit_code());
  EXPECT_EQ(3, r.ended("finished"));
  EXPECT_EQ(3, ended);
  EXPECT_EQ(3, all);
  const auto final = r.reals("final_height");
  ASSERT_EQ(3u, final.size());
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(heights[i] - 0.5 * 9.81 * 0.16, final[i], 1e-12);  // in free fall
  const auto v = r["final_height"];
  EXPECT_STREQ("m", v.unit);
  ASSERT_EQ(1, v.rank);
  EXPECT_STREQ("instance", v.dimensions[0]);
  EXPECT_EQ(3, v.shape[0]);
  EXPECT_EQ(SALTUS_BYTE, r["status"].type);
  EXPECT_NE(std::string::npos, r.attribute("settings").find("t = [0.0, 0.4]"));
  EXPECT_EQ("", r.attribute("no such text"));
  bool found = false;
  for (std::size_t i = 0; i < r.variables(); ++i) found = found || std::string(r[i].name) == "final_height";
  EXPECT_TRUE(found);
}

TEST(Face, RunsAgainWithOtherSettings) {
  auto s = balls();
  const auto before = s.run();
  const auto later = s.set("t", "[0.0, 0.2]").run();
  EXPECT_NEAR(1.0 - 0.5 * 9.81 * 0.04, later.reals("final_height")[0], 1e-12);
  EXPECT_NEAR(1.0 - 0.5 * 9.81 * 0.16, before.reals("final_height")[0], 1e-12) << "the first result is unchanged";
}

TEST(Face, PlansShareALoadedModel) {
  const saltus::model ball(saltus::find_model("bouncing_ball"));
  const auto about = ball.description();
  EXPECT_EQ("bouncing_ball", about.name);
  EXPECT_EQ("height", about.states.at(0).name);
  EXPECT_EQ("m", about.states.at(0).unit);
  EXPECT_EQ("unilateral", about.guards.at(0).sidedness);
  EXPECT_NE(std::string::npos, about.text.find("struct bouncing_ball"));
  saltus::study s("bouncing_ball");
  EXPECT_EQ(about.header, s.header());
  s.set("t", "[0.0, 0.4]").set("sweep.height", "{ array = \"heights\" }").array("heights", heights);
  saltus::plan p = s.plan(ball);
  EXPECT_EQ(3, p.count());
  EXPECT_TRUE(p.warnings().empty());
  saltus::result r = p.run({.caller = "test"});
  EXPECT_NEAR(2.0 - 0.5 * 9.81 * 0.16, r.reals("final_height")[1], 1e-12);
  EXPECT_NE(std::string::npos, r.attribute("history").find("(test)"));
  for (std::size_t i = 0; i < r.variables(); ++i)
    EXPECT_EQ(r[i].numbers, r.bytes(i).data()) << "one copy of the numbers";
  EXPECT_NEAR(1.0 - 0.5 * 9.81 * 0.04, s.set("t", "[0.0, 0.2]").plan(ball).run().reals("final_height")[0], 1e-12);
}

TEST(Face, RunsPartsIntoAFile) {
  const auto folder = std::filesystem::temp_directory_path() / ("saltus_face_" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  auto s = balls();
  auto p = s.plan();
  p.set_file((folder / "balls.nc").string());
  EXPECT_EQ(1, p.run_part("1/3") * p.run_part("2/3") * p.run_part("3/3"));
  p.gather();
  EXPECT_NE(std::string::npos, refused([&] { p.check(); }).find("balls.nc"));
  p.check(true);
  EXPECT_EQ((folder / "balls.zarr").string(), saltus::to_zarr((folder / "balls.nc").string()));
  std::filesystem::remove_all(folder);
}

TEST(Face, StopsByAToken) {
  std::stop_source stop;
  stop.request_stop();
  auto s = balls();
  const auto r = s.plan().run({.stop = stop.get_token()});
  EXPECT_EQ(SALTUS_INTERRUPTED, r.exit_code());
  EXPECT_EQ(3, r.ended("not_run"));
}

TEST(Face, ListsEndingsAndKeys) {
  const auto endings = saltus::endings();
  EXPECT_EQ("finished", endings.at(0).name);
  EXPECT_EQ("ok", endings.at(0).group);
  const auto keys = saltus::keys();
  EXPECT_TRUE(std::any_of(keys.begin(), keys.end(),
                          [](const saltus::key& k) { return k.table == "run" && k.name == "threads"; }));
  EXPECT_EQ("did you mean rtol? allowed: rtol, atol", saltus::suggest("rtoll", {"rtol", "atol"}));
}

TEST(Face, TellsWhatIsWrong) {
  EXPECT_NE(std::string::npos, refused([] { balls().set("rtoll", "1").count(); }).find("did you mean rtol?"));
  EXPECT_NE(std::string::npos, refused([] {
                                 const std::vector<double> two = {9.0, 10.0};
                                 balls().column("gravity", two).run();
                               }).find("must have as many values"));
  EXPECT_NE(std::string::npos, refused([] { saltus::study("no_such_model").count(); }).find("no_such_model"));
  const auto r = balls().run();
  EXPECT_NE(std::string::npos, refused([&] { r["final_hight"]; }).find("did you mean final_height?"));
  EXPECT_NE(std::string::npos, refused([&] { r.ended("zenoo"); }).find("did you mean zeno?"));
  EXPECT_NE(std::string::npos, refused([&] { r.reals("status"); }).find("no doubles"));
  EXPECT_NE(std::string::npos, refused([&] { r[1000]; }).find("variables"));
  EXPECT_EQ(SALTUS_USAGE, saltus_set(nullptr, "rtol", "1"));
  EXPECT_EQ(nullptr, saltus_open(nullptr));
  EXPECT_STREQ("saltus_open(what): must not be NULL", saltus_error());
  saltus_close(nullptr), saltus_free(nullptr);
}

TEST(Face, EndsEarlyIfItIsCancelled) {
  auto s = balls();
  s.cancel();
  const auto r = s.run();
  EXPECT_EQ(SALTUS_INTERRUPTED, r.exit_code());
  EXPECT_EQ(0, r.ended("finished"));
}

}  // namespace
