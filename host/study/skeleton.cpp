#include "study/skeleton.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <regex>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"

namespace saltus::host {

namespace fs = std::filesystem;

namespace {

/// NAME stands for the name of the model.
constexpr const char* skeleton =
    R"(// NAME: say in a sentence what it is. Here is a ball that bounces: put your own equations in its place.
//
//     saltus describe ./NAME.hpp                      how saltus reads it
//     saltus check ./NAME.hpp --lint                  what looks like a mistake
//     saltus run ./NAME.hpp --set restitution=0.9     one run
//     saltus run ./NAME.hpp --set 'sweep.restitution={from=0.5,to=0.9,count=1000}' -o NAME.nc
//
// docs/add_a_problem.md explains all that a model may have. Leave out what yours does not need.
#include <saltus.hpp>

struct NAME {  // the name of the file
  static constexpr auto   title  = "A ball bounces";
  static constexpr auto   source = "where the equations are from";
  static constexpr double span[] = {0.0, 3.0};  // time: where a run begins and ends, unless it says otherwise

  // The states, which are integrated. A row: name, initial value, unit ("1": none), meaning; in the order of the enumeration.
  enum state { height, velocity };
  static constexpr saltus::variable<state> state_list[] = {
      {height, 1.0, "m", "height of the ball above the floor"},
      {velocity, 0.0, "m/s", "its velocity, upwards"},
  };

  // Parameters are constant through a run: --set, [parameters], [sweep] and [sample] change them.
  enum parameter { gravity, restitution };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {gravity, 9.81, "m/s2", "acceleration of free fall"},
      {restitution, 0.8, "1", "velocity after an impact over that before"},
  };

  // Discrete variables change at events alone: modes, counters.
  enum discrete { bounces };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {bounces, 0.0, "1", "impacts so far"},
  };

  // Functions whose zeros are events. A row: name; the crossings that count, falling, rising or both; unilateral if the zero is
  // never passed (a wall), bilateral if it is (a threshold); meaning; and saltus::terminal if it ends the run.
  enum guard { impact };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {impact, saltus::falling, saltus::unilateral, "the ball meets the floor"},
  };

  // Outputs are computed from the rest, for samples, reductions and pictures.
  enum output { energy };
  static constexpr saltus::derived<output> output_list[] = {
      {energy, "J/kg", "kinetic and potential energy"},
  };

  // The right-hand side: dy[s] is the time derivative of state s. at[...] reads a state, a parameter or a discrete variable, at.t is
  // the time. No `if` on values: select(condition, a, b). Numbers with a point: 0.5, not 1 / 2.
  static void rhs(const auto& at, auto& dy) {
    dy[height]   = at[velocity];
    dy[velocity] = -at[gravity];
  }

  // The values of the guards, continuous between events.
  static void guards(const auto& at, auto& g) { g[impact] = at[height]; }

  // The transition at an event: ordinary code, for one instance. Each guard has an `if` of its own: several may be due.
  static void transition(auto& now) {
    if (now.due(impact)) {
      now[velocity] = -now[restitution] * now[velocity];
      now[bounces] += 1.0;
    }
  }

  static void outputs(const auto& at, auto& out) {
    out[energy] = at[gravity] * at[height] + 0.5 * at[velocity] * at[velocity];
  }
};
)";

/// Reserved words of C++.
bool is_reserved(const std::string& name) {
  static const std::regex words(
      "alignas|alignof|and|and_eq|asm|auto|bitand|bitor|bool|break|case|catch|char|char8_t|char16_t|char32_t|class|"
      "compl|concept|const|consteval|constexpr|constinit|const_cast|continue|co_await|co_return|co_yield|decltype|"
      "default|delete|do|double|dynamic_cast|else|enum|explicit|export|extern|false|float|for|friend|goto|if|inline|"
      "int|long|mutable|namespace|new|noexcept|not|not_eq|nullptr|operator|or|or_eq|private|protected|public|register|"
      "reinterpret_cast|requires|return|short|signed|sizeof|static|static_assert|static_cast|struct|switch|template|"
      "this|thread_local|throw|true|try|typedef|typeid|typename|union|unsigned|using|virtual|void|volatile|wchar_t|"
      "while|xor|xor_eq|saltus|std");
  return std::regex_match(name, words);
}

void check_name(const fs::path& file) {
  static const std::regex identifier("[A-Za-z][A-Za-z0-9_]*");
  const std::string name = file.stem().string();
  if (!std::regex_match(name, identifier) || is_reserved(name))
    throw error(exit_usage,
                fmt::format("{}: a model is a struct of C++ and is called like its file, so {} must be a letter "
                            "and then letters, digits or _, and no word of C++",
                            file.string(), name.empty() ? "its name" : name));
  std::error_code none;
  if (fs::exists(home() / "problems" / (name + ".hpp"), none))
    throw error(exit_usage, fmt::format("{}: there is a built-in model of that name: give yours another", name));
}

}  // namespace

fs::path write_skeleton(const std::string& name) {
  const fs::path file = name.ends_with(".hpp") ? name : name + ".hpp";
  check_name(file);
  const std::string text = std::regex_replace(skeleton, std::regex("\\bNAME\\b"), file.stem().string());
  // Never overwrites a file or follows a link.
  const int fresh = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fresh < 0)
    throw error(errno == EEXIST ? exit_usage : exit_failure,
                errno == EEXIST ? fmt::format("{}: is there already, and is left as it is", file.string())
                                : fmt::format("{}: cannot be written: {}", file.string(), std::strerror(errno)));
  ::close(fresh);
  write_file(file, text);
  return file;
}

}  // namespace saltus::host
