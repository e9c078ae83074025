// Rejected specs, and misspelt names.
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "valve.hpp"

namespace saltus::host::spec_test {
namespace {

// ---- bad specs

struct bad {
  std::string text;  ///< after the line that names the model
  std::string message;
  std::vector<flag> flags = {};
};

TEST_F(spec, a_bad_value_is_named_with_its_place_and_what_is_allowed) {
  const std::string keys =
      "allowed: model, method, t, rtol, atol, norm, controller, event_tol, first_step, max_step, step, "
      "max_steps, max_events, history, precision, detection, guards_in_error, concurrency, zeno, rescue, consistency, "
      "coordinates, structure, parameters, initial, sweep, sample, sensitivity, lyapunov, gradient, output, run, "
      "tables, records";
  const std::string quantities = "damping, preload, flow, compressibility, restitution, lift, velocity, pressure";
  const std::string one_way = "must leave t_begin < t_end in every instance, or t_begin > t_end in every one; ";
  const std::string distributions =
      "uniform, log_uniform, normal, lognormal, triangular, beta, gamma, weibull, discrete, csv";
  const std::string methods =
      "allowed: kutta3, bs3, rk4, rkf45, rkf78, dp5, tsit5, dop853, rdpk510, taylor8, taylor12, taylor16, taylor20, "
      "trapezoid, sdirk4, esdirk4, rodas4, "
      "rodas5p, radau5, radau9, radau13, infltrap, inflsdirk4, inflesdirk4, taylor, auto";

  write("runs.csv", "q,p,s\n+1,2,+-5\nabc,nan\n3\n");
  write("twice.csv", "q,p, \"q\"\n1,2,3\n");
  write("empty.csv", "q\n");
  write("more.csv", "q,x\n1,2\n0,5,0.2\n");
  write("german.csv", "q;x\n0,5;0,2\n");
  write("tabs.csv", "q\tx\n0.5\t0.2\n");

  // clang-format off
  const std::vector<bad> cases = {
      // names
      {"rtoll = 1e-8\n", "spec.toml:2:1: rtoll = 1e-08: unknown key; did you mean rtol? " + keys},
      {"[solver]\n", "spec.toml:2:2: solver = {}: unknown key; " + keys},
      {"[parameters]\nflwo = 3\n",
       "spec.toml:3:1: parameters.flwo = 3: unknown key; did you mean flow? "
       "allowed: damping, preload, flow, compressibility, restitution"},
      {"[initial]\nLift = 3\n",
       "spec.toml:3:1: initial.Lift = 3: unknown key; did you mean lift? allowed: lift, velocity, pressure, from"},
      {"[sweep]\nx = [1]\n",
       "spec.toml:3:1: sweep.x = [1]: not a parameter or state of relief_valve; allowed: zip, table, parameters, initial, " + quantities +
           ", t_begin, t_end"},
      {"[sample]\ncount = 2\nt_end = { uniform = [1, 2] }\n",
       "spec.toml:4:1: sample.t_end = { uniform = [1, 2] }: not a parameter or state of relief_valve; "
       "allowed: count, seed, design, correlation, until, parameters, initial, " + quantities},
      {"[output]\nfile = \"x.zarr\"\nstore_chunk = 0\n",
       "spec.toml:4:15: output.store_chunk = 0: must be a whole number from 1 to 16777216"},
      {"[output]\nfiles = \"x.nc\"\n",
       "spec.toml:3:1: output.files = \"x.nc\": unknown key; did you mean file? "
       "allowed: file, title, samples, events, reduce, compression, provenance, store_chunk, rows, statistics, bands, histogram, indices"},
      {"[run]\ncores = 2\n",
       "spec.toml:3:1: run.cores = 2: unknown key; allowed: backend, devices, threads, lanes, groups, chunk, order, "
       "allowed_failed, instance_time_limit, checkpoint, lease"},
      {"atol = { lfit = 1e-8 }\n",
       "spec.toml:2:10: atol.lfit = 1e-08: unknown key; did you mean lift? allowed: default, lift, velocity, pressure"},
      // types and values
      {"rtol = -1\n", "spec.toml:2:8: rtol = -1: must be a positive number"},
      {"rtol = \"small\"\n", "spec.toml:2:8: rtol = \"small\": must be a positive number"},
      {"rtol = true\n", "spec.toml:2:8: rtol = true: must be a positive number"},
      {"atol = [1e-8, -1.0, 1e-8]\n", "spec.toml:2:15: atol[1] = -1.0: must be a positive number"},
      {"atol = [1e-8]\n",
       "spec.toml:2:8: atol = [1e-08]: must have one number for each state: lift, velocity, pressure"},
      {"event_tol = -1e-9\n", "spec.toml:2:13: event_tol = -1e-09: must be zero or a positive number"},
      {"max_step = inf\n", "spec.toml:2:12: max_step = inf: must be a positive number"},
      {"max_steps = 0\n", "spec.toml:2:13: max_steps = 0: must be a whole number from 1 to 9223372036854775807"},
      {"max_events = 1.5\n", "spec.toml:2:14: max_events = 1.5: must be a whole number from 1 to 9223372036854775807"},
      {"method = \"euler\"\n",
       "spec.toml:2:10: method = \"euler\": unknown word; " + methods},
      {"method = 5\n",
       "spec.toml:2:10: method = 5: must be a word in quotes; " + methods},
      {"method = \"kutta3\"\n",
       "spec.toml:2:10: method = \"kutta3\": has no error estimate: must come with step, the constant step size"},
      {"norm = \"mx\"\n",
       "spec.toml:2:8: norm = \"mx\": unknown word; did you mean max? allowed: rms, max, compere"},
      {"t = [1.0, 1.0]\n",
       "spec.toml:2:5: t = [1.0, 1.0]: must be [begin, end] with begin < end, or begin > end to run backward"},
      {"t = [0.0]\n", "spec.toml:2:5: t = [0.0]: must be [begin, end], or the end"},
      {"t = 0\n", "spec.toml:2:5: t = 0: must be another time than the beginning, 0; or [begin, end]"},
      // events
      {"detection = \"hermit\"\n",
       "spec.toml:2:13: detection = \"hermit\": unknown word; did you mean hermite? allowed: hermite, certified"},
      {"guards_in_error = 1\n", "spec.toml:2:19: guards_in_error = 1: must be true or false"},
      {"guards_in_error = true\nstep = 0.1\n",
       "spec.toml:2:19: guards_in_error = true: must be false with step, which has no error control"},
      {"concurrency = 1e-7\n", "spec.toml:2:15: concurrency = 1e-07: must be a table { KEY = VALUE }, with keys of time, value"},
      {"concurrency = { time = 1e-7 }\n",
       "spec.toml:2:15: concurrency.value is missing: must be a distance from zero, in the units of the guards"},
      {"concurrency = { value = 1e-7 }\n",
       "spec.toml:2:15: concurrency.time is missing: must be a span of time"},
      {"concurrency = { time = 0, value = 1 }\n", "spec.toml:2:24: concurrency.time = 0: must be a positive number"},
      {"concurrency = { time = 1, value = -1 }\n", "spec.toml:2:35: concurrency.value = -1: must be a positive number"},
      {"concurrency = { times = 1, value = 1 }\n",
       "spec.toml:2:17: concurrency.times = 1: unknown key; did you mean time? allowed: time, value"},
      {"zeno = 1.5\n", "spec.toml:2:8: zeno = 1.5: must be a part of the time span, from 0 to 1"},
      {"zeno = \"never\"\n", "spec.toml:2:8: zeno = \"never\": must be a part of the time span, from 0 to 1"},
      {"rescue = \"no\"\n", "spec.toml:2:10: rescue = \"no\": must be true or false"},
      {"[parameters]\nflow = nan\n", "spec.toml:3:8: parameters.flow = nan: must be a finite number"},
      {"[initial]\nlift = nan\n", "spec.toml:3:8: initial.lift = nan: must be a finite number"},
      {"parameters = 3\n",
       "spec.toml:2:14: parameters = 3: must be a table { KEY = VALUE }, with keys of damping, preload, flow, "
       "compressibility, restitution"},
      // sweeps
      {"[sweep]\n", "spec.toml:2:1: sweep = {}: must have at least one entry"},
      {"[sweep.zip]\n", "spec.toml:2:1: sweep.zip = {}: must have at least one entry"},
      {"[sweep]\nflow = []\n", "spec.toml:3:8: sweep.flow = []: must have at least one value"},
      {"[sweep]\nflow = [1, inf]\n", "spec.toml:3:12: sweep.flow[1] = inf: must be a finite number"},
      {"[sweep]\nflow = 3\n",
       "spec.toml:3:8: sweep.flow = 3: must be a list, { from, to, count, scale } or { csv, column, count }"},
      {"[sweep]\nflow = { from = 1, count = 3 }\n",
       "spec.toml:3:8: sweep.flow.to is missing: must be the last value of the range"},
      {"[sweep]\nflow = { from = 1, to = 2, count = 0 }\n",
       "spec.toml:3:36: sweep.flow.count = 0: must be a whole number from 1 to 1099511627776"},
      {"[sweep]\nflow = { from = 0, to = 2, count = 3, scale = \"log\" }\n",
       "spec.toml:3:17: sweep.flow.from = 0: must be a positive number, as the scale is log"},
      {"[sweep]\nflow = { from = 1, to = -2, count = 3, scale = \"log\" }\n",
       "spec.toml:3:25: sweep.flow.to = -2: must be a positive number, as the scale is log"},
      {"[sweep]\nflow = { from = 1, to = 2, count = 3, scale = \"lin\" }\n",
       "spec.toml:3:47: sweep.flow.scale = \"lin\": unknown word; allowed: linear, log"},
      {"[sweep]\nflow = { from = -1e308, to = 1e308, count = 3 }\n",
       "spec.toml:3:8: sweep.flow = { from = -1e+308, to = 1e+308, count = 3 }: "
       "from and to must be nearer to each other: their distance overflows"},
      {"[sweep.zip]\nflow = [1, 2]\nlift = [1, 2, 3]\n",
       "spec.toml:4:8: sweep.zip.lift = [1, 2, 3]: must have as many values as sweep.zip.flow, that is 2; it has 3"},
      {"[sweep]\nflow = { from = 1, to = 2, count = 2000000 }\nlift = { from = 1, to = 2, count = 2000000 }\n",
       "spec.toml:2:1: sweep = { flow = { from = 1, to = 2, count = 2000000 }, lift = { fro...: "
       "must make at most 1099511627776 instances, samples included"},
      {"[sweep]\nt_begin = [0, 5]\nt_end = [4, 9]\n",
       "spec.toml:4:9: sweep.t_end = [4, 9]: " + one_way + "one would have 5 and 4"},
      {"[sweep]\nt_end = [-1, 1]\n",
       "spec.toml:3:9: sweep.t_end = [-1, 1]: " + one_way + "one would have 0 and 1"},
      {"[sweep.zip]\nt_begin = [2, 1]\nt_end = [1, 2]\n",
       "spec.toml:4:9: sweep.zip.t_end = [1, 2]: " + one_way + "one would have 1 and 2"},
      {"[sweep.zip]\nt_begin = [0, 5]\nt_end = [4, 5]\n",
       "spec.toml:4:9: sweep.zip.t_end = [4, 5]: " + one_way + "one would have 5 and 5"},
      {"[sweep]\nt_begin = [0, 40]\n",
       "spec.toml:3:11: sweep.t_begin = [0, 40]: " + one_way + "one would have 40 and 40"},
      // CSV
      {"[sweep]\nflow = { csv = \"none.csv\", column = \"q\" }\n",
       "spec.toml:3:8: sweep.flow = { csv = \"none.csv\", column = \"q\" }: "
       "cannot read none.csv: No such file or directory"},
      {"[sweep]\nflow = { csv = \"runs.csv\", column = \"r\" }\n",
       "spec.toml:3:8: sweep.flow = { csv = \"runs.csv\", column = \"r\" }: "
       "runs.csv has no column r; allowed: q, p, s"},
      {"[sweep]\nflow = { csv = \"runs.csv\", column = \"q\" }\n", "runs.csv:3:1: q = abc: must be a finite number"},
      {"[sweep]\nflow = { csv = \"runs.csv\", column = \"s\" }\n", "runs.csv:2:6: s = +-5: must be a finite number"},
      {"[sweep]\nflow = { csv = \"runs.csv\", column = \"p\" }\n", "runs.csv:3:5: p = nan: must be a finite number"},
      {"[sweep]\nflow = { csv = \"twice.csv\", column = \"q\" }\n",
       "spec.toml:3:8: sweep.flow = { csv = \"twice.csv\", column = \"q\" }: twice.csv:1:6: column q stands there twice, first "
       "at twice.csv:1:1: give the columns different names"},
      {"[sweep]\nflow = { csv = \"more.csv\", column = \"q\" }\n",
       "more.csv:3:5: this row has 3 cells, and the header has 2; if its decimals have commas, write decimal points: "
       "commas stand between cells"},
      {"[sweep]\nflow = { csv = \"german.csv\", column = \"q\" }\n",
       "spec.toml:3:8: sweep.flow = { csv = \"german.csv\", column = \"q\" }: german.csv has no column q; allowed: q;x; its cells "
       "seem to stand between semicolons, and its decimals may have commas: write commas between cells and decimal points"},
      {"[sweep]\nflow = { csv = \"tabs.csv\", column = \"q\" }\n", 
       "spec.toml:3:8: sweep.flow = { csv = \"tabs.csv\", column = \"q\" }: tabs.csv has no column q; allowed: q\tx; its cells seem "
       "to stand between tabs: write commas"},
      {"[sweep]\nflow = { csv = \"empty.csv\", column = \"q\" }\n",
       "spec.toml:3:8: sweep.flow = { csv = \"empty.csv\", column = \"q\" }: empty.csv has no row below its header"},
      {"[sweep]\nflow = { csv = \"runs.csv\", column = \"q\", rows = 3 }\n",
       "spec.toml:3:42: sweep.flow.rows = 3: unknown key; allowed: csv, column, count"},
      // samples
      {"[sample]\nflow = { uniform = [1, 2] }\n",
       "spec.toml:2:1: sample.count is missing: must be the number of samples"},
      {"[sample]\ncount = 0\n", "spec.toml:3:9: sample.count = 0: must be a whole number from 1 to 1099511627776"},
      {"[sample]\nseed = -1\n",
       "spec.toml:3:8: sample.seed = -1: must be a whole number from 0 to 9223372036854775807"},
      {"[sample]\ncount = 2\nflow = [1, 2]\n",
       "spec.toml:4:8: sample.flow = [1, 2]: must be a distribution such as "
       "{ uniform = [0.0, 1.0] }; allowed: " + distributions},
      {"[sample]\ncount = 2\nflow = { gauss = [1, 2] }\n",
       "spec.toml:4:10: sample.flow.gauss = [1, 2]: unknown key; allowed: " + distributions + ", min, max"},
      {"[sample]\ncount = 2\nflow = { min = 2 }\n",
       "spec.toml:4:8: sample.flow = { min = 2 }: must have a distribution; allowed: " + distributions},
      {"[sample]\ncount = 2\nflow = { uniform = [1, 2], normal = [0, 1] }\n",
       "spec.toml:4:8: sample.flow = { uniform = [1, 2], normal = [0, 1] }: must have one distribution, not two"},
      {"[sample]\ncount = 2\nflow = { uniform = [2, 1] }\n",
       "spec.toml:4:20: sample.flow.uniform = [2, 1]: must be [low, high] with low < high"},
      {"[sample]\ncount = 2\nflow = { log_uniform = [0, 1] }\n",
       "spec.toml:4:24: sample.flow.log_uniform = [0, 1]: must be [low, high] with 0 < low < high"},
      {"[sample]\ncount = 2\nflow = { normal = [1, 0] }\n",
       "spec.toml:4:19: sample.flow.normal = [1, 0]: must be [mean, standard deviation] with a positive deviation"},
      {"[sample]\ncount = 2\nflow = { lognormal = [700, 10] }\n",  // exp(700 + 9.5 * 10) overflows
       "spec.toml:4:22: sample.flow.lognormal = [700, 10]: "
       "must be [mean, standard deviation] of the logarithm with a positive deviation and a finite range"},
      {"[sample]\ncount = 2\nflow = { triangular = [1, 3, 2] }\n",
       "spec.toml:4:23: sample.flow.triangular = [1, 3, 2]: "
       "must be [low, mode, high] with low <= mode <= high, low < high"},
      {"[sample]\ncount = 2\nflow = { normal = [0, 1], min = 1, max = -1 }\n",
       "spec.toml:4:8: sample.flow = { normal = [0, 1], min = 1, max = -1 }: min must be smaller than max"},
      {"[sample]\ncount = 2\nflow = { normal = [0, 1], min = 4 }\n",  // 1 - Phi(4) = 3.17e-5
       "spec.toml:4:8: sample.flow = { normal = [0, 1], min = 4 }: "
       "min and max must leave at least 0.001 of the probability; they leave 3.2e-05"},
      {"[sample]\ncount = 2\nflow = { beta = [1, 2, 3, 3] }\n",
       "spec.toml:4:17: sample.flow.beta = [1, 2, 3, 3]: "
       "must be [alpha, beta] or [alpha, beta, low, high] with positive alpha and beta and low < high"},
      {"[sample]\ncount = 2\nflow = { weibull = [0, 2] }\n",
       "spec.toml:4:20: sample.flow.weibull = [0, 2]: must be [shape, scale], both positive"},
      {"[sample]\ncount = 2\nflow = { discrete = [1, 2], weights = [1] }\n",
       "spec.toml:4:39: sample.flow.weights = [1]: must be 2 numbers, one for each value and none negative"},
      {"[sample]\ncount = 2\nflow = { discrete = [1, 2], min = 3 }\n",
       "spec.toml:4:8: sample.flow = { discrete = [1, 2], min = 3 }: "
       "must leave at least one value between min and max, with a positive weight"},
      // designs
      {"[sample]\ncount = 2\ndesign = \"sobel\"\nflow = { uniform = [1, 2] }\n",
       "spec.toml:4:10: sample.design = \"sobel\": unknown word; did you mean sobol? "
       "allowed: random, latin_hypercube, sobol, halton, saltelli, morris, fast"},
      {"[sample]\ncount = 2\ndesign = { name = \"sobol\", levels = 4 }\nflow = { uniform = [1, 2] }\n",
       "spec.toml:4:28: sample.design.levels = 4: unknown key; allowed: name"},
      {"[sample]\ncount = 2\ndesign = { name = \"morris\", levels = 5 }\nflow = { uniform = [1, 2] }\n",
       "spec.toml:4:38: sample.design.levels = 5: must be an even number: a step is half the levels wide"},
      {"[sample]\ncount = 2\ndesign = \"morris\"\nflow = { normal = [1, 2] }\n",
       "spec.toml:5:8: sample.flow = { normal = [1, 2] }: must have min and max, or another distribution between two "
       "numbers: morris takes its ends, too"},
      {"[sample]\ncount = 64\ndesign = \"fast\"\nflow = { uniform = [1, 2] }\n",
       "spec.toml:3:9: sample.count = 64: must be more than 64 for a curve of fast with 4 harmonics"},
      {"[sample]\ncount = 2\ndesign = \"sobol\"\n",
       "spec.toml:4:10: sample.design = \"sobol\": must have at least one entry in [sample] to vary"},
      {"[sample]\ncount = 2\nflow = { uniform = [1, 2] }\nlift = { uniform = [1, 2] }\ncorrelation = { flow = { lift = 1 } }\n",
       "spec.toml:6:33: sample.correlation.flow.lift = 1: must be between -1 and 1, of two different inputs"},
      {"[sample]\ncount = 2\nflow = { uniform = [1, 2] }\ncorrelation = { flow = { lift = 0.5 } }\n",
       "spec.toml:5:26: sample.correlation.flow.lift = 0.5: not an entry of [sample]; allowed: flow"},
      {"[sample]\ncount = 2\nflow = { uniform = [1, 2] }\nlift = { uniform = [1, 2] }\ndesign = \"saltelli\"\n"
       "correlation = { flow = { lift = 0.5 } }\n",
       "spec.toml:7:15: sample.correlation = { flow = { lift = 0.5 } }: must be left out with saltelli, morris and fast, "
       "whose inputs are independent"},
      {"[sample]\nuntil = { half_width = 0.1 }\nflow = { uniform = [1, 2] }\n",
       "spec.toml:3:9: sample.until = { half_width = 0.1 }: must be left out without design = \"saltelli\": its intervals become "
       "narrower with more samples, and have no unit"},
      {"[sample]\nuntil = { half_width = 0.1 }\nflow = { uniform = [1, 2] }\ndesign = \"saltelli\"\n",
       "spec.toml:3:9: sample.until = { half_width = 0.1 }: must be left out with rows of instances, whose number a file has from "
       "its beginning: set output.rows = false, or sample.count to the number that a run without rows has found"},
      {"[sample]\ncount = 3000\nuntil = { half_width = 0.1 }\nflow = { uniform = [1, 2] }\ndesign = \"saltelli\"\n",
       "spec.toml:3:9: sample.count = 3000: must be a power of two, 2048 or more, with until: so many samples are doubled"},
      {"[sample]\nuntil = { half_width = 0.1, max_count = 1000 }\nflow = { uniform = [1, 2] }\ndesign = \"saltelli\"\n",
       "spec.toml:3:41: sample.until.max_count = 1000: must be a whole number from 2048 to 1099511627776"},
      {"[sample]\nuntil = { half_width = 0.1 }\nflow = { uniform = [1, 2] }\ndesign = \"saltelli\"\n[output]\nrows = false\n"
       "indices = false\n",
       "spec.toml:3:9: sample.until = { half_width = 0.1 }: must be left out without indices: output.indices, and no [sweep]"},
      {"[sample]\ncount = 2\nflow = { uniform = [1, 2] }\n[output]\nindices = true\n",
       "spec.toml:6:11: output.indices = true: must be false without one of the designs saltelli, morris and fast in "
       "[sample]"},
      // one name in two places
      {"[parameters]\nflow = 1\n[sweep]\nflow = [1, 2]\n",
       "spec.toml:5:8: sweep.flow = [1, 2]: flow must have one value, but has another at "
       "spec.toml:3:8 (parameters.flow)"},
      {"[sweep]\nflow = [1, 2]\n[sample]\ncount = 2\nflow = { uniform = [1, 2] }\n",
       "spec.toml:6:8: sample.flow = { uniform = [1, 2] }: "
       "flow must have one value, but has another at spec.toml:3:8 (sweep.flow)"},
      {"[initial]\nlift = 1\n[sweep.zip]\nlift = [1, 2]\n",
       "spec.toml:5:8: sweep.zip.lift = [1, 2]: lift must have one value, but has another at "
       "spec.toml:3:8 (initial.lift)"},
      // output and run
      {"[output]\nsamples = { count = 1 }\n",
       "spec.toml:3:21: output.samples.count = 1: must be a whole number from 2 to 10000000"},
      {"[output]\nsamples = { count = 9, step = 1 }\n",
       "spec.toml:3:11: output.samples = { count = 9, step = 1 }: must have one of count, times, step"},
      {"[output]\nsamples = { times = [1, 1] }\n",
       "spec.toml:3:21: output.samples.times = [1, 1]: must be increasing times from 0 to 40, at least one"},
      {"[output]\nsamples = { times = [1, 41] }\n",
       "spec.toml:3:21: output.samples.times = [1, 41]: must be increasing times from 0 to 40, at least one"},
      {"t = [40, 0]\n[output]\nsamples = { times = [1, 2] }\n",
       "spec.toml:4:21: output.samples.times = [1, 2]: must be decreasing times from 40 to 0, at least one"},
      {"[sweep]\nt_end = [4, 9]\n[output]\nsamples = { step = 1 }\n",
       "spec.toml:5:20: output.samples.step = 1: "
       "must be replaced by count or times, or have from and to, as the time span differs between instances"},
      {"[output]\nevents = 1\n", "spec.toml:3:10: output.events = 1: must be true or false"},
      {"[output]\ntitle = 3\n", "spec.toml:3:9: output.title = 3: must be a text in quotes, not empty"},
      {"[output]\nfile = \"\"\n", "spec.toml:3:8: output.file = \"\": must be a text in quotes, not empty"},
      {"[output]\nreduce = [\"max pressure\"]\n",
       "spec.toml:3:11: output.reduce[0] = \"max pressure\": "
       "must be one of min(x), max(x), mean(x), integral(x), time(min(x)), time(max(x)), std(x), rms(x), value(x at t), "
       "quantile(x, p), median(x), count(event), first(event), last(event): x a state or an output, event a guard or a time event; a "
       "window of time may stand behind it, as in \"mean(x) from 1.5 to 20\""},
      {"[output]\nreduce = [\"max(presure)\"]\n",
       "spec.toml:3:11: output.reduce[0] = \"max(presure)\": presure is not a state or an output; "
       "did you mean pressure? allowed: lift, velocity, pressure, power"},
      {"[output]\nreduce = [\"max(lift)\", \"max(lift)\"]\n",
       "spec.toml:3:24: output.reduce[1] = \"max(lift)\": must not be listed twice"},
      {"[output]\ncompression = 10\n", "spec.toml:3:15: output.compression = 10: must be a whole number from 0 to 9"},
      {"[run]\nbackend = \"gpu\"\n",
       "spec.toml:3:11: run.backend = \"gpu\": unknown word; did you mean cpu? allowed: auto, cpu, cuda, all"},
      {"[run]\nlanes = 3\n", "spec.toml:3:9: run.lanes = 3: must be 0 (as wide as the machine), 1, 2, 4, 8, 16 or 32"},
      {"[run]\nbackend = \"cpu\"\ndevices = [0]\n",
       "spec.toml:4:11: run.devices = [0]: must be left out with the backend cpu"},
      {"[run]\ndevices = [0, 1, 0]\n", "spec.toml:3:18: run.devices[2] = 0: must be there once"},
      {"[run]\ndevices = []\n", "spec.toml:3:11: run.devices = []: must be \"all\", or a list of one number or more"},
      {"[run]\ndevices = \"both\"\n", "spec.toml:3:11: run.devices = \"both\": unknown word; allowed: all"},
      {"[run]\ndevices = [-1]\n", "spec.toml:3:12: run.devices[0] = -1: must be a whole number from 0 to 1023"},
      {"[run]\nallowed_failed = 2\n",
       "spec.toml:3:18: run.allowed_failed = 2: must be a share of all instances, from 0 to 1"},
      // flags
      {"", "--set rtol=-1: rtol = -1: must be a positive number", {{"--set", "rtol=-1"}}},
      {"", "--set rtol=1e-8x: rtol = \"1e-8x\": must be a positive number", {{"--set", "rtol=1e-8x"}}},
      {"", "--set rtol: must be key=value with a key such as rtol or sweep.flow.count", {{"--set", "rtol"}}},
      {"", "--set a b=1: must be key=value with a key such as rtol or sweep.flow.count", {{"--set", "a b=1"}}},
      {"", "--set flwo=1: flwo = 1: unknown key; did you mean flow? " + keys + ", " + quantities,
       {{"--set", "flwo=1"}}},
      {"", "--set rtol=1\natol = 2: rtol = \"1\\natol = 2\": must be a positive number",  // one value, not two
       {{"--set", "rtol=1\natol = 2"}}},
      {"", "--set solver.rtol=1: solver.rtol = 1: unknown key; " + keys, {{"--set", "solver.rtol=1"}}},
      {"", "--set sample.flow={uniform=[1, 2]}: sample.count is missing: must be the number of samples",
       {{"--set", "sample.flow={uniform=[1, 2]}"}}},
      {"", "-n 0: sample.count = 0: must be a whole number from 1 to 1099511627776", {{"-n", "0"}}},
      {"", "--backend gpu: run.backend = \"gpu\": unknown word; did you mean cpu? allowed: auto, cpu, cuda, all",
       {{"--backend", "gpu"}}},
      {"[sweep]\nflow = [1, 2]\n",
       "spec.toml:3:8: sweep.flow = [1, 2]: flow must have one value, but has another at "
       "--set flow=3 (parameters.flow)",
       {{"--set", "flow=3"}}},
  };
  // clang-format on
  for (const auto& [text, message, flags] : cases) EXPECT_EQ(refused(valve + text, flags), message) << text;
}

TEST_F(spec, a_method_that_cannot_solve_the_equations_is_named_with_those_that_can) {
  const std::string one_step = "trapezoid, sdirk4, esdirk4, ",
                    all = one_step + "rodas4, rodas5p, radau5, radau9, radau13";
  const model index_1 = valve_with(abi::semi_explicit, 1), index_2 = valve_with(abi::semi_explicit, 2),
              mass = valve_with(abi::with_mass), implicit = valve_with(abi::implicit, 1);
  const auto given = [](const std::string& name, const model& m) {
    return refused(valve + "method = \"" + name + "\"\n", {}, m);
  };
  for (const std::string name : {"dp5", "auto", "rk4"}) {
    const std::string place = "spec.toml:2:10: method = \"" + name + "\": ";
    EXPECT_EQ(given(name, index_1),
              place + "must be an implicit method, as relief_valve has algebraic states; allowed: " + all);
    EXPECT_EQ(given(name, mass),
              place + "must be an implicit method, as relief_valve has a mass matrix; allowed: " + all);
    EXPECT_EQ(
        given(name, index_2),
        place + "must be an implicit method, as relief_valve has algebraic states; allowed: radau5, radau9, radau13");
    EXPECT_EQ(given(name, implicit), place +
                                         "must be an implicit method, as relief_valve has implicit equations; "
                                         "allowed: " +
                                         one_step + "radau5, radau9, radau13");
  }
  for (const std::string name : {"rodas4", "rodas5p"})
    EXPECT_EQ(given(name, implicit), "spec.toml:2:10: method = \"" + name +
                                         "\": must not be a Rosenbrock method, as relief_valve has implicit equations; "
                                         "allowed: " +
                                         one_step + "radau5, radau9, radau13");
  for (const std::string name : {"trapezoid", "sdirk4", "esdirk4", "rodas4", "rodas5p"})
    EXPECT_EQ(given(name, index_2), "spec.toml:2:10: method = \"" + name +
                                        "\": must be a method for index 2, as relief_valve has algebraic states of "
                                        "index 2; allowed: radau5, radau9, radau13");
  EXPECT_EQ(refused(valve, {{"--method", "tsit5"}}, index_2),
            "--method tsit5: method = \"tsit5\": must be an implicit method, as relief_valve has algebraic states; "
            "allowed: radau5, radau9, radau13");
}

TEST_F(spec, consistency_is_refused_where_there_is_nothing_to_be_consistent_with) {
  for (const auto& m : {relief_valve(), valve_with(abi::with_mass)})
    EXPECT_EQ(refused(valve + "consistency = \"given\"\n", {}, m),
              "spec.toml:2:15: consistency = \"given\": must be left out, as relief_valve has no constraints to be "
              "consistent with");
  EXPECT_EQ(refused(valve + "consistency = \"nearer\"\n", {}, valve_with(abi::semi_explicit, 1)),
            "spec.toml:2:15: consistency = \"nearer\": unknown word; did you mean nearest? "
            "allowed: algebraic, nearest, given");
  const std::string nearest =
      "spec.toml:2:15: consistency = \"nearest\": must be algebraic or given, as relief_valve has ";
  EXPECT_EQ(refused(valve + "consistency = \"nearest\"\n", {}, valve_with(abi::with_mass, 1)),
            nearest + "a mass matrix");
  EXPECT_EQ(refused(valve + "consistency = \"nearest\"\n", {}, valve_with(abi::implicit, 1)),
            nearest + "implicit equations");
  EXPECT_EQ(refused(valve + "consistency = true\n", {}, valve_with(abi::semi_explicit, 1)),
            "spec.toml:2:15: consistency = true: must be a word in quotes; allowed: algebraic, nearest, given");
}

TEST_F(spec, bad_syntax_is_told_with_its_place) {  // toml++ words the message
  const auto begins = [](const std::string& message, const std::string& place) {
    EXPECT_EQ(message.substr(0, place.size()), place) << message;
  };
  begins(refused(valve + "rtol = \n"), "spec.toml:2:8: ");
  begins(refused(valve + "rtol = 1\nrtol = 2\n"), "spec.toml:3:");
  begins(refused(valve + "[sweep\nflow = [1]\n"), "spec.toml:2:");
}

TEST_F(spec, a_spec_must_be_readable_and_name_its_model) {
  const auto message = [](const std::filesystem::path& file) -> std::string {
    try {
      read_spec(file);
    } catch (const error& e) {
      EXPECT_EQ(e.exit_code, 2);
      return e.what();
    }
    return "accepted";
  };
  write("empty.toml", "");
  write("number.toml", "model = 3\n");
  std::filesystem::create_directory("folder.toml");
  EXPECT_EQ(message("none.toml"), "none.toml: cannot be read: No such file or directory");
  EXPECT_EQ(message("folder.toml"), "folder.toml: is a folder, not a spec");
  EXPECT_EQ(message("empty.toml"),
            "empty.toml:1:1: model is missing: must be the name of a built-in model, or the path of a header");
  EXPECT_EQ(message("number.toml"), "number.toml:1:9: model = 3: must be a text in quotes, not empty");
}

// ---- misspelt names

TEST(suggest, counts_edits) {  // kitten -> sitting and Saturday -> Sunday take 3 edits each, the textbook examples
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("Saturday", "Sunday"), 3u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("flow", "flow"), 0u);
}

TEST(suggest, asks_only_when_a_name_is_near) {
  EXPECT_EQ(suggest("restituton", {"flow", "restitution"}), "did you mean restitution? allowed: flow, restitution");
  EXPECT_EQ(suggest("q", {"t", "u"}), "allowed: t, u");
  EXPECT_EQ(suggest("anything", {}), "allowed: none");
}

}  // namespace
}  // namespace saltus::host::spec_test
