#include "compile/diagnostics.hpp"

#include <algorithm>
#include <cctype>
#include <regex>
#include <set>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "base/files.hpp"

namespace saltus::host {
namespace fs = std::filesystem;

namespace {

/// The first line of `text`, from 1, that contains `word` as a whole word; 0 if none does.
int line_of(const std::string& text, const std::string& word) {
  const auto in_a_name = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)); };
  for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const auto end = at + word.size();
    if ((at == 0 || !in_a_name(text[at - 1])) && (end == text.size() || !in_a_name(text[end])))
      return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  }
  return 0;
}

/// The parts of a model that a sentence of the contract names: its lists, its algebraic states, its functions.
std::vector<std::string> named_in(const std::string& sentence) {
  static const std::regex list(R"((\w+_list)|lists ((?:time )?\w+)s)"), algebraic(R"(algebraic state)"),
      function(R"((?:static void|computes|times of|has a|and a) ((?:time )?\w+))");
  std::vector<std::string> words;
  const auto identifier = [](std::string name) {
    std::replace(name.begin(), name.end(), ' ', '_');
    return name;
  };
  const auto add = [&](const std::regex& form, const auto& spelt) {
    for (std::sregex_iterator it(sentence.begin(), sentence.end(), form), end; it != end; ++it)
      words.push_back(spelt(*it));
  };
  add(list, [&](const std::smatch& m) { return m[1].matched ? m[1].str() : identifier(m[2]) + "_list"; });
  add(algebraic, [](const std::smatch&) { return "algebraic"; });
  add(function, [&](const std::smatch& m) { return "void " + identifier(m[1]); });
  return words;
}

/// Advice for a line that writes to a const argument of `transition` or of the model's own helper function: how to
/// declare that function. Empty for functions whose arguments are const in every model.
std::string advice_on_const(const fs::path& file, int line) {
  static const std::regex set(R"((\w+)\s*[\[(][^=;]*[\])]\s*[-+*/]?=[^=])"),
      function(R"(\bstatic\b[^;{}()]*?\b(\w+)\s*\(([^)]*)\))");
  static const std::set<std::string> of_all_models = {
      "rhs",         "residual", "guards",     "outputs",  "time_events", "mass",     "force",
      "constraints", "max_step", "kinematics", "friction", "invariants",  "reaching", "sparsity"};
  const std::string text = read_file(file);
  std::size_t begin = 0;
  for (int n = 1; n < line && begin != text.npos; ++n) begin = text.find('\n', begin) + 1;
  const std::string here = text.substr(begin, text.find('\n', begin) - begin), before = text.substr(0, begin) + here;
  std::smatch written;
  if (!std::regex_search(here, written, set)) return {};
  std::smatch last;
  for (std::sregex_iterator it(before.begin(), before.end(), function), end; it != end; ++it) last = *it;
  if (last.empty() || of_all_models.count(last[1]) > 0) return {};
  const std::regex is_const(R"(const\s+auto\s*&\s*)" + written[1].str() + R"(\b)");
  const std::string arguments = last[2];
  if (!std::regex_search(arguments, is_const)) return {};
  return fmt::format("{0} is const in {1}, and cannot be written to: write {1}(auto& {0}), without const",
                     written[1].str(), last[1].str());
}

/// Advice for common mistakes, recognised by the messages of g++ and clang++; empty if it is none of them. `advice`:
/// the text for a line that sets a constant.
std::string known_mistake(const std::string& text, const std::string& line, const std::string& advice) {
  static const std::regex bare_name(R"(deleted function '[^']*(?:pack\(Enum\)|tracked\(Enum\)|plain::operator)|)"
                                    R"(to '(?:const )?saltus::(?:pack<|tracked<|orders).*deleted function|)"
                                    R"(selected deleted operator|attempt to use a deleted function|)"
                                    R"(for call to '\w+\(.*::(?:state|parameter|discrete|guard|output|equation)[,)])");
  static const std::regex hidden_function(R"('(?:\w+::)*(\w+)' cannot be used as a function|)"
                                          R"(called object type '(?:\w+::)*(?:state|parameter|discrete|guard|output|)"
                                          R"(time_event|constraint|equation|table)' is not a function)");
  static const std::regex not_a_guard(R"(no matching (?:member )?function for call to '(?:saltus::\w+<.*>::)?due\b|)"
                                      R"('(?:\w+::)?(?:state|parameter|discrete|output|time_event|constraint|table)')"
                                      R"( to 'saltus::.*::guard'|to 'typename kinds::guard'|)"
                                      R"('typename kinds::guard' .*with an? \wvalue of type)");
  static const std::regex set_here(
      R"(no viable overloaded '[-+*/]?='|'const saltus::(?:pack|dual|interval|jet|tracked|counted)\b.*discards)");
  std::smatch of;
  if (text.find("mask") != text.npos && text.find("'bool'") != text.npos)
    return "a condition on values is select(condition, a, b) here, as it is asked for several instances at once";
  if (std::regex_search(text, of, hidden_function))
    return fmt::format("{} is a name in a list of the model here, and hides the function of that name: give it another",
                       of[1].matched ? of[1].str() : "what is called");
  if (std::regex_search(text, not_a_guard))
    return "now.due(name) is asked of a guard or a time event, above(name) of a guard: a value is now[name], or "
           "at[name], as in now[a] < now[b]";
  if (std::regex_search(line, set_here) && !advice.empty()) return advice;
  if (std::regex_search(line, set_here))
    return "this cannot be set here: a parameter never changes, and at[...] is only read; rhs sets dy[...], guards set "
           "g[...], an event sets now[state] and now[discrete]";
  if (std::regex_search(text, bare_name))
    return "a bare name is a number in a list here, not a value: write at[name], or now[name] at an event";
  if (text.find("constants<") != text.npos)
    return "a mass matrix that depends on time or states says so: static constexpr bool mass_varies = true";
  if (text.find("'crossing'") != text.npos && text.find("saltus") != text.npos)
    return "guards are listed as saltus::event_function<guard>, which was saltus::crossing<guard> once";
  return {};
}

}  // namespace

std::string location_of(const fs::path& header, std::vector<std::string> words) {
  const std::string text = read_file(header);
  words.insert(words.end(), {"struct " + header.stem().string(), "struct"});
  for (const auto& word : words)
    if (const int line = line_of(text, word); line > 0) return fmt::format("{}:{}", header.string(), line);
  return header.string();
}

std::optional<std::string> first_complaint(const std::string& log, const fs::path& header,
                                           const std::set<fs::path>& own, const fs::path& source) {
  // g++ and clang++ write FILE:LINE:COLUMN; NVRTC writes FILE(LINE).
  static const std::regex located(R"(^(.+?)(?::(\d+)(:\d+)|\((\d+)\)): (?:fatal |catastrophic )?error: (.*))");
  static const std::regex assertion(
      R"re(static.assert(?:ion)? failed(?: due to requirement '.*'| with)?:? "?([^"]*)"?)re");
  static const std::regex undefined(R"(undefined reference to [`'](\w+))");
  constexpr std::size_t longest = 4000, shown = 400;
  std::optional<std::string> elsewhere;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    line.resize(std::min(line.size(), longest));  // regular expressions recurse
    std::smatch m, of;
    if (std::regex_search(line, m, undefined))
      return fmt::format("{}: {} is declared but not defined", location_of(header, {m[1]}), m[1].str());
    if (!std::regex_search(line, m, located)) continue;
    const fs::path file = m[1].str();
    const std::string line_number = m[2].matched ? m[2] : m[4], column = m[3];
    std::string text = m[5].str().substr(0, shown);
    const bool mine = own.count(fs::absolute(file).lexically_normal()) > 0;
    if (!mine && std::regex_search(text, of, assertion))
      return fmt::format("{}: {}", location_of(header, named_in(of[1])), of[1].str());
    if (file == source && std::stoi(line_number) == line_after_model)
      return fmt::format("{}: a brace that is opened here or below is never closed", location_of(header, {}));
    if (const auto known = known_mistake(text, line, mine ? advice_on_const(file, std::stoi(line_number)) : "");
        !known.empty())
      text = known;
    const std::string found = fmt::format("{}:{}{}: {}", file.string(), line_number, column, text);
    if (mine) return found;
    if (!elsewhere) elsewhere = file == source ? fmt::format("{}: {}", header.string(), text) : found;
  }
  return elsewhere;
}

std::string own_trouble(const std::string& log) {
  auto at = log.find("error: ");
  at = at == log.npos ? 0 : log.rfind('\n', at) + 1;
  auto trouble = log.empty() ? "without a word" : log.substr(at, log.find('\n', at) - at);
  if (trouble.find("internal compiler error") != trouble.npos)
    trouble +=
        "\n  a fault of the compiler: ask for fewer reductions or derivatives in one run, or set SALTUS_CXX to another "
        "compiler";
  return trouble;
}

}  // namespace saltus::host
