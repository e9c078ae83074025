// Output of `saltus show`, and the progress line.
#include <pty.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <netcdf.h>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "cli/progress.hpp"
#include "cli/show_command.hpp"
#include "marked.hpp"

namespace saltus::host::result_test {
namespace {

// ---------------------------------------------------------------------------------------------------------------- show

/// The text that `show` prints.
std::string shown(const show_options& options) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* out = open_memstream(&text, &size);
  EXPECT_EQ(show(options, out), exit_ok);
  std::fclose(out);
  const std::string result(text, size);
  std::free(text);
  return result;
}

/// All of `parts` must be in `text`, in this order; any number of blanks counts as one.
void expect_in_order(const std::string& text, const std::vector<std::string>& parts) {
  std::string squeezed;
  for (char c : text)
    if (!(c == ' ' && !squeezed.empty() && squeezed.back() == ' ')) squeezed += c;
  std::size_t from = 0;
  for (const std::string& part : parts) {
    const std::size_t found = squeezed.find(part, from);
    ASSERT_NE(found, std::string::npos) << "missing: " << part << "\nin:\n" << squeezed;
    from = found + part.size();
  }
}

/// Four instances: finished, failed with NaN, stopped with two events, never run.
fs::path mixed(const folder& dir) {
  plan p = valve(4);
  p.sample_count = 2;
  p.log_events = true;
  p.reductions = {{reduction::kind::max, false, 0, "max(lift)"}};
  netcdf_writer writer(dir / "mixed.nc", p, origin, existing::replaced);
  chunk_data c = marked(p, 0, 4);
  c.status = {0, 5, 1, 9};
  c.exception = {0, 5, 8, 0};
  c.steps = {100, 200, 600, 0};
  const double before[] = {0.5, -2}, after[] = {0.25, 1.5};
  c.log.append(2, 3.5, 1, before, after);
  c.log.append(2, 4.5, 0, after, before);
  c.log.append(2, 5.5, 3, after, before);
  writer.write(c);
  writer.close(2);
  return dir / "mixed.nc";
}

TEST(show, summary) {
  const folder dir;
  const std::string file = mixed(dir).string();
  expect_in_order(shown({.file = file}),
                  {file, "model valve: A valve", "method dp5", "instances 4", "2 s on 8 lanes of AVX-512, saltus 1.2.3",
                   "finished 1 25.00 % reached the end", "stopped 1 25.00 %", "not_finite 1 25.00 %",
                   "not_run 1 25.00 %", "(rescued) 1 25.00 % of these; lanes gave up: not_located", "min mean max",
                   "steps 100 300.0 600",  // the mean over the three that ran
                   "damping = 1.25", "flow(instance) [m3 s-1] flow rate", "status(instance)", "max(lift)(instance)",
                   "lift(instance, time) [m] valve lift", "event_time(event)", "xarray"});
}

TEST(show, has_the_title_of_the_run_beside_the_model) {
  const folder dir;
  plan p = valve(3);
  p.title = "Valves, \"soft\"";
  write_marked(dir / "a.nc", p, 3);
  expect_in_order(shown({.file = (dir / "a.nc").string()}), {"model valve: Valves, \"soft\"", "method"});
  EXPECT_EQ(json::parse(shown({.file = (dir / "a.nc").string(), .json = true}))["title"], p.title);
}

TEST(show, summary_as_json) {
  const folder dir;
  const std::string text = shown({.file = mixed(dir).string(), .json = true});
  const json all = json::parse(text);
  EXPECT_EQ(all["counters"]["steps"], (json{{"min", 100.0}, {"mean", 300.0}, {"max", 600.0}}));
  EXPECT_EQ(all["instances"], 4);
  EXPECT_EQ(all["model"], "valve");
  EXPECT_EQ(all["rescued_from"], (json{{"not_located", 1}}));
  EXPECT_EQ(all["seed"], "18446744073709551615");
  EXPECT_EQ(all["status"]["finished"], 1);
  EXPECT_EQ(all["status"]["not_finite"], 1);
  const auto flow = std::find_if(all["variables"].begin(), all["variables"].end(),
                                 [](const json& variable) { return variable["name"] == "flow"; });
  ASSERT_NE(flow, all["variables"].end());
  EXPECT_EQ((*flow)["dimensions"], (json{"instance"}));
  // Keys come in the order of importance to a reader.
  expect_in_order(text,
                  {"\"file\":", "\"instances\":", "\"status\":", "\"counters\":", "\"variables\":", "\"model\":"});
}

TEST(show, one_instance) {
  const folder dir;
  expect_in_order(
      shown({.file = mixed(dir).string(), .instance = 2}),
      {"instance 2 of 4", "status stopped: the model or a terminal guard ended it",
       "rescue took over; lanes gave up with not_located: an event was detected but not located",
       "damping 1.25 damping", "flow 2001.125 [m3 s-1]", "final_lift 2005 [m]", "t_final 2008", "max(lift) 2009",
       "steps 600", "events: 3", "time guard lift before after velocity before after", "3.5 top 0.5 0.25 -2 1.5",
       "4.5 impact 0.25 0.5 1.5 -2", "5.5 pulse 0.25", "samples: 2", "time lift velocity force", "40 2010.00098"});
  const std::string failed = shown({.file = mixed(dir).string(), .instance = 1});
  expect_in_order(failed, {"status not_finite: right-hand side", "remedy look for a division by zero",
                           "rescue took over; lanes gave up with not_finite", "events: 0"});
}

/// Three instances of a model with constraints: finished, inconsistent, never begun.
fs::path constrained(const folder& dir) {
  const plan p = constrained_valve(3);
  netcdf_writer writer(dir / "constrained.nc", p, origin);
  chunk_data c = marked(p, 0, 3);
  c.status = {0, 16, 9};
  c.residual = {1.25e-9, 0.375, nan};
  c.residual_of = {1, 1, -1};
  writer.write(c);
  writer.close(2);
  return dir / "constrained.nc";
}

TEST(show, residuals) {
  const folder dir;
  const std::string file = constrained(dir).string();
  const auto text = [&](std::int64_t i) { return shown({.file = file, .instance = i}); };
  expect_in_order(text(0), {"status finished",
                            "residual 1.25e-09 in the equation of velocity, the largest after any step", "parameters"});
  expect_in_order(text(1), {"status inconsistent: no values of the algebraic states were found", "remedy",
                            "residual 0.375 in the equation of velocity, the worst", "parameters"});
  EXPECT_EQ(text(2).find("in the equation of"), std::string::npos) << "it has no residual";
  const json worst = json::parse(shown({.file = file, .instance = 1, .json = true}));
  EXPECT_EQ(worst["residual"], 0.375);
  EXPECT_EQ(worst["residual_of"], "velocity");
  EXPECT_EQ(worst["status"]["name"], "inconsistent");
  const json not_begun = json::parse(shown({.file = file, .instance = 2, .json = true}));
  EXPECT_EQ(not_begun["residual"], nullptr) << "it is NaN";
  EXPECT_EQ(not_begun["residual_of"], "");
  expect_in_order(shown({.file = file, .failed = true}),
                  {"instance flow residual of t_final status", "1 1001.125 0.375 velocity 1008 inconsistent",
                   "give better initial values"});
  const json failed = json::parse(shown({.file = file, .failed = true, .json = true}))["instances"][0];
  EXPECT_EQ(failed["instance"], 1);
  EXPECT_EQ(failed["residual"], 0.375);
  EXPECT_EQ(failed["residual_of"], "velocity");
  EXPECT_EQ(shown({.file = mixed(dir).string(), .instance = 1}).find("residual"), std::string::npos);
  EXPECT_EQ(shown({.file = mixed(dir).string(), .failed = true, .json = true}).find("residual"), std::string::npos);
}

TEST(show, constraints_that_depend_on_each_other) {
  const folder dir;
  plan p = valve(3);
  for (const char* name : {"rod", "pin", "slide"}) p.model.constraints.push_back({name, "m", "", true, false, false});
  netcdf_writer writer(dir / "a.nc", p, origin);
  chunk_data c = marked(p, 0, 3);
  c.status = {0, 16, 24};
  c.residual_of = {0, 2, 1};
  c.dependent = {0, 0b101, 0b111};
  writer.write(c);
  writer.close(3);
  const std::string file = (dir / "a.nc").string();
  EXPECT_EQ(shown({.file = file, .instance = 0}).find("depend on each other:"), std::string::npos);
  expect_in_order(shown({.file = file, .instance = 1}), {"status inconsistent", "depend on each other: rod, slide"});
  expect_in_order(shown({.file = file, .instance = 2}), {"status dead_point", "depend on each other: rod, pin, slide"});
  const json one = json::parse(shown({.file = file, .instance = 1, .json = true}));
  EXPECT_EQ(one["dependent"], (std::vector<std::string>{"rod", "slide"}));
  const json failed = json::parse(shown({.file = file, .failed = true, .json = true}))["instances"];
  EXPECT_EQ(failed[1]["dependent"], (std::vector<std::string>{"rod", "pin", "slide"}));
  const reader r(dir / "a.nc");
  EXPECT_EQ(r.integers("dependent"), (std::vector<long long>{0, 5, 7}));
  EXPECT_EQ(r.text("dependent", "flag_meanings"), "rod pin slide");
}

TEST(show, what_went_over_to_the_stiff_method) {
  const folder dir;
  write_marked(dir / "a.nc", stiff_valve(4), 4);
  const std::string file = (dir / "a.nc").string();
  expect_in_order(shown({.file = file}), {"method auto", "finished 4 100.00 %",
                                          "(stiff) 2 50.00 % of these; went over to "
                                          "rodas5p or radau5",
                                          "switched(instance) time at which the instance went over"});
  const json all = json::parse(shown({.file = file, .json = true}));
  EXPECT_EQ(all["method"], "auto");
  EXPECT_EQ(all["switched"], 2);
  expect_in_order(shown({.file = file, .instance = 3}), {"status finished", "stiff went over to radau5 at t = 3012"});
  expect_in_order(shown({.file = file, .instance = 1}), {"status finished", "stiff went over to rodas5p at t = 1012"});
  EXPECT_EQ(shown({.file = file, .instance = 2}).find("went over"), std::string::npos);
  EXPECT_EQ(json::parse(shown({.file = file, .instance = 3, .json = true}))["switched"], 3012.0);
  EXPECT_EQ(json::parse(shown({.file = file, .instance = 3, .json = true}))["switched_to"], "radau5");
  EXPECT_EQ(json::parse(shown({.file = file, .instance = 2, .json = true}))["switched"], nullptr) << "it is NaN";
  const std::string plain = shown({.file = mixed(dir).string()});
  EXPECT_EQ(plain.find("went over"), std::string::npos);
}

TEST(show, one_instance_as_json) {
  const folder dir;
  const json all = json::parse(shown({.file = mixed(dir).string(), .instance = 2, .json = true}));
  EXPECT_EQ(all["instance"], 2);
  EXPECT_EQ(all["status"]["name"], "stopped");
  EXPECT_EQ(all["exception"], "not_located");
  EXPECT_EQ(all["parameter"]["flow"], 2001.125);
  EXPECT_EQ(all["final"]["final_lift"], 2005.0);
  EXPECT_EQ(all["counter"]["steps"], 600);
  EXPECT_EQ(all["counter"]["undetermined"], 82);
  ASSERT_EQ(all["events"].size(), 3u);
  EXPECT_EQ(all["events"][0]["time"], 3.5);
  EXPECT_EQ(all["events"][0]["guard"], "top");
  EXPECT_EQ(all["events"][0]["before"]["lift"], 0.5);
  EXPECT_EQ(all["events"][0]["after"]["lift"], 0.25);
  EXPECT_EQ(all["events"][1]["guard"], "impact");
  EXPECT_EQ(all["events"][2]["guard"], "pulse");
  EXPECT_EQ(all["samples"]["time"].back(), 40.0);
}

TEST(show, failed_instances) {
  const folder dir;
  expect_in_order(shown({.file = mixed(dir).string(), .failed = true}),
                  {"1 of 4 instances failed, 1 did not finish", "instance flow t_final status",
                   "1 1001.125 1008 not_finite", "not_finite (1): right-hand side", "look for a division by zero"});
  const json all = json::parse(shown({.file = mixed(dir).string(), .failed = true, .json = true}));
  EXPECT_EQ(all["failed"], 1);
  EXPECT_EQ(all["not_finished"], 1);
  ASSERT_EQ(all["instances"].size(), 1u);
  const json& one = all["instances"][0];
  EXPECT_EQ(one["instance"], 1);
  EXPECT_EQ(one["status"], "not_finite");
  EXPECT_EQ(one["t_final"], 1008.0);
  EXPECT_EQ(one["inputs"], (json{{"flow", 1001.125}}));
  EXPECT_TRUE(one["remedy"].get<std::string>().starts_with("look for"));
}

TEST(show, many_failed_instances_are_counted) {
  const folder dir;
  const plan p = valve(100);
  {
    netcdf_writer writer(dir / "a.nc", p, origin);
    chunk_data c = marked(p, 0, 100);
    c.status.assign(100, 2);
    writer.write(c);
    writer.close(0);
  }
  const std::string text = shown({.file = (dir / "a.nc").string(), .failed = true});
  expect_in_order(text, {"100 of 100 instances failed", "49 49001.125", "and 50 more", "step_budget (100)"});
  EXPECT_EQ(text.find("50001.125"), std::string::npos);
}

TEST(show, refuses_what_it_cannot_show) {
  const folder dir;
  const std::string file = mixed(dir).string(), missing = (dir / "none.nc").string(), other = (dir / "other").string();
  const auto of = [](show_options o) { return complaint([&] { show(o, stderr); }); };
  EXPECT_EQ(of({.file = file, .instance = 4}).first, exit_usage);
  EXPECT_NE(of({.file = file, .instance = 4}).second.find("0 to 3"), std::string::npos);
  EXPECT_EQ(of({.file = file, .instance = -1}).first, exit_usage);
  EXPECT_EQ(of({.file = file, .instance = 0, .failed = true}).first, exit_usage);
  EXPECT_EQ(of({.file = missing}).first, exit_failure);
  EXPECT_EQ(of({.file = missing}).second, "cannot read " + missing + ": No such file or directory");
  std::ofstream(other) << "text";
  EXPECT_EQ(of({.file = other}).first, exit_failure);
  int foreign = -1;
  nc_create(other.c_str(), NC_NETCDF4 | NC_CLOBBER, &foreign);
  nc_close(foreign);
  EXPECT_EQ(of({.file = other}).first, exit_failure);
  EXPECT_NE(of({.file = other}).second.find("not a result of saltus"), std::string::npos);
}

TEST(show, tells_a_result_that_is_not_all_there_and_one_that_is_damaged) {
  const folder dir;
  const auto p = valve(2000);
  {
    netcdf_writer writer(dir / "a.nc", p, origin);
    writer.write(marked(p, 0, 1000));
    EXPECT_EQ(writer.keep("cannot write a.nc: No space left on device"), 1000);
  }
  const std::string part = (dir / "a.nc.part").string();
  expect_in_order(shown({.file = part}),
                  {"instances 2000", "state cut short: cannot write a.nc: No space left on device",
                   "finished 1000 50.00 %", "not_run 1000 50.00 %"});
  const json all = json::parse(shown({.file = part, .json = true}));
  EXPECT_EQ(all["model_hash"], "abc123");
  EXPECT_EQ(all["module_hash"], "def456");
  EXPECT_EQ(all["state"], "cut short: cannot write a.nc: No space left on device");
  EXPECT_TRUE(all.contains("settings"));
  write_marked(dir / "whole.nc", p, 2000);
  EXPECT_EQ(shown({.file = (dir / "whole.nc").string()}).find("\n  state "), std::string::npos) << "no state shown";
  expect_in_order(shown({.file = mixed(dir).string()}), {"state interrupted"});

  std::string bad = content(dir / "a.nc.part");
  const double one = mark(5, 1, 77);
  const std::size_t at = bad.find(std::string(reinterpret_cast<const char*>(&one), sizeof one));
  ASSERT_NE(at, std::string::npos);
  bad[at] = static_cast<char>(bad[at] ^ 1);
  std::ofstream(dir / "bad.nc", std::ios::binary) << bad;
  const auto [code, text] = complaint([&] { shown({.file = (dir / "bad.nc").string(), .instance = 77}); });
  EXPECT_EQ(code, exit_failure);
  EXPECT_NE(text.find("the file is damaged"), std::string::npos) << text;
}

/// A file with the marks of a result, two instances and three rows of events; `also` changes the definitions so far.
std::string like_a_result(
    const fs::path& path, const std::vector<long long>& status, const std::vector<long long>& rows,
    const std::function<void(int file, int instance)>& also = [](int, int) {}) {
  int file = -1, instance = -1, event = -1, id = -1;
  nc_create(path.c_str(), NC_NETCDF4 | NC_CLOBBER, &file);
  nc_put_att_text(file, NC_GLOBAL, "saltus_version", 3, "0.1");
  nc_def_dim(file, "instance", 2, &instance);
  nc_def_dim(file, "event", 3, &event);
  nc_def_var(file, "status", NC_INT64, 1, &instance, &id);
  nc_def_var(file, "event_row_size", NC_INT64, 1, &instance, &id);
  nc_def_var(file, "event_guard", NC_INT, 1, &event, &id);
  nc_def_var(file, "event_time", NC_DOUBLE, 1, &event, &id);
  also(file, instance);
  nc_put_var_longlong(file, 0, status.data());
  nc_put_var_longlong(file, 1, rows.data());
  nc_close(file);
  return path;
}

TEST(show, refuses_results_that_it_would_not_have_written) {
  const folder dir;
  const auto said = [&](const std::string& file, std::optional<std::int64_t> instance = {}) {
    return complaint([&] { shown({.file = file, .instance = instance}); }).second;
  };
  const fs::path file = dir / "a.nc";
  EXPECT_EQ(said(like_a_result(file, {0, 0}, {1, 2}), 1), "no error");
  EXPECT_NE(said(like_a_result(file, {0, 256}, {1, 2})).find("status of instance 1 is 256, and no status"),
            std::string::npos);
  EXPECT_NE(said(like_a_result(file, {-1, 0}, {1, 2})).find("status of instance 0 is -1"), std::string::npos);
  EXPECT_NE(said(like_a_result(file, {0, 0}, {1, 3}), 1).find("event_row_size does not fit the 3 rows"),
            std::string::npos);
  EXPECT_NE(said(like_a_result(file, {0, 0}, {-1, 2}), 1).find("event_row_size does not fit"), std::string::npos);
  const auto counter_in_a_square = [](int of, int instance) {
    int id = -1;
    const int square[] = {instance, instance};
    nc_def_var(of, "steps", NC_INT64, 2, square, &id);
    nc_put_att_text(of, id, "role", 7, "counter");
  };
  EXPECT_NE(
      said(like_a_result(file, {0, 0}, {1, 2}, counter_in_a_square)).find("steps is not what a result of saltus has"),
      std::string::npos);
  // A list in place of one number once overwrote the memory behind that number.
  const auto list_of_seeds = [](int of, int) {
    const unsigned long long seeds[] = {1, 2, 3, 4};
    const double seconds[] = {1.0, 2.0, 3.0};
    nc_put_att_ulonglong(of, NC_GLOBAL, "seed", NC_UINT64, 4, seeds);
    nc_put_att_double(of, NC_GLOBAL, "wall_time_s", NC_DOUBLE, 3, seconds);
  };
  EXPECT_EQ(said(like_a_result(file, {0, 0}, {1, 2}, list_of_seeds)), "no error");
}

// ------------------------------------------------------------------------------------------------------------ progress

TEST(show, a_pipe_is_no_file_to_wait_for) {
  const folder dir;
  ASSERT_EQ(::mkfifo((dir / "pipe.nc").c_str(), 0600), 0);
  const auto [code, said] = complaint([&] { show({.file = dir / "pipe.nc"}, stdout); });
  EXPECT_EQ(code, exit_failure);
  EXPECT_EQ(said, (dir / "pipe.nc").string() + ": is a pipe: write it to a file, not a result file");
}

TEST(progress, line) {
  EXPECT_EQ(progress_line("valve", 250, 1000, 30), "valve  250/1000  25.0 %  8.333/s  0:30 elapsed  1:30 left");
  EXPECT_EQ(progress_line("valve", 750, 1000, 30, "", 500),
            "valve  750/1000  75.0 %  8.333/s  0:30 elapsed  0:30 left");
  EXPECT_EQ(progress_line("valve", 500, 1000, 30, "", 500), "valve  500/1000  50.0 %  0:30 elapsed");
  EXPECT_EQ(progress_line("valve", 0, 1000, 0), "valve  0/1000  0.0 %  0:00 elapsed");
  EXPECT_EQ(progress_line("valve", 1000, 1000, 7384), "valve  1000/1000  100.0 %  0.1354/s  2:03:04 elapsed");
}

std::string off_terminal(bool quiet) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* out = open_memstream(&text, &size);
  {
    progress bar(4000, "valve", quiet, out);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 1000; ++i) bar.add(1);
      });
    for (std::thread& t : threads) t.join();
    bar.finish();
    bar.finish();
  }
  std::fclose(out);
  const std::string result(text, size);
  std::free(text);
  return result;
}

TEST(progress, off_a_terminal_one_line_at_the_end) {
  const std::string text = off_terminal(false);
  EXPECT_EQ(text.find("valve  4000/4000  100.0 %"), 0u) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << "ten seconds have not passed\n" << text;
  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_EQ(off_terminal(true), "");
}

std::string on_terminal(int columns) {
  int master = -1, slave = -1;
  winsize size{24, static_cast<unsigned short>(columns), 0, 0};
  EXPECT_EQ(openpty(&master, &slave, nullptr, nullptr, &size), 0);
  std::FILE* out = fdopen(slave, "w");
  {
    progress bar(100, "valve", false, out);
    for (int i = 0; i < 100; ++i) bar.add(1);
  }
  std::fclose(out);
  std::string text;
  char some[4096];
  for (ssize_t length; (length = read(master, some, sizeof some)) > 0;)
    text.append(some, static_cast<std::size_t>(length));
  close(master);
  return text;
}

TEST(progress, a_note_is_shown_while_it_runs) {
  int master = -1, slave = -1;
  ASSERT_EQ(openpty(&master, &slave, nullptr, nullptr, nullptr), 0);
  std::FILE* out = fdopen(slave, "w");
  {
    progress bar(100, "valve", false, out, [] { return std::string("1 instance (7) for 1:20"); });
    bar.add(99);
  }
  std::fclose(out);
  std::string text;
  char some[4096];
  for (ssize_t length; (length = read(master, some, sizeof some)) > 0;)
    text.append(some, static_cast<std::size_t>(length));
  close(master);
  EXPECT_NE(text.find("valve  99/100  99.0 %  1 instance (7) for 1:20  0:00 elapsed  0:00 left"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("1:20", text.find("1:20") + 1), std::string::npos) << "the last line describes a finished run";
}

TEST(progress, on_a_terminal_a_bar) {
  setenv("TERM", "xterm", 1);
  unsetenv("NO_COLOR");
  std::string text = on_terminal(120);
  EXPECT_NE(text.find("\rvalve  100/100  100.0 %"), std::string::npos) << text;
  EXPECT_NE(text.find("\033[32m" + std::string(40, '=') + "\033[0m"), std::string::npos) << text;
  EXPECT_LT(std::count(text.begin(), text.end(), '\r'), 20) << "at most ten updates a second";
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);

  setenv("NO_COLOR", "1", 1);
  text = on_terminal(120);
  EXPECT_NE(text.find(std::string(40, '=')), std::string::npos) << text;
  EXPECT_EQ(text.find("\033[32m"), std::string::npos) << text;

  text = on_terminal(20);
  EXPECT_NE(text.find("\rvalve  100/100  100."), std::string::npos) << "cut to the width\n" << text;
  EXPECT_EQ(text.find("elapsed"), std::string::npos) << text;

  setenv("TERM", "dumb", 1);
  EXPECT_EQ(on_terminal(120).find("\033"), std::string::npos);
}

}  // namespace
}  // namespace saltus::host::result_test
