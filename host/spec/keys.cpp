#include "spec/keys.hpp"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "abi/choices.hpp"
#include "spec/field.hpp"

namespace saltus::host {

namespace {

constexpr auto positive = number_range::positive, not_negative = number_range::not_negative;
using count = whole_value<std::int64_t>;
using small_count = whole_value<int>;
constexpr std::string_view table = "Table";

// clang-format off
const spec_key all_keys[] = {
    {"", "integration", "model", {}, "", "-", "a built-in name, or a path such as `\"./my_model.hpp\"`",
     "the only key that must be there; a path starts at the folder of the spec"},
    {"", "integration", "method", {}, "str", "see below",
     "explicit: `kutta3` `bs3` `rk4` `rkf45` `rkf78` `dp5` `tsit5` `dop853` `rdpk510`, Taylor series `taylor8` `taylor12` `taylor16` "
     "`taylor20`, `taylor` (of these the one for `rtol`); implicit: `trapezoid` `sdirk4` `esdirk4` `rodas4` `rodas5p` `radau5` `radau9` `radau13`, of "
     "mechanical models `infltrap` `inflsdirk4` `inflesdirk4`; both: `auto`",
     "how; `kutta3` and `rk4` have no error estimate and need `step`"},
    {"", "integration", "t", {}, "Union[Number, Iterable[SupportsFloat]]", "the model's span", "`[begin, end]`, begin != end; or the end",
     "the time span; `[1.0, 0.0]` runs backward in time; `t = 100` begins where the model's span does"},
    {"", "integration", "rtol", number_value{&plan::rtol, positive}, "", "", "",
     "relative tolerance; below 1e-14 (1e-6 with `precision = \"float\"`) a warning says that rounding is larger"},
    {"", "integration", "atol", {}, "Union[Number, Iterable[SupportsFloat], Table]", "`rtol`", "> 0",
     "absolute tolerance: a number, a list with one per state, or a table by state with `default`"},
    {"", "integration", "norm", word_value<norm_kind>{&plan::norm}, "", "", "", "how the errors of the states become one number"},
    {"", "integration", "controller", word_value<controller_kind>{&plan::controller}, "", "", "",
     "how the next step size follows from it"},
    {"", "integration", "event_tol", number_value{&plan::event_tol, not_negative}, "", "", "",
     "tolerance in time of events; 0: to rounding"},
    {"", "integration", "first_step", number_value{&plan::first_step, not_negative}, "", "", "", "0: chosen from the equations"},
    {"", "integration", "max_step", number_value{&plan::max_step, positive}, "", "", "", "largest step; a model may set a smaller one"},
    {"", "integration", "step", number_value{&plan::fixed_step, positive}, "", "", "",
     "constant step, no error control, for any method but `auto`"},
    {"", "integration", "max_steps", count{&plan::max_steps, 1, unlimited}, "", "", "",
     "trial steps per instance, rejected ones included; then status `step_budget`"},
    {"", "integration", "max_events", count{&plan::max_events, 1, unlimited}, "", "", "",
     "events per instance; then status `event_budget`"},
    {"", "integration", "history", count{&plan::history, 16, largest_history}, "", "", "",
     "steps that an instance of a model with delays remembers, rounded up to a power of two: those within its longest delay; then status "
     "`history_full` ([delays.md](delays.md))"},
    {"", "integration", "precision", word_value<precision_kind>{&plan::precision}, "", "", "",
     "the arithmetic; results are stored as double"},
    {"", "events", "detection", word_value<detection>{&plan::detection}, "", "", "",
     "how guards are searched within a step: cubics through values and derivatives at its ends and in its middle, or intervals over the "
     "whole step until every root is excluded or isolated ([events.md](events.md#detection)); `certified` not with `kutta3`, `rk4`, "
     "`rkf78`"},
    {"", "events", "guards_in_error", truth_value{&plan::guards_in_error}, "", "", "",
     "guards take part in the error control, as if they were states; not with `step`"},
    {"", "events", "concurrency", {}, table, "none", "`{ time = 1e-7, value = 1e-6 }`, both > 0",
     "bilateral guards whose roots lie within `time` of each other fire together, as long as none of them is further than `value` beyond "
     "zero"},
    {"", "events", "zeno", share_value{&plan::zeno, "a part of the time span"}, "", "", "",
     "where events accumulate they are cut short once what is left is this part of the time span; 0: never"},
    {"", "events", "rescue", truth_value{&plan::rescue}, "", "", "", "the host continues instances that lanes give up"},
    {"", "constraints", "consistency", {}, "str", "`\"algebraic\"`", "`algebraic` `nearest` `given`",
     "what is done about initial values that do not meet the constraints; only for models that have any"},
    {"", "constraints", "coordinates", {}, "str", "`\"all\"`", "`all` `unitary` `partitioned`",
     "what explicit methods integrate of equations of any order: all values, with the end of a step put back onto the constraints; or as "
     "many as there are degrees of freedom, in local coordinates in which each stage lies on the constraints: along orthogonal directions, "
     "or some of the values ([high_index.md](high_index.md#local-coordinates))"},
    {"", "constraints", "structure", {}, "str", "`\"analysis\"`", "`analysis` `array`",
     "what says how equations of any order are integrated: their structural analysis, or, where that fails (det J = 0), the rank of their "
     "derivative array, with explicit methods ([high_index.md](high_index.md#the-derivative-array))"},
    {"", "", "parameters", {}, "", "", "a table by name", "values of parameters for all instances"},
    {"", "", "initial", {}, "", "", "a table by name", "initial values of states and discrete variables for all instances; `from`: a result"},
    {"", "", "sweep", {}, "", "", "a table by name", "values of which every combination is an instance"},
    {"", "", "sample", {}, "", "", "a table by name", "distributions of which values are drawn"},
    {"", "", "sensitivity", {}, "", "", "a table", "derivatives of what is kept"},
    {"", "", "lyapunov", {}, "", "", "a table", "Lyapunov exponents"},
    {"", "", "gradient", {}, "", "", "a table", "the gradient of one outcome by any number of parameters"},
    {"", "", "output", {}, "", "", "a table", "what is kept"},
    {"", "", "run", {}, "", "", "a table", "where and how the instances are integrated"},
    {"", "", "tables", {}, "", "", "a table by name", "data that the model reads by time"},
    {"", "", "records", {}, "", "", "a table by name", "rows of data that each instance has of its own, such as doses"},

    {"sample", "", "count", {}, "Number", "1", ">= 1", "samples at every point of the product, as `design` counts them"},
    {"sample", "", "seed", {}, "Values", "0", ">= 0", "on which all random values depend"},
    {"sample", "", "design", {}, "Union[str, Table]", "`\"random\"`",
     "`random` `latin_hypercube` `sobol` `halton` `saltelli` `morris` `fast`", "how the samples lie"},
    {"sample", "", "correlation", {}, table, "none", "`{ flow = { preload = 0.6 } }`", "of normal scores: a Gaussian copula"},
    {"sample", "", "until", {}, table, "none", "`{ half_width = 0.01, max_count = 65536 }`",
     "samples are doubled until the interval of every index is as narrow"},

    {"sensitivity", "sensitivity", "parameters", {}, "", "-", "a list of 1 to 64 parameters, and of initial values such as `\"initial.height\"`",
     "with respect to what; an initial value must have its value in `[initial]`, `[sweep]` or `[sample]`"},
    {"sensitivity", "sensitivity", "error_control", truth_value{&plan::sensitivities_in_error}, "", "", "",
     "the errors of the derivatives count in the choice of steps; else the states have the bits of a run without derivatives"},

    {"gradient", "gradient", "of", {}, "", "-", "a table such as `{ final_height = 1.0, \"mean(power)\" = 0.5 }`",
     "the outcome: final values of states and outputs, `integral(x)` and `mean(x)` of these, `t_final`, and `misfit`, each with its weight"},
    {"gradient", "gradient", "data", {}, "", "none", "`{ x = { csv = \"measured.csv\", time = \"t\", column = \"x\", sigma = 0.1 } }`",
     "measured values of states and outputs; `misfit` in `of` is half the sum of the squares of (x - value) / sigma. In place of a file "
     "`{ times = [...], values = [...] }`; `sigma` is 1, a number, or as many as there are values"},
    {"gradient", "gradient", "parameters", {}, "", "all parameters, and the initial values that are given",
     "a list of parameters, and of initial values such as `\"initial.height\"`",
     "with respect to what; an initial value must have its value in `[initial]`, `[sweep]` or `[sample]`"},

    {"lyapunov", "lyapunov", "exponents", {}, "", "all", "1 to the number of states that are not algebraic, at most 64",
     "how many, the largest first"},
    {"lyapunov", "lyapunov", "from", {}, "", "the start", "a time before the end", "what comes before it does not count"},

    {"output", "output", "file", {}, "", "none", "a path, from the current folder",
     "the NetCDF-4 file ([while it is written](#the-file-while-it-is-written)), or, where the name ends with `.zarr`, a "
     "[Zarr store](#a-zarr-store), with `.csv` a [CSV file](#a-csv-file); without one only the summary is printed"},
    {"output", "output", "title", {}, "str", "that of the model", "a text", "attribute `title` of the result, and heading of its pictures"},
    {"output", "output", "samples", {}, "Union[Number, Iterable[SupportsFloat], Table]", "none",
     "`401` or `{ count = 401 }`, `{ step = 0.1 }`, `[0.0, 1.0]` or `{ times = [0.0, 1.0] }`; count and step also `{ from = 10.0, to = 20.0, "
     "count = 101 }`",
     "states and outputs on a time grid; `count` >= 2 includes both ends; `times` descend in a run backward"},
    {"output", "output", "events", {}, "Union[bool, str, Iterable[str], Table]", "false",
     "true, false, `[\"impact\"]` or more of [some of them](#some-rows-of-the-event-log)",
     "the event log: time, guard or time event, states before and after"},
    {"output", "output", "reduce", {}, "Union[str, Iterable[str]]", "`[]`",
     "[reductions](#reductions) such as `[\"max(x)\", \"mean(x)\"]`, or one alone, `\"max(x)\"`", "one number per instance"},
    {"output", "output", "compression", small_count{&plan::compression, 0, 9}, "", "", "", "deflate level; of a Zarr store 0"},
    {"output", "output", "provenance", {}, "str", "`\"full\"`", "`full` `anonymous`",
     "what the result tells of where it was made: `anonymous` leaves out folders, which may have the name of a user, and the command line"},
    {"output", "output", "store_chunk", count{&plan::store_chunk, 1, std::int64_t{1} << 24}, "", "1/64 of the instances", ">= 1",
     "instances in a chunk of a [Zarr store](#a-zarr-store)"},
    {"output", "output", "rows", truth_value{&plan::rows}, "", "", "",
     "false: nothing is kept for single instances, only statistics and counts; not with `events`"},
    {"output", "output", "statistics", {}, "bool", "false, or true if what follows needs them", "true, false",
     "mean, deviation, least and greatest value over all instances"},
    {"output", "output", "bands", {}, "Union[bool, Table]", "true with `samples` and `rows = false`",
     "true, false, `{ quantiles = [0.05, 0.5, 0.95] }`", "[statistics at each sample time](#statistics-at-sample-times)"},
    {"output", "output", "histogram", {}, table, "none", "`{ final_lift = { from = 0.0, to = 20.0, bins = 50 } }`",
     "instances counted by a final value, output, reduction or counter"},
    {"output", "output", "indices", {}, "Union[bool, str, Iterable[str]]", "true with `saltelli`, `morris` or `fast` and no sweep",
     "true, false, or outcomes: `[\"final_lift\", \"events\"]`",
     "indices of sensitivity, computed while the run goes on ([global_sensitivity.md](global_sensitivity.md)); `true`: of finals, outputs, "
     "reductions, `t_final`, `events`"},

    {"run", "run", "backend", {}, "str", "`\"auto\"`", "`auto` `cpu` `cuda` `all`",
     "`auto`: the CUDA devices if there are any, else the CPU; `all`: both, from one queue, and where there is no device the CPU alone, "
     "which is said"},
    {"run", "run", "devices", {}, "Union[str, Iterable[int]]", "`\"all\"`", "`\"all\"`, or numbers such as `[0, 1]`",
     "the CUDA devices to use; one that is named must be there"},
    {"run", "run", "threads", {}, "Number", "0", "0, or up to four for each core", "CPU threads; 0: all cores"},
    {"run", "run", "lanes", {}, "Number", "0", "0, 1, 2, 4, 8, 16, 32",
     "instances per vector; 0: what was measured to be fastest for the model, else for its kind on this machine, else what suits method and "
     "number of states ([numerics.md](numerics.md#lane-shapes)); 1: the scalar reference"},
    {"run", "run", "groups", small_count{&plan::groups, 0, 4}, "", "", "",
     "groups of `lanes` lanes that take turns on a thread; 0: with `lanes` = 0 as above, else 1"},
    {"run", "run", "chunk", count{&plan::chunk, 0, max_instances}, "", "", ">= 0", "instances per chunk; 0: chosen"},
    {"run", "run", "order", {}, "str", "`\"work\"`", "`work` `id`",
     "on a device: instances begin in the order of the work predicted for them, where that makes their warps fuller ([cuda.md](cuda.md)), or "
     "as they are numbered"},
    {"run", "run", "allowed_failed", share_value{&plan::allowed_failed, "a share of all instances"}, "", "", "",
     "share of instances that may fail before the exit code is 3"},
    {"run", "run", "instance_time_limit", number_value{&plan::instance_time_limit, positive}, "", "", "> 0, in seconds",
     "an instance that is under way for longer ends with the status `time_limit`; on CPU lanes alone: with it `auto` is `cpu`"},
    {"run", "run", "checkpoint", {}, "Number", "60", ">= 0, in seconds",
     "how often the journal of a run is put on the disk ([below](#a-run-that-is-cut-short)); without the key it begins when the run has lasted "
     "ten seconds, with it at once; 0: there is none"},
    {"run", "run", "lease", number_value{&plan::lease, positive}, "", "", "> 0, in seconds",
     "of a run that [shares](#parts-on-several-machines) its ensemble: after so long without a sign of life others integrate what it has taken"},
};
// clang-format on

template <class... Visitors>
struct overloaded : Visitors... {
  using Visitors::operator()...;
};
template <class... Visitors>
overloaded(Visitors...) -> overloaded<Visitors...>;

/// 1e-6, which fmt writes as 1e-06.
std::string shortest(double x) {
  auto text = fmt::format("{}", x);
  if (const auto zero = text.find("e-0"); zero != text.npos) text.erase(zero + 2, 1);
  return text;
}

std::string toml_of(double x) { return inline_text(toml::value<double>(x)); }

}  // namespace

std::string spec_key::path() const { return table.empty() ? std::string(name) : fmt::format("{}.{}", table, name); }

std::span<const spec_key> spec_keys() { return all_keys; }

names keys_of(std::string_view table) {
  names all;
  for (const auto& key : all_keys)
    if (key.table == table) all.push_back(key.name);
  return all;
}

void read_plain(const spec_key& key, const field& entry, plan& to) {
  std::visit(
      overloaded{
          [](std::monostate) {},
          [&](const number_value& v) { to.*v.to = v.within == positive ? entry.positive() : entry.not_negative(); },
          [&](const share_value& v) { to.*v.to = entry.share(fmt::format("must be {}, from 0 to 1", v.of)); },
          [&]<class Integer>(const whole_value<Integer>& v) {
            to.*v.to = static_cast<Integer>(entry.whole(v.low, v.high));
          },
          [&](const truth_value& v) { to.*v.to = entry.boolean(); },
          [&]<class Choice>(const word_value<Choice>& v) { to.*v.to = entry.choice<Choice>(); }},
      key.value);
}

std::string plain_text(const spec_key& key, const plan& from) {
  return std::visit(overloaded{[](std::monostate) { return std::string(); },
                               [&](const number_value& v) {
                                 const double x = from.*v.to;
                                 const bool is_on = std::isfinite(x) && (v.within == positive ? x > 0 : x >= 0);
                                 return is_on ? toml_of(x) : std::string();
                               },
                               [&](const share_value& v) { return toml_of(from.*v.to); },
                               [&]<class Integer>(const whole_value<Integer>& v) {
                                 const std::int64_t n = from.*v.to;
                                 return v.low <= n && n <= v.high ? std::to_string(n) : std::string();
                               },
                               [&](const truth_value& v) { return std::string(from.*v.to ? "true" : "false"); },
                               [&]<class Choice>(const word_value<Choice>& v) {
                                 return inline_text(toml::value<std::string>(word_of(from.*v.to)));
                               }},
                    key.value);
}

std::string default_of(const spec_key& key) {
  if (!key.otherwise.empty() || !key.is_plain()) return std::string(key.otherwise);
  const auto text = plain_text(key, plan{});
  if (text.empty()) return "none";
  if (const auto* number = std::get_if<number_value>(&key.value)) return shortest(plan{}.*number->to);
  if (const auto* share = std::get_if<share_value>(&key.value)) return shortest(plan{}.*share->to);
  return text.front() == '"' ? "`" + text + "`" : text;
}

std::string allowed_of(const spec_key& key) {
  if (!key.allowed.empty()) return std::string(key.allowed);
  return std::visit(overloaded{[](std::monostate) { return std::string(); },
                               [](const number_value& v) { return std::string(v.within == positive ? "> 0" : ">= 0"); },
                               [](const share_value&) { return std::string("0 to 1"); },
                               []<class Integer>(const whole_value<Integer>& v) {
                                 return v.high == unlimited ? fmt::format(">= {}", v.low)
                                                            : fmt::format("{} to {}", v.low, v.high);
                               },
                               [](const truth_value&) { return std::string("true, false"); },
                               []<class Choice>(const word_value<Choice>&) {
                                 return fmt::format("`{}`", fmt::join(words_of<Choice>, "` `"));
                               }},
                    key.value);
}

std::string python_type_of(const spec_key& key) {
  if (!key.python.empty() || !key.is_plain()) return std::string(key.python);
  if (key.table == "sensitivity") return {};  // a keyword of that name belongs to the run
  return std::visit(overloaded{[](const auto&) { return "Number"; }, [](const truth_value&) { return "bool"; },
                               []<class Choice>(const word_value<Choice>&) { return "str"; }},
                    key.value);
}

}  // namespace saltus::host
