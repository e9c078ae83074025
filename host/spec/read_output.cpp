// The table [output] of a spec: what is kept.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>

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
  names allowed;
  for (const auto& column : columns) allowed.push_back(column.name);
  table.only(allowed);
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

/// Statistics are made if asked for, or if something needs them.
void read_statistics(reading& r, const field& output) {
  const auto rows = output.find("rows"), statistics = output.find("statistics"), histogram = output.find("histogram");
  if (rows) r.plan.rows = rows->boolean();
  r.plan.statistics = statistics ? statistics->boolean() : histogram || !r.plan.rows;
  if (!r.plan.rows && !r.plan.statistics)
    rows->fail("must be true without statistics, or nothing of the instances would be kept");
  if (!r.plan.rows && (r.plan.sample_count > 0 || r.plan.log_events))
    rows->fail("must be true with samples or events, which are kept for each instance");
  if (!histogram) return;
  if (!r.plan.statistics) statistics->fail("must be true with a histogram");
  read_histograms(r, *histogram);
}

/// true, false, or the names of outcomes. Without the key: true where the design is made for it.
void read_indices(reading& r, const field& root) {
  const auto output = root.find("output");
  const auto given = output ? output->find("indices") : std::nullopt;
  const bool is_possible = is_for_indices(r.plan.design) && r.plan.axes.empty();
  const auto columns = statistic_columns(r.plan);
  if (given && given->is_list()) {
    names allowed;
    for (const auto& column : columns) allowed.push_back(column.name);
    for (const auto& item : given->items())
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

/// { count = 401 }, { times = [0.0, 1.0] } or { step = 0.1 }
void read_time_grid(reading& r, const field& samples) {
  samples.only({"count", "times", "step"});
  if (samples.entries().size() != 1) samples.fail("must have one of count, times, step");
  if (const auto count = samples.find("count")) {
    r.plan.sample_count = count->whole(2, max_samples);
  } else if (const auto times = samples.find("times")) {
    r.plan.sample_times = times->numbers();
    const auto& t = r.plan.sample_times;
    const auto turn = [&](double a, double b) { return !r.is_before(a, b); };
    if (t.empty() || std::adjacent_find(t.begin(), t.end(), turn) != t.end() || r.is_before(t.front(), r.first) ||
        r.is_before(r.last, t.back()))
      times->fail(fmt::format("must be {} times from {} to {}, at least one",
                              r.plan.backward ? "decreasing" : "increasing", r.first, r.last));
  } else {
    const auto step = *samples.find("step");
    const double size = step.positive();
    const double length = std::abs(r.plan.t_end - r.plan.t_begin);
    if (!r.one_span) step.fail("must be replaced by count or times, as the time span differs between instances");
    if (length / size >= static_cast<double>(max_samples))
      step.fail(fmt::format("must be larger: at most {} times are kept", max_samples));
    // The slack lets a step that divides the span up to rounding reach its end.
    const auto last = static_cast<std::int64_t>(length / size * (1 + 1e-12));
    for (std::int64_t i = 0; i <= last; ++i) {
      const double t = r.plan.t_begin + static_cast<double>(i) * (r.plan.backward ? -size : size);
      r.plan.sample_times.push_back(r.is_before(r.plan.t_end, t) ? r.plan.t_end : t);
    }
  }
  if (!r.plan.sample_times.empty()) r.plan.sample_count = static_cast<std::int64_t>(r.plan.sample_times.size());
}

/// ["max(pressure)"]
void read_reductions(reading& r, const field& list) {
  constexpr std::pair<std::string_view, reduction::kind> kinds[] = {{"min", reduction::kind::min},
                                                                    {"max", reduction::kind::max},
                                                                    {"mean", reduction::kind::mean},
                                                                    {"integral", reduction::kind::integral}};
  const auto quantities = joined(names_of(r.model.states), names_of(r.model.outputs));
  for (const auto& item : list.items()) {
    const auto text = item.text();
    const auto open = text.find('(');
    const auto of = open == text.npos || text.back() != ')' ? "" : text.substr(open + 1, text.size() - open - 2);
    const auto kind = std::find_if(std::begin(kinds), std::end(kinds),
                                   [&](const auto& known) { return known.first == text.substr(0, open); });
    if (kind == std::end(kinds) || of.empty())
      item.fail("must be min(name), max(name), mean(name) or integral(name) of a state or an output");
    if (!contains(quantities, of)) item.fail(of + " is not a state or an output; " + suggest(of, quantities));
    for (const auto& other : r.plan.reductions)
      if (other.name == text) item.fail("must not be listed twice");
    const int state = index_of(r.model.states, of);
    r.plan.reductions.push_back({kind->second, state < 0, state < 0 ? index_of(r.model.outputs, of) : state, text});
  }
}

}  // namespace

void read_output(reading& r) {
  const auto output = r.root.find("output");
  if (!output) return read_indices(r, r.root);
  output->only({"file", "samples", "events", "reduce", "compression", "rows", "statistics", "histogram", "indices"});
  if (const auto e = output->find("file")) r.plan.file = e->text();
  if (const auto e = output->find("samples")) read_time_grid(r, *e);
  if (const auto e = output->find("events")) r.plan.log_events = e->boolean();
  if (const auto e = output->find("reduce")) read_reductions(r, *e);
  if (const auto e = output->find("compression")) r.plan.compression = static_cast<int>(e->whole(0, 9));
  read_statistics(r, *output);
  read_indices(r, r.root);
}

}  // namespace saltus::host
