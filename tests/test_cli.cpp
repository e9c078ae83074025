// The program `saltus` from outside: the real one as a child process, with a cache of its own; what it writes to stdout
// and stderr, what it returns, what it leaves behind. Results are read back through the NetCDF C library.
#include <fcntl.h>
#include <pty.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <netcdf.h>
#include <nlohmann/json.hpp>

#include "abi/counters.hpp"

extern char** environ;

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

using words = std::vector<std::string>;
using setting = std::map<std::string, std::string>;  // environment variables

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

void write(const fs::path& file, const std::string& text) { std::ofstream(file, std::ios::binary) << text; }

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  if (at == text.npos) throw std::logic_error("the text has no " + from);
  return text.replace(at, from.size(), to);
}

/// The line on which `what` stands first, from 1.
int line_of(const std::string& text, const std::string& what) {
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<long>(text.find(what)), '\n'));
}

std::string on_path(const std::string& program) {
  std::stringstream path(std::getenv("PATH"));
  for (std::string folder; std::getline(path, folder, ':');)
    if (const fs::path file = fs::path(folder) / program; access(file.c_str(), X_OK) == 0) return file;
  return {};
}

/// The values in a JSON text by their paths, "status.finished", "models[0].model"; a list also by its length, "models#".
/// Throws if the text is anything but one JSON value.
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
  /// Everything that must not depend on how a run is cut up: all but what the run was given.
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

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

void expect_same_bits(const results& a, const results& b, const std::string& what) {
  ASSERT_GE(a.outcomes().size(), 12u);
  for (const auto& name : a.outcomes()) EXPECT_TRUE(same_bits(a[name], b[name])) << name << ", " << what;
}

/// A folder that all tests share, and goes with them.
const fs::path& workplace() {
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
  int code = -1;  ///< what the program returned, -1 if a signal ended it
  int signal = 0;
  std::string out, err;
  double seconds = 0;
};

/// A program that runs; stdout and stderr go to files of its own.
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

  bool runs() {
    siginfo_t info{};
    return id_ > 0 && waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == 0;
  }

  /// Until something has happened or the program has ended; false if it has not.
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

/// A bilinear oscillator: spring 1 above rest, `stiffness` below. Released at 1 it passes rest at pi/2 with velocity -1.
/// From t = limit on its right-hand side is not a number; before, the term is exactly zero.
const std::string oscillator = R"(#include <saltus.hpp>

struct oscillator {
  static constexpr auto   title  = "Oscillator, \"soft\" above\\stiff below, by Jörg";
  static constexpr auto   source = "none";
  static constexpr double span[] = {0.0, 2.0};

  enum state { place, velocity };
  static constexpr saltus::variable<state> state_list[] = {
      {place, 1.0, "m", "distance from rest"},
      {velocity, 0.0, "m/s", "its rate"},
  };
  enum parameter { stiffness, limit };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {stiffness, 4.0, "1/s2", "of the lower spring"},
      {limit, 1e9, "s", "time at which the right-hand side ceases to be a number"},
  };
  enum guard { centre };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {centre, saltus::both, saltus::bilateral, "from one spring to the other"},
  };
  static void rhs(const auto& at, auto& dy) {
    dy[place]    = at[velocity];
    dy[velocity] = -select(at.above(centre), 1.0, at[stiffness]) * at[place] + 0.0 * sqrt(at[limit] - at.t);
  }
  static void guards(const auto& at, auto& g) { g[centre] = at[place]; }
};
)";

/// Decay with a rate that stands partly in the header, partly in a file that it includes.
const std::string decay = R"(#include <saltus.hpp>
#include "factor.hpp"

struct decay {
  static constexpr double span[] = {0.0, 1.0};
  enum state { amount };
  static constexpr saltus::variable<state> state_list[] = {{amount, 1.0, "kg", "what is left"}};
  static void rhs(const auto& at, auto& dy) { dy[amount] = -1.0 * factor * at[amount]; }
};
)";

/// x' = speed below zero, -speed above: it slides along zero. Kicked up by 0.1 at 0.25, 0.75, ...
const std::string relay = R"(#include <saltus.hpp>

struct relay {
  static constexpr double span[] = {0.0, 1.5};
  enum state { x };
  static constexpr saltus::variable<state> state_list[] = {{x, 1.0, "1", "what is controlled"}};
  enum parameter { speed };
  static constexpr saltus::variable<parameter> parameter_list[] = {{speed, 1.0, "1/s", "of the approach"}};
  enum guard { line };
  static constexpr saltus::event_function<guard> guard_list[] = {
      saltus::event_function<guard>{line, saltus::both, saltus::bilateral, "where the relay switches"}.sliding()};
  enum time_event { kick };
  static constexpr saltus::timed<time_event> time_event_list[] = {{kick, "what it must make up for"}};
  static void rhs(const auto& at, auto& dy) { dy[x] = select(at.above(line), -at[speed], at[speed]); }
  static void guards(const auto& at, auto& g) { g[line] = at[x]; }
  static void time_events(const auto&, auto& when) { when.every(kick, 0.5, 0.25); }
  static void transition(auto& now) {
    if (now.due(kick)) now[x] = now[x] + 0.1;
  }
};
)";

/// A tank that drains with the speed of Torricelli, square of speed = level - outlet (with g = 1/2), until that is half of what
/// it was at the start: speed falls by 1/2 in a unit of time. There is none for a level below the outlet.
const std::string tank = R"(#include <saltus.hpp>

struct tank {
  static constexpr double span[] = {0.0, 10.0};
  enum state { level, speed };
  static constexpr saltus::variable<state> state_list[] = {
      {level, 1.0, "m", "of the water"}, saltus::variable<state>{speed, 0.3, "m/s", "at the outlet"}.algebraic()};
  enum parameter { outlet };
  static constexpr saltus::variable<parameter> parameter_list[] = {{outlet, 0.0, "m", "height of the outlet"}};
  enum guard { half };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {half, saltus::falling, saltus::bilateral, "half of the speed at the start", saltus::terminal}};
  static void rhs(const auto& at, auto& dy) {
    dy[level] = -at[speed];
    dy[speed] = at[speed] * at[speed] - (at[level] - at[outlet]);
  }
  static void guards(const auto& at, auto& g) { g[half] = at[speed] * at[speed] - 0.25 * (1.0 - at[outlet]); }
};
)";

/// y goes after cos(t) the faster, the more eager it is; it starts at 1 and stays cos(t) whatever the eagerness.
const std::string chase = R"(#include <saltus.hpp>

struct chase {
  static constexpr double span[] = {0.0, 10.0};
  enum state { y };
  static constexpr saltus::variable<state> state_list[] = {{y, 1.0, "1", "follows the cosine"}};
  enum parameter { eagerness };
  static constexpr saltus::variable<parameter> parameter_list[] = {{eagerness, 1.0, "1", "rate of approach"}};
  enum guard { zero };
  static constexpr saltus::event_function<guard> guard_list[] = {{zero, saltus::both, saltus::bilateral, "y = 0"}};
  static void rhs(const auto& at, auto& dy) { dy[y] = -at[eagerness] * (at[y] - cos(at.t)) - sin(at.t); }
  static void guards(const auto& at, auto& g) { g[zero] = at[y]; }
};
)";

/// A ball whose transition does something bad at its third bounce; which, says `kind`.
const std::string unruly = R"(#include <saltus.hpp>
#include <cstdlib>
#include <stdexcept>

struct unruly {
  static constexpr double span[] = {0.0, 2.0};
  enum state { height, velocity };
  static constexpr saltus::variable<state> state_list[] = {{height, 1.0, "m", "of the ball"}, {velocity, 0.0, "m/s", "its rate"}};
  enum parameter { kind };
  static constexpr saltus::variable<parameter> parameter_list[] = {{kind, 0.0, "1", "of what it does"}};
  enum discrete { bounces };
  static constexpr saltus::variable<discrete> discrete_list[] = {{bounces, 0.0, "1", "so far"}};
  enum guard { floor };
  static constexpr saltus::event_function<guard> guard_list[] = {{floor, saltus::falling, saltus::unilateral, "the floor"}};
  static void rhs(const auto& at, auto& dy) {
    dy[height]   = at[velocity];
    dy[velocity] = -9.81;
  }
  static void guards(const auto& at, auto& g) { g[floor] = at[height]; }
  static int deeper(const volatile int* last, int n) {
    volatile int here[64];
    here[0] = n;
    return n < 0 ? 0 : deeper(here, n + 1) + here[0] + *last;
  }
  static void transition(auto& now) {
    now[velocity] = -0.9 * now[velocity];
    now[bounces]  = now[bounces] + 1.0;
    if (static_cast<double>(now[bounces].v) < 3.0) return;
    volatile int            zero    = 0;
    volatile int* volatile  nowhere = nullptr;
    switch (static_cast<int>(now[kind].v)) {
      case 1: throw std::runtime_error("three bounces are enough");
      case 2: *nowhere = 1; break;  // crashes
      case 3: std::exit(0);
      case 4: zero = deeper(&zero, 0); break;
      case 5: std::abort();
      case 6: while (true) zero = zero + 1;
    }
  }
};
)";

/// y' = y, but that its right-hand side cannot bear to be looked at, in the way that `how` says.
std::string shy(const std::string& how) {
  return R"(#include <saltus.hpp>
#include <cstdlib>
#include <stdexcept>

struct shy {
  static constexpr double span[] = {0.0, 1.0};
  enum state { y };
  static constexpr saltus::variable<state> state_list[] = {{y, 1.0, "1", "grows"}};
  static void rhs(const auto& at, auto& dy) {
    dy[y] = at[y];
    )" + how +
         R"(
  }
};
)";
}

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
  /// The oscillator: one file for all tests, so that it is compiled once.
  static std::string model() { return workplace() / "oscillator.hpp"; }
  const fs::path& folder() const { return folder_; }

  std::unique_ptr<child> start(const words& arguments, setting settings = {}, int terminal = -1) const {
    settings.emplace("SALTUS_CACHE", shared_cache());
    settings.emplace("SALTUS_MEASURE", "never");  // beside a run: how long that takes must not matter here
    return std::make_unique<child>(SALTUS_PROGRAM, arguments, folder_, settings, stdout_, terminal);
  }
  outcome saltus(const words& arguments, const setting& settings = {}) const {
    return start(arguments, settings)->wait();
  }
  /// Runs what is expected to go well, and reads its file.
  results run(words arguments, const setting& settings = {}) const {
    static int count = 0;
    const auto file = fmt::format("run_{}.nc", ++count);
    arguments.insert(arguments.begin(), "run");
    arguments.insert(arguments.end(), {"--quiet", "-o", file});
    const auto o = saltus(arguments, settings);
    EXPECT_EQ(o.code, 0) << o.err;
    return results(folder_ / file);
  }

  /// A run of minutes: 2 ms an instance on a fast core.
  static words endless() {
    return {"run",   model(),     "--set", "t=[0,5000]",
            "--set", "rtol=1e-9", "--set", "sweep.stiffness={from=1.0, to=9.0, count=100000}",
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
  /// What stands in a cache and is neither a compiled module nor a list of the files that one is made of.
  static words debris(const fs::path& cache) {
    words names;
    for (const auto& entry : fs::directory_iterator(cache))
      if (!std::regex_match(entry.path().filename().string(), std::regex("[0-9a-f]{32}\\.(so|deps)")))
        names.push_back(entry.path().filename());
    return names;
  }
  static std::size_t entries(const fs::path& cache) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(cache), {}));
  }

  std::string stdout_;  ///< where stdout goes, if not to a file of its own

 private:
  fs::path folder_;
};

// ------------------------------------------------------------------------------------------------------------- the commands

TEST_F(cli, alone_it_prints_its_help_and_counts_as_misused) {
  const auto o = saltus({});
  EXPECT_EQ(o.code, 2);
  EXPECT_EQ(o.out, "");
  for (const char* command : {"list", "describe", "check", "run", "bench", "show", "doctor"})
    EXPECT_NE(o.err.find(fmt::format("\n  {} ", command)), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("Exit codes: 0 ok"), std::string::npos) << o.err;
}

TEST_F(cli, every_command_has_a_help) {
  for (const std::string command : {"list", "describe", "check", "run", "bench", "show", "doctor"}) {
    const auto o = saltus({command, "--help"});
    EXPECT_EQ(o.code, 0);
    EXPECT_EQ(o.err, "");
    EXPECT_NE(o.out.find("Usage: saltus " + command), std::string::npos) << o.out;
    EXPECT_NE(o.out.find("--json"), std::string::npos) << o.out;
  }
  EXPECT_NE(saltus({"run", "--help"}).out.find("Usage: saltus run [OPTIONS] SPEC|MODEL"), std::string::npos);
  const auto version = saltus({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_TRUE(std::regex_match(version.out, std::regex("\\d+\\.\\d+\\.\\d+(\\+[0-9a-f]{7,40}(\\.modified)?)?\n")))
      << version.out;
}

TEST_F(cli, a_misused_command_line_gets_one_sentence_and_the_way_to_the_help) {
  const struct {
    words arguments;
    std::string err;
  } cases[] = {
      {{"rum", "lorenz"},
       "saltus: rum: unknown command; did you mean run? allowed: list, describe, check, run, bench, show, "
       "doctor\nsaltus "
       "--help tells more\n"},
      {{"run"}, "saltus run: SPEC|MODEL is required\nsaltus run --help tells more\n"},
      {{"describe"}, "saltus describe: MODEL is required\nsaltus describe --help tells more\n"},
      {{"show"}, "saltus show: FILE is required\nsaltus show --help tells more\n"},
      {{"run", "lorenz", "mao_1"}, "saltus run: mao_1: one argument too many\nsaltus run --help tells more\n"},
      {{"list", "--jsn"},
       "saltus list: --jsn: unknown flag; did you mean --json? allowed: --help, --json\nsaltus list --help tells "
       "more\n"},
      {{"run", "--thread", "2"},
       "saltus run: --thread: unknown flag; did you mean --threads? allowed: --help, --set, --seed, --method, "
       "--backend, --devices, --threads, "
       "--lanes, --chunk, --output, --json, --quiet, --force\nsaltus run --help tells more\n"},
      {{"run", "lorenz", "--set"}, "saltus run: --set: 1 required KEY=VALUE missing\nsaltus run --help tells more\n"},
  };
  for (const auto& c : cases) {
    const auto o = saltus(c.arguments);
    EXPECT_EQ(o.code, 2);
    EXPECT_EQ(o.out, "");
    EXPECT_EQ(o.err, c.err);
  }
}

TEST_F(cli, list_names_every_problem) {
  const auto text = saltus({"list"});
  EXPECT_EQ(text.code, 0);
  EXPECT_EQ(text.err, "");
  EXPECT_NE(text.out.find("bouncing_ball              Bouncing ball (2 states, 1 guard)\n"), std::string::npos)
      << text.out;
  EXPECT_NE(text.out.find("Izhikevich neuron (2 states, 1 guard, 1 time event)\n"), std::string::npos) << text.out;

  const auto object = saltus({"list", "--json"});
  EXPECT_EQ(object.code, 0);
  EXPECT_EQ(object.err, "");
  const json models(object.out);
  words listed, there;
  for (int i = 0; i < models.number("models#"); ++i) listed.push_back(models[fmt::format("models[{}].model", i)]);
  for (const auto& entry : fs::directory_iterator(fs::path(SALTUS_SOURCE_FOLDER) / "problems"))
    if (entry.path().extension() == ".hpp") there.push_back(entry.path().stem());
  std::sort(there.begin(), there.end());
  EXPECT_EQ(listed, there);
  EXPECT_EQ(std::count(text.out.begin(), text.out.end(), '\n'), models.number("models#"));
}

TEST_F(cli, describe_says_what_the_header_says) {
  const auto text = saltus({"describe", model()});
  EXPECT_EQ(text.code, 0);
  EXPECT_EQ(text.err, "");
  for (const char* line : {"oscillator: Oscillator, \"soft\" above\\stiff below, by Jörg\n", "t:      0 .. 2\n",
                           "stiffness                     4 1/s2       of the lower spring\n",
                           "centre             both     bilateral   from one spring to the other\n"})
    EXPECT_NE(text.out.find(line), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("file:   " + model() + "\n"), std::string::npos) << text.out;

  const auto object = saltus({"describe", "--json", model()});
  EXPECT_EQ(object.code, 0);
  EXPECT_EQ(object.err, "");
  const json model(object.out);
  EXPECT_EQ(model["model"], "oscillator");
  EXPECT_EQ(model["title"], "Oscillator, \"soft\" above\\stiff below, by Jörg");
  EXPECT_EQ(model["states[1].name"], "velocity");
  EXPECT_EQ(model["states[1].unit"], "m/s");
  EXPECT_EQ(model.number("parameters[0].default"), 4.0);
  EXPECT_EQ(model["guards[0].direction"], "both");
  EXPECT_EQ(model["outputs#"], "0");
}

TEST_F(cli, a_mechanical_system_is_described_by_its_constraints) {
  const auto text = saltus({"describe", "heavy_top"});
  EXPECT_EQ(text.code, 0) << text.err;
  for (const char* line : {"0 = Phi; 7 coordinates (1 unit quaternion), 3 constraints, 3 degrees of freedom\n",
                           "\nconstraints (kind, unit, meaning)\n",
                           "  joint_z            holonomic       m      the joint is at the origin, z\n",
                           "  p0                 unit quaternion        is of length one\n"})
    EXPECT_NE(text.out.find(line), std::string::npos) << text.out;
  const json object(saltus({"describe", "knife_edge", "--json"}).out);
  EXPECT_EQ(object["constraints#"], "1");
  EXPECT_EQ(object["constraints[0].name"], "blade");
  EXPECT_EQ(object["constraints[0].kind"], "nonholonomic");
}

TEST_F(cli, time_events_and_sliding_are_told) {
  write(folder() / "relay.hpp", relay);
  const auto text = saltus({"describe", "relay.hpp"});
  EXPECT_EQ(text.code, 0) << text.err;
  for (const char* line : {"line               both     bilateral   may slide where the relay switches\n",
                           "\ntime events (meaning)\n  kick               what it must make up for\n"})
    EXPECT_NE(text.out.find(line), std::string::npos) << text.out;
  const json object(saltus({"describe", "relay.hpp", "--json"}).out);
  EXPECT_EQ(object["guards[0].may_slide"], "true");
  EXPECT_EQ(object["time_events[0].name"], "kick");
  EXPECT_EQ(object["time_events[0].about"], "what it must make up for");
  const auto plan = saltus({"check", "./relay.hpp"});
  EXPECT_NE(plan.out.find("\nguards     line (both)\ntimes      kick\n"), std::string::npos) << plan.out << plan.err;

  // From 1 down to 0.75, up to 0.85, down to 0.35, up to 0.45: zero at 1.2, along it until 1.25, and again from 1.35 on.
  const auto r = run({"./relay.hpp", "--set", "output.events=true"});
  EXPECT_NEAR(r["final_x"][0], 0.0, 1e-12);
  std::vector<double> kicks, arrivals;
  for (std::size_t k = 0; k < r["event_time"].size(); ++k) {
    if (r["event_guard"][k] == 1) kicks.push_back(r["event_time"][k]);
    if (r["event_guard"][k] == 0) arrivals.push_back(r["event_time"][k]);
  }
  EXPECT_EQ(kicks, (std::vector<double>{0.25, 0.75, 1.25}));
  ASSERT_EQ(arrivals.size(), 2u);
  EXPECT_NEAR(arrivals[0], 1.2, 1e-12);
  EXPECT_NEAR(arrivals[1], 1.35, 1e-12);
}

TEST_F(cli, a_list_entry_may_leave_out_unit_and_meaning) {
  write(folder() / "brief.hpp",
        "#include <saltus.hpp>\nstruct brief {\n  enum state { x };\n"
        "  static constexpr saltus::variable<state> state_list[] = {{x, 1.0}};\n"
        "  static void rhs(const auto& at, auto& dy) { dy[x] = at[x]; }\n};\n");
  const auto o = saltus({"describe", "brief.hpp", "--json"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(json(o.out)["states[0].unit"], "");
}

TEST_F(cli, check_prints_the_plan_and_runs_nothing) {
  write(folder() / "sweep.toml",
        "model = \"" + model() +
            "\"\nrtol = 1e-8\n[sweep]\nstiffness = { from = 1.0, to = 9.0, count = 50 }\n"
            "[sample]\ncount = 20\nplace = { uniform = [0.5, 1.5] }\n[output]\nfile = \"sweep.nc\"\n");
  const auto text = saltus({"check", "sweep.toml"});
  EXPECT_EQ(text.code, 0);
  EXPECT_EQ(text.err, "");
  for (const char* line : {"model      oscillator (2 states, 2 parameters, 0 outputs)\n", "t          0 .. 2\n",
                           "instances  1000 = stiffness (50) x 20 samples, seed 0\n", "guards     centre (both)\n",
                           "output     sweep.nc, "})
    EXPECT_NE(text.out.find(line), std::string::npos) << text.out;

  const auto object = saltus({"check", "sweep.toml", "--json", "-n", "30"});
  EXPECT_EQ(object.code, 0);
  EXPECT_EQ(object.err, "");
  const json plan(object.out);
  EXPECT_EQ(plan.number("instances"), 1500);
  EXPECT_EQ(plan["guards[0]"], "centre");
  // 13 columns of 8 bytes for each instance (two inputs, two finals, t_final, eight counters), status and exception of 1;
  // 3 scalars
  EXPECT_EQ(plan.number("bytes"), 1500 * (13 * 8 + 2) + 3 * 8);
  EXPECT_FALSE(fs::exists(folder() / "sweep.nc"));
}

TEST_F(cli, run_keeps_data_on_stdout_and_messages_on_stderr) {
  const words four = {"run", model(), "--set", "sweep.stiffness=[1,4,9,16]", "-o", "four.nc"};
  const auto text = saltus(four);
  EXPECT_EQ(text.code, 0);
  EXPECT_TRUE(std::regex_search(text.out, std::regex("^4 oscillator in "))) << text.out;
  EXPECT_TRUE(std::regex_search(text.out, std::regex("\n  finished +4   reached the end of its time span\n")))
      << text.out;
  EXPECT_NE(text.out.find("\nwrote four.nc\n"), std::string::npos) << text.out;
  EXPECT_TRUE(std::regex_search(text.err, std::regex("oscillator  4/4  100.0 %"))) << text.err;
  EXPECT_EQ((text.out + text.err).find('\033'), std::string::npos) << "no colour away from a terminal";
  EXPECT_FALSE(fs::exists(folder() / "four.nc.part"));

  const auto again = saltus(four);
  EXPECT_EQ(again.code, 2);
  EXPECT_EQ(again.out, "");
  EXPECT_EQ(again.err,
            "saltus: output.file = \"four.nc\": it exists: --force replaces it, -o FILE gives another name\n");

  auto quietly = four;
  quietly.insert(quietly.end(), {"--force", "--quiet"});
  const auto quiet = saltus(quietly);
  EXPECT_EQ(quiet.code, 0);
  EXPECT_EQ(quiet.err, "");
  EXPECT_NE(quiet.out.find("\nwrote four.nc\n"), std::string::npos) << "the summary is data";

  auto as_json = four;
  as_json.insert(as_json.end(), {"--force", "--json"});
  const auto object = saltus(as_json);
  EXPECT_EQ(object.code, 0);
  EXPECT_TRUE(std::regex_search(object.err, std::regex("oscillator  4/4  100.0 %"))) << "progress is not data";
  const json summary(object.out);
  EXPECT_EQ(summary["model"], "oscillator");
  EXPECT_EQ(summary["method"], "dp5");
  EXPECT_EQ(summary["file"], "four.nc");
  EXPECT_EQ(summary.number("instances"), 4);
  EXPECT_EQ(summary.number("ok"), 4);
  EXPECT_EQ(summary.number("failed"), 0);
  EXPECT_EQ(summary.number("status.finished"), 4);
  EXPECT_EQ(summary.number("events"), 4) << "rest is passed once before t = 2";
  EXPECT_EQ(summary.number("exit_code"), 0);
}

TEST_F(cli, a_terminal_gets_a_bar_and_colour_unless_NO_COLOR) {
  const auto on_terminal = [&](const setting& settings) {
    int keyboard = -1, screen = -1;
    EXPECT_EQ(openpty(&keyboard, &screen, nullptr, nullptr, nullptr), 0);
    auto running = start({"run", model()}, settings, screen);
    close(screen);
    std::string seen;
    char piece[4096];
    for (ssize_t n; (n = ::read(keyboard, piece, sizeof piece)) > 0;) seen.append(piece, static_cast<std::size_t>(n));
    close(keyboard);
    EXPECT_EQ(running->wait().code, 0);
    return seen;
  };
  const auto coloured = on_terminal({{"TERM", "xterm"}});
  EXPECT_NE(coloured.find("\033[32m===="), std::string::npos) << coloured;
  const auto plain = on_terminal({{"TERM", "xterm"}, {"NO_COLOR", "1"}});
  EXPECT_EQ(plain.find("\033[32m"), std::string::npos) << plain;
  EXPECT_NE(plain.find("===="), std::string::npos) << plain;
}

TEST_F(cli, show_finds_what_run_has_written) {
  ASSERT_EQ(
      saltus({"run", model(), "-q", "--set", "rtol=1e-10", "--set", "sweep.limit=[-1.0, 3.0, 1.0]", "-o", "three.nc"})
          .code,
      3);
  const auto text = saltus({"show", "three.nc"});
  EXPECT_EQ(text.code, 0);
  EXPECT_EQ(text.err, "");
  EXPECT_NE(text.out.find("instances  3\n"), std::string::npos) << text.out;
  const json summary(saltus({"show", "three.nc", "--json"}).out);
  const auto failed = saltus({"show", "three.nc", "--failed"});
  EXPECT_EQ(failed.code, 0);
  EXPECT_NE(failed.out.find("three.nc: 2 of 3 instances failed"), std::string::npos) << failed.out;
  const json failures(saltus({"show", "three.nc", "--failed", "--json"}).out);
  EXPECT_EQ(failures["failed"], "2");
  EXPECT_EQ(failures["instances[0].status"], "bad_start");
  EXPECT_EQ(failures["instances[1].status"], "not_finite");

  // From rest at pi/2 with velocity -1 on: place = -sin(2 (t - pi/2)) / 2, at t = 2 that is sin(4) / 2.
  const auto one = saltus({"show", "three.nc", "--instance", "1"});
  EXPECT_EQ(one.code, 0);
  std::smatch m;
  ASSERT_TRUE(std::regex_search(one.out, m, std::regex("final_place +([-0-9.e]+) "))) << one.out;
  EXPECT_NEAR(std::stod(m[1]), std::sin(4.0) / 2, 1e-9);
  const json object(saltus({"show", "three.nc", "--instance", "1", "--json"}).out);

  const struct {
    words arguments;
    int code;
    std::string err;
  } wrong[] = {
      {{"three.nc", "--instance", "3"}, 2, "saltus: --instance 3: three.nc has instances 0 to 2\n"},
      {{"none.nc"}, 1, "saltus: cannot read none.nc: No such file or directory\n"},
      {{model()}, 1, "saltus: cannot read " + model() + ": NetCDF: Unknown file format\n"},
  };
  for (const auto& c : wrong) {
    auto arguments = c.arguments;
    arguments.insert(arguments.begin(), "show");
    const auto o = saltus(arguments);
    EXPECT_EQ(o.code, c.code);
    EXPECT_EQ(o.out, "");
    EXPECT_EQ(o.err, c.err);
  }
}

TEST_F(cli, the_built_in_models_are_listed_without_a_compiler) {
  const fs::path cache = folder() / "cache";
  const setting none = {{"SALTUS_CXX", "/nonexistent"}, {"SALTUS_CACHE", cache}};
  const auto o = saltus({"list", "--json"}, none);
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_GT(json(o.out).number("models#"), 40);
  EXPECT_FALSE(fs::exists(cache)) << "nothing was compiled";
}

// What saltus knows of its built-in models is what their files say, here or in another home, until they are changed.
TEST_F(cli, a_built_in_model_that_was_changed_is_what_its_file_says) {
  const fs::path house = folder() / "house", source = SALTUS_SOURCE_FOLDER;
  fs::create_directories(house);
  for (const char* sub : {"kernels", "problems"})
    fs::copy(source / sub, house / sub, fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  const setting own = {{"SALTUS_HOME", house}, {"SALTUS_CACHE", folder() / "cache"}};
  const auto of = [&](const std::string& name) {
    const auto o = saltus({"describe", "--json", name}, own);
    EXPECT_EQ(o.code, 0) << o.err;
    return o.out;
  };
  // Compiled, each must be what it is without a compiler: a family of states, a part of its own, guards and outputs.
  for (const std::string name :
       {"marble_jar_8", "ring_modulator_switched", "relief_valve", "robertson", "pulsed_dose"}) {
    const auto known = of(name);
    write(house / "problems" / (name + ".hpp"), "\n" + read(source / "problems" / (name + ".hpp")));
    EXPECT_EQ(known, of(name)) << name;
  }
  EXPECT_EQ(modules(folder() / "cache"), 5u);

  of("marble_jar_4");
  EXPECT_EQ(modules(folder() / "cache"), 5u) << "nothing of it has changed";
  const fs::path part = house / "problems/parts/marble_jar.hpp";
  write(part, read(part) + "\n");
  of("marble_jar_4");
  EXPECT_EQ(modules(folder() / "cache"), 6u) << "a part that it includes has changed";
  const fs::path lorenz = house / "problems/lorenz.hpp";
  write(lorenz, std::regex_replace(read(lorenz), std::regex("\\{rho, [0-9.]+"), "{rho, 29.5"));
  EXPECT_EQ(json(of("lorenz")).number("parameters[1].default"), 29.5);
}

TEST_F(cli, doctor_tells_what_works) {
  const auto text = saltus({"doctor"});
  EXPECT_EQ(text.code, 0);
  EXPECT_EQ(text.err, "");
  EXPECT_NE(text.out.find("\ncompiles   yes\n"), std::string::npos) << text.out;
  const auto object = saltus({"doctor", "--json"});
  EXPECT_EQ(object.code, 0);
  EXPECT_EQ(object.err, "");
  const json healthy(object.out);
  EXPECT_EQ(healthy["compiles"], "true");
  EXPECT_EQ(healthy["troubles#"], "0");
  EXPECT_EQ(healthy["lane_shapes#"], "0");
  EXPECT_NE(text.out.find("\nshapes     not measured yet: "), std::string::npos) << text.out;
  EXPECT_EQ(healthy["cache"], shared_cache().string());
  EXPECT_EQ(healthy.number("cache_files"), static_cast<double>(entries(shared_cache())));

  // It looks at everything, whatever it finds.
  const auto ill = saltus({"doctor"}, {{"SALTUS_CXX", "/nonexistent"}, {"SALTUS_CACHE", "/dev/null/cache"}});
  EXPECT_EQ(ill.code, 1);
  EXPECT_NE(ill.out.find("\ncompiler   no C++ compiler found (tried SALTUS_CXX = /nonexistent)"), std::string::npos)
      << ill.out;
  EXPECT_NE(ill.out.find("\ncache      /dev/null/cache: cannot create the cache folder: Not a directory"),
            std::string::npos)
      << ill.out;
  EXPECT_NE(ill.out.find("\ncompiles   no\n"), std::string::npos) << ill.out;
  const json both(
      saltus({"doctor", "--json"}, {{"SALTUS_CXX", "/nonexistent"}, {"SALTUS_CACHE", "/dev/null/cache"}}).out);
  EXPECT_EQ(both["troubles#"], "2");
  EXPECT_EQ(both["compiles"], "false");
}

TEST_F(cli, a_run_that_lasts_has_lanes_measured_beside_it) {
  const fs::path cache = folder() / "cache";
  const auto is_written = [&] {
    const auto names = debris(cache);
    return std::any_of(names.begin(), names.end(), [](const auto& name) { return name.ends_with(".machine"); });
  };
  setting own = {{"SALTUS_CACHE", cache}, {"SALTUS_MEASURE", "0"}};
  fs::create_directories(cache);
  auto running = start({"run", "lorenz", "-n", "1000000000", "--method", "bs3", "--threads", "1", "-q"}, own);
  ASSERT_TRUE(running->wait_for(is_written)) << running->wait().err;
  running->signal(SIGINT);
  EXPECT_EQ(running->wait().code, 130);
  const json known(saltus({"doctor", "--json"}, own).out);
  EXPECT_EQ(known["lane_shapes#"], "1");
  EXPECT_EQ(known["lane_shapes[0].method"], "bs3");
  EXPECT_EQ(known["lane_shapes[0].kind"], "smooth");
  EXPECT_GE(known.number("lane_shapes[0].gain"), 1);
  const auto text = saltus({"doctor"}, own).out;
  EXPECT_NE(text.find("\nshapes     bs3, smooth, double: "), std::string::npos) << text;
  // The next run has it from its beginning.
  const json run(saltus({"run", "lorenz", "--method", "bs3", "--json"}, own).out);
  const auto groups = known["lane_shapes[0].groups"], lanes = known["lane_shapes[0].lanes"];
  const auto shape = (groups == "1" ? "" : groups + " x ") + lanes + " lanes";
  EXPECT_NE(run["device"].find(" x " + shape + " of double"), std::string::npos) << run["device"] << ", not " << shape;
}

TEST_F(cli, when_lanes_are_measured_is_a_number_or_never) {
  const auto o = saltus({"run", model(), "--set", "t=[0,1]", "-q"}, {{"SALTUS_MEASURE", "soon"}});
  EXPECT_EQ(o.code, 2);
  EXPECT_EQ(o.err, "saltus: SALTUS_MEASURE = soon: must be a number of seconds, or never\n");
}

// ---------------------------------------------------------------------------------------------------------- errors of usage

TEST_F(cli, an_error_in_the_spec_names_file_line_and_column) {
  write(folder() / "runs.csv", "q,r\n1.0,2.0\nnan,3.0\n");
  const struct {
    const char *spec, *err;
  } cases[] = {
      {"model = \"relief_valve\"\n[parameters]\nflwo = 2.0\n",
       "spec.toml:3:1: parameters.flwo = 2.0: unknown key; did you mean flow? allowed: damping, preload, flow, "
       "compressibility, restitution"},
      {"model = \"relief_valve\"\n[sweep]\nflwo = [1.0]\n",
       "spec.toml:3:1: sweep.flwo = [1.0]: not a parameter or state of relief_valve; did you mean flow?"},
      {"model = \"relief_valve\"\nrtol = \"small\"\n", "spec.toml:2:8: rtol = \"small\": must be a positive number"},
      {"model = \"relief_valve\"\nrtol = -1\n", "spec.toml:2:8: rtol = -1: must be a positive number"},
      {"model = \"relief_valve\"\n[sweep]\n", "spec.toml:2:1: sweep = {}: must have at least one entry"},
      {"model = \"relief_valve\"\n[sweep]\nflow = []\n",
       "spec.toml:3:8: sweep.flow = []: must have at least one value"},
      {"model = \"relief_valve\"\n[initial]\nlift = nan\n",
       "spec.toml:3:8: initial.lift = nan: must be a finite number"},
      {"model = \"relief_valve\"\n[sweep]\nlift = [0.2, nan]\n",
       "spec.toml:3:14: sweep.lift[1] = nan: must be a finite number"},
      {"model = \"relief_valve\"\n[sweep]\nlift = { csv = \"runs.csv\", column = \"q\" }\n",
       "runs.csv:3:1: q = nan: must be a finite number"},
      {"model = \"relief_valve\"\n[sweep]\nlift = { csv = \"none.csv\", column = \"q\" }\n",
       "cannot read none.csv: No such file or directory"},
      {"model = \"relief_valve\"\nmethod = \"dp6\"\n",
       "spec.toml:2:10: method = \"dp6\": unknown word; did you mean dp5? allowed: kutta3, "},
      {"model = \"relief_valve\"\nmethode = \"dp5\"\n",
       "spec.toml:2:1: methode = \"dp5\": unknown key; did you mean method? allowed: model, method, "},
      {"model = \"relief_vlave\"\n", "spec.toml:1:9: model = \"relief_vlave\": no such built-in model"},
      {"model = \"relief_vlave\"\n", "did you mean relief_valve? allowed: "},
      {"model = \"./none.hpp\"\n", "spec.toml:1:9: model = \"./none.hpp\": no such file"},
      {"method = \"dp5\"\n", "model is missing"},
      {"model = \"relief_valve\nrtol = 1e-6\n", "spec.toml:1:"},
      {"model = \"relief_valve\"\nrtol = \n", "spec.toml:2:"},
  };
  for (const auto& c : cases) {
    write(folder() / "spec.toml", c.spec);
    for (const char* command : {"check", "run"}) {
      const auto o = saltus({command, "spec.toml", "-o", "out.nc"});
      EXPECT_EQ(o.code, 2) << c.spec;
      EXPECT_EQ(o.out, "") << c.spec;
      EXPECT_EQ(o.err.rfind("saltus: ", 0), 0u) << o.err;
      EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
      EXPECT_NE(o.err.find(c.err), std::string::npos) << o.err << "\n  instead of " << c.err;
    }
    EXPECT_FALSE(fs::exists(folder() / "out.nc") || fs::exists(folder() / "out.nc.part"));
  }
}

TEST_F(cli, an_error_in_a_flag_names_the_flag) {
  const struct {
    words arguments;
    const char* err;
  } cases[] = {
      {{"relief_valve", "--set", "flwo=3"},
       "saltus: --set flwo=3: flwo = 3: unknown key; did you mean flow? allowed: model, "},
      {{"relief_valve", "--set", "flow=fast"},
       "saltus: --set flow=fast: parameters.flow = \"fast\": must be a finite number\n"},
      {{"relief_valve", "--set", "lift=nan"}, "saltus: --set lift=nan: initial.lift = nan: must be a finite number\n"},
      {{"relief_valve", "--set", "rtol"},
       "saltus: --set rtol: must be key=value with a key such as rtol or sweep.flow.count\n"},
      {{"relief_valve", "--set", "sweep.flow=[]"},
       "saltus: --set sweep.flow=[]: sweep.flow = []: must have at least one value\n"},
      {{"relief_valve", "--method", "dp6"},
       "saltus: --method dp6: method = \"dp6\": unknown word; did you mean dp5? allowed: "},
      {{"relief_valve", "-n", "-5"}, "saltus: -n -5: sample.count = -5: must be a whole number from 1 to "},
      {{"relief_valve", "--lanes", "3"},
       "saltus: --lanes 3: run.lanes = 3: must be 0 (as wide as the machine), 1, 2, 4, 8, 16 or 32\n"},
      {{"relief_valve", "--backend", "gpu"},
       "saltus: --backend gpu: run.backend = \"gpu\": unknown word; did you mean cpu? allowed: auto, cpu, cuda, all\n"},
      {{"relief_vlave"},
       "saltus: model relief_vlave: no such built-in model (a model of your own is given as a path, "
       "./relief_vlave.hpp); "
       "did you mean relief_valve? allowed: "},
      {{"./none.hpp"}, "saltus: model ./none.hpp: no such file\n"},
      {{"none.toml"}, "saltus: none.toml: cannot be read: No such file or directory\n"},
  };
  for (const auto& c : cases) {
    auto arguments = c.arguments;
    arguments.insert(arguments.begin(), "run");
    const auto o = saltus(arguments);
    EXPECT_EQ(o.code, 2) << c.err;
    EXPECT_EQ(o.out, "");
    EXPECT_EQ(o.err.rfind(c.err, 0), 0u) << o.err << "\n  instead of " << c.err;
  }
}

TEST_F(cli, options_stand_before_and_behind_what_they_are_for) {
  write(folder() / "sweep.toml", "model = " + fmt::format("\"{}\"", model()) + "\n[sweep]\nstiffness = [1.0, 4.0]\n");
  const std::vector<words> options = {{"--set", "place=2"}, {"-n", "1"},          {"--seed", "3"},  {"--method", "dp5"},
                                      {"--backend", "cpu"}, {"--threads", "1"},   {"--lanes", "2"}, {"--chunk", "7"},
                                      {"-o", "z.nc"},       {"--output", "z.nc"}, {"--json"},       {"--quiet"}};
  const auto joined = [](words all, const words& more) {
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  for (const auto& option : options) {
    // In front, between other options, and behind.
    const words before = joined(joined({"check", "--no-pilot"}, option), {model(), "--set", "stiffness=5"});
    const words behind = joined({"check", model(), "--no-pilot", "--set", "stiffness=5"}, option);
    const auto one = saltus(before), other = saltus(behind);
    EXPECT_EQ(one.code, 0) << option[0] << ": " << one.err;
    EXPECT_EQ(other.code, 0) << option[0] << ": " << other.err;
    EXPECT_EQ(one.out, other.out) << option[0];
  }
  for (const words& all :
       {words{"run", "--threads", "1", model(), "--set", "stiffness=5"},
        words{"run", "-o", "z.nc", "--set", "stiffness=5", "--set", "place=2", model(), "-q"},
        words{"run", "--threads=1", "--force", "-oz.nc", model()}, words{"check", "--cuda", "sm_90", model()},
        words{"bench", "--backends", "cpu", "--rounds", "1", "--limit", "0.01", model()},
        words{"bench", model(), "--limit", "0.01", "--backends", "cpu", "--rounds", "1"},
        words{"show", "--instance", "0", "z.nc"}, words{"show", "z.nc", "--instance", "0"},
        words{"describe", "--json", model()}}) {
    const auto o = saltus(all);
    // Without CUDA the second line of `check --cuda` says so: not a word about its arguments.
    EXPECT_TRUE(o.code == 0 || all[1] == "--cuda") << fmt::format("{}", fmt::join(all, " ")) << ": " << o.err;
    EXPECT_EQ(o.err.find("argument too many"), std::string::npos) << o.err;
  }
  // What is one too many still is.
  EXPECT_EQ(saltus({"run", "--threads", "1", model(), "2"}).err,
            "saltus run: 2: one argument too many\nsaltus run --help tells more\n");
}

/// Warmth falls by 1 in a unit of time and never comes up; a body falls, but its floor waits for one that rises. `late` can
/// fire only after it was crossed the other way, at t = 1, and does so at t = 3.
const std::string houses = R"(#include <saltus.hpp>

struct houses {
  static constexpr double span[] = {0.0, 4.0};
  enum state { warmth, height };
  static constexpr saltus::variable<state> state_list[] = {{warmth, 20.0, "K", ""}, {height, 1.0, "m", ""}};
  enum guard { cold, hit, late, never, ever };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {cold, saltus::falling, saltus::bilateral, "below 18 K"},
      {hit, saltus::rising, saltus::bilateral, "the floor"},
      {late, saltus::falling, saltus::bilateral, "a parabola"},
      {never, saltus::falling, saltus::bilateral, "far away"},
      {ever, saltus::both, saltus::bilateral, "far away"}};
  static void rhs(const auto&, auto& dy) { dy[warmth] = dy[height] = -1.0; }
  static void guards(const auto& at, auto& g) {
    g[cold]  = at[warmth] - 18.0;
    g[hit]   = at[height];
    g[late]  = (at.t - 1.0) * (3.0 - at.t);
    g[never] = 100.0 - at.t;
    g[ever]  = at.t - 100.0;
  }
};
)";

TEST_F(cli, a_guard_that_can_never_fire_is_told) {
  write(folder() / "houses.hpp", houses);
  // From 16.5 to 25.5: two begin below 18, four pass it within four units of time, four stay above.
  const words asked = {"./houses.hpp", "--set", "sweep.warmth={from=16.5, to=25.5, count=10}"};
  const std::string cold = "guard `cold` began beyond zero in 2 instances and never fired",
                    hit = "guard `hit` was crossed only against its direction, rising, in 10 instances";
  const auto with = [&](words all) {
    all.insert(all.end(), asked.begin(), asked.end());
    return all;
  };
  for (const words& how : {words{}, words{"--lanes", "1"}, words{"--chunk", "3"}, words{"--set", "t=[0, 3.9]"},
                           words{"--set", "inject_exceptions=0.5"}, words{"--set", "zeno=0"}, words{"--method", "auto"},
                           words{"--set", "output.rows=false"}}) {
    words all = {"run", "--json", "-q"};
    all.insert(all.end(), how.begin(), how.end());
    const auto o = saltus(with(all));
    ASSERT_EQ(o.code, 0) << o.err;
    const json j(o.out);
    EXPECT_EQ(j["remarks#"], "2") << fmt::format("{}", fmt::join(how, " "));
    EXPECT_EQ(j["remarks[0]"], cold);
    EXPECT_EQ(j["remarks[1]"], hit);
    EXPECT_EQ(j["guards.cold.fired"], "4");
    EXPECT_EQ(j["guards.late.fired"], "10");
    EXPECT_EQ(j["guards.never.fired"], "0");
  }
  const auto summary = saltus(with({"run", "-q", "-o", "houses.nc"}));
  EXPECT_NE(summary.out.find("  " + cold + "\n  " + hit + "\n"), std::string::npos) << summary.out;
  const auto shown = saltus({"show", "houses.nc"});
  EXPECT_NE(shown.out.find(cold + "\n" + hit + "\n"), std::string::npos) << shown.out;
  const auto checked = saltus(with({"check"}));
  EXPECT_NE(checked.out.find("remark     of 10 tried: " + cold + "\n"), std::string::npos) << checked.out;
  // Nothing is said of what is as it should be: here all begin above.
  const auto good = saltus({"run", "./houses.hpp", "-q", "--set", "height=-1", "--json"});
  EXPECT_EQ(json(good.out)["remarks#"], "0") << good.out;
}

TEST_F(cli, a_warning_goes_to_stderr_and_into_json) {
  const auto said = saltus({"run", model(), "-q", "--set", "rtol=1e-15", "--json"});
  EXPECT_EQ(said.code, 0);
  EXPECT_EQ(said.err.rfind("saltus: warning: --set rtol=1e-15: rtol = 1e-15: below 1e-14 ", 0), 0u) << said.err;
  EXPECT_EQ(json(said.out)["warnings#"], "1");
  const auto silent = saltus({"check", model(), "--no-pilot", "--json"});
  EXPECT_EQ(silent.err, "");
  EXPECT_EQ(json(silent.out)["warnings#"], "0");
}

// ------------------------------------------------------------------------------------------- models that are none (or hardly)

/// A header with a mistake, and the one sentence that it must get: `line` is where in the header (0: the file as a whole),
/// `sentence` a regular expression for what follows.
struct mistake {
  std::string name, text;
  int line;
  std::string sentence;
  bool described = false;  ///< its description compiles, and is kept: what is wrong shows later
};

std::vector<mistake> mistakes() {
  const std::string list =
      "  static constexpr saltus::event_function<guard> guard_list[] = {\n"
      "      {centre, saltus::both, saltus::bilateral, \"from one spring to the other\"},\n  };\n";
  const std::string damping = "      {stiffness, 4.0, \"1/s2\", \"of the lower spring\"},\n";
  const std::string limit = "      {limit, 1e9, \"s\", \"time at which the right-hand side ceases to be a number\"},\n";
  std::vector<mistake> all;
  const auto named = [](const std::string& name) {
    return replaced(oscillator, "struct oscillator", "struct " + name);
  };
  const auto add = [&](const std::string& name, const std::string& from, const std::string& to,
                       const std::string& where, const std::string& sentence) {
    const auto text = replaced(named(name), from, to);
    all.push_back({name, text, where.empty() ? 0 : line_of(text, where), sentence});
  };
  add("no_semicolon", "at[velocity];", "at[velocity]", "at[velocity]", "expected ';' .*");
  add("misspelt", "-select(at.above(centre), 1.0, at[stiffness])", "-at[stifness]", "stifness",
      ".*'stifness'.*; did you mean 'stiffness'\\?");
  add("no_rhs", "void rhs", "void right_hand_side", "struct no_rhs",
      "the model has no right-hand side: write static void rhs\\(const auto& at, auto& dy\\)");
  add("rhs_not_static", "static void rhs", "void rhs", "void rhs",
      "the model has no right-hand side: write static void rhs\\(const auto& at, auto& dy\\)");
  add("guards_not_computed", "void guards", "void signs", "guard_list",
      "the model lists guards but does not compute them: write static void guards\\(const auto& at, auto& g\\)");
  add("guards_not_listed", list, "", "void guards",
      "the model computes guards but does not list them: add enum guard \\{ ... \\}; and guard_list\\[\\]");
  const std::string time_event =
      "  enum time_event { kick };\n  static constexpr saltus::timed<time_event> time_event_list[] = {{kick, \"\"}};\n";
  add("old_name", "saltus::event_function<guard>", "saltus::crossing<guard>", "saltus::crossing<guard>",
      "guards are listed as saltus::event_function<guard>, which was saltus::crossing<guard> once");
  add("time_events_without_times", "  enum guard", time_event + "  enum guard", "time_event_list",
      "the model lists time events but gives no times: write static void time_events\\(const auto& at, auto& when\\)");
  add("time_events_not_listed", "  static void rhs",
      "  static void time_events(const auto&, auto&) {}\n  static void rhs", "void time_events",
      "the model gives times of time events but does not list them: add enum time_event \\{ ... \\}; and "
      "time_event_list\\[\\]");
  add("wrong_order", damping + limit, limit + damping, "parameter_list",
      "the entries of parameter_list must stand in the order of enum parameter, each once");
  add("entry_missing", limit, "", "parameter_list",
      "enum parameter has more entries than parameter_list: give each its entry");
  add("state_missing", "{ place, velocity }", "{ place, velocity, rest }", "state_list",
      "enum state has more entries than state_list: give each its entry");
  add("no_states", "state_list", "states", "struct no_states",
      "a model needs at least one state: enum state \\{ ... \\}; and static constexpr saltus::variable<state> "
      "state_list\\[\\]");
  add("another_name", "struct another_name", "struct oscillator", "struct oscillator",
      "the file defines no struct another_name outside of namespaces: a model is named like its file");
  add("span_reversed", "{0.0, 2.0}", "{2.0, 0.0}", "{2.0, 0.0}", "span must be \\{begin, end\\} with begin < end");
  all.back().described = true;
  add("brace_missing", "g[centre] = at[place]; }", "g[centre] = at[place];", "struct brace_missing",
      "(a brace that is opened here or below is never closed|missing '\\}' at end of definition of 'brace_missing')");
  add("condition", "dy[place]    = at[velocity];", "if (at[place] > 0.0) dy[place] = at[velocity];", "if (at[place]",
      "a condition on values is select\\(condition, a, b\\) here, as it is asked for several instances at once");
  all.back().described = true;
  const std::string bare =
      "a bare name is a number in a list here, not a value: write at\\[name\\], or now\\[name\\] at an event";
  add("bare_product", "1.0, at[stiffness])", "1.0, 2.0 * stiffness)", "2.0 * stiffness", bare);
  add("bare_sign", "1.0, at[stiffness])", "1.0, -stiffness)", "-stiffness", bare);
  add("bare_condition", "1.0, at[stiffness])", "1.0, stiffness < 2.0 ? 1.0 : 2.0)", "stiffness < 2.0", bare);
  add("bare_difference", "g[centre] = at[place];", "g[centre] = at[place] - limit;", "- limit", bare);
  all.back().described = true;
  add("two_forms", "  static void guards",
      "  static void residual(const auto& at, const auto& dy, auto& r) { r[place] = dy[place] - at[velocity]; }\n"
      "  static void guards",
      "void residual", "the model has a right-hand side and a residual: write one of rhs and residual, not both");
  add("of_index_three", "{velocity, 0.0, \"m/s\", \"its rate\"}",
      "saltus::variable<state>{velocity, 0.0, \"m/s\", \"its rate\"}.algebraic(3)", ".algebraic",
      "the index of an algebraic state is 1 or 2");
  add("mass_of_states", "  static void guards",
      "  static void mass(const auto& at, auto& m) {\n    m(place, place) = 1.0;\n"
      "    m(velocity, velocity) = 2.0 + at[place];\n  }\n  static void guards",
      "m(velocity", "a mass matrix that depends on time or states says so: static constexpr bool mass_varies = true");
  all.back().described = true;
  all.push_back({"class", named("klass"), 0, ".*(identifier before 'class'|anonymous struct).*"});
  all.push_back({"not-a-name", named("not_a_name"), 0,
                 "the file must be named like the struct in it, so its name must be a C\\+\\+ identifier"});
  all.push_back(
      {"empty", "", 0, "the file defines no struct empty outside of namespaces: a model is named like its file"});
  return all;
}

class cli_compilers : public cli, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(all, cli_compilers, testing::Values("g++", "clang++"),
                         [](const auto& info) { return std::string(info.param) == "g++" ? "gcc" : "clang"; });

TEST_P(cli_compilers, a_model_with_a_mistake_gets_one_readable_error) {
  const auto compiler = on_path(GetParam());
  if (compiler.empty()) GTEST_SKIP() << GetParam() << " is not installed";
  // A blank in the path must not cut it short in the message.
  const fs::path place = folder() / "my models", cache = folder() / fmt::format("cache of {}", GetParam());
  fs::create_directories(place);
  std::size_t described = 0;
  for (const auto& m : mistakes()) {
    const fs::path header = place / (m.name + ".hpp");
    write(header, m.text);
    described += m.described;
    for (int attempt = 0; attempt < (m.name == "no_rhs" ? 2 : 1); ++attempt) {
      const auto o = saltus({"check", header}, {{"SALTUS_CXX", compiler}, {"SALTUS_CACHE", cache}});
      EXPECT_EQ(o.code, 4) << m.name;
      EXPECT_EQ(o.out, "") << m.name;
      const auto first = o.err.substr(0, o.err.find('\n') + 1), rest = o.err.substr(first.size());
      const auto begin = fmt::format("saltus: {}:", header.string());
      ASSERT_EQ(first.rfind(begin, 0), 0u) << m.name << ": " << o.err;
      // A compiler finds a missing semicolon where the next word begins.
      const auto where = m.line == 0                ? std::string()
                         : m.name == "no_semicolon" ? fmt::format("({}|{}):\\d+:", m.line, m.line + 1)
                                                    : fmt::format("{}:(\\d+:)?", m.line);
      EXPECT_TRUE(std::regex_match(first.substr(begin.size()), std::regex(where + " " + m.sentence + "\n")))
          << m.name << ": " << o.err;
      if (m.name == "not-a-name" || m.name == "span_reversed") {
        EXPECT_EQ(rest, "") << "no compiler has complained";
      } else {
        EXPECT_EQ(rest, fmt::format("  all of the compiler's output: {}\n", (cache / "last_failure.log").string()));
        EXPECT_TRUE(std::regex_search(read(cache / "last_failure.log"), std::regex("error: "))) << m.name;
      }
      EXPECT_EQ(debris(cache), words{"last_failure.log"}) << m.name;
      EXPECT_EQ(modules(cache), described) << m.name << ": what does not compile is not kept";
    }
  }
}

/// A ball that is thrown up with velocity 1 and falls from 1 with gravity g = 2, whose names are those of arguments, of a
/// description's own entries and of the letters of numerics, and whose functions are written as one writes scalar code.
const std::string scalar_code = R"(#include <saltus.hpp>

struct scalar_code {
  static constexpr double span[] = {0.0, 3.0};
  enum state { y, h, t };
  static constexpr saltus::variable<state> state_list[] = {
      {y, 1.0, "m", "height"}, {h, 9.0, "m/s", "velocity"}, {t, 9.0, "s", "time"}};
  enum parameter { g, p, source, title, dy, out };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {g, 2.0, "m/s2", ""}, {p, 0.5, "1", ""}, {source, 1.0, "1", ""}, {title, 0.0, "1", ""},
      {dy, 0.25, "1", ""}, {out, 3.0, "J", ""}};
  enum discrete { d };
  static constexpr saltus::variable<discrete> discrete_list[] = {{d, 0.0, "1", "impacts"}};
  enum guard { f, r };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {f, saltus::falling, saltus::unilateral, "floor"}, {r, saltus::rising, saltus::bilateral, "never"}};
  enum output { e };
  static constexpr saltus::derived<output> output_list[] = {{e, "J", "energy and what was added to it"}};

  static void initial(auto& at) {
    at[h] = sqrt(4) - pow(2.0, 3) / 8.0;
    at[t] = sin(0.0) + max(0, -1) + abs(-0.0) + floor(0.5);
  }
  static void rhs(const auto& at, auto& dy) {
    dy[y] = at[h] + 0.0 * at[dy];
    dy[h] = -at[g] * (sqrt(2.0) / sqrt(2));
    dy[t] = 0.0 * select(at[y] > 0.0, 1, 2);
    for (int i = 0; i < 3; ++i) dy[t] += select(i == 2, at[source], 0.0) * select(i == 2, 1.0, 7.0);
  }
  static void guards(const auto& at, auto& g) {
    g[f] = at[y];
    g[r] = at[h] - 100.0 * at[g] * select(at[h] > 0.0, 1.0, 2.0);
  }
  static void outputs(const auto& at, auto& out) { out[e] = at[g] * at[y] + 0.5 * at[h] * at[h] + at[out] + at[dy]; }
  static void transition(auto& now) {
    static constexpr double table[] = {0.5, 0.25};
    const int    n    = int(now[d]);
    const double back = static_cast<double>(now[h]);
    const bool   down = now[h] < 0.0, late = double(now.t) > 100.0;
    if (now.due(f) && down) {
      now[h] = -table[min(n, 1)] * back;
      now[d] = n + 1;
    }
    switch (int(now[d])) {
      case 7: now.stop(); break;
      default: break;
    }
    if (late) now.stop();
  }
};
)";

TEST_P(cli_compilers, a_model_may_be_written_as_scalar_code_with_natural_names) {
  const auto compiler = on_path(GetParam());
  if (compiler.empty()) GTEST_SKIP() << GetParam() << " is not installed";
  write(folder() / "scalar_code.hpp", scalar_code);
  // It falls with 1 + t - t^2 and lands at the golden ratio with velocity -sqrt(5), and rises with half of that.
  const double landing = (1 + std::sqrt(5.0)) / 2, v = std::sqrt(5.0) / 2, left = 3 - landing;
  for (const words& how :
       {words{}, words{"--lanes", "1"}, words{"--method", "rodas5p"}, words{"--set", "detection=certified"}}) {
    words all = {"./scalar_code.hpp", "--set", "rtol=1e-10"};
    all.insert(all.end(), how.begin(), how.end());
    const auto x = run(all, {{"SALTUS_CXX", compiler}});
    EXPECT_EQ(x["events"], (std::vector<double>{left > v ? 2.0 : 1.0}));
    EXPECT_EQ(x["final_d"], x["events"]);
    EXPECT_NEAR(x["final_t"][0], 3.0, 1e-9);
    // The second landing is v later, and takes a quarter of v.
    const double second = left - v;
    EXPECT_NEAR(x["final_y"][0], v / 4 * second - second * second, 1e-8);
    EXPECT_NEAR(x["final_e"][0], 2 * x["final_y"][0] + 0.5 * x["final_h"][0] * x["final_h"][0] + 3.25, 1e-9);
  }
}

// The compiler says which files a module is made of, so a change in any of them makes another one, however it is
// included.
TEST_P(cli_compilers, a_change_in_an_included_file_is_seen_however_it_is_included) {
  const auto compiler = on_path(GetParam());
  if (compiler.empty()) GTEST_SKIP() << GetParam() << " is not installed";
  const fs::path place = folder() / fmt::format("models of {} #1 $", GetParam());
  fs::create_directories(place / "near");
  fs::create_directories(place / "far");
  const struct {
    const char *name, *include, *file;
  } cases[] = {
      {"plain", "#include \"near/plain.h\"", "near/plain.h"},
      {"of_macro", "#define FILE \"near/of_macro.h\"\n#include FILE", "near/of_macro.h"},
      {"after_comment", "/* this one */ # /* and */ include \"near/after_comment.h\"", "near/after_comment.h"},
      {"continued", "#incl\\\nude \\\n \"near/continued.h\"", "near/continued.h"},
      {"digraph", "%:include \"near/digraph.h\"", "near/digraph.h"},
      {"path", "#include <path.h>", "far/path.h"},
      {"in_blanks", "#include \"near/in blanks.h\"", "near/in blanks.h"},
      {"at_second_hand", "#include \"near/between.h\"", "near/at_second_hand.h"},
  };
  write(place / "near/between.h", "#define OTHER \"at_second_hand.h\"\n#include OTHER\n");
  for (const char* variable : {"CPATH", "CPLUS_INCLUDE_PATH"}) {
    const setting own = {{"SALTUS_CXX", compiler}, {"SALTUS_CACHE", folder() / "cache"}, {variable, place / "far"}};
    for (const auto& c : cases) {
      const auto value_of = [&](double value) {
        write(place / c.file, fmt::format("#define VALUE {:.1f}\n", value));
        const auto o = saltus({"describe", "--json", place / (std::string(c.name) + ".hpp")}, own);
        EXPECT_EQ(o.code, 0) << c.name << ": " << o.err;
        return json(o.out).number("parameters[0].default");
      };
      write(place / (std::string(c.name) + ".hpp"),
            fmt::format(
                "#include <saltus.hpp>\n{}\nstruct {} {{\n"
                "  enum state {{ x }};\n"
                "  static constexpr saltus::variable<state> state_list[] = {{{{x, 1.0, \"1\", \"a state\"}}}};\n"
                "  enum parameter {{ p }};\n"
                "  static constexpr saltus::variable<parameter> parameter_list[] = {{{{p, VALUE, \"1\", \"\"}}}};\n"
                "  static void rhs(const auto& at, auto& dy) {{ dy[x] = -at[p] * at[x]; }}\n}};\n",
                c.include, c.name));
      EXPECT_EQ(value_of(1.5), 1.5) << c.name;
      EXPECT_EQ(value_of(2.5), 2.5) << c.name;
      const auto made = modules(folder() / "cache");
      EXPECT_EQ(value_of(1.5), 1.5) << c.name;
      EXPECT_EQ(modules(folder() / "cache"), made) << c.name << ": the first version is still there";
    }
  }
}

// What was not there when a model was compiled may change it, too.
TEST_P(cli_compilers, a_file_that_is_found_before_another_is_seen) {
  const auto compiler = on_path(GetParam());
  if (compiler.empty()) GTEST_SKIP() << GetParam() << " is not installed";
  const fs::path place = folder() / GetParam();
  for (const char* sub : {"first", "second"}) fs::create_directories(place / sub);
  const setting own = {{"SALTUS_CXX", compiler},
                       {"SALTUS_CACHE", folder() / "cache"},
                       {"CPATH", (place / "first").string() + ":" + (place / "second").string()}};
  const auto value = [](double v) { return fmt::format("#define VALUE {:.1f}\n", v); };
  const auto header = [](const std::string& includes, const char* name) {
    return fmt::format(
        "#include <saltus.hpp>\n{}\nstruct {} {{\n"
        "  enum state {{ x }};\n"
        "  static constexpr saltus::variable<state> state_list[] = {{{{x, VALUE, \"1\", \"\"}}}};\n"
        "  static void rhs(const auto& at, auto& dy) {{ dy[x] = -at[x]; }}\n}};\n",
        includes, name);
  };
  const auto value_in = [&](const char* name) {
    const auto o = saltus({"describe", "--json", place / (std::string(name) + ".hpp")}, own);
    EXPECT_EQ(o.code, 0) << o.err;
    return json(o.out).number("states[0].default");
  };
  write(place / "far.hpp", header("#include \"value.h\"", "far"));
  write(place / "second/value.h", value(2));
  EXPECT_EQ(value_in("far"), 2);
  write(place / "first/value.h", value(1));
  EXPECT_EQ(value_in("far"), 1) << "a folder that is searched before";
  write(place / "value.h", value(0.5));
  EXPECT_EQ(value_in("far"), 0.5) << "its own folder is searched first of all";
  fs::remove(place / "value.h");
  fs::remove(place / "first/value.h");
  EXPECT_EQ(value_in("far"), 2) << "as it was at first";

  write(place / "asks.hpp",
        header("#if __has_include(\"own.h\")\n#include \"own.h\"\n#else\n#define VALUE 3.0\n#endif", "asks"));
  EXPECT_EQ(value_in("asks"), 3);
  write(place / "own.h", value(4));
  EXPECT_EQ(value_in("asks"), 4);
}

TEST_F(cli, a_mistake_in_an_included_file_names_that_file) {
  write(folder() / "decay.hpp", decay);
  write(folder() / "factor.hpp", "#pragma once\ninline constexpr double factor = one;\n");
  const auto o = saltus({"run", "decay.hpp"});
  EXPECT_EQ(o.code, 4);
  EXPECT_TRUE(std::regex_search(o.err, std::regex("^saltus: [^\n]*/factor.hpp:2:\\d+: [^\n]*'one'"))) << o.err;
}

TEST_F(cli, a_function_without_a_body_is_a_mistake_of_the_model) {
  write(folder() / "hollow.hpp",
        "#include <saltus.hpp>\ndouble nowhere(double);\nstruct hollow {\n  enum state { x };\n"
        "  static constexpr saltus::variable<state> state_list[] = {{x, 1.0, \"1\", \"x\"}};\n"
        "  static void rhs(const auto& at, auto& dy) { dy[x] = nowhere(1.0) * at[x]; }\n};\n");
  const auto o = saltus({"run", "hollow.hpp"});
  EXPECT_EQ(o.code, 4);
  EXPECT_EQ(
      o.err.rfind(
          fmt::format("saltus: {}:2: nowhere is declared but not defined\n", (folder() / "hollow.hpp").string()), 0),
      0u)
      << o.err;
}

TEST_F(cli, line_endings_of_windows_are_no_mistake) {
  std::string text = replaced(oscillator, "struct oscillator", "struct windows");
  write(folder() / "windows.hpp", std::regex_replace(text, std::regex("\n"), "\r\n"));
  const auto o = saltus({"describe", "windows.hpp", "--json"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(json(o.out)["guards[0].name"], "centre");
}

// ------------------------------------------------------------------------------------------------- instances that go wrong

TEST_F(cli, instances_that_are_not_finite_leave_the_others_alone) {
  const std::string good = "0.9, 1.1, 1.3, 1.5, 1.7, 1.9, 2.1, 2.3, 2.5", bad_stiffness = "4.0, 4.0, 4.0";
  const auto alone = run({model(), "--set", "sweep.stiffness=[" + good + "]"});

  // The same nine, and between them three that fail: one at once, two on their way.
  write(folder() / "mixed.toml", "model = \"" + model() +
                                     "\"\n[sweep.zip]\n"
                                     "stiffness = [0.9, 4.0, 1.1, 1.3, 1.5, 4.0, 1.7, 1.9, 2.1, 2.3, 4.0, 2.5]\n"
                                     "limit     = [1e9, -1.0, 1e9, 1e9, 1e9, 0.5, 1e9, 1e9, 1e9, 1e9, 1.75, "
                                     "1e9]\n[output]\nfile = \"mixed.nc\"\n");
  const auto o = saltus({"run", "mixed.toml"});
  EXPECT_EQ(o.code, 3);
  EXPECT_TRUE(std::regex_search(o.out, std::regex("\n  finished +9 "))) << o.out;
  EXPECT_TRUE(std::regex_search(o.out, std::regex("\n  not_finite +2 "))) << o.out;
  EXPECT_TRUE(std::regex_search(o.out, std::regex("\n  bad_start +1 "))) << o.out;
  EXPECT_NE(o.err.find("3 of 12 instances failed, 0 % allowed (run.allowed_failed)\n"), std::string::npos) << o.err;

  const results mixed(folder() / "mixed.nc");
  std::size_t next = 0;
  for (std::size_t i = 0; i < 12; ++i) {
    const double limit = mixed["limit"][i];
    if (limit == 1e9) {
      for (const auto& name : alone.outcomes()) EXPECT_EQ(mixed[name][i], alone[name][next]) << name << " of " << i;
      ++next;
    } else if (limit < 0) {
      EXPECT_EQ(mixed["status"][i], 6) << "bad_start";
      EXPECT_EQ(mixed["t_final"][i], 0);
    } else {
      EXPECT_EQ(mixed["status"][i], 5) << "not_finite";
      EXPECT_LE(mixed["t_final"][i], limit);
      EXPECT_GT(mixed["t_final"][i], limit - 1e-6) << "it goes as far as there are numbers";
      EXPECT_TRUE(std::isfinite(mixed["final_place"][i]));
    }
  }
  EXPECT_EQ(next, 9u);

  EXPECT_EQ(saltus({"run", "mixed.toml", "--force", "--set", "run.allowed_failed=0.25"}).code, 0) << "3 of 12";
  EXPECT_EQ(saltus({"run", "mixed.toml", "--force", "--set", "run.allowed_failed=0.24"}).code, 3);
}

// ---------------------------------------------------------------------------------------------------- a world that goes wrong

TEST_F(cli, an_output_that_cannot_be_written_is_found_out_at_once) {
  fs::create_directories(folder() / "taken.nc");
  write(folder() / "notes.txt", "notes");
  const struct {
    std::string file;
    int code;
    std::string err;
  } cases[] = {
      {"none/out.nc", 1, "cannot write none/out.nc.part: No such file or directory"},
      {"taken.nc", 2, "output.file = \"taken.nc\": it exists and is not a regular file: give another name"},
      {"/dev/full", 2, "output.file = \"/dev/full\": it exists and is not a regular file: give another name"},
      {model() + "/out.nc", 1, "cannot write " + model() + "/out.nc.part: Not a directory"},
      {model(), 2, "output.file = \"" + model() + "\": this run reads it: give another name"},
      {"notes.txt", 2,
       "output.file = \"notes.txt\": it exists and is not a result of saltus: give another name, or remove it"},
  };
  for (const auto& c : cases) {
    const auto o = saltus({"run", model(), "-q", "--force", "-o", c.file});
    EXPECT_EQ(o.code, c.code);
    EXPECT_EQ(o.out, "");
    EXPECT_EQ(o.err, "saltus: " + c.err + "\n");
  }
  EXPECT_EQ(read(model()), oscillator);
  EXPECT_TRUE(fs::is_empty(folder() / "taken.nc"));
}

/// Files of this process and of its children may not grow beyond `bytes` while it lives: to a writer, a full disk.
class file_limit {
 public:
  explicit file_limit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
  }
  ~file_limit() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST_F(cli, a_disk_that_is_full_costs_nothing_that_was_finished) {
  const words many = {"run", model(),   "-q",     "--set", "sweep.stiffness={from=1.0, to=9.0, count=200000}",
                      "-o",  "many.nc", "--force"};
  ASSERT_EQ(saltus({"run", model(), "-q", "-o", "many.nc"}).code, 0) << "an older result";
  const std::string older = read(folder() / "many.nc");
  // 200000 instances make 21 MB, in pieces of 65536.
  for (const rlim_t limit : {0, 40'000, 16'000'000}) {
    std::unique_ptr<child> running;
    {
      const file_limit full(limit);
      running = start(many);
    }
    const auto o = running->wait();
    EXPECT_EQ(o.code, 1) << "at " << limit << ", signal " << o.signal;
    EXPECT_EQ(o.out, "");
    EXPECT_EQ(read(folder() / "many.nc"), older);
    if (limit < 1'000'000) {
      EXPECT_FALSE(fs::exists(folder() / "many.nc.part"));
      if (limit > 0) {
        EXPECT_TRUE(std::regex_match(o.err, std::regex("saltus: cannot write many.nc: .+\n"))) << o.err;
      }
      continue;
    }
    std::smatch m;
    ASSERT_TRUE(std::regex_match(o.err, m,
                                 std::regex("saltus: (\\d+) of 200000 instances are kept in many.nc.part\n"
                                            "saltus: cannot write many.nc: File too large\n")))
        << o.err;
    const results kept(folder() / "many.nc.part");
    EXPECT_EQ(std::count(kept["status"].begin(), kept["status"].end(), 0), std::stol(m[1]));
    EXPECT_GT(std::stol(m[1]), 60000);
  }
  // What was kept does not go with the next run either.
  const auto next = saltus(many);
  EXPECT_EQ(next.code, 0);
  EXPECT_EQ(next.err, "a run that did not end has left finished instances: they are now in many.nc.part.1\n");
  EXPECT_EQ(results(folder() / "many.nc")["status"], std::vector<double>(200000, 0.0));
  EXPECT_EQ(saltus({"show", "many.nc.part.1"}).code, 0);
  EXPECT_FALSE(fs::exists(folder() / "many.nc.part"));
}

TEST_F(cli, a_file_that_the_disk_has_no_room_for_is_refused_beforehand) {
  const words huge = {"run", "relief_valve", "--set", "sweep.flow={from=1, to=2, count=1e12}",
                      "-o",  "huge.nc",      "--set"};
  const auto with = [&](words list, const char* more) { return list.push_back(more), list; };
  const auto o = saltus(with(huge, "rtol=1e-6"));
  EXPECT_EQ(o.code, 1);
  EXPECT_TRUE(std::regex_match(o.err, std::regex("saltus: cannot write huge.nc: it will have \\d+.\\d TB, and .* are "
                                                 "free in \\.; fewer instances or samples, .*\n")))
      << o.err;
  const auto beyond = with(huge, "output.samples={count=1e7}");
  EXPECT_NE(saltus(beyond).err.find("it will have more than 9.2 EB (2^63 bytes), and "), std::string::npos);
  auto checked = beyond;
  checked[0] = "check";
  checked.push_back("--no-pilot");
  const auto plan = saltus(checked);
  EXPECT_EQ(plan.code, 0);
  EXPECT_NE(plan.out.find("output     huge.nc, more than 9.2 EB (2^63 bytes); "), std::string::npos) << plan.out;
  EXPECT_NE(plan.out.find(" are free in .: it does not fit\n"), std::string::npos) << plan.out;
  checked.push_back("--json");
  EXPECT_GT(json(saltus(checked).out).number("bytes"), 9.2e18);
  EXPECT_TRUE(!fs::exists(folder() / "huge.nc") && !fs::exists(folder() / "huge.nc.part"));
}

TEST_F(cli, two_runs_into_one_file_do_not_meet) {
  ASSERT_EQ(saltus({"check", model()}).code, 0) << "compiles";
  auto first = start(endless());
  ASSERT_TRUE(first->wait_for([&] { return fs::exists(folder() / "long.nc.part"); })) << first->wait().err;
  auto other = endless();
  other.push_back("--force");
  const auto second = saltus(other);
  EXPECT_EQ(second.code, 1);
  EXPECT_NE(second.err.find("saltus: cannot write long.nc: another run is writing long.nc.part: wait for it, or give "
                            "another name\n"),
            std::string::npos)
      << second.err;
  EXPECT_TRUE(fs::exists(folder() / "long.nc.part"));
  first->signal(SIGINT);
  EXPECT_EQ(first->wait().code, 130);
  EXPECT_EQ(results(folder() / "long.nc")["status"].size(), 100000u);

  // Of a run that was killed before it had written anything, the part is in nobody's way.
  auto killed = start(other);
  ASSERT_TRUE(killed->wait_for([&] { return fs::exists(folder() / "long.nc.part"); })) << killed->wait().err;
  killed->signal(SIGKILL);
  killed->wait();
  EXPECT_TRUE(fs::exists(folder() / "long.nc.part"));
  EXPECT_EQ(saltus({"run", model(), "-q", "--force", "-o", "long.nc"}).code, 0);
  EXPECT_FALSE(fs::exists(folder() / "long.nc.part"));
}

TEST_F(cli, a_run_does_not_write_over_what_it_reads) {
  const std::string spec = "model = \"" + model() + "\"\n[sweep]\nstiffness = { csv = \"runs.csv\", column = \"q\" }\n";
  write(folder() / "spec.toml", spec);
  write(folder() / "runs.csv", "q\n1.0\n2.0\n");
  for (const char* file : {"spec.toml", "./runs.csv"}) {
    const auto o = saltus({"run", "spec.toml", "--force", "-o", file});
    EXPECT_EQ(o.code, 2) << o.err;
    EXPECT_EQ(o.err, fmt::format("saltus: output.file = \"{}\": this run reads it: give another name\n", file));
  }
  EXPECT_EQ(read(folder() / "spec.toml"), spec);
  EXPECT_EQ(read(folder() / "runs.csv"), "q\n1.0\n2.0\n");
}

/// A text of a result file, by the name of the attribute.
std::string attribute(const fs::path& path, const char* name) {
  int file = -1;
  std::size_t length = 0;
  if (nc_open(path.c_str(), NC_NOWRITE, &file) != NC_NOERR) return {};
  std::string text;
  if (nc_inq_attlen(file, NC_GLOBAL, name, &length) == NC_NOERR) {
    text.resize(length);
    nc_get_att_text(file, NC_GLOBAL, name, text.data());
  }
  nc_close(file);
  return text;
}

TEST_F(cli, a_result_says_all_that_it_was_made_from) {
  const std::string spec = "model = \"" + model() + "\"\n[sweep]\nstiffness = { csv = \"runs.csv\", column = \"q\" }\n";
  write(folder() / "it's a spec.toml", spec);
  write(folder() / "runs.csv", "q\n1.0\n2.0\n");
  ASSERT_EQ(saltus({"run", "it's a spec.toml", "-q", "--set", "rtol=1e-7", "--set", "limit=5.0", "-o", "a b.nc"}).code,
            0);
  const auto first = folder() / "a b.nc";
  EXPECT_EQ(attribute(first, "model_text"), oscillator);
  const std::string sources = attribute(first, "sources");
  for (const std::string& file : {model(), std::string("it's a spec.toml"), std::string("runs.csv")})
    EXPECT_TRUE(std::regex_search(sources, std::regex("(^|\n)[0-9a-f]{32}  " + file + "\n"))) << sources;
  EXPECT_NE(attribute(first, "settings").find("\nrtol = 1e-07\natol = 1e-07\n"), std::string::npos);
  EXPECT_EQ(attribute(first, "saltus_version") + "\n", saltus({"--version"}).out);

  // The line in `history` runs again, and does the same.
  const std::string history = attribute(first, "history");
  const std::string line = history.substr(history.find(": ") + 2);
  fs::rename(first, folder() / "first.nc");
  const auto again = child("/bin/sh", {"-c", line}, folder(), {{"SALTUS_CACHE", shared_cache()}}, {}).wait();
  EXPECT_EQ(again.code, 0) << line << "\n" << again.err;
  expect_same_bits(results(folder() / "first.nc"), results(first), line);
  for (const char* name : {"model_hash", "module_hash", "settings", "sources", "spec"})
    EXPECT_EQ(attribute(folder() / "first.nc", name), attribute(first, name)) << name;

  // The hash of the model is that of its text; that of the module, of all that goes into it.
  ASSERT_EQ(saltus({"run", model(), "-q", "--method", "bs3", "-o", "other.nc"}).code, 0);
  EXPECT_EQ(attribute(folder() / "other.nc", "model_hash"), attribute(first, "model_hash"));
  EXPECT_NE(attribute(folder() / "other.nc", "module_hash"), attribute(first, "module_hash"));
  fs::create_directories(folder() / "copy");
  write(folder() / "copy/oscillator.hpp", oscillator);
  ASSERT_EQ(saltus({"run", "copy/oscillator.hpp", "-q", "-o", "copy.nc"}).code, 0);
  EXPECT_EQ(attribute(folder() / "copy.nc", "model_hash"), attribute(first, "model_hash"));
}

TEST_F(cli, a_stdout_that_cannot_be_written_is_an_error) {
  stdout_ = "/dev/full";
  for (const words& command :
       {words{"list"}, words{"describe", "relief_valve"}, words{"doctor", "--json"}, words{"run", model(), "-q"}}) {
    const auto o = saltus(command);
    EXPECT_EQ(o.code, 1) << command[0];
    EXPECT_NE(o.err.find("No space left on device"), std::string::npos) << command[0] << ": " << o.err;
  }
}

TEST_F(cli, all_without_a_device_is_the_cpu_and_says_so_but_a_device_that_is_named_must_be_there) {
  const json health(saltus({"doctor", "--json"}).out);
  if (health["cuda_absent"].empty()) GTEST_SKIP() << "there is a device: " << health["cuda_device"];
  const auto o = saltus({"run", model(), "--backend", "all", "--json", "-q"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_NE(json(o.out)["device"].find("; no CUDA device: " + health["cuda_absent"]), std::string::npos) << o.out;
  const auto named = saltus({"run", model(), "--backend", "all", "--devices", "0"});
  EXPECT_EQ(named.code, 5);
  EXPECT_EQ(named.err, "saltus: backend = \"all\": there is no device to use: " + health["cuda_absent"] + "\n");
}

TEST_F(cli, check_says_what_kernels_need_on_a_device_that_is_not_there) {
  const auto wrong = saltus({"check", "lorenz", "--cuda", "h200"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_EQ(wrong.err, "saltus: --cuda h200: must be an architecture such as sm_90\n");
  const auto o = saltus({"check", "lorenz", "--cuda", "sm_90"});
  if (o.err.find("built without CUDA") != std::string::npos) GTEST_SKIP() << o.err;
  EXPECT_EQ(o.code, 0) << o.err;
  for (const char* kernel : {"begin", "sail", "land"})
    EXPECT_NE(o.out.find(std::string("\n  ") + kernel), std::string::npos) << o.out;
}

TEST_F(cli, cuda_without_a_device_says_why) {
  const json health(saltus({"doctor", "--json"}).out);
  if (health["cuda_absent"].empty()) GTEST_SKIP() << "there is a device: " << health["cuda_device"];
  for (const char* command : {"run", "check"}) {
    const auto o = saltus({command, model(), "--backend", "cuda", "-o", "out.nc"});
    EXPECT_EQ(o.code, 5);
    EXPECT_EQ(o.out, "");
    EXPECT_EQ(o.err, "saltus: backend = \"cuda\": there is no device to use: " + health["cuda_absent"] + "\n");
  }
  EXPECT_FALSE(fs::exists(folder() / "out.nc"));
}

TEST_F(cli, a_compiler_that_is_missing_or_none_is_named) {
  const struct {
    setting settings;
    std::string err;  ///< a regular expression
  } cases[] = {
      {{{"SALTUS_CXX", "/nonexistent"}},
       "saltus: no C\\+\\+ compiler found \\(tried SALTUS_CXX = /nonexistent\\): install g\\+\\+ or clang\\+\\+, or "
       "set SALTUS_CXX to one\n"},
      {{{"SALTUS_CXX", "no-such-compiler"}},
       "saltus: no C\\+\\+ compiler found \\(tried SALTUS_CXX = no-such-compiler\\): [^\n]*\n"},
      {{{"SALTUS_CXX", on_path("false")}}, "saltus: no C\\+\\+ compiler found [^\n]*\n"},
      {{{"SALTUS_CXX", on_path("true")}},
       "saltus: [^\n]*/true compiles nothing: set SALTUS_CXX to a C\\+\\+ compiler\n"},
      {{{"SALTUS_CXX", on_path("cat")}},
       "saltus: [^\n]*/cat failed: [^\n]*/cat: [^\n]*\n  all of the compiler's output: [^\n]*\n"},
  };
  for (const auto& c : cases) {
    const auto o = saltus({"run", model()}, c.settings);
    EXPECT_EQ(o.code, 1);
    EXPECT_EQ(o.out, "");
    EXPECT_TRUE(std::regex_match(o.err, std::regex(c.err))) << o.err;
  }
  ASSERT_EQ(saltus({"describe", model()}).code, 0);
  EXPECT_EQ(saltus({"describe", model()}, {{"PATH", ""}}).code, 0) << "what is compiled needs no tools";
}

TEST_F(cli, a_cache_that_cannot_be_written_is_named) {
  write(folder() / "file", "");
  for (const fs::path& cache : {fs::path("/proc/none"), folder() / "file", fs::path("/dev/null/cache")}) {
    const auto o = saltus({"run", model()}, {{"SALTUS_CACHE", cache}});
    EXPECT_EQ(o.code, 1);
    EXPECT_EQ(o.out, "");
    EXPECT_TRUE(std::regex_match(
        o.err, std::regex(fmt::format(
                   "saltus: {}: cannot create the cache folder: [^\n]* \\(set SALTUS_CACHE to a writable one\\)\n",
                   cache.string()))))
        << o.err;
  }
  // It is there, but nothing can be created in it, not even by root.
  const auto o = saltus({"run", model()}, {{"SALTUS_CACHE", "/proc/self"}});
  EXPECT_EQ(o.code, 1);
  EXPECT_TRUE(std::regex_match(
      o.err,
      std::regex(
          "saltus: /proc/self: cannot write to the cache folder: [^\n]* \\(set SALTUS_CACHE to a writable one\\)\n")))
      << o.err;
}

// A module that is damaged, or not what was kept there, would be a wrong result, or a signal once it is loaded.
TEST_F(cli, a_damaged_module_is_made_anew) {
  const fs::path cache = folder() / "cache";
  const setting own = {{"SALTUS_CACHE", cache}};
  write(folder() / "decay.hpp", decay);
  write(folder() / "factor.hpp", "#pragma once\ninline constexpr double factor = 1.0;\n");
  const words arguments = {"./decay.hpp", "--set", "rtol=1e-10"};
  const results sound = run(arguments, own);
  ASSERT_EQ(modules(cache), 2u) << "the description and the integrator";
  const auto files = modules_in(cache);
  const std::map<std::string, std::function<std::string(std::string)>> damages = {
      {"cut in half", [](std::string code) { return code.substr(0, code.size() / 2); }},
      {"without its last byte", [](std::string code) { return code.substr(0, code.size() - 1); }},
      {"empty", [](std::string) { return std::string(); }},
      {"one bit flipped in its code",
       [](std::string code) {
         code[code.size() / 2] = static_cast<char>(code[code.size() / 2] ^ 4);
         return code;
       }},
      {"200 bytes flipped",
       [](std::string code) {
         for (std::size_t i = 0; i < 200; ++i) code[i * (code.size() / 200)] = '\xcc';
         return code;
       }},
      {"the other one of the two", [other = std::pair(read(files[0]), read(files[1]))](
                                       std::string code) { return code == other.first ? other.second : other.first; }},
      {"a text", [](std::string) { return std::string("half of a module"); }},
  };
  for (const auto& [what, damage] : damages) {
    for (const auto& file : files) write(file, damage(read(file)));
    expect_same_bits(sound, run(arguments, own), what);
    EXPECT_EQ(modules(cache), 2u);
    EXPECT_EQ(debris(cache), words{}) << what;
  }
  // A link to a sound module elsewhere is as good as somebody else's file.
  const fs::path elsewhere = folder() / "elsewhere.so";
  fs::rename(files[0], elsewhere);
  fs::create_symlink(elsewhere, files[0]);
  expect_same_bits(sound, run(arguments, own), "a link");
  EXPECT_FALSE(fs::is_symlink(files[0]));
}

TEST_F(cli, a_cache_that_somebody_else_may_write_to_is_refused) {
  const fs::path cache = folder() / "cache";
  const setting own = {{"SALTUS_CACHE", cache}};
  ASSERT_EQ(saltus({"describe", model()}, own).code, 0);
  EXPECT_EQ(fs::status(cache).permissions(), fs::perms::owner_all) << "it is made for this user alone";
  const auto refusal = [&](const char* why) {
    const auto o = saltus({"describe", model()}, own);
    EXPECT_EQ(o.code, 1) << why;
    EXPECT_EQ(o.out, "") << why;
    return o.err;
  };
  for (const auto others : {fs::perms::group_write, fs::perms::others_write}) {
    fs::permissions(cache, fs::perms::owner_all | others);
    EXPECT_EQ(
        refusal("writable").find(fmt::format("saltus: {0}: others may write to this cache folder", cache.string())),
        0u);
    EXPECT_NE(refusal("writable").find(fmt::format(": chmod go-w \"{}\"", cache.string())), std::string::npos);
  }
  fs::permissions(cache, fs::perms::group_write | fs::perms::others_write, fs::perm_options::remove);
  EXPECT_EQ(saltus({"describe", model()}, own).code, 0) << "the remedy";

  if (geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  ASSERT_EQ(chown(cache.c_str(), 65534, 65534), 0);
  const auto text = refusal("of somebody else");
  EXPECT_EQ(text.find(fmt::format("saltus: {}: this cache folder belongs to nobody", cache.string())), 0u) << text;
  EXPECT_NE(text.find("set SALTUS_CACHE to a folder of your own"), std::string::npos) << text;
  ASSERT_EQ(chown(cache.c_str(), 0, 0), 0);
  // A module that somebody else could put there meanwhile is not loaded, whatever it holds.
  const auto file = modules_in(cache).at(0);
  ASSERT_EQ(chown(file.c_str(), 65534, 65534), 0);
  EXPECT_EQ(saltus({"describe", model()}, own).code, 0);
  struct stat about {};
  ASSERT_EQ(stat(file.c_str(), &about), 0);
  EXPECT_EQ(about.st_uid, 0u) << "made anew";
}

TEST_F(cli, doctor_clears_the_cache_of_what_is_saltus_own) {
  const fs::path cache = folder() / "cache";
  const setting own = {{"SALTUS_CACHE", cache}};
  ASSERT_EQ(saltus({"describe", model()}, own).code, 0);
  ASSERT_EQ(saltus({"doctor"}, own).code, 0) << "compiles";
  write(cache / "notes.txt", "mine");
  fs::create_directory(cache / "folder");
  const json before(saltus({"doctor", "--json"}, own).out);
  ASSERT_GT(before.number("cache_files"), 1);
  EXPECT_EQ(before.number("cache_files"), static_cast<double>(entries(cache) - 2)) << "what is saltus' own";
  const auto o = saltus({"doctor", "--clear-cache", "--json"}, own);
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(json(o.out)["removed_files"], before["cache_files"]);
  EXPECT_EQ(json(o.out)["removed_bytes"], before["cache_bytes"]);
  words left = debris(cache);
  std::sort(left.begin(), left.end());
  EXPECT_EQ(left, (words{"folder", "notes.txt"}));
  EXPECT_EQ(modules(cache), 0u);
  EXPECT_EQ(saltus({"describe", model()}, own).code, 0);
  EXPECT_EQ(modules(cache), 1u);
}

// ------------------------------------------------------------------------------------------------------------- interruptions

TEST_F(cli, an_interrupted_run_keeps_what_is_finished) {
  ASSERT_EQ(saltus({"check", model()}).code, 0) << "compiles";
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    auto running = start(endless());
    ASSERT_TRUE(running->wait_for([&] { return fs::exists(folder() / "long.nc.part"); })) << running->wait().err;
    std::this_thread::sleep_for(1s);
    running->signal(number);
    if (number == SIGHUP) running->signal(number);  // a terminal that goes away may say so twice
    const auto sent = std::chrono::steady_clock::now();
    const auto o = running->wait();
    EXPECT_LT(std::chrono::steady_clock::now() - sent, 20s);
    EXPECT_EQ(o.code, 130) << "signal " << o.signal;
    EXPECT_TRUE(std::regex_search(o.err, std::regex("\ninterrupted: \\d+ instances did not finish\n$"))) << o.err;
    EXPECT_NE(o.out.find("\nwrote long.nc\n"), std::string::npos) << o.out;
    EXPECT_FALSE(fs::exists(folder() / "long.nc.part"));

    const results r(folder() / "long.nc");
    std::array<std::size_t, 11> by_status{}, as_expected{};
    for (std::size_t i = 0; i < 100000; ++i) {
      const auto status = static_cast<std::size_t>(r["status"][i]);
      const double t = r["t_final"][i];
      const bool started = std::isfinite(r["final_place"][i]);
      ++by_status.at(status);
      // Rest is passed at least once in every span of pi.
      if (status == 0) as_expected[status] += started && t == 5000 && r["events"][i] >= std::floor(5000 / M_PI);
      if (status == 9) as_expected[status] += !started && std::isnan(t) && r["steps"][i] == 0;
      if (status == 10) as_expected[status] += started && t >= 0 && t < 5000;
    }
    EXPECT_EQ(as_expected, by_status) << "finished, not_run and interrupted are what their names say";
    EXPECT_GT(by_status[0], 0u) << "finished";
    EXPECT_GT(by_status[9], 0u) << "not_run";
    EXPECT_GT(by_status[10], 0u) << "interrupted";
    EXPECT_EQ(by_status[0] + by_status[9] + by_status[10], 100000u);
    fs::remove(folder() / "long.nc");
  }
}

TEST_F(cli, a_second_signal_ends_the_program_at_once) {
  ASSERT_EQ(saltus({"check", model()}).code, 0) << "compiles";
  auto arguments = endless();
  arguments.insert(arguments.end(),
                   {"--chunk", "1"});  // a hundred thousand chunks to be written: an end that takes a while
  auto running = start(arguments);
  ASSERT_TRUE(running->wait_for([&] { return fs::exists(folder() / "long.nc.part"); })) << running->wait().err;
  std::this_thread::sleep_for(200ms);
  running->signal(SIGINT);
  std::this_thread::sleep_for(50ms);
  ASSERT_TRUE(running->runs()) << "it still has to write what was not run";
  running->signal(SIGINT);
  EXPECT_EQ(running->wait().signal, SIGINT);
  EXPECT_FALSE(fs::exists(folder() / "long.nc"));
}

TEST_F(cli, a_signal_that_is_ignored_stays_so) {  // as nohup does
  ASSERT_EQ(saltus({"check", model()}).code, 0) << "compiles";
  std::string command = "trap '' HUP; exec " SALTUS_PROGRAM;
  for (const auto& word : endless()) command += " '" + word + "'";
  child running("/bin/sh", {"-c", command}, folder(), {{"SALTUS_CACHE", shared_cache()}}, "");
  ASSERT_TRUE(running.wait_for([&] { return fs::exists(folder() / "long.nc.part"); })) << running.wait().err;
  running.signal(SIGHUP);
  std::this_thread::sleep_for(1s);
  EXPECT_TRUE(running.runs());
  running.signal(SIGTERM);
  EXPECT_EQ(running.wait().code, 130);
}

// ------------------------------------------------------------------------------------------- models that misbehave

/// 60 instances in chunks of 10, of which number 25 is of another kind.
words with_one(const std::string& kind) {
  std::string kinds;
  for (int i = 0; i < 60; ++i) kinds += (i ? "," : "") + (i == 25 ? kind : std::string("0"));
  return {"./unruly.hpp", "--force",
          "--set",        "sweep.kind=[" + kinds + "]",
          "--chunk",      "10",
          "--set",        "output.events=true",
          "--set",        "output.reduce=['max(height)']"};
}

TEST_F(cli, an_instance_whose_model_throws_fails_alone) {
  write(folder() / "unruly.hpp", unruly);
  const results good = run(with_one("0"));
  auto arguments = with_one("1");
  for (const words& shape : {words{"--lanes", "8"}, words{"--lanes", "1"}, words{"--threads", "1"}}) {
    auto line = arguments;
    line.insert(line.begin(), "run");
    line.insert(line.end(), {"-q", "-o", "a.nc"});
    line.insert(line.end(), shape.begin(), shape.end());
    const auto o = saltus(line);
    EXPECT_EQ(o.code, 3) << "more failed than allowed";
    EXPECT_NE(o.out.find("instance 25: three bounces are enough"), std::string::npos) << o.out;
    const results r(folder() / "a.nc");
    EXPECT_EQ(r["status"][25], 20) << "model_threw";
    EXPECT_EQ(r["event_row_size"][25], 0);
    std::size_t row = 0;
    for (std::size_t i = 0; i < 60; ++i) {
      for (const char* name :
           {"status", "final_height", "t_final", "steps", "events", "rhs_evaluations", "event_row_size", "max(height)"})
        EXPECT_TRUE(i == 25 || r[name][i] == good[name][i]) << name << " of " << i;
      for (std::size_t k = 0; k < static_cast<std::size_t>(r["event_row_size"][i]); ++k, ++row)
        EXPECT_EQ(r["event_instance"][row], i) << "each event stands there once";
    }
    EXPECT_EQ(row, r["event_time"].size());
  }
}

TEST_F(cli, where_every_instance_throws_all_are_told) {
  write(folder() / "shy.hpp", shy("throw std::runtime_error(\"not today\");"));
  const auto o = saltus({"run", "./shy.hpp", "-q", "--set", "sweep.y={from=1.0,to=2.0,count=100}", "--json"});
  EXPECT_EQ(o.code, 3) << o.err;
  const json all(o.out);
  EXPECT_EQ(all["status.model_threw"], "100");
  EXPECT_NE(all["model_threw"].find("not today"), std::string::npos);
}

TEST_F(cli, a_model_that_crashes_is_told_with_its_instance_and_function_and_the_rest_is_kept) {
  write(folder() / "unruly.hpp", unruly);
  const results good = run(with_one("0"));
  struct bad {
    const char *kind, *how, *function, *code;
  };
  for (const bad& b : {bad{"2", "SIGSEGV (Segmentation fault)", "transition", "*nowhere"},
                       bad{"3", "exit was called", "transition", "std::exit"},
                       bad{"4", "SIGSEGV (Segmentation fault)", "deeper", nullptr},
                       bad{"5", "SIGABRT (Aborted)", "transition", "std::abort"}}) {
    auto line = with_one(b.kind);
    line.insert(line.begin(), "run");
    line.insert(line.end(), {"-q", "-o", "a.nc", "--threads", "1"});
    const auto o = saltus(line);
    EXPECT_EQ(o.code, 1) << "signal " << o.signal << o.err;
    const auto expected =
        fmt::format("saltus: the model unruly crashed: {} in instance 25, in {}, {}/unruly.hpp:", b.how, b.function,
                    folder().string());
    EXPECT_EQ(o.err.find(expected), 0u) << o.err;
    if (b.code) { EXPECT_EQ(std::stoi(o.err.substr(expected.size())), line_of(unruly, b.code)) << o.err; }
    EXPECT_NE(o.err.find("those that did are in a.nc"), std::string::npos) << o.err;
    const results r(folder() / "a.nc");
    EXPECT_EQ(r["status"][25], 21) << "model_crashed";
    int kept = 0;
    for (std::size_t i = 0; i < 60; ++i)
      if (r["status"][i] == good["status"][i]) {
        ++kept;
        EXPECT_EQ(r["final_height"][i], good["final_height"][i]) << i;
        EXPECT_EQ(r["steps"][i], good["steps"][i]) << i;
      }
    EXPECT_GE(kept, 20) << "the chunks before it";
    EXPECT_FALSE(fs::exists(folder() / "a.nc.part"));
  }
}

TEST_F(cli, a_model_that_loops_can_be_interrupted_and_has_a_time_limit) {
  write(folder() / "unruly.hpp", unruly);
  const results good = run(with_one("0"));
  auto line = with_one("6");
  line.insert(line.begin(), "run");
  line.insert(line.end(), {"-q", "-o", "a.nc"});
  {
    auto running = start(line);
    // All the other chunks are done in much less time; the first seconds are the pilot's.
    ASSERT_TRUE(running->wait_for([&] { return fs::exists(folder() / "a.nc.part"); })) << running->wait().err;
    std::this_thread::sleep_for(2s);
    ASSERT_TRUE(running->runs());
    const auto sent = std::chrono::steady_clock::now();
    running->signal(SIGTERM);
    const auto o = running->wait();
    EXPECT_LT(std::chrono::steady_clock::now() - sent, 20s);
    EXPECT_EQ(o.code, 130) << "signal " << o.signal << o.err;
    const results r(folder() / "a.nc");
    EXPECT_EQ(r["status"][25], 10) << "interrupted";
    for (std::size_t i = 0; i < 60; ++i)
      if (i / 10 != 2) {
        EXPECT_EQ(r["status"][i], good["status"][i]) << i << ", of another chunk";
        EXPECT_EQ(r["final_height"][i], good["final_height"][i]) << i;
      }
  }
  line.insert(line.end(), {"--set", "run.instance_time_limit=1"});
  const auto o = saltus(line);
  EXPECT_EQ(o.code, 3) << "signal " << o.signal << o.err;
  const results r(folder() / "a.nc");
  for (std::size_t i = 0; i < 60; ++i) {
    EXPECT_EQ(r["status"][i], i == 25 ? 19 : good["status"][i]) << i << ": time_limit, and all others";
    if (i == 25) continue;
    for (const char* name : {"final_height", "t_final", "steps", "events", "event_row_size", "max(height)"})
      EXPECT_EQ(r[name][i], good[name][i]) << name << " of " << i;
  }
}

TEST_F(cli, one_slow_instance_does_not_hold_up_the_others) {
  constexpr std::size_t count = 600, slow = 123;
  const auto line = [&](double end, const words& more) {
    std::string spans = "end\n";
    for (std::size_t i = 0; i < count; ++i) spans += i == slow ? fmt::format("{}\n", end) : "2.0\n";
    write(folder() / "ends.csv", spans);
    words all = {model(),
                 "--set",
                 "sweep.t_end={csv='ends.csv',column='end'}",
                 "--set",
                 "max_steps=1e15",
                 "--set",
                 "max_events=1e15",
                 "--chunk",
                 "10",
                 "--threads",
                 "2"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const results good = run(line(2.0, {}));
  auto with = line(1e12, {"-o", "a.nc"});
  with.insert(with.begin(), "run");
  const auto expect_others_as_before = [&](int status_of_slow) {
    const results r(folder() / "a.nc");
    EXPECT_EQ(r["status"][slow], status_of_slow);
    EXPECT_GT(r["t_final"][slow], 2.0) << "it was on its way";
    for (std::size_t i = 0; i < count; ++i)
      for (const char* name : {"status", "final_place", "final_velocity", "t_final", "steps", "events"})
        EXPECT_TRUE(i == slow || r[name][i] == good[name][i]) << name << " of " << i;
  };
  {  // on a terminal, whose line is drawn anew several times a second
    int keyboard = -1, screen = -1;
    ASSERT_EQ(openpty(&keyboard, &screen, nullptr, nullptr, nullptr), 0);
    auto running = start(with, {{"TERM", "xterm"}}, screen);
    close(screen);
    std::string seen;
    char piece[4096];
    bool told = false;
    const auto begin = std::chrono::steady_clock::now();
    for (ssize_t n; (n = ::read(keyboard, piece, sizeof piece)) > 0;) {
      seen.append(piece, static_cast<std::size_t>(n));
      if (!told && (seen.find("599/600  99.8 %  1 instance (123) for 0:1") != seen.npos ||
                    std::chrono::steady_clock::now() - begin > 60s)) {
        running->signal(SIGTERM);
        told = true;
      }
    }
    close(keyboard);
    EXPECT_EQ(running->wait().code, 130);
    EXPECT_NE(seen.find("1 instance (123) for 0:1"), std::string::npos) << seen.substr(0, 2000);
    expect_others_as_before(10);
  }
  with.insert(with.end(), {"--set", "run.instance_time_limit=0.5", "-q", "--force"});
  const auto o = saltus(with);
  EXPECT_EQ(o.code, 3) << o.err;
  EXPECT_NE(o.out.find("time_limit                  1"), std::string::npos) << o.out;
  expect_others_as_before(19);
}

TEST_F(cli, a_pilot_of_a_bad_model_ends) {
  write(folder() / "unruly.hpp", unruly);
  const auto crash = saltus({"check", "./unruly.hpp", "--set", "kind=2"});
  EXPECT_EQ(crash.code, 1);
  EXPECT_EQ(crash.err,
            "saltus: the model unruly crashed in a pilot of a few instances: SIGSEGV (Segmentation fault); "
            "saltus run tells in which instance, and where\n");
  const auto leave = saltus({"check", "./unruly.hpp", "--set", "kind=3"});
  EXPECT_EQ(leave.code, 1) << "exit(0) is no success";
  EXPECT_NE(leave.err.find("exit was called"), std::string::npos) << leave.err;
  const auto loop = saltus({"check", "./unruly.hpp", "--set", "kind=6"});
  EXPECT_EQ(loop.code, 0) << loop.err;
  EXPECT_NE(loop.out.find("which had not ended: a guess"), std::string::npos) << loop.out;
  EXPECT_LT(loop.seconds, 60);
}

TEST_F(cli, a_model_that_does_not_bear_to_be_looked_at_is_described_all_the_same) {
  for (const char* how : {"throw std::runtime_error(\"no\");", "*static_cast<volatile int*>(nullptr) = 1;",
                          "std::exit(0);", "std::abort();"}) {
    write(folder() / "shy.hpp", shy(how));
    const auto o = saltus({"describe", "./shy.hpp"});
    EXPECT_EQ(o.code, 0) << how << o.err;
    EXPECT_NE(o.out.find("grows"), std::string::npos) << o.out;
    EXPECT_EQ(o.out.find("shy:"), 0u) << "said once: " << o.out;
  }
}

TEST_F(cli, an_interrupted_compilation_leaves_nothing) {
  const fs::path cache = folder() / "cache";
  const setting own = {{"SALTUS_CACHE", cache}};
  ASSERT_EQ(saltus({"describe", model()}, own).code, 0);
  ASSERT_EQ(modules(cache), 1u);
  for (const int number : {SIGINT, SIGTERM}) {
    auto running = start({"run", model()}, own);
    ASSERT_TRUE(running->wait_for([&] { return !debris(cache).empty(); })) << running->wait().err;
    running->signal(number);
    const auto o = running->wait();
    EXPECT_EQ(o.code, 130) << "signal " << o.signal;
    EXPECT_EQ(o.out, "");
    EXPECT_EQ(o.err, "saltus: interrupted while compiling\n");
    EXPECT_EQ(debris(cache), words{});
    EXPECT_EQ(modules(cache), 1u);
  }
}

// ------------------------------------------------------------------------------------------------------- a model of one's own

TEST_F(cli, a_header_of_ones_own_is_compiled_when_it_has_changed) {
  const setting own = {{"SALTUS_CACHE", folder() / "cache"}};
  const auto last = [&](const outcome& o) { return fmt::format("{:.2f} s: {}", o.seconds, o.err); };
  const words tiny = {"run", "./decay.hpp", "--set", "rtol=1e-10", "--set", "amount=3.0", "-o", "decay.nc", "--force"};
  write(folder() / "decay.hpp", decay);
  write(folder() / "factor.hpp", "#pragma once\ninline constexpr double factor = 1.0;\n");

  const auto first = saltus(tiny, own);
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_TRUE(std::regex_search(first.err, std::regex("^compiled decay with dp5 in \\d+\\.\\d s\n"))) << first.err;
  EXPECT_LT(first.seconds, 30) << "10 s is the promise on a machine that does nothing else";
  EXPECT_NEAR(results(folder() / "decay.nc")["final_amount"][0], 3 * std::exp(-1.0), 1e-8);

  const auto second = saltus(tiny, own);
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_EQ(second.err.find("compiled"), std::string::npos) << last(second);
  EXPECT_LT(second.seconds, 2) << "0.3 s is the promise on a machine that does nothing else";
  fmt::print("a model of one's own: first run {:.2f} s, second run {:.3f} s\n", first.seconds, second.seconds);

  write(folder() / "decay.hpp", replaced(decay, "-1.0 * factor", "-2.0 * factor"));
  const auto edited = saltus(tiny, own);
  EXPECT_NE(edited.err.find("compiled decay"), std::string::npos) << last(edited);
  EXPECT_NEAR(results(folder() / "decay.nc")["final_amount"][0], 3 * std::exp(-2.0), 1e-8);

  write(folder() / "factor.hpp", "#pragma once\ninline constexpr double factor = 0.25;\n");
  const auto included = saltus(tiny, own);
  EXPECT_NE(included.err.find("compiled decay"), std::string::npos) << last(included);
  EXPECT_NEAR(results(folder() / "decay.nc")["final_amount"][0], 3 * std::exp(-0.5), 1e-8);

  write(folder() / "decay.hpp", decay);
  write(folder() / "factor.hpp", "#pragma once\ninline constexpr double factor = 1.0;\n");
  const auto restored = saltus(tiny, own);
  EXPECT_EQ(restored.err.find("compiled"), std::string::npos) << "the first version is still there: " << last(restored);
  EXPECT_NEAR(results(folder() / "decay.nc")["final_amount"][0], 3 * std::exp(-1.0), 1e-8);
  EXPECT_EQ(debris(folder() / "cache"), words{});
}

TEST_F(cli, two_programs_may_compile_the_same_model_at_once) {
  const fs::path cache = folder() / "cache";
  write(folder() / "decay.hpp", decay);
  write(folder() / "factor.hpp", "inline constexpr double factor = 1.0;\n");
  auto one = start({"run", "./decay.hpp", "-o", "one.nc"}, {{"SALTUS_CACHE", cache}});
  auto two = start({"run", "./decay.hpp", "-o", "two.nc"}, {{"SALTUS_CACHE", cache}});
  const auto first = one->wait(), second = two->wait();
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(second.code, 0) << second.err;
  expect_same_bits(results(folder() / "one.nc"), results(folder() / "two.nc"), "one and two");
  EXPECT_EQ(modules(cache), 2u) << "the description and the integrator";
  EXPECT_EQ(debris(cache), words{});
}

// The module to which stiff instances go over is compiled when the first of them is there. Until it is, chunks wait, but a
// thread that has brought one so far integrates the next.
TEST_F(cli, lanes_go_on_while_another_module_is_compiled) {
  const fs::path cache = folder() / "cache", go = folder() / "go", compiler = folder() / "compiler";
  write(compiler, fmt::format("#!/bin/sh\n"
                              "for last in \"$@\"; do case \"$last\" in *.cpp) source=$last;; esac; done\n"
                              "if [ \"$source\" ] && grep -q rodas5p \"$source\"; then\n"
                              "  while [ ! -e '{}' ]; do sleep 0.02; done\nfi\n"
                              "exec '{}' \"$@\"\n",
                              go.string(), on_path("g++")));
  fs::permissions(compiler, fs::perms::owner_exec, fs::perm_options::add);
  write(folder() / "chase.hpp", chase);
  const setting own = {{"SALTUS_CXX", compiler}, {"SALTUS_CACHE", cache}, {"TERM", "xterm"}};
  const words auto_ = {"run",       "./chase.hpp", "--method", "auto",
                       "--threads", "1",           "--chunk",  "8",
                       "-n",        "32",          "--set",    "sample.eagerness={uniform=[1e6, 2e6]}"};
  const auto with = [&](words more) {
    more.insert(more.begin(), auto_.begin(), auto_.end());
    return more;
  };
  int terminal = -1, end = -1;
  ASSERT_EQ(openpty(&terminal, &end, nullptr, nullptr, nullptr), 0);
  fcntl(terminal, F_SETFL, O_NONBLOCK);
  std::string shown;
  const auto shows = [&](const char* form) {
    char piece[4096];
    for (ssize_t n; (n = ::read(terminal, piece, sizeof piece)) > 0;) shown.append(piece, static_cast<std::size_t>(n));
    return std::regex_search(shown, std::regex(form));
  };
  auto running = start(with({"-o", "one.nc"}), own, end);
  EXPECT_TRUE(running->wait_for([&] { return shows("16/32 .*compiling rodas5p, [1-9][0-9]* s"); })) << shown;
  write(go, "");
  EXPECT_TRUE(running->wait_for([&] { return shows("32/32"); })) << shown;
  EXPECT_EQ(running->wait().code, 0) << shown;
  close(end);
  close(terminal);
  const results one(folder() / "one.nc");
  for (const double t : one["switched"]) EXPECT_TRUE(std::isfinite(t)) << "all are stiff";
  EXPECT_EQ(saltus(with({"-o", "two.nc", "-q"}), own).code, 0);
  expect_same_bits(one, results(folder() / "two.nc"), "with the module from the cache");
}

// ------------------------------------------------------------------------------------------------------- flags and their bits

TEST_F(cli, set_reaches_parameters_states_and_keys) {
  const auto r = run({model(), "--set", "stiffness=9", "--set", "place=2", "--set", "t=[0.0, 2.5]", "--set",
                      "rtol=1e-11", "--method", "tsit5"});
  EXPECT_EQ(r["stiffness"], std::vector<double>{9});
  EXPECT_EQ(r["initial_place"], std::vector<double>{2});
  EXPECT_EQ(r["t_end"], std::vector<double>{2.5});
  // Rest at pi/2 with velocity -2, then place = -2/3 sin(3 (t - pi/2)): at 2.5 that is -2/3 cos(7.5).
  EXPECT_NEAR(r["final_place"][0], -2.0 / 3 * std::cos(7.5), 1e-9);
  EXPECT_NE(r["steps"], run({model(), "--set", "stiffness=9", "--set", "place=2", "--set", "t=[0.0, 2.5]", "--set",
                             "rtol=1e-11", "--method", "dp5"})["steps"])
      << "another method";
}

TEST_F(cli, a_run_backward_comes_from_where_a_run_forward_went) {
  // Below rest place = sin(2 t) / 2 and velocity = cos(2 t) for a stiffness of 4; above it place = cos(t).
  const auto r = run({model(), "--set", "t=[2, 0]", "--set", "rtol=1e-11", "--set",
                      fmt::format("place={}", std::sin(4.0) / 2), "--set", fmt::format("velocity={}", std::cos(4.0)),
                      "--set", "output.samples={times=[2.0, 1.8, 1.0, 0.0]}", "--set", "output.events=true"});
  EXPECT_EQ(r["t_final"], std::vector<double>{0});
  EXPECT_NEAR(r["final_place"][0], 1.0, 1e-9);
  EXPECT_NEAR(r["final_velocity"][0], 0.0, 1e-9);
  EXPECT_EQ(r["time"], (std::vector<double>{2, 1.8, 1, 0}));
  for (const auto& [k, place] : {std::pair{0, std::sin(4.0) / 2}, {1, std::sin(3.6) / 2}, {2, std::cos(1.0)}, {3, 1.0}})
    EXPECT_NEAR(r["place"][static_cast<std::size_t>(k)], place, 1e-9) << k;
  ASSERT_EQ(r["event_time"].size(), 1u);
  EXPECT_NEAR(r["event_time"][0], M_PI / 2, 1e-9);
}

TEST_F(cli, what_lanes_give_up_is_rescued) {
  const words sweep = {model(),
                       "--set",
                       "t=[0,20]",
                       "--set",
                       "rtol=1e-10",
                       "--set",
                       "output.events=true",
                       "--set",
                       "output.samples.count=9",
                       "--set",
                       "sweep.stiffness={from=0.5, to=9.0, count=300}"};
  const auto with = [&](const words& more) {
    words all = sweep;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const words shaken = with({"--set", "inject_exceptions=0.25"});
  const auto calm = run(sweep), saved = run(shaken);
  for (const words& how : {words{"--lanes", "1"}, words{"--lanes", "4", "--threads", "2", "--chunk", "7"}}) {
    auto cut_up = shaken;
    cut_up.insert(cut_up.end(), how.begin(), how.end());
    expect_same_bits(saved, run(cut_up), fmt::format("{}", fmt::join(how, " ")));
  }
  std::size_t rescued = 0;
  for (std::size_t i = 0; i < 300; ++i) {
    const bool alone = saved["exception"][i] == 0;
    rescued += !alone;
    EXPECT_EQ(saved["status"][i], 0) << i;
    EXPECT_EQ(saved["events"][i], calm["events"][i]) << i;
    for (const char* name : {"final_place", "final_velocity"})
      EXPECT_NEAR(saved[name][i], calm[name][i], alone ? 0.0 : 1e-7) << name << " of " << i;
    for (std::size_t k = 9 * i; k < 9 * i + 9; ++k) EXPECT_NEAR(saved["place"][k], calm["place"][k], 1e-7) << i;
  }
  EXPECT_NEAR(static_cast<double>(rescued), 75, 34) << "four and a half standard deviations, 7.5 each";
  ASSERT_EQ(saved["event_row_size"], calm["event_row_size"]) << "no event lost, none twice";
  for (std::size_t k = 0; k < saved["event_time"].size(); ++k)
    EXPECT_NEAR(saved["event_time"][k], calm["event_time"][k], 1e-7);

  auto object = with({"--set", "inject_exceptions=0.25", "--json", "-q", "-o", "saved.nc"});
  const auto o = saltus((object.insert(object.begin(), "run"), object));
  const json summary(o.out);
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(summary.number("rescued"), static_cast<double>(rescued));
  EXPECT_EQ(summary.number("ok"), static_cast<double>(300 - rescued));
  double by_reason = 0;
  for (const char* why : {"not_located", "step_too_small", "not_finite"})
    by_reason += summary.number(std::string("rescued_from.") + why);
  EXPECT_EQ(by_reason, static_cast<double>(rescued));
  EXPECT_NE(saltus({"show", "saved.nc"}).out.find("of these; lanes gave up: not_located\n"), std::string::npos);

  auto alone = with({"--set", "inject_exceptions=0.25", "--set", "rescue=false", "--json", "-q"});
  const auto left = saltus((alone.insert(alone.begin(), "run"), alone));
  EXPECT_EQ(left.code, 3);
  EXPECT_EQ(json(left.out).number("failed"), static_cast<double>(rescued));
  EXPECT_EQ(json(left.out).number("rescued"), 0);
}

TEST_F(cli, a_model_with_constraints_is_described_solved_and_shown) {
  write(folder() / "tank.hpp", tank);
  const auto described = saltus({"describe", "tank.hpp"});
  EXPECT_NE(described.out.find("form:   dy/dt = f(t, y), 0 = g(t, y); 1 algebraic state of index 1\n"),
            std::string::npos)
      << described.out << described.err;
  EXPECT_NE(described.out.find("at the outlet (algebraic, index 1)\n"), std::string::npos) << described.out;
  const json about(saltus({"describe", "--json", "tank.hpp"}).out);
  EXPECT_EQ(about["equations"], "semi_explicit");
  EXPECT_EQ(about["singular_mass"], "false");
  EXPECT_EQ(about.number("states[0].index"), 0);
  EXPECT_EQ(about.number("states[1].index"), 1);
  EXPECT_NE(saltus({"describe", model()}).out.find("form:   dy/dt = f(t, y)\n"), std::string::npos);

  const words sweep = {"tank.hpp",
                       "--set",
                       "rtol=1e-9",
                       "--set",
                       "sweep.outlet=[-3.0, 0.0, 0.36, 2.0]",
                       "--set",
                       "run.allowed_failed=0.25"};
  const auto with = [&](words more) {
    more.insert(more.begin(), sweep.begin(), sweep.end());
    return more;
  };
  const auto r = run(with({"--set", "output.events=true"}));
  EXPECT_EQ(r["status"], (std::vector<double>{1, 1, 1, 16})) << "stopped, and one that is inconsistent";
  for (std::size_t i = 0; i < 3; ++i) {
    const double above = 1.0 - r["outlet"][i];
    EXPECT_NEAR(r["t_final"][i], std::sqrt(above), 1e-7) << i;
    EXPECT_NEAR(r["final_speed"][i], 0.5 * std::sqrt(above), 1e-7) << i;
    EXPECT_NEAR(r["final_level"][i], r["outlet"][i] + 0.25 * above, 1e-7) << i;
    EXPECT_LT(r["residual"][i], 1e-12) << i;
  }
  EXPECT_GT(r["residual"][3], 1.0) << "the square of no speed is -1";
  EXPECT_EQ(r["residual_of"][3], 1);
  EXPECT_EQ(r["event_time"].size(), 3u);
  expect_same_bits(r, run(with({"--lanes", "1", "--chunk", "3", "--set", "output.events=true"})), "lanes 1");

  const auto command = [&](const words& more) {
    words all = with(more);
    all.insert(all.begin(), "run");
    return saltus(all);
  };
  EXPECT_EQ(command({"-q", "-o", "tank.nc"}).code, 0);
  const auto lost = saltus({"show", "tank.nc", "--instance", "3"}).out;
  EXPECT_NE(lost.find("  status   inconsistent: "), std::string::npos) << lost;
  EXPECT_NE(lost.find(" in the equation of speed, the worst\n"), std::string::npos) << lost;
  EXPECT_NE(saltus({"show", "tank.nc", "--instance", "0"}).out.find(" in the equation of speed, the largest"),
            std::string::npos);

  // Taken as it is, a speed of 0.3 is inconsistent with every level; one of 1 is right for an outlet at zero.
  EXPECT_EQ(json(command({"--set", "consistency=given", "--json", "-q"}).out).number("status.inconsistent"), 4);
  const json given(command({"--set", "consistency=given", "--set", "speed=1.0", "--json", "-q"}).out);
  EXPECT_EQ(given.number("status.inconsistent"), 3);
  EXPECT_EQ(given.number("status.stopped"), 1);
  const auto refused = command({"--method", "dp5"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_EQ(
      refused.err,
      "saltus: --method dp5: method = \"dp5\": must be an implicit method, as tank has algebraic states; allowed: "
      "trapezoid, sdirk4, esdirk4, rodas4, rodas5p, radau5\n");
}

TEST_F(cli, auto_hands_stiff_instances_over_to_the_implicit_method) {
  write(folder() / "chase.hpp", chase);
  const words sweep = {"chase.hpp",
                       "--method",
                       "auto",
                       "--set",
                       "rtol=1e-7",
                       "--set",
                       "output.events=true",
                       "--set",
                       "sweep.eagerness=[1.0, 1e5, 3.0, 1e7, 1e6]"};
  const auto with = [&](words more) {
    more.insert(more.begin(), sweep.begin(), sweep.end());
    return more;
  };
  const auto r = run(with({}));
  for (std::size_t i = 0; i < 5; ++i) {
    const bool stiff = r["eagerness"][i] > 1e4;
    EXPECT_EQ(r["status"][i], 0) << i;
    EXPECT_NEAR(r["final_y"][i], std::cos(10.0), 1e-6) << i;
    EXPECT_EQ(!std::isnan(r["switched"][i]), stiff) << i;
    if (!stiff) continue;
    EXPECT_TRUE(0.0 < r["switched"][i] && r["switched"][i] < 0.1) << i;
    EXPECT_LT(r["steps"][i], 300) << "an explicit method needs " << 3 * r["eagerness"][i];
  }
  ASSERT_EQ(r["event_time"].size(), 15u);
  for (std::size_t k = 0; k < 15; ++k)
    EXPECT_NEAR(r["event_time"][k], (static_cast<double>(k % 3) + 0.5) * M_PI, 1e-6) << "zeros of the cosine";
  expect_same_bits(r, run(with({"--lanes", "1", "--threads", "2", "--chunk", "2"})), "lanes 1");

  auto object = with({"--json", "-q", "-o", "auto.nc"});
  const json summary(saltus((object.insert(object.begin(), "run"), object)).out);
  EXPECT_EQ(summary["method"], "auto");
  EXPECT_EQ(summary.number("switched"), 3);
  EXPECT_EQ(summary.number("ok"), 5);
  const auto told = saltus({"show", "auto.nc"}).out;
  EXPECT_NE(told.find("of these; went over to rodas5p\n"), std::string::npos) << told;
  EXPECT_NE(saltus({"show", "auto.nc", "--instance", "3"}).out.find("  stiff    went over to rodas5p at t = "),
            std::string::npos);
  EXPECT_EQ(saltus({"show", "auto.nc", "--instance", "0"}).out.find("went over to rodas5p at"), std::string::npos);

  // Whatever gives up, before or after, is rescued; and without rescue stiff instances are handed over all the same.
  const auto shaken = run(with({"--set", "inject_exceptions=1"}));
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(shaken["final_y"][i], std::cos(10.0), 1e-6) << i;
  EXPECT_GT(*std::max_element(shaken["exception"].begin(), shaken["exception"].end()), 0);
  expect_same_bits(r, run(with({"--set", "rescue=false"})), "without rescue");
}

TEST_F(cli, the_bits_do_not_depend_on_how_a_run_is_cut_up) {
  const words sweep = {model(), "--set", "t=[0,20]", "--set", "sweep.stiffness={from=0.5, to=9.0, count=61}"};
  const auto with = [&](const words& more) {
    words all = sweep;
    all.insert(all.end(), more.begin(), more.end());
    return run(all);
  };
  const auto reference = with({"--lanes", "1", "--threads", "1"});
  ASSERT_EQ(reference["final_place"].size(), 61u);
  EXPECT_GT(*std::max_element(reference["events"].begin(), reference["events"].end()),
            *std::min_element(reference["events"].begin(), reference["events"].end()))
      << "instances differ in their events";
  for (const words& how :
       {words{"--lanes", "4"}, words{"--lanes", "8"}, words{"--lanes", "4", "--threads", "2", "--chunk", "1"},
        words{"--lanes", "8", "--threads", "2", "--chunk", "7"},
        words{"--lanes", "4", "--threads", "1", "--chunk", "1000"}})
    expect_same_bits(reference, with(how), fmt::format("{}", fmt::join(how, " ")));

  // The same instances in another order.
  words values;
  for (const double stiffness : reference["stiffness"]) values.push_back(fmt::format("{}", stiffness));
  std::reverse(values.begin(), values.end());
  const auto backwards = run({model(), "--lanes", "4", "--chunk", "7", "--set", "t=[0,20]", "--set",
                              fmt::format("sweep.stiffness=[{}]", fmt::join(values, ", "))});
  for (const auto& name : reference.outcomes()) {
    auto turned = backwards[name];
    std::reverse(turned.begin(), turned.end());
    EXPECT_TRUE(same_bits(turned, reference[name])) << name << ", backwards";
  }
}

TEST_F(cli, samples_depend_on_seed_and_instance_alone) {
  const auto sampled = [&](const char* n, const char* seed, const words& more = {}) {
    words all = {model(), "--set", "sample.stiffness={uniform=[0.5, 9.0]}", "-n", n, "--seed", seed};
    all.insert(all.end(), more.begin(), more.end());
    return run(all);
  };
  const auto few = sampled("20", "7"), again = sampled("20", "7", {"--lanes", "1", "--chunk", "3", "--threads", "2"}),
             many = sampled("50", "7"), other = sampled("20", "8");
  ASSERT_EQ(few["stiffness"].size(), 20u);
  ASSERT_EQ(many["stiffness"].size(), 50u);
  expect_same_bits(few, again, "the same seed");
  EXPECT_TRUE(same_bits(few["stiffness"], again["stiffness"]));
  for (const char* name : {"stiffness", "final_place", "steps"})
    EXPECT_TRUE(std::equal(few[name].begin(), few[name].end(), many[name].begin())) << name << " of the first of more";
  EXPECT_NE(few["stiffness"], other["stiffness"]);
  EXPECT_TRUE(
      std::all_of(few["stiffness"].begin(), few["stiffness"].end(), [](double s) { return 0.5 <= s && s <= 9.0; }));
}

}  // namespace
