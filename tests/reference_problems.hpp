// Expected results of the built-in models: final values, event times, states before events, exact counts, status.
//
// Every number is known without saltus. `Analysis` marks closed forms, which tests/reference/closed_forms.py derives and
// prints; `Extrapolation` marks numbers that tests/reference/integrated.py computes to 19 digits or more by a method, an
// arithmetic and an event location that share nothing with this code. Papers that print a number are named.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace saltus::test {

struct setting {
  const char* name;
  double value;
};

/// A state, output or discrete variable (names are unique within a model) and its expected value.
struct expected {
  const char* name;
  double value;
  double rtol = 1e-9;
  double scale = 0.0;  ///< size of the quantity if `value` is small in comparison

  /// The largest allowed error of a computed value.
  double allowed() const { return rtol * std::fmax(std::fabs(value), scale); }
};

/// One entry of the event log.
struct expected_event {
  int number;  ///< counted from 1 within the instance
  const char* guard;
  double time;
  std::vector<expected> before = {};  ///< states just before the transition
  double rtol = 1e-9;
};

struct reference_case {
  std::string about;
  const char* model;
  std::vector<setting> parameters = {};  ///< differences from the model's defaults
  std::vector<setting> initial = {};
  double t_begin, t_end;
  const char* status = "finished";
  double t_final = t_end;
  std::int64_t events;  ///< exact
  std::vector<expected> final_values;
  std::vector<expected_event> log = {};
};

/// All cases, which must be met at rtol = atol = 1e-12 by a method of order 5 or more.
inline const std::vector<reference_case>& reference_cases() {
  static const std::vector<reference_case> cases = {

      // Extrapolation. On the attractor errors double about every 0.77, hence the wider tolerance at t = 10.
      {.about = "Lorenz, short",
       .model = "lorenz",
       .t_begin = 0.0,
       .t_end = 2.0,
       .events = 0,
       .final_values = {{"x", -0.462404193435923060}, {"y", -0.569990481733114713}, {"z", 14.6828817066183124}}},
      {.about = "Lorenz, long",
       .model = "lorenz",
       .t_begin = 0.0,
       .t_end = 10.0,
       .events = 0,
       .final_values = {{"x", 11.637278849313574292, 1e-6},
                        {"y", 1.964780059228186513, 1e-6},
                        {"z", 39.418598152477910674, 1e-6}}},

      // Extrapolation.
      {.about = "Duffing",
       .model = "duffing",
       .t_begin = 0.0,
       .t_end = 20.0,
       .events = 0,
       .final_values = {{"position", -0.709758751313553066}, {"velocity", 0.0113237766546921937, 1e-9, 1.0}}},

      // Analysis: elliptic functions.
      {.about = "pendulum",
       .model = "pendulum",
       .t_begin = 0.0,
       .t_end = 5.0,
       .events = 0,
       .final_values = {{"angle", 0.373894218666271955},
                        {"velocity", 0.861155269495715635},
                        {"energy", -159.930922978375702}}},

      // Extrapolation, from the equation in SI units.
      {.about = "Keller-Miksis, dual frequency",
       .model = "keller_miksis",
       .t_begin = 0.0,
       .t_end = 10.0,
       .events = 28,
       .final_values = {{"radius", 2.137319968728477158966}, {"velocity", 1.303041458697343284693}},
       .log = {{1, "collapse", 0.149001989496094832038, {{"radius", 0.783089368650575407639}}},
               {2, "collapse", 0.314502618075859537452, {{"radius", 0.813504886494413960639}}},
               {3, "collapse", 0.968078563994824012413, {{"radius", 0.741855612615379905887}}},
               {4, "collapse", 1.240781015161108294829, {{"radius", 0.673562784756949260943}}}}},

      // Analysis. The eleventh bounce leaves with 0.7^11 sqrt(2 g) < v_min.
      {.about = "bouncing ball, stopped before the Zeno point",
       .model = "bouncing_ball",
       .t_begin = 0.0,
       .t_end = 3.0,
       .status = "stopped",
       .t_final = 2.49911331422462068530,
       .events = 11,
       .final_values = {{"height", 0.0, 1e-9, 1.0}, {"velocity", 0.0875846384779878083}},
       .log = {{1, "impact", 0.451523640985730904, {{"velocity", -4.42944691807002017}}},
               {2, "impact", 1.08365673836575417, {{"velocity", -3.10061284264901412}}},
               {3, "impact", 1.52614990653177046, {{"velocity", -2.17042898985430988}}},
               {11, "impact", 2.49911331422462068530}}},
      {.about = "bouncing ball, in flight",
       .model = "bouncing_ball",
       .t_begin = 0.0,
       .t_end = 0.8,
       .events = 1,
       .final_values = {{"height", 0.484847808575227435}, {"velocity", -0.317940239280965706}}},

      // Analysis.
      {.about = "ball with drag",
       .model = "ball_drag",
       .t_begin = 0.0,
       .t_end = 2.0,
       .events = 5,
       .final_values = {{"height", 0.0204154969110018450, 1e-9, 1.0}, {"velocity", -0.173181852174823961}},
       .log = {{1, "impact", 0.459085310992336892, {{"velocity", -4.21693171904051343}}},
               {2, "impact", 1.04814244384320254, {{"velocity", -2.82889077241178299}}},
               {3, "impact", 1.44790973058608352, {{"velocity", -1.94179477206383411}}},
               {4, "impact", 1.72373477980883338, {{"velocity", -1.34663449304958456}}}}},

      // Extrapolation; the square-root start (pressure = 0) included.
      {.about = "relief valve, flow 4",
       .model = "relief_valve",
       .parameters = {{"flow", 4.0}},
       .t_begin = 0.0,
       .t_end = 40.0,
       .events = 20,
       .final_values = {{"lift", 3.12724139114747390},
                        {"velocity", 3.79522910520738708},
                        {"pressure", 2.88084644563713613}},
       .log =
           {{1, "impact", 2.35701577848154276, {{"velocity", -3.84437097495816742}, {"pressure", 17.4079724173798891}}},
            {2, "impact", 4.27908716703534973, {{"velocity", -3.05177054641933311}, {"pressure", 19.2636115128388138}}},
            {3,
             "impact",
             6.23812597503936743,
             {{"velocity", -3.37956111854736007}, {"pressure", 18.4573046213138969}}}}},
      {.about = "relief valve, flow 1",
       .model = "relief_valve",
       .parameters = {{"flow", 1.0}},
       .t_begin = 0.0,
       .t_end = 40.0,
       .events = 33,
       .final_values = {{"lift", 0.0337145508329161829, 1e-9, 0.96},  // just off its seat; it rises to 0.96
                        {"velocity", 0.958091007544213662},
                        {"pressure", 10.0050921561066770}},
       .log = {{1, "impact", 0.222114066717146556, {{"velocity", -1.58289434852630698}}},
               {2, "impact", 2.293681041925720058, {{"velocity", -3.13829084986204011}}},
               {3, "impact", 3.228509039988877402, {{"velocity", -1.46961886549599651}}}}},

      // Analysis: the period-1 orbit, on which the model starts. It is unstable (factor 2.96 per impact), so the span is short.
      {.about = "impact oscillator on its periodic orbit",
       .model = "impact_oscillator",
       .t_begin = 0.0,
       .t_end = 8.0,
       .events = 4,
       .final_values = {{"position", -0.0621127033031041264, 1e-9, 1.0}, {"velocity", -0.435237286150429753}},
       .log = {{1, "impact", 1.09263455640908093, {{"velocity", 0.336177269975670119}}},
               {2, "impact", 3.33662930897321896, {{"velocity", 0.336177269975670119}}},
               {3, "impact", 5.58062406153735699, {{"velocity", 0.336177269975670119}}},
               {4, "impact", 7.82461881410149502, {{"velocity", 0.336177269975670119}}}}},

      // Analysis: off for 10 ln(21/19), on for 10 ln(31/29).
      {.about = "thermostat",
       .model = "thermostat",
       .t_begin = 0.0,
       .t_end = 10.0,
       .events = 12,
       .final_values = {{"temperature", 20.0129841795782841}, {"heater", 0.0}},
       .log = {{1, "cold", 0.512932943875505334}, {2, "hot", 1.179846688862227522}, {3, "cold", 2.180681274432052887}}},

      // Analysis. Compere's table 5.3 has y3 = 0.8554069, 0.8000413, 0.7819808, 0.7432341 (at tolerance 1e-5).
      {.about = "BOK 1, A = 0.35",
       .model = "bok_1",
       .parameters = {{"A", 0.35}},
       .t_begin = 0.0,
       .t_end = 3.0,
       .events = 3,
       .final_values = {{"y3", 0.855407566170951313}, {"u", -0.232527808718501740}, {"y2", -1.0}},
       .log = {{1, "line", 0.898206038711736864},
               {2, "line", 2.297334797755844386},
               {3, "line", 2.628273186759740208}}},
      {.about = "BOK 1, A = 0.40",
       .model = "bok_1",
       .parameters = {{"A", 0.40}},
       .t_begin = 0.0,
       .t_end = 3.0,
       .events = 3,
       .final_values = {{"y3", 0.800043875214050665}, {"u", -0.342398555722808636}},
       .log = {{1, "line", 0.884842697405268887}, {2, "line", 2.418498767682558693}, {3, "line", 2.5}}},
      {.about = "BOK 1, A = 0.403: 0.0003 from tangency",
       .model = "bok_1",
       .parameters = {{"A", 0.403}},
       .t_begin = 0.0,
       .t_end = 3.0,
       .events = 3,
       .final_values = {{"y3", 0.791803678934872805}, {"u", -0.349874960479629857}},
       .log = {{1, "line", 0.884047891319687748},
               {2, "line", 2.446754886247976290},
               {3, "line", 2.471334130824831016}}},
      {.about = "BOK 1, A = 0.41: the second wave passes below the line",
       .model = "bok_1",
       .parameters = {{"A", 0.41}},
       .t_begin = 0.0,
       .t_end = 3.0,
       .events = 1,
       .final_values = {{"y3", 0.781981247530425352}, {"u", -0.361700484423800002}},
       .log = {{1, "line", 0.882196303472682932}}},
      {.about = "BOK 1, A = 0.45",
       .model = "bok_1",
       .parameters = {{"A", 0.45}},
       .t_begin = 0.0,
       .t_end = 3.0,
       .events = 1,
       .final_values = {{"y3", 0.743234451699072640}, {"u", -0.392261738128124277}},
       .log = {{1, "line", 0.871692751395831727}}},

      // Analysis: t_n = (ln 2)/2 + (3/2) ln 2 (1 - 2^(1-n)). Compere's table 5.3 counts 20 events.
      {.about = "BOK 3, 8 events",
       .model = "bok_3",
       .t_begin = 0.0,
       .t_end = 1.38,
       .events = 8,
       .final_values = {{"y1", 0.995544053602087910}, {"y2", -0.998173213207571645}, {"y3", 0.165381662673187843}},
       .log = {{1, "upper", 0.346573590279972655},
               {2, "lower", 0.866433975699931637},
               {3, "upper", 1.126364168409911128}}},
      {.about = "BOK 3, 10 events",
       .model = "bok_3",
       .t_begin = 0.0,
       .t_end = 1.385,
       .events = 10,
       .final_values = {{"y1", 0.999442138053636031}, {"y2", -0.999263927523697869}, {"y3", 0.165384626093367401}}},
      {.about = "BOK 3, 12 events",
       .model = "bok_3",
       .t_begin = 0.0,
       .t_end = 1.386,
       .events = 12,
       .final_values = {{"y1", 0.999918957202000434}, {"y2", -0.999786707712288934}, {"y3", 0.165384881294699813}}},
      {.about = "BOK 3, 14 events",
       .model = "bok_3",
       .t_begin = 0.0,
       .t_end = 1.3862,
       .events = 14,
       .final_values = {{"y1", 0.999938198709406376}, {"y2", -0.999967442610484759}, {"y3", 0.165384894627903049}}},
      {.about = "BOK 3, 18 events",
       .model = "bok_3",
       .t_begin = 0.0,
       .t_end = 1.38629,
       .events = 18,
       .final_values = {{"y1", 0.999999210200493727}, {"y2", -0.999996428686304702}, {"y3", 0.165384895556314687}}},
      {.about = "BOK 3, 20 events",
       .model = "bok_3",
       .t_begin = 0.0,
       .t_end = 1.386293,
       .events = 20,
       .final_values = {{"y1", 0.999999260870482687}, {"y2", -0.999999378010093286}, {"y3", 0.165384895558960217}},
       .log = {{20, "lower", 1.386292378009899851}}},

      // Analysis.
      {.about = "Carver 1",
       .model = "carver_1",
       .t_begin = 0.0,
       .t_end = 0.9,
       .events = 3,
       .final_values = {{"y", 0.164872127070012815}},
       .log = {{1, "clock", 0.25}, {2, "clock", 0.5}, {3, "clock", 0.75}}},
      {.about = "Carver 2, bilateral",
       .model = "carver_2a",
       .t_begin = 0.0,
       .t_end = 3.0,
       .events = 7,
       .final_values = {{"y", -1.25939151994334020}, {"gain", 2.0}},
       .log = {{1, "upper", 0.149599650170942535},
               {2, "upper", 0.747998250854712676},
               {3, "lower", 1.047197551196597746},
               {4, "lower", 1.645596151880367887},
               {5, "upper", 1.944795452222252957},
               {6, "upper", 2.543194052906023098},
               {7, "lower", 2.842393353247908168}}},
      {.about = "Carver 2, unilateral",
       .model = "carver_2b",
       .t_begin = 0.0,
       .t_end = 8.5,
       .events = 7,
       .final_values = {{"y", 0.889970646052557619}, {"u", 0.0}},
       .log = {{1, "upper", 1.386294361119890619},
               {2, "lower", 2.484906649788000310},
               {3, "upper", 3.583518938456110002},
               {4, "lower", 4.682131227124219693},
               {5, "upper", 5.780743515792329384},
               {6, "lower", 6.879355804460439076},
               {7, "upper", 7.977968093128548767}}},

      // Analysis: switchings at k/20, on for 35 half periods of 0.05. The zero at t = 3.5 is not among the 69: 20 pi in
      // double precision is below its exact value, so the clock has not yet changed sign there.
      {.about = "Mao 1",
       .model = "mao_1",
       .t_begin = 0.0,
       .t_end = 3.5,
       .events = 69,
       .final_values = {{"y", 0.575460267600573044}},
       .log = {{1, "clock", 0.05}, {2, "clock", 0.10}, {35, "clock", 1.75}, {69, "clock", 3.45}}},

      // Analysis. 1000 pi in double precision is also below its exact value: the zero at t = 1 is not reached.
      {.about = "999 roots of a sine",
       .model = "sine_roots",
       .t_begin = 0.0,
       .t_end = 1.0,
       .events = 999,
       .final_values = {{"count", 999.0}, {"y", 0.0}},
       .log = {{1, "zero", 0.001}, {500, "zero", 0.5}, {999, "zero", 0.999}}},
      {.about = "two roots in one step",
       .model = "two_roots",
       .t_begin = 0.1,
       .t_end = 1.0,
       .events = 2,
       .final_values = {{"count", 2.0}},
       .log = {{1, "zero", 0.5}, {2, "zero", 0.6}}},
      {.about = "two roots 1e-3 apart in one step",
       .model = "two_roots",
       .parameters = {{"first", 0.5}, {"second", 0.501}},
       .t_begin = 0.1,
       .t_end = 1.0,
       .events = 2,
       .final_values = {{"count", 2.0}},
       .log = {{1, "zero", 0.5}, {2, "zero", 0.501}}},
  };
  return cases;
}

/// Models with delays. The numbers are those of tests/reference/delays.py: series of 40 terms in 40-digit arithmetic.
inline const std::vector<reference_case>& delay_cases() {
  static const std::vector<reference_case> cases = {
      {.about = "Mackey-Glass, to rest",
       .model = "mackey_glass",
       .parameters = {{"ripening", 6.0}},
       .t_begin = 0.0,
       .t_end = 100.0,
       .events = 0,
       .final_values = {{"density", 1.122073429915039452}}},
      {.about = "Mackey-Glass, a limit cycle",
       .model = "mackey_glass",
       .t_begin = 0.0,
       .t_end = 500.0,
       .events = 0,
       .final_values = {{"density", 1.010443111700142348}}},
  };
  return cases;
}

}  // namespace saltus::test
