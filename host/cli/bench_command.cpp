// saltus bench.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/json.hpp"
#include "bench/advice.hpp"
#include "bench/bench.hpp"
#include "cli/commands.hpp"
#include "cli/interrupt.hpp"

namespace saltus::host {

namespace {

template <class Findings>
void print_findings(const Findings& found, bool as_json) {
  fmt::print("{}{}", as_json ? json_text(json_of(found)) : text_of(found), as_json ? "\n" : "");
}

}  // namespace

int bench(const run_arguments& a, bench_options options, bool advises) {
  options.quiet = a.quiet;
  options.make_plan = [&](const std::vector<flag>& more) {
    study what = a;
    what.flags.insert(what.flags.end(), more.begin(), more.end());  // these override the former
    return plan_of(what, interrupted);
  };
  ignore_broken_pipes();
  if (advises) print_findings(advise(options, interrupted), a.as_json);
  else print_findings(bench(options, interrupted), a.as_json);
  return interrupted ? exit_interrupted : exit_ok;
}

}  // namespace saltus::host
