// Results of invented plans whose chunks are written by hand, so that the test itself has set every expected number. They are
// read back through the NetCDF C library.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <netcdf.h>

#include "base/error.hpp"
#include "result/netcdf_writer.hpp"

namespace saltus::host::result_test {

namespace fs = std::filesystem;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// A separate folder for each test.
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

/// Reads a file back like any NetCDF program.
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

/// A valve with two states, three parameters, one output, one discrete variable, three guards (more than states), one of which
/// may slide, and a time event.
inline plan valve(std::int64_t count) {
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
  p.seed = 18446744073709551615u;  // the largest seed
  return p;
}

/// The valve with a constraint that determines its velocity.
inline plan constrained_valve(std::int64_t count) {
  plan p = valve(count);
  p.model.equations = abi::semi_explicit;
  p.model.states[1].index = 1;
  return p;
}

/// The valve with the method `auto`.
inline plan stiff_valve(std::int64_t count) {
  plan p = valve(count);
  p.stiff_method = "rodas5p";
  p.lasting_method = "radau5";
  return p;
}

inline void also_varies(plan& p, target::kind which, int index) {
  p.axes[0].columns.push_back({{which, index, ""}, ranged{0, 1, p.count, false}});
}

/// A number that identifies its place: `tag` of the array, column, instance.
inline double mark(double tag, std::size_t j, std::int64_t id) {
  return tag + static_cast<double>(j) / 8 + 1000.0 * static_cast<double>(id);
}

/// A chunk with a mark in every place.
inline chunk_data marked(const plan& p, std::int64_t first, std::int64_t count) {
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
    if ((first + i) % 2 == 1) {
      c.switched[at] = mark(12, 0, first + i);
      c.switched_to[at] = (first + i) % 4 == 1 ? 1 : 2;
    }
  }
  const auto times = static_cast<std::size_t>(p.sample_count);
  for (std::size_t k = 0; k < c.samples.size(); ++k)
    c.samples[k] =
        mark(10, k / times / static_cast<std::size_t>(count), first + static_cast<std::int64_t>(k / times) % count) +
        static_cast<double>(k % times) / 1024;
  return c;
}

inline const provenance origin = {.version = "1.2.3",
                                  .model_hash = "abc123",
                                  .compiler = "g++ 12",
                                  .device = "8 lanes of AVX-512",
                                  .command = "saltus run valve.toml",
                                  .module_hash = "def456",
                                  .model_text = "struct valve {};\n",
                                  .sources = {{"valve.hpp", "0123"}, {"runs.csv", "4567"}}};

inline void write_marked(const fs::path& path, const plan& p, std::int64_t chunk) {
  netcdf_writer writer(path, p, origin);
  for (std::int64_t first = 0; first < p.count; first += chunk)
    writer.write(marked(p, first, std::min(chunk, p.count - first)));
  writer.close(1.5);
}

inline std::vector<double> marks(double tag, std::size_t j, std::int64_t count) {
  std::vector<double> v;
  for (std::int64_t i = 0; i < count; ++i) v.push_back(mark(tag, j, i));
  return v;
}

/// Message and exit code of the `error` that `action` throws.
template <class Action>
std::pair<int, std::string> complaint(Action action) {
  try {
    action();
  } catch (const error& e) { return {e.exit_code, e.what()}; }
  return {-1, "no error"};
}

/// The names by number, as existing files contain them: entries may only be added.
inline const std::vector<std::string> status_names = {
    "finished",       "stopped",     "step_budget",  "event_budget", "step_too_small",  "not_finite", "bad_start",
    "event_loop",     "not_located", "not_run",      "interrupted",  "guard_violated",  "zeno",       "two_slides",
    "newton_failed",  "singular",    "inconsistent", "stiff",        "bad_schedule",    "time_limit", "model_threw",
    "model_crashed",  "no_impulses", "painleve",     "dead_point",   "modes_unsettled", "moved_far",  "chattering",
    "stiff_for_long", "queue_full",  "bad_delay",    "history_full"};

inline std::string content(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

inline std::set<std::string> names_in(const folder& dir) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(dir / "")) names.insert(entry.path().filename());
  return names;
}

using names = std::set<std::string>;

}  // namespace saltus::host::result_test
