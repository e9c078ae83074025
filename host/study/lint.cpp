#include <algorithm>
#include <cctype>
#include <regex>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "compile/diagnostics.hpp"
#include "compile/loaded_model.hpp"
#include "study/check.hpp"

namespace saltus::host {

namespace {

/// C++ with blanks in place of comments and quoted text; line breaks stay.
std::string code_alone(std::string text) {
  const auto blank = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < std::min(to, text.size()); ++i)
      if (text[i] != '\n') text[i] = ' ';
  };
  const auto after = [&](std::string_view mark, std::size_t from) {
    const auto at = text.find(mark, from);
    return at == text.npos ? text.size() : at + mark.size();
  };
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    std::size_t end = i;
    if (text.compare(i, 2, "//") == 0) end = std::min(text.find('\n', i), text.size());
    else if (text.compare(i, 2, "/*") == 0) end = after("*/", i + 2);
    else if (text.compare(i, 3, "R\"(") == 0) end = after(")\"", i + 3);
    else if (text[i] == '"') {
      for (end = i + 1; end < text.size() && text[end] != '"' && text[end] != '\n'; ++end) end += text[end] == '\\';
      ++end;
    }
    if (end == i) continue;
    blank(i, end);
    i = end - 1;
  }
  return text;
}

/// Finds divisions of whole numbers. x * 1 / 2 is (x * 1) / 2 and therefore fine; in the brackets of an array a whole
/// number is an index.
void find_divisions(const std::string& file, const std::string& code, std::vector<std::string>& found) {
  static const std::regex division(R"((^|[^\w.*/\s])\s*(\d+)\s*/\s*(\d+)(?![\w.]))");
  std::istringstream lines(code);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    for (std::sregex_iterator it(line.begin(), line.end(), division), end; it != end; ++it) {
      const auto& m = *it;
      if (m[1] == "[" || m[2].length() > 9 || m[3].length() > 9) continue;
      const long a = std::stol(m[2]), b = std::stol(m[3]);
      if (b != 0 && a % b == 0) continue;
      found.push_back(fmt::format("{}:{}: {}/{} is {}, as whole numbers are divided: write {}.0/{}", file, number, a, b,
                                  b == 0 ? "undefined" : std::to_string(a / b), a, b));
    }
  }
}

/// Units are short and have few words: "kg m/s2", "1/s".
bool reads_like_a_sentence(const std::string& unit) {
  std::istringstream stream(unit);
  int words = 0;
  for (std::string word; stream >> word;)
    words += word.size() >= 3 && std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isalpha(c); });
  return words >= 3 || unit.size() > 32;
}

template <class List>
void find_sentences(const model& m, const char* kind, const List& list, std::vector<std::string>& found) {
  for (const auto& q : list)
    if (reads_like_a_sentence(q.unit))
      found.push_back(
          fmt::format("{}: the unit of {} {} reads like a sentence, \"{}\": a row has the value, the unit, "
                      "\"1\" if there is none, and then the meaning",
                      location_of(m.header, {kind + std::string("_list")}), kind, q.name, q.unit));
}

/// How often a text contains a name as a whole word.
int count_of(const std::string& code, const std::string& name) {
  const auto in_a_name = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)); };
  int count = 0;
  for (auto at = code.find(name); at != code.npos; at = code.find(name, at + 1)) {
    const auto end = at + name.size();
    count += (at == 0 || !in_a_name(code[at - 1])) && (end == code.size() || !in_a_name(code[end]));
  }
  return count;
}

/// Finds an unused member whose name is nearly that of a member that saltus looks for: probably a misspelling.
void find_misspelt(const std::string& file, const std::string& code, const std::string& all,
                   std::vector<std::string>& found) {
  // clang-format off
  static const std::vector<std::string_view> known = {
      "initial", "rhs", "residual", "mass", "guards", "time_events", "outputs", "transition", "mode", "rest",
      "max_step", "force", "constraints", "kinematics", "friction", "reaching", "invariants", "title", "source",
      "span", "time_unit", "sparsity", "arithmetic", "mass_varies", "mass_is_diagonal", "mass_is_singular",
      "first_velocity", "sparse_elimination", "projects_positions", "state_list", "parameter_list", "discrete_list",
      "guard_list", "time_event_list", "column_list", "output_list", "table_list", "constraint_list",
      "invariant_list", "equation_list", "stream_list", "quaternion_list"};
  // clang-format on
  static const std::regex member(R"(\bstatic\s[^;{}()=\[]*?\b(\w+)\s*(?=[(\[={;]))");
  for (std::sregex_iterator it(code.begin(), code.end(), member), end; it != end; ++it) {
    const std::string name = (*it)[1];
    if (name.size() < 3 || std::find(known.begin(), known.end(), name) != known.end() || count_of(all, name) > 1)
      continue;
    const auto near = std::find_if(known.begin(), known.end(), [&](std::string_view one) {
      return edit_distance(name, one) <= (one.size() < 5 ? 1u : 2u);
    });
    if (near == known.end()) continue;
    const auto line = 1 + std::count(code.begin(), code.begin() + it->position(1), '\n');
    found.push_back(fmt::format("{}:{}: {} is a member that nothing uses; did you mean {}?", file, line, name, *near));
  }
}

}  // namespace

std::vector<std::string> lint(const model& m) {
  std::vector<std::string> found;
  std::string all;
  std::vector<std::pair<std::string, std::string>> codes;
  for (const auto& [file, text] : texts_of(m)) codes.emplace_back(file.string(), code_alone(text));
  for (const auto& [file, code] : codes) all += code;
  for (const auto& [file, code] : codes) {
    find_divisions(file, code, found);
    find_misspelt(file, code, all, found);
  }
  find_sentences(m, "state", m.states, found);
  find_sentences(m, "parameter", m.parameters, found);
  find_sentences(m, "discrete", m.discretes, found);
  find_sentences(m, "output", m.outputs, found);
  find_sentences(m, "table", m.tables, found);
  // Every name occurs in its enumeration and in its list. Members of families have composed names, which occur nowhere.
  const auto find_unused = [&](const char* kind, const char* what, const auto& list) {
    for (const auto& one : list)
      if (count_of(all, one.name) == 2)
        found.push_back(
            fmt::format("{}: {} {} is listed and never {}", location_of(m.header, {one.name}), kind, one.name, what));
  };
  find_unused("parameter", "read", m.parameters);
  find_unused("guard", "computed", m.guards);
  find_unused("output", "computed", m.outputs);
  find_unused("time event", "given a time", m.time_events);
  for (const time_event& e : m.time_events) find_unused("column", "read", e.columns);
  find_unused("random stream", "drawn from", m.streams);
  return found;
}

}  // namespace saltus::host
