// The spec: what a good one becomes, and what a bad one is told.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "result/provenance.hpp"
#include "spec/spec.hpp"

namespace saltus::host {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

/// The names of the relief valve, and an output for reductions.
model relief_valve() {
  model valve;
  valve.name = "relief_valve";
  valve.states = {{"lift", 0.2, "1", ""}, {"velocity", 0, "1", ""}, {"pressure", 0, "1", ""}};
  valve.parameters = {{"damping", 1.25, "1", ""},
                      {"preload", 10, "1", ""},
                      {"flow", 4, "1", ""},
                      {"compressibility", 20, "1", ""},
                      {"restitution", 0.8, "1", ""}};
  valve.outputs = {{"power", 0, "1", ""}};
  valve.t_begin = 0;
  valve.t_end = 40;
  return valve;
}

/// The relief valve with other equations: with states that are algebraic, of this index, from the second on.
model valve_with(abi::equations equations, int index = 0, bool singular_mass = false) {
  model valve = relief_valve();
  valve.equations = equations;
  valve.singular_mass = singular_mass;
  for (std::size_t i = 1; i < valve.states.size(); ++i) valve.states[i].index = index;
  return valve;
}

/// A folder of its own for each test; the current folder while the test runs, so that messages have short paths.
class spec : public testing::Test {
 protected:
  void SetUp() override {
    home_ = std::filesystem::current_path();
    std::string pattern = (std::filesystem::temp_directory_path() / "saltus_spec_XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    std::filesystem::current_path(folder_);
  }
  void TearDown() override {
    std::filesystem::current_path(home_);
    std::filesystem::remove_all(folder_);
  }

  static void write(const std::string& file, const std::string& text) { std::ofstream(file, std::ios::binary) << text; }

  static plan planned(const std::string& text, std::vector<flag> flags = {}, const model& m = relief_valve()) {
    write("spec.toml", text);
    return validate(read_spec("spec.toml", std::move(flags)), m);
  }

  /// The message that the spec is refused with.
  static std::string refused(const std::string& text, std::vector<flag> flags = {}, const model& m = relief_valve()) {
    try {
      planned(text, std::move(flags), m);
    } catch (const error& e) {
      EXPECT_EQ(e.exit_code, 2);
      return e.what();
    }
    return "accepted";
  }

 private:
  std::filesystem::path home_, folder_;
};

/// What a column of an axis holds.
const ranged& range_of(const axis& axis) { return std::get<ranged>(axis.columns.at(0).values); }
const std::vector<double>& list_of(const axis& axis, int column = 0) {
  return std::get<listed>(axis.columns.at(column).values).values;
}

const std::string valve = "model = \"relief_valve\"\n";

// ---- good specs

TEST_F(spec, the_example_of_the_manual) {
  const plan p = planned(R"toml(model  = "relief_valve"            # a built-in name, or "./my_model.hpp"
method = "dp5"
t      = [0.0, 40.0]
rtol   = 1e-10
atol   = 1e-10
[sweep]
flow = { from = 0.2, to = 10.0, count = 100000 }
[sample]
count = 1000
seed  = 7
restitution = { normal = [0.8, 0.05], min = 0.0, max = 1.0 }
[initial]
lift = 0.2
[output]
file    = "valve.nc"
samples = { count = 401 }
events  = true
reduce  = ["max(pressure)"]
[run]
backend = "auto"
threads = 2
)toml");
  EXPECT_EQ(p.model.name, "relief_valve");
  EXPECT_EQ(p.method, "dp5");
  EXPECT_EQ(p.t_begin, 0.0);
  EXPECT_EQ(p.t_end, 40.0);
  EXPECT_EQ(p.rtol, 1e-10);
  EXPECT_EQ(p.atol, std::vector<double>(3, 1e-10));
  EXPECT_EQ(p.parameters, (std::vector<double>{1.25, 10, 4, 20, 0.8}));
  EXPECT_EQ(p.initial[0], 0.2);
  EXPECT_TRUE(std::isnan(p.initial[1]) && std::isnan(p.initial[2]));

  ASSERT_EQ(p.axes.size(), 1u);
  EXPECT_EQ(p.axes[0].count, 100000);
  EXPECT_EQ(p.axes[0].columns[0].what.which, target::kind::parameter);
  EXPECT_EQ(p.axes[0].columns[0].what.index, 2);
  EXPECT_EQ(p.axes[0].columns[0].what.name, "flow");
  EXPECT_EQ(range_of(p.axes[0]).from, 0.2);
  EXPECT_EQ(range_of(p.axes[0]).to, 10.0);
  EXPECT_FALSE(range_of(p.axes[0]).logarithmic);

  ASSERT_EQ(p.random.size(), 1u);
  EXPECT_EQ(p.random[0].what.index, 4);
  EXPECT_EQ(p.random[0].drawn_from.which, distribution::kind::normal);
  EXPECT_EQ(p.random[0].drawn_from.a, 0.8);
  EXPECT_EQ(p.random[0].drawn_from.b, 0.05);
  EXPECT_EQ(p.random[0].drawn_from.min, 0.0);
  EXPECT_EQ(p.random[0].drawn_from.max, 1.0);
  EXPECT_EQ(p.samples, 1000);
  EXPECT_EQ(p.seed, 7u);
  EXPECT_EQ(p.count, 100'000'000);

  EXPECT_EQ(p.file, "valve.nc");
  EXPECT_EQ(p.sample_count, 401);
  EXPECT_TRUE(p.sample_times.empty());
  EXPECT_TRUE(p.log_events);
  ASSERT_EQ(p.reductions.size(), 1u);
  EXPECT_EQ(p.reductions[0].which, reduction::kind::max);
  EXPECT_FALSE(p.reductions[0].of_output);
  EXPECT_EQ(p.reductions[0].index, 2);
  EXPECT_EQ(p.reductions[0].name, "max(pressure)");
  EXPECT_EQ(p.backend, "auto");
  EXPECT_EQ(p.threads, 2);
}

TEST_F(spec, a_model_alone_gets_the_defaults) {
  const plan p = validate(from_model("relief_valve"), relief_valve());
  EXPECT_EQ(p.method, "dp5");
  EXPECT_EQ(p.t_end, 40);
  EXPECT_EQ(p.atol, std::vector<double>(3, p.rtol));
  EXPECT_EQ(p.count, 1);
  EXPECT_TRUE(p.file.empty());
  EXPECT_EQ(p.text, "model = \"relief_valve\"\n");
  EXPECT_FALSE(p.backward);
  EXPECT_EQ(p.detection, "hermite");
  EXPECT_EQ(p.concurrency_time, 0);
  EXPECT_EQ(p.zeno, 1e-7);
  EXPECT_TRUE(p.rescue);
  EXPECT_EQ(p.inject_exceptions, 0);
}

TEST_F(spec, every_top_level_key_arrives) {
  const plan p = planned(valve + R"toml(method = "bs3"
t = [1, 3]
rtol = 1e-4
atol = { pressure = 1e-5, default = 1e-7 }
event_tol = 1e-12
first_step = 0.125
max_step = 0.5
step = 0.25
controller = "h211b"
norm = "compere"
precision = "float"
max_steps = 1e4
max_events = 99
detection = "certified"
guards_in_error = false
concurrency = { time = 1e-7, value = 1e-6 }
zeno = 0
rescue = false
inject_exceptions = 0.125
[output]
reduce = ["min(lift)", "integral(power)", "mean(velocity)"]
compression = 9
[run]
backend = "cpu"
lanes = 8
chunk = 4096
allowed_failed = 0.25
)toml");
  EXPECT_EQ(p.method, "bs3");
  EXPECT_EQ(p.t_begin, 1);
  EXPECT_EQ(p.t_end, 3);
  EXPECT_EQ(p.rtol, 1e-4);
  EXPECT_EQ(p.atol, (std::vector<double>{1e-7, 1e-7, 1e-5}));
  EXPECT_EQ(p.event_tol, 1e-12);
  EXPECT_EQ(p.first_step, 0.125);
  EXPECT_EQ(p.max_step, 0.5);
  EXPECT_EQ(p.fixed_step, 0.25);
  EXPECT_EQ(p.controller, "h211b");
  EXPECT_EQ(p.norm, "compere");
  EXPECT_EQ(p.precision, "float");
  EXPECT_EQ(p.max_steps, 10000);
  EXPECT_EQ(p.max_events, 99);
  EXPECT_EQ(p.detection, "certified");
  EXPECT_EQ(p.concurrency_time, 1e-7);
  EXPECT_EQ(p.concurrency_value, 1e-6);
  EXPECT_EQ(p.zeno, 0);
  EXPECT_FALSE(p.rescue);
  EXPECT_EQ(p.inject_exceptions, 0.125);
  EXPECT_FALSE(p.guards_in_error);
  EXPECT_TRUE(planned(valve + "guards_in_error = true\n").guards_in_error);
  ASSERT_EQ(p.reductions.size(), 3u);
  EXPECT_EQ(p.reductions[1].which, reduction::kind::integral);
  EXPECT_TRUE(p.reductions[1].of_output);
  EXPECT_EQ(p.reductions[1].index, 0);
  EXPECT_EQ(p.reductions[2].index, 1);
  EXPECT_EQ(p.compression, 9);
  EXPECT_EQ(p.backend, "cpu");
  EXPECT_EQ(p.lanes, 8);
  EXPECT_EQ(p.chunk, 4096);
  EXPECT_EQ(p.allowed_failed, 0.25);
}

TEST_F(spec, devices_are_all_or_some_and_share_a_queue_with_the_cpu_if_bits_do_not_depend_on_who_takes_what) {
  EXPECT_TRUE(planned(valve).devices.empty());
  EXPECT_TRUE(planned(valve + "[run]\ndevices = \"all\"\n").devices.empty());
  auto everywhere = relief_valve();
  everywhere.arithmetic = true;
  const auto all = planned(valve + "[run]\nbackend = \"all\"\ndevices = [2, 0]\n", {}, everywhere);
  EXPECT_EQ(all.backend, "all");
  EXPECT_EQ(all.devices, (std::vector<int>{2, 0}));
  EXPECT_EQ(planned(valve, {{"--devices", "0,1"}}).devices, (std::vector<int>{0, 1}));
  EXPECT_TRUE(planned(valve, {{"--devices", "0"}, {"--devices", "all"}}).devices.empty());
  auto here = everywhere;
  here.arithmetic = false;
  EXPECT_EQ(refused(valve + "[run]\nbackend = \"all\"\n", {}, here),
            "spec.toml:3:11: run.backend = \"all\": must be cpu or cuda: relief_valve calls functions whose last bits "
            "differ between them");
}

TEST_F(spec, the_equations_choose_the_method_unless_one_is_given) {
  const auto method = [](const model& m) { return validate(from_model("relief_valve"), m).method; };
  EXPECT_EQ(method(relief_valve()), "dp5");
  EXPECT_EQ(method(valve_with(abi::semi_explicit, 1)), "rodas5p");
  EXPECT_EQ(method(valve_with(abi::with_mass)), "rodas5p");
  EXPECT_EQ(method(valve_with(abi::with_mass, 1)), "rodas5p");
  EXPECT_EQ(method(valve_with(abi::with_mass, 0, true)), "rodas5p");
  EXPECT_EQ(method(valve_with(abi::implicit)), "radau5");
  EXPECT_EQ(method(valve_with(abi::implicit, 1)), "radau5");
  EXPECT_EQ(method(valve_with(abi::semi_explicit, 2)), "radau5");
  EXPECT_EQ(planned(valve + "method = \"sdirk4\"\n", {}, valve_with(abi::implicit, 1)).method, "sdirk4");
  // An implicit method solves what an explicit one does.
  for (const char* name : {"trapezoid", "sdirk4", "esdirk4", "rodas4", "rodas5p", "radau5"})
    EXPECT_EQ(planned(valve, {{"--method", name}}).method, name);
}

TEST_F(spec, auto_is_an_explicit_method_and_an_implicit_one) {
  const plan p = planned(valve + "method = \"auto\"\n");
  EXPECT_EQ(p.method, "dp5");
  EXPECT_EQ(p.stiff_method, "rodas5p");
  EXPECT_EQ(method_name(p), "auto");
  EXPECT_EQ(p.text, "model = \"relief_valve\"\nmethod = \"auto\"\n");
  EXPECT_EQ(refused(valve + "method = \"auto\"\nstep = 0.1\n"),
            "spec.toml:3:8: step = 0.1: must be left out with the method auto, which goes by the steps that the error "
            "control asks for");
  const plan single = planned(valve + "method = \"rodas5p\"\n");
  EXPECT_EQ(single.stiff_method, "");
  EXPECT_EQ(method_name(single), "rodas5p");
}

TEST_F(spec, consistency_is_for_models_with_constraints) {
  for (const auto& m : {valve_with(abi::semi_explicit, 1), valve_with(abi::semi_explicit, 2), valve_with(abi::implicit),
                        valve_with(abi::with_mass, 1), valve_with(abi::with_mass, 0, true)}) {
    EXPECT_EQ(planned(valve, {}, m).consistency, abi::algebraic);
    EXPECT_EQ(planned(valve + "consistency = \"algebraic\"\n", {}, m).consistency, abi::algebraic);
    if (m.equations == abi::semi_explicit) {
      EXPECT_EQ(planned(valve + "consistency = \"nearest\"\n", {}, m).consistency, abi::nearest);
    }
    EXPECT_EQ(planned(valve + "consistency = \"given\"\n", {}, m).consistency, abi::given);
  }
  // All else about a model with constraints is as ever.
  const plan p = planned(valve + "detection = \"certified\"\nguards_in_error = true\nprecision = \"float\"\n", {},
                         valve_with(abi::semi_explicit, 1));
  EXPECT_TRUE(p.guards_in_error);
  EXPECT_EQ(p.detection, "certified");
}

TEST_F(spec, atol_as_a_list_has_one_number_per_state) {
  EXPECT_EQ(planned(valve + "atol = [1e-1, 1e-2, 1e-3]\n").atol, (std::vector<double>{0.1, 0.01, 0.001}));
}

TEST_F(spec, axes_stand_in_the_order_of_the_file_and_not_of_the_alphabet) {
  const plan p = planned(valve + R"toml([sweep]
preload = [1, 2, 3]
t_end = [5, 6]
damping = { from = 1, to = 100, count = 3, scale = "log" }
pressure = [7]
[[sweep.zip]]
restitution = [0.1, 0.2]
lift = [0.3, 0.4]
[[sweep.zip]]
flow = { from = 1, to = 5, count = 5 }
velocity = [1, 2, 3, 4, 5]
)toml");
  ASSERT_EQ(p.axes.size(), 6u);
  const std::vector<std::string> first = {"preload", "t_end", "damping", "pressure", "restitution", "flow"};
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(p.axes[i].columns[0].what.name, first[i]);
  EXPECT_EQ(p.axes[1].columns[0].what.which, target::kind::t_end);
  EXPECT_TRUE(range_of(p.axes[2]).logarithmic);
  EXPECT_EQ(p.axes[3].columns[0].what.which, target::kind::state);
  EXPECT_EQ(p.axes[3].columns[0].what.index, 2);
  EXPECT_EQ(p.axes[4].columns[1].what.name, "lift");
  EXPECT_EQ(list_of(p.axes[4], 1), (std::vector<double>{0.3, 0.4}));
  EXPECT_EQ(p.axes[5].count, 5);
  EXPECT_EQ(p.count, 3 * 2 * 3 * 1 * 2 * 5);
}

TEST_F(spec, csv_columns_are_read_by_name_from_the_folder_of_the_spec) {
  std::filesystem::create_directory("study");
  write("study/runs.csv", "\xEF\xBB\xBFid, \"q\" ,note\r\n1, 0.5,\"a, b\"\r\n\r\n2,+1e1 ,\r\n3,\"2\",x\r\n");
  write("study/spec.toml", valve + "[sweep]\nflow = { csv = \"runs.csv\", column = \"q\" }\n");
  const plan p = validate(read_spec("study/spec.toml"), relief_valve());
  EXPECT_EQ(list_of(p.axes.at(0)), (std::vector<double>{0.5, 10, 2}));

  // From a flag: the current folder.
  const auto flagged = read_spec("study/spec.toml", {{"--set", "sweep.flow.csv=study/runs.csv"}});
  EXPECT_EQ(validate(flagged, relief_valve()).count, 3);
}

TEST_F(spec, the_time_grid_by_step_reaches_the_end_of_the_span) {
  const plan p = planned(valve + "t = [1, 2]\n[output]\nsamples = { step = 0.1 }\n");  // 0.1 * 10 rounds to 1
  ASSERT_EQ(p.sample_count, 11);
  EXPECT_EQ(p.sample_times.front(), 1.0);
  EXPECT_EQ(p.sample_times.back(), 2.0);
  EXPECT_EQ(planned(valve + "t = [0, 1]\n[output]\nsamples = { step = 0.3 }\n").sample_count, 4);
  EXPECT_EQ(planned(valve + "t = [0, 1]\n[output]\nsamples = { times = [0.5, 1.0] }\n").sample_times,
            (std::vector<double>{0.5, 1.0}));
}

TEST_F(spec, a_span_may_differ_between_instances) {
  // In one zip each begin meets its own end only.
  EXPECT_EQ(planned(valve + "[sweep.zip]\nt_begin = [0, 10]\nt_end = [5, 15]\n").count, 2);
  EXPECT_EQ(planned(valve + "[sweep]\nt_begin = [0, 10]\nt_end = [11, 15]\n").count, 4);
}

TEST_F(spec, a_run_may_go_backward_if_every_instance_does) {
  const plan p = planned(valve + "t = [1.0, 0.0]\n");
  EXPECT_TRUE(p.backward);
  EXPECT_EQ(p.t_begin, 1);
  EXPECT_EQ(p.t_end, 0);
  const auto swept = [](const std::string& sweep) { return planned(valve + "[sweep]\n" + sweep); };
  EXPECT_TRUE(swept("t_end = [-1, -2]\n").backward) << "from the model's own begin, 0";
  EXPECT_FALSE(swept("t_end = [1, 2]\n").backward);
  EXPECT_TRUE(swept("t_begin = [50, 41]\n").backward) << "to the model's own end, 40";
  EXPECT_TRUE(swept("t_begin = [5, 7]\nt_end = [4, 3]\n").backward);
  EXPECT_TRUE(planned(valve + "[sweep.zip]\nt_begin = [5, 15]\nt_end = [0, 10]\n").backward);

  EXPECT_EQ(planned(valve + "t = [2, 1]\n[output]\nsamples = { times = [1.5, 1.0] }\n").sample_times,
            (std::vector<double>{1.5, 1.0}));
  EXPECT_EQ(planned(valve + "t = [2, 1]\n[output]\nsamples = { step = 0.375 }\n").sample_times,
            (std::vector<double>{2, 1.625, 1.25}));
  const auto fine = planned(valve + "t = [2, 1]\n[output]\nsamples = { step = 0.1 }\n").sample_times;
  ASSERT_EQ(fine.size(), 11u);
  EXPECT_EQ(fine.back(), 1.0);
  // The hull of all spans, from 7 down to 3.
  EXPECT_EQ(planned(valve + "[sweep]\nt_begin = [5, 7]\nt_end = [4, 3]\n[output]\nsamples = { times = [7, 3] }\n")
                .sample_count,
            2);
}

TEST_F(spec, the_path_of_a_model_starts_at_the_spec_or_at_the_current_folder) {
  std::filesystem::create_directory("study");
  write("study/spec.toml", "model = \"my_model.hpp\"\n");
  EXPECT_EQ(read_spec("study/spec.toml").model_header, "study/my_model.hpp");
  EXPECT_EQ(read_spec("study/spec.toml").model_place, "study/spec.toml:1:9: model = \"my_model.hpp\"");
  EXPECT_EQ(read_spec("study/spec.toml", {{"--set", "model=other/m.hpp"}}).model_header, "other/m.hpp");
  EXPECT_EQ(from_model("./my_model.hpp").model_header, "./my_model.hpp");
  EXPECT_EQ(from_model("lorenz").model_header, "");
  EXPECT_EQ(from_model("lorenz").model, "lorenz");
}

// ---- flags

TEST_F(spec, set_finds_its_key_in_the_spec_then_the_parameters_then_the_states) {
  const plan p = planned(valve + "rtol = 1e-3\n[sweep]\nflow = { from = 1, to = 2, count = 3 }\n",
                         {{"--set", "rtol=1e-8"},
                          {"--set", "sweep.flow.count=10"},
                          {"--set", "damping=2"},
                          {"--set", "pressure=0.5"},
                          {"--set", "method=dop853"},
                          {"--set", "t=[0, 9]"},
                          {"--set", "output.file=a=b.nc"}});
  EXPECT_EQ(p.rtol, 1e-8);
  EXPECT_EQ(p.axes.at(0).count, 10);
  EXPECT_EQ(p.parameters[0], 2);
  EXPECT_EQ(p.initial[2], 0.5);
  EXPECT_EQ(p.method, "dop853");
  EXPECT_EQ(p.t_end, 9);
  EXPECT_EQ(p.file, "a=b.nc");
}

TEST_F(spec, a_table_set_by_a_flag_replaces_and_later_flags_win) {
  const plan p =
      planned(valve + "[sweep]\nflow = { from = 1, to = 2, count = 3 }\n", {{"--set", "sweep.flow=[5]"},
                                                                            {"--set", "sweep.preload=[1, 2]"},
                                                                            {"--set", "sweep.damping=[1, 2, 3]"},
                                                                            {"--set", "sweep.flow=[6, 7]"}});
  ASSERT_EQ(p.axes.size(), 3u);  // in the order of the file, then of the flags
  EXPECT_EQ(list_of(p.axes[0]), (std::vector<double>{6, 7}));
  EXPECT_EQ(p.axes[1].columns[0].what.name, "preload");
  EXPECT_EQ(p.axes[2].columns[0].what.name, "damping");
}

TEST_F(spec, short_flags_reach_their_keys) {
  const plan p = planned(valve, {{"--seed", "9"},
                                 {"--backend", "cpu"},
                                 {"-o", "1.5"},  // a file of that name, not a number
                                 {"--method", "bs3"},
                                 {"--threads", "3"},
                                 {"--lanes", "4"},
                                 {"--chunk", "77"}});
  EXPECT_EQ(p.seed, 9u);
  EXPECT_EQ(p.backend, "cpu");
  EXPECT_EQ(p.file, "1.5");
  EXPECT_EQ(p.method, "bs3");
  EXPECT_EQ(p.threads, 3);
  EXPECT_EQ(p.lanes, 4);
  EXPECT_EQ(p.chunk, 77);
}

TEST_F(spec, n_means_samples_or_the_only_range) {
  const std::string range = "[sweep]\nflow = { from = 1, to = 2, count = 3 }\ndamping = [1, 2]\n";
  const std::string distribution = "[sample]\ncount = 5\nlift = { uniform = [0, 1] }\n";
  EXPECT_EQ(planned(valve, {{"-n", "50"}}).samples, 50);
  EXPECT_EQ(planned(valve + range, {{"-n", "50"}}).axes[0].count, 50);
  EXPECT_EQ(planned(valve + range, {{"-n", "50"}, {"--seed", "1"}}).count, 100);  // a seed alone is no sample
  EXPECT_EQ(planned(valve + range + distribution, {{"-n", "50"}}).samples, 50);
  EXPECT_EQ(planned(valve + range + distribution, {{"-n", "50"}}).axes[0].count, 3);
  // It sees what the other flags do, whatever their order.
  EXPECT_EQ(planned(valve, {{"-n", "1e5"}, {"--set", "sweep.flow={from=1, to=2}"}}).axes.at(0).count, 100'000);
  // Copies of a product with several counts, or none, were hardly meant.
  EXPECT_EQ(refused(valve + range + "preload = { from = 1, to = 2, count = 3 }\n", {{"-n", "5"}}),
            "-n 5: must stand for one count, but [sweep] has several axes: set the count that is meant, as in "
            "--set sweep.NAME.count=5, or sample.count for that many samples at every point");
  EXPECT_EQ(refused(valve + "[sweep]\nflow = [1, 2]\n", {{"-n", "5"}}),
            "-n 5: must stand for one count, but [sweep] has a list of values: set the count that is meant, as in "
            "--set sweep.NAME.count=5, or sample.count for that many samples at every point");
}

TEST_F(spec, n_takes_the_first_rows_of_a_csv_file) {
  write("runs.csv", "q,p\n1,10\n2,20\n3,30\n4,40\n");
  const std::string one = valve + "[sweep]\nflow = { csv = \"runs.csv\", column = \"q\" }\n";
  const std::string both = valve +
                           "[sweep.zip]\nflow = { csv = \"runs.csv\", column = \"q\" }\n"
                           "preload = { csv = \"runs.csv\", column = \"p\" }\n";
  const plan few = planned(one, {{"-n", "3"}});
  EXPECT_EQ(few.count, 3);
  EXPECT_EQ(few.samples, 1);
  EXPECT_EQ(list_of(few.axes.at(0)), (std::vector<double>{1, 2, 3}));
  for (const auto& text : {both, replaced(both, "[sweep.zip]", "[[sweep.zip]]")}) {
    const plan zipped = planned(text, {{"-n", "2"}});
    EXPECT_EQ(zipped.count, 2) << text;
    EXPECT_EQ(list_of(zipped.axes.at(0), 0), (std::vector<double>{1, 2}));
    EXPECT_EQ(list_of(zipped.axes.at(0), 1), (std::vector<double>{10, 20}));
  }
  // A range beside them in the zip has as many values.
  EXPECT_EQ(planned(both + "damping = { from = 1, to = 2, count = 4 }\n", {{"-n", "3"}}).count, 3);
  // Samples come first, and the one range of a product before the file.
  EXPECT_EQ(planned(one + "[sample]\ncount = 5\nlift = { uniform = [0, 1] }\n", {{"-n", "2"}}).count, 8);
  EXPECT_EQ(planned(one + "preload = { from = 1, to = 2, count = 3 }\n", {{"-n", "2"}}).count, 8);
  EXPECT_EQ(refused(one, {{"-n", "5"}}),
            "-n 5: sweep.flow.count = 5: must be at most 4, the number of rows of runs.csv");
  // In the spec, too.
  EXPECT_EQ(planned(valve + "[sweep]\nflow = { csv = \"runs.csv\", column = \"q\", count = 2 }\n").count, 2);
}

TEST_F(spec, a_count_has_one_value) {
  const std::string range = "[sweep]\nflow = { from = 1, to = 2, count = 3 }\n";
  for (const auto& flags : {std::vector<flag>{{"-n", "5"}, {"--set", "sample.count=3"}},
                            std::vector<flag>{{"--set", "sample.count=3"}, {"-n", "5"}}}) {
    const std::string message =
        "-n 5: sample.count has a value from --set sample.count=3 already: leave one of the two out";
    EXPECT_EQ(refused(valve, flags), message);
    EXPECT_EQ(refused(valve + range, flags), message);
  }
  EXPECT_EQ(refused(valve + range, {{"--set", "sweep.flow.count=7"}, {"-n", "5"}}),
            "-n 5: sweep.flow.count has a value from --set sweep.flow.count=7 already: leave one of the two out");
  EXPECT_EQ(
      refused(valve, {{"--set", "sweep.flow={from=1, to=2, count=7}"}, {"-n", "5"}}),
      "-n 5: sweep.flow.count has a value from --set sweep.flow={from=1, to=2, count=7} already: leave one of the two "
      "out");
  // The file gives way to a flag, a flag to a later one of its kind, and both to the program itself.
  EXPECT_EQ(planned(valve + "[sample]\ncount = 3\n", {{"-n", "5"}}).count, 5);
  EXPECT_EQ(planned(valve, {{"-n", "5"}, {"-n", "6"}}).count, 6);
  EXPECT_EQ(planned(valve, {{"--set", "sample.count=3"}, {"-n", "64", true}}).count, 64);
  EXPECT_EQ(planned(valve + "[sweep]\nflow = [1, 2]\n", {{"-n", "64", true}}).count, 128);
}

TEST_F(spec, a_name_of_the_spec_and_of_the_model_is_refused_unless_it_is_written_in_full) {
  model m = relief_valve();
  m.parameters.push_back({"zeno", 7, "1", ""});
  m.parameters.push_back({"method", 3, "1", ""});
  m.states.push_back({"step", 0, "1", ""});
  EXPECT_EQ(
      refused(valve, {{"--set", "zeno=0.5"}}, m),
      "--set zeno=0.5: zeno is a key of the spec and a parameter of relief_valve: write --set parameters.zeno=0.5 "
      "for the parameter, or --set spec.zeno=0.5 for the key");
  EXPECT_EQ(refused(valve, {{"--set", "step=0.5"}}, m),
            "--set step=0.5: step is a key of the spec and a state of relief_valve: write --set initial.step=0.5 "
            "for the state, or --set spec.step=0.5 for the key");
  const plan keys = planned(valve, {{"--set", "spec.zeno=0.25"}, {"--set", "spec.step=0.5"}, {"--method", "rk4"}}, m);
  EXPECT_EQ(keys.zeno, 0.25);
  EXPECT_EQ(keys.fixed_step, 0.5);
  EXPECT_EQ(keys.method, "rk4");
  EXPECT_EQ(keys.parameters[5], 7);
  const plan quantities = planned(
      valve, {{"--set", "parameters.zeno=0.25"}, {"--set", "initial.step=0.5"}, {"--set", "parameters.method=4"}}, m);
  EXPECT_EQ(quantities.parameters[5], 0.25);
  EXPECT_EQ(quantities.parameters[6], 4);
  EXPECT_EQ(quantities.initial[3], 0.5);
  EXPECT_EQ(quantities.zeno, 1e-7);
  EXPECT_EQ(quantities.method, "dp5");
  // Where nothing is ambiguous both ways of writing go on.
  EXPECT_EQ(planned(valve, {{"--set", "spec.zeno=0.25"}}).zeno, 0.25);
  EXPECT_EQ(planned(valve, {{"--set", "spec.run.threads=3"}}).threads, 3);
  EXPECT_NE(refused(valve, {{"--set", "spec.zenoo=0.25"}}).find("unknown key"), std::string::npos);
}

TEST_F(spec, a_tolerance_below_rounding_is_warned_of) {
  EXPECT_TRUE(planned(valve + "rtol = 1e-14\n").warnings.empty());
  EXPECT_EQ(
      planned(valve + "rtol = 9e-15\n").warnings,
      (std::vector<std::string>{
          "spec.toml:2:8: rtol = 9e-15: below 1e-14 the rounding of double numbers is larger than the errors that "
          "are to be kept: steps become shorter, results no better"}));
  EXPECT_EQ(planned(valve, {{"--set", "rtol=1e-16"}}).warnings.size(), 1u);
  EXPECT_TRUE(planned(valve + "method = \"rk4\"\nstep = 0.1\nrtol = 1e-16\n").warnings.empty());
  // Of single precision far earlier, but not at the default.
  EXPECT_EQ(planned(valve + "precision = \"float\"\nrtol = 1e-8\n").warnings.size(), 1u);
  EXPECT_TRUE(planned(valve + "precision = \"float\"\n").warnings.empty());
}

TEST_F(spec, the_text_of_the_plan_gives_the_same_plan) {
  const std::string spec = valve + R"toml(rtol = 1e-7 # comment
[sweep]
preload = [0.1, 2, 1e300]
damping = { from = 1.5, to = 100, count = 3, scale = "log" }
zip = [{ flow = [1.0, 2.0], restitution = [0.3, 0.4] }]
[sample]
count = 4
lift = { triangular = [0, 0.1, 0.3], max = 0.2 }
)toml";
  const std::vector<flag> flags = {{"--set", "sweep.compressibility=[3, 1]"}, {"-o", "a \"b\"\n.nc"}};
  const plan once = planned(spec, flags);
  EXPECT_EQ(once.text, R"toml(model = "relief_valve"
rtol = 1e-07

[sweep]
preload = [0.1, 2, 1e+300]
damping = { from = 1.5, to = 100, count = 3, scale = "log" }
zip = [{ flow = [1.0, 2.0], restitution = [0.3, 0.4] }]
compressibility = [3, 1]

[sample]
count = 4
lift = { triangular = [0, 0.1, 0.3], max = 0.2 }

[output]
file = "a \"b\"\n.nc"
)toml");
  const plan again = planned(once.text);
  EXPECT_EQ(again.text, once.text);
  EXPECT_EQ(again.count, once.count);
  EXPECT_EQ(again.file, once.file);
  ASSERT_EQ(again.axes.size(), once.axes.size());
  for (std::size_t i = 0; i < once.axes.size(); ++i)
    EXPECT_EQ(again.axes[i].columns[0].what.name, once.axes[i].columns[0].what.name);
}

// ---- bad specs

struct bad {
  std::string text;  ///< after the line that names the model
  std::string message;
  std::vector<flag> flags = {};
};

TEST_F(spec, a_bad_value_is_named_with_its_place_and_what_is_allowed) {
  const std::string keys =
      "allowed: model, method, t, rtol, atol, event_tol, first_step, max_step, step, controller, norm, precision, "
      "max_steps, max_events, detection, guards_in_error, concurrency, zeno, rescue, inject_exceptions, consistency, "
      "parameters, initial, sweep, sample, output, run";
  const std::string quantities = "damping, preload, flow, compressibility, restitution, lift, velocity, pressure";
  const std::string one_way = "must leave t_begin < t_end in every instance, or t_begin > t_end in every one; ";
  const std::string distributions = "uniform, log_uniform, normal, lognormal, triangular";
  const std::string methods =
      "allowed: kutta3, bs3, rk4, rkf45, rkf78, dp5, tsit5, dop853, rdpk510, trapezoid, sdirk4, esdirk4, rodas4, "
      "rodas5p, radau5, infltrap, inflsdirk4, inflesdirk4, auto";

  write("runs.csv", "q,p\n1,2\nabc,nan\n3\n");
  write("twice.csv", "q,p, \"q\"\n1,2,3\n");
  write("empty.csv", "q\n");

  // clang-format off
  const std::vector<bad> cases = {
      // names
      {"rtoll = 1e-8\n", "spec.toml:2:1: rtoll = 1e-08: unknown key; did you mean rtol? " + keys},
      {"[solver]\n", "spec.toml:2:2: solver = {}: unknown key; " + keys},
      {"[parameters]\nflwo = 3\n",
       "spec.toml:3:1: parameters.flwo = 3: unknown key; did you mean flow? "
       "allowed: damping, preload, flow, compressibility, restitution"},
      {"[initial]\nLift = 3\n",
       "spec.toml:3:1: initial.Lift = 3: unknown key; did you mean lift? allowed: lift, velocity, pressure"},
      {"[sweep]\nx = [1]\n",
       "spec.toml:3:1: sweep.x = [1]: not a parameter or state of relief_valve; allowed: zip, " + quantities +
           ", t_begin, t_end"},
      {"[sample]\ncount = 2\nt_end = { uniform = [1, 2] }\n",
       "spec.toml:4:1: sample.t_end = { uniform = [1, 2] }: not a parameter or state of relief_valve; "
       "allowed: count, seed, " + quantities},
      {"[output]\nfiles = \"x.nc\"\n",
       "spec.toml:3:1: output.files = \"x.nc\": unknown key; did you mean file? "
       "allowed: file, samples, events, reduce, compression, rows, statistics, histogram"},
      {"[run]\ncores = 2\n",
       "spec.toml:3:1: run.cores = 2: unknown key; allowed: backend, devices, threads, lanes, groups, chunk, order, "
       "allowed_failed, instance_time_limit"},
      {"atol = { lfit = 1e-8 }\n",
       "spec.toml:2:10: atol.lfit = 1e-08: unknown key; did you mean lift? allowed: default, lift, velocity, pressure"},
      // types and values
      {"rtol = -1\n", "spec.toml:2:8: rtol = -1: must be a positive number"},
      {"rtol = \"small\"\n", "spec.toml:2:8: rtol = \"small\": must be a positive number"},
      {"rtol = true\n", "spec.toml:2:8: rtol = true: must be a positive number"},
      {"atol = [1e-8, -1.0, 1e-8]\n", "spec.toml:2:15: atol[1] = -1.0: must be a positive number"},
      {"atol = [1e-8]\n",
       "spec.toml:2:8: atol = [1e-08]: must have one number for each state: lift, velocity, pressure"},
      {"event_tol = -1e-9\n", "spec.toml:2:13: event_tol = -1e-09: must be zero or a positive number"},
      {"max_step = inf\n", "spec.toml:2:12: max_step = inf: must be a positive number"},
      {"max_steps = 0\n", "spec.toml:2:13: max_steps = 0: must be a whole number from 1 to 9223372036854775807"},
      {"max_events = 1.5\n", "spec.toml:2:14: max_events = 1.5: must be a whole number from 1 to 9223372036854775807"},
      {"method = \"euler\"\n",
       "spec.toml:2:10: method = \"euler\": unknown word; " + methods},
      {"method = 5\n",
       "spec.toml:2:10: method = 5: must be a word in quotes; " + methods},
      {"method = \"kutta3\"\n",
       "spec.toml:2:10: method = \"kutta3\": has no error estimate: must come with step, the constant step size"},
      {"norm = \"mx\"\n",
       "spec.toml:2:8: norm = \"mx\": unknown word; did you mean max? allowed: rms, max, compere"},
      {"t = [1.0, 1.0]\n",
       "spec.toml:2:5: t = [1.0, 1.0]: must be [begin, end] with begin < end, or begin > end to run backward"},
      {"t = 40\n", "spec.toml:2:5: t = 40: must be [begin, end]"},
      // events
      {"detection = \"hermit\"\n",
       "spec.toml:2:13: detection = \"hermit\": unknown word; did you mean hermite? allowed: hermite, certified"},
      {"guards_in_error = 1\n", "spec.toml:2:19: guards_in_error = 1: must be true or false"},
      {"guards_in_error = true\nstep = 0.1\n",
       "spec.toml:2:19: guards_in_error = true: must be false with step, which has no error control"},
      {"concurrency = 1e-7\n", "spec.toml:2:15: concurrency = 1e-07: must be a table"},
      {"concurrency = { time = 1e-7 }\n",
       "spec.toml:2:15: concurrency.value is missing: must be a distance from zero, in the units of the guards"},
      {"concurrency = { value = 1e-7 }\n",
       "spec.toml:2:15: concurrency.time is missing: must be a span of time"},
      {"concurrency = { time = 0, value = 1 }\n", "spec.toml:2:24: concurrency.time = 0: must be a positive number"},
      {"concurrency = { time = 1, value = -1 }\n", "spec.toml:2:35: concurrency.value = -1: must be a positive number"},
      {"concurrency = { times = 1, value = 1 }\n",
       "spec.toml:2:17: concurrency.times = 1: unknown key; did you mean time? allowed: time, value"},
      {"zeno = 1.5\n", "spec.toml:2:8: zeno = 1.5: must be a part of the time span, from 0 to 1"},
      {"zeno = \"never\"\n", "spec.toml:2:8: zeno = \"never\": must be a part of the time span, from 0 to 1"},
      {"rescue = \"no\"\n", "spec.toml:2:10: rescue = \"no\": must be true or false"},
      {"inject_exceptions = -0.5\n",
       "spec.toml:2:21: inject_exceptions = -0.5: must be a share of all instances, from 0 to 1"},
      {"[parameters]\nflow = nan\n", "spec.toml:3:8: parameters.flow = nan: must be a finite number"},
      {"[initial]\nlift = nan\n", "spec.toml:3:8: initial.lift = nan: must be a finite number"},
      {"parameters = 3\n", "spec.toml:2:14: parameters = 3: must be a table"},
      // sweeps
      {"[sweep]\n", "spec.toml:2:1: sweep = {}: must have at least one entry"},
      {"[sweep.zip]\n", "spec.toml:2:1: sweep.zip = {}: must have at least one entry"},
      {"[sweep]\nflow = []\n", "spec.toml:3:8: sweep.flow = []: must have at least one value"},
      {"[sweep]\nflow = [1, inf]\n", "spec.toml:3:12: sweep.flow[1] = inf: must be a finite number"},
      {"[sweep]\nflow = 3\n",
       "spec.toml:3:8: sweep.flow = 3: must be a list, { from, to, count, scale } or { csv, column, count }"},
      {"[sweep]\nflow = { from = 1, count = 3 }\n",
       "spec.toml:3:8: sweep.flow.to is missing: must be the last value of the range"},
      {"[sweep]\nflow = { from = 1, to = 2, count = 0 }\n",
       "spec.toml:3:36: sweep.flow.count = 0: must be a whole number from 1 to 1099511627776"},
      {"[sweep]\nflow = { from = 0, to = 2, count = 3, scale = \"log\" }\n",
       "spec.toml:3:17: sweep.flow.from = 0: must be a positive number, as the scale is log"},
      {"[sweep]\nflow = { from = 1, to = -2, count = 3, scale = \"log\" }\n",
       "spec.toml:3:25: sweep.flow.to = -2: must be a positive number, as the scale is log"},
      {"[sweep]\nflow = { from = 1, to = 2, count = 3, scale = \"lin\" }\n",
       "spec.toml:3:47: sweep.flow.scale = \"lin\": unknown word; allowed: linear, log"},
      {"[sweep]\nflow = { from = -1e308, to = 1e308, count = 3 }\n",
       "spec.toml:3:8: sweep.flow = { from = -1e+308, to = 1e+308, count = 3 }: "
       "from and to must be nearer to each other: their distance overflows"},
      {"[sweep.zip]\nflow = [1, 2]\nlift = [1, 2, 3]\n",
       "spec.toml:4:8: sweep.zip.lift = [1, 2, 3]: must have as many values as sweep.zip.flow, that is 2; it has 3"},
      {"[sweep]\nflow = { from = 1, to = 2, count = 2000000 }\nlift = { from = 1, to = 2, count = 2000000 }\n",
       "spec.toml:2:1: sweep = { flow = { from = 1, to = 2, count = 2000000 }, lift = { fro...: "
       "must make at most 1099511627776 instances, samples included"},
      {"[sweep]\nt_begin = [0, 5]\nt_end = [4, 9]\n",
       "spec.toml:4:9: sweep.t_end = [4, 9]: " + one_way + "one would have 5 and 4"},
      {"[sweep]\nt_end = [-1, 1]\n",
       "spec.toml:3:9: sweep.t_end = [-1, 1]: " + one_way + "one would have 0 and 1"},
      {"[sweep.zip]\nt_begin = [2, 1]\nt_end = [1, 2]\n",
       "spec.toml:4:9: sweep.zip.t_end = [1, 2]: " + one_way + "one would have 1 and 2"},
      {"[sweep.zip]\nt_begin = [0, 5]\nt_end = [4, 5]\n",
       "spec.toml:4:9: sweep.zip.t_end = [4, 5]: " + one_way + "one would have 5 and 5"},
      {"[sweep]\nt_begin = [0, 40]\n",
       "spec.toml:3:11: sweep.t_begin = [0, 40]: " + one_way + "one would have 40 and 40"},
      // CSV
      {"[sweep]\nflow = { csv = \"none.csv\", column = \"q\" }\n",
       "spec.toml:3:8: sweep.flow = { csv = \"none.csv\", column = \"q\" }: "
       "cannot read none.csv: No such file or directory"},
      {"[sweep]\nflow = { csv = \"runs.csv\", column = \"r\" }\n",
       "spec.toml:3:8: sweep.flow = { csv = \"runs.csv\", column = \"r\" }: "
       "runs.csv has no column r; allowed: q, p"},
      {"[sweep]\nflow = { csv = \"runs.csv\", column = \"q\" }\n", "runs.csv:3:1: q = abc: must be a finite number"},
      {"[sweep]\nflow = { csv = \"runs.csv\", column = \"p\" }\n", "runs.csv:3:5: p = nan: must be a finite number"},
      {"[sweep]\nflow = { csv = \"twice.csv\", column = \"q\" }\n",
       "spec.toml:3:8: sweep.flow = { csv = \"twice.csv\", column = \"q\" }: twice.csv:1:6: column q stands there twice, first "
       "at twice.csv:1:1: give the columns different names"},
      {"[sweep]\nflow = { csv = \"empty.csv\", column = \"q\" }\n",
       "spec.toml:3:8: sweep.flow = { csv = \"empty.csv\", column = \"q\" }: empty.csv has no row below its header"},
      {"[sweep]\nflow = { csv = \"runs.csv\", column = \"q\", rows = 3 }\n",
       "spec.toml:3:42: sweep.flow.rows = 3: unknown key; allowed: csv, column, count"},
      // samples
      {"[sample]\nflow = { uniform = [1, 2] }\n",
       "spec.toml:2:1: sample.count is missing: must be the number of samples"},
      {"[sample]\ncount = 0\n", "spec.toml:3:9: sample.count = 0: must be a whole number from 1 to 1099511627776"},
      {"[sample]\nseed = -1\n",
       "spec.toml:3:8: sample.seed = -1: must be a whole number from 0 to 9223372036854775807"},
      {"[sample]\ncount = 2\nflow = [1, 2]\n",
       "spec.toml:4:8: sample.flow = [1, 2]: must be a distribution such as "
       "{ uniform = [0.0, 1.0] }; allowed: " + distributions},
      {"[sample]\ncount = 2\nflow = { gauss = [1, 2] }\n",
       "spec.toml:4:10: sample.flow.gauss = [1, 2]: unknown key; allowed: " + distributions + ", min, max"},
      {"[sample]\ncount = 2\nflow = { min = 2 }\n",
       "spec.toml:4:8: sample.flow = { min = 2 }: must have a distribution; allowed: " + distributions},
      {"[sample]\ncount = 2\nflow = { uniform = [1, 2], normal = [0, 1] }\n",
       "spec.toml:4:8: sample.flow = { uniform = [1, 2], normal = [0, 1] }: must have one distribution, not two"},
      {"[sample]\ncount = 2\nflow = { uniform = [2, 1] }\n",
       "spec.toml:4:20: sample.flow.uniform = [2, 1]: must be [low, high] with low < high"},
      {"[sample]\ncount = 2\nflow = { log_uniform = [0, 1] }\n",
       "spec.toml:4:24: sample.flow.log_uniform = [0, 1]: must be [low, high] with 0 < low < high"},
      {"[sample]\ncount = 2\nflow = { normal = [1, 0] }\n",
       "spec.toml:4:19: sample.flow.normal = [1, 0]: must be [mean, standard deviation] with a positive deviation"},
      {"[sample]\ncount = 2\nflow = { lognormal = [700, 10] }\n",  // exp(700 + 9.5 * 10) overflows
       "spec.toml:4:22: sample.flow.lognormal = [700, 10]: "
       "must be [mean, standard deviation] of the logarithm with a positive deviation and a finite range"},
      {"[sample]\ncount = 2\nflow = { triangular = [1, 3, 2] }\n",
       "spec.toml:4:23: sample.flow.triangular = [1, 3, 2]: "
       "must be [low, mode, high] with low <= mode <= high, low < high"},
      {"[sample]\ncount = 2\nflow = { normal = [0, 1], min = 1, max = -1 }\n",
       "spec.toml:4:8: sample.flow = { normal = [0, 1], min = 1, max = -1 }: min must be smaller than max"},
      {"[sample]\ncount = 2\nflow = { normal = [0, 1], min = 4 }\n",  // 1 - Phi(4) = 3.17e-5
       "spec.toml:4:8: sample.flow = { normal = [0, 1], min = 4 }: "
       "min and max must leave at least 0.001 of the probability; they leave 3.2e-05"},
      // one name in two places
      {"[parameters]\nflow = 1\n[sweep]\nflow = [1, 2]\n",
       "spec.toml:5:8: sweep.flow = [1, 2]: flow must have one value, but has another at "
       "spec.toml:3:8 (parameters.flow)"},
      {"[sweep]\nflow = [1, 2]\n[sample]\ncount = 2\nflow = { uniform = [1, 2] }\n",
       "spec.toml:6:8: sample.flow = { uniform = [1, 2] }: "
       "flow must have one value, but has another at spec.toml:3:8 (sweep.flow)"},
      {"[initial]\nlift = 1\n[sweep.zip]\nlift = [1, 2]\n",
       "spec.toml:5:8: sweep.zip.lift = [1, 2]: lift must have one value, but has another at "
       "spec.toml:3:8 (initial.lift)"},
      // output and run
      {"[output]\nsamples = { count = 1 }\n",
       "spec.toml:3:21: output.samples.count = 1: must be a whole number from 2 to 10000000"},
      {"[output]\nsamples = { count = 9, step = 1 }\n",
       "spec.toml:3:11: output.samples = { count = 9, step = 1 }: must have one of count, times, step"},
      {"[output]\nsamples = { times = [1, 1] }\n",
       "spec.toml:3:21: output.samples.times = [1, 1]: must be increasing times from 0 to 40, at least one"},
      {"[output]\nsamples = { times = [1, 41] }\n",
       "spec.toml:3:21: output.samples.times = [1, 41]: must be increasing times from 0 to 40, at least one"},
      {"t = [40, 0]\n[output]\nsamples = { times = [1, 2] }\n",
       "spec.toml:4:21: output.samples.times = [1, 2]: must be decreasing times from 40 to 0, at least one"},
      {"[sweep]\nt_end = [4, 9]\n[output]\nsamples = { step = 1 }\n",
       "spec.toml:5:20: output.samples.step = 1: "
       "must be replaced by count or times, as the time span differs between instances"},
      {"[output]\nevents = 1\n", "spec.toml:3:10: output.events = 1: must be true or false"},
      {"[output]\nfile = \"\"\n", "spec.toml:3:8: output.file = \"\": must be a text in quotes, not empty"},
      {"[output]\nreduce = [\"max pressure\"]\n",
       "spec.toml:3:11: output.reduce[0] = \"max pressure\": "
       "must be min(name), max(name), mean(name) or integral(name) of a state or an output"},
      {"[output]\nreduce = [\"max(presure)\"]\n",
       "spec.toml:3:11: output.reduce[0] = \"max(presure)\": presure is not a state or an output; "
       "did you mean pressure? allowed: lift, velocity, pressure, power"},
      {"[output]\nreduce = [\"max(lift)\", \"max(lift)\"]\n",
       "spec.toml:3:24: output.reduce[1] = \"max(lift)\": must not be listed twice"},
      {"[output]\ncompression = 10\n", "spec.toml:3:15: output.compression = 10: must be a whole number from 0 to 9"},
      {"[run]\nbackend = \"gpu\"\n",
       "spec.toml:3:11: run.backend = \"gpu\": unknown word; did you mean cpu? allowed: auto, cpu, cuda, all"},
      {"[run]\nlanes = 3\n", "spec.toml:3:9: run.lanes = 3: must be 0 (as wide as the machine), 1, 2, 4, 8, 16 or 32"},
      {"[run]\nbackend = \"cpu\"\ndevices = [0]\n",
       "spec.toml:4:11: run.devices = [0]: must be left out with the backend cpu"},
      {"[run]\ndevices = [0, 1, 0]\n", "spec.toml:3:18: run.devices[2] = 0: must be there once"},
      {"[run]\ndevices = []\n", "spec.toml:3:11: run.devices = []: must be \"all\", or a list of one number or more"},
      {"[run]\ndevices = \"both\"\n", "spec.toml:3:11: run.devices = \"both\": unknown word; allowed: all"},
      {"[run]\ndevices = [-1]\n", "spec.toml:3:12: run.devices[0] = -1: must be a whole number from 0 to 1023"},
      {"[run]\nallowed_failed = 2\n",
       "spec.toml:3:18: run.allowed_failed = 2: must be a share of all instances, from 0 to 1"},
      // flags
      {"", "--set rtol=-1: rtol = -1: must be a positive number", {{"--set", "rtol=-1"}}},
      {"", "--set rtol=1e-8x: rtol = \"1e-8x\": must be a positive number", {{"--set", "rtol=1e-8x"}}},
      {"", "--set rtol: must be key=value with a key such as rtol or sweep.flow.count", {{"--set", "rtol"}}},
      {"", "--set a b=1: must be key=value with a key such as rtol or sweep.flow.count", {{"--set", "a b=1"}}},
      {"", "--set flwo=1: flwo = 1: unknown key; did you mean flow? " + keys + ", " + quantities,
       {{"--set", "flwo=1"}}},
      {"", "--set rtol=1\natol = 2: rtol = \"1\\natol = 2\": must be a positive number",  // one value, not two
       {{"--set", "rtol=1\natol = 2"}}},
      {"", "--set solver.rtol=1: solver.rtol = 1: unknown key; " + keys, {{"--set", "solver.rtol=1"}}},
      {"", "--set sample.flow={uniform=[1, 2]}: sample.count is missing: must be the number of samples",
       {{"--set", "sample.flow={uniform=[1, 2]}"}}},
      {"", "-n 0: sample.count = 0: must be a whole number from 1 to 1099511627776", {{"-n", "0"}}},
      {"", "--backend gpu: run.backend = \"gpu\": unknown word; did you mean cpu? allowed: auto, cpu, cuda, all",
       {{"--backend", "gpu"}}},
      {"[sweep]\nflow = [1, 2]\n",
       "spec.toml:3:8: sweep.flow = [1, 2]: flow must have one value, but has another at "
       "--set flow=3 (parameters.flow)",
       {{"--set", "flow=3"}}},
  };
  // clang-format on
  for (const auto& [text, message, flags] : cases) EXPECT_EQ(refused(valve + text, flags), message) << text;
}

TEST_F(spec, a_method_that_cannot_solve_the_equations_is_named_with_those_that_can) {
  const std::string one_step = "trapezoid, sdirk4, esdirk4, ", all = one_step + "rodas4, rodas5p, radau5";
  const model index_1 = valve_with(abi::semi_explicit, 1), index_2 = valve_with(abi::semi_explicit, 2),
              mass = valve_with(abi::with_mass), implicit = valve_with(abi::implicit, 1);
  const auto given = [](const std::string& name, const model& m) {
    return refused(valve + "method = \"" + name + "\"\n", {}, m);
  };
  for (const std::string name : {"dp5", "auto", "rk4"}) {
    const std::string place = "spec.toml:2:10: method = \"" + name + "\": ";
    EXPECT_EQ(given(name, index_1),
              place + "must be an implicit method, as relief_valve has algebraic states; allowed: " + all);
    EXPECT_EQ(given(name, mass),
              place + "must be an implicit method, as relief_valve has a mass matrix; allowed: " + all);
    EXPECT_EQ(given(name, index_2),
              place + "must be an implicit method, as relief_valve has algebraic states; allowed: radau5");
    EXPECT_EQ(given(name, implicit), place +
                                         "must be an implicit method, as relief_valve has implicit equations; "
                                         "allowed: " +
                                         one_step + "radau5");
  }
  for (const std::string name : {"rodas4", "rodas5p"})
    EXPECT_EQ(given(name, implicit), "spec.toml:2:10: method = \"" + name +
                                         "\": must not be a Rosenbrock method, as relief_valve has implicit equations; "
                                         "allowed: " +
                                         one_step + "radau5");
  for (const std::string name : {"trapezoid", "sdirk4", "esdirk4", "rodas4", "rodas5p"})
    EXPECT_EQ(given(name, index_2), "spec.toml:2:10: method = \"" + name +
                                        "\": must be a method for index 2, as relief_valve has algebraic states of "
                                        "index 2; allowed: radau5");
  EXPECT_EQ(refused(valve, {{"--method", "tsit5"}}, index_2),
            "--method tsit5: method = \"tsit5\": must be an implicit method, as relief_valve has algebraic states; "
            "allowed: radau5");
}

TEST_F(spec, consistency_is_refused_where_there_is_nothing_to_be_consistent_with) {
  for (const auto& m : {relief_valve(), valve_with(abi::with_mass)})
    EXPECT_EQ(refused(valve + "consistency = \"given\"\n", {}, m),
              "spec.toml:2:15: consistency = \"given\": must be left out, as relief_valve has no constraints to be "
              "consistent with");
  EXPECT_EQ(refused(valve + "consistency = \"nearer\"\n", {}, valve_with(abi::semi_explicit, 1)),
            "spec.toml:2:15: consistency = \"nearer\": unknown word; did you mean nearest? "
            "allowed: algebraic, nearest, given");
  const std::string nearest =
      "spec.toml:2:15: consistency = \"nearest\": must be algebraic or given, as relief_valve has ";
  EXPECT_EQ(refused(valve + "consistency = \"nearest\"\n", {}, valve_with(abi::with_mass, 1)),
            nearest + "a mass matrix");
  EXPECT_EQ(refused(valve + "consistency = \"nearest\"\n", {}, valve_with(abi::implicit, 1)),
            nearest + "implicit equations");
  EXPECT_EQ(refused(valve + "consistency = true\n", {}, valve_with(abi::semi_explicit, 1)),
            "spec.toml:2:15: consistency = true: must be a word in quotes; allowed: algebraic, nearest, given");
}

TEST_F(spec, bad_syntax_is_told_with_its_place) {  // what is wrong with it, toml++ says in its own words
  const auto begins = [](const std::string& message, const std::string& place) {
    EXPECT_EQ(message.substr(0, place.size()), place) << message;
  };
  begins(refused(valve + "rtol = \n"), "spec.toml:2:8: ");
  begins(refused(valve + "rtol = 1\nrtol = 2\n"), "spec.toml:3:");
  begins(refused(valve + "[sweep\nflow = [1]\n"), "spec.toml:2:");
}

TEST_F(spec, a_spec_must_be_readable_and_name_its_model) {
  const auto message = [](const std::filesystem::path& file) -> std::string {
    try {
      read_spec(file);
    } catch (const error& e) {
      EXPECT_EQ(e.exit_code, 2);
      return e.what();
    }
    return "accepted";
  };
  write("empty.toml", "");
  write("number.toml", "model = 3\n");
  std::filesystem::create_directory("folder.toml");
  EXPECT_EQ(message("none.toml"), "none.toml: cannot be read: No such file or directory");
  EXPECT_EQ(message("folder.toml"), "folder.toml: is a folder, not a spec");
  EXPECT_EQ(message("empty.toml"),
            "empty.toml:1:1: model is missing: must be the name of a built-in model, or the path of a header");
  EXPECT_EQ(message("number.toml"), "number.toml:1:9: model = 3: must be a text in quotes, not empty");
}

// ---- what a result says of its settings

/// The keys that a complaint about another one lists, without those that have no default.
std::vector<std::string> keys_allowed(const std::string& complaint) {
  std::vector<std::string> keys;
  std::istringstream list(complaint.substr(complaint.find("allowed: ") + 9));
  for (std::string key; std::getline(list, key, ',');) {
    key.erase(0, key.find_first_not_of(' '));
    const std::vector<std::string> without = {"model", "parameters", "initial", "sweep", "sample", "output", "run"};
    if (std::find(without.begin(), without.end(), key) == without.end()) keys.push_back(key);
  }
  return keys;
}

TEST_F(spec, settings_of_a_plan_have_every_key) {
  const std::string settings = settings_text(planned("model = \"relief_valve\"\n"));
  std::size_t count = 0;
  for (const char* unknown : {"nope = 1\n", "[output]\nnope = 1\n", "[run]\nnope = 1\n"})
    for (const std::string& key : keys_allowed(refused(std::string("model = \"relief_valve\"\n") + unknown))) {
      ++count;
      EXPECT_TRUE(settings.find("\n" + key + " = ") != settings.npos || settings.rfind(key + " = ", 0) == 0 ||
                  settings.find("\n# " + key + ": none\n") != settings.npos)
          << key << " is not in\n"
          << settings;
    }
  EXPECT_GE(count, 30u);
  EXPECT_NE(settings.find("\nrtol = 1e-06\natol = 1e-06\n"), settings.npos) << settings;
  EXPECT_NE(settings.find("\ncontroller = \"pi\"\n"), settings.npos) << settings;
  EXPECT_NE(settings.find("\ndetection = \"hermite\"\n"), settings.npos) << settings;
}

TEST_F(spec, settings_of_a_plan_are_a_spec_of_the_same_settings) {
  for (const char* text : {
           "",
           "rtol = 1e-9\natol = { default = 1e-8, pressure = 3e-7 }\nstep = 0.125\nt = [3.0, -1.0]\n",
           "method = \"auto\"\nmax_step = 0.1\nconcurrency = { time = 1e-7, value = 1e-6 }\nzeno = 0.0\n"
           "[output]\nfile = \"a \\\"b\\\".nc\"\nevents = true\nreduce = [\"max(lift)\", \"mean(power)\"]\n"
           "samples = { step = 10.0 }\nhistogram = { final_lift = { from = 0.0, to = 2.0, bins = 4 } }\n"
           "[run]\nbackend = \"all\"\ndevices = [1, 0]\nthreads = 3\nlanes = 4\norder = \"id\"\n",
       }) {
    auto valve = relief_valve();
    valve.arithmetic = true;  // for the backend all
    const std::string head = "model = \"relief_valve\"\n", once = settings_text(planned(head + text, {}, valve));
    EXPECT_EQ(settings_text(planned(head + once, {}, valve)), once);
  }
}

TEST_F(spec, plan_knows_the_files_that_it_was_read_from) {
  write("runs.csv", "q,r\n1,2\n2,3\n");
  const plan p = planned(
      "model = \"relief_valve\"\n[sweep.zip]\nflow = { csv = \"runs.csv\", column = \"q\" }\n"
      "preload = { csv = \"runs.csv\", column = \"r\" }\n");
  EXPECT_EQ(p.inputs, (std::vector<std::filesystem::path>{"spec.toml", "runs.csv"}));
  EXPECT_TRUE(validate(from_model("relief_valve"), relief_valve()).inputs.empty());
}

TEST(shell_line, is_read_back_by_a_shell_as_it_was) {
  const std::vector<std::string> words = {"saltus",  "it's", "",     "a b", "$HOME `x` \"\\n\"",
                                          "x=[1,2]", "-o",   "*.nc", "\n"};
  std::string said;
  std::FILE* const shell = ::popen(("printf '%s|' " + shell_line(words)).c_str(), "r");
  ASSERT_NE(shell, nullptr);
  for (int c; (c = std::fgetc(shell)) != EOF;) said += static_cast<char>(c);
  ::pclose(shell);
  std::string expected;
  for (const std::string& word : words) expected += word + "|";
  EXPECT_EQ(said, expected);
  EXPECT_EQ(shell_line({"saltus", "run", "./a.toml", "-n", "10"}), "saltus run ./a.toml -n 10")
      << "plain words stay plain";
}

TEST_F(spec, a_pipe_is_refused_rather_than_waited_for) {
  ASSERT_EQ(::mkfifo("pipe.toml", 0600), 0);
  try {
    read_spec("pipe.toml", {});
    ADD_FAILURE();
  } catch (const error& e) { EXPECT_STREQ(e.what(), "pipe.toml: is a pipe: write it to a file, not a spec"); }
  EXPECT_EQ(refused(valve + "[sweep]\nflow = { csv = \"pipe.toml\", column = \"q\" }\n"),
            "spec.toml:3:8: sweep.flow = { csv = \"pipe.toml\", column = \"q\" }: cannot read pipe.toml: it is a pipe: "
            "write it to a file");
}

TEST_F(spec, keys_of_very_many_parts_are_refused_before_anything_walks_through_them) {
  const auto dotted = [](int parts) {
    std::string key = "a";
    for (int k = 1; k < parts; ++k) key += k % 2 ? " . 'b.c'" : ".a";
    return key;
  };
  for (const int parts : {17, 20'000}) {
    EXPECT_EQ(refused(valve + "# a.b.c\n" + dotted(parts) + " = 1\n"), "spec.toml:3: a key has more than 16 parts");
    EXPECT_EQ(refused(valve + "[" + dotted(parts) + "]\n"), "spec.toml:2: a key has more than 16 parts");
    EXPECT_EQ(refused(valve + "sample = { x = { " + dotted(parts) + " = 1 } }\n"),
              "spec.toml:2: a key has more than 16 parts");
  }
  std::string key = "sample";
  for (int k = 0; k < 20'000; ++k) key += ".a";
  EXPECT_EQ(refused(valve, {{"--set", key + "=1"}}),
            "--set " + key.substr(0, 54) + "...: a key has more than 16 parts");
  // Neither numbers, nor what stands in strings and comments, are keys.
  EXPECT_EQ(refused(valve + "# " + std::string(100, '.') + "\nt = [0.0, 1.0] # '\n[output]\nfile = \"" +
                    std::string(100, '.') + "\\\"" + std::string(100, '.') + "\"\n"),
            "accepted");
  EXPECT_EQ(refused(valve + "atol = [1.0, 1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0]\n")
                .find("parts"),
            std::string::npos);
}

TEST_F(spec, more_threads_than_four_per_core_are_refused) {
  const std::string cores = std::to_string(std::thread::hardware_concurrency());
  const std::string most = std::to_string(4 * std::thread::hardware_concurrency());
  EXPECT_EQ(refused(valve, {{"--threads", most}}), "accepted");
  EXPECT_EQ(refused(valve, {{"--threads", "4096"}}), "--threads 4096: run.threads = 4096: must be at most " + most +
                                                         ", 4 for each of the " + cores + " cores here; 0: all cores");
}

TEST_F(spec, a_time_limit_for_instances_is_for_lanes) {
  const plan p = planned(valve + "[run]\ninstance_time_limit = 2.5\n");
  EXPECT_EQ(p.instance_time_limit, 2.5);
  EXPECT_EQ(p.backend, "cpu") << "rather than auto";
  EXPECT_EQ(planned(valve).instance_time_limit, 0.0);
  EXPECT_EQ(planned(valve).backend, "auto");
  EXPECT_EQ(refused(valve + "[run]\ninstance_time_limit = 0\n"),
            "spec.toml:3:23: run.instance_time_limit = 0: must be a positive number");
  model same_bits = relief_valve();
  same_bits.arithmetic = true;  // all: only for such
  for (const std::string backend : {"cuda", "all"})
    EXPECT_EQ(
        refused(valve + "[run]\ninstance_time_limit = 1\n", {{"--backend", backend}}, same_bits),
        "spec.toml:3:23: run.instance_time_limit = 1: must be left out with a device, which cannot end one instance "
        "of many: use max_steps");
}

// ---- misspelt names

TEST(suggest, counts_edits) {  // kitten -> sitting and Saturday -> Sunday: 3 each, the textbook examples
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("Saturday", "Sunday"), 3u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("flow", "flow"), 0u);
}

TEST(suggest, asks_only_when_a_name_is_near) {
  EXPECT_EQ(suggest("restituton", {"flow", "restitution"}), "did you mean restitution? allowed: flow, restitution");
  EXPECT_EQ(suggest("q", {"t", "u"}), "allowed: t, u");
  EXPECT_EQ(suggest("anything", {}), "allowed: none");
}

}  // namespace
}  // namespace saltus::host
