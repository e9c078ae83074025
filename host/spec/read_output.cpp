// Reads the table [output] of a spec.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "spec/design.hpp"
#include "spec/reading.hpp"
#include "spec/statistic_columns.hpp"

namespace saltus::host {

namespace {

constexpr std::int64_t max_samples = 10'000'000;  // points of the time grid: a row of one instance stays in memory
constexpr std::int64_t max_bins = 100'000;        // of a histogram

/// { final_lift = { from = 0.0, to = 1.0, bins = 50 } }
void read_histograms(reading& r, const field& table) {
  const auto columns = statistic_columns(r.plan);
  table.only(names_of(columns));
  for (const auto& e : table.entries()) {
    e.only({"from", "to", "bins"});
    const auto from = e.need("from", "must be the lower end of the first bin");
    const auto to = e.need("to", "must be the upper end of the last bin");
    const auto bins = e.need("bins", "must be their number");
    r.plan.histograms.push_back({e.key(), statistic_column_called(r.plan, e.key()), from.number(), to.number(),
                                 static_cast<int>(bins.whole(1, max_bins))});
    const auto& h = r.plan.histograms.back();
    const double width = (h.to - h.from) / h.bins;
    if (!(h.from < h.to) || !std::isfinite(h.to - h.from) || h.from + width == h.from || h.to - width == h.to)
      e.fail("must have from < to, so far apart that the edges of its bins differ");
  }
}

/// true, false, or { quantiles = [0.05, 0.5, 0.95] }. Default: true if samples of instances are not kept.
void read_bands(reading& r, const field& output) {
  const auto given = output.find("bands");
  const bool has_samples = r.plan.sample_count > 0;
  r.plan.bands = !given ? has_samples && !r.plan.rows : given->is_table() || given->boolean();
  if (!r.plan.bands) {
    if (has_samples && !r.plan.rows)
      given->fail("must be true with samples and rows = false, or nothing of the samples would be kept");
    return;
  }
  if (!has_samples) given->fail("must be false without samples: bands are statistics at sample times");
  if (!r.plan.statistics) given->fail("must be false without statistics");
  if (r.plan.sample_times.empty() && !r.one_span)
    output.find("samples")->fail(
        "must have from and to, or times, as the time span differs between instances, and bands are of them all at one "
        "time");
  r.plan.quantiles = {0.05, 0.5, 0.95};
  if (!given || !given->is_table()) return;
  given->only({"quantiles"});
  const auto list = given->find("quantiles");
  if (!list) return;
  r.plan.quantiles = list->numbers();
  for (const double q : r.plan.quantiles)
    if (!(0 <= q && q <= 1)) list->fail("must be parts of the instances, from 0 to 1");
}

/// Statistics are made if the spec asks for them, or if another setting needs them.
void read_statistics(reading& r, const field& output) {
  const auto rows = output.find("rows"), statistics = output.find("statistics"), histogram = output.find("histogram");
  const auto bands = output.find("bands");
  r.plan.statistics = statistics ? statistics->boolean()
                                 : histogram || !r.plan.rows || (bands && (bands->is_table() || bands->boolean()));
  if (!r.plan.rows && !r.plan.statistics)
    rows->fail("must be true without statistics, or nothing of the instances would be kept");
  if (!r.plan.rows && r.plan.log_events)
    rows->fail(
        "must be true with events, which are kept for each instance; count(...), first(...) and last(...) in reduce "
        "are "
        "counted in statistics");
  read_bands(r, output);
  if (!histogram) return;
  if (!r.plan.statistics) statistics->fail("must be true with a histogram");
  read_histograms(r, *histogram);
}

/// true, false, or the names of outcomes. Default: true if the design is made for indices.
void read_indices(reading& r, const field& root) {
  const auto output = root.find("output");
  const auto given = output ? output->find("indices") : std::nullopt;
  const bool is_possible = is_for_indices(r.plan.design) && r.plan.axes.empty();
  const auto columns = statistic_columns(r.plan);
  if (given && (given->is_list() || given->is_text())) {
    const names allowed = names_of(columns);
    for (const auto& item : given->items_or_text())
      r.plan.indices.push_back(statistic_column_called(r.plan, item.word(allowed)));
    if (r.plan.indices.empty()) given->fail("must name at least one outcome; " + suggest("", allowed));
  } else if (given ? given->boolean() : is_possible) {
    for (std::size_t j = 0; j < columns.size(); ++j)
      if (!columns[j].is_cost) r.plan.indices.push_back(static_cast<int>(j));
  }
  if (r.plan.design.half_width > 0) {
    const auto until = root.find("sample")->find("until");
    if (r.plan.rows)
      until->fail(
          "must be left out with rows of instances, whose number a file has from its beginning: set output.rows = "
          "false, or sample.count to the number that a run without rows has found");
    if (r.plan.indices.empty()) until->fail("must be left out without indices: output.indices, and no [sweep]");
  }
  if (!r.plan.indices.empty() && !is_possible)
    given->fail(r.plan.axes.empty() ? "must be false without one of the designs saltelli, morris and fast in [sample]"
                                    : "must be false with a [sweep]: indices are of one ensemble of samples");
}

/// Times from `from` to `to` in steps of `size`; the last step may be shorter.
std::vector<double> times_by_step(const reading& r, const field& step, double from, double to) {
  const double size = step.positive(), length = std::abs(to - from);
  if (length / size >= static_cast<double>(max_samples))
    step.fail(fmt::format("must be larger: at most {} times are kept", max_samples));
  // The slack lets a step reach the end if it divides the span up to rounding.
  const auto last = static_cast<std::int64_t>(length / size * (1 + 1e-12));
  std::vector<double> times;
  for (std::int64_t i = 0; i <= last; ++i) {
    const double t = from + static_cast<double>(i) * (r.plan.backward ? -size : size);
    times.push_back(r.is_before(to, t) ? to : t);
  }
  return times;
}

/// 401, [0.0, 1.0], { count = 401 }, { step = 0.1 }, both optionally with `from` and `to`, or { times = [0.0, 1.0] }
void read_time_grid(reading& r, const field& samples) {
  if (samples.is_table() && samples.find("at"))
    samples.find("at")->fail(
        "must be left out: points at events are rows of the event log; write events = { guards = [" +
        samples.find("at")->value() + "], outputs = true }");
  const bool is_table = samples.is_table();
  if (!is_table && (samples.is_text() || samples.is_boolean()))
    samples.fail("must be the number of samples, a list of times, or { count, times, step, from, to }");
  if (is_table) samples.only({"count", "times", "step", "from", "to"});
  const auto entry = [&](const char* key) { return is_table ? samples.find(key) : std::nullopt; };
  const auto count = is_table ? entry("count") : samples.is_list() ? std::nullopt : std::optional(samples);
  const auto times = is_table ? entry("times") : samples.is_list() ? std::optional(samples) : std::nullopt;
  const auto step = entry("step"), begin = entry("from"), end = entry("to");
  if (count.has_value() + times.has_value() + step.has_value() != 1)
    samples.fail("must have one of count, times, step");
  const bool has_window = begin || end;
  if (has_window && times) (begin ? *begin : *end).fail("must be left out beside times");
  const auto time = [&](const std::optional<field>& given, const char* key, double otherwise) {
    if (!given) {
      if (has_window && !r.one_span)
        samples.fail(fmt::format("must have {}, as the time span differs between instances", key));
      return otherwise;
    }
    const double t = given->number();
    if (r.is_before(t, r.first) || r.is_before(r.last, t))
      given->fail(fmt::format("must be a time from {} to {}", r.first, r.last));
    return t;
  };
  const double from = time(begin, "from", r.plan.t_begin), to = time(end, "to", r.plan.t_end);
  if (has_window && !r.is_before(from, to))
    (end ? *end : *begin).fail(fmt::format("must leave from before to, and they are {} and {}", from, to));
  if (count) {
    r.plan.sample_count = count->whole(2, max_samples);
    for (std::int64_t k = 0; has_window && k < r.plan.sample_count; ++k)
      r.plan.sample_times.push_back(
          k + 1 == r.plan.sample_count
              ? to
              : from + (to - from) * (static_cast<double>(k) / static_cast<double>(r.plan.sample_count - 1)));
  } else if (times) {
    r.plan.sample_times = times->numbers();
    const auto& t = r.plan.sample_times;
    const auto turn = [&](double a, double b) { return !r.is_before(a, b); };
    if (t.empty() || std::adjacent_find(t.begin(), t.end(), turn) != t.end() || r.is_before(t.front(), r.first) ||
        r.is_before(r.last, t.back()))
      times->fail(fmt::format("must be {} times from {} to {}, at least one",
                              r.plan.backward ? "decreasing" : "increasing", r.first, r.last));
  } else {
    if (!r.one_span && !has_window)
      step->fail("must be replaced by count or times, or have from and to, as the time span differs between instances");
    r.plan.sample_times = times_by_step(r, *step, from, to);
  }
  if (!r.plan.sample_times.empty()) r.plan.sample_count = static_cast<std::int64_t>(r.plan.sample_times.size());
}

/// true, false, "impact", ["impact"], or { guards = ["impact"], first = 1, last = 3, from = 10.0, to = 20.0, outputs = true }
void read_event_log(reading& r, const field& events) {
  constexpr std::int64_t max_rows = 100'000;  // per instance: they stay in memory
  const auto select = [&](const field& list) {
    const auto known = event_names(r.model);
    const names allowed(known.begin(), known.end());
    r.plan.logged.events.assign(known.size(), 0);
    for (const auto& item : list.items_or_text())
      r.plan.logged
          .events[static_cast<std::size_t>(std::find(known.begin(), known.end(), item.word(allowed)) - known.begin())] =
          1;
    if (!contains(r.plan.logged.events, 1))
      list.fail("must name at least one guard or time event; " + suggest("", allowed));
  };
  if (!events.is_table()) {
    const bool names_events = events.is_list() || events.is_text();
    r.plan.log_events = names_events || events.boolean();
    if (names_events) select(events);
    return;
  }
  events.only({"guards", "first", "last", "from", "to", "outputs"});
  r.plan.log_events = true;
  event_selection& to = r.plan.logged;
  if (const auto list = events.find("guards")) select(*list);
  if (const auto e = events.find("first")) to.first = static_cast<int>(e->whole(1, max_rows));
  if (const auto e = events.find("last")) to.last = static_cast<int>(e->whole(1, max_rows));
  if (const auto e = events.find("from")) to.from = e->number();
  if (const auto e = events.find("to")) to.to = e->number();
  if (const auto e = events.find("outputs")) to.outputs = e->boolean();
  if (to.from && r.is_before(r.last, *to.from))
    events.find("from")->fail(fmt::format("must not come behind the end of all time spans, {}", r.last));
  if (to.to && r.is_before(*to.to, to.from.value_or(r.first)))
    events.find("to")->fail(fmt::format("must not come before {}", to.from.value_or(r.first)));
  if (to.outputs && r.model.outputs.empty())
    events.find("outputs")->fail(fmt::format("must be false: {} has no outputs", r.model.name));
}

}  // namespace

void read_output(reading& r) {
  const auto output = r.root.find("output");
  if (!output) return read_indices(r, r.root);
  read_plain_values(r, *output);
  if (const auto e = output->find("file")) r.plan.file = e->text();
  if (const auto e = output->find("title")) r.plan.title = e->text();
  if (const auto e = output->find("samples")) read_time_grid(r, *e);
  if (const auto e = output->find("events")) read_event_log(r, *e);
  if (const auto e = output->find("reduce")) read_reductions(r, *e);
  if (const auto e = output->find("provenance")) r.plan.anonymous = e->word({"full", "anonymous"}) == "anonymous";
  read_statistics(r, *output);
  read_indices(r, r.root);
}

}  // namespace saltus::host
