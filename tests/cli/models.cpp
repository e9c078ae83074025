// Models of a user, compiled by the program: valid ones, and headers that are no models.
#include <pty.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "program.hpp"

namespace command_line {
namespace {

// ------------------------------------------------------------------------------------------------- headers that are no models

/// A header with a mistake, and the sentence that the program must print: `line` is the line in the header (0: the file as a whole),
/// `sentence` a regular expression for the rest of the message.
struct mistake {
  std::string name, text;
  int line;
  std::string sentence;
  bool described = false;  ///< its description compiles and is kept: the mistake shows later
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
      "the model lists time events but gives no times: write static void time_events\\(const auto& at, auto& when\\), "
      "or add \\.scheduled\\(n\\) or \\.recorded\\(\\) to each");
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
  const auto at_event = [&](const std::string& name, const std::string& argument, const std::string& body,
                            const std::string& sentence) {
    add(name, "  static void guards",
        "  static void transition(" + argument + " now) {\n    " + body + "\n  }\n  static void guards", body,
        sentence);
    all.back().described = true;
  };
  at_event(
      "due_parameter", "auto&", "if (now.due(limit)) now[place] = 1.0;",
      "now.due\\(name\\) is asked of a guard or a time event, above\\(name\\) of a guard: a value is now\\[name\\], or "
      "at\\[name\\], as in now\\[a\\] < now\\[b\\]");
  at_event("const_now", "const auto&", "now[place] = 1.0;",
           "now is const in transition, and cannot be written to: write transition\\(auto& now\\), without const");
  at_event(
      "set_parameter", "auto&", "now[limit] = 1.0;",
      "this cannot be set here: a parameter never changes, and at\\[...\\] is only read; rhs sets dy\\[...\\], guards "
      "set g\\[...\\], an event sets now\\[state\\] and now\\[discrete\\]");
  add("hidden_function", "{ stiffness, limit }", "{ stiffness, sqrt }", "0.0 * sqrt",
      "(sqrt|what is called) is a name in a list of the model here, and hides the function of that name: give it "
      "another");
  all.back().text = replaced(replaced(all.back().text, "{limit, 1e9", "{sqrt, 1e9"), "at[limit]", "at[sqrt]");
  all.back().described = true;
  // Models of any order: each case is a model of its own, which does not run.
  const auto of_any_order = [&](const std::string& name, const std::string& more, const std::string& body,
                                const std::string& where, const std::string& sentence) {
    const std::string text =
        "#include <saltus.hpp>\nstruct " + name +
        " {\n  enum state { a, b };\n"
        "  static constexpr saltus::variable<state> state_list[] = {{a, 1.0, \"1\", \"\"}, {b, 0.0, \"1\", \"\"}};\n" +
        more + "  static void residual(const auto& at, auto& r) {\n" + body + "  }\n};\n";
    all.push_back({name, text, line_of(text, where), sentence});
  };
  const std::string sound = "    r[a] = at.d(a, 1) - at[b];\n    r[b] = at[a] - 1.0;\n";
  of_any_order("two_residuals",
               "  static void residual(const auto& at, const auto& dy, auto& r) { r[a] = dy[a] - at[b]; }\n", sound,
               "void residual",
               "the model has a residual\\(at, dy, r\\) and a residual\\(at, r\\): write one of them, the second with "
               "at.d\\(x, k\\) for derivatives");
  of_any_order(
      "one_equation",
      "  enum equation { only };\n"
      "  static constexpr saltus::equated<equation> equation_list[] = {{only, \"1\", \"\"}};\n",
      "    r[only] = at.d(a, 1) - at[b];\n", "equation_list",
      "a residual\\(at, r\\) has as many equations as there are states: equation_list and state_list differ in length");
  of_any_order(
      "condition_in_residual", "", "    if (at[a] > 0.0) r[a] = at.d(a, 1);\n", "if (at[a]",
      "a condition on values is select\\(condition, a, b\\) here, as it is asked for several instances at once");
  of_any_order("bare_unknown", "", "    r[a] = at.d(a, 1) - b;\n    r[b] = at[a];\n", "- b;", bare);
  of_any_order("misspelt_derivative", "", "    r[a] = at.d(c, 1);\n", "at.d(c", ".*'c'.*");
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
                         [](const auto& one) { return std::string(one.param) == "g++" ? "gcc" : "clang"; });

TEST_P(cli_compilers, a_model_with_a_mistake_gets_one_readable_error) {
  const auto compiler = on_path(GetParam());
  if (compiler.empty()) GTEST_SKIP() << GetParam() << " is not installed";
  // A blank in the path must not truncate the path in the message.
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
      // A compiler reports a missing semicolon at the next token.
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
      EXPECT_EQ(modules(cache), described) << m.name << ": a module that does not compile is not kept";
    }
  }
}

/// A ball that is thrown up with velocity 1 and falls from 1 with gravity g = 2. Its names are those of arguments, of entries of a
/// description and of the letters of numerics, and its functions are written like scalar code.
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
  // The ball falls with 1 + t - t^2, lands at the golden ratio with velocity -sqrt(5), and rises with half of that speed.
  const double landing = (1 + std::sqrt(5.0)) / 2, v = std::sqrt(5.0) / 2, left = 3 - landing;
  for (const words& how :
       {words{}, words{"--lanes", "1"}, words{"--method", "rodas5p"}, words{"--set", "detection=certified"}}) {
    words all = {"./scalar_code.hpp", "--set", "rtol=1e-10"};
    all.insert(all.end(), how.begin(), how.end());
    const auto x = run(all, {{"SALTUS_CXX", compiler}});
    EXPECT_EQ(x["events"], (std::vector<double>{left > v ? 2.0 : 1.0}));
    EXPECT_EQ(x["final_d"], x["events"]);
    EXPECT_NEAR(x["final_t"][0], 3.0, 1e-9);
    // The second landing is v later, and reduces the speed to a quarter of v.
    const double second = left - v;
    EXPECT_NEAR(x["final_y"][0], v / 4 * second - second * second, 1e-8);
    EXPECT_NEAR(x["final_e"][0], 2 * x["final_y"][0] + 0.5 * x["final_h"][0] * x["final_h"][0] + 3.25, 1e-9);
  }
}

// The compiler reports the files of a module, so a change in any of them gives another module, however the file is
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
      EXPECT_EQ(modules(folder() / "cache"), made) << c.name << ": the first version is still in the cache";
    }
  }
}

// A file that did not exist when a model was compiled may change the model, too.
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
  EXPECT_EQ(value_in("far"), 1) << "an earlier folder of the search path";
  write(place / "value.h", value(0.5));
  EXPECT_EQ(value_in("far"), 0.5) << "the header's own folder is searched first";
  fs::remove(place / "value.h");
  fs::remove(place / "first/value.h");
  EXPECT_EQ(value_in("far"), 2) << "the first file again";

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

// --------------------------------------------------------------------------------------------------------- a user's own model

TEST_F(cli, a_header_of_ones_own_is_compiled_when_it_has_changed) {
  const setting own = {{"SALTUS_CACHE", folder() / "cache"}};
  const auto last = [&](const outcome& o) { return fmt::format("{:.2f} s: {}", o.seconds, o.err); };
  const words tiny = {"run", "./decay.hpp", "--set", "rtol=1e-10", "--set", "amount=3.0", "-o", "decay.nc", "--force"};
  write(folder() / "decay.hpp", decay);
  write(folder() / "factor.hpp", "#pragma once\ninline constexpr double factor = 1.0;\n");

  const auto first = saltus(tiny, own);
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_TRUE(std::regex_search(first.err, std::regex("^compiled decay with dp5 in \\d+\\.\\d s\n"))) << first.err;
  EXPECT_LT(first.seconds, 30) << "the promise is 10 s on an idle machine";
  EXPECT_NEAR(results(folder() / "decay.nc")["final_amount"][0], 3 * std::exp(-1.0), 1e-8);

  const auto second = saltus(tiny, own);
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_EQ(second.err.find("compiled"), std::string::npos) << last(second);
  EXPECT_LT(second.seconds, 2) << "the promise is 0.3 s on an idle machine";
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

// ------------------------------------------------------------------------------------------------------------ modules in parts

/// A compiler that first runs `lines` where it compiles the part of a module that lands; they may use $object, the file to be written.
fs::path compiler_that(const std::string& lines, const fs::path& file) {
  write(file, fmt::format("#!/bin/sh\nfor last in \"$@\"; do object=$last; done\n"
                          "case \" $* \" in *' -DSALTUS_LANDS '*) {};; esac\nexec '{}' \"$@\"\n",
                          lines, on_path("g++")));
  fs::permissions(file, fs::perms::owner_exec, fs::perm_options::add);
  return file;
}

TEST_F(cli, a_module_whose_parts_do_not_compile_is_compiled_as_a_whole) {
  const fs::path cache = folder() / "cache";
  const words swept = {model(), "--set", "sweep.stiffness={from=1.0, to=9.0, count=33}"};
  const results usual = run(swept);
  for (const char* lines : {"kill -9 $$", "echo half >$object; exit 0"}) {
    const results whole = run(swept, {{"SALTUS_CACHE", cache}, {"SALTUS_CXX", compiler_that(lines, folder() / "cxx")}});
    expect_same_bits(usual, whole, lines);
    EXPECT_EQ(modules(cache), 2u) << "the description and the integrator";
    EXPECT_EQ(debris(cache), words{}) << lines;
    fs::remove_all(cache);
  }
}

TEST_F(cli, functions_and_variables_of_a_header_need_not_be_inline) {
  std::string text = replaced(oscillator, "struct oscillator",
                              "double soft = 1.0;\ndouble spring() { return soft; }\n\nstruct outlined");
  write(folder() / "outlined.hpp", replaced(text, "above(centre), 1.0", "above(centre), spring()"));
  expect_same_bits(run({model()}), run({"./outlined.hpp"}), "outlined");
}

TEST_F(cli, a_mistake_that_only_landing_meets_is_told_once) {
  const std::string text = replaced(relay, "now[x] = now[x] + 0.1", "now[x] = now[x] + late(now)");
  write(folder() / "relay.hpp", replaced(text, "struct relay {",
                                         "struct relay {\n  static double late(const auto& now) {\n"
                                         "    return now.no_such_member;\n  }\n"));
  const auto o = saltus({"run", "./relay.hpp"});
  EXPECT_EQ(o.code, 4);
  EXPECT_TRUE(
      std::regex_search(o.err, std::regex("^saltus: [^\n]*/relay.hpp:5:\\d+: [^\n]*no_such_member[^\n]*\n  all of "
                                          "the compiler's output: [^\n]*\n$")))
      << o.err;
}

TEST_F(cli, an_interruption_ends_the_compilers_of_both_parts) {
  const fs::path cache = folder() / "cache", begun = folder() / "begun", ended = folder() / "ended";
  const auto compiler =
      compiler_that(fmt::format("touch '{}'; sleep 60; touch '{}'", begun.string(), ended.string()), folder() / "cxx");
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one core compiles the whole";
  auto running = start({"run", model()}, {{"SALTUS_CACHE", cache}, {"SALTUS_CXX", compiler}});
  EXPECT_TRUE(running->wait_for([&] { return fs::exists(begun); }));
  running->signal(SIGINT);
  const auto o = running->wait();
  EXPECT_EQ(o.code, 130) << o.err;
  EXPECT_LT(o.seconds, 50);
  EXPECT_FALSE(fs::exists(ended));
  EXPECT_EQ(modules(cache), 1u) << "the description";
  EXPECT_EQ(debris(cache), words{});
}

// The module of the implicit method, to which stiff instances go over, is compiled when the first of them appears. Chunks wait until
// it exists, but a thread that has delivered one so far integrates the next.
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

}  // namespace
}  // namespace command_line
