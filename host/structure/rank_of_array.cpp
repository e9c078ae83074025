#include "structure/rank_of_array.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <Eigen/SVD>

namespace saltus::host {

namespace {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// A rank, and whether the gap in the singular values is clear.
struct clear_rank {
  int rank = 0;
  double gap = 0.0;
  bool is_clear = true;
};

/// Divides rows and columns by their largest entries, but not those that are mere rounding.
void equilibrate(MatrixXd& a) {
  for (int turn = 0; turn < 3; ++turn) {
    for (Index i = 0; i < a.rows(); ++i)
      if (const double size = a.row(i).cwiseAbs().maxCoeff(); size > 1e-10) a.row(i) /= size;
    for (Index j = 0; j < a.cols(); ++j)
      if (const double size = a.col(j).cwiseAbs().maxCoeff(); size > 1e-10) a.col(j) /= size;
  }
}

clear_rank rank_of(MatrixXd a) {
  constexpr double certain = 1e-8, rounding = 1e-11;
  if (a.size() == 0) return {};
  equilibrate(a);
  const Eigen::BDCSVD<MatrixXd> svd(a);
  const auto& values = svd.singularValues();
  clear_rank r;
  while (r.rank < values.size() && values[r.rank] > certain * values[0]) ++r.rank;
  if (r.rank == 0 || r.rank == values.size()) return r;
  r.gap = values[r.rank] / values[r.rank - 1];
  r.is_clear = values[r.rank] <= rounding * values[0];
  return r;
}

/// The array up to some order, evaluated at given points.
class array_of {
 public:
  array_of(const array_shape& shape, const array_function& evaluate) : shape_(shape), evaluate_(evaluate) {
    for (int j = 0; j < shape.size(); ++j) first_.push_back(static_cast<int>(of_.size())), add(j);
  }

  /// The guesses for the unknowns, and zero for all derivatives.
  VectorXd start(const std::vector<double>& guess) const {
    VectorXd x = VectorXd::Zero(std::ssize(of_));
    for (int j = 0; j < shape_.size(); ++j) x[first_[at(j)]] = guess[at(j)];
    return x;
  }

  /// A solution of F = .. = F^(times) = 0 near x: meets F = 0 first, then F' = 0 as well, and so on.
  std::optional<VectorXd> solution(const VectorXd& x, int times, double time_scale) const {
    std::optional<VectorXd> r = x;
    for (int k = 0; k <= times && r; ++k) r = nearest(*r, k, time_scale);
    return r;
  }

  /// The power of two with which the derivatives of F by coefficients of all orders have about one size in each
  /// equation: a regression of their logarithms over the orders.
  double time_scale_at(const VectorXd& x) const {
    constexpr double rounding = 1e-14;
    const auto here = at_point(x, 0, 1.0);
    double above = 0.0, below = 0.0;
    for (Index i = 0; i < here.by.rows(); ++i) {
      double count = 0.0, orders = 0.0, logarithms = 0.0, squares = 0.0, products = 0.0;
      for (Index c = 0; c < here.by.cols(); ++c) {
        const double entry = std::abs(here.by(i, c)), order = of_[at(static_cast<int>(c))].order;
        if (!(entry > rounding)) continue;
        const double logarithm = std::log2(entry);
        count += 1.0, orders += order, logarithms += logarithm, squares += order * order, products += order * logarithm;
      }
      if (count == 0.0) continue;
      above += products - orders * logarithms / count;
      below += squares - orders * orders / count;
    }
    const double exponent = below > 0.0 ? std::round(above / below) : 0.0;
    return std::abs(exponent) < 200.0 ? std::ldexp(1.0, static_cast<int>(exponent)) : 1.0;
  }

  struct ranks {
    clear_rank above, all;     ///< of G by the coefficients above the values; of the whole array
    std::vector<int> unknown;  ///< unknowns whose derivatives above the values are not determined
    int freedom = 0;
  };
  ranks ranks_at(const VectorXd& x, int times, double time_scale) const {
    const auto here = at_point(x, times, time_scale);
    MatrixXd scaled = here.by;
    for (Index c = 0; c < scaled.cols(); ++c)
      scaled.col(c) *= std::pow(time_scale, -of_[at(static_cast<int>(c))].order);
    const auto columns = [&](auto&& is_in) {
      std::vector<Index> which;
      for (std::size_t c = 0; c < of_.size(); ++c)
        if (of_[c].order <= shape_.order[at(of_[c].unknown)] + times && is_in(of_[c]))
          which.push_back(static_cast<Index>(c));
      return which;
    };
    const Index n = shape_.size(), rows = n * times;
    const auto g = scaled.bottomRows(rows);
    const auto is_above = [&](const coefficient& c) { return c.order > shape_.highest[at(c.unknown)]; };
    ranks r;
    r.above = rank_of(g(Eigen::all, columns(is_above)));
    r.all = rank_of(scaled(Eigen::all, columns([](const coefficient&) { return true; })));
    for (int j = 0; j < shape_.size(); ++j) {
      const auto others = rank_of(g(Eigen::all, columns([&](const coefficient& c) {
                                      return is_above(c) && !(c.unknown == j && c.order == shape_.highest[at(j)] + 1);
                                    })));
      if (others.rank + 1 != r.above.rank) r.unknown.push_back(j);
    }
    const int values = std::accumulate(shape_.highest.begin(), shape_.highest.end(), shape_.size());
    r.freedom = values - (static_cast<int>(n + rows) - r.above.rank);
    return r;
  }

  /// Moves the values at random, by a few hundredths of their sizes.
  VectorXd beside(VectorXd x, std::mt19937& random, double time_scale) const {
    std::uniform_real_distribution<double> part(-0.03, 0.03);
    for (std::size_t c = 0; c < of_.size(); ++c)
      if (of_[c].order <= shape_.highest[at(of_[c].unknown)]) {
        auto& value = x[static_cast<Index>(c)];
        value += part(random) * (std::abs(value) + std::pow(time_scale, -of_[c].order));
      }
    return x;
  }

 private:
  /// The nearest solution, by damped Gauss-Newton iteration; none if it does not converge.
  std::optional<VectorXd> nearest(VectorXd x, int times, double time_scale) const {
    constexpr int most = 60;
    constexpr double small = 1e-12, enough = 1e-10, negligible = 1e-10;
    double before = std::numeric_limits<double>::infinity(), share = 1.0;
    VectorXd best = x, by = VectorXd::Zero(x.size());
    for (int turn = 0; turn < most; ++turn) {
      auto here = at_point(x, times, time_scale);
      if (!here.by.allFinite() || !here.f.allFinite()) here.lacking = std::numeric_limits<double>::infinity();
      if (!(here.lacking < before * (1.0 - 0.25 * share) || here.lacking <= small)) {
        if ((share *= 0.25) < 1e-6) break;
        x = best + share * by;
        continue;
      }
      best = x;
      before = here.lacking;
      // Columns are scaled by the sizes of the values, so that the relative change is minimal.
      VectorXd size(x.size());
      for (Index c = 0; c < x.size(); ++c) {
        const int order = of_[at(static_cast<int>(c))].order;
        size[c] = (std::abs(x[c]) + std::pow(time_scale, -order)) * (order == 0 ? 1.0 : 100.0);
      }
      const MatrixXd scaled = here.by * size.asDiagonal();
      Eigen::BDCSVD<MatrixXd> svd(scaled, Eigen::ComputeThinU | Eigen::ComputeThinV);
      svd.setThreshold(negligible);
      by = -(size.asDiagonal() * svd.solve(here.f));
      const double moved = (by.cwiseQuotient(size)).cwiseAbs().maxCoeff();
      share = turn == 0 ? 1.0 : std::min(2.0 * share, 1.0);
      x = best + share * by;
      if (share == 1.0 && moved <= small) break;
    }
    return before <= enough ? std::optional(best) : std::nullopt;
  }

  struct coefficient {
    int unknown, order;
  };
  struct evaluated {
    VectorXd f;
    MatrixXd by;  ///< rows divided by their largest entries
    double lacking = 0.0;
  };

  void add(int j) {
    for (int m = 0; m <= shape_.order[at(j)] + shape_.most; ++m) of_.push_back({j, m});
  }
  evaluated at_point(const VectorXd& x, int times, double time_scale) const {
    const auto n = at(shape_.size()), rows = n * at(times + 1), all = n * at(shape_.most + 1);
    std::vector<double> f(all), by(all * of_.size());
    evaluate_({x.begin(), x.end()}, f, by);
    evaluated r{VectorXd(static_cast<Index>(rows)), MatrixXd(static_cast<Index>(rows), std::ssize(of_))};
    for (std::size_t i = 0; i < rows; ++i) {
      double size = 0.0, terms = 0.0;
      for (std::size_t c = 0; c < of_.size(); ++c) {
        const double entry = std::abs(by[i * of_.size() + c]), scale = std::pow(time_scale, -of_[c].order);
        size = std::max(size, entry * scale);
        terms = std::max(terms, entry * std::max(std::abs(x[static_cast<Index>(c)]), scale));
      }
      if (!(size > 0)) size = terms = 1.0;
      r.f[static_cast<Index>(i)] = f[i] / size;
      r.lacking = std::max(r.lacking, std::abs(f[i]) / terms);
      for (std::size_t c = 0; c < of_.size(); ++c)
        r.by(static_cast<Index>(i), static_cast<Index>(c)) = by[i * of_.size() + c] / size;
    }
    return r;
  }

  const array_shape& shape_;
  const array_function& evaluate_;
  std::vector<coefficient> of_;  ///< the coefficient of each column
  std::vector<int> first_;       ///< column of each unknown
};

std::string listed(const std::vector<int>& which, const std::vector<std::string>& names) {
  std::vector<std::string> all;
  for (const int i : which) all.push_back(names[at(i)]);
  return fmt::format("{}", fmt::join(all, ", "));
}

/// The defect of the array up to F^(times) at a point, in words; empty if there is none.
std::string trouble(const array_of::ranks& r, const array_of::ranks& further, int rows, int times,
                    const std::vector<std::string>& unknowns) {
  if (!r.unknown.empty())
    return fmt::format("its equations, differentiated {} times, do not determine {}", times,
                       listed(r.unknown, unknowns));
  if (r.all.rank < rows) return fmt::format("its equations, differentiated {} times, depend on each other", times);
  if (!r.above.is_clear || !r.all.is_clear)
    return fmt::format(
        "the rank of its equations, differentiated {} times, is not clear: of singular values the {}th "
        "is {:.1e} of that before it",
        times, r.above.rank + 1, std::max(r.above.gap, r.all.gap));
  if (r.freedom != further.freedom)
    return fmt::format("its equations have more constraints each time that they are differentiated, {} times", times);
  return {};
}

}  // namespace

array_rank rank_of_array(const array_shape& shape, const std::vector<array_function>& modes,
                         const std::vector<double>& guess, const std::vector<std::string>& unknowns) {
  constexpr int points_beside = 3;
  const array_of first(shape, modes.front());
  int least = 1;
  for (int j = 0; j < shape.size(); ++j) least = std::max(least, shape.highest[at(j)] + 1 - shape.order[at(j)]);
  array_rank r;
  r.why = "no point was found that meets its equations and their derivatives";
  for (int times = least; times < shape.most; ++times) {
    const auto begin = first.start(guess);
    r.time_scale = first.time_scale_at(begin);
    const auto x = first.solution(begin, times + 1, r.time_scale);
    if (!x) {
      if (r.times > 0) r.why += fmt::format("; no point was found that meets them {} times", times + 1);
      break;
    }
    const auto found = first.ranks_at(*x, times, r.time_scale);
    r.times = times;
    r.rank = found.above.rank;
    r.freedom = found.freedom;
    r.gap = std::max(found.above.gap, found.all.gap);
    r.points = 1;
    r.why = trouble(found, first.ranks_at(*x, times + 1, r.time_scale), shape.size() * (times + 1), times, unknowns);
    if (!r.why.empty()) continue;
    std::mt19937 random(1);
    for (const auto& mode : modes) {
      const array_of here(shape, mode);
      const bool is_first = &mode == &modes.front();
      for (int k = 0; k < (is_first ? points_beside : 1); ++k) {
        const auto other =
            here.solution(is_first ? here.beside(*x, random, r.time_scale) : *x, times + 1, r.time_scale);
        if (!other && !is_first) r.why = "no point was found that meets its equations in another of its modes";
        if (!other) continue;
        ++r.points;
        const auto ranks = here.ranks_at(*other, times, r.time_scale);
        if (ranks.above.rank != r.rank || ranks.all.rank != found.all.rank || !ranks.unknown.empty())
          r.why = fmt::format("the rank of its equations, differentiated {} times, is {} at the start and {} {}", times,
                              r.rank, ranks.above.rank, is_first ? "near it" : "in another of its modes");
      }
    }
    return r;
  }
  return r;
}

}  // namespace saltus::host
