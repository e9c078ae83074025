#include "study/measure.hpp"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <thread>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/paths.hpp"
#include "compile/chosen_shape.hpp"
#include "compile/compiler.hpp"
#include "spec/spec.hpp"
#include "study/tune.hpp"

namespace saltus::host {

namespace {

/// Seconds of a run after which a measurement begins: short runs have ended by then.
constexpr double usual_delay = 1;
/// Seconds after which this model is measured.
constexpr double delay_of_model = 5;

/// The delay in $SALTUS_MEASURE; infinite for never.
double delay() {
  const char* const given = std::getenv("SALTUS_MEASURE");
  const std::string text = given ? given : "";
  if (text.empty()) return usual_delay;
  if (text == "never") return HUGE_VAL;
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  if (*end != '\0' || !(seconds >= 0))
    throw error(exit_usage, fmt::format("SALTUS_MEASURE = {}: must be a number of seconds, or never", text));
  return seconds;
}

plan plan_of_kind(const char* method, const char* model) {
  return validate(from_model(model, {{"--method", method}, {"--backend", "cpu"}}), describe_model(find_model(model)));
}

}  // namespace

std::unique_ptr<program_beside> measure_beside(const plan& p, backend& where, std::vector<std::string> command) {
  const double after = delay();
  if (std::isinf(after) || command.size() < 2 || !lanes_are_unknown(p, where)) return {};
  command[0] = "/proc/self/exe";
  command[1] = measuring_command;
  return std::make_unique<program_beside>(std::move(command), after);
}

void measure_lanes(const plan& p, const cancellation& stop) {
  using clock = std::chrono::steady_clock;
  const auto begin = clock::now();
  if (follows_machine(p) && !machine_shape_of(p)) tune_machine(p, stop);
  const double left = delay_of_model - delay() - std::chrono::duration<double>(clock::now() - begin).count();
  for (double slept = 0; slept < left && !stop; slept += 0.1)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  if (!stop && !remembered_shape(p)) tune_lanes(p, stop);
}

void measure_machine(const cancellation& stop, const std::function<void(const std::string&)>& say) {
  constexpr std::pair<const char*, const char*> kinds[] = {
      {"dp5", "lorenz"}, {"dp5", "ball_drag"}, {"dop853", "lorenz"}, {"dop853", "ball_drag"}, {"rodas5p", "robertson"}};
  for (const auto& [method, model] : kinds) {
    const plan p = plan_of_kind(method, model);
    say(fmt::format("measuring {}, {}\n", method, name_of(kind_of(p))));
    for (const auto& tried : tune_machine(p, stop))
      say(fmt::format("  {:<14} {:.4g} us\n", name_of(tried.shape), 1e6 * tried.seconds));
  }
}

}  // namespace saltus::host
