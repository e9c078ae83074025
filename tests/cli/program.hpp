// The program `saltus` from outside, as a child process with a cache of its own: its stdout and stderr, its exit code, and
// the files that it leaves. Results are read back through the NetCDF C library.
#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netcdf.h>
#include <nlohmann/json.hpp>

#include "abi/counters.hpp"
#include "models.hpp"

extern char** environ;

namespace command_line {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

using words = std::vector<std::string>;
using setting = std::map<std::string, std::string>;  // environment variables

inline std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

inline void write(const fs::path& file, const std::string& text) { std::ofstream(file, std::ios::binary) << text; }

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  if (at == text.npos) throw std::logic_error("the text has no " + from);
  return text.replace(at, from.size(), to);
}

/// Number of the first line that contains `what`, from 1.
inline int line_of(const std::string& text, const std::string& what) {
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<long>(text.find(what)), '\n'));
}

inline std::string on_path(const std::string& program) {
  std::stringstream path(std::getenv("PATH"));
  for (std::string folder; std::getline(path, folder, ':');)
    if (const fs::path file = fs::path(folder) / program; access(file.c_str(), X_OK) == 0) return file;
  return {};
}

/// The values in a JSON text by their paths, "status.finished", "models[0].model"; a list also by its length, "models#".
/// Throws if the text is not exactly one JSON value.
class json {
 public:
  explicit json(const std::string& text) : all_(nlohmann::json::parse(text)) {}
  std::string operator[](const std::string& path) const {
    if (path.back() == '#') return std::to_string(at(path.substr(0, path.size() - 1)).size());
    const auto& value = at(path);
    return value.is_string() ? value.get<std::string>() : value.dump();
  }
  double number(const std::string& path) const { return std::stod((*this)[path]); }

 private:
  const nlohmann::json& at(const std::string& path) const {
    const std::string open = std::regex_replace(path, std::regex(R"(\])"), "");
    return all_.at(nlohmann::json::json_pointer("/" + std::regex_replace(open, std::regex(R"([.\[])"), "/")));
  }
  nlohmann::json all_;
};

/// The variables of a result file, as bits.
class results {
 public:
  explicit results(const fs::path& path) {
    int file = -1, count = 0;
    if (nc_open(path.c_str(), NC_NOWRITE, &file) != NC_NOERR) throw std::runtime_error("not NetCDF: " + path.string());
    nc_inq_nvars(file, &count);
    for (int id = 0; id < count; ++id) {
      char name[NC_MAX_NAME + 1];
      int rank = 0, dimensions[NC_MAX_VAR_DIMS];
      std::size_t size = 1;
      nc_inq_var(file, id, name, nullptr, &rank, dimensions, nullptr);
      for (int d = 0; d < rank; ++d) {
        std::size_t length = 0;
        nc_inq_dimlen(file, dimensions[d], &length);
        size *= length;
      }
      auto& values = values_[name];
      values.resize(size);
      if (nc_get_var_double(file, id, values.data()) != NC_NOERR)
        throw std::runtime_error(std::string("unreadable: ") + name);
    }
    nc_close(file);
  }
  const std::vector<double>& operator[](const std::string& name) const { return values_.at(name); }

  static bool is_counter(const std::string& name) {
    return std::any_of(std::begin(saltus::abi::counter_table), std::end(saltus::abi::counter_table),
                       [&](const saltus::abi::counter_row& counter) { return counter.name == name; });
  }
  /// Names of all variables that must not depend on how a run is divided: all except the inputs.
  std::vector<std::string> outcomes() const {
    std::vector<std::string> names;
    for (const auto& [name, values] : values_)
      if (name.rfind("final_", 0) == 0 || name == "t_final" || name == "status" || name == "exception" ||
          is_counter(name) || name == "residual" || name == "residual_of" || name == "switched")
        names.push_back(name);
    return names;
  }

 private:
  std::map<std::string, std::vector<double>> values_;
};

inline bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

inline void expect_same_bits(const results& a, const results& b, const std::string& what) {
  ASSERT_GE(a.outcomes().size(), 12u);
  for (const auto& name : a.outcomes()) EXPECT_TRUE(same_bits(a[name], b[name])) << name << ", " << what;
}

/// A folder that all tests share; it is removed at the end.
inline const fs::path& workplace() {
  static const struct here {
    fs::path path;
    here() {
      std::string name = (fs::canonical(fs::temp_directory_path()) / "saltus_cli_XXXXXX").string();
      path = mkdtemp(name.data());
    }
    ~here() { fs::remove_all(path); }
  } here;
  return here.path;
}

struct outcome {
  int code = -1;  ///< exit code of the program, -1 if a signal ended it
  int signal = 0;
  std::string out, err;
  double seconds = 0;
};

/// A running program whose stdout and stderr go to files of their own.
class child {
 public:
  child(const std::string& program, const words& arguments, const fs::path& folder, const setting& settings,
        const std::string& out, int terminal = -1) {
    static int count = 0;
    const auto name = workplace() / fmt::format("child_{}", ++count);
    out_ = out.empty() ? name.string() + ".out" : out;
    err_ = name.string() + ".err";

    words kept;
    for (char** e = environ; *e; ++e) {
      const std::string variable(*e, std::strcspn(*e, "="));
      if (!settings.count(variable) && variable != "SALTUS_CXX" && variable != "NO_COLOR") kept.push_back(*e);
    }
    for (const auto& [variable, value] : settings) kept.push_back(variable + "=" + value);
    words given = {program};
    given.insert(given.end(), arguments.begin(), arguments.end());
    const auto pointers = [](words& list) {
      std::vector<char*> p;
      for (auto& w : list) p.push_back(w.data());
      p.push_back(nullptr);
      return p;
    };

    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addchdir_np(&files, folder.c_str());
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (terminal >= 0) posix_spawn_file_actions_adddup2(&files, terminal, STDERR_FILENO);
    else posix_spawn_file_actions_addopen(&files, STDERR_FILENO, err_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    const int failed =
        posix_spawn(&id_, program.c_str(), &files, nullptr, pointers(given).data(), pointers(kept).data());
    posix_spawn_file_actions_destroy(&files);
    if (failed) throw std::runtime_error("cannot run " + program + ": " + std::strerror(failed));
  }
  ~child() {
    if (id_ > 0) ::kill(id_, SIGKILL), wait();
  }
  child(const child&) = delete;
  child& operator=(const child&) = delete;

  void signal(int number) const { ::kill(id_, number); }

  /// Child processes that have not ended.
  std::vector<pid_t> started() const {
    std::istringstream text(read(fmt::format("/proc/{0}/task/{0}/children", id_)));
    return {std::istream_iterator<pid_t>(text), {}};
  }

  bool runs() {
    siginfo_t info{};
    return id_ > 0 && waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == 0;
  }

  /// Waits until `what` holds or the program has ended; false if it has ended first.
  bool wait_for(const std::function<bool()>& what) {
    while (!what()) {
      if (!runs()) return what();
      std::this_thread::sleep_for(2ms);
    }
    return true;
  }

  outcome wait() {
    int status = 0;
    ::waitpid(std::exchange(id_, 0), &status, 0);
    outcome o;
    if (WIFEXITED(status)) o.code = WEXITSTATUS(status);
    else o.signal = WTERMSIG(status);
    if (fs::is_regular_file(out_)) o.out = read(out_);
    o.err = read(err_);
    o.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    return o;
  }

 private:
  pid_t id_ = 0;
  std::string out_, err_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

class cli : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = workplace() / test->name();
    fs::create_directories(folder_);
    fs::create_directories(shared_cache());
    write(model(), oscillator);
  }

  static fs::path shared_cache() { return workplace() / "cache"; }
  /// The oscillator: one file for all tests, so that it compiles once.
  static std::string model() { return workplace() / "oscillator.hpp"; }
  const fs::path& folder() const { return folder_; }

  std::unique_ptr<child> start(const words& arguments, setting settings = {}, int terminal = -1) const {
    settings.emplace("SALTUS_CACHE", shared_cache());
    return std::make_unique<child>(SALTUS_PROGRAM, arguments, folder_, settings, stdout_, terminal);
  }
  outcome saltus(const words& arguments, const setting& settings = {}) const {
    return start(arguments, settings)->wait();
  }
  /// Runs a command that must succeed, and reads its file.
  results run(words arguments, const setting& settings = {}) const {
    static int count = 0;
    const auto file = fmt::format("run_{}.nc", ++count);
    arguments.insert(arguments.begin(), "run");
    arguments.insert(arguments.end(), {"--quiet", "-o", file});
    const auto o = saltus(arguments, settings);
    EXPECT_EQ(o.code, 0) << o.err;
    return results(folder_ / file);
  }

  /// A run of several minutes: 2 ms per instance on a fast core.
  static words endless() {
    return {"run",   model(),
            "--set", "t=[0,5000]",
            "--set", "rtol=1e-9",
            "--set", "sweep.stiffness={from=1.0, to=9.0, count=100000}",
            "--set", "run.checkpoint=0",
            "-o",    "long.nc"};
  }

  /// The compiled modules in a cache.
  static std::vector<fs::path> modules_in(const fs::path& cache) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(cache))
      if (std::regex_match(entry.path().filename().string(), std::regex("[0-9a-f]{32}\\.so")))
        files.push_back(entry.path());
    return files;
  }
  static std::size_t modules(const fs::path& cache) { return modules_in(cache).size(); }
  /// Files in a cache that are neither a compiled module nor a list of the files of one.
  static words debris(const fs::path& cache) {
    words names;
    for (const auto& entry : fs::directory_iterator(cache))
      if (!std::regex_match(entry.path().filename().string(), std::regex("[0-9a-f]{32}\\.(so|deps)|run")))
        names.push_back(entry.path().filename());
    return names;
  }
  static std::size_t entries(const fs::path& cache) {
    return static_cast<std::size_t>(
        std::count_if(fs::directory_iterator(cache), fs::directory_iterator(), [](const fs::directory_entry& one) {
          return one.path().filename() != "run" && one.path().filename() != "headers";  // kept headers, marks of runs
        }));
  }

  std::string stdout_;  ///< the file for stdout, if not one of its own

 private:
  fs::path folder_;
};

}  // namespace command_line
