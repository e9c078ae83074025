#include "ensemble/indices.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "abi/status.hpp"

namespace saltus::host {

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t most_failed = 10;  // ids kept

// ---- sums

/// T. F. Chan, G. H. Golub, R. J. LeVeque, The American Statistician 37 (1983) 242, for two variables.
co_moment merge(const co_moment& a, const co_moment& b) {
  if (b.count == 0) return a;
  if (a.count == 0) return b;
  co_moment r = a;
  r.count += b.count;
  const double part = b.count / r.count, dx = b.mean_x - a.mean_x, dy = b.mean_y - a.mean_y;
  r.mean_x += dx * part;
  r.mean_y += dy * part;
  r.product += b.product + dx * dy * (a.count * part);
  r.greatest = std::max(a.greatest, b.greatest);
  return r;
}

std::vector<co_moment> merge_sums(const std::vector<co_moment>& early, const std::vector<co_moment>& late) {
  std::vector<co_moment> r;
  for (std::size_t i = 0; i < early.size(); ++i) r.push_back(merge(early[i], late[i]));
  return r;
}

/// Pairs of numbers for one sum over a block; pairs with a number that is not finite are left out.
class pairs {
 public:
  void clear() { x_.clear(), y_.clear(); }
  void add(double x, double y) {
    if (x - x == 0 && y - y == 0) x_.push_back(x), y_.push_back(y);
  }
  /// Computes means first, then deviations from them, so that no digits cancel. The mean of equal numbers is exact.
  co_moment sum() const {
    co_moment r;
    if (x_.empty()) return r;
    r.count = static_cast<double>(x_.size());
    const double x = x_.front(), y = y_.front();
    for (std::size_t i = 0; i < x_.size(); ++i) r.mean_x += x_[i] - x, r.mean_y += y_[i] - y;
    r.mean_x = x + r.mean_x / r.count;
    r.mean_y = y + r.mean_y / r.count;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      r.product += (x_[i] - r.mean_x) * (y_[i] - r.mean_y);
      r.greatest = std::max(r.greatest, std::abs(x_[i]));
    }
    return r;
  }

 private:
  std::vector<double> x_, y_;
};

// ---- saltelli: the sums are those of all results, of y(A) and y(B), of S_j, of T_j, and two for each S_jk

std::size_t saltelli_items(std::size_t k, std::size_t pairs_of_inputs) { return 2 + 2 * k + 2 * pairs_of_inputs; }

/// The terms of one block of pairs of samples, whose results are y.
class saltelli_terms {
 public:
  saltelli_terms(const std::vector<double>& y, std::size_t rows, std::size_t inputs)
      : y_(y), rows_(rows), inputs_(inputs) {}

  void all(pairs& to) const {
    for (const double y : y_) to.add(y, y);
  }
  void both(pairs& to) const {
    each([&](const double* y) { to.add(y[0], y[0]), to.add(y[rows_ - 1], y[rows_ - 1]); });
  }
  void first(pairs& to, std::size_t j) const {
    each([&](const double* y) { to.add(y[rows_ - 1], y[1 + j] - y[0]); });
  }
  void total(pairs& to, std::size_t j) const {
    each([&](const double* y) { to.add((y[0] - y[1 + j]) * (y[0] - y[1 + j]), 0); });
  }
  /// Adds y(A) and y(B) if the results of the mixed rows are finite (`of_base`), or the mixed ones if those of A and B
  /// are.
  void mixed(pairs& to, std::size_t j, std::size_t k, bool of_base) const {
    each([&](const double* y) {
      const double a = y[0], b = y[rows_ - 1], b_j = y[1 + inputs_ + j], a_k = y[1 + k];
      if (of_base && is_finite(a_k) && is_finite(b_j)) to.add(a, b);
      if (!of_base && is_finite(a) && is_finite(b)) to.add(b_j, a_k);
    });
  }

 private:
  static bool is_finite(double y) { return y - y == 0; }
  template <class Body>
  void each(Body&& body) const {
    for (std::size_t at = 0; at + rows_ <= y_.size(); at += rows_) body(y_.data() + at);
  }
  const std::vector<double>& y_;
  std::size_t rows_, inputs_;
};

std::vector<co_moment> saltelli_sums(const saltelli_terms& terms, std::size_t inputs,
                                     const std::vector<std::pair<int, int>>& of_second_order) {
  std::vector<co_moment> r;
  pairs found;
  const auto sum = [&](auto&& gather) {
    found.clear();
    gather();
    r.push_back(found.sum());
  };
  sum([&] { terms.all(found); });
  sum([&] { terms.both(found); });
  for (std::size_t j = 0; j < inputs; ++j) sum([&] { terms.first(found, j); });
  for (std::size_t j = 0; j < inputs; ++j) sum([&] { terms.total(found, j); });
  for (const auto& [j, k] : of_second_order)
    for (const bool of_base : {false, true})
      sum([&, a = static_cast<std::size_t>(j), b = static_cast<std::size_t>(k)] { terms.mixed(found, a, b, of_base); });
  return r;
}

// ---- morris: the sums are those of the effect of each input, and of its magnitude

std::vector<co_moment> morris_sums(const std::vector<double>& y, const std::vector<morris_step>& steps,
                                   std::size_t inputs) {
  std::vector<co_moment> r;
  pairs found;
  for (const bool of_size : {false, true})
    for (std::size_t j = 0; j < inputs; ++j) {
      found.clear();
      for (std::size_t unit = 0; unit * (inputs + 1) < y.size(); ++unit) {
        const morris_step& step = steps[unit * inputs + j];
        const double* const at = y.data() + unit * (inputs + 1) + step.before;
        const double effect = (at[1] - at[0]) / step.size;
        found.add(of_size ? std::abs(effect) : effect, of_size ? std::abs(effect) : effect);
      }
      r.push_back(found.sum());
    }
  return r;
}

// ---- fast: for each curve, the sums of the variance, of cosines and sines of the harmonics, and of (-1)^i

constexpr std::size_t fast_items(int harmonics) { return 2 + 2 * static_cast<std::size_t>(harmonics); }

/// The factors of a result at point i of a curve, for each of its sums except the first.
std::vector<double> fast_waves(const design& d, std::int64_t i) {
  std::vector<double> r;
  const auto n = static_cast<unsigned __int128>(d.count);
  const auto highest = static_cast<unsigned __int128>((d.count - 1) / (2 * d.harmonics));
  for (int h = 1; h <= d.harmonics; ++h) {
    const auto turns = static_cast<double>(static_cast<std::uint64_t>(static_cast<unsigned __int128>(h) * highest *
                                                                      static_cast<unsigned __int128>(i) % n));
    const double angle = 2 * std::numbers::pi * (turns / static_cast<double>(d.count));
    r.push_back(std::cos(angle));
    r.push_back(std::sin(angle));
  }
  r.push_back(i % 2 == 0 ? 1 : -1);
  return r;
}

/// The sums over results from instance `first` of the design on; `waves` is [instance][sum but the first].
std::vector<co_moment> fast_sums(const std::vector<double>& y, const std::vector<double>& waves, const design& d,
                                 std::int64_t first, std::size_t inputs) {
  const std::size_t width = fast_items(d.harmonics);
  std::vector<co_moment> r(width * inputs);
  pairs found;
  for (std::size_t from = 0; from < y.size();) {
    const auto at = first + static_cast<std::int64_t>(from);
    const auto curve = static_cast<std::size_t>(at / d.count);
    const std::size_t to = std::min(y.size(), from + static_cast<std::size_t>(d.count - at % d.count));
    for (std::size_t item = 0; item < width; ++item) {
      found.clear();
      for (std::size_t i = from; i < to; ++i) found.add(y[i], item == 0 ? y[i] : waves[i * (width - 1) + item - 1]);
      r[curve * width + item] = found.sum();
    }
    from = to;
  }
  return r;
}

// ---- indices

double ratio(double a, double b) { return b > 0 ? a / b : none; }
double mean_product(const co_moment& s, double centre_x, double centre_y) {
  return s.product / s.count + (s.mean_x - centre_x) * (s.mean_y - centre_y);
}

/// All indices of one outcome, in the order of index_names, from its sums.
using index_values = std::vector<std::vector<double>>;

index_values saltelli_indices(const co_moment* s, std::size_t k, std::size_t pairs_of_inputs,
                              const std::vector<std::pair<int, int>>& of_pairs) {
  index_values r(pairs_of_inputs > 0 ? 3 : 2);
  const double centre = s[0].mean_x, variance = ratio(s[1].product, s[1].count);
  for (std::size_t j = 0; j < k; ++j) r[0].push_back(ratio(mean_product(s[2 + j], centre, 0), variance));
  for (std::size_t j = 0; j < k; ++j)
    r[1].push_back(s[2 + k + j].count > 0 ? ratio(0.5 * s[2 + k + j].mean_x, variance) : none);
  for (std::size_t p = 0; p < pairs_of_inputs; ++p) {
    const co_moment* const of = s + 2 + 2 * k + 2 * p;
    const double together = mean_product(of[0], centre, centre) - mean_product(of[1], centre, centre);
    const auto [i, j] = of_pairs[p];
    r[2].push_back(ratio(together, variance) - r[0][static_cast<std::size_t>(i)] - r[0][static_cast<std::size_t>(j)]);
  }
  return r;
}

index_values morris_indices(const co_moment* s, std::size_t k) {
  index_values r(3);
  for (std::size_t j = 0; j < k; ++j) {
    const bool is_there = s[j].count > 0;
    r[0].push_back(is_there ? s[j].mean_x : none);
    r[1].push_back(is_there ? s[k + j].mean_x : none);
    r[2].push_back(s[j].count > 1 ? std::sqrt(s[j].product / (s[j].count - 1)) : none);
  }
  return r;
}

/// Twice the squared amplitudes of the harmonics over the variance; as in SALib, the variance excludes the frequency of
/// (-1)^i.
index_values fast_indices(const co_moment* s, std::size_t k, const design& d) {
  index_values r(1);
  const std::size_t width = fast_items(d.harmonics);
  for (std::size_t j = 0; j < k; ++j, s += width) {
    double harmonics = 0;
    for (std::size_t item = 1; item + 1 < width; ++item) {
      const double amplitude = s[item].product / s[item].count;
      harmonics += 2 * amplitude * amplitude;
    }
    const co_moment& last = s[width - 1];
    const double highest = d.count % 2 == 0 ? last.product / last.count : 0;
    r[0].push_back(ratio(harmonics, s[0].product / s[0].count - highest * highest));
  }
  return r;
}

index_values indices(const indices_setup& of, const std::vector<std::pair<int, int>>& of_pairs, const co_moment* s) {
  const std::size_t k = of.inputs.size();
  switch (of.design.which) {
    case design::kind::saltelli: return saltelli_indices(s, k, of_pairs.size(), of_pairs);
    case design::kind::morris: return morris_indices(s, k);
    default: return fast_indices(s, k, of.design);
  }
}

// ---- intervals

/// The sums of groups about the overall means, so that they can be added with weights without merging means.
struct group_sums {
  std::vector<co_moment> centres;              ///< [item]
  std::vector<std::array<double, 4>> of = {};  ///< [group][item]: count, x, y, x y
  group_sums(const std::vector<std::vector<co_moment>>& groups, std::vector<co_moment> all, std::size_t first)
      : centres(std::move(all)) {
    for (const auto& group : groups)
      for (std::size_t i = 0; i < centres.size(); ++i) {
        const co_moment& g = group[first + i];
        const double dx = g.mean_x - centres[i].mean_x, dy = g.mean_y - centres[i].mean_y;
        if (g.count > 0) of.push_back({g.count, g.count * dx, g.count * dy, g.product + g.count * dx * dy});
        else of.push_back({0, 0, 0, 0});
      }
  }
  std::vector<co_moment> weighted(const std::vector<double>& weights) const {
    const std::size_t items = centres.size();
    std::vector<std::array<double, 4>> sum(items, std::array<double, 4>{});
    for (std::size_t g = 0; g < weights.size(); ++g)
      for (std::size_t i = 0; i < items && weights[g] != 0; ++i)
        for (std::size_t q = 0; q < 4; ++q) sum[i][q] += weights[g] * of[g * items + i][q];
    std::vector<co_moment> r(items);
    for (std::size_t i = 0; i < items; ++i) {
      const auto& [n, x, y, xy] = sum[i];
      if (n == 0) continue;
      r[i] = {n, centres[i].mean_x + x / n, centres[i].mean_y + y / n, xy - x * y / n, centres[i].greatest};
    }
    return r;
  }
};

/// How often each group is drawn in each resample: as many draws with replacement as there are groups.
std::vector<std::vector<double>> bootstrap_weights(std::uint64_t seed, std::size_t groups) {
  std::vector<std::vector<double>> r(resamples, std::vector<double>(groups, 0));
  for (std::size_t b = 0; b < r.size(); ++b)
    for (std::size_t i = 0; i < groups; ++i) {
      const std::uint64_t word = random_word(seed, random_use::resampling, b, i);
      r[b][static_cast<std::size_t>(static_cast<unsigned __int128>(word) * groups >> 64)] += 1;
    }
  return r;
}

/// Standard deviations of indices over bootstrap samples: [index][input].
index_values deviations(const std::vector<index_values>& samples) {
  index_values r = samples.front();
  for (std::size_t i = 0; i < r.size(); ++i)
    for (std::size_t j = 0; j < r[i].size(); ++j) {
      pairs found;
      for (const index_values& one : samples) found.add(one[i][j], one[i][j]);
      const co_moment s = found.sum();
      r[i][j] = s.count > 1 ? std::sqrt(s.product / (s.count - 1)) : none;
    }
  return r;
}

/// The item whose mean gives an index, and the number of its terms without failures.
struct terms_of_index {
  std::size_t item;
  double number;
};

terms_of_index terms_of(const indices_setup& of, std::size_t index, std::size_t j) {
  const std::size_t k = of.inputs.size();
  const auto n = static_cast<double>(of.design.count);
  switch (of.design.which) {
    case design::kind::saltelli: return {index < 2 ? 2 + index * k + j : 2 + 2 * k + 2 * j, n};
    case design::kind::morris: return {index == 1 ? k + j : j, n};
    default: return {j * fast_items(of.design.harmonics), n};
  }
}

/// The interval, widened by the share of terms left out, whose index may have been anything from `least` to `greatest`.
index_estimate estimate(double value, double deviation, double left_out, double least, double greatest) {
  const double half = 1.96 * deviation, kept = 1 - left_out;
  return {value, kept * (value - half) + left_out * least, kept * (value + half) + left_out * greatest, left_out};
}

std::pair<double, double> range_of(const indices_setup& of, std::size_t index, const co_moment& terms) {
  if (of.design.which == design::kind::saltelli) return {index == 2 ? -1.0 : 0.0, 1.0};
  return {index == 0 ? -terms.greatest : 0.0, terms.greatest};
}

/// Number of sums for one outcome.
std::size_t items_of(const indices_setup& s) {
  const std::size_t k = s.inputs.size();
  switch (s.design.which) {
    case design::kind::saltelli: return saltelli_items(k, input_pairs(s.design, static_cast<int>(k)).size());
    case design::kind::morris: return 2 * k;
    default: return k * fast_items(s.design.harmonics);
  }
}

/// Units of a group: a power of two, such that there are at most max_groups, and fewer if memory requires.
std::int64_t group_units(const indices_setup& s) {
  constexpr std::int64_t bytes = 1 << 22, fewest = 32;  // bytes per outcome
  const auto each = static_cast<std::int64_t>(std::max<std::size_t>(items_of(s), 1) * sizeof(co_moment));
  const std::int64_t most = std::clamp(bytes / each, fewest, max_groups);
  std::int64_t size = 1;
  while ((s.design.count + size - 1) / size > most) size *= 2;
  return size;
}

/// Units of a block, and the tree level at which blocks form a group. Blocks are small, so that the same samples form
/// the same blocks whether the ensemble has grown (indices_sum::grow) or not.
std::pair<std::int64_t, std::int64_t> blocks_and_top(const indices_setup& s) {
  constexpr std::int64_t most = 4, of_curves = 256;
  if (s.design.which == design::kind::fast) return {of_curves, std::numeric_limits<std::int64_t>::max()};
  const std::int64_t group = group_units(s), block = std::min(group, most);
  return {block, std::countr_zero(static_cast<std::uint64_t>(group / block))};
}

}  // namespace

std::int64_t indices_setup::instances() const {
  return design.count * instances_per_count(design, static_cast<int>(inputs.size()));
}

indices_setup indices_setup_of(const plan& p) {
  indices_setup r{p.design, p.seed, {}, {}};
  for (const auto& column : p.random) r.inputs.push_back(column.what.name);
  const auto columns = statistic_columns(p);
  for (const int column : p.indices) r.outcomes.push_back(columns[static_cast<std::size_t>(column)]);
  return r;
}

double widest_half_width(const sensitivity_indices& all) {
  double widest = 0;
  for (const auto& outcome : all.outcomes)
    for (const auto& index : outcome.indices)
      for (const index_estimate& e : index) widest = std::fmax(widest, 0.5 * (e.high - e.low));
  return widest;
}

std::vector<std::string> index_names(const design& d) {
  switch (d.which) {
    case design::kind::saltelli:
      if (d.second_order) return {"first_order", "total_order", std::string(second_order_name)};
      return {"first_order", "total_order"};
    case design::kind::morris: return {"mu", "mu_star", "sigma"};
    case design::kind::fast: return {"first_order"};
    default: return {};
  }
}

std::vector<std::pair<int, int>> input_pairs(const design& d, int inputs) {
  std::vector<std::pair<int, int>> r;
  if (d.which != design::kind::saltelli || !d.second_order) return r;
  for (int i = 0; i < inputs; ++i)
    for (int j = i + 1; j < inputs; ++j) r.emplace_back(i, j);
  return r;
}

indices_sum::indices_sum(indices_setup setup)
    : setup_(std::move(setup)),
      points_(setup_.outcomes.empty() ? design{} : setup_.design, static_cast<int>(setup_.inputs.size()), setup_.seed),
      items_(items_of(setup_)),
      block_units_(blocks_and_top(setup_).first),
      block_(block_units_ * (setup_.outcomes.empty() ? 1 : points_.unit_rows())),
      tree_(blocks_and_top(setup_).second),
      spread_(setup_.instances(), block_) {}

chunk_indices indices_sum::make(std::int64_t first_id, std::int64_t count, const std::vector<number_column>& outcomes,
                                const unsigned char* status) const {
  chunk_indices r;
  if (outcomes.empty()) return r;
  for (std::int64_t slot = 0; slot < count; ++slot) {
    if (is_ok(static_cast<saltus::status>(status[slot]))) continue;
    ++r.failed;
    if (r.first_failed.size() < most_failed) r.first_failed.push_back(first_id + slot);
  }
  const auto blocks = blocks_of(setup_.instances(), first_id, count, block_);
  block_tree<std::vector<co_moment>> tree(blocks_and_top(setup_).second);
  for (std::int64_t b = 0, first = blocks.first; b < blocks.count; ++b, first += block_)
    tree.push({0, (first_id + first) / block_},
              sums_of(outcomes, status, first, std::min(block_, count - first), first_id + first), merge_sums);
  r.sums = tree.take();
  return r;
}

void indices_sum::add(std::int64_t first_id, std::int64_t count, const std::vector<number_column>& outcomes,
                      const unsigned char* status, chunk_indices&& made) {
  if (outcomes.empty()) return;
  failed_ += made.failed;
  first_failed_.insert(first_failed_.end(), made.first_failed.begin(), made.first_failed.end());
  std::sort(first_failed_.begin(), first_failed_.end());
  first_failed_.resize(std::min(first_failed_.size(), most_failed));
  const auto blocks = blocks_of(setup_.instances(), first_id, count, block_);
  const auto carry = [&](std::int64_t from, std::int64_t to) {
    if (const auto whole = spread_.take(first_id, outcomes, status, from, to))
      tree_.push({0, whole->number},
                 sums_of(whole->columns(block_), whole->status.data(), 0, whole->rows, whole->number * block_),
                 merge_sums);
  };
  carry(0, blocks.first);
  for (auto& [where, of] : made.sums) tree_.push(where, std::move(of), merge_sums);
  carry(std::min(blocks.first + blocks.count * block_, count), count);
}

void indices_sum::grow(std::int64_t count) {
  setup_.design.count = count;
  tree_.raise(blocks_and_top(setup_).second, merge_sums);
  spread_ = spread_blocks(setup_.instances(), block_);
}

/// The sums over the rows of one block.
std::vector<co_moment> indices_sum::sums_of(const std::vector<number_column>& outcomes, const unsigned char* status,
                                            std::int64_t first, std::int64_t rows, std::int64_t first_id) const {
  const std::size_t k = setup_.inputs.size();
  const design& d = setup_.design;
  const auto of_pairs = input_pairs(d, static_cast<int>(k));
  std::vector<morris_step> steps;
  std::vector<double> waves;
  if (d.which == design::kind::morris)
    for (std::int64_t unit = first_id / points_.unit_rows(); unit * points_.unit_rows() < first_id + rows; ++unit)
      for (std::size_t j = 0; j < k; ++j) steps.push_back(points_.step(unit, static_cast<int>(j)));
  if (d.which == design::kind::fast)
    for (std::int64_t id = first_id; id < first_id + rows; ++id) {
      const auto more = fast_waves(d, id % d.count);
      waves.insert(waves.end(), more.begin(), more.end());
    }
  std::vector<co_moment> r;
  std::vector<double> y(static_cast<std::size_t>(rows));
  for (const number_column& column : outcomes) {
    for (std::int64_t i = 0; i < rows; ++i)
      y[static_cast<std::size_t>(i)] =
          is_ok(static_cast<saltus::status>(status[first + i])) ? column.at(first + i) : none;
    std::vector<co_moment> more;
    switch (d.which) {
      case design::kind::saltelli:
        more = saltelli_sums({y, static_cast<std::size_t>(points_.unit_rows()), k}, k, of_pairs);
        break;
      case design::kind::morris: more = morris_sums(y, steps, k); break;
      default: more = fast_sums(y, waves, d, first_id, k);
    }
    r.insert(r.end(), more.begin(), more.end());
  }
  return r;
}

/// The groups from which bootstrap samples are drawn. The last one may have fewer units.
std::vector<std::vector<co_moment>> indices_sum::groups() const {
  std::vector<std::vector<co_moment>> r;
  const std::int64_t top = blocks_and_top(setup_).second;
  std::vector<co_moment> last;
  for (const auto& [where, of] : tree_.pending())
    if (where.level == top) r.push_back(of);
    else last = last.empty() ? of : merge_sums(of, last);
  if (!last.empty()) r.push_back(std::move(last));
  return r;
}

sensitivity_indices indices_sum::finish() const {
  sensitivity_indices r;
  if (setup_.outcomes.empty()) return r;
  r.design = name_of(setup_.design.which);
  r.inputs = setup_.inputs;
  r.names = index_names(setup_.design);
  r.pairs = input_pairs(setup_.design, static_cast<int>(r.inputs.size()));
  r.failed = failed_;
  r.first_failed = first_failed_;
  const auto of_groups = groups();
  if (of_groups.empty()) return r;
  std::vector<co_moment> all = of_groups.front();
  for (std::size_t g = 1; g < of_groups.size(); ++g) all = merge_sums(all, of_groups[g]);
  const bool has_intervals = setup_.design.which != design::kind::fast && of_groups.size() > 1;
  const auto weights =
      has_intervals ? bootstrap_weights(setup_.seed, of_groups.size()) : std::vector<std::vector<double>>();
  for (std::size_t o = 0; o < setup_.outcomes.size(); ++o) {
    const std::size_t first = o * items_;
    const std::vector<co_moment> own(all.begin() + static_cast<std::ptrdiff_t>(first),
                                     all.begin() + static_cast<std::ptrdiff_t>(first + items_));
    const index_values values = indices(setup_, r.pairs, own.data());
    index_values spread = values;
    for (auto& index : spread) std::fill(index.begin(), index.end(), none);
    if (has_intervals) {
      const group_sums sums(of_groups, own, first);
      std::vector<index_values> samples;
      for (const auto& weight : weights) samples.push_back(indices(setup_, r.pairs, sums.weighted(weight).data()));
      spread = deviations(samples);
    }
    r.outcomes.push_back({setup_.outcomes[o], {}});
    for (std::size_t index = 0; index < values.size(); ++index) {
      r.outcomes.back().indices.emplace_back();
      for (std::size_t j = 0; j < values[index].size(); ++j) {
        const auto [item, number] = terms_of(setup_, index, j);
        const auto [least, greatest] = range_of(setup_, index, own[item]);
        r.outcomes.back().indices.back().push_back(
            estimate(values[index][j], spread[index][j], 1 - own[item].count / number, least, greatest));
      }
    }
  }
  return r;
}

}  // namespace saltus::host
