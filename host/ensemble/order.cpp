#include "ensemble/order.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace saltus::host {

namespace {

constexpr std::int64_t max_warps_learnt = 128;      ///< warps of instances on which the tree is grown
constexpr std::int64_t max_warps_of_a_chunk = 64;   ///< of these from one chunk
constexpr std::size_t min_instances_of_a_box = 16;  ///< smallest number of instances in a box
constexpr int max_depth = 8;                        ///< splits above a box
constexpr double min_gain = 0.03;                   ///< gain in warp efficiency that justifies another order

/// The columns of inputs: all that may differ between instances.
std::vector<const double*> inputs_of(const columns& c) {
  std::vector<const double*> r;
  const auto n = static_cast<std::size_t>(c.count);
  for (const auto* list : {&c.parameters, &c.initial, &c.discrete, &c.t_begin, &c.t_end})
    for (std::size_t at = 0; at < list->size(); at += n) r.push_back(list->data() + at);
  return r;
}

/// Every `step`-th warp of a sample, from `first_warp` on.
work_sample part_of(const work_sample& all, std::size_t first_warp, std::size_t step) {
  constexpr auto w = static_cast<std::size_t>(warp);
  work_sample r;
  r.width = all.width;
  for (std::size_t first = first_warp * w; first + w <= all.size(); first += step * w) {
    r.inputs.insert(r.inputs.end(), all.row(first), all.row(first) + w * all.width);
    r.work.insert(r.work.end(), all.work.begin() + static_cast<long>(first),
                  all.work.begin() + static_cast<long>(first + w));
  }
  return r;
}

/// Slots 0, 1, ... sorted by the ranks of their boxes; ascending within a box.
template <class Rank>
std::vector<int> sorted_by(std::int64_t count, int ranks, Rank&& rank_of) {
  std::vector<int> rank(static_cast<std::size_t>(count)), slots(static_cast<std::size_t>(count));
  std::vector<int> next(static_cast<std::size_t>(ranks) + 1, 0);
  for (std::int64_t i = 0; i < count; ++i) {
    rank[static_cast<std::size_t>(i)] = rank_of(i);
    ++next[static_cast<std::size_t>(rank[static_cast<std::size_t>(i)]) + 1];
  }
  std::partial_sum(next.begin(), next.end(), next.begin());
  for (std::int64_t i = 0; i < count; ++i) {
    int& slot = next[static_cast<std::size_t>(rank[static_cast<std::size_t>(i)])];
    slots[static_cast<std::size_t>(slot++)] = static_cast<int>(i);
  }
  return slots;
}

/// The work of a sample in the order that a tree gives it.
std::vector<double> ordered(const work_sample& sample, const work_tree& tree) {
  std::vector<double> r;
  for (const int i : sorted_by(static_cast<std::int64_t>(sample.size()), tree.boxes(),
                               [&](std::int64_t k) { return tree.rank_of(sample.row(static_cast<std::size_t>(k))); }))
    r.push_back(sample.work[static_cast<std::size_t>(i)]);
  return r;
}

}  // namespace

double work_of(const chunk_data& c, std::int64_t slot) {
  const auto i = static_cast<std::size_t>(slot);
  return static_cast<double>(c.steps[i] + c.rejected[i] + c.root_finding_steps[i] + 2 * c.events[i]);
}

double warp_efficiency(const std::vector<double>& work) {
  double useful = 0, spent = 0;
  constexpr auto w = static_cast<std::size_t>(warp);
  for (std::size_t first = 0; first < work.size(); first += w) {
    double longest = 0;
    for (std::size_t i = first; i < std::min(first + w, work.size()); ++i) {
      useful += work[i];
      longest = std::max(longest, work[i]);
    }
    spent += longest * static_cast<double>(warp);
  }
  return spent > 0 ? useful / spent : 1.0;
}

/// Grows a tree: splits a node where the sum of squared deviations of the work is least.
struct work_tree::growth {
  const work_sample& sample;
  std::vector<node>& nodes;
  std::vector<std::size_t> rows{};  ///< rows of one node are contiguous

  struct split {
    int input = -1;
    double threshold = 0, gain = 0;
  };

  double value(std::size_t row, int input) const { return sample.row(row)[input]; }

  /// The best split of rows [begin, end) by one input, if better than `best`.
  void try_input(std::size_t begin, std::size_t end, int input, split& best) {
    const auto first = rows.begin() + static_cast<long>(begin), last = rows.begin() + static_cast<long>(end);
    const auto differs = [&](std::size_t r) { return value(r, input) != value(*first, input); };
    if (std::none_of(first, last, differs)) return;  // constant here, as most inputs are
    std::sort(first, last, [&](std::size_t a, std::size_t b) {
      return std::pair(value(a, input), a) < std::pair(value(b, input), b);
    });
    double left = 0, all = 0;
    const double n = static_cast<double>(end - begin);
    for (auto r = first; r != last; ++r) all += sample.work[*r];
    for (std::size_t k = begin; k + min_instances_of_a_box < end; ++k) {
      left += sample.work[rows[k]];
      const double below = value(rows[k], input), above = value(rows[k + 1], input);
      if (k + 1 - begin < min_instances_of_a_box || !(below < above)) continue;
      const double m = static_cast<double>(k + 1 - begin), right = all - left;
      const double gain = left * left / m + right * right / (n - m) - all * all / n;
      if (gain > best.gain) best = {input, below, gain};
    }
  }

  void grow(std::size_t at, std::size_t begin, std::size_t end, int depth) {
    double sum = 0;
    for (std::size_t k = begin; k < end; ++k) sum += sample.work[rows[k]];
    nodes[at].mean = sum / static_cast<double>(std::max<std::size_t>(end - begin, 1));
    split best;
    if (depth < max_depth && end - begin >= 2 * min_instances_of_a_box)
      for (std::size_t input = 0; input < sample.width; ++input) try_input(begin, end, static_cast<int>(input), best);
    // Ignores a gain that is mere rounding.
    if (best.input < 0 || best.gain <= 1e-9 * sum * nodes[at].mean) return;
    const auto middle = std::partition(rows.begin() + static_cast<long>(begin), rows.begin() + static_cast<long>(end),
                                       [&](std::size_t r) { return value(r, best.input) <= best.threshold; });
    const auto border = static_cast<std::size_t>(middle - rows.begin());
    const auto left = nodes.size();
    nodes[at].input = best.input;
    nodes[at].threshold = best.threshold;
    nodes[at].left = static_cast<int>(left);
    nodes.resize(left + 2);
    grow(left, begin, border, depth + 1);
    grow(left + 1, border, end, depth + 1);
  }
};

work_tree::work_tree(const work_sample& sample) : nodes_(1) {
  growth g{sample, nodes_};
  g.rows.resize(sample.size());
  std::iota(g.rows.begin(), g.rows.end(), std::size_t{0});
  g.grow(0, 0, sample.size(), 0);
  std::vector<node*> boxes;
  for (node& n : nodes_)
    if (n.input < 0) boxes.push_back(&n);
  std::stable_sort(boxes.begin(), boxes.end(), [](const node* a, const node* b) { return a->mean > b->mean; });
  for (node* n : boxes) n->rank = boxes_++;
}

/// Takes whole warps, evenly spaced, among those whose counters are on the host.
void work_order::learn(const chunk_data& chunk) {
  std::vector<std::int64_t> warps;
  const auto& made = chunk.statistics;
  for (std::int64_t first = 0; first + warp <= chunk.count; first += warp)
    if (made.costs.empty() || made.has_rows[static_cast<std::size_t>(first / statistics_block)]) {
      const auto* status = &chunk.status[static_cast<std::size_t>(first)];
      if (std::find(status, status + warp, static_cast<unsigned char>(status::not_run)) == status + warp)
        warps.push_back(first);
    }
  if (warps.empty()) return;

  const std::lock_guard lock(mutex_);
  const auto inputs = inputs_of(chunk);
  sample_.width = inputs.size();
  const std::int64_t some = std::min<std::int64_t>(std::ssize(warps), max_warps_of_a_chunk);
  for (std::int64_t k = 0; k < some; ++k) {
    const std::int64_t first = warps[static_cast<std::size_t>(k * std::ssize(warps) / some)];
    for (std::int64_t slot = first; slot < first + warp; ++slot) {
      for (const double* input : inputs) sample_.inputs.push_back(input[slot]);
      sample_.work.push_back(work_of(chunk, slot));
    }
  }
  if (const auto max_size = static_cast<std::size_t>(max_warps_learnt * warp);
      sample_.size() > max_size) {  // forget the oldest
    const std::size_t more = sample_.size() - max_size;
    sample_.inputs.erase(sample_.inputs.begin(), sample_.inputs.begin() + static_cast<long>(more * sample_.width));
    sample_.work.erase(sample_.work.begin(), sample_.work.begin() + static_cast<long>(more));
  }
  if (++learnt_ < next_growth_) return;
  next_growth_ *= 2;
  grow();
}

/// Grows a tree on every other warp and tests it on those between; if the gain suffices, grows it on all.
void work_order::grow() {
  const work_sample seen = part_of(sample_, 0, 2), unseen = part_of(sample_, 1, 2);
  tree_.reset();
  if (unseen.size() == 0) return;
  const double as_they_stand = warp_efficiency(unseen.work);
  if (warp_efficiency(ordered(unseen, work_tree(seen))) < as_they_stand + min_gain) return;
  tree_ = std::make_shared<const work_tree>(sample_);
}

std::vector<int> work_order::order(const columns& chunk) const {
  std::shared_ptr<const work_tree> tree;
  {
    const std::lock_guard lock(mutex_);
    tree = tree_;
  }
  if (!tree) return {};
  const auto inputs = inputs_of(chunk);
  return sorted_by(chunk.count, tree->boxes(), [&](std::int64_t slot) {
    return tree->rank_by([&](int j) { return inputs[static_cast<std::size_t>(j)][slot]; });
  });
}

}  // namespace saltus::host
