// Reads the table [sample] of a spec: distributions, their correlation, and the design of the samples.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "spec/design.hpp"
#include "spec/distribution.hpp"
#include "spec/reading.hpp"

namespace saltus::host {

namespace {

const names own_keys = keys_of("sample");

/// A discrete distribution of these values, with probabilities proportional to the weights; equal values count as one.
/// Values outside [min, max] are left out.
distribution discrete_of(const field& entry, const std::vector<double>& values, const std::vector<double>& weights,
                         distribution d) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t k) { return values[i] < values[k]; });
  double sum = 0;
  for (const std::size_t i : order) {
    const double weight = weights.empty() ? 1 : weights[i];
    if (weight == 0 || values[i] < d.min || values[i] > d.max) continue;
    sum += weight;
    if (!d.values.empty() && d.values.back() == values[i]) d.cumulative.back() = sum;
    else d.values.push_back(values[i]), d.cumulative.push_back(sum);
  }
  if (d.values.empty() || !std::isfinite(sum))
    entry.fail("must leave at least one value between min and max, with a positive weight");
  for (double& c : d.cumulative) c /= sum;
  d.min = -std::numeric_limits<double>::infinity();
  d.max = -d.min;
  return d;
}

/// { discrete = [1.0, 2.0], weights = [3.0, 1.0] } or { csv = "x.csv", column = "q" }
distribution read_discrete(reading& r, const field& entry, const distribution& limits) {
  if (const auto list = entry.find("discrete")) {
    const auto values = list->numbers();
    if (values.empty()) list->fail("must have at least one value");
    std::vector<double> weights;
    if (const auto given = entry.find("weights")) {
      weights = given->numbers();
      const auto is_negative = [](double w) { return w < 0; };
      if (weights.size() != values.size() || std::any_of(weights.begin(), weights.end(), is_negative))
        given->fail(fmt::format("must be {} numbers, one for each value and none negative", values.size()));
    }
    return discrete_of(entry, values, weights, limits);
  }
  return discrete_of(entry, read_csv(r, entry), {}, limits);
}

/// One of distribution_forms with its numbers.
distribution read_form(const field& given, const distribution_form& form) {
  const auto numbers = given.is_list() ? given.numbers() : std::vector<double>();
  const bool has_ends = form.may_have_ends && numbers.size() == form.arity + 2;
  if (numbers.size() != form.arity && !has_ends) given.fail(form.allowed);
  distribution d{form.which, numbers[0], numbers[1], form.arity > 2 ? numbers[2] : 0};
  if (has_ends) d.low = numbers[form.arity], d.high = numbers[form.arity + 1];
  if (!is_proper(d)) given.fail(form.allowed);
  return d;
}

names distribution_names() { return joined(names_of(distribution_forms), {"discrete", "csv"}); }

bool is_distribution(const field& entry) {
  const names known = distribution_names();
  return std::any_of(known.begin(), known.end(), [&](const auto& name) { return entry.find_in_table(name); });
}

/// { normal = [0.8, 0.05], min = 0.0, max = 1.0 }
distribution read_distribution(reading& r, const field& entry) {
  constexpr double least = 1e-3;  // rejection sampling needs a remaining probability that is not too small
  const names allowed = distribution_names();
  if (!entry.is_table()) entry.fail("must be a distribution such as { uniform = [0.0, 1.0] }; " + suggest("", allowed));
  names others = {"min", "max"};
  if (entry.find("discrete")) others.push_back("weights");
  if (entry.find("csv")) others = joined(others, {"column", "count"});
  entry.only(joined(allowed, others));

  names found;
  for (const auto& name : allowed)
    if (entry.find(name)) found.push_back(name);
  if (found.size() > 1) entry.fail("must have one distribution, not two");
  if (found.empty()) entry.fail("must have a distribution; " + suggest("", allowed));
  distribution limits{distribution::kind::discrete, 0, 0, 0};
  if (const auto min = entry.find("min")) limits.min = min->number();
  if (const auto max = entry.find("max")) limits.max = max->number();
  if (limits.min >= limits.max) entry.fail("min must be smaller than max");
  const auto form = std::find_if(std::begin(distribution_forms), std::end(distribution_forms),
                                 [&](const auto& known) { return known.name == found.front(); });
  if (form == std::end(distribution_forms)) return read_discrete(r, entry, limits);
  auto d = read_form(*entry.find(form->name), *form);
  d.min = limits.min, d.max = limits.max;
  const double left = cumulative(d, d.max) - cumulative(d, d.min);
  if (!(left >= least))
    entry.fail(fmt::format("min and max must leave at least {} of the probability; they leave {:.1e}", least, left));
  return d;
}

// ---- the design

/// "saltelli" or { name = "saltelli", second_order = true }
design read_design(const field& entry) {
  const names allowed = names_of(design_forms);
  design d;
  const auto of = [&](const field& name) {
    const auto word = name.word(allowed);
    for (const auto& form : design_forms)
      if (form.name == word) d.which = form.which;
  };
  if (!entry.is_table()) {
    of(entry);
    return d;
  }
  of(entry.need("name", "must be the name of a design"));
  switch (d.which) {
    case design::kind::saltelli: entry.only({"name", "second_order"}); break;
    case design::kind::morris: entry.only({"name", "levels"}); break;
    case design::kind::fast: entry.only({"name", "harmonics"}); break;
    default: entry.only({"name"});
  }
  if (const auto e = entry.find("second_order")) d.second_order = e->boolean();
  if (const auto e = entry.find("levels")) {
    d.levels = static_cast<int>(e->whole(2, 1000));
    if (d.levels % 2 != 0) e->fail("must be an even number: a step is half the levels wide");
  }
  if (const auto e = entry.find("harmonics")) d.harmonics = static_cast<int>(e->whole(1, 100));
  return d;
}

/// Throws if the inputs do not suit the design.
void check_design(const reading& r, const field& sample) {
  const design& d = r.plan.design;
  if (d.which == design::kind::random) return;
  const auto entry = sample.need("design", "must be the name of a design");
  const auto inputs = static_cast<int>(r.plan.random.size());
  if (inputs == 0) entry.fail("must have at least one entry in [sample] to vary");
  if (const int most = max_inputs(d); inputs > most)
    entry.fail(fmt::format("must have at most {} inputs in [sample]; there are {}", most, inputs));
  if (d.second_order && inputs < 2) entry.fail("must have at least two inputs for indices of second order");
  if (d.which == design::kind::fast && d.count <= 4 * d.harmonics * d.harmonics)
    sample.find("count")->fail(fmt::format("must be more than {} for a curve of fast with {} harmonics",
                                           4 * d.harmonics * d.harmonics, d.harmonics));
  if (d.which != design::kind::morris) return;
  for (const auto& column : r.plan.random)
    if (!is_bounded(column.drawn_from))
      r.given.at(column.what.name)
          .fail(
              "must have min and max, or another distribution between two numbers: morris "
              "takes its ends, too");
}

/// { half_width = 0.01, max_count = 65536 }: the run doubles `count` while an interval is wider.
void read_until(design& d, const field& entry, const std::optional<field>& count) {
  constexpr std::int64_t least = 2048, usual_max = std::int64_t{1} << 20;
  entry.only({"half_width", "max_count"});
  if (d.which != design::kind::saltelli)
    entry.fail(
        "must be left out without design = \"saltelli\": its intervals become narrower with more samples, and have no "
        "unit");
  d.half_width =
      entry.need("half_width", "must be how far an interval may reach to either side, such as 0.01").positive();
  if (!count) d.count = least;
  else if (d.count < least || (d.count & (d.count - 1)) != 0)
    count->fail(fmt::format("must be a power of two, {} or more, with until: so many samples are doubled", least));
  d.max_count = std::max(usual_max, d.count);
  if (const auto e = entry.find("max_count")) d.max_count = e->whole(d.count, max_instances);
}

// ---- correlation

/// The lower triangle L of a = L L^T, by rows; empty if a is not positive definite.
std::vector<double> cholesky(std::vector<double> a, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a[i * n + j];
      for (std::size_t k = 0; k < j; ++k) sum -= a[i * n + k] * a[j * n + k];
      if (i == j && !(sum > 1e-12)) return {};
      a[i * n + j] = i == j ? std::sqrt(sum) : sum / a[j * n + j];
    }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j) a[i * n + j] = 0;
  return a;
}

/// { pump = { hole = 0.6 } }: the correlation of the normal scores of pump and hole.
void read_correlation(reading& r, const field& table) {
  if (is_for_indices(r.plan.design))
    table.fail("must be left out with saltelli, morris and fast, whose inputs are independent");
  if (!table.is_table()) table.fail("must be a table such as { a = { b = 0.5 } }");
  names inputs;
  for (const auto& column : r.plan.random) inputs.push_back(column.what.name);
  const auto index_of = [&](const field& entry) {
    const auto found = std::find(inputs.begin(), inputs.end(), entry.key());
    if (found == inputs.end()) entry.fail_key("not an entry of [sample]; " + suggest(entry.key(), inputs));
    return static_cast<std::size_t>(found - inputs.begin());
  };
  const std::size_t n = inputs.size();
  std::vector<double> a(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) a[i * n + i] = 1;
  for (const auto& row : table.entries())
    for (const auto& entry : row.entries()) {
      const std::size_t i = index_of(row), j = index_of(entry);
      const double rho = entry.number();
      if (i == j || !(-1 < rho && rho < 1)) entry.fail("must be between -1 and 1, of two different inputs");
      if (a[i * n + j] != 0) entry.fail("must be given once for the two");
      a[i * n + j] = a[j * n + i] = rho;
    }
  r.plan.correlation = cholesky(a, n);
  if (r.plan.correlation.empty())
    table.fail("must be a positive definite matrix: these correlations contradict each other");
}

}  // namespace

void read_sample(reading& r) {
  const auto sample = r.root.find("sample");
  if (!sample) return;
  design& d = r.plan.design;
  for (const auto& entry : sample->entries())
    if (contains(own_keys, entry.key()) && is_distribution(entry)) refuse_as_key(r, entry);
  if (const auto e = sample->find("design")) d = read_design(*e);
  const auto draw = [&](const field& entry, const names& others) {
    const auto members = members_called(r, entry.key());  // each draws for itself
    for (const auto& member : members) {
      r.claim(member.name, entry);
      r.plan.random.push_back({member, read_distribution(r, entry)});
    }
    if (!members.empty()) return;
    r.plan.random.push_back({target_of(r, entry, false, others), read_distribution(r, entry)});
  };
  for (const auto& entry : sample->entries()) {
    if (entry.key() == "count") d.count = entry.whole(1, max_instances);
    else if (entry.key() == "seed") r.plan.seed = static_cast<std::uint64_t>(entry.whole(0, unlimited));
    else if (contains(long_forms, entry.key()))
      for (const auto& quantity : quantities_of(r, entry)) draw(quantity, {});
    else if (!contains(own_keys, entry.key())) draw(entry, joined(own_keys, long_forms));
  }
  if (const auto e = sample->find("until")) read_until(d, *e, sample->find("count"));
  else if (!r.plan.random.empty()) sample->need("count", "must be the number of samples");
  check_design(r, *sample);
  if (const auto e = sample->find("correlation")) read_correlation(r, *e);
  const std::int64_t each = instances_per_count(d, static_cast<int>(r.plan.random.size()));
  if (const auto most = std::max(d.count, d.max_count); most > max_instances / each)
    sample->fail(fmt::format("must make at most {} instances; {} times {} are more", max_instances, most, each));
  r.plan.samples = d.count * each;
}

}  // namespace saltus::host
