#include "spec/read_reductions.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <regex>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "spec/reading.hpp"

namespace saltus::host {

namespace {

/// The parts of "max(pressure) from 10 to 20".
struct words_of_reduction {
  std::string kind, of, argument, from, to;
};

/// A column of the table of reductions.
std::vector<std::string> column_of_reductions(const char* reduction_row::*column) {
  std::vector<std::string> all;
  for (const reduction_row& row : reduction_table) all.emplace_back(row.*column);
  return all;
}
std::vector<std::string> kinds_of_reductions() { return column_of_reductions(&reduction_row::name); }

words_of_reduction take_apart(const field& item, const std::string& text) {
  static const std::regex whole(R"((\w+)\s*\(\s*(.*?)\s*\)(?:\s+from\s+(\S+))?(?:\s+to\s+(\S+))?)");
  static const std::regex extremum(R"((min|max)\s*\(\s*(.*?)\s*\))"), at_time(R"((.*?)\s+at\s+(\S+))"),
      with_order(R"((.*?)\s*,\s*(\S+))");
  std::smatch found;
  words_of_reduction w;
  if (std::regex_match(text, found, whole)) {
    w = {found[1], found[2], {}, found[3], found[4]};
    const std::string inner = w.of;
    std::smatch parts;
    if (w.kind == "time" && std::regex_match(inner, parts, extremum))
      w.kind = "time_of_" + parts.str(1), w.of = parts[2];
    if (w.kind == "value" && std::regex_match(inner, parts, at_time)) w.of = parts[1], w.argument = parts[2];
    if (w.kind == "quantile" && std::regex_match(inner, parts, with_order)) w.of = parts[1], w.argument = parts[2];
    if (w.kind == "std") w.kind = row_of(reduce::deviation).name;
  }
  const bool needs_argument = w.kind == "value" || w.kind == "quantile";
  if (w.of.empty() || needs_argument == w.argument.empty() || !contains(kinds_of_reductions(), w.kind))
    item.fail(fmt::format(
        "must be one of {}: x a state or an output, event a guard or a time event; a window of time may stand "
        "behind it, as in \"mean(x) from 1.5 to 20\"",
        fmt::join(column_of_reductions(&reduction_row::notation), ", ")));
  return w;
}

double number_in(const field& item, const std::string& text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc() || stop != end || !std::isfinite(number)) item.fail(text + " must be a finite number");
  return number;
}

/// A time within the hull of all time spans.
double time_in(const reading& r, const field& item, const std::string& text) {
  const double t = number_in(item, text);
  if (r.is_before(t, r.first) || r.is_before(r.last, t))
    item.fail(fmt::format("{} must be a time from {} to {}", text, r.first, r.last));
  return t;
}

void read_what(const reading& r, const field& item, const std::string& of, reduction& made) {
  if (is_of_event(made.which)) {
    const auto events = event_names(r.model);
    const auto found = std::find(events.begin(), events.end(), of);
    if (events.empty()) item.fail(fmt::format("must be left out: {} has neither guards nor time events", r.model.name));
    if (found == events.end())
      item.fail(of + " is not a guard or a time event; " + suggest(of, names(events.begin(), events.end())));
    made.index = static_cast<int>(found - events.begin());
    return;
  }
  const auto quantities = joined(names_of(r.model.states), names_of(r.model.outputs));
  if (const int i = index_of(r.model.discretes, of); i >= 0)
    item.fail(
        fmt::format("{0} is a discrete variable, and reductions are of states and outputs: make it an output, "
                    "such as out[{0}_now] = at[{0}]",
                    of));
  if (!contains(quantities, of)) item.fail(of + " is not a state or an output; " + suggest(of, quantities));
  const int state = index_of(r.model.states, of);
  made.of_output = state < 0;
  made.index = made.of_output ? index_of(r.model.outputs, of) : state;
}

void read_window(const reading& r, const field& item, const words_of_reduction& w, reduction& made) {
  made.windowed = !w.from.empty() || !w.to.empty();
  if (!made.windowed) return;
  if (made.which == reduce::value) item.fail("must have no window: the value at a time is one number");
  const double from = w.from.empty() ? r.first : time_in(r, item, w.from),
               to = w.to.empty() ? r.last : time_in(r, item, w.to);
  if (!r.is_before(from, to)) item.fail(fmt::format("{} must come before {}", from, to));
  // An end that is not given stays infinite, so that rounding cuts nothing off.
  if (!w.from.empty()) made.from = r.plan.backward ? -from : from;
  if (!w.to.empty()) made.to = r.plan.backward ? -to : to;
}

}  // namespace

void read_reductions(reading& r, const field& list) {
  for (const auto& item : list.items_or_text()) {
    std::string text = item.text();
    text.erase(0, text.find_first_not_of(' '));
    text.erase(text.find_last_not_of(' ') + 1);
    const auto w = take_apart(item, text);
    const auto kinds = kinds_of_reductions();
    reduction made{};
    made.which = static_cast<reduce>(std::find(kinds.begin(), kinds.end(), w.kind) - kinds.begin());
    made.name = text;
    read_what(r, item, w.of, made);
    read_window(r, item, w, made);
    if (made.which == reduce::value) {
      const double t = time_in(r, item, w.argument);
      made.argument = r.plan.backward ? -t : t;
    } else if (made.which == reduce::quantile) {
      made.argument = number_in(item, w.argument);
      if (!(0 <= made.argument && made.argument <= 1))
        item.fail(w.argument + " must be a part of the time, from 0 to 1");
    }
    for (const auto& other : r.plan.reductions)
      if (other.name == text) item.fail("must not be listed twice");
    r.plan.reductions.push_back(made);
    for (const double number : {made.from, made.to, made.argument}) r.plan.windows.push_back(number);
  }
}

std::string about_reduction(const reduction& r, const model& m) {
  const auto index = static_cast<std::size_t>(r.index);
  const std::string of =
      is_of_event(r.which) ? event_names(m)[index] : (r.of_output ? m.outputs : m.states)[index].name;
  std::string about = fmt::format(fmt::runtime(row_of(r.which).about), of);
  if (const auto at = r.name.find(" at "); r.which == reduce::value) about += r.name.substr(at, r.name.size() - at - 1);
  return about + r.name.substr(r.name.rfind(')') + 1);
}

std::string unit_of(const reduction& r, const model& m) {
  const auto unit = [&] { return (r.of_output ? m.outputs : m.states)[static_cast<std::size_t>(r.index)].unit; };
  switch (row_of(r.which).unit) {
    case reduction_unit::number: return "1";
    case reduction_unit::time: return m.time_unit;
    case reduction_unit::quantity: return unit();
    case reduction_unit::quantity_time: break;
  }
  if (m.time_unit.empty() || unit() == "1") return m.time_unit;
  return fmt::format(fmt::runtime(unit().find('/') == std::string::npos ? "{} {}" : "({}) {}"), unit(), m.time_unit);
}

}  // namespace saltus::host
