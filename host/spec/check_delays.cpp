// Refuses settings that models with delays do not have.
#include <string>

#include <fmt/format.h>

#include "spec/reading.hpp"

namespace saltus::host {

void check_delays(const reading& r) {
  const model& m = r.model;
  const auto refuse = [&](const char* key, const std::string& why) {
    if (const auto e = r.root.find(key)) e->fail(why);
  };
  if (m.delays.empty()) {
    // The settings of a result have every key.
    if (r.plan.history != plan{}.history)
      refuse("history", fmt::format("must be left out, as {} has no delays", m.name));
    return;
  }
  const std::string has_delays = fmt::format("{} has delays ({})", m.name, m.delays.front().name);
  if (r.plan.precision == precision_kind::single_precision)
    refuse("precision", "must be double: " + has_delays + ", whose steps are recorded in double alone");
  if (r.plan.detection == detection::certified)
    refuse("detection", "must be hermite: " + has_delays + ", and no enclosure is known of delayed states");
  const char* const without = ", of which no derivatives are taken: run it with neighbouring parameters instead";
  refuse("sensitivity", "must be left out: " + has_delays + without);
  refuse("lyapunov", "must be left out: " + has_delays + without);
  if (r.plan.backward)
    refuse("t", "must have its begin before its end: " + has_delays + ", so its runs go forward in time");
  if (r.plan.backward)
    for (const char* time : {"t_begin", "t_end"})
      if (const auto given = r.given.find(time); given != r.given.end())
        given->second.fail("must leave t_begin < t_end: " + has_delays + ", so its runs go forward in time");
}

}  // namespace saltus::host
