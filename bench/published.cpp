// Published tables, with the counts of saltus: M. D. Compere (2001), tables 5.3 to 5.6, and
// G. Mao, L. R. Petzold (2002), tables 1 to 3. Counts, not times: the same on every machine. Markdown to stdout.
//
//     bench_published [--revision=TEXT]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <exception>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "testing/ensemble.hpp"

namespace saltus::bench {
namespace {

using settings = std::vector<std::string>;

const std::string models = saltus::test::in_source("bench/models/");

settings operator+(settings a, const settings& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Settings of Compere's chapter 5 for one tolerance and one length of the time span.
settings as_compere(double tolerance, double span) {
  return {"method=dp5",
          "norm=compere",
          "controller=elementary",
          fmt::format("rtol={:e}", tolerance),
          fmt::format("atol={:e}", tolerance),
          "event_tol=1e-10",
          "max_step=0.1",
          fmt::format("first_step={:e}", 1e-5 * span)};
}

settings as_mao(double tolerance) {
  return {"method=dp5", fmt::format("rtol={:e}", tolerance), fmt::format("atol={:e}", tolerance), "event_tol=1e-9"};
}

/// Solves one instance, which must end well.
test::outcome solve(const std::string& model, const settings& how) {
  auto r = test::run(model, how);
  if (!is_ok(static_cast<status>(r.status[0])))
    throw std::runtime_error(fmt::format("{}: {}", model, status_table[r.status[0]].name));
  return r;
}

constexpr long long unknown = -1;

/// The counts of one solution in a table.
struct counts {
  long long events, evaluations, steps, rejected, iterations, out_of_order_roots, spurious_roots;

  static counts of(const test::outcome& r) {
    return {r.events[0],        r.rhs_evaluations[0],    r.steps[0],
            r.rejected[0],      r.root_finding_steps[0], r.out_of_order_roots[0],
            r.spurious_roots[0]};
  }
};

/// "307 / 265": published, ours.
std::string pair(long long published, long long ours) {
  return published == unknown ? fmt::format("- / {}", ours) : fmt::format("{} / {}", published, ours);
}
std::string pairs(const counts& a, const counts& b) {
  return fmt::format("{} | {} | {} | {} | {} | {} | {}", pair(a.events, b.events), pair(a.evaluations, b.evaluations),
                     pair(a.steps, b.steps), pair(a.rejected, b.rejected), pair(a.iterations, b.iterations),
                     pair(a.out_of_order_roots, b.out_of_order_roots), pair(a.spurious_roots, b.spurious_roots));
}

constexpr const char* count_heads = "N_ev | N_rhs | N_acc | N_rej | N_it | N_ctch | N_fl";
constexpr const char* count_dashes = "---|---|---|---|---|---|---";

// ---- Compere, tables 5.3 and 5.4 ------------------------------------------------------------------------------------

struct benchmark_row {
  std::string about, model;
  settings more;
  double span, tolerance;
  std::string final_name;
  double published_final, exact_final;  ///< NaN: not given
  counts published;
};

void print_row(const benchmark_row& row) {
  const auto r = solve(row.model, as_compere(row.tolerance, row.span) + row.more);
  const auto given = std::isnan(row.published_final) ? std::string("-") : fmt::format("{:.7f}", row.published_final);
  fmt::print("| {} | {} / {:.7f} | {:.7f} | {} |\n", row.about, given, r.final(row.final_name), row.exact_final,
             pairs(row.published, counts::of(r)));
}

void print_benchmarks(const std::vector<benchmark_row>& rows) {
  fmt::print("| problem | x_final | exact | {} |\n|---|---|---|{}|\n", count_heads, count_dashes);
  for (const auto& row : rows) print_row(row);
}

void print_table_5_3() {
  fmt::print(
      R"(
### Compere, table 5.3: the problems of Birta, Oren and Kettenis

Tolerance 1e-5. Each cell: published / saltus. BOK 2 is a surrogate (the original is not known): its published numbers
belong to another problem.

)");
  const auto bok_1 = [](const char* A, double published, double exact, const counts& c) {
    return benchmark_row{
        fmt::format("BOK 1, A = {}", A), "bok_1", {fmt::format("A={}", A)}, 3.0, 1e-5, "y3", published, exact, c};
  };
  print_benchmarks({
      bok_1("0.35", 0.8554069, 0.855407566171, {3, 307, 42, 3, 5, 0, 0}),
      bok_1("0.40", 0.8000413, 0.800043875214, {3, 307, 41, 3, 6, 0, 0}),
      bok_1("0.41", 0.7819808, 0.781981247530, {1, 237, 35, 2, 2, 0, 0}),
      bok_1("0.45", 0.7432341, 0.743234451699, {1, 231, 35, 1, 2, 0, 0}),
      {"BOK 2 (surrogate)", "bok_2", {}, 9.4, 1e-5, "x1", 0.9427525, 0.957325583172, {16, 1041, 123, 16, 29, 0, 0}},
      {"BOK 3", "bok_3", {}, 1.386293, 1e-5, "y3", 0.1653847, 0.165384895559, {20, 725, 58, 20, 36, 0, 0}},
  });
}

void print_table_5_4() {
  fmt::print(
      R"(
### Compere, table 5.4: the problems of Carver

Tolerance 1e-5. Carver's paper was not to be had: problem 1 follows from the text; 2a, 2b and 3 are reconstructions
with the published numbers of states and guards, and 2a and 2b of events. There the counts of steps belong to other
equations and time spans (2b: 8.5 at a longest step of 0.1 is 85 steps).

)");
  const double nan = std::nan("");
  const counts two{7, 447, 53, 10, 9, 0, 0};
  const double y_2a = 2.0 * std::sin(10.5) + 0.5, i1 = 15.3728723144885;
  print_benchmarks({
      {"Carver 1", "carver_1", {}, 0.9, 1e-5, "y", nan, 0.164872127070, {3, 229, 30, 3, 4, 0, 0}},
      {"Carver 2a (reconstruction)", "carver_2a", {}, 3.0, 1e-5, "y", nan, y_2a, two},
      {"Carver 2b (reconstruction)", "carver_2b", {}, 8.5, 1e-5, "y", nan, 0.889970646053, two},
      {"Carver 3 (reconstruction)", "carver_3", {}, 0.085, 1e-5, "i1", nan, i1, {22, 873, 88, 27, 23, 0, 0}},
      {"Carver 3 with region of concurrency",
       "carver_3",
       {"concurrency={time=1e-6, value=0.01}"},
       0.085,
       1e-5,
       "i1",
       nan,
       i1,
       {16, 741, 79, 21, 18, 0, 0}},
  });
}

// ---- Compere, tables 5.5 and 5.6: against a smooth solver -----------------------------------------------------------

/// Mean number of evaluations and error of solutions.
struct effort {
  double error;
  double evaluations;
};

/// Effort over all instances of a run; errors are averaged by their geometric mean.
template <class Measure>
effort effort_of(const test::outcome& r, Measure&& error_of) {
  double logs = 0, evaluations = 0;
  const auto n = static_cast<double>(r.plan.count);
  for (std::size_t i = 0; i < r.rhs_evaluations.size(); ++i) {
    logs += std::log(error_of(r, i));
    evaluations += static_cast<double>(r.rhs_evaluations[i]);
  }
  return {std::exp(logs / n), evaluations / n};
}

/// Effort of a model without its events, at several tolerances.
template <class Measure>
std::vector<effort> efforts(const std::string& model, double span, const settings& more, Measure&& error_of) {
  std::vector<effort> all;
  for (int half_decade = 6; half_decade <= 18; ++half_decade)
    all.push_back(effort_of(solve(model, as_compere(std::pow(10.0, -0.5 * half_decade), span) + more), error_of));
  return all;
}

double over(long long a, long long b) { return static_cast<double>(a) / static_cast<double>(b); }

/// Evaluations of the cheapest smooth run that is at least as accurate, as a multiple of those of `r`.
std::string as_accurate(const std::vector<effort>& smooth, const effort& r) {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& e : smooth)
    if (e.error <= r.error) least = std::min(least, e.evaluations);
  return std::isinf(least) ? "-" : fmt::format("{:.1f}", least / r.evaluations);
}

/// Number of distinct times at which anything fired: the number of events that remain with a region of concurrency.
long long moments(const test::outcome& r) {
  long long n = 0;
  double t = -1.0;
  for (const auto& e : r.log) {
    n += e.time != t;
    t = e.time;
  }
  return n;
}

/// Largest |y - r| / max(1, |r|) over the final states.
double distance(const test::outcome& r, const test::outcome& reference) {
  double worst = 0;
  for (std::size_t i = 0; i < r.final_state.size(); ++i)
    worst = std::max(worst, std::abs(r.final_state[i] - reference.final_state[i]) /
                                std::max(1.0, std::abs(reference.final_state[i])));
  return worst;
}

const std::string balls_smooth = models + "bouncing_balls_100_smooth.hpp";
const std::string jar_smooth = models + "marble_jar_10_smooth.hpp";
const settings region = {"concurrency={time=1e-7, value=1e-6}"};

void print_balls() {
  const settings how = as_compere(1e-3, 3.7) + settings{"output.events=true"};
  const auto exact = solve("bouncing_balls_100", {"method=dop853", "rtol=1e-12"});
  const auto error = [&](const test::outcome& r, std::size_t) { return distance(r, exact); };
  const auto smooth = efforts(balls_smooth, 3.7, {}, error);
  const auto row = [&](const char* name, const test::outcome& r, const char* ratio, const counts& published) {
    auto ours = counts::of(r);
    ours.events = moments(r);
    fmt::print("| {} | {:.1e} | {} | {} / {:.2f} | {} |\n", name, error(r, 0), pairs(published, ours), ratio,
               smooth.front().evaluations / static_cast<double>(r.rhs_evaluations[0]),
               as_accurate(smooth, effort_of(r, error)));
  };
  row("smooth", solve(balls_smooth, how), "1", {unknown, 4963, 401, 426, unknown, unknown, unknown});
  row("events", solve("bouncing_balls_100", how), "0.16", {1200, 31423, 1239, 1200, 2398, 0, 0});
  row("events, region", solve("bouncing_balls_100", how + region), "7.2", {18, 685, 57, 18, 33, 0, 0});
}

/// Prints the same table for stiffer ground with the same damping ratio.
void print_stiffer_balls() {
  fmt::print("\n| stiffness, damping | N_rhs smooth | events, region | ratio |\n|---|---|---|---|\n");
  for (const double factor : {1.0, 10.0, 100.0, 1e3, 1e4}) {
    const double k = 1e4 * factor, c = 10.0 * std::sqrt(factor);
    const settings how =
        as_compere(1e-3, 3.7) + settings{fmt::format("stiffness={:e}", k), fmt::format("damping={:e}", c)};
    const auto smooth = solve(balls_smooth, how).rhs_evaluations[0];
    const auto ours = solve("bouncing_balls_100", how + region).rhs_evaluations[0];
    fmt::print("| {:.0e}, {:.3g} | {} | {} | {:.1f} |\n", k, c, smooth, ours, over(smooth, ours));
  }
}

void print_table_5_5() {
  fmt::print(
      R"(
### Compere, table 5.5: 100 bouncing balls

Tolerance 1e-3, region of concurrency 1e-7 in time and 1e-6 in value. "Smooth" is the same model without guards: f
switches where a height is negative. N_ev counts moments: all that fires at one is one. The error is the largest of a
final state, against dop853 at 1e-12. "Smooth over this" is N_rhs of the smooth run at the same tolerance over that of
the row; "as accurate" takes the cheapest smooth run that is as accurate, of tolerances 1e-3, 3e-4, .. 1e-9.

| | error | {} | smooth over this | as accurate |
|---|---|{}|---|---|
)",
      count_heads, count_dashes);
  print_balls();
  fmt::print(
      R"(
With the region all that is due within it switches together, up to 1e-7 late. A ball that switches late leaves its
place among the others: 20 groups instead of 18.

The paper gives neither stiffness nor damping nor time span; 3.7 at a longest step of 0.1 is 37 steps in itself. How
much the smooth solver suffers is a matter of the stiffness:
)");
  print_stiffer_balls();
}

/// max(E) - min(E)
double drift(const test::outcome& r, std::size_t id = 0) {
  return r.reductions[id] - r.reductions[r.reductions.size() / 2 + id];
}

settings jar(double damping, double stiffness) {
  return {fmt::format("damping={:e}", damping), fmt::format("stiffness={:e}", stiffness), "max_events=1000000",
          "output.reduce=[\"max(energy)\", \"min(energy)\"]"};
}

struct jar_row {
  double damping, tolerance, drift_smooth, drift_events;  ///< published; NaN: failed
  counts smooth, events;
};

void print_jar(const jar_row& row) {
  const auto how = as_compere(row.tolerance, 2.0) + jar(row.damping, 2e4);
  const auto smooth = solve(jar_smooth, how), events = solve("marble_jar_10", how);
  const auto print = [&](const char* name, const test::outcome& r, double published_drift, const counts& published) {
    const bool known = row.smooth.evaluations != unknown;
    fmt::print("| {}, {} | {:.0e} | {} / {:.2e} | {} | {} / {:.2f} |\n", name, row.damping > 0 ? "damped" : "undamped",
               row.tolerance, std::isnan(published_drift) ? "failed" : fmt::format("{:.2e}", published_drift), drift(r),
               pairs(published, counts::of(r)),
               known ? fmt::format("{:.1f}", over(row.smooth.evaluations, published.evaluations)) : "-",
               over(smooth.rhs_evaluations[0], r.rhs_evaluations[0]));
  };
  print("smooth", smooth, row.drift_smooth, row.smooth);
  print("events", events, row.drift_events, row.events);
}

/// Uses several starts, since the motion is chaotic.
void print_jars() {
  fmt::print(
      "\n| stiffness | tolerance | drift: smooth | events | N_rhs smooth | events | ratio | as accurate |\n"
      "|---|---|---|---|---|---|---|---|\n");
  const auto error = [](const test::outcome& r, std::size_t id) { return drift(r, id); };
  for (const double stiffness : {2e4, 2e6}) {
    const auto starts = jar(0.0, stiffness) + settings{"sweep.turn={from=2.3, to=2.5, count=16}"};
    const auto scan = efforts(jar_smooth, 2.0, starts, error);
    for (const double tolerance : {1e-3, 1e-4, 1e-5, 1e-6, 1e-7}) {
      const auto how = as_compere(tolerance, 2.0) + starts;
      const auto smooth = effort_of(solve(jar_smooth, how), error),
                 events = effort_of(solve("marble_jar_10", how), error);
      fmt::print("| {:.0e} | {:.0e} | {:.1e} | {:.1e} | {:.0f} | {:.0f} | {:.2f} | {} |\n", stiffness, tolerance,
                 smooth.error, events.error, smooth.evaluations, events.evaluations,
                 smooth.evaluations / events.evaluations, as_accurate(scan, events));
    }
  }
}

void print_table_5_6() {
  fmt::print(
      R"(
### Compere, table 5.6: marble jar, 10 marbles

Sizes, masses, stiffness and start are not in the paper: a reconstruction. Energy drift is max E - min E over 2 s. The
motion is chaotic: each run soon goes its own way. Undamped, the drift is an error; damped, it is the energy lost, and
no measure.

| | tolerance | drift | {} | smooth over this |
|---|---|---|{}|---|
)",
      count_heads, count_dashes);
  const auto none = [](long long rhs, long long acc, long long rej) {
    return counts{unknown, rhs, acc, rej, unknown, unknown, unknown};
  };
  print_jar({0.0, 1e-3, 2.81e-2, 3.55e-3, none(414025, 36326, 32679), {2272, 98385, 7653, 3334, 4653, 7, 0}});
  print_jar({0.0, 1e-6, 3.01e-4, 3.34e-5, none(439147, 40324, 32868), {2088, 132283, 15189, 2237, 3925, 0, 0}});
  print_jar(
      {1.0, 1e-3, std::nan(""), 0.2937, none(unknown, unknown, unknown), {13404, 471259, 32225, 17876, 23974, 2, 3}});
  print_jar({1.0, 1e-6, 0.2939, 0.2939, none(624367, 68810, 35252), {5663, 438329, 50733, 10593, 9841, 0, 0}});
  fmt::print(
      R"(
The drifts are of the published size, and N_rhs with events is below the published, except without damping at 1e-6. The
published cost of the smooth solver is not reached: ours needs a twentieth of it at 1e-3, so that the ratios 4.2 and 3.3 do
not come out. A contact here is about 1 mm deep, as large as the tolerance 1e-3: a smooth step passes over it, and only the
energy notices. On the other side an event costs the step it is found in, that step again, the step to it, and short steps
after it, because the forces compare numbers. Averages over 16 starts, undamped, at more tolerances, and with stiffer
contacts ("as accurate" as above):
)");
  print_jars();
}

// ---- Mao and Petzold ------------------------------------------------------------------------------------------------

void print_mao_1() {
  fmt::print(
      R"(
### Mao and Petzold, table 1: events that the states do not feel

y' = y while sin(20 pi t) >= 0, else 0: 69 events, y(3.5) = 0.1 exp(7/4). Tolerance 1e-5. The model here has no
`max_step` of its own, so that nothing but the guard can keep a step from passing over its zeros. DASRT skips 16
events; DASPKE, with the guard in its error control, none.

| | events | y(3.5), exact {:.6f} | N_rhs | N_acc | N_rej |
|---|---|---|---|---|---|
| DASRT | 53 | 0.122 at t = 2.0, exact 0.272 | | | |
)",
      0.1 * std::exp(1.75));
  const auto row = [](const char* about, const std::string& model, const settings& more) {
    const auto r = solve(model, as_mao(1e-5) + more);
    fmt::print("| {} | {} | {:.6f} | {} | {} | {} |\n", about, r.events[0], r.final("y"), r.rhs_evaluations[0],
               r.steps[0], r.rejected[0]);
  };
  const auto model = models + "mao_1_free.hpp";
  row("saltus, `hermite` alone, tolerance 1e-3", model, {"rtol=1e-3", "atol=1e-3"});
  row("saltus, `hermite` alone", model, {});
  row("saltus, `guards_in_error = true`", model, {"guards_in_error=true"});
  row("saltus, `detection = \"certified\"`", model, {"detection=certified"});
  row("saltus, the model's `max_step`", "mao_1", {});
}

void print_mao_2() {
  fmt::print(
      R"(
### Mao and Petzold, table 2: BOK 1 near tangency

Tolerance 1e-5. The published y3(3) are those of u <- -y1 at an event, not of the printed u <- -u y1 (which Compere's
numbers follow, above); so are these.

| A | event times: exact | DASPKE | DSL48E | saltus | y3(3): exact | DASPKE | DSL48E | saltus |
|---|---|---|---|---|---|---|---|---|
)");
  struct row {
    const char *A, *exact, *daspke, *dsl48e;
    double y3;
    const char *y3_daspke, *y3_dsl48e;
  };
  const row rows[] = {
      {"0.35", "0.898206 2.297335 2.628273", "0.898223 2.297377 2.628262", "0.898211 2.297334 2.628245", 0.393337428924,
       "0.393366", "0.393346"},
      {"0.40", "0.884843 2.418499 2.500000", "0.884858 2.418639 2.499864", "0.884849 2.418542 2.499899", 0.243055803575,
       "0.243088", "0.243134"},
      {"0.403", "0.884048 2.446755 2.471334", "0.884064 2.447192 2.470742", "0.884055 2.441031 2.471031",
       0.267551138512, "0.242976", "failed"},
      {"0.45", "0.871693", "0.871708", "0.871696", 0.743234451699, "0.743242", "0.743240"},
  };
  for (const auto& e : rows) {
    const auto r = solve(models + "mao_3.hpp", as_mao(1e-5) + settings{fmt::format("A={}", e.A), "output.events=true"});
    std::string times;
    for (const auto& event : r.log) times += fmt::format("{}{:.6f}", times.empty() ? "" : " ", event.time);
    fmt::print("| {} | {} | {} | {} | {} | {:.6f} | {} | {} | {:.6f} |\n", e.A, e.exact, e.daspke, e.dsl48e, times,
               e.y3, e.y3_daspke, e.y3_dsl48e, r.final("y3"));
  }
}

void print_mao_3() {
  const auto r = solve("mao_4", as_mao(1e-5) + settings{"output.events=true"});
  long long sticking = 0;
  for (std::size_t i = 1; i < r.log.size(); ++i)
    sticking += r.log[i].guard == r.log[i - 1].guard && r.log[i].time - r.log[i - 1].time < 1e-9;
  fmt::print(
      R"(
### Mao and Petzold, table 3: the diode circuit

Tolerance 1e-5. Their equations are not printed: `mao_4` is a rectifier with three modes, each by four relations, over
0.085 s, solved by an explicit method; theirs is a DAE, by BDF. So the steps say little; the false crossings are what
can be compared. Events of `mao_4`: 16, and {} found.

| | steps | residuals or rhs | false crossings: sticking | erroneous |
|---|---|---|---|---|
| DASRT | 477 | 2229 | 2 | 4 |
| DASPKE, three ways | 486, 471, 465 | 2778, 3163, 2834 | 0 | 0 |
| saltus | {} | {} | {} | {} |
)",
      r.events[0], r.steps[0], r.rhs_evaluations[0], sticking, r.events[0] - 16 - sticking);
}

int run(int argc, char** argv) {
  constexpr std::string_view option = "--revision=";
  std::string revision;
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]).substr(0, option.size()) == option) revision = argv[i] + option.size();
  fmt::print("saltus {}{}, {:%Y-%m-%d}.\n", SALTUS_VERSION, revision.empty() ? "" : " (" + revision + ")",
             fmt::gmtime(std::time(nullptr)));
  print_table_5_3();
  print_table_5_4();
  print_table_5_5();
  print_table_5_6();
  print_mao_1();
  print_mao_2();
  print_mao_3();
  return 0;
}

}  // namespace
}  // namespace saltus::bench

int main(int argc, char** argv) {
  try {
    return saltus::bench::run(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "bench_published: {}\n", e.what());
    return 1;
  }
}
