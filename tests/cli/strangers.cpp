// Untrusted files and models: reading them runs nothing, and their texts reach no other file and no terminal (SECURITY.md).
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netcdf.h>

#include "program.hpp"

namespace command_line {
namespace {

class strangers : public cli {
 protected:
  /// The empty cache of another user.
  setting another_user() const { return {{"SALTUS_CACHE", folder() / "cache"}}; }
  std::size_t modules_of_another_user() const {
    return fs::exists(folder() / "cache") ? modules(folder() / "cache") : 0;
  }

  /// A growth model whose code creates a file when it is loaded.
  std::string telling() const {
    return fmt::format(R"(#include <saltus.hpp>
#include <fcntl.h>
#include <unistd.h>
#include <cstdlib>

namespace {{
struct tells {{
  tells() {{ ::close(::open("{}", O_WRONLY | O_CREAT, 0666)); }}
}} now_;
}}
struct telling {{
  static constexpr auto title = "Of a \x1b[31mred\x1b[0m\nline";
  static constexpr double span[] = {{0.0, 1.0}};
  enum state {{ y }};
  static constexpr saltus::variable<state> state_list[] = {{{{y, 1.0, "m\x1b]0;name\x07", "it \xc2\x9b grows"}}}};
  enum parameter {{ rate }};
  static constexpr saltus::variable<parameter> parameter_list[] = {{{{rate, 1.0}}}};
  static void rhs(const auto& at, auto& dy) {{ dy[y] = at[rate] * at[y]; }}
}};
)",
                       ran().string());
  }
  fs::path ran() const { return folder() / "ran"; }
  void write_telling() const { write(folder() / "telling.hpp", telling()); }

  static std::string text_attribute(const fs::path& file, const char* name) {
    int id = -1;
    std::size_t length = 0;
    EXPECT_EQ(nc_open(file.c_str(), NC_NOWRITE, &id), NC_NOERR);
    EXPECT_EQ(nc_inq_attlen(id, NC_GLOBAL, name, &length), NC_NOERR) << name;
    std::string text(length, '\0');
    EXPECT_EQ(nc_get_att_text(id, NC_GLOBAL, name, text.data()), NC_NOERR);
    nc_close(id);
    return text;
  }
  static void set_attribute(const fs::path& file, const char* name, const std::string& text) {
    int id = -1;
    ASSERT_EQ(nc_open(file.c_str(), NC_WRITE, &id), NC_NOERR);
    ASSERT_EQ(nc_put_att_text(id, NC_GLOBAL, name, text.size(), text.data()), NC_NOERR);
    nc_close(id);
  }
};

TEST_F(strangers, a_model_out_of_a_result_is_run_if_it_is_trusted) {
  write_telling();
  ASSERT_EQ(saltus({"run", "./telling.hpp", "-q", "--set", "sweep.rate=[1.0, 2.0]", "-o", "x.nc"}).code, 0);
  fs::remove(ran());
  const words again = {"run", "x.nc", "--instance", "1", "-q"};
  for (const words& line : {again, words{"check", "x.nc", "--instance", "1"}}) {
    const auto refused = saltus(line, another_user());
    EXPECT_EQ(refused.code, 2) << refused.err;
    EXPECT_NE(refused.err.find("x.nc: its model `telling` is a text in the file"), std::string::npos) << refused.err;
    EXPECT_NE(refused.err.find("--trust"), std::string::npos) << refused.err;
    const auto at = refused.err.find(folder().string() + "/cache/headers/");
    ASSERT_NE(at, std::string::npos) << "the message names the place to read it: " << refused.err;
    EXPECT_EQ(read(refused.err.substr(at, refused.err.find(',', at) - at)), telling());
    EXPECT_FALSE(fs::exists(ran()));
    EXPECT_EQ(modules_of_another_user(), 0u);
  }
  auto trusting = again;
  trusting.push_back("--trust");
  EXPECT_NE(saltus(trusting, another_user()).out.find("the same bits"), std::string::npos);
  EXPECT_TRUE(fs::exists(ran()));
  EXPECT_EQ(saltus(again, another_user()).code, 0) << "this user has made the module in the meantime";
  EXPECT_EQ(saltus(again).code, 0) << "and so has the author of the file";
}

TEST_F(strangers, a_result_says_nothing_of_where_to_write) {
  write_telling();
  ASSERT_EQ(saltus({"run", "./telling.hpp", "-q", "--set", "sweep.rate=[1.0, 2.0]", "-o", "x.nc"}).code, 0);
  const auto settings = text_attribute(folder() / "x.nc", "settings");
  set_attribute(folder() / "x.nc", "settings",
                settings + "\n\"file\" = \"later.nc\"\n[output]\nfile=\"elsewhere.nc\"\n");
  EXPECT_EQ(saltus({"run", "x.nc", "--instance", "1", "-q"}).code, 1) << "a table that occurs twice is invalid TOML";
  set_attribute(folder() / "x.nc", "settings",
                replaced(settings, "\n[output]\n", "\n[output]\n\"file\"=\"elsewhere.nc\"\n#"));
  saltus({"run", "x.nc", "--instance", "1", "-q"});
  set_attribute(folder() / "x.nc", "settings", settings);
  for (const char* name : {"../../../../evil", "/tmp/evil", "a b", "x\ny", "", "7"}) {
    set_attribute(folder() / "x.nc", "model", name);
    const auto o = saltus({"run", "x.nc", "--instance", "1", "-q", "--trust"}, another_user());
    EXPECT_EQ(o.code, 2) << name;
    EXPECT_NE(o.err.find("which is no name of a model"), std::string::npos) << o.err;
  }
  for (const auto& entry : fs::recursive_directory_iterator(workplace()))
    EXPECT_TRUE(entry.path().stem() != "evil" && entry.path().stem() != "elsewhere" && entry.path().stem() != "later")
        << entry.path();
}

TEST_F(strangers, reading_a_journal_runs_nothing) {
  write_telling();
  const auto run = [&](const char* count, const words& more) {
    words line = {"run",
                  "./telling.hpp",
                  "-q",
                  "--set",
                  "output.rows=false",
                  "--set",
                  fmt::format("sweep.rate={{from=1.0, to=2.0, count={}}}", count),
                  "-o",
                  "x.nc",
                  "--lanes",
                  "8"};
    line.insert(line.end(), more.begin(), more.end());
    return saltus(line);
  };
  ASSERT_EQ(run("2", {}).code, 0) << "compiles now, since the time limit would include it";
  fs::remove(folder() / "x.nc");
  const auto o = run("400000000", {"--time-limit", "1s"});
  ASSERT_EQ(o.code, 75) << o.err;
  fs::remove(ran());
  write(folder() / "telling.hpp", replaced(telling(), "at[rate] *", "2.0 *"));  // another file has taken its place
  const auto shown = saltus({"show", "x.nc.journal"}, another_user());
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_NE(shown.out.find("finished"), std::string::npos) << shown.out;
  EXPECT_EQ(saltus({"show", "x.nc.journal", "--json"}, another_user()).code, 0);
  EXPECT_FALSE(fs::exists(ran()));
  EXPECT_EQ(modules_of_another_user(), 0u);
}

TEST_F(strangers, terminals_and_shells_are_given_no_orders) {
  write_telling();
  const std::string name = "it's \x1b[2J$(touch ordered).nc";
  const auto made = saltus({"run", "./telling.hpp", "-o", name});
  ASSERT_EQ(made.code, 0) << made.err;
  const auto shown = saltus({"show", name}), described = saltus({"describe", "./telling.hpp"});
  for (const auto& text : {made.out, made.err, shown.out, described.out}) {
    EXPECT_TRUE(std::none_of(text.begin(), text.end(), [](char c) {
      return (c > 0 && c < ' ' && c != '\n') || c == 0x7f;
    })) << text;
    EXPECT_EQ(text.find("\xc2\x9b"), text.npos) << text;
  }
  EXPECT_NE(shown.out.find("telling: Of a [31mred[0m line\n"), std::string::npos) << "in one line: " << shown.out;
  // The command that the program suggests shows the file.
  const auto begin = made.out.find("saltus show ");
  ASSERT_NE(begin, std::string::npos);
  const auto line = made.out.substr(begin, made.out.find('\n', begin) - begin);
  child shell("/bin/bash", {"-c", replaced(line, "saltus", SALTUS_PROGRAM)}, folder(), {}, "");
  EXPECT_EQ(shell.wait().code, 0) << line;
  EXPECT_FALSE(fs::exists(folder() / "ordered"));
}

TEST_F(strangers, a_file_that_declares_more_than_it_holds_is_refused_soon) {
  int id = -1, dimension = -1, variable = -1;
  ASSERT_EQ(nc_create((folder() / "x.nc").c_str(), NC_NETCDF4, &id), NC_NOERR);
  ASSERT_EQ(nc_def_dim(id, "instance", 1000000000000, &dimension), NC_NOERR);
  ASSERT_EQ(nc_def_var(id, "status", NC_UBYTE, 1, &dimension, &variable), NC_NOERR);
  const std::size_t chunk = 65536;
  ASSERT_EQ(nc_def_var_chunking(id, variable, NC_CHUNKED, &chunk), NC_NOERR);
  ASSERT_EQ(nc_put_att_text(id, NC_GLOBAL, "saltus_version", 5, "0.1.0"), NC_NOERR);
  ASSERT_EQ(nc_close(id), NC_NOERR);
  ASSERT_LT(fs::file_size(folder() / "x.nc"), 100000u);
  for (const words& how : {words{}, words{"--failed"}, words{"--json"}}) {
    words line = {"show", "x.nc"};
    line.insert(line.end(), how.begin(), how.end());
    const auto o = saltus(line);
    EXPECT_EQ(o.code, 1);
    EXPECT_NE(o.err.find("x.nc declares 1000000000000 instances and has "), std::string::npos) << o.err;
    EXPECT_LT(o.seconds, 10);
  }
}

TEST_F(strangers, a_header_without_an_end_is_refused_soon) {
  write(folder() / "endless.hpp", "#include <saltus.hpp>\n#include </dev/zero>\nstruct endless {};\n");
  const auto o = saltus({"run", "./endless.hpp"}, another_user());
  EXPECT_EQ(o.code, 4) << o.err;
  EXPECT_NE(o.err.find("endless.hpp: with what it includes it takes the preprocessor more than 1.1 GB"),
            std::string::npos)
      << o.err;
  EXPECT_LT(o.seconds, 60);
}

TEST_F(strangers, a_model_that_ends_the_program_as_it_is_loaded_is_no_success) {
  write(folder() / "leaving.hpp",
        replaced(replaced(telling(), "tells() {", "tells() { ::exit(0);"), "struct telling", "struct leaving"));
  for (const char* command : {"describe", "run", "check"}) {
    const auto o = saltus({command, "./leaving.hpp"}, another_user());
    EXPECT_EQ(o.code, 1) << command;
    EXPECT_NE(o.err.find("a static constructor has called exit"), std::string::npos) << o.err;
  }
}

TEST_F(strangers, a_result_may_be_anonymous) {
  write_telling();
  write(folder() / "study.toml",
        fmt::format("model = \"{}/telling.hpp\"\n[sweep]\nrate = [1.0, 2.0]\n[output]\nprovenance = \"anonymous\"\n",
                    folder().string()));
  const auto file = (folder() / "x.nc").string();
  ASSERT_EQ(saltus({"run", (folder() / "study.toml").string(), "-q", "-o", file}).code, 0);
  for (const char* name : {"model_file", "sources", "spec", "settings", "history"}) {
    const auto text = text_attribute(file, name);
    EXPECT_EQ(text.find(folder().string()), text.npos) << name << ": " << text;
  }
  EXPECT_EQ(text_attribute(file, "model_file"), "telling.hpp");
  EXPECT_NE(saltus({"run", file, "--instance", "1", "-q"}).out.find("the same bits"), std::string::npos);
}

}  // namespace
}  // namespace command_line
