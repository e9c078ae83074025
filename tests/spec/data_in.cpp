// Values from places other than the spec: discrete variables, NetCDF files, standard input, results that a run continues from.
#include <cmath>
#include <iostream>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <netcdf.h>

#include "ensemble/sampler.hpp"
#include "spec/csv.hpp"
#include "valve.hpp"

namespace saltus::host::spec_test {
namespace {

const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();

/// The relief valve with two discrete variables.
model switched_valve() {
  model m = relief_valve();
  m.discretes = {{"resting", 0.0, "1", ""}, {"gear", 1.0, "1", ""}};
  return m;
}

/// A NetCDF file of columns along dimensions ("instance" by default), and of scalars (one number).
void write_netcdf(const std::string& file, const std::map<std::string, std::vector<double>>& columns,
                  const std::map<std::string, std::string>& texts = {}, const std::string& dimension = "instance") {
  int f = -1, d = -1;
  ASSERT_EQ(nc_create(file.c_str(), NC_NETCDF4 | NC_CLOBBER, &f), NC_NOERR);
  std::size_t length = 0;
  for (const auto& [name, numbers] : columns) length = std::max(length, numbers.size());
  nc_def_dim(f, dimension.c_str(), length, &d);
  for (const auto& [name, text] : texts) nc_put_att_text(f, NC_GLOBAL, name.c_str(), text.size(), text.data());
  for (const auto& [name, numbers] : columns) {
    int v = -1;
    nc_def_var(f, name.c_str(), NC_DOUBLE, numbers.size() == 1 ? 0 : 1, &d, &v);
    nc_put_var_double(f, v, numbers.data());
  }
  ASSERT_EQ(nc_close(f), NC_NOERR);
}

/// A result of the valve with three instances.
void write_result(const std::string& file, const std::map<std::string, std::vector<double>>& other = {}) {
  std::map<std::string, std::vector<double>> columns = {{"damping", {1.5}},
                                                        {"flow", {1, 2, 3}},
                                                        {"final_lift", {10, 20, 30}},
                                                        {"final_velocity", {-1, -2, -3}},
                                                        {"final_pressure", {4, 5, 6}},
                                                        {"final_resting", {0, 1, 0}},
                                                        {"final_gear", {2, 2, 3}},
                                                        {"t_begin", {0}},
                                                        {"t_final", {7, 7, 7}},
                                                        {"status", {0, 0, 1}}};
  for (const auto& [name, numbers] : other) columns[name] = numbers;
  write_netcdf(file, columns, {{"saltus_version", "0.1.0"}, {"model", "relief_valve"}});
}

std::vector<double> column(const std::vector<double>& all, std::size_t j, std::int64_t count) {
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(j) * count;
  return {begin, begin + count};
}

TEST_F(spec, a_discrete_variable_is_reduced_as_an_output) {
  EXPECT_EQ(refused(valve + "[output]\nreduce = [\"integral(gear)\"]\n", {}, switched_valve()),
            "spec.toml:3:11: output.reduce[0] = \"integral(gear)\": gear is a discrete variable, and reductions are of "
            "states and outputs: make it an output, such as out[gear_now] = at[gear]");
}

TEST_F(spec, a_discrete_variable_begins_as_the_spec_says) {
  const model m = switched_valve();
  const plan fixed = planned(valve + "[initial]\ngear = 3\nlift = 0.5\n", {}, m);
  EXPECT_TRUE(std::isnan(fixed.discrete.at(0)));
  EXPECT_EQ(fixed.discrete.at(1), 3.0);
  EXPECT_EQ(fixed.initial.at(0), 0.5);
  EXPECT_EQ(planned(valve, {{"--set", "gear=4"}}, m).discrete.at(1), 4.0);

  const plan varied =
      planned(valve + "[sweep]\ngear = [1, 2, 3]\n[sample]\ncount = 2\nresting = { discrete = [0, 1] }\n", {}, m);
  columns made;
  sampler(varied).fill(0, 6, made);
  EXPECT_EQ(column(made.discrete, 1, 6), (std::vector<double>{1, 1, 2, 2, 3, 3}));
  for (const double value : column(made.discrete, 0, 6)) EXPECT_TRUE(value == 0.0 || value == 1.0);
  // Without any, no column appears, and random values of others are unchanged.
  const plan none = planned(valve + "[sample]\ncount = 2\nflow = { uniform = [0, 1] }\n", {}, m);
  const plan some = planned(valve + "[initial]\ngear = 2\n[sample]\ncount = 2\nflow = { uniform = [0, 1] }\n", {}, m);
  columns without, with;
  sampler(none).fill(0, 2, without);
  sampler(some).fill(0, 2, with);
  EXPECT_TRUE(without.discrete.empty());
  EXPECT_EQ(with.parameters, without.parameters);
  EXPECT_TRUE(std::isnan(with.discrete.at(0)));

  EXPECT_EQ(refused(valve + "[initial]\ngeer = 3\n", {}, m),
            "spec.toml:3:1: initial.geer = 3: unknown key; did you mean gear? allowed: lift, velocity, pressure, "
            "resting, gear, from");
  EXPECT_EQ(
      refused(valve + "[initial]\ngear = 3\n[sweep]\ngear = [1]\n", {}, m),
      "spec.toml:5:8: sweep.gear = [1]: gear must have one value, but has another at spec.toml:3:8 (initial.gear)");
  EXPECT_EQ(refused(valve + "[sweep]\ngeer = [1]\n", {}, m).substr(0, 99),
            "spec.toml:3:1: sweep.geer = [1]: not a parameter, state or discrete variable of relief_valve; did y");
}

TEST_F(spec, a_table_may_be_a_netcdf_file) {
  write_netcdf("runs.nc", {{"flow", {1, 2, 3}}, {"lift", {4, 5, 6}}, {"weather", {7, 8, 9}}, {"damping", {1}}});
  const std::string table = valve + "[sweep]\ntable = \"runs.nc\"\n";
  const plan p = planned(table);  // columns unknown to the model and single numbers are ignored
  ASSERT_EQ(p.axes.size(), 1u);
  ASSERT_EQ(p.axes[0].columns.size(), 2u);
  EXPECT_EQ(list_of(p.axes[0], 0), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(list_of(p.axes[0], 1), (std::vector<double>{4, 5, 6}));
  EXPECT_EQ(p.inputs.back(), "runs.nc");
  EXPECT_EQ(planned(table, {{"-n", "2"}}).count, 2);
  EXPECT_EQ(planned(valve + "[sweep]\nflow = { csv = \"runs.nc\", column = \"weather\" }\n").count, 3);
  EXPECT_EQ(
      refused(valve + "[sweep]\ntable = { csv = \"runs.nc\", columns = [\"flaw\"] }\n"),
      "spec.toml:3:17: sweep.table.csv = \"runs.nc\": runs.nc has no variable flaw of one dimension; did you mean "
      "flow? allowed: flow, lift, weather");
  write_netcdf("bad.nc", {{"flow", {1, nan, 3}}});
  EXPECT_EQ(refused(valve + "[sweep]\ntable = \"bad.nc\"\n"),
            "spec.toml:3:9: sweep.table = \"bad.nc\": flow of bad.nc must have finite numbers; number 1 is nan");
  write_netcdf("other.nc", {{"weather", {1, 2}}});
  EXPECT_EQ(refused(valve + "[sweep]\ntable = \"other.nc\"\n"),
            "spec.toml:3:9: sweep.table = \"other.nc\": other.nc has no variable of one dimension that the model has a "
            "quantity for; allowed: weather");
}

TEST_F(spec, a_table_may_come_by_standard_input) {
  std::istringstream text("flow,lift\n1,10\n2,20\n");
  auto* const before = std::cin.rdbuf(text.rdbuf());
  const plan p = planned(valve + "[sweep]\ntable = \"-\"\n");
  std::cin.rdbuf(before);
  EXPECT_EQ(p.count, 2);
  EXPECT_TRUE(p.reads_standard_input);
  EXPECT_EQ(list_of(p.axes[0], 1), (std::vector<double>{10, 20}));
  // Standard input is read once, for all that need it.
  EXPECT_EQ(planned(valve, {{"--set", "sweep.table=-"}, {"-n", "1"}}).count, 1);
  EXPECT_EQ(standard_input(), "flow,lift\n1,10\n2,20\n");
}

TEST_F(spec, a_run_goes_on_from_a_result) {
  write_result("a.nc");
  const model m = switched_valve();
  const std::string from = valve + "[initial]\nfrom = \"a.nc\"\n";
  const auto made = [&](const plan& p) {
    columns c;
    sampler(p).fill(0, p.count, c);
    return c;
  };
  const plan p = planned("t = 9\n" + from, {}, m);
  EXPECT_EQ(p.count, 3);
  EXPECT_TRUE(p.warnings.empty());
  const columns c = made(p);
  EXPECT_EQ(column(c.parameters, 0, 3), (std::vector<double>{1.5, 1.5, 1.5}));
  EXPECT_EQ(column(c.parameters, 1, 3), (std::vector<double>{10, 10, 10})) << "not in the file: a default";
  EXPECT_EQ(column(c.parameters, 2, 3), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(column(c.initial, 0, 3), (std::vector<double>{10, 20, 30}));
  EXPECT_EQ(column(c.initial, 2, 3), (std::vector<double>{4, 5, 6}));
  EXPECT_EQ(column(c.discrete, 1, 3), (std::vector<double>{2, 2, 3}));
  EXPECT_EQ(c.t_begin, (std::vector<double>{7, 7, 7}));
  EXPECT_EQ(c.t_end, (std::vector<double>{9, 9, 9}));
  EXPECT_EQ(p.inputs.back(), "a.nc");

  // Values in the spec win; a sweep makes a product, with instances first.
  const plan branched =
      planned("t = [0, 5]\n" + from + "lift = 0.25\n[parameters]\npreload = 8\n[sweep]\nflow = [100, 200]\n", {}, m);
  EXPECT_EQ(branched.count, 6);
  const columns b = made(branched);
  EXPECT_EQ(column(b.parameters, 2, 6), (std::vector<double>{100, 200, 100, 200, 100, 200}));
  EXPECT_EQ(column(b.initial, 0, 6), (std::vector<double>(6, 0.25)));
  EXPECT_EQ(column(b.initial, 1, 6), (std::vector<double>{-1, -1, -2, -2, -3, -3}));
  EXPECT_EQ(b.t_begin, (std::vector<double>(6, 0.0)));
  // Uses only the first instances, also with flags alone.
  EXPECT_EQ(planned("t = 9\n" + from, {{"-n", "2"}}, m).count, 2);
  EXPECT_EQ(made(planned("t = 9\n" + valve, {{"--set", "initial.from=a.nc"}, {"-n", "2"}}, m)).initial.at(1), 20.0);

  // Each instance begins at its end time; an instance that left no state cannot begin, and a message says so.
  write_result("b.nc", {{"t_final", {3, 7, nan}}, {"final_lift", {10, 20, nan}}, {"final_velocity", {1, 2, inf}}});
  const plan apart = planned(replaced("t = 9\n" + from, "a.nc", "b.nc"), {}, m);
  const columns e = made(apart);
  EXPECT_EQ(e.t_begin, (std::vector<double>{3, 7, 0}));
  EXPECT_EQ(column(e.initial, 0, 3), (std::vector<double>{10, 20, inf}));
  ASSERT_EQ(apart.warnings.size(), 1u);
  EXPECT_EQ(apart.warnings[0],
            "spec.toml:4:8: initial.from = \"b.nc\": 1 of 3 instances have left no state to go on from, and end as "
            "bad_start; the first is 2");
}

TEST_F(spec, a_result_that_a_run_cannot_go_on_from_is_refused) {
  write_result("a.nc");
  const model m = switched_valve();
  const std::string from = valve + "[initial]\nfrom = \"a.nc\"\n", place = "spec.toml:3:8: initial.from = \"a.nc\": ";
  EXPECT_EQ(refused(from, {}, m),
            place + "t must say where the run ends, such as t = 14: the instances of a.nc ended at 7");
  EXPECT_EQ(refused("t = 7\n" + from, {}, m),
            "spec.toml:1:5: t = 7: must lie behind the last times of all instances of a.nc: instance 0 ended at 7");
  EXPECT_EQ(refused(valve + "[initial]\nfrom = 3\n", {}, m),
            "spec.toml:3:8: initial.from = 3: must be the path of a result file, or { file, count }");
  EXPECT_EQ(refused(replaced(from, "\"a.nc\"", "{ file = \"a.nc\", count = 4 }"), {}, m),
            "spec.toml:3:33: initial.from.count = 4: must be at most 3, the number of rows of a.nc");
  model other = m;
  other.states[1].name = "speed";
  EXPECT_EQ(refused("t = 9\n" + from, {}, other),
            "spec.toml:4:8: initial.from = \"a.nc\": a.nc has no final_speed, from which speed could go on: give it a "
            "value in [initial]");
  EXPECT_EQ(planned("t = 9\n" + from + "speed = 0\n", {}, other).count, 3);
  other = m;
  other.name = "safety_valve";
  EXPECT_EQ(
      planned("t = 9\n" + from, {}, other).warnings.at(0),
      "spec.toml:4:8: initial.from = \"a.nc\": a.nc is a result of relief_valve, not of safety_valve: what has the "
      "same name goes on");
  write_netcdf("a.nc", {{"flow", {1, 2}}});
  EXPECT_EQ(refused(from, {}, m), place + "must be a result of saltus");
  write("a.nc", "flow\n1\n");
  EXPECT_EQ(refused(from, {}, m).substr(0, place.size() + 17), place + "cannot read a.nc:");
}

TEST_F(spec, all_that_is_wrong_is_told_at_once) {
  EXPECT_EQ(
      refused(valve + "rtol = -1\nmethod = \"rodas5\"\nevent_tool = 1\n[sweep]\nflaw = [1]\nlift = { from = 1 }\n"
                      "[output]\nsamples = { count = 1 }\nevents = 3\n[run]\nthreads = -2\n"),
      "spec.toml:4:1: event_tool = 1: unknown key; did you mean event_tol? allowed: model, method, t, rtol, atol, "
      "norm, controller, event_tol, first_step, max_step, step, "
      "max_steps, max_events, history, precision, detection, "
      "guards_in_error, concurrency, zeno, rescue, consistency, coordinates, structure, parameters, "
      "initial, sweep, sample, sensitivity, lyapunov, gradient, output, run, tables, records\n"
      "spec.toml:2:8: rtol = -1: must be a positive number\n"
      "spec.toml:3:10: method = \"rodas5\": unknown word; did you mean rodas5p? allowed: kutta3, bs3, rk4, rkf45, "
      "rkf78, dp5, tsit5, dop853, rdpk510, taylor8, taylor12, taylor16, taylor20, trapezoid, sdirk4, esdirk4, "
      "rodas4, rodas5p, radau5, radau9, radau13, infltrap, inflsdirk4, inflesdirk4, taylor, auto\n"
      "spec.toml:6:1: sweep.flaw = [1]: not a parameter or state of relief_valve; did you mean flow? allowed: "
      "zip, table, parameters, initial, damping, preload, flow, compressibility, restitution, lift, velocity, "
      "pressure, t_begin, t_end\n"
      "spec.toml:7:8: sweep.lift.to is missing: must be the last value of the range\n"
      "spec.toml:9:21: output.samples.count = 1: must be a whole number from 2 to 10000000\n"
      "spec.toml:10:10: output.events = 3: must be true or false\n"
      "spec.toml:12:11: run.threads = -2: must be a whole number from 0 to 4096");
  // Errors that the first mistake causes are not reported: rk4 needs a step.
  EXPECT_EQ(refused(valve + "method = \"rk4\"\nstep = 0\n"), "spec.toml:3:8: step = 0: must be a positive number");
  EXPECT_EQ(refused(valve, {{"--set", "rtool=1"}, {"--set", "flaw=1"}}).find("\n--set flaw=1: flaw = 1: unknown key"),
            refused(valve, {{"--set", "rtool=1"}}).size());
}

TEST_F(spec, a_number_without_its_zero_is_told_what_to_write) {
  const auto ends = [](const std::string& message, const std::string& end) {
    EXPECT_TRUE(message.ends_with(end)) << message;
  };
  ends(refused(valve + "rtol = .5\n"), "; write 0.5");
  ends(refused(valve + "rtol = 5.\n"), "; write 5.0");
  ends(refused(valve + "t = [0.0, -.25e3]\n"), "; write -0.25e3");
  EXPECT_EQ(refused(valve, {{"--set", "rtol=.5"}}),
            "--set rtol=.5: rtol = \".5\": must be a positive number; write 0.5");
  EXPECT_EQ(refused(valve + "rtol = \"1e-3\"\n"),
            "spec.toml:2:8: rtol = \"1e-3\": must be a positive number; write 0.001");
}

}  // namespace
}  // namespace saltus::host::spec_test
