// Plans of valid specs. Other tests of specs are in spec/.
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "spec/valve.hpp"

namespace saltus::host::spec_test {
namespace {

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
  EXPECT_EQ(p.backend, backend_kind::automatic);
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
  EXPECT_EQ(p.detection, detection::hermite);
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
  EXPECT_EQ(p.controller, controller_kind::h211b);
  EXPECT_EQ(p.norm, norm_kind::compere);
  EXPECT_EQ(p.precision, precision_kind::single_precision);
  EXPECT_EQ(p.max_steps, 10000);
  EXPECT_EQ(p.max_events, 99);
  EXPECT_EQ(p.detection, detection::certified);
  EXPECT_EQ(p.concurrency_time, 1e-7);
  EXPECT_EQ(p.concurrency_value, 1e-6);
  EXPECT_EQ(p.zeno, 0);
  EXPECT_FALSE(p.rescue);
  EXPECT_FALSE(p.guards_in_error);
  EXPECT_TRUE(planned(valve + "guards_in_error = true\n").guards_in_error);
  ASSERT_EQ(p.reductions.size(), 3u);
  EXPECT_EQ(p.reductions[1].which, reduction::kind::integral);
  EXPECT_TRUE(p.reductions[1].of_output);
  EXPECT_EQ(p.reductions[1].index, 0);
  EXPECT_EQ(p.reductions[2].index, 1);
  EXPECT_EQ(p.compression, 9);
  EXPECT_EQ(p.backend, backend_kind::cpu);
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
  EXPECT_EQ(all.backend, backend_kind::all);
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
  // An implicit method solves everything that an explicit one does.
  for (const char* name : {"trapezoid", "sdirk4", "esdirk4", "rodas4", "rodas5p", "radau5"})
    EXPECT_EQ(planned(valve, {{"--method", name}}).method, name);
}

TEST_F(spec, auto_is_an_explicit_method_and_an_implicit_one) {
  const plan p = planned(valve + "method = \"auto\"\n");
  EXPECT_EQ(p.method, "dp5");
  EXPECT_EQ(p.stiff_method, "rodas5p");
  EXPECT_EQ(p.lasting_method, "radau5");
  EXPECT_EQ(method_name(p), "auto");
  EXPECT_EQ(p.text, "model = \"relief_valve\"\nmethod = \"auto\"\n");
  EXPECT_EQ(refused(valve + "method = \"auto\"\nstep = 0.1\n"),
            "spec.toml:3:8: step = 0.1: must be left out with the method auto, which goes by the steps that the error "
            "control asks for");
  const plan single = planned(valve + "method = \"rodas5p\"\n");
  EXPECT_EQ(single.stiff_method, "");
  EXPECT_EQ(method_name(single), "rodas5p");
}

TEST_F(spec, auto_is_the_default_where_implicit_methods_can_take_over) {
  const plan p = planned(valve);
  EXPECT_EQ(method_name(p), "auto");
  EXPECT_EQ(p.method, "dp5");
  EXPECT_EQ(planned(valve + "rtol = 1e-9\n").stiff_method, "radau9");
  EXPECT_EQ(method_name(planned(valve + "method = \"dp5\"\n")), "dp5");
  EXPECT_EQ(method_name(planned(valve + "step = 0.1\n")), "dp5");
  EXPECT_EQ(method_name(planned(valve + "[lyapunov]\n")), "dp5");
  auto large = valve_with(abi::plain);
  while (large.states.size() < 2000) large.states.push_back({"another", 0.0, "", ""});
  EXPECT_EQ(method_name(planned(valve, {}, large)), "dp5") << "its matrices are too large";
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
  // All other settings of a model with constraints are unchanged.
  const plan p = planned(valve + "detection = \"certified\"\nguards_in_error = true\nprecision = \"float\"\n", {},
                         valve_with(abi::semi_explicit, 1));
  EXPECT_TRUE(p.guards_in_error);
  EXPECT_EQ(p.detection, detection::certified);
}

TEST_F(spec, coordinates_are_for_equations_of_any_order) {
  EXPECT_EQ(planned(valve).coordinates, coordinates::all);
  EXPECT_EQ(planned(valve + "coordinates = \"all\"\n").coordinates, coordinates::all);
  EXPECT_EQ(refused(valve + "coordinates = \"unitary\"\n"),
            "spec.toml:2:15: coordinates = \"unitary\": must be all, or left out: relief_valve has no equations of any "
            "order, 0 = "
            "r(t, x, x', x'', ...)");
  EXPECT_NE(refused(valve + "coordinates = \"tangent\"\n").find("unitary, partitioned"), std::string::npos);
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

  // From a flag, paths are relative to the current folder.
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
  // In one zip each begin time belongs to one end time.
  EXPECT_EQ(planned(valve + "[sweep.zip]\nt_begin = [0, 10]\nt_end = [5, 15]\n").count, 2);
  EXPECT_EQ(planned(valve + "[sweep]\nt_begin = [0, 10]\nt_end = [11, 15]\n").count, 4);
}

TEST_F(spec, a_run_may_go_backward_if_every_instance_does) {
  const plan p = planned(valve + "t = [1.0, 0.0]\n");
  EXPECT_TRUE(p.backward);
  EXPECT_EQ(p.t_begin, 1);
  EXPECT_EQ(p.t_end, 0);
  const auto swept = [](const std::string& sweep) { return planned(valve + "[sweep]\n" + sweep); };
  EXPECT_TRUE(swept("t_end = [-1, -2]\n").backward) << "from the model's begin, 0";
  EXPECT_FALSE(swept("t_end = [1, 2]\n").backward);
  EXPECT_TRUE(swept("t_begin = [50, 41]\n").backward) << "to the model's end, 40";
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
  EXPECT_EQ(read_spec("study/spec.toml").model_location, "study/spec.toml:1:9: model = \"my_model.hpp\"");
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
  EXPECT_EQ(p.backend, backend_kind::cpu);
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
  EXPECT_EQ(planned(valve + range, {{"-n", "50"}, {"--seed", "1"}}).count, 100);  // a seed alone makes no sample
  EXPECT_EQ(planned(valve + range + distribution, {{"-n", "50"}}).samples, 50);
  EXPECT_EQ(planned(valve + range + distribution, {{"-n", "50"}}).axes[0].count, 3);
  // -n takes account of all other flags in any order.
  EXPECT_EQ(planned(valve, {{"-n", "1e5"}, {"--set", "sweep.flow={from=1, to=2}"}}).axes.at(0).count, 100'000);
  // Copies of a product with several counts or none were hardly intended.
  EXPECT_EQ(refused(valve + range + "preload = { from = 1, to = 2, count = 3 }\n", {{"-n", "5"}}),
            "-n 5: must stand for one count, but [sweep] has several axes: set the count that is meant, as in "
            "--set sweep.NAME.count=5, or sample.count for that many samples at every point");
  EXPECT_EQ(refused(valve + "[sweep]\nflow = [1, 2]\n", {{"-n", "5"}}),
            "-n 5: must stand for one count, but [sweep] has a list of values: set the count that is meant, as in "
            "--set sweep.NAME.count=5, or sample.count for that many samples at every point");
}

TEST_F(spec, a_table_is_one_axis_of_all_its_columns_by_name) {
  write("runs.csv", "flow,lift,t_end\n1,10,5\n2,20,6\n3,30,7\n");
  const auto p = planned(valve + "[sweep]\npreload = [8, 9]\ntable = \"runs.csv\"\n");
  ASSERT_EQ(p.axes.size(), 2u);
  EXPECT_EQ(p.count, 6);
  ASSERT_EQ(p.axes[1].columns.size(), 3u);
  EXPECT_EQ(p.axes[1].columns[0].what.name, "flow");
  EXPECT_EQ(p.axes[1].columns[1].what.which, target::kind::state);
  EXPECT_EQ(p.axes[1].columns[2].what.which, target::kind::t_end);
  EXPECT_EQ(list_of(p.axes[1], 0), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(list_of(p.axes[1], 1), (std::vector<double>{10, 20, 30}));
  EXPECT_EQ(list_of(p.axes[1], 2), (std::vector<double>{5, 6, 7}));
  EXPECT_EQ(p.inputs.back(), "runs.csv");
  const std::string one = valve + "[sweep]\ntable = \"runs.csv\"\n";
  EXPECT_EQ(list_of(planned(one, {{"-n", "2"}}).axes[0], 1), (std::vector<double>{10, 20}));
  EXPECT_EQ(planned(valve + "[sweep]\ntable = { csv = \"runs.csv\", columns = [\"lift\"], count = 1 }\n").count, 1);
  EXPECT_EQ(refused(one, {{"-n", "4"}}),
            "-n 4: sweep.table.count = 4: must be at most 3, the number of rows of runs.csv");
  EXPECT_EQ(
      refused(one + "flow = [1]\n"),
      "spec.toml:4:8: sweep.flow = [1]: flow must have one value, but has another at spec.toml:3:9 (sweep.table)");
  write("runs.csv", "flow,lifd\n1,2\n");
  EXPECT_EQ(
      refused(one),
      "spec.toml:3:9: sweep.table = \"runs.csv\": column lifd of runs.csv is not a parameter or state of "
      "relief_valve; did you mean lift? allowed: damping, preload, flow, compressibility, restitution, lift, velocity, "
      "pressure, t_begin, t_end; columns = [...] takes some alone");
  EXPECT_EQ(planned(valve + "[sweep]\ntable = { csv = \"runs.csv\", columns = [\"flow\"] }\n").count, 1);
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
  // A range beside the file's columns in the zip has as many values.
  EXPECT_EQ(planned(both + "damping = { from = 1, to = 2, count = 4 }\n", {{"-n", "3"}}).count, 3);
  // Samples come first, and the only range of a product before the file.
  EXPECT_EQ(planned(one + "[sample]\ncount = 5\nlift = { uniform = [0, 1] }\n", {{"-n", "2"}}).count, 8);
  EXPECT_EQ(planned(one + "preload = { from = 1, to = 2, count = 3 }\n", {{"-n", "2"}}).count, 8);
  EXPECT_EQ(refused(one, {{"-n", "5"}}),
            "-n 5: sweep.flow.count = 5: must be at most 4, the number of rows of runs.csv");
  // The same in the spec.
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
  // A flag replaces the file's value, a later flag an earlier one, and the program itself both.
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
  // Without ambiguity both ways of writing still work.
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
  // Single precision reaches this limit far earlier, but not at the default.
  EXPECT_EQ(planned(valve + "precision = \"float\"\nrtol = 1e-8\n").warnings.size(), 1u);
  EXPECT_TRUE(planned(valve + "precision = \"float\"\n").warnings.empty());
}

TEST_F(spec, the_text_of_the_plan_gives_the_same_plan) {
  const std::string given = valve + R"toml(rtol = 1e-7 # comment
[sweep]
preload = [0.1, 2, 1e300]
damping = { from = 1.5, to = 100, count = 3, scale = "log" }
zip = [{ flow = [1.0, 2.0], restitution = [0.3, 0.4] }]
[sample]
count = 4
lift = { triangular = [0, 0.1, 0.3], max = 0.2 }
)toml";
  const std::vector<flag> flags = {{"--set", "sweep.compressibility=[3, 1]"}, {"-o", "a \"b\"\n.nc"}};
  const plan once = planned(given, flags);
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

}  // namespace
}  // namespace saltus::host::spec_test
