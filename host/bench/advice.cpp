#include "bench/advice.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace saltus::host {

namespace {

std::string row_of(const choice_result& r, const advice& found) {
  const bool first = &r == found.tried.data();
  const std::string name = name_of(r.what, found.asked) + (first ? " (as it is)" : "");
  if (!r.trouble.empty()) return fmt::format("{:<34}{:>10}{:>14}{:>14}  {}\n", name, "-", "-", "-", r.trouble);
  return fmt::format("{:<34}{:>10.1e}{:>14.1e}{:>12.1f} %  {:.4g} ms ({:.4g} .. {:.4g}){}\n", name, r.what.rtol,
                     r.error, 100 * r.other_events, 1e3 * r.seconds.median, 1e3 * r.seconds.low, 1e3 * r.seconds.high,
                     r.error > found.asked.rtol ? ", not as sharp as asked" : "");
}

std::string recommendation(const advice& found) {
  if (!found.is_known()) return "nothing that was measured reaches it\n";
  const auto lines = found.lines();
  if (lines.empty()) return "the spec is as fast as anything that was measured\n";
  const spread& gain = found.times_as_fast;
  std::string text =
      gain.median > 0
          ? fmt::format("{:.2f} ({:.2f} .. {:.2f}) times as fast as it is{}:\n", gain.median, gain.low, gain.high,
                        found.as_it_is().error > found.asked.rtol ? ", and as sharp as asked, which it is not" : "")
          : "recommended:\n";
  for (const auto& line : lines) text += "  " + line + "\n";
  return text;
}

json json_of_choice(const choice_result& r) {
  json o{
      {"method", r.what.method}, {"controller", word_of(r.what.controller)}, {"detection", word_of(r.what.detection)}};
  if (!r.trouble.empty()) {
    o["trouble"] = r.trouble;
    return o;
  }
  o["rtol"] = r.what.rtol;
  o["median_error"] = r.error;
  o["other_events"] = r.other_events;
  o["seconds"] = json_of(r.seconds);
  return o;
}

}  // namespace

method_choice choice_of(const plan& p) { return {method_name(p), p.controller, p.detection, p.rtol}; }

std::string name_of(const method_choice& choice, const plan& asked) {
  std::string name = choice.method;
  if (choice.controller != asked.controller) name += ", " + word_of(choice.controller);
  if (choice.detection != asked.detection) name += ", " + word_of(choice.detection);
  return name;
}

std::vector<std::string> advice::lines() const {
  const method_choice &to = best.what, from = choice_of(asked);
  std::vector<std::string> r;
  if (to.method != from.method) r.push_back(fmt::format("method = \"{}\"", to.method));
  if (to.rtol != from.rtol) {
    r.push_back(fmt::format("rtol = {:.2g}", to.rtol));
    // atol defaults to rtol.
    const bool is_rtol = std::all_of(asked.atol.begin(), asked.atol.end(), [&](double x) { return x == asked.rtol; });
    std::vector<std::string> atol;
    for (const double x : asked.atol) atol.push_back(fmt::format("{:.2g}", x * (to.rtol / asked.rtol)));
    r.push_back(is_rtol ? fmt::format("atol = {:.2g}", to.rtol) : fmt::format("atol = [{}]", fmt::join(atol, ", ")));
  }
  if (to.controller != from.controller) r.push_back(fmt::format("controller = \"{}\"", word_of(to.controller)));
  if (to.detection != from.detection) r.push_back(fmt::format("detection = \"{}\"", word_of(to.detection)));
  return r;
}

std::string text_of(const advice& found) {
  std::string text = fmt::format("{}: asked for a median error of {:g} (rtol, with atol)\non {}\n",
                                 found.asked.model.name, found.asked.rtol, found.device);
  text += fmt::format("{} instances{}, {} of them with a reference: {} and {} at rtol {:g} agree\n\n", found.instances,
                      found.alike ? ", all alike" : "", found.with_reference, found.references[0], found.references[1],
                      found.reference_rtol);
  text += fmt::format("{:<34}{:>10}{:>14}{:>14}  {}\n", "", "rtol", "median error", "other events", "time");
  for (const auto& r : found.tried) text += row_of(r, found);
  if (!found.left_out.empty())
    text += fmt::format("not measured, as --limit {:g} was over: {}\n", found.limit, fmt::join(found.left_out, "; "));
  return text + "\n" + recommendation(found);
}

json json_of(const advice& found) {
  json all{{"model", found.asked.model.name},
           {"asked", found.asked.rtol},
           {"device", found.device},
           {"instances", found.instances},
           {"with_reference", found.with_reference},
           {"references", json::array({found.references[0], found.references[1]})},
           {"as_it_is", json_of_choice(found.as_it_is())}};
  if (found.is_known()) {
    all["recommended"] = json_of_choice(found.best);
    all["lines"] = found.lines();
    if (found.times_as_fast.median > 0) all["times_as_fast"] = json_of(found.times_as_fast);
  }
  all["measured"] = json::array();
  for (const auto& r : found.tried) all["measured"].push_back(json_of_choice(r));
  all["not_measured"] = found.left_out;
  return all;
}

}  // namespace saltus::host
