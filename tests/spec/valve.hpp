// Specs of the relief valve, and the messages that they cause.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "spec/spec.hpp"

namespace saltus::host::spec_test {

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

/// The model of the relief valve, with an output for reductions.
inline model relief_valve() {
  model valve;
  valve.name = "relief_valve";
  valve.states = {{"lift", 0.2, "1", ""}, {"velocity", 0, "1", ""}, {"pressure", 0, "1", ""}};
  valve.parameters = {{"damping", 1.25, "1", ""},
                      {"preload", 10, "1", ""},
                      {"flow", 4, "1", ""},
                      {"compressibility", 20, "1", ""},
                      {"restitution", 0.8, "1", ""}};
  valve.outputs = {{"power", 0, "1", ""}};
  valve.t_begin = 0;
  valve.t_end = 40;
  return valve;
}

/// The relief valve with other equations: the states from the second on are algebraic with this index.
inline model valve_with(abi::equations equations, int index = 0, bool singular_mass = false) {
  model valve = relief_valve();
  valve.equations = equations;
  valve.singular_mass = singular_mass;
  for (std::size_t i = 1; i < valve.states.size(); ++i) valve.states[i].index = index;
  return valve;
}

/// A separate folder for each test; it is the current folder during the test, so that messages have short paths.
class spec : public testing::Test {
 protected:
  void SetUp() override {
    home_ = std::filesystem::current_path();
    std::string pattern = (std::filesystem::temp_directory_path() / "saltus_spec_XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    std::filesystem::current_path(folder_);
  }
  void TearDown() override {
    std::filesystem::current_path(home_);
    std::filesystem::remove_all(folder_);
  }

  static void write(const std::string& file, const std::string& text) { std::ofstream(file, std::ios::binary) << text; }

  static plan planned(const std::string& text, std::vector<flag> flags = {}, const model& m = relief_valve()) {
    write("spec.toml", text);
    return validate(read_spec("spec.toml", std::move(flags)), m);
  }

  /// The message that rejects the spec.
  static std::string refused(const std::string& text, std::vector<flag> flags = {}, const model& m = relief_valve()) {
    try {
      planned(text, std::move(flags), m);
    } catch (const error& e) {
      EXPECT_EQ(e.exit_code, 2);
      return e.what();
    }
    return "accepted";
  }

 private:
  std::filesystem::path home_, folder_;
};

/// The contents of a column of an axis.
inline const ranged& range_of(const axis& axis) { return std::get<ranged>(axis.columns.at(0).values); }
inline const std::vector<double>& list_of(const axis& axis, int column = 0) {
  return std::get<listed>(axis.columns.at(column).values).values;
}

inline const std::string valve = "model = \"relief_valve\"\n";

}  // namespace saltus::host::spec_test
