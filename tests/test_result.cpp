// The result file, what `saltus show` prints of it, and the progress line. Files are made from hand-written chunks, so
// every expected number below is one that the test itself put in; they are read back through the NetCDF C library.
#include "result.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netcdf.h>
#include <pty.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "error.hpp"
#include "progress.hpp"
#include "show.hpp"

namespace saltus::host {
namespace {

namespace fs         = std::filesystem;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// A folder of its own for each test.
class folder {
 public:
  folder() {
    std::string name = (fs::temp_directory_path() / "saltus_result_XXXXXX").string();
    path_            = mkdtemp(name.data());
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
    const int   v      = variable.empty() ? NC_GLOBAL : id(variable);
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
    nc_type     attribute = NC_NAT;
    std::size_t length    = 0;
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
/// one may slide, and an instant.
plan valve(std::int64_t count) {
  plan p;
  p.model.name       = "valve";
  p.model.title      = "A valve";
  p.model.source     = "made up";
  p.model.states     = {{"lift", 0.2, "m", "valve lift"}, {"velocity", 0, "m s-1", "valve velocity"}};
  p.model.parameters = {{"damping", 1.25, "1", "damping"}, {"flow", 4, "m3 s-1", "flow rate"}, {"gain", 2, "1", ""}};
  p.model.outputs    = {{"force", 0, "N", "force on the seat"}};
  p.model.discretes  = {{"open", 1, "1", "1 while open"}};
  p.model.guards     = {{"impact", abi::falling, abi::unilateral, false, ""},
                        {"top", abi::both, abi::bilateral, false, "", true},
                        {"end", abi::both, abi::bilateral, true, ""}};
  p.model.instants   = {{"pulse", ""}};
  p.parameters       = {1.25, 4, 2};
  p.initial          = {nan, nan};
  p.t_begin          = 0;
  p.t_end            = 40;
  p.axes             = {{{{{target::kind::parameter, 1, "flow"}, ranged{0, 1, count, false}}}, count}};
  p.count            = count;
  p.text             = "model = \"valve\"\n";
  p.seed             = 18446744073709551615u;  // the largest
  return p;
}

/// The valve whose velocity follows from a constraint.
plan constrained_valve(std::int64_t count) {
  plan p                  = valve(count);
  p.model.equations       = abi::semi_explicit;
  p.model.states[1].index = 1;
  return p;
}

/// The valve by the method `auto`.
plan stiff_valve(std::int64_t count) {
  plan p         = valve(count);
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
      v[k]         = mark(tag, k / n, first + static_cast<std::int64_t>(k % n));
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
    const auto at      = static_cast<std::size_t>(i);
    c.status[at]       = static_cast<unsigned char>(status::finished);
    c.steps[at]        = 10 + first + i;
    c.rejected[at]     = 20 + first + i;
    c.evaluations[at]  = 30 + first + i;
    c.events[at]       = 40 + first + i;
    c.corrections[at]  = 50 + first + i;
    c.misordered[at]   = 60 + first + i;
    c.phantoms[at]     = 70 + first + i;
    c.undetermined[at] = 80 + first + i;
    c.residual[at]     = mark(11, 0, first + i);
    c.residual_of[at]  = (first + i) % 3 - 1;
    if ((first + i) % 2 == 1) c.switched[at] = mark(12, 0, first + i);
  }
  const auto times = static_cast<std::size_t>(p.sample_count);
  for (std::size_t k = 0; k < c.samples.size(); ++k)
    c.samples[k] =
        mark(10, k / times / static_cast<std::size_t>(count), first + static_cast<std::int64_t>(k / times) % count) +
        static_cast<double>(k % times) / 1024;
  return c;
}

const provenance origin = {"1.2.3", "abc123", "g++ 12", "8 lanes of AVX-512", "saltus run valve.toml"};

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
    "newton_failed", "singular",    "inconsistent", "stiff",        "bad_schedule"};

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
  plan p         = valve(7);
  p.sample_count = 3;
  p.reductions   = {{reduction::kind::max, false, 0, "max(lift)"}};
  chunk_data c   = marked(p, 0, 7);
  c.reset(p, 7, 5);
  EXPECT_EQ(c.first_id, 7);
  EXPECT_EQ(c.samples.size(), (2u + 1u) * 5u * 3u);
  for (const auto* v : {&c.parameters, &c.initial, &c.t_begin, &c.t_end, &c.final_state, &c.final_output,
                        &c.final_discrete, &c.t_final, &c.samples, &c.reductions}) {
    ASSERT_FALSE(v->empty());
    for (double x : *v) EXPECT_TRUE(std::isnan(x));
  }
  for (unsigned char s : c.status) EXPECT_EQ(s, static_cast<unsigned char>(status::not_run));
  for (const auto* v : c.counters()) EXPECT_EQ(*v, std::vector<long long>(5, 0));
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
  plan p           = valve(4);
  p.sample_count   = 3;
  p.reductions     = {{reduction::kind::max, false, 0, "max(lift)"}, {reduction::kind::min, true, 0, "min(force)"}};
  chunk_data   c   = marked(p, 0, 4);
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
  for (std::size_t j = 0; j < c.counters().size(); ++j) expect(*c.counters()[j], *less.counters()[j], 1, 0);
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
  abi::unit unit{};
  unit.record_reals = 2, unit.record_integers = 1;
  exception_list list;
  for (const long long slot : {3, 0, 2}) {
    const double    reals[]    = {10.0 * static_cast<double>(slot), 0.5};
    const long long integers[] = {slot};
    list.append(slot, {reals, integers}, unit);
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
  const plan         p = valve(3);
  chunk_data         c(p, 6, 3);
  const abi::batch   in  = c.batch();
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
  EXPECT_EQ(out.steps, c.steps.data());
  EXPECT_EQ(out.rejected, c.rejected.data());
  EXPECT_EQ(out.evaluations, c.evaluations.data());
  EXPECT_EQ(out.events, c.events.data());
  EXPECT_EQ(out.corrections, c.corrections.data());
  EXPECT_EQ(out.misordered, c.misordered.data());
  EXPECT_EQ(out.phantoms, c.phantoms.data());
  EXPECT_EQ(out.undetermined, c.undetermined.data());
  EXPECT_EQ(out.residual, c.residual.data());
  EXPECT_EQ(out.residual_of, c.residual_of.data());
  EXPECT_EQ(out.samples, c.samples.data());
  EXPECT_EQ(out.reductions, c.reductions.data());
}

TEST(chunk, tally_counts_every_status_once) {
  const plan p = valve(4);
  chunk_data c = marked(p, 0, 4);
  c.status     = {0, 1, 5, 10};
  tally t;
  t.add(c);
  t.add(c);
  EXPECT_EQ(t.ok(), 4);
  EXPECT_EQ(t.rescued(), 0);
  EXPECT_EQ(t.failed(), 2);
  EXPECT_EQ(t.not_finished(), 2);
  EXPECT_EQ(t.steps, 2 * (10 + 11 + 12 + 13));
  EXPECT_EQ(t.rejected, 2 * (20 + 21 + 22 + 23));
  EXPECT_EQ(t.evaluations, 2 * (30 + 31 + 32 + 33));
  EXPECT_EQ(t.events, 2 * (40 + 41 + 42 + 43));
  EXPECT_EQ(t.corrections, 2 * (50 + 51 + 52 + 53));
  EXPECT_EQ(t.misordered, 2 * (60 + 61 + 62 + 63));
  EXPECT_EQ(t.phantoms, 2 * (70 + 71 + 72 + 73));
  EXPECT_EQ(t.undetermined, 2 * (80 + 81 + 82 + 83));
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

TEST(chunk, events_have_the_names_of_guards_instants_and_ends_of_sliding) {
  EXPECT_EQ(event_names(valve(1).model), (std::vector<std::string>{"impact", "top", "end", "pulse", "leaves_top"}));
  EXPECT_TRUE(event_names(model{}).empty());
}

// ----------------------------------------------------------------------------------------------------------- the file

TEST(result, holds_inputs_finals_and_counters_whatever_the_chunks) {
  const folder dir;
  plan         p = valve(10);
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
                                    {"n_events", 40},
                                    {"location_steps", 50},
                                    {"misordered_events", 60},
                                    {"phantom_events", 70},
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
  plan         p = valve(2);
  p.sample_count = 2;
  p.log_events   = true;
  p.reductions   = {{reduction::kind::mean, false, 0, "mean(lift)"},
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
  const plan   p = valve(3);
  {
    result_writer writer(dir / "a.nc", p, origin);
    chunk_data    c = marked(p, 0, 3);
    c.status        = {0, 7, 10};
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
  const plan   p = valve(4);
  {
    result_writer writer(dir / "a.nc", p, origin);
    chunk_data    c = marked(p, 0, 3);
    c.status        = {0, 0, 5};
    c.exception     = {0, 8, 5};
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
    const plan    p = constrained_valve(5);
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
      plan p                  = valve(2);
      p.model.equations       = form;
      p.model.singular_mass   = form == abi::with_mass && index == 0;
      p.model.states[1].index = index;
      write_marked(dir / "form.nc", p, 2);
      EXPECT_EQ(reader(dir / "form.nc").has("residual"), index == 1);
      EXPECT_EQ(reader(dir / "form.nc").has("residual_of"), index == 1);
    }
}

TEST(result, tells_when_instances_went_over_to_the_stiff_method) {
  const folder dir;
  {
    const plan    p = stiff_valve(4);
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
  const plan   p = valve(2);
  write_marked(dir / "a.nc", p, 2);
  const reader r(dir / "a.nc");
  EXPECT_EQ(r.text("", "Conventions"), "CF-1.10");
  EXPECT_EQ(r.text("", "title"), "A valve");
  EXPECT_EQ(r.text("", "model"), "valve");
  EXPECT_EQ(r.text("", "model_source"), "made up");
  EXPECT_EQ(r.text("", "model_hash"), "abc123");
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

TEST(result, samples_on_common_times) {
  const folder dir;
  plan         p = valve(5);
  p.sample_count = 4;
  p.t_begin      = 1;
  p.t_end        = 7;
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
  plan         p = valve(3);
  p.sample_count = 3;
  also_varies(p, target::kind::t_end, 0);
  {
    result_writer writer(dir / "a.nc", p, origin);
    chunk_data    c = marked(p, 0, 3);
    c.t_begin       = {0, 0, 0};
    c.t_end         = {2, 4, 8};
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
  plan         p = valve(3);
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
  plan         p = valve(5);
  p.log_events   = true;
  const auto row = [](chunk_data& c, long long slot, double t, int guard) {
    const double before[] = {t + 0.25, t + 0.5}, after[] = {-t, -t - 0.5};
    c.log.append(slot, t, guard, before, after);
  };
  {
    result_writer writer(dir / "a.nc", p, origin);
    chunk_data    c = marked(p, 0, 3);  // instance 1 has no event; 0 and 2 come interleaved, twice at one time
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
  plan         p = valve(3);
  p.log_events   = true;
  write_marked(dir / "a.nc", p, 2);
  const reader r(dir / "a.nc");
  EXPECT_EQ(r.integers("event_row_size"), (std::vector<long long>{0, 0, 0}));
  EXPECT_TRUE(r.reals("event_time").empty());
}

TEST(result, a_model_without_guards_parameters_and_outputs) {
  const folder dir;
  plan         p;
  p.model.name   = "decay";
  p.model.states = {{"y", 1, "1", ""}};
  p.initial      = {nan};
  p.count        = 1;
  p.sample_count = 1;
  p.log_events   = true;
  write_marked(dir / "a.nc", p, 1);
  const reader r(dir / "a.nc");
  EXPECT_EQ(r.reals("final_y"), marks(5, 0, 1));
  EXPECT_EQ(r.reals("time"), std::vector<double>{1});
  EXPECT_FALSE(r.has_attribute("event_guard", "flag_values"));
}

TEST(result, reductions_by_their_written_names) {
  const folder dir;
  plan         p = valve(3);
  p.reductions   = {{reduction::kind::max, false, 1, "max(velocity)"}, {reduction::kind::min, true, 0, "min(force)"}};
  write_marked(dir / "a.nc", p, 2);
  const reader r(dir / "a.nc");
  EXPECT_EQ(r.reals("max(velocity)"), marks(9, 0, 3));
  EXPECT_EQ(r.reals("min(force)"), marks(9, 1, 3));
  EXPECT_EQ(r.text("max(velocity)", "units"), "m s-1");
  EXPECT_EQ(r.text("min(force)", "units"), "N");
}

TEST(result, what_was_never_written_was_not_run) {
  const folder dir;
  plan         p = valve(200'000);  // several chunks of the file: some begun, some never touched
  p.log_events   = true;
  p.compression  = 1;
  p.reductions   = {{reduction::kind::max, false, 0, "max(lift)"}};
  {
    result_writer writer(dir / "a.nc", p, origin);
    writer.write(marked(p, 0, 1000));
    writer.close(0);
  }
  const reader r(dir / "a.nc");
  const auto   status_of = r.integers("status"), steps = r.integers("steps"), rows = r.integers("event_row_size");
  const auto   final_lift = r.reals("final_lift"), flow = r.reals("flow"), largest = r.reals("max(lift)");
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
  plan         p = valve(20'000);
  write_marked(dir / "plain.nc", p, 5000);
  p.compression = 4;
  write_marked(dir / "small.nc", p, 5000);
  EXPECT_LT(fs::file_size(dir / "small.nc"), fs::file_size(dir / "plain.nc") / 2);
  const reader plain(dir / "plain.nc"), small(dir / "small.nc");
  for (const char* name : {"flow", "final_lift", "t_final"}) EXPECT_EQ(plain.reals(name), small.reals(name));
}

TEST(result, expected_bytes_are_those_of_the_file) {
  const folder dir;
  plan         p = valve(65'536);  // whole chunks of the file
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
  const plan   p = valve(3'000'000);  // 342 MB
  chunk_data   c = marked(p, 0, 100'000);
  rusage       before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  result_writer writer(dir / "a.nc", p, origin);
  for (c.first_id = 0; c.first_id < p.count; c.first_id += c.count) writer.write(c);
  writer.close(0);
  getrusage(RUSAGE_SELF, &after);
  EXPECT_GT(fs::file_size(dir / "a.nc"), 200'000'000u);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 50'000) << "kB; two file chunks for each of 16 variables are 16 MB";
}

TEST(result, appears_only_when_complete) {
  const folder dir;
  const plan   p = valve(4);
  std::ofstream(dir / "a.nc") << "the old one";
  {
    result_writer writer(dir / "a.nc", p, origin);
    writer.write(marked(p, 0, 2));
    EXPECT_TRUE(fs::exists(dir / "a.nc.part"));
  }
  EXPECT_FALSE(fs::exists(dir / "a.nc.part")) << "a writer that was not closed leaves nothing";
  EXPECT_EQ(fs::file_size(dir / "a.nc"), 11u) << "and the old file as it was";
  write_marked(dir / "a.nc", p, 4);
  EXPECT_FALSE(fs::exists(dir / "a.nc.part"));
  EXPECT_EQ(reader(dir / "a.nc").reals("flow"), marks(1, 1, 4));
}

TEST(result, refuses_chunks_out_of_order) {
  const folder  dir;
  const plan    p = valve(4);
  result_writer writer(dir / "a.nc", p, origin);
  EXPECT_THROW(writer.write(marked(p, 2, 2)), std::logic_error);
}

// ------------------------------------------------------------------------------------------------------- what can fail

TEST(result, names_that_would_meet_in_the_file) {
  const auto with_state = [](const char* name) {
    plan p                 = valve(2);
    p.model.states[1].name = name;
    return p;
  };
  EXPECT_NO_THROW(check_names(valve(2)));
  plan p                     = valve(2);
  p.model.parameters[1].name = "final_lift";
  const auto [code, text]    = complaint([&] { check_names(p); });
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
  p                          = valve(2);
  p.model.parameters[0].name = "instance";
  EXPECT_EQ(complaint([&] { check_names(p); }).first, exit_model);
  const folder dir;
  EXPECT_EQ(complaint([&] { result_writer(dir / "a.nc", p, origin); }).first, exit_model);
  EXPECT_FALSE(fs::exists(dir / "a.nc.part"));
}

TEST(result, reserved_names_are_those_the_file_may_hold) {
  const auto& reserved = reserved_names();
  for (const std::string& name : reserved) {
    plan p         = valve(2);
    p.sample_count = 2;
    p.log_events   = true;
    p.statistics   = true;
    if (name == "sample_time") also_varies(p, target::kind::t_end, 0);
    p.model.states[0].index    = 1;
    p.stiff_method             = "rodas5p";
    p.model.parameters[0].name = name;
    EXPECT_EQ(complaint([&] { check_names(p); }).first, exit_model) << name;
  }
}

TEST(result, unwritable_places) {
  const folder dir;
  const plan   p    = valve(2);
  const auto   at   = [&](const fs::path& path) { return complaint([&] { result_writer(path, p, origin); }); };
  auto [code, text] = at(dir / "missing/a.nc");
  EXPECT_EQ(code, exit_failure);
  EXPECT_NE(text.find((dir / "missing/a.nc").string()), std::string::npos) << text;
  EXPECT_NE(text.find("No such file or directory"), std::string::npos) << text;

  fs::create_directory(dir / "folder");
  std::tie(code, text) = at(dir / "folder");
  EXPECT_EQ(code, exit_failure);
  EXPECT_NE(text.find("not a regular file"), std::string::npos) << text;

  std::tie(code, text) = at("/dev/null");  // must not be replaced by a file, whoever runs this
  EXPECT_EQ(code, exit_failure);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));

  if (geteuid() != 0) {  // root may write anywhere
    fs::permissions(dir / "folder", fs::perms::owner_read | fs::perms::owner_exec);
    std::tie(code, text) = at(dir / "folder/a.nc");
    EXPECT_EQ(code, exit_failure);
    EXPECT_NE(text.find("Permission denied"), std::string::npos) << text;
  }
}

/// Writes 16 MB into a file that may not grow beyond `limit` bytes: a full disk to the writer (but EFBIG, not
/// ENOSPC). Ends the process, to see that nothing goes wrong on the way out either.
[[noreturn]] void write_with_limit(const fs::path& path, rlim_t limit) {
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit bound{limit, limit};
  setrlimit(RLIMIT_FSIZE, &bound);
  const plan p            = valve(200'000);
  const auto [code, text] = complaint([&] { write_marked(path, p, 50'000); });
  std::fprintf(stderr, "%s\n", text.c_str());
  std::exit(code);
}

TEST(result, full_disk) {
  const folder dir;
  for (rlim_t limit : {100, 100'000, 2'000'000, 15'000'000}) {  // the definitions, a first chunk, a later one, the end
    EXPECT_EXIT(write_with_limit(dir / "a.nc", limit), testing::ExitedWithCode(exit_failure),
                "cannot write .*a.nc: File too large")
        << limit;
    EXPECT_FALSE(fs::exists(dir / "a.nc") || fs::exists(dir / "a.nc.part")) << limit;
  }
}

// ---------------------------------------------------------------------------------------------------------------- show

/// What `show` prints.
std::string shown(const show_options& options) {
  char*       text = nullptr;
  std::size_t size = 0;
  std::FILE*  out  = open_memstream(&text, &size);
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
  plan p         = valve(4);
  p.sample_count = 2;
  p.log_events   = true;
  p.reductions   = {{reduction::kind::max, false, 0, "max(lift)"}};
  result_writer writer(dir / "mixed.nc", p, origin);
  chunk_data    c       = marked(p, 0, 4);
  c.status              = {0, 5, 1, 9};
  c.exception           = {0, 5, 8, 0};
  c.steps               = {100, 200, 600, 0};
  const double before[] = {0.5, -2}, after[] = {0.25, 1.5};
  c.log.append(2, 3.5, 1, before, after);
  c.log.append(2, 4.5, 0, after, before);
  c.log.append(2, 5.5, 3, after, before);
  writer.write(c);
  writer.close(2);
  return dir / "mixed.nc";
}

TEST(show, summary) {
  const folder      dir;
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
  expect_in_order(shown({.file = mixed(dir).string(), .json = true}),
                  {"{", "\"counters\" : {", "\"steps\" : {", "\"max\" : 600.0", "\"mean\" : 300.0", "\"min\" : 100.0",
                   "\"instances\" : 4", "\"model\" : \"valve\"", "\"rescued_from\" : {", "\"not_located\" : 1",
                   "\"seed\" : \"18446744073709551615\"", "\"status\" : {", "\"finished\" : 1", "\"not_finite\" : 1",
                   "\"variables\" : [", "\"dimensions\" : [", "\"instance\"", "\"name\" : \"flow\"", "}"});
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
  const plan    p = constrained_valve(3);
  result_writer writer(dir / "constrained.nc", p, origin);
  chunk_data    c = marked(p, 0, 3);
  c.status        = {0, 16, 9};
  c.residual      = {1.25e-9, 0.375, nan};
  c.residual_of   = {1, 1, -1};
  writer.write(c);
  writer.close(2);
  return dir / "constrained.nc";
}

TEST(show, residuals) {
  const folder      dir;
  const std::string file = constrained(dir).string();
  const auto        text = [&](std::int64_t i) { return shown({.file = file, .instance = i}); };
  expect_in_order(text(0), {"status finished",
                            "residual 1.25e-09 in the equation of velocity, the largest after any step", "parameters"});
  expect_in_order(text(1), {"status inconsistent: no values of the algebraic states were found", "remedy",
                            "residual 0.375 in the equation of velocity, the worst", "parameters"});
  EXPECT_EQ(text(2).find("in the equation of"), std::string::npos) << "it has none";
  expect_in_order(shown({.file = file, .instance = 1, .json = true}),
                  {"\"residual\" : 0.375", "\"residual_of\" : \"velocity\"", "\"name\" : \"inconsistent\""});
  expect_in_order(shown({.file = file, .instance = 2, .json = true}),
                  {"\"residual\" : \"NaN\"", "\"residual_of\" : \"\""});
  expect_in_order(shown({.file = file, .failed = true}),
                  {"instance flow residual of t_final status", "1 1001.125 0.375 velocity 1008 inconsistent",
                   "give better initial values"});
  expect_in_order(shown({.file = file, .failed = true, .json = true}),
                  {"\"instance\" : 1", "\"residual\" : 0.375", "\"residual_of\" : \"velocity\""});
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
  expect_in_order(shown({.file = file, .json = true}), {"\"method\" : \"auto\"", "\"switched\" : 2"});
  expect_in_order(shown({.file = file, .instance = 3}), {"status finished", "stiff went over to rodas5p at t = 3012"});
  EXPECT_EQ(shown({.file = file, .instance = 2}).find("went over"), std::string::npos);
  expect_in_order(shown({.file = file, .instance = 3, .json = true}), {"\"switched\" : 3012.0"});
  expect_in_order(shown({.file = file, .instance = 2, .json = true}), {"\"switched\" : \"NaN\""});
  const std::string plain = shown({.file = mixed(dir).string()});
  EXPECT_EQ(plain.find("went over"), std::string::npos);
}

TEST(show, one_instance_as_json) {
  const folder dir;
  expect_in_order(shown({.file = mixed(dir).string(), .instance = 2, .json = true}), {"\"counter\" : {",
                                                                                      "\"steps\" : 600",
                                                                                      "\"undetermined\" : 82",
                                                                                      "\"events\" : [",
                                                                                      "\"after\" : {",
                                                                                      "\"lift\" : 0.25",
                                                                                      "\"before\" : {",
                                                                                      "\"lift\" : 0.5",
                                                                                      "\"guard\" : \"top\"",
                                                                                      "\"time\" : 3.5",
                                                                                      "\"guard\" : \"impact\"",
                                                                                      "\"guard\" : \"pulse\"",
                                                                                      "\"exception\" : \"not_located\"",
                                                                                      "\"final\" : {",
                                                                                      "\"final_lift\" : 2005.0",
                                                                                      "\"instance\" : 2",
                                                                                      "\"parameter\" : {",
                                                                                      "\"flow\" : 2001.125",
                                                                                      "\"samples\" : {",
                                                                                      "\"time\" : [",
                                                                                      "40.0",
                                                                                      "\"name\" : \"stopped\""});
}

TEST(show, failed_instances) {
  const folder dir;
  expect_in_order(shown({.file = mixed(dir).string(), .failed = true}),
                  {"1 of 4 instances failed, 1 did not finish", "instance flow t_final status",
                   "1 1001.125 1008 not_finite", "not_finite (1): right-hand side", "look for a division by zero"});
  expect_in_order(
      shown({.file = mixed(dir).string(), .failed = true, .json = true}),
      {"\"failed\" : 1", "\"instances\" : [", "\"inputs\" : {", "\"flow\" : 1001.125", "\"instance\" : 1",
       "\"remedy\" : \"look for", "\"status\" : \"not_finite\"", "\"t_final\" : 1008.0", "\"not_finished\" : 1"});
}

TEST(show, many_failed_instances_are_counted) {
  const folder dir;
  const plan   p = valve(100);
  {
    result_writer writer(dir / "a.nc", p, origin);
    chunk_data    c = marked(p, 0, 100);
    c.status.assign(100, 2);
    writer.write(c);
    writer.close(0);
  }
  const std::string text = shown({.file = (dir / "a.nc").string(), .failed = true});
  expect_in_order(text, {"100 of 100 instances failed", "49 49001.125", "and 50 more", "step_budget (100)"});
  EXPECT_EQ(text.find("50001.125"), std::string::npos);
}

TEST(show, refuses_what_it_cannot_show) {
  const folder      dir;
  const std::string file = mixed(dir).string(), missing = (dir / "none.nc").string(), other = (dir / "other").string();
  const auto        of = [](show_options o) { return complaint([&] { show(o, stderr); }); };
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

// ------------------------------------------------------------------------------------------------------------ progress

TEST(progress, line) {
  EXPECT_EQ(progress_line("valve", 250, 1000, 30), "valve  250/1000  25.0 %  8.333/s  0:30 elapsed  1:30 left");
  EXPECT_EQ(progress_line("valve", 0, 1000, 0), "valve  0/1000  0.0 %  0:00 elapsed");
  EXPECT_EQ(progress_line("valve", 1000, 1000, 7384), "valve  1000/1000  100.0 %  0.1354/s  2:03:04 elapsed");
}

std::string off_terminal(bool quiet) {
  char*       text = nullptr;
  std::size_t size = 0;
  std::FILE*  out  = open_memstream(&text, &size);
  {
    progress                 bar(4000, "valve", quiet, out);
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
  int     master = -1, slave = -1;
  winsize size{24, static_cast<unsigned short>(columns), 0, 0};
  EXPECT_EQ(openpty(&master, &slave, nullptr, nullptr, &size), 0);
  std::FILE* out = fdopen(slave, "w");
  {
    progress bar(100, "valve", false, out);
    for (int i = 0; i < 100; ++i) bar.add(1);
  }
  std::fclose(out);
  std::string text;
  char        some[4096];
  for (ssize_t length; (length = read(master, some, sizeof some)) > 0;)
    text.append(some, static_cast<std::size_t>(length));
  close(master);
  return text;
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
