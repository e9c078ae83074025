// Contents of the result file. Other tests of results are in result/.
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netcdf.h>

#include "base/hdf5.hpp"
#include "result/marked.hpp"
#include "result/storage.hpp"

namespace saltus::host::result_test {
namespace {

// The program does this, too; some tests fill a disk.
[[maybe_unused]] const bool hdf5_is_ours = (own_hdf5(), true);

// ----------------------------------------------------------------------------------------------------------- the file

TEST(result, holds_inputs_finals_and_counters_whatever_the_chunks) {
  const folder dir;
  plan p = valve(10);
  also_varies(p, target::kind::state, 1);
  also_varies(p, target::kind::t_end, 0);
  p.initial[0] = 0.75;
  for (std::int64_t chunk : {1, 3, 10}) {
    const fs::path path = dir / fmt::format("{}.nc", chunk);
    write_marked(path, p, chunk);
    const reader r(path);
    EXPECT_EQ(r.dimensions("flow"), "instance");
    EXPECT_EQ(r.reals("flow"), marks(1, 1, 10));
    EXPECT_EQ(r.dimensions("damping"), "") << "a fixed parameter is a scalar";
    EXPECT_EQ(r.reals("damping"), std::vector<double>{1.25});
    EXPECT_EQ(r.reals("gain"), std::vector<double>{2});
    EXPECT_EQ(r.reals("initial_lift"), std::vector<double>{0.75});
    EXPECT_EQ(r.reals("initial_velocity"), marks(2, 1, 10));
    EXPECT_EQ(r.reals("t_begin"), std::vector<double>{0});
    EXPECT_EQ(r.reals("t_end"), marks(4, 0, 10));
    EXPECT_EQ(r.reals("final_lift"), marks(5, 0, 10));
    EXPECT_EQ(r.reals("final_velocity"), marks(5, 1, 10));
    EXPECT_EQ(r.reals("final_force"), marks(6, 0, 10));
    EXPECT_EQ(r.reals("final_open"), marks(7, 0, 10));
    EXPECT_EQ(r.reals("t_final"), marks(8, 0, 10));
    for (const auto& [name, tag] : {std::pair("steps", 10),
                                    {"rejected", 20},
                                    {"rhs_evaluations", 30},
                                    {"events", 40},
                                    {"root_finding_steps", 50},
                                    {"out_of_order_roots", 60},
                                    {"spurious_roots", 70},
                                    {"undetermined", 80}})
      for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(r.integers(name)[i], tag + static_cast<long long>(i));
    EXPECT_FALSE(r.has("lift") || r.has("time") || r.has("event_time") || r.has("event_row_size"));
    EXPECT_FALSE(r.has("residual") || r.has("residual_of") || r.has("switched")) << "no constraints, one method";
  }
}

TEST(result, leaves_out_what_the_model_decides) {
  const folder dir;
  write_marked(dir / "a.nc", valve(2), 2);
  EXPECT_FALSE(reader(dir / "a.nc").has("initial_lift"));
}

TEST(result, says_what_each_variable_is) {
  const folder dir;
  plan p = valve(2);
  p.sample_count = 2;
  p.log_events = true;
  p.reductions = {{reduction::kind::mean, false, 0, "mean(lift)"},
                  {reduction::kind::integral, true, 0, "integral(force)"}};
  write_marked(dir / "a.nc", p, 2);
  const reader r(dir / "a.nc");
  for (const char* name : {"flow", "damping"}) EXPECT_EQ(r.text(name, "role"), "parameter");
  EXPECT_EQ(r.text("flow", "units"), "m3 s-1");
  EXPECT_EQ(r.text("flow", "long_name"), "flow rate");
  EXPECT_EQ(r.text("gain", "long_name"), "gain");
  for (const char* name : {"final_velocity", "velocity", "before_velocity", "event_velocity"})
    EXPECT_EQ(r.text(name, "units"), "m s-1");
  EXPECT_EQ(r.text("force", "units"), "N");
  EXPECT_EQ(r.text("steps", "units"), "1");
  EXPECT_EQ(r.text("mean(lift)", "units"), "m");
  EXPECT_FALSE(r.has_attribute("integral(force)", "units")) << "the unit of time is not known";
  int count = 0;
  nc_inq_nvars(r.file(), &count);
  for (int v = 0; v < count; ++v) {
    char name[NC_MAX_NAME + 1];
    nc_inq_varname(r.file(), v, name);
    EXPECT_FALSE(r.text(name, "long_name").empty()) << name;
    const bool real = r.type(name) == NC_DOUBLE && std::string(name) != "time";
    EXPECT_EQ(r.has_attribute(name, "_FillValue"), real) << name << ": xarray makes integers with a fill value floats";
  }
}

TEST(result, status_carries_its_flags) {
  const folder dir;
  const plan p = valve(3);
  {
    netcdf_writer writer(dir / "a.nc", p, origin);
    chunk_data c = marked(p, 0, 3);
    c.status = {0, 7, 10};
    writer.write(c);
    writer.close(0);
  }
  const reader r(dir / "a.nc");
  EXPECT_EQ(r.type("status"), NC_UBYTE);
  EXPECT_EQ(r.integers("status"), (std::vector<long long>{0, 7, 10}));
  std::vector<int> numbers(status_names.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  EXPECT_EQ(r.flags("status"), numbers);
  EXPECT_EQ(r.text("status", "flag_meanings"), fmt::format("{}", fmt::join(status_names, " ")));
  EXPECT_EQ(r.number("count_finished"), 1);
  EXPECT_EQ(r.number("count_event_loop"), 1);
  EXPECT_EQ(r.number("count_ok"), 1);
  EXPECT_EQ(r.number("count_failed"), 1);
  EXPECT_EQ(r.number("count_not_finished"), 1);
}

TEST(result, tells_what_was_rescued_from_what) {
  const folder dir;
  const plan p = valve(4);
  {
    netcdf_writer writer(dir / "a.nc", p, origin);
    chunk_data c = marked(p, 0, 3);
    c.status = {0, 0, 5};
    c.exception = {0, 8, 5};
    writer.write(c);
    writer.close(0);
  }
  const reader r(dir / "a.nc");
  EXPECT_EQ(r.type("exception"), NC_UBYTE);
  EXPECT_EQ(r.integers("exception"), (std::vector<long long>{0, 8, 5, 0})) << "the last one was never written";
  EXPECT_EQ(r.flags("exception"), (std::vector<int>{0, 4, 5, 8, 14, 15, 26})) << "numbers of statuses, and 0 for none";
  EXPECT_EQ(r.text("exception", "flag_meanings"),
            "none step_too_small not_finite not_located newton_failed singular moved_far");
  EXPECT_EQ(r.number("count_ok"), 1);
  EXPECT_EQ(r.number("count_rescued"), 1);
  EXPECT_EQ(r.number("count_failed"), 1);
  EXPECT_EQ(r.number("count_not_finished"), 1);
  EXPECT_EQ(r.number("count_finished"), 2);
}

TEST(result, residuals_of_a_model_with_constraints) {
  const folder dir;
  {
    const plan p = constrained_valve(5);
    netcdf_writer writer(dir / "a.nc", p, origin);
    writer.write(marked(p, 0, 4));
    writer.close(0);
  }
  const reader r(dir / "a.nc");
  EXPECT_EQ(r.dimensions("residual"), "instance");
  EXPECT_EQ(r.type("residual"), NC_DOUBLE);
  const auto residual = r.reals("residual");
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(residual[i], marks(11, 0, 4)[i]);
  EXPECT_TRUE(std::isnan(residual[4])) << "never written";
  EXPECT_EQ(r.integers("residual_of"), (std::vector<long long>{-1, 0, 1, -1, -1}));
  EXPECT_EQ(r.flags("residual_of"), (std::vector<int>{-1, 0, 1}));
  EXPECT_EQ(r.text("residual_of", "flag_meanings"), "none lift velocity");

  // Algebraic states show which equations are constraints, in every form.
  for (const auto form : {abi::with_mass, abi::implicit})
    for (const int index : {0, 1}) {
      plan p = valve(2);
      p.model.equations = form;
      p.model.singular_mass = form == abi::with_mass && index == 0;
      p.model.states[1].index = index;
      const fs::path path = dir / fmt::format("{}_{}.nc", static_cast<int>(form), index);
      write_marked(path, p, 2);
      EXPECT_EQ(reader(path).has("residual"), index == 1);
      EXPECT_EQ(reader(path).has("residual_of"), index == 1);
    }
}

TEST(result, tells_when_instances_went_over_to_the_stiff_method) {
  const folder dir;
  {
    const plan p = stiff_valve(4);
    netcdf_writer writer(dir / "a.nc", p, origin);
    writer.write(marked(p, 0, 3));
    writer.close(0);
  }
  const reader r(dir / "a.nc");
  EXPECT_EQ(r.dimensions("switched"), "instance");
  EXPECT_EQ(r.text("switched", "long_name"), "time at which the instance went over to an implicit method");
  const auto switched = r.reals("switched");
  EXPECT_EQ(switched[1], 1012);
  for (std::size_t i : {0, 2, 3}) EXPECT_TRUE(std::isnan(switched[i])) << i;
  EXPECT_EQ(r.text("", "method"), "auto");
  EXPECT_EQ(r.text("", "stiff_method"), "rodas5p or radau5");
  EXPECT_EQ(r.text("switched_to", "flag_meanings"), "none rodas5p radau5");
  EXPECT_EQ(r.integers("switched_to"), (std::vector<long long>{0, 1, 0, 0}));
}

TEST(result, says_where_it_comes_from) {
  const folder dir;
  const plan p = valve(2);
  auto with_text = origin;
  with_text.model_text = std::string(100'000, '/');  // more than 64 KiB, which older HDF5 files could not hold
  {
    netcdf_writer writer(dir / "a.nc", p, with_text);
    writer.write(marked(p, 0, 2));
    writer.close(1.5);
  }
  const reader r(dir / "a.nc");
  EXPECT_EQ(r.text("", "Conventions"), "CF-1.10");
  EXPECT_EQ(r.text("", "title"), "A valve");
  EXPECT_EQ(r.text("", "model"), "valve");
  EXPECT_EQ(r.text("", "model_source"), "made up");
  EXPECT_EQ(r.text("", "model_hash"), "abc123");
  EXPECT_EQ(r.text("", "module_hash"), "def456");
  EXPECT_EQ(r.text("", "model_text"), with_text.model_text);
  EXPECT_EQ(r.text("", "sources"), "0123  valve.hpp\n4567  runs.csv\n");
  EXPECT_EQ(r.text("", "settings"), settings_text(p));
  EXPECT_NE(r.text("", "settings").find("\nrtol = 1e-06\n"), std::string::npos) << r.text("", "settings");
  EXPECT_EQ(r.text("", "method"), "dp5");
  EXPECT_EQ(r.text("", "spec"), "model = \"valve\"\n");
  EXPECT_EQ(r.text("", "saltus_version"), "1.2.3");
  EXPECT_EQ(r.text("", "compiler"), "g++ 12");
  EXPECT_EQ(r.text("", "device"), "8 lanes of AVX-512");
  EXPECT_EQ(r.number("wall_time_s"), 1.5);
  EXPECT_EQ(r.text("", "created").size(), std::string("2000-01-01T00:00:00Z").size());
  EXPECT_EQ(r.text("", "history"), r.text("", "created") + ": saltus run valve.toml");
  unsigned long long seed = 0;
  nc_get_att_ulonglong(r.file(), NC_GLOBAL, "seed", &seed);
  EXPECT_EQ(seed, 18446744073709551615u);
}

TEST(result, sizes_that_are_too_large_are_the_largest) {
  plan p = valve(std::int64_t{1} << 40);
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(expected_bytes(p), (std::int64_t{1} << 40) * (12 * 8 + 3 + 2 * 8) + 4 * 8);
  p.sample_count = 10'000'000;  // 2^40 instances x 10^7 times x 3 quantities x 8 bytes: 2^67.8
  EXPECT_EQ(expected_bytes(p), most);
  EXPECT_EQ(stored_bytes(p, 0), most);
  EXPECT_LT(stored_bytes(p, 0, 1), most);
  p.sample_count = 0;
  p.log_events = true;
  EXPECT_EQ(stored_bytes(p, most), most);
}

TEST(result, samples_on_common_times) {
  const folder dir;
  plan p = valve(5);
  p.sample_count = 4;
  p.t_begin = 1;
  p.t_end = 7;
  for (std::int64_t chunk : {2, 5}) {
    const fs::path path = dir / fmt::format("{}.nc", chunk);
    write_marked(path, p, chunk);
    const reader r(path);
    EXPECT_EQ(r.dimensions("time"), "time");
    EXPECT_EQ(r.reals("time"), (std::vector<double>{1, 3, 5, 7}));
    std::size_t j = 0;
    for (const char* name : {"lift", "velocity", "force"}) {
      EXPECT_EQ(r.dimensions(name), "instance,time");
      const auto values = r.reals(name);
      for (std::size_t i = 0; i < 5; ++i)
        for (std::size_t k = 0; k < 4; ++k)
          EXPECT_EQ(values[i * 4 + k], mark(10, j, static_cast<std::int64_t>(i)) + static_cast<double>(k) / 1024);
      ++j;
    }
  }
}

TEST(result, sample_times_of_their_own_for_each_span) {
  const folder dir;
  plan p = valve(3);
  p.sample_count = 3;
  also_varies(p, target::kind::t_end, 0);
  {
    netcdf_writer writer(dir / "a.nc", p, origin);
    chunk_data c = marked(p, 0, 3);
    c.t_begin = {0, 0, 0};
    c.t_end = {2, 4, 8};
    writer.write(c);
    writer.close(0);
  }
  const reader r(dir / "a.nc");
  EXPECT_FALSE(r.has("time")) << "no common time: no coordinate";
  EXPECT_EQ(r.dimensions("sample_time"), "instance,time");
  EXPECT_EQ(r.reals("sample_time"), (std::vector<double>{0, 1, 2, 0, 2, 4, 0, 4, 8}));
}

TEST(result, absolute_sample_times_are_common_whatever_the_spans) {
  const folder dir;
  plan p = valve(3);
  also_varies(p, target::kind::t_end, 0);
  p.sample_times = {0.5, 0.75, 6};
  p.sample_count = 3;
  write_marked(dir / "a.nc", p, 3);
  const reader r(dir / "a.nc");
  EXPECT_EQ(r.reals("time"), (std::vector<double>{0.5, 0.75, 6}));
  EXPECT_FALSE(r.has("sample_time"));
}

TEST(result, even_sample_times_end_exactly) {
  EXPECT_EQ(even_sample_time(0.1, 0.7, 0, 4), 0.1);
  EXPECT_EQ(even_sample_time(0.1, 0.7, 3, 4), 0.7);
  EXPECT_EQ(even_sample_time(0, 8, 1, 5), 2);
  EXPECT_EQ(even_sample_time(0, 8, 0, 1), 8) << "a single sample lies at the end";
}

TEST(result, events_are_a_ragged_array_in_the_order_of_the_instances) {
  const folder dir;
  plan p = valve(5);
  p.log_events = true;
  const auto row = [](chunk_data& c, long long slot, double t, int guard) {
    const double before[] = {t + 0.25, t + 0.5}, after[] = {-t, -t - 0.5};
    c.log.append(slot, t, guard, before, after);
  };
  {
    netcdf_writer writer(dir / "a.nc", p, origin);
    chunk_data c = marked(p, 0, 3);  // instance 1 has no event; 0 and 2 come interleaved, twice at one time
    row(c, 2, 1, 0);
    row(c, 0, 4, 1);
    row(c, 2, 2, 1);
    row(c, 2, 2, 0);
    row(c, 0, 5, 2);
    writer.write(c);
    c = marked(p, 3, 2);
    row(c, 1, 7, 4);
    writer.write(c);
    writer.close(0);
  }
  const reader r(dir / "a.nc");
  EXPECT_EQ(r.dimensions("event_row_size"), "instance");
  EXPECT_EQ(r.text("event_row_size", "sample_dimension"), "event");
  EXPECT_EQ(r.integers("event_row_size"), (std::vector<long long>{2, 0, 3, 0, 1}));
  EXPECT_EQ(r.integers("event_instance"), (std::vector<long long>{0, 0, 2, 2, 2, 4}));
  EXPECT_EQ(r.reals("event_time"), (std::vector<double>{4, 5, 1, 2, 2, 7}));
  EXPECT_EQ(r.integers("event_guard"), (std::vector<long long>{1, 2, 0, 1, 0, 4}));
  EXPECT_EQ(r.flags("event_guard"), (std::vector<int>{0, 1, 2, 3, 4}));
  EXPECT_EQ(r.text("event_guard", "flag_meanings"), "impact top end pulse leaves_top");
  EXPECT_EQ(r.reals("before_lift"), (std::vector<double>{4.25, 5.25, 1.25, 2.25, 2.25, 7.25}));
  EXPECT_EQ(r.reals("before_velocity"), (std::vector<double>{4.5, 5.5, 1.5, 2.5, 2.5, 7.5}));
  EXPECT_EQ(r.reals("event_lift"), (std::vector<double>{-4, -5, -1, -2, -2, -7}));
  EXPECT_EQ(r.reals("event_velocity"), (std::vector<double>{-4.5, -5.5, -1.5, -2.5, -2.5, -7.5}));
}

TEST(result, a_log_without_events_is_empty) {
  const folder dir;
  plan p = valve(3);
  p.log_events = true;
  write_marked(dir / "a.nc", p, 2);
  const reader r(dir / "a.nc");
  EXPECT_EQ(r.integers("event_row_size"), (std::vector<long long>{0, 0, 0}));
  EXPECT_TRUE(r.reals("event_time").empty());
}

TEST(result, a_model_without_guards_parameters_and_outputs) {
  const folder dir;
  plan p;
  p.model.name = "decay";
  p.model.states = {{"y", 1, "1", ""}};
  p.initial = {nan};
  p.count = 1;
  p.sample_count = 1;
  p.log_events = true;
  write_marked(dir / "a.nc", p, 1);
  const reader r(dir / "a.nc");
  EXPECT_EQ(r.reals("final_y"), marks(5, 0, 1));
  EXPECT_EQ(r.reals("time"), std::vector<double>{1});
  // No event can happen, but readers of the guards' names find the attributes.
  EXPECT_EQ(r.flags("event_guard"), std::vector<int>{-1});
  EXPECT_EQ(r.text("event_guard", "flag_meanings"), "none");
}

TEST(result, reductions_by_their_written_names) {
  const folder dir;
  plan p = valve(3);
  p.reductions = {{reduction::kind::max, false, 1, "max(velocity)"}, {reduction::kind::min, true, 0, "min(force)"}};
  write_marked(dir / "a.nc", p, 2);
  const reader r(dir / "a.nc");
  EXPECT_EQ(r.reals("max(velocity)"), marks(9, 0, 3));
  EXPECT_EQ(r.reals("min(force)"), marks(9, 1, 3));
  EXPECT_EQ(r.text("max(velocity)", "units"), "m s-1");
  EXPECT_EQ(r.text("min(force)", "units"), "N");
}

TEST(result, what_was_never_written_was_not_run) {
  const folder dir;
  plan p = valve(200'000);  // several chunks of the file: some begun, some untouched
  p.log_events = true;
  p.compression = 1;
  p.reductions = {{reduction::kind::max, false, 0, "max(lift)"}};
  {
    netcdf_writer writer(dir / "a.nc", p, origin);
    writer.write(marked(p, 0, 1000));
    writer.close(0);
  }
  const reader r(dir / "a.nc");
  const auto status_of = r.integers("status"), steps = r.integers("steps"), rows = r.integers("event_row_size");
  const auto final_lift = r.reals("final_lift"), flow = r.reals("flow"), largest = r.reals("max(lift)");
  ASSERT_EQ(status_of.size(), 200'000u);
  EXPECT_EQ(steps[999], 10 + 999);
  for (std::size_t i = 1000; i < 200'000; ++i) {
    ASSERT_EQ(status_of[i], static_cast<long long>(status::not_run)) << i;
    ASSERT_TRUE(steps[i] == 0 && rows[i] == 0) << i;
    ASSERT_TRUE(std::isnan(final_lift[i]) && std::isnan(flow[i]) && std::isnan(largest[i])) << i;
  }
  EXPECT_EQ(r.number("count_not_run"), 199'000);
  EXPECT_EQ(r.number("count_finished"), 1000);
}

TEST(result, compression_changes_the_size_only) {
  const folder dir;
  plan p = valve(20'000);
  write_marked(dir / "plain.nc", p, 5000);
  p.compression = 4;
  write_marked(dir / "small.nc", p, 5000);
  EXPECT_LT(fs::file_size(dir / "small.nc"), fs::file_size(dir / "plain.nc") / 2);
  const reader plain(dir / "plain.nc"), small(dir / "small.nc");
  for (const char* name : {"flow", "final_lift", "t_final"}) EXPECT_EQ(plain.reals(name), small.reals(name));
}

TEST(result, expected_bytes_are_those_of_the_file) {
  const folder dir;
  plan p = valve(65'536);  // whole chunks of the file
  p.sample_count = 2;
  write_marked(dir / "a.nc", p, 65'536);
  // flow, t_final, 2 + 1 + 1 finals, 8 counters: 14 columns of 8 bytes; status, ok, exception: 1; samples: 3 * 2 numbers;
  // then the scalars damping, gain, t_begin, t_end, and two times.
  const std::int64_t by_hand = 65'536 * (14 * 8 + 3 + 3 * 2 * 8) + (4 + 2) * 8;
  EXPECT_EQ(expected_bytes(p), by_hand);
  EXPECT_NEAR(static_cast<double>(fs::file_size(dir / "a.nc")), static_cast<double>(by_hand), 131'072);  // headers
}

TEST(result, streams_in_bounded_memory) {
  const folder dir;
  const plan p = valve(3'000'000);  // 342 MB
  chunk_data c = marked(p, 0, 100'000);
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  netcdf_writer writer(dir / "a.nc", p, origin);
  for (c.first_id = 0; c.first_id < p.count; c.first_id += c.count) writer.write(c);
  writer.close(0);
  getrusage(RUSAGE_SELF, &after);
  EXPECT_GT(fs::file_size(dir / "a.nc"), 200'000'000u);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 50'000) << "kB; two file chunks for each of 16 variables are 16 MB";
}

}  // namespace
}  // namespace saltus::host::result_test
