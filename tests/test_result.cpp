// The result file, what `saltus show` prints of it, and the progress line. Files are made from hand-written chunks, so
// every expected number below is one that the test itself put in; they are read back through the NetCDF C library.
#include <pty.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netcdf.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/json.hpp"
#include "cli/progress.hpp"
#include "cli/show.hpp"
#include "result/hdf5.hpp"
#include "result/storage.hpp"
#include "result/writer.hpp"

namespace saltus::host {
namespace {

// As the program does: some tests fill a disk.
[[maybe_unused]] const bool hdf5_is_ours = (own_hdf5(), true);

namespace fs = std::filesystem;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// A folder of its own for each test.
class folder {
 public:
  folder() {
    std::string name = (fs::temp_directory_path() / "saltus_result_XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~folder() { fs::remove_all(path_); }
  fs::path operator/(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

/// Reads a file back, as any NetCDF program would.
class reader {
 public:
  explicit reader(const fs::path& path) { must(nc_open(path.c_str(), NC_NOWRITE, &file_)); }
  ~reader() { nc_close(file_); }

  bool has(const std::string& name) const {
    int id;
    return nc_inq_varid(file_, name.c_str(), &id) == NC_NOERR;
  }
  nc_type type(const std::string& name) const {
    nc_type t = NC_NAT;
    must(nc_inq_vartype(file_, id(name), &t));
    return t;
  }
  std::string dimensions(const std::string& name) const {
    int rank = 0, list[NC_MAX_VAR_DIMS];
    must(nc_inq_var(file_, id(name), nullptr, nullptr, &rank, list, nullptr));
    std::string text;
    for (int d = 0; d < rank; ++d) {
      char label[NC_MAX_NAME + 1];
      must(nc_inq_dimname(file_, list[d], label));
      if (d > 0) text += ",";
      text += label;
    }
    return text;
  }
  std::vector<double> reals(const std::string& name) const {
    std::vector<double> values(size(name));
    if (!values.empty()) must(nc_get_var_double(file_, id(name), values.data()));
    return values;
  }
  std::vector<long long> integers(const std::string& name) const {
    std::vector<long long> values(size(name));
    if (!values.empty()) must(nc_get_var_longlong(file_, id(name), values.data()));
    return values;
  }
  bool has_attribute(const std::string& variable, const char* name) const {
    int ignored;
    return nc_inq_attid(file_, variable.empty() ? NC_GLOBAL : id(variable), name, &ignored) == NC_NOERR;
  }
  std::string text(const std::string& variable, const char* name) const {
    const int v = variable.empty() ? NC_GLOBAL : id(variable);
    std::size_t length = 0;
    must(nc_inq_attlen(file_, v, name, &length));
    std::string value(length, '\0');
    must(nc_get_att_text(file_, v, name, value.data()));
    return value;
  }
  double number(const char* name) const {
    double value = 0;
    must(nc_get_att_double(file_, NC_GLOBAL, name, &value));
    return value;
  }
  std::vector<int> flags(const std::string& variable) const {
    nc_type attribute = NC_NAT;
    std::size_t length = 0;
    must(nc_inq_att(file_, id(variable), "flag_values", &attribute, &length));
    EXPECT_EQ(attribute, type(variable)) << "CF: flag_values have the type of their variable";
    std::vector<int> values(length);
    must(nc_get_att_int(file_, id(variable), "flag_values", values.data()));
    return values;
  }
  int id(const std::string& name) const {
    int v = -1;
    must(nc_inq_varid(file_, name.c_str(), &v));
    return v;
  }
  int file() const { return file_; }

 private:
  static void must(int code) {
    if (code != NC_NOERR) throw std::runtime_error(nc_strerror(code));
  }
  std::size_t size(const std::string& name) const {
    int rank = 0, list[NC_MAX_VAR_DIMS];
    must(nc_inq_var(file_, id(name), nullptr, nullptr, &rank, list, nullptr));
    std::size_t all = 1;
    for (int d = 0; d < rank; ++d) {
      std::size_t length = 0;
      must(nc_inq_dimlen(file_, list[d], &length));
      all *= length;
    }
    return all;
  }
  int file_ = -1;
};

/// A valve with two states, three parameters, one output, one discrete variable, three guards (more than states) of which
/// one may slide, and a time event.
plan valve(std::int64_t count) {
  plan p;
  p.model.name = "valve";
  p.model.title = "A valve";
  p.model.source = "made up";
  p.model.states = {{"lift", 0.2, "m", "valve lift"}, {"velocity", 0, "m s-1", "valve velocity"}};
  p.model.parameters = {{"damping", 1.25, "1", "damping"}, {"flow", 4, "m3 s-1", "flow rate"}, {"gain", 2, "1", ""}};
  p.model.outputs = {{"force", 0, "N", "force on the seat"}};
  p.model.discretes = {{"open", 1, "1", "1 while open"}};
  p.model.guards = {{"impact", abi::falling, abi::unilateral, false, ""},
                    {"top", abi::both, abi::bilateral, false, "", true},
                    {"end", abi::both, abi::bilateral, true, ""}};
  p.model.time_events = {{"pulse", ""}};
  p.parameters = {1.25, 4, 2};
  p.initial = {nan, nan};
  p.t_begin = 0;
  p.t_end = 40;
  p.axes = {{{{{target::kind::parameter, 1, "flow"}, ranged{0, 1, count, false}}}, count}};
  p.count = count;
  p.text = "model = \"valve\"\n";
  p.seed = 18446744073709551615u;  // the largest
  return p;
}

/// The valve whose velocity follows from a constraint.
plan constrained_valve(std::int64_t count) {
  plan p = valve(count);
  p.model.equations = abi::semi_explicit;
  p.model.states[1].index = 1;
  return p;
}

/// The valve by the method `auto`.
plan stiff_valve(std::int64_t count) {
  plan p = valve(count);
  p.stiff_method = "rodas5p";
  return p;
}

void also_varies(plan& p, target::kind which, int index) {
  p.axes[0].columns.push_back({{which, index, ""}, ranged{0, 1, p.count, false}});
}

/// Numbers that say what they are: `tag` of the array, column, instance.
double mark(double tag, std::size_t j, std::int64_t id) {
  return tag + static_cast<double>(j) / 8 + 1000.0 * static_cast<double>(id);
}

/// A chunk with a mark in every place.
chunk_data marked(const plan& p, std::int64_t first, std::int64_t count) {
  chunk_data c(p, first, count);
  const auto fill = [&](std::vector<double>& v, double tag) {
    for (std::size_t k = 0; k < v.size(); ++k) {
      const auto n = static_cast<std::size_t>(count);
      v[k] = mark(tag, k / n, first + static_cast<std::int64_t>(k % n));
    }
  };
  fill(c.parameters, 1);
  fill(c.initial, 2);
  fill(c.t_begin, 3);
  fill(c.t_end, 4);
  fill(c.final_state, 5);
  fill(c.final_output, 6);
  fill(c.final_discrete, 7);
  fill(c.t_final, 8);
  fill(c.reductions, 9);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    c.status[at] = static_cast<unsigned char>(status::finished);
    for (std::size_t j = 0; j < abi::counter_count; ++j)
      (c.*abi::counter_members<std::vector<long long>>[j])[at] = 10 * static_cast<long long>(j + 1) + first + i;
    c.residual[at] = mark(11, 0, first + i);
    c.residual_of[at] = (first + i) % 3 - 1;
    if ((first + i) % 2 == 1) c.switched[at] = mark(12, 0, first + i);
  }
  const auto times = static_cast<std::size_t>(p.sample_count);
  for (std::size_t k = 0; k < c.samples.size(); ++k)
    c.samples[k] =
        mark(10, k / times / static_cast<std::size_t>(count), first + static_cast<std::int64_t>(k / times) % count) +
        static_cast<double>(k % times) / 1024;
  return c;
}

const provenance origin = {.version = "1.2.3",
                           .model_hash = "abc123",
                           .compiler = "g++ 12",
                           .device = "8 lanes of AVX-512",
                           .command = "saltus run valve.toml",
                           .module_hash = "def456",
                           .model_text = "struct valve {};\n",
                           .sources = {{"valve.hpp", "0123"}, {"runs.csv", "4567"}}};

void write_marked(const fs::path& path, const plan& p, std::int64_t chunk) {
  result_writer writer(path, p, origin);
  for (std::int64_t first = 0; first < p.count; first += chunk)
    writer.write(marked(p, first, std::min(chunk, p.count - first)));
  writer.close(1.5);
}

std::vector<double> marks(double tag, std::size_t j, std::int64_t count) {
  std::vector<double> v;
  for (std::int64_t i = 0; i < count; ++i) v.push_back(mark(tag, j, i));
  return v;
}

/// The message and the exit code of the `error` that `action` throws.
template <class Action>
std::pair<int, std::string> complaint(Action action) {
  try {
    action();
  } catch (const error& e) { return {e.exit_code, e.what()}; }
  return {-1, "no error"};
}

// ------------------------------------------------------------------------------------------------------------ statuses

/// The names by number, as they stand in files that exist: entries are only ever added.
const std::vector<std::string> status_names = {
    "finished",      "stopped",     "step_budget",  "event_budget", "step_too_small", "not_finite", "bad_start",
    "event_loop",    "not_located", "not_run",      "interrupted",  "guard_violated", "zeno",       "two_slides",
    "newton_failed", "singular",    "inconsistent", "stiff",        "bad_schedule",   "time_limit", "model_threw",
    "model_crashed", "no_impulses", "painleve",     "dead_point"};

TEST(status, numbers_are_fixed_for_ever) {
  ASSERT_EQ(status_names.size(), static_cast<std::size_t>(status_count));
  for (int i = 0; i < status_count; ++i) EXPECT_EQ(status_table[i].name, status_names[static_cast<std::size_t>(i)]);
}

TEST(status, every_row_explains_itself_and_every_group_is_right) {
  std::set<std::string> names;
  for (const status_row& row : status_table) {
    EXPECT_TRUE(names.insert(row.name).second);
    EXPECT_EQ(std::string(row.name).find(' '), std::string::npos) << "flag_meanings are separated by blanks";
    EXPECT_GT(std::string(row.meaning).size(), 10u);
    EXPECT_GT(std::string(row.remedy).size(), 5u);
  }
  EXPECT_TRUE(is_ok(status::finished) && is_ok(status::stopped));
  EXPECT_FALSE(is_ok(status::bad_start) || is_ok(status::not_run) || is_ok(status::interrupted));
  EXPECT_EQ(status_table[int(status::interrupted)].group, status_group::not_finished);
  EXPECT_EQ(status_table[int(status::not_run)].group, status_group::not_finished);
  EXPECT_EQ(status_table[int(status::step_budget)].group, status_group::failed);
}

// -------------------------------------------------------------------------------------------------------------- chunks

TEST(chunk, is_preset_to_not_run) {
  plan p = valve(7);
  p.sample_count = 3;
  p.reductions = {{reduction::kind::max, false, 0, "max(lift)"}};
  chunk_data c = marked(p, 0, 7);
  c.reset(p, 7, 5);
  EXPECT_EQ(c.first_id, 7);
  EXPECT_EQ(c.samples.size(), (2u + 1u) * 5u * 3u);
  for (const auto* v : {&c.parameters, &c.initial, &c.t_begin, &c.t_end, &c.final_state, &c.final_output,
                        &c.final_discrete, &c.t_final, &c.samples, &c.reductions}) {
    ASSERT_FALSE(v->empty());
    for (double x : *v) EXPECT_TRUE(std::isnan(x));
  }
  for (unsigned char s : c.status) EXPECT_EQ(s, static_cast<unsigned char>(status::not_run));
  for (const auto counter : abi::counter_members<std::vector<long long>>)
    EXPECT_EQ(c.*counter, std::vector<long long>(5, 0));
  EXPECT_EQ(c.exception, std::vector<unsigned char>(5, 0));
  EXPECT_EQ(c.residual, std::vector<double>(5, 0.0)) << "no constraint, no residual";
  EXPECT_EQ(c.residual_of, std::vector<long long>(5, -1));
  ASSERT_EQ(c.switched.size(), 5u);
  for (double t : c.switched) EXPECT_TRUE(std::isnan(t));
  c.reset(constrained_valve(7), 0, 2);
  ASSERT_EQ(c.residual.size(), 2u);
  for (double residual : c.residual) EXPECT_TRUE(std::isnan(residual)) << "there is one, but nobody knows it yet";
  EXPECT_EQ(c.residual_of, std::vector<long long>(2, -1));
}

TEST(chunk, forgets_some_instances_and_no_others) {
  plan p = valve(4);
  p.sample_count = 3;
  p.reductions = {{reduction::kind::max, false, 0, "max(lift)"}, {reduction::kind::min, true, 0, "min(force)"}};
  chunk_data c = marked(p, 0, 4);
  const double y[] = {1, 2};
  for (const long long slot : {3, 0, 1, 3, 2, 1}) c.log.append(slot, 10.0 * static_cast<double>(slot), 0, y, y);
  chunk_data less = c;
  less.forget({1, 3});
  const auto expect = [](const auto& was, const auto& is, std::size_t row, auto preset) {
    ASSERT_EQ(was.size(), is.size());
    for (std::size_t k = 0; k < was.size(); ++k) {
      const bool kept = k / row % 4 % 2 == 0;
      EXPECT_TRUE(kept ? is[k] == was[k] : preset == 0 ? is[k] == 0 : std::isnan(static_cast<double>(is[k])));
    }
  };
  for (auto column : {&chunk_data::final_state, &chunk_data::final_output, &chunk_data::final_discrete,
                      &chunk_data::t_final, &chunk_data::reductions})
    expect(c.*column, less.*column, 1, nan);
  for (const auto counter : abi::counter_members<std::vector<long long>>) expect(c.*counter, less.*counter, 1, 0);
  expect(c.samples, less.samples, 3, nan);
  expect(c.residual, less.residual, 1, 0);
  EXPECT_EQ(less.residual_of, (std::vector<long long>{c.residual_of[0], -1, c.residual_of[2], -1}));
  chunk_data constrained = marked(constrained_valve(4), 0, 4);
  constrained.forget({0});
  EXPECT_TRUE(std::isnan(constrained.residual[0]));
  EXPECT_EQ(constrained.residual[1], c.residual[1]);
  EXPECT_EQ(less.parameters, c.parameters);
  EXPECT_EQ(less.log.slot, (std::vector<long long>{0, 2}));
  EXPECT_EQ(less.log.time, (std::vector<double>{0, 20}));
  EXPECT_EQ(less.log.after, (std::vector<double>{1, 2, 1, 2}));
}

TEST(chunk, exceptions_are_taken_out_by_their_instances) {
  abi::module module{};
  module.record_reals = 2, module.record_integers = 1;
  exception_list list;
  for (const long long slot : {3, 0, 2}) {
    const double reals[] = {10.0 * static_cast<double>(slot), 0.5};
    const long long integers[] = {slot};
    list.append(slot, {reals, integers}, module);
  }
  const exception_list taken = list.take({true, false, false, true});
  EXPECT_EQ(taken.slot, (std::vector<long long>{3, 0}));
  EXPECT_EQ(taken.reals, (std::vector<double>{30, 0.5, 0, 0.5}));
  EXPECT_EQ(taken.integers, (std::vector<long long>{3, 0}));
  EXPECT_EQ(list.slot, std::vector<long long>{2});
  EXPECT_EQ(list.reals, (std::vector<double>{20, 0.5}));
  list.append(taken);
  EXPECT_EQ(list.slot, (std::vector<long long>{2, 3, 0}));
  EXPECT_EQ(list.reals, (std::vector<double>{20, 0.5, 30, 0.5, 0, 0.5}));
  EXPECT_EQ(list.integers, (std::vector<long long>{2, 3, 0}));
  EXPECT_TRUE(exception_list{}.take({}).slot.empty());
}

TEST(chunk, views_point_at_the_columns) {
  const plan p = valve(3);
  chunk_data c(p, 6, 3);
  const abi::batch in = c.batch();
  const abi::results out = c.results();
  EXPECT_EQ(in.count, 3);
  EXPECT_EQ(in.first_id, 6);
  EXPECT_EQ(in.parameters, c.parameters.data());
  EXPECT_EQ(in.initial, c.initial.data());
  EXPECT_EQ(in.t_begin, c.t_begin.data());
  EXPECT_EQ(in.t_end, c.t_end.data());
  EXPECT_EQ(out.final_state, c.final_state.data());
  EXPECT_EQ(out.final_output, c.final_output.data());
  EXPECT_EQ(out.final_discrete, c.final_discrete.data());
  EXPECT_EQ(out.t_final, c.t_final.data());
  EXPECT_EQ(out.status, c.status.data());
  for (std::size_t j = 0; j < abi::counter_count; ++j)
    EXPECT_EQ(out.*abi::counter_members<long long*>[j], (c.*abi::counter_members<std::vector<long long>>[j]).data());
  EXPECT_EQ(out.residual, c.residual.data());
  EXPECT_EQ(out.residual_of, c.residual_of.data());
  EXPECT_EQ(out.samples, c.samples.data());
  EXPECT_EQ(out.reductions, c.reductions.data());
}

TEST(chunk, tally_counts_every_status_once) {
  const plan p = valve(4);
  chunk_data c = marked(p, 0, 4);
  c.status = {0, 1, 5, 10};
  tally t;
  t.add(c);
  t.add(c);
  EXPECT_EQ(t.ok(), 4);
  EXPECT_EQ(t.rescued(), 0);
  EXPECT_EQ(t.failed(), 2);
  EXPECT_EQ(t.not_finished(), 2);
  for (std::size_t j = 0; j < abi::counter_count; ++j)
    EXPECT_EQ(t.*abi::counter_members<std::int64_t>[j], 2 * (4 * 10 * static_cast<int>(j + 1) + 1 + 2 + 3));
  EXPECT_EQ(t.switched, 2 * 2);
}

TEST(chunk, tally_tells_rescued_from_ok_and_failed) {
  chunk_data c(valve(6), 0, 6);
  c.status = {0, 0, 1, 5, 0, 10};  // the last four were taken over by rescue; one failed all the same, one was cut off
  c.exception = {0, 0, 8, 8, 4, 4};
  tally t;
  t.add(c);
  EXPECT_EQ(t.ok(), 2);
  EXPECT_EQ(t.rescued(), 2);
  EXPECT_EQ(t.failed(), 1);
  EXPECT_EQ(t.not_finished(), 1);
  EXPECT_EQ(t.by_rescue[int(status::not_located)], 1);
  EXPECT_EQ(t.by_rescue[int(status::step_too_small)], 1);
}

TEST(chunk, events_have_the_names_of_guards_time_events_and_ends_of_sliding) {
  EXPECT_EQ(event_names(valve(1).model), (std::vector<std::string>{"impact", "top", "end", "pulse", "leaves_top"}));
  EXPECT_TRUE(event_names(model{}).empty());
}

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
    EXPECT_FALSE(r.has("residual") || r.has("residual_of") || r.has("switched")) << "no constraint, one method";
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
    result_writer writer(dir / "a.nc", p, origin);
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
    result_writer writer(dir / "a.nc", p, origin);
    chunk_data c = marked(p, 0, 3);
    c.status = {0, 0, 5};
    c.exception = {0, 8, 5};
    writer.write(c);
    writer.close(0);
  }
  const reader r(dir / "a.nc");
  EXPECT_EQ(r.type("exception"), NC_UBYTE);
  EXPECT_EQ(r.integers("exception"), (std::vector<long long>{0, 8, 5, 0})) << "the last one was never written";
  EXPECT_EQ(r.flags("exception"), (std::vector<int>{0, 4, 5, 8, 14, 15})) << "numbers of statuses, and 0 for none";
  EXPECT_EQ(r.text("exception", "flag_meanings"), "none step_too_small not_finite not_located newton_failed singular");
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
    result_writer writer(dir / "a.nc", p, origin);
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

  // Which equations are constraints is known by the states that are algebraic, whatever the form.
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
    result_writer writer(dir / "a.nc", p, origin);
    writer.write(marked(p, 0, 3));
    writer.close(0);
  }
  const reader r(dir / "a.nc");
  EXPECT_EQ(r.dimensions("switched"), "instance");
  EXPECT_EQ(r.text("switched", "long_name"), "time at which the instance went over to rodas5p");
  const auto switched = r.reals("switched");
  EXPECT_EQ(switched[1], 1012);
  for (std::size_t i : {0, 2, 3}) EXPECT_TRUE(std::isnan(switched[i])) << i;
  EXPECT_EQ(r.text("", "method"), "auto");
  EXPECT_EQ(r.text("", "stiff_method"), "rodas5p");
}

TEST(result, says_where_it_comes_from) {
  const folder dir;
  const plan p = valve(2);
  auto with_text = origin;
  with_text.model_text = std::string(100'000, '/');  // more than 64 KiB, which older HDF5 files could not hold
  {
    result_writer writer(dir / "a.nc", p, with_text);
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
  EXPECT_EQ(expected_bytes(p), (std::int64_t{1} << 40) * (12 * 8 + 2 + 2 * 8) + 4 * 8);
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
    result_writer writer(dir / "a.nc", p, origin);
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
    result_writer writer(dir / "a.nc", p, origin);
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
  // No event can happen, but whoever reads the names of the guards finds the attributes.
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
  plan p = valve(200'000);  // several chunks of the file: some begun, some never touched
  p.log_events = true;
  p.compression = 1;
  p.reductions = {{reduction::kind::max, false, 0, "max(lift)"}};
  {
    result_writer writer(dir / "a.nc", p, origin);
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
  // flow, t_final, 2 + 1 + 1 finals, 8 counters: 14 columns of 8 bytes; status, exception: 1; samples: 3 * 2 numbers;
  // then the scalars damping, gain, t_begin, t_end, and two times.
  const std::int64_t by_hand = 65'536 * (14 * 8 + 2 + 3 * 2 * 8) + (4 + 2) * 8;
  EXPECT_EQ(expected_bytes(p), by_hand);
  EXPECT_NEAR(static_cast<double>(fs::file_size(dir / "a.nc")), static_cast<double>(by_hand), 131'072);  // headers
}

TEST(result, streams_in_bounded_memory) {
  const folder dir;
  const plan p = valve(3'000'000);  // 342 MB
  chunk_data c = marked(p, 0, 100'000);
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  result_writer writer(dir / "a.nc", p, origin);
  for (c.first_id = 0; c.first_id < p.count; c.first_id += c.count) writer.write(c);
  writer.close(0);
  getrusage(RUSAGE_SELF, &after);
  EXPECT_GT(fs::file_size(dir / "a.nc"), 200'000'000u);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 50'000) << "kB; two file chunks for each of 16 variables are 16 MB";
}

std::string content(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::set<std::string> names_in(const folder& dir) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(dir / "")) names.insert(entry.path().filename());
  return names;
}

using names = std::set<std::string>;

TEST(result, appears_only_when_complete) {
  const folder dir;
  const plan p = valve(4);
  write_marked(dir / "a.nc", valve(2), 2);
  const std::string older = content(dir / "a.nc");
  {
    result_writer writer(dir / "a.nc", p, origin, existing::replaced);
    writer.write(marked(p, 0, 2));
    EXPECT_TRUE(fs::exists(dir / "a.nc.part"));
  }
  EXPECT_EQ(names_in(dir), names{"a.nc"}) << "a writer that was not closed leaves nothing";
  EXPECT_EQ(content(dir / "a.nc"), older) << "and the old file as it was";
  result_writer writer(dir / "a.nc", p, origin, existing::replaced);
  writer.write(marked(p, 0, 4));
  writer.close(0);
  EXPECT_EQ(names_in(dir), names{"a.nc"});
  EXPECT_EQ(reader(dir / "a.nc").reals("flow"), marks(1, 1, 4));
  EXPECT_EQ(reader(dir / "a.nc").text("", "state"), "complete");
}

TEST(result, of_a_run_is_safe_from_another_run) {
  const folder dir;
  const plan p = valve(4);
  result_writer first(dir / "a.nc", p, origin);
  first.write(marked(p, 0, 2));
  for (const existing older : {existing::refused, existing::replaced}) {
    const auto [code, text] = complaint([&] { result_writer(dir / "a.nc", p, origin, older); });
    EXPECT_EQ(code, exit_failure);
    EXPECT_NE(text.find("another run is writing " + (dir / "a.nc.part").string()), std::string::npos) << text;
  }
  const result_writer elsewhere(dir / "b.nc", p, origin);
  first.write(marked(p, 2, 2));
  first.close(1);
  EXPECT_EQ(names_in(dir), (names{"a.nc", "b.nc.part"}));
  EXPECT_EQ(reader(dir / "a.nc").reals("flow"), marks(1, 1, 4));
}

TEST(result, that_came_into_being_meanwhile_is_not_replaced) {
  const folder dir;
  const plan p = valve(4);
  result_writer writer(dir / "a.nc", p, origin);
  writer.write(marked(p, 0, 4));
  std::ofstream(dir / "a.nc") << "someone else's";
  const auto [code, text] = complaint([&] { writer.close(1); });
  EXPECT_EQ(code, exit_failure);
  EXPECT_NE(text.find("the results are in " + (dir / "a.nc.part").string()), std::string::npos) << text;
  EXPECT_EQ(content(dir / "a.nc"), "someone else's");
  EXPECT_EQ(reader(dir / "a.nc.part").reals("flow"), marks(1, 1, 4));
}

/// What a run leaves that is killed while it writes: the file as it is on the disk.
void leave_part(const fs::path& path, const plan& p, std::int64_t instances) {
  result_writer writer(path, p, origin);
  if (instances > 0) writer.write(marked(p, 0, instances));
  EXPECT_EQ(writer.keep("killed"), instances);
  if (instances == 0) std::ofstream(path.string() + ".part") << "half a file";
}

TEST(result, part_of_a_dead_run_makes_room_and_loses_nothing_finished) {
  const folder dir;
  const plan p = valve(4);
  leave_part(dir / "a.nc", p, 0);
  {
    result_writer writer(dir / "a.nc", p, origin);
    EXPECT_EQ(writer.part().set_aside(), "") << "nothing was in it";
  }
  EXPECT_TRUE(names_in(dir).empty());
  leave_part(dir / "a.nc", p, 3);
  for (const char* name : {"a.nc.part.1", "a.nc.part.2"}) {
    result_writer writer(dir / "a.nc", p, origin);
    EXPECT_EQ(writer.part().set_aside(), dir / name);
    writer.write(marked(p, 0, 2));
    writer.keep("killed");
  }
  EXPECT_EQ(names_in(dir), (names{"a.nc.part", "a.nc.part.1", "a.nc.part.2"}));
  const reader first(dir / "a.nc.part.1");
  EXPECT_EQ(first.reals("final_lift")[2], mark(5, 0, 2));
  EXPECT_EQ(first.integers("status")[3], static_cast<long long>(status::not_run));
}

TEST(result, part_is_never_reached_through_a_link_nor_removed_if_it_is_another_file) {
  const folder dir;
  const plan p = valve(2);
  std::ofstream(dir / "precious") << "precious";
  fs::create_symlink(dir / "precious", dir / "a.nc.part");
  const auto [code, text] = complaint([&] { result_writer(dir / "a.nc", p, origin); });
  EXPECT_EQ(code, exit_failure);
  EXPECT_NE(text.find("symbolic link"), std::string::npos) << text;
  EXPECT_EQ(content(dir / "precious"), "precious");
  EXPECT_TRUE(fs::is_symlink(dir / "a.nc.part"));
  {
    result_writer writer(dir / "b.nc", p, origin);
    fs::remove(dir / "b.nc.part");
    std::ofstream(dir / "b.nc.part") << "someone else's";
  }
  EXPECT_EQ(content(dir / "b.nc.part"), "someone else's");
  fs::create_directory(dir / "c.nc.part");
  EXPECT_EQ(complaint([&] { result_writer(dir / "c.nc", p, origin); }).first, exit_failure);
  EXPECT_TRUE(fs::is_directory(dir / "c.nc.part"));
}

TEST(result, overwrites_nothing_but_an_older_result_if_that_is_allowed) {
  const folder dir;
  plan p = valve(2);
  write_marked(dir / "a.nc", p, 2);
  std::ofstream(dir / "notes") << "notes";
  std::ofstream(dir / "spec.toml") << p.text;
  std::ofstream(dir / "empty");
  int foreign = -1;
  nc_create((dir / "foreign.nc").c_str(), NC_NETCDF4 | NC_CLOBBER, &foreign);
  nc_close(foreign);
  fs::create_symlink(dir / "a.nc", dir / "link.nc");
  fs::create_hard_link(dir / "spec.toml", dir / "again.toml");
  p.inputs = {dir / "spec.toml"};
  const auto before = names_in(dir);
  const auto complaints = [&](const char* name, existing older) {
    return complaint([&] { result_writer(dir / name, p, origin, older); });
  };
  for (const existing older : {existing::refused, existing::replaced})
    for (const auto& [name, why] : {std::pair("notes", "is not a result of saltus"),
                                    {"foreign.nc", "is not a result of saltus"},
                                    {"spec.toml", "this run reads it"},
                                    {"again.toml", "this run reads it"},
                                    {"link.nc", "is a symbolic link to"}}) {
      const auto [code, text] = complaints(name, older);
      EXPECT_EQ(code, exit_usage) << name;
      EXPECT_NE(text.find(why), std::string::npos) << text;
    }
  for (const char* name : {"a.nc", "empty"}) {
    const auto [code, text] = complaints(name, existing::refused);
    EXPECT_EQ(code, exit_usage);
    EXPECT_NE(text.find("--force replaces it"), std::string::npos) << text;
    EXPECT_EQ(complaints(name, existing::replaced).first, -1) << name;
  }
  EXPECT_EQ(names_in(dir), before) << "not a trace of what was refused";
  EXPECT_EQ(content(dir / "notes"), "notes");
  EXPECT_EQ(content(dir / "spec.toml"), p.text);
}

/// All numbers and texts of a file, or nothing if some of it cannot be read.
std::string all_of(const fs::path& path) {
  int file = -1, count = 0, attributes = 0;
  std::string all;
  const auto read = [&](int code) { return code == NC_NOERR; };
  if (!read(nc_open(path.c_str(), NC_NOWRITE, &file))) return {};
  bool good = read(nc_inq(file, nullptr, &count, &attributes, nullptr));
  for (int v = -1; v < count && good; ++v) {
    int rank = 0, dimensions[NC_MAX_VAR_DIMS];
    char name[NC_MAX_NAME + 1] = "";
    std::size_t size = 1;
    if (v >= 0) good = read(nc_inq_var(file, v, name, nullptr, &rank, dimensions, &attributes));
    for (int d = 0; d < rank && good; ++d) {
      std::size_t length = 0;
      good = read(nc_inq_dimlen(file, dimensions[d], &length)) && length < 100'000;
      size *= length;
    }
    std::vector<double> values(good ? size : 0);
    if (v >= 0) good = good && (size == 0 || read(nc_get_var_double(file, v, values.data())));
    all += name + std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
    for (int a = 0; a < attributes && good; ++a) {
      nc_type type = NC_NAT;
      std::size_t length = 0;
      good =
          read(nc_inq_attname(file, v, a, name)) && read(nc_inq_att(file, v, name, &type, &length)) && length < 100'000;
      if (!good || type != NC_CHAR) continue;
      std::string text(length, ' ');
      good = read(nc_get_att_text(file, v, name, text.data()));
      all += name + text;
    }
  }
  nc_close(file);
  return good ? all : std::string();
}

TEST(result, a_flipped_bit_is_noticed) {
  const folder dir;
  plan p = valve(300);
  p.sample_count = 3;
  p.log_events = true;
  {
    result_writer writer(dir / "a.nc", p, origin);
    chunk_data c = marked(p, 0, 300);
    const double y[] = {0.5, -2};
    for (int k = 0; k < 300; ++k) c.log.append(k, k, k % 3, y, y);
    writer.write(c);
    writer.close(1);
  }
  const std::string good = content(dir / "a.nc"), all = all_of(dir / "a.nc");
  ASSERT_FALSE(all.empty());
  const auto at = [&](double number) {  // where a number lies in the file
    return good.find(std::string(reinterpret_cast<const char*>(&number), sizeof number));
  };
  const auto reads_as_before_or_not_at_all = [&](std::size_t place, int bit) {
    std::string bad = good;
    bad[place] = static_cast<char>(bad[place] ^ (1 << bit));
    std::ofstream(dir / "bad.nc", std::ios::binary) << bad;
    const std::string read = all_of(dir / "bad.nc");
    EXPECT_TRUE(read.empty() || read == all) << "bit " << bit << " of byte " << place << " of " << good.size();
    return read.empty();
  };
  // A final value, a scalar, a sample time, a sample, an event: each in the file once.
  for (const double number : {mark(5, 1, 77), 1.25, 20.0, mark(10, 1, 55) + 1.0 / 1024, 277.0}) {
    ASSERT_NE(at(number), std::string::npos) << number;
    EXPECT_TRUE(reads_as_before_or_not_at_all(at(number), 3)) << number;
  }
  int noticed = 0;
  for (std::size_t place = 1; place < good.size(); place += 211)
    noticed += reads_as_before_or_not_at_all(place, static_cast<int>(place % 8));
  EXPECT_GT(noticed, 100);
}

// ----------------------------------------------------------------------------------------------------- the event log

/// Rows of five instances, interleaved; before and after tell them apart.
void log_some(event_log& log, int rows, int from = 0) {
  for (int k = from; k < from + rows; ++k) {
    const double before[] = {k + 0.25, k + 0.5}, after[] = {-1.0 * k, -k - 0.5};
    log.append((k * 7 + k / 3) % 5, k, k % 4, before, after);
  }
}

/// All of a log as numbers, in its order.
std::vector<double> numbers_of(const event_log& log) {
  std::vector<double> all;
  log.for_each([&](const event_row& r) {
    all.insert(all.end(), {static_cast<double>(r.slot), r.time, static_cast<double>(r.guard), r.before[0], r.before[1],
                           r.after[0], r.after[1]});
  });
  return all;
}

TEST(event_log, is_the_same_whether_it_fits_into_memory_or_not) {
  const folder dir;
  event_log small, large;
  for (event_log* log : {&small, &large}) log->state_count = 2, log->folder = dir / "";
  small.memory = 10 * static_cast<std::size_t>(small.row_bytes());
  for (event_log* log : {&small, &large}) log_some(*log, 1000);
  EXPECT_LE(small.slot.size(), 11u) << "the others are on disk";
  EXPECT_EQ(large.slot.size(), 1000u);
  EXPECT_TRUE(names_in(dir).empty()) << "in a file without a name";
  EXPECT_EQ(small.rows(), 1000);
  EXPECT_EQ(small.rows_by_slot(6), large.rows_by_slot(6));
  ASSERT_EQ(numbers_of(large).size(), 7000u);
  EXPECT_EQ(numbers_of(small), numbers_of(large));

  // Some are dropped, and others follow: what rescue does.
  for (event_log* log : {&small, &large}) {
    log->forget({false, true, false, false, true});
    event_log more;
    more.state_count = 2;
    more.folder = log->folder;
    more.memory = log->memory;
    log_some(more, 500, 1000);
    log->append(more);
  }
  EXPECT_EQ(small.rows_by_slot(5), large.rows_by_slot(5));
  EXPECT_EQ(numbers_of(small), numbers_of(large));
  small.clear();
  EXPECT_EQ(small.rows(), 0);
  EXPECT_TRUE(numbers_of(small).empty());
}

TEST(event_log, stays_in_memory_where_nothing_can_be_written) {
  const folder dir;
  event_log log, same;
  log.state_count = same.state_count = 2;
  log.folder = dir / "none";
  log.memory = 100;
  log_some(log, 1000);
  log_some(same, 1000);
  EXPECT_EQ(log.slot.size(), 1000u);
  EXPECT_EQ(numbers_of(log), numbers_of(same));
}

TEST(result, does_not_depend_on_where_the_event_log_was) {
  const folder dir;
  plan p = valve(5);
  p.log_events = true;
  p.file = dir / "a.nc";
  const auto write = [&](const char* name, std::size_t memory) {
    result_writer writer(dir / name, p, origin);
    for (std::int64_t first : {0, 3}) {
      chunk_data c = marked(p, first, first == 0 ? 3 : 2);
      EXPECT_EQ(c.log.folder, fs::path(dir / "a.nc").parent_path());
      c.log.memory = memory;
      for (int k = 0; k < 70'000; ++k) {  // more than are written at once
        const double before[] = {k + 0.25, k + 0.5}, after[] = {-1.0 * k, -k - 0.5};
        c.log.append(k % c.count, k, k % 3, before, after);
      }
      writer.write(c);
    }
    writer.close(0);
  };
  write("memory.nc", event_log::max_in_memory);
  write("disk.nc", 100'000);
  const reader memory(dir / "memory.nc"), disk(dir / "disk.nc");
  for (const char* name : {"event_row_size", "event_instance", "event_guard"})
    EXPECT_EQ(memory.integers(name), disk.integers(name)) << name;
  for (const char* name : {"event_time", "before_lift", "before_velocity", "event_lift", "event_velocity"})
    EXPECT_EQ(memory.reals(name), disk.reals(name)) << name;
  EXPECT_EQ(disk.integers("event_row_size"), (std::vector<long long>{23'334, 23'333, 23'333, 35'000, 35'000}));
  const auto instance = disk.integers("event_instance");
  EXPECT_TRUE(std::is_sorted(instance.begin(), instance.end()));
  EXPECT_EQ(disk.reals("event_time")[23'334], 1) << "the first event of instance 1";
}

/// A marked chunk with events: instance i has i % 4 of them.
chunk_data with_events(const plan& p, std::int64_t first, std::int64_t count) {
  chunk_data c = marked(p, first, count);
  for (std::int64_t row = 0; row < 3; ++row)
    for (std::int64_t i = count; i-- > 0;) {
      const std::int64_t id = first + i;
      const double before[] = {mark(20, 0, id), static_cast<double>(row)};
      const double after[] = {mark(21, 0, id), static_cast<double>(-row)};
      if (row < id % 4) c.log.append(i, 100.0 * static_cast<double>(id) + static_cast<double>(row), 0, before, after);
    }
  return c;
}

TEST(result, is_the_same_in_whatever_order_chunks_come) {
  const folder dir;
  plan p = valve(50);
  p.log_events = true;
  p.sample_count = 3;
  const auto write = [&](const char* name, const std::vector<std::int64_t>& order, std::int64_t missing = -1) {
    result_writer writer(dir / name, p, origin, existing::replaced);
    for (const std::int64_t k : order)
      if (k != missing) writer.write(with_events(p, 10 * k, 10));
    writer.close(0);
  };
  write("a.nc", {0, 1, 2, 3, 4});
  const reader a(dir / "a.nc");
  for (const std::vector<std::int64_t>& order :
       {std::vector<std::int64_t>{4, 3, 2, 1, 0}, {1, 2, 4, 3, 0}, {2, 0, 4, 1, 3}}) {
    write("b.nc", order);
    const reader b(dir / "b.nc");
    for (const char* name : {"flow", "final_lift", "lift", "event_time", "before_lift", "event_lift", "event_velocity"})
      EXPECT_EQ(a.reals(name), b.reals(name)) << name;
    for (const char* name : {"status", "steps", "event_row_size", "event_instance", "event_guard"})
      EXPECT_EQ(a.integers(name), b.integers(name)) << name;
    EXPECT_EQ(a.number("count_finished"), b.number("count_finished"));
  }
  // Where a chunk never comes the rows of the others are there all the same, in order.
  write("c.nc", {4, 3, 2, 1, 0}, 2);
  const reader c(dir / "c.nc");
  auto instances = c.integers("event_instance");
  EXPECT_TRUE(std::is_sorted(instances.begin(), instances.end()));
  EXPECT_EQ(std::count_if(instances.begin(), instances.end(), [](long long i) { return i / 10 == 2; }), 0);
  EXPECT_EQ(c.integers("event_row_size")[13], 1) << "13 % 4";
  EXPECT_EQ(c.integers("status")[25], static_cast<long long>(status::not_run));
  EXPECT_EQ(c.integers("status")[31], static_cast<long long>(status::finished));
  EXPECT_THROW(result_writer(dir / "d.nc", p, origin).write(marked(p, 45, 10)), std::logic_error);
}

TEST(result, logs_that_wait_are_kept_in_memory_up_to_a_bound_and_then_on_disk) {
  const folder dir;
  constexpr std::int64_t per_chunk = 100, chunks = 20;
  const auto log_of = [&](std::int64_t chunk) {
    event_log log;
    log.state_count = 2;
    log.folder = dir / "";
    for (std::int64_t k = 0; k < per_chunk; ++k) {
      const double before[] = {static_cast<double>(k) / 8, 1}, after[] = {static_cast<double>(chunk), 2};
      log.append(k % 10, static_cast<double>(k), static_cast<int>(k % 3), before, after);
    }
    return log;
  };
  const std::int64_t of_one = per_chunk * log_of(0).row_bytes();
  waiting_logs waiting(3 * of_one);
  for (std::int64_t chunk = chunks; chunk-- > 1;) {
    waiting.put({10 * chunk, 10, log_of(chunk)});
    EXPECT_LE(waiting.in_memory(), 3 * of_one);
    EXPECT_FALSE(waiting.take_next());
  }
  EXPECT_EQ(waiting.in_memory(), 3 * of_one) << "the others are on disk";
  EXPECT_EQ(waiting.rows(), (chunks - 1) * per_chunk);
  EXPECT_TRUE(names_in(dir).empty()) << "in files without a name";
  waiting.put({0, 10, log_of(0)});
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    const auto next = waiting.take_next();
    ASSERT_TRUE(next);
    EXPECT_EQ(next->first, 10 * chunk);
    EXPECT_EQ(numbers_of(next->log), numbers_of(log_of(chunk)));
  }
  EXPECT_FALSE(waiting.take_next());
  EXPECT_EQ(waiting.in_memory(), 0);
  EXPECT_EQ(waiting.rows(), 0);
}

// ------------------------------------------------------------------------------------------------------- what can fail

TEST(result, names_that_would_meet_in_the_file) {
  const auto with_state = [](const char* name) {
    plan p = valve(2);
    p.model.states[1].name = name;
    return p;
  };
  EXPECT_NO_THROW(check_names(valve(2)));
  plan p = valve(2);
  p.model.parameters[1].name = "final_lift";
  const auto [code, text] = complaint([&] { check_names(p); });
  EXPECT_EQ(code, exit_model);
  EXPECT_NE(text.find("`final_lift`"), std::string::npos) << text;
  EXPECT_NE(text.find("parameter, flow rate"), std::string::npos) << text;

  p = with_state("time");
  EXPECT_NO_THROW(check_names(p));
  p.sample_count = 2;
  EXPECT_EQ(complaint([&] { check_names(p); }).first, exit_model) << "a state called like the dimension";

  for (const char* name : {"time", "guard", "row_size", "instance"}) {  // event_<state>
    p = with_state(name);
    EXPECT_NO_THROW(check_names(p));
    p.log_events = true;
    EXPECT_EQ(complaint([&] { check_names(p); }).first, exit_model) << name;
  }
  p = valve(2);
  p.model.parameters[0].name = "instance";
  EXPECT_EQ(complaint([&] { check_names(p); }).first, exit_model);
  const folder dir;
  EXPECT_EQ(complaint([&] { result_writer(dir / "a.nc", p, origin); }).first, exit_model);
  EXPECT_FALSE(fs::exists(dir / "a.nc.part"));
}

TEST(result, reserved_names_are_those_the_file_may_hold) {
  const auto& reserved = reserved_names();
  for (const std::string& name : reserved) {
    plan p = valve(2);
    p.sample_count = 2;
    p.log_events = true;
    p.statistics = true;
    if (name == "sample_time") also_varies(p, target::kind::t_end, 0);
    p.model.states[0].index = 1;
    p.stiff_method = "rodas5p";
    p.model.parameters[0].name = name;
    EXPECT_EQ(complaint([&] { check_names(p); }).first, exit_model) << name;
  }
}

TEST(result, unwritable_places) {
  const folder dir;
  const plan p = valve(2);
  const auto at = [&](const fs::path& path) { return complaint([&] { result_writer(path, p, origin); }); };
  auto [code, text] = at(dir / "missing/a.nc");
  EXPECT_EQ(code, exit_failure);
  EXPECT_NE(text.find((dir / "missing/a.nc").string()), std::string::npos) << text;
  EXPECT_NE(text.find("No such file or directory"), std::string::npos) << text;

  fs::create_directory(dir / "folder");
  std::tie(code, text) = at(dir / "folder");
  EXPECT_EQ(code, exit_usage);
  EXPECT_NE(text.find("not a regular file"), std::string::npos) << text;

  std::tie(code, text) = at("/dev/null");  // must not be replaced by a file, whoever runs this
  EXPECT_EQ(code, exit_usage);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));

  if (geteuid() != 0) {  // root may write anywhere
    fs::permissions(dir / "folder", fs::perms::owner_read | fs::perms::owner_exec);
    std::tie(code, text) = at(dir / "folder/a.nc");
    EXPECT_EQ(code, exit_failure);
    EXPECT_NE(text.find("Permission denied"), std::string::npos) << text;
  }
}

/// Writes what `p` asks for, in chunks of a tenth, into a file that may not grow beyond `limit` bytes: a full disk to the
/// writer (but EFBIG, not ENOSPC). Keeps what it can. Ends the process, to see that nothing goes wrong on the way out
/// either.
[[noreturn]] void write_with_limit(const fs::path& path, plan p, rlim_t limit) {
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit bound{limit, limit};
  setrlimit(RLIMIT_FSIZE, &bound);
  std::unique_ptr<result_writer> writer;
  const auto [code, text] = complaint([&] {
    writer = std::make_unique<result_writer>(path, p, origin);
    for (std::int64_t first = 0; first < p.count; first += p.count / 10) {
      chunk_data c = marked(p, first, p.count / 10);
      const double y[] = {0.5, -2};
      for (int k = 0; k < p.count / 5 && p.log_events; ++k) c.log.append(k % c.count, k, k % 3, y, y);
      writer->write(c);
    }
    writer->close(1);
  });
  const std::int64_t kept = writer && code >= 0 ? writer->keep(text) : p.count;
  std::fprintf(stderr, "kept %d: %s\n", static_cast<int>(kept), text.c_str());
  std::exit(code < 0 ? exit_ok : code);
}

TEST(result, on_a_full_disk_keeps_what_it_has) {
  plan plain = valve(200'000), much = valve(20'000);
  much.sample_count = 30;
  much.log_events = true;
  plan compressed = much;
  compressed.compression = 1;
  for (const plan& p : {plain, much, compressed}) {
    const folder whole;
    EXPECT_EXIT(write_with_limit(whole / "a.nc", p, RLIM_INFINITY), testing::ExitedWithCode(exit_ok), "kept");
    const auto size = static_cast<double>(stored_bytes(p, 2 * p.count));
    // The first definitions, all of them, the first chunk, a later one, nearly all.
    std::size_t with_part = 0;
    for (const double share : {1e-5, 0.01, 0.1, 0.33, 0.5, 0.77, 0.95}) {
      if (p.compression > 0 && share > 0.6) continue;  // there is room for all of it
      const folder dir;
      EXPECT_EXIT(write_with_limit(dir / "a.nc", p, static_cast<rlim_t>(200 + share * size)),
                  testing::ExitedWithCode(exit_failure), "kept [0-9]+: cannot write .*a.nc: File too large")
          << share;
      EXPECT_FALSE(fs::exists(dir / "a.nc")) << share;
      if (!fs::exists(dir / "a.nc.part")) continue;
      ++with_part;
      EXPECT_TRUE(is_result(dir / "a.nc.part"));
      const reader r(dir / "a.nc.part");
      const auto status_of = r.integers("status");
      const auto kept = std::count(status_of.begin(), status_of.end(), 0);
      EXPECT_GT(kept, 0);
      EXPECT_EQ(kept % (p.count / 10), 0) << "whole chunks";
      EXPECT_EQ(r.number("count_finished"), static_cast<double>(kept));
      EXPECT_EQ(r.number("count_not_run"), static_cast<double>(p.count - kept));
      EXPECT_EQ(r.text("", "state").find("cut short: cannot write "), 0u) << r.text("", "state");
      const auto lift = r.reals("final_lift");
      for (std::int64_t i = 0; i < p.count; ++i) {
        const auto at = static_cast<std::size_t>(i);
        ASSERT_TRUE(i < kept ? lift[at] == mark(5, 0, i) : std::isnan(lift[at])) << i;
      }
      if (p.log_events) { EXPECT_EQ(std::ssize(r.reals("event_time")), 2 * kept); }
    }
    EXPECT_GE(with_part, p.compression > 0 ? 2u : 4u);
  }
}

// ---------------------------------------------------------------------------------------------------------------- show

/// What `show` prints.
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

/// Every one of `parts` is in `text`, in this order; blanks count as one.
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
  result_writer writer(dir / "mixed.nc", p, origin, existing::replaced);
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
  // Keys come in the order in which a reader wants them.
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
  result_writer writer(dir / "constrained.nc", p, origin);
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
  EXPECT_EQ(text(2).find("in the equation of"), std::string::npos) << "it has none";
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

TEST(show, what_went_over_to_the_stiff_method) {
  const folder dir;
  write_marked(dir / "a.nc", stiff_valve(4), 4);
  const std::string file = (dir / "a.nc").string();
  expect_in_order(shown({.file = file}), {"method auto", "finished 4 100.00 %",
                                          "(stiff) 2 50.00 % of these; went over to "
                                          "rodas5p",
                                          "switched(instance) time at which the instance went over"});
  const json all = json::parse(shown({.file = file, .json = true}));
  EXPECT_EQ(all["method"], "auto");
  EXPECT_EQ(all["switched"], 2);
  expect_in_order(shown({.file = file, .instance = 3}), {"status finished", "stiff went over to rodas5p at t = 3012"});
  EXPECT_EQ(shown({.file = file, .instance = 2}).find("went over"), std::string::npos);
  EXPECT_EQ(json::parse(shown({.file = file, .instance = 3, .json = true}))["switched"], 3012.0);
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
    result_writer writer(dir / "a.nc", p, origin);
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
    result_writer writer(dir / "a.nc", p, origin);
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
  EXPECT_EQ(shown({.file = (dir / "whole.nc").string()}).find("\n  state "), std::string::npos) << "nothing to say";
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
  EXPECT_EQ(text.find("1:20", text.find("1:20") + 1), std::string::npos) << "the last line is of a run that is over";
}

TEST(progress, on_a_terminal_a_bar) {
  setenv("TERM", "xterm", 1);
  unsetenv("NO_COLOR");
  std::string text = on_terminal(120);
  EXPECT_NE(text.find("\rvalve  100/100  100.0 %"), std::string::npos) << text;
  EXPECT_NE(text.find("\033[32m" + std::string(40, '=') + "\033[0m"), std::string::npos) << text;
  EXPECT_LT(std::count(text.begin(), text.end(), '\r'), 20) << "at most ten drawings a second";
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
}  // namespace saltus::host
