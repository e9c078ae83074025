// [initial] from = "a.nc": a run continues a result, instance i from instance i.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/netcdf.hpp"
#include "spec/reading.hpp"

namespace saltus::host {

namespace {

/// The state of an instance that has left no number: no model can use it, so the instance ends as bad_start.
constexpr double no_number = std::numeric_limits<double>::infinity();

class continuation {
 public:
  continuation(reading& r, const field& entry)
      : r_(r),
        entry_(entry),
        path_(entry.is_table() ? entry.need("file", "must be the path of a result file") : entry),
        file_(resolve(r.spec, path_).string(), "not a result file") {
    if (entry.is_table()) entry.only({"file", "count"});
    if (!file_.has_attribute("saltus_version")) path_.fail("must be a result of saltus");
    if (!file_.find("status"))
      path_.fail(fmt::format("{} has no instances to go on from: it was made with output.rows = false", name()));
    if (const auto model = file_.text("model"); model != r.model.name)
      r.plan.warnings.push_back(fmt::format("{}: {} is a result of {}, not of {}: what has the same name goes on",
                                            path_.what(), name(), model, r.model.name));
    instances_.count = first_rows(entry, static_cast<std::int64_t>(file_.dimension("instance")), name());
  }

  void read() {
    for (std::size_t i = 0; i < r_.model.parameters.size(); ++i)
      go_on(target::kind::parameter, i, r_.model.parameters[i].name, r_.plan.parameters);
    for (std::size_t i = 0; i < r_.model.states.size(); ++i)
      go_on(target::kind::state, i, r_.model.states[i].name, r_.plan.initial);
    for (std::size_t i = 0; i < r_.model.discretes.size(); ++i)
      go_on(target::kind::discrete, i, r_.model.discretes[i].name, r_.plan.discrete);
    begin_where_they_ended();
    if (const auto* const ids = file_.find("record_id")) r_.ids = column(*ids);
    if (left_ > 0)
      r_.plan.warnings.push_back(
          fmt::format("{}: {} of {} instances have left no state to go on from, and end as bad_start; the first is {}",
                      path_.what(), left_, instances_.count, first_left_));
    const auto file = std::filesystem::path(file_.path());
    if (!contains(r_.plan.inputs, file)) r_.plan.inputs.push_back(file);
    r_.plan.axes.insert(r_.plan.axes.begin(), std::move(instances_));
  }

 private:
  std::string name() const { return path_.text(); }
  std::vector<double> column(const netcdf_variable& v) const {
    if (!v.dimensions.empty() && !v.per_instance())
      path_.fail(fmt::format("{} has another {} than a result of saltus: along {}", name(), v.name,
                             fmt::join(v.dimensions, ", ")));
    auto numbers = file_.column(v);
    if (!v.dimensions.empty()) numbers.resize(static_cast<std::size_t>(instances_.count));
    return numbers;
  }

  /// Continues one quantity, unless the spec gives its value.
  void go_on(target::kind which, std::size_t index, const std::string& quantity, std::vector<double>& fixed) {
    if (r_.given.contains(quantity)) return;
    const bool is_parameter = which == target::kind::parameter;
    const auto* const v = file_.find(is_parameter ? quantity : "final_" + quantity);
    if (!v && is_parameter) return;  // the model's own
    if (!v)
      path_.fail(fmt::format("{} has no final_{}, from which {} could go on: give it a value in [initial]", name(),
                             quantity, quantity));
    auto numbers = column(*v);
    if (v->dimensions.empty()) {
      fixed[index] = numbers[0];
      return;
    }
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (!std::isfinite(numbers[i])) leave(i, numbers[i]);
    instances_.columns.push_back({{which, static_cast<int>(index), quantity}, listed{std::move(numbers)}});
  }
  void leave(std::size_t i, double& number) {
    number = no_number;
    if (!is_left_[i]) ++left_, is_left_[i] = true;
    first_left_ = std::min(first_left_, i);
  }

  /// Continues the time, too, unless the spec has a span of its own.
  void begin_where_they_ended() {
    const auto t = r_.root.find("t");
    if (t && t->is_list()) return keep_time_of_items(*t);
    if (r_.given.contains("t_begin")) return keep_time_of_items(r_.given.at("t_begin"));
    const auto *const final_time = file_.find("t_final"), *const first_time = file_.find("t_begin");
    if (!final_time || !first_time) path_.fail(name() + " has no t_final, or no t_begin");
    auto begin = column(*final_time);
    auto before = column(*first_time);
    before.resize(begin.size(), before[0]);
    for (std::size_t i = 0; i < begin.size(); ++i)
      if (!std::isfinite(begin[i])) leave(i, begin[i]), begin[i] = before[i];
    if (!t && !r_.given.contains("t_end"))
      path_.fail(fmt::format("t must say where the run ends, such as t = {}: the instances of {} ended at {}{}",
                             2 * begin[0], name(), begin[0], is_one(begin) ? "" : " and other times"));
    if (t) check_end(*t, begin);
    r_.goes_on = true;
    r_.claim("t_begin", entry_);
    r_.plan.t_begin = begin[0];
    if (!is_one(begin)) instances_.columns.push_back({{target::kind::t_begin, 0, "t_begin"}, listed{std::move(begin)}});
  }
  /// Scheduled items are due at times of the run that has scheduled them, so a run that begins at another time cannot have them.
  void keep_time_of_items(const field& begin) const {
    for (const time_event& e : r_.model.time_events) {
      const std::string waiting = e.name + "_waiting";
      if (e.capacity == 0 || r_.given.contains(waiting)) continue;
      const auto numbers = column(*file_.find("final_" + waiting));
      if (std::all_of(numbers.begin(), numbers.end(), [](double n) { return n == 0; })) continue;
      begin.fail(
          fmt::format("must be the end alone, such as t = 20.0: {} has items of {} under way, which are due after the "
                      "times at which its instances ended; [initial] {} = 0.0 drops them",
                      name(), e.name, waiting));
    }
  }
  static bool is_one(const std::vector<double>& times) {
    return std::all_of(times.begin(), times.end(), [&](double one) { return one == times[0]; });
  }
  void check_end(const field& t, const std::vector<double>& begin) const {
    const double end = t.number();
    for (std::size_t i = 0; i < begin.size(); ++i)
      if (begin[i] == end || (begin[i] < end) != (begin[0] < end))
        t.fail(fmt::format("must lie behind the last times of all instances of {}: instance {} ended at {}{}", name(),
                           i, begin[i], i > 0 ? fmt::format(", instance 0 at {}", begin[0]) : ""));
  }

  reading& r_;
  const field& entry_;
  const field path_;
  const netcdf_file file_;
  axis instances_{{}, 0, true};
  std::int64_t left_ = 0;  ///< instances without a last state
  std::size_t first_left_ = SIZE_MAX;
  std::map<std::size_t, bool> is_left_ = {};
};

/// Instances that go on from one instance go on with its random numbers.
void warn_of_equal_draws(reading& r, const field& from) {
  if (r.model.random_key < 0 || r.plan.samples == 1) return;
  const std::string& key = r.model.discretes[static_cast<std::size_t>(r.model.random_key)].name;
  if (r.given.contains(key)) return;
  r.plan.warnings.push_back(fmt::format(
      "{}: the {} samples of an instance go on with the same random numbers; [sample] {} = {{ uniform = [0.0, "
      "65536.0] }} gives each its own",
      from.what(), r.plan.samples, key));
}

}  // namespace

std::optional<field> continued_from(const field& root) {
  const auto initial = root.find("initial");
  if (!initial || !initial->is_table()) return {};
  const auto from = initial->find("from");
  return from && (from->is_text() || from->is_table()) ? from : std::nullopt;
}

void read_from(reading& r) {
  const auto entry = continued_from(r.root);
  if (!entry) return;
  if (!r.model.delays.empty())
    entry->fail(
        fmt::format("must be left out: {} has delays ({}), and a result has no history; run it from its start to "
                    "a later end",
                    r.model.name, r.model.delays.front().name));
  try {
    continuation(r, *entry).read();
    warn_of_equal_draws(r, *entry);
  } catch (const error& e) {
    if (e.exit_code == exit_usage) throw;
    entry->fail(e.what());
  }
}

}  // namespace saltus::host
