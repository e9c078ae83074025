#include "spec/record_reader.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "spec/names.hpp"

namespace saltus::host {

namespace {

using place_of = std::optional<std::size_t>;

/// The index of a column that data may have.
place_of find(record_source& in, const char* name) {
  return contains(in.header(), name) ? place_of(in.column(name)) : std::nullopt;
}

/// Doses in the columns of pharmacometrics. A model's column of one of these names is the model's own.
class dose_columns {
 public:
  dose_columns(record_source& in, const time_event& event) : in_(in) {
    const auto is_own = [&](const char* name) {
      return std::any_of(event.columns.begin(), event.columns.end(),
                         [&](const recorded_column& c) { return c.name == name; });
    };
    const auto special = [&](const char* name) { return is_own(name) ? std::nullopt : find(in, name); };
    amount = is_own("amount") && contains(in.header(), "amount") ? find(in, "amount") : special("AMT");
    rate_ = special("RATE"), duration_ = special("DUR"), interval_ = special("II");
    more_ = special("ADDL"), kind_ = special("EVID"), steady_ = special("SS"), compartment_ = special("CMT");
  }

  place_of amount;

  bool has_infusions() const { return rate_ || duration_; }
  std::vector<std::size_t> used() const {
    std::vector<std::size_t> all;
    for (const auto& one : {amount, rate_, duration_, interval_, more_, kind_, steady_, compartment_})
      if (one) all.push_back(*one);
    return all;
  }

  /// True for an observation, which is no event of the model. Throws for events of other kinds.
  bool is_observation() const {
    if (!kind_) return false;
    const double kind = in_.number(*kind_);
    if (kind == 0.0) return true;
    if (kind != 1.0)
      in_.fail(*kind_,
               "must be 1 (a dose) or 0 (an observation, which is skipped): other events, 2, and resets, 3 and "
               "4, are not understood");
    return false;
  }

  /// Throws where the row says more than rows of a record can.
  void check() {
    if (steady_ && number(*steady_) != 0.0)
      in_.fail(*steady_, "must be 0: a steady state is not understood; give the doses that lead to it, by ADDL and II");
    if (!compartment_) return;
    const double compartment = in_.number(*compartment_);
    if (!first_compartment_) first_compartment_ = compartment;
    if (compartment != *first_compartment_)
      in_.fail(*compartment_,
               fmt::format("must be {}, as in the first dose: a model with a column CMT of its own may tell "
                           "compartments apart",
                           *first_compartment_));
  }

  struct repeated {
    std::int64_t more = 0;
    double interval = 0;
  };
  /// The number of repetitions of the dose, and the interval between them.
  repeated repeats() const {
    constexpr double most = 1e6;
    if (!more_) return {};
    const double more = number(*more_);
    if (!(more >= 0 && more <= most && more == std::floor(more)))
      in_.fail(*more_, fmt::format("must be a whole number from 0 to {:.0f}", most));
    if (more == 0.0) return {};
    if (!interval_) in_.fail(*more_, "must be 0, as there is no column II: it would be the interval between doses");
    const double interval = number(*interval_);
    if (!(interval > 0)) in_.fail(*interval_, "must be positive, as ADDL is");
    return {static_cast<std::int64_t>(more), interval};
  }

  /// rate 0: the dose is given at once.
  struct infusion {
    double rate = 0, duration = 0;
  };
  /// The infusion by which an amount is given.
  infusion infused(double given) const {
    const double rate = rate_ ? number(*rate_) : 0.0, duration = duration_ ? number(*duration_) : 0.0;
    if (rate < 0)
      in_.fail(*rate_, "must not be negative: rates and durations that are parameters, -1 and -2, are not understood");
    if (duration < 0) in_.fail(*duration_, "must not be negative");
    if (rate > 0 && duration > 0) in_.fail(*duration_, "must be 0, as RATE is positive: one follows from the other");
    if (rate == 0.0 && duration == 0.0) return {};
    if (!(given > 0)) in_.fail(*amount, "must be positive, as the dose is an infusion");
    return rate > 0 ? infusion{rate, given / rate} : infusion{given / duration, duration};
  }
  /// The column that makes a dose an infusion, for messages.
  std::size_t infusing() const { return rate_ && number(*rate_) != 0.0 ? *rate_ : *duration_; }

 private:
  /// A number that is 0 where it is missing.
  double number(std::size_t column) const { return in_.is_missing(column) ? 0.0 : in_.number(column); }

  record_source& in_;
  place_of rate_, duration_, interval_, more_, kind_, steady_, compartment_;
  std::optional<double> first_compartment_;
};

/// The keys of ids.
class id_list {
 public:
  explicit id_list(const record_demand& d) : keys_(d.keys), known_(d.known) {
    for (std::size_t k = 0; k < keys_.ids.size(); ++k) sorted_.emplace_back(keys_.ids[k], k);
    std::sort(sorted_.begin(), sorted_.end());
  }

  /// body(key) for each key with this id. Returns false if the id is unknown.
  template <class Body>
  bool each(double id, Body&& body) const {
    if (keys_.ids.empty()) {
      if (!(id >= 0 && id < static_cast<double>(known_) && id == std::floor(id))) return false;
      if (id < static_cast<double>(keys_.count)) body(static_cast<std::size_t>(id));
      return true;
    }
    auto at = std::lower_bound(sorted_.begin(), sorted_.end(), std::pair<double, std::size_t>{id, 0});
    const bool is_known = at != sorted_.end() && at->first == id;
    for (; at != sorted_.end() && at->first == id; ++at) body(at->second);
    return is_known;
  }

 private:
  const record_keys& keys_;
  std::int64_t known_;
  std::vector<std::pair<double, std::size_t>> sorted_;
};

/// Reads one source into one record.
class row_reader {
 public:
  row_reader(record& to, const time_event& event, record_source& in, const record_demand& demand, std::string what)
      : to_(to), event_(event), in_(in), demand_(demand), what_(std::move(what)), ids_(demand), doses_(in, event) {
    find_columns();
    to_.first.assign(static_cast<std::size_t>(demand.keys.count), 0);
    to_.end = to_.first;
    is_taken_.assign(to_.first.size(), false);
  }

  void read() {
    while (in_.next()) {
      if (doses_.is_observation()) {
        ++observations_;
        continue;
      }
      const double id = id_ ? in_.number(*id_) : 0.0;
      if (!has_group_ || id != group_) begin_group(id);
      take_row();
    }
    end_group();
    to_.rows.close();
    if (!id_) std::fill(to_.end.begin(), to_.end.end(), to_.rows.count());
    if (demand_.is_quiet) return;
    if (!unknown_.empty() && (demand_.all_match || !any_known_)) refuse_unknown();
    if (unknown_.empty() && unused_.empty() && observations_ == 0 && to_.rows.count() == 0)
      throw error(exit_usage, fmt::format("{}: must have at least one row", what_));
  }

  void remark(std::vector<std::string>& remarks) const {
    if (observations_ > 0)
      remarks.push_back(fmt::format("{}: rows with EVID 0, observations, which are skipped: {}", what_, observations_));
    if (!unknown_.empty())
      remarks.push_back(
          fmt::format("{}: ids that match no instance, and whose rows are not used: {}; the first is {} ({})", what_,
                      unknown_.size(), first_unknown_, first_unknown_location_));
    if (!unread_.empty()) remarks.push_back(fmt::format("{}: not read: {}", what_, fmt::join(unread_, ", ")));
  }

 private:
  /// A column of the model: where its number stands, or how it is made.
  struct target {
    enum class kind { own, amount, rate } which;
    std::size_t from = 0;
  };

  void find_columns() {
    id_ = either("id", "ID");
    const auto time = either("time", "TIME");
    time_ = time ? *time : in_.column("time");  // throws
    std::vector<std::size_t> used = doses_.used();
    used.push_back(time_);
    if (id_) used.push_back(*id_);
    for (const recorded_column& c : event_.columns) {
      if (c.name == "amount" && doses_.amount) {
        targets_.push_back({target::kind::amount});
      } else if (contains(in_.header(), c.name)) {
        targets_.push_back({target::kind::own, in_.column(c.name)});
        used.push_back(targets_.back().from);
      } else if (c.name == "rate" && doses_.amount) {
        targets_.push_back({target::kind::rate});
        has_rate_ = true;
      } else {
        in_.column(c.name);  // throws
      }
    }
    for (std::size_t j = 0; j < in_.header().size(); ++j)
      if (!contains(used, j)) unread_.push_back(in_.header()[j]);
  }
  place_of either(const char* name, const char* other) {
    if (contains(in_.header(), name)) return in_.column(name);
    return find(in_, other);
  }

  /// The rows of one id must stand together, so that they need not be sorted.
  void begin_group(double id) {
    end_group();
    group_ = id, has_group_ = true, last_ = -std::numeric_limits<double>::infinity();
    is_used_ = !id_;
    if (!id_) return;
    const auto again = [&] { in_.fail(*id_, "its rows must stand together: sort the data by id, and then by time"); };
    const bool is_known = ids_.each(id, [&](std::size_t key) {
      if (is_taken_[key]) again();
      is_taken_[key] = is_used_ = true;
    });
    any_known_ = any_known_ || is_known;
    if (is_known) {
      if (!is_used_ && !unused_.insert(id).second) again();
      return;
    }
    if (unknown_.empty()) first_unknown_ = id, first_unknown_location_ = in_.location(*id_);
    if (!unknown_.insert(id).second) again();
  }

  void end_group() {
    if (!has_group_ || !is_used_) return group_rows_.clear();
    const std::size_t width = to_.rows.width();
    const std::int64_t first = to_.rows.count();
    std::vector<const double*> order;
    for (std::size_t at = 0; at < group_rows_.size(); at += width) order.push_back(&group_rows_[at]);
    // Repeated doses and ends of infusions may come behind later rows; rows at one time keep the order of the data.
    if (is_expanded_) std::stable_sort(order.begin(), order.end(), [](auto* a, auto* b) { return a[0] < b[0]; });
    for (const double* row : order) to_.rows.add(row);
    if (id_) ids_.each(group_, [&](std::size_t key) { to_.first[key] = first, to_.end[key] = to_.rows.count(); });
    group_rows_.clear();
    is_expanded_ = false;
  }

  void take_row() {
    const double t = in_.number(time_);
    if (t < last_)
      in_.fail(time_, fmt::format("must not be before {}, the time of the row before: the rows of {} ascend in time",
                                  last_, id_ ? "an id" : "all instances, without a column id,"));
    if (demand_.has_start && is_used_ && t < demand_.start)
      in_.fail(time_, fmt::format("must not be before the start, {}", demand_.start));
    last_ = t;
    doses_.check();
    const double given = doses_.amount ? in_.number(*doses_.amount) : 0.0;
    const auto [more, interval] = doses_.repeats();
    const auto infusion = doses_.amount ? doses_.infused(given) : dose_columns::infusion{};
    const bool is_infused = infusion.rate > 0;
    if (is_infused && !has_rate_)
      in_.fail(doses_.infusing(),
               fmt::format("must be 0: {} has no column `rate`, which an infusion changes", event_.name));
    is_expanded_ = is_expanded_ || more > 0 || is_infused;
    for (std::int64_t k = 0; k <= more; ++k) {
      const double at = std::fma(static_cast<double>(k), interval, t);
      if (!is_infused) {
        add(at, given, 0.0);
        continue;
      }
      add(at, 0.0, infusion.rate);
      add(at + infusion.duration, 0.0, -infusion.rate);
    }
  }

  void add(double t, double amount, double rate) {
    group_rows_.push_back(t);
    for (const target& to : targets_)
      group_rows_.push_back(to.which == target::kind::own      ? in_.number(to.from)
                            : to.which == target::kind::amount ? amount
                                                               : rate);
  }

  [[noreturn]] void refuse_unknown() const {
    const auto ids =
        demand_.keys.ids.empty()
            ? fmt::format("the ids are 0 .. {}, the numbers of the {}", demand_.known - 1, demand_.numbered)
            : fmt::format("the ids are {} numbers such as {}", demand_.keys.ids.size(), demand_.keys.ids.front());
    throw error(exit_usage,
                fmt::format("{}: id {}: matches no instance, and {} other ids do not either; {}; a column id "
                            "of the swept table, or records.id, may name others",
                            first_unknown_location_, first_unknown_, unknown_.size() - 1, ids));
  }

  record& to_;
  const time_event& event_;
  record_source& in_;
  const record_demand& demand_;
  std::string what_;
  id_list ids_;
  dose_columns doses_;
  place_of id_;
  std::size_t time_ = 0;
  std::vector<target> targets_;
  std::vector<std::string> unread_;
  bool has_rate_ = false;

  // the rows of the current id
  double group_ = 0, last_ = 0;
  bool has_group_ = false, is_used_ = false, is_expanded_ = false;
  std::vector<double> group_rows_;

  std::vector<bool> is_taken_;
  std::unordered_set<double> unknown_, unused_;  ///< ids of no instance, and of rows of a sweep that are not run
  double first_unknown_ = 0;
  std::string first_unknown_location_;
  bool any_known_ = false;
  std::int64_t observations_ = 0;
};

}  // namespace

void read_rows(record& to, const time_event& event, record_source& from, const record_demand& demand,
               const std::string& what, std::vector<std::string>& remarks) {
  row_reader reader(to, event, from, demand, what);
  reader.read();
  if (!demand.is_quiet) reader.remark(remarks);
}

}  // namespace saltus::host
