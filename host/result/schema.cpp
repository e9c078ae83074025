#include "result/schema.hpp"

#include <netcdf.h>

#include <fmt/format.h>

#include "abi/counters.hpp"
#include "abi/sensitivity.hpp"
#include "abi/status.hpp"
#include "base/error.hpp"
#include "ensemble/indices.hpp"
#include "ensemble/rescue.hpp"
#include "ensemble/statistics.hpp"
#include "spec/reductions.hpp"
#include "spec/statistic_columns.hpp"

namespace saltus::host {

using detail::derived_columns;
using detail::field;
using detail::shape;

double even_sample_time(double t_begin, double t_end, std::int64_t k, std::int64_t sample_count) {
  if (k + 1 >= sample_count) return t_end;
  return t_begin + (t_end - t_begin) * (static_cast<double>(k) / static_cast<double>(sample_count - 1));
}

namespace {

/// Are the sample times the same for all instances?
bool common_times(const plan& p) {
  return !p.sample_times.empty() || !(varies(p, target::kind::t_begin, 0) || varies(p, target::kind::t_end, 0));
}

/// Column j of an array of a chunk; `width` numbers per instance.
template <class T, class Chunk>
auto column(std::vector<T> Chunk::*array, std::size_t j = 0, std::int64_t width = 1) {
  return [=](const chunk_data& c, const derived_columns&) -> const void* {
    return (c.*array).data() + j * static_cast<std::size_t>(c.count * width);
  };
}

template <class T, class Columns>
auto derived_column(std::vector<T> Columns::*array) {
  return [=](const chunk_data&, const derived_columns& d) -> const void* { return (d.*array).data(); };
}

auto derived_column(std::vector<std::vector<double>> derived_columns::*array, std::size_t j) {
  return [=](const chunk_data&, const derived_columns& d) -> const void* { return (d.*array)[j].data(); };
}

const std::string& about(const quantity& q) { return q.about.empty() ? q.name : q.about; }

/// Every variable of the file, in its order there.
class field_list {
 public:
  explicit field_list(const plan& p) : p_(p), m_(p.model) {
    inputs();
    if (p.rows) of_instances();
    if (p.tables) tables();
    if (p.statistics) statistics();
    if (p.bands) bands();
    if (!p.indices.empty()) indices();
  }
  std::vector<field> take() { return std::move(fields_); }

 private:
  void of_instances() {
    const plan& p = p_;
    finals();
    counters();
    if (has_residuals(m_)) residuals();
    if (!p.stiff_method.empty()) {
      add("switched", "switched", m_.time_unit, "time at which the instance went over to an implicit method",
          shape::instance, NC_DOUBLE, column(&chunk_data::switched));
      add("switched_to", "switched", "1", "the method that it went over to", shape::instance, NC_UBYTE,
          column(&chunk_data::switched_to))
          .flags = {{0, "none"}, {1, p.stiff_method}, {2, p.lasting_method}};
    }
    reductions();
    if (has_sensitivity(p)) sensitivity_status();
    if (!p.sensitivities.empty()) sensitivities();
    if (p.exponents > 0) exponents();
    if (p.sample_count > 0) samples();
    if (p.log_events) events();
  }

  template <class Numbers>
  field& add(std::string name, const char* role, std::string unit, std::string about, shape s, int type,
             Numbers numbers) {
    fields_.push_back({.name = std::move(name),
                       .role = role,
                       .unit = std::move(unit),
                       .about = std::move(about),
                       .shape = s,
                       .type = type,
                       .fixed = {},
                       .flags = {},
                       .unset = 0,
                       .numbers = numbers});
    return fields_.back();
  }

  void add_fixed(std::string name, const char* role, std::string unit, std::string about, double value) {
    add(std::move(name), role, std::move(unit), std::move(about), shape::scalar, NC_DOUBLE, nullptr).fixed = {value};
  }

  /// Without rows, the file has no varied inputs: only the spec has them.
  void inputs() {
    const auto add_varied = [&](std::string name, const char* role, const std::string& unit, const std::string& what,
                                auto numbers) {
      if (p_.rows) add(std::move(name), role, unit, what, shape::instance, NC_DOUBLE, numbers);
    };
    for (std::size_t j = 0; j < m_.parameters.size(); ++j) {
      const quantity& q = m_.parameters[j];
      if (varies(p_, target::kind::parameter, static_cast<int>(j)))
        add_varied(q.name, "parameter", q.unit, about(q), column(&chunk_data::parameters, j));
      else add_fixed(q.name, "parameter", q.unit, about(q), p_.parameters[j]);
    }
    const auto add_initial = [&](const std::vector<quantity>& list, target::kind kind, const std::vector<double>& fixed,
                                 auto array) {
      for (std::size_t j = 0; j < list.size(); ++j) {
        const quantity& q = list[j];
        const std::string what = "initial value of " + q.name;
        if (varies(p_, kind, static_cast<int>(j)))
          add_varied("initial_" + q.name, "initial", q.unit, what, column(array, j));
        else if (j < fixed.size() && fixed[j] == fixed[j])  // NaN: the model's own value, unknown to the host
          add_fixed("initial_" + q.name, "initial", q.unit, what, fixed[j]);
      }
    };
    add_initial(m_.states, target::kind::state, p_.initial, &chunk_data::initial);
    add_initial(m_.discretes, target::kind::discrete, p_.discrete, &chunk_data::discrete);
    if (varies(p_, target::kind::t_begin, 0))
      add_varied("t_begin", "span", m_.time_unit, "start of the time span", column(&chunk_data::t_begin));
    else add_fixed("t_begin", "span", m_.time_unit, "start of the time span", p_.t_begin);
    if (varies(p_, target::kind::t_end, 0))
      add_varied("t_end", "span", m_.time_unit, "end of the time span", column(&chunk_data::t_end));
    else add_fixed("t_end", "span", m_.time_unit, "end of the time span", p_.t_end);
  }

  void finals() {
    const auto all = [&](const std::vector<quantity>& list, std::vector<double> chunk_data::*array) {
      for (std::size_t j = 0; j < list.size(); ++j)
        add("final_" + list[j].name, "final", list[j].unit, about(list[j]) + ", at t_final", shape::instance, NC_DOUBLE,
            column(array, j));
    };
    all(m_.states, &chunk_data::final_state);
    all(m_.outputs, &chunk_data::final_output);
    all(m_.discretes, &chunk_data::final_discrete);
    add("t_final", "final", m_.time_unit, "time at which the instance ended", shape::instance, NC_DOUBLE,
        column(&chunk_data::t_final));
  }

  void counters() {
    field& status =
        add("status", "status", "1", "how the instance ended", shape::instance, NC_UBYTE, column(&chunk_data::status));
    for (const status_row& row : status_table) status.flags.emplace_back(static_cast<int>(row.id), row.name);
    status.unset = static_cast<long long>(saltus::status::not_run);
    add("ok", "ok", "1", "the instance is what was asked for: its status is one of those that end well",
        shape::instance, NC_UBYTE, derived_column(&derived_columns::ok))
        .truth = true;
    field& exception = add("exception", "exception", "1", "what lanes gave up with before the instance was rescued",
                           shape::instance, NC_UBYTE, column(&chunk_data::exception));
    exception.flags = {{0, "none"}};
    for (const status_row& row : status_table)
      if (is_rescued_from(row.id, m_)) exception.flags.emplace_back(static_cast<int>(row.id), row.name);
    for (std::size_t j = 0; j < abi::counter_count; ++j) {
      const abi::counter_row& counter = abi::counter_table[j];
      if (counter.of == abi::counted_of::constrained_models && !has_residuals(m_)) continue;
      add(counter.name, "counter", "1", counter.about, shape::instance, NC_INT64,
          column(abi::counter_members<std::vector<long long>>[j]));
    }
  }

  void residuals() {
    add("residual", "residual", "", "largest residual of a constraint after an accepted step", shape::instance,
        NC_DOUBLE, column(&chunk_data::residual));
    field& of = add(
        "residual_of", "residual", "1",
        m_.constraints.empty() ? "state to whose equation that residual belongs" : "the constraint that residual is of",
        shape::instance, NC_INT64, column(&chunk_data::residual_of));
    of.unset = -1;
    of.flags = {{-1, "none"}};
    for (const std::string& name : names_of_residuals(m_))
      of.flags.emplace_back(static_cast<int>(of.flags.size()) - 1, name);
    if (m_.constraints.empty()) return;
    field& dependent = add("dependent", "residual", "1",
                           "constraints that depend on each other where the instance has ended as inconsistent or at a "
                           "dead point",
                           shape::instance, NC_INT64, column(&chunk_data::dependent));
    for (std::size_t k = 0; k < m_.constraints.size() && k < 62; ++k) dependent.bits.push_back(m_.constraints[k].name);
  }

  void reductions() {
    for (std::size_t j = 0; j < p_.reductions.size(); ++j) {
      const reduction& r = p_.reductions[j];
      add(r.name, "reduction", unit_of(r, m_), about_reduction(r, m_), shape::instance, NC_DOUBLE,
          column(&chunk_data::reductions, j));
    }
  }

  /// Name, unit and description of the derivative of `what` by parameter or initial value number `j`.
  struct derivative {
    std::string name, unit, about;
  };
  derivative derivative_of(const std::string& name, const std::string& unit, const std::string& what,
                           std::size_t j) const {
    const target& by = p_.sensitivities[j];
    const quantity& q =
        (by.which == target::kind::parameter ? m_.parameters : m_.states)[static_cast<std::size_t>(by.index)];
    const bool is_initial = by.which == target::kind::state;
    return {fmt::format("d_{}_d_{}{}", name, is_initial ? "initial_" : "", q.name), quotient(unit, q.unit),
            fmt::format("derivative of {} by {}{}", what, is_initial ? "the initial value of " : "", q.name)};
  }
  /// The unit of a derivative; unknown if one of the two units is.
  static std::string quotient(const std::string& of, const std::string& by) {
    if (of == by) return "1";
    if (of.empty() || by.empty()) return {};
    if (by == "1") return of;
    const bool is_simple = by.find_first_of(" */.^") == by.npos;
    return is_simple ? fmt::format("{}/{}", of, by) : fmt::format("{}/({})", of, by);
  }

  void sensitivity_status() {
    const bool is_growth = p_.exponents > 0;
    field& status =
        add(is_growth ? "lyapunov_status" : "sensitivity_status", is_growth ? "lyapunov" : "sensitivity", "1",
            is_growth ? "whether there are exponents, or why they are NaN"
                      : "whether the derivatives exist, or why they are NaN",
            shape::instance, NC_UBYTE, column(&chunk_data::sensitivity));
    for (const sensitivity_row& row : sensitivity_table) status.flags.emplace_back(static_cast<int>(row.id), row.name);
    status.unset = static_cast<long long>(saltus::sensitivity::not_ended);
  }

  void exponents() {
    const auto k = static_cast<std::size_t>(p_.exponents);
    const auto number = [&](const std::string& name, const std::string& about, std::size_t j) {
      add(name, "lyapunov", "", about, shape::instance, NC_DOUBLE, column(&chunk_data::final_derivative, j));
    };
    for (std::size_t j = 0; j < k; ++j)
      number(fmt::format("lyapunov_{}", j + 1), fmt::format("Lyapunov exponent {}, per unit of time", j + 1), j);
    for (std::size_t j = 0; j < k; ++j)
      number(fmt::format("lyapunov_error_{}", j + 1), fmt::format("standard error of Lyapunov exponent {}", j + 1),
             k + j);
    number("lyapunov_grazings", "events met with so little speed that they may change an exponent", 2 * k);
  }

  void sensitivities() {
    struct reduced {
      std::string name, unit, about;
    };
    std::vector<reduced> reductions;
    for (const field& f : fields_)
      if (std::string_view(f.role) == "reduction") reductions.push_back({f.name, f.unit, f.about});
    std::size_t k = 0;
    const auto add_final = [&](const std::string& name, const std::string& unit, const std::string& what,
                               std::size_t j) {
      const derivative d = derivative_of(name, unit, what, j);
      add(d.name, "sensitivity", d.unit, d.about, shape::instance, NC_DOUBLE,
          column(&chunk_data::final_derivative, k++));
    };
    for (std::size_t j = 0; j < directions(p_); ++j) {
      for (const auto* list : {&m_.states, &m_.outputs})
        for (const quantity& q : *list) add_final("final_" + q.name, q.unit, q.name + " at t_final", j);
      add_final("t_final", m_.time_unit, "the time at which the instance ended", j);
      for (const reduced& r : reductions) add_final(r.name, r.unit, r.about, j);
    }
  }

  void times() {
    field& time = add("time", "time", m_.time_unit, "time of the sample", shape::time, NC_DOUBLE, nullptr);
    time.fixed = p_.sample_times;
    for (std::int64_t k = static_cast<std::int64_t>(time.fixed.size()); k < p_.sample_count; ++k)
      time.fixed.push_back(even_sample_time(p_.t_begin, p_.t_end, k, p_.sample_count));
  }

  void samples() {
    if (common_times(p_)) times();
    else
      add("sample_time", "time", m_.time_unit, "time of the sample", shape::instance_time, NC_DOUBLE,
          derived_column(&derived_columns::sample_time));
    std::size_t j = 0;
    for (const auto* list : {&m_.states, &m_.outputs})
      for (const quantity& q : *list)
        add(q.name, "sample", q.unit, about(q), shape::instance_time, NC_DOUBLE,
            column(&chunk_data::samples, j++, p_.sample_count));
    for (std::size_t by = 0; by < directions(p_); ++by)
      for (const auto* list : {&m_.states, &m_.outputs})
        for (const quantity& q : *list) {
          const derivative d = derivative_of(q.name, q.unit, q.name, by);
          add(d.name, "sample", d.unit, d.about, shape::instance_time, NC_DOUBLE,
              column(&chunk_data::samples, j++, p_.sample_count));
        }
  }

  void events() {
    add("event_row_size", "event", "1", "rows of the event log that belong to the instance", shape::instance, NC_INT64,
        derived_column(&derived_columns::row_size));
    add("event_instance", "event", "1", "index of the instance of the event", shape::event, NC_INT64,
        derived_column(&derived_columns::instance));
    add("event_time", "event", m_.time_unit, "time of the event", shape::event, NC_DOUBLE,
        derived_column(&derived_columns::time));
    field& guard = add("event_guard", "event", "1", "guard or time event that was due", shape::event, NC_INT,
                       derived_column(&derived_columns::guard));
    for (const std::string& name : event_names(m_)) guard.flags.emplace_back(guard.flags.size(), name);
    if (guard.flags.empty()) guard.flags = {{-1, "none"}};  // no event is possible, but readers ask for the names
    const auto add_point = [&](const std::string& prefix, const std::string& when,
                               std::vector<std::vector<double>> derived_columns::*columns) {
      std::size_t j = 0;
      for (const auto* list : {&m_.states, &m_.outputs})
        for (const quantity& q : *list)
          if (j < logged_quantities(p_))
            add(prefix + q.name, "event", q.unit, about(q) + when, shape::event, NC_DOUBLE,
                derived_column(columns, j++));
    };
    add_point("before_", ", before the event", &derived_columns::before);
    add_point("event_", ", after the event", &derived_columns::after);
    for (std::size_t j = 0; j < directions(p_); ++j) {
      const derivative d = derivative_of("event_time", m_.time_unit, "the time of the event", j);
      add(d.name, "event", d.unit, d.about, shape::event, NC_DOUBLE,
          derived_column(&derived_columns::before, logged_quantities(p_) + j));
    }
  }

  void tables() {
    for (std::size_t j = 0; j < m_.tables.size(); ++j) {
      const tabulated& t = m_.tables[j];
      const knots& k = p_.tables->all()[j].knots;
      const auto add_numbers = [&](const std::string& name, const std::string& unit, const std::string& about,
                                   const std::vector<double>& numbers) {
        field& f = add(name, "table", unit, about, shape::knots, NC_DOUBLE, nullptr);
        f.of = static_cast<int>(j);
        f.fixed = numbers;
      };
      add_numbers("knot_" + t.name, m_.time_unit, "time of a knot of " + t.name, k.times);
      add_numbers("table_" + t.name, t.unit, t.about.empty() ? t.name : t.about, k.values);
    }
  }

  void statistics() {
    const auto columns = statistic_columns(p_);
    for (std::size_t j = 0; j < columns.size(); ++j)
      add("statistics_" + columns[j].name, "statistics", columns[j].unit, columns[j].about, shape::statistic, NC_DOUBLE,
          nullptr)
          .of = static_cast<int>(j);
    for (std::size_t j = 0; j < p_.histograms.size(); ++j) {
      const histogram_request& h = p_.histograms[j];
      const histogram_bins bins = {h.from, h.to, h.bins};
      const auto& what = columns[static_cast<std::size_t>(h.column)];
      add("histogram_" + h.name, "histogram", "1", "instances with this " + h.name, shape::bin, NC_INT64, nullptr).of =
          static_cast<int>(j);
      field& middle = add("bin_" + h.name, "bin", what.unit, "middle of the bin", shape::bin, NC_DOUBLE, nullptr);
      middle.of = static_cast<int>(j);
      for (int k = 0; k < h.bins; ++k) middle.fixed.push_back(0.5 * bins.edge(k) + 0.5 * bins.edge(k + 1));
    }
  }

  void bands() {
    if (!p_.rows) times();
    int k = 0;
    for (const auto* list : {&m_.states, &m_.outputs})
      for (const quantity& q : *list)
        add("statistics_" + q.name, "bands", q.unit, about(q) + ", over the instances that ended well",
            shape::time_statistic, NC_DOUBLE, nullptr)
            .of = k++;
    if (p_.quantiles.empty()) return;
    add("quantile", "quantile", "1", "part of the instances that are below", shape::quantile, NC_DOUBLE, nullptr)
        .fixed = p_.quantiles;
    k = 0;
    for (const auto* list : {&m_.states, &m_.outputs})
      for (const quantity& q : *list)
        add("quantiles_" + q.name, "quantiles", q.unit, about(q) + ", quantiles of the instances that ended well",
            shape::time_quantile, NC_DOUBLE, nullptr)
            .of = k++;
  }

  void indices() {
    const auto names = index_names(p_.design);
    for (std::size_t index = 0; index < names.size(); ++index)
      for (std::size_t part = 0; part < sensitivity_parts.size(); ++part) {
        const auto& [suffix, about] = sensitivity_parts[part];
        const bool is_of_pairs = names[index] == second_order_name;
        add("sensitivity_" + names[index] + suffix, "sensitivity", "1", names[index] + about,
            is_of_pairs ? shape::outcome_pair : shape::outcome_input, NC_DOUBLE, nullptr)
            .of = static_cast<int>(index * sensitivity_parts.size() + part);
      }
  }

  const plan& p_;
  const host::model& m_;
  std::vector<field> fields_;
};

}  // namespace

std::vector<field> detail::fields_of(const plan& p) { return field_list(p).take(); }

bool detail::is_index(const field& f) { return f.shape == shape::outcome_input || f.shape == shape::outcome_pair; }

std::size_t detail::size_of(int type) { return type == NC_UBYTE ? 1 : type == NC_INT ? 4 : 8; }

std::vector<std::pair<std::string, std::int64_t>> detail::axes_of(const field& f, const plan& p) {
  const std::pair<std::string, std::int64_t> instance{"instance", p.count}, time{"time", p.sample_count},
      statistic{"statistic", static_cast<std::int64_t>(statistic_names.size())},
      quantile{"quantile", std::ssize(p.quantiles)}, outcome{"sensitivity_outcome", std::ssize(p.indices)};
  const auto inputs = static_cast<int>(p.random.size());
  switch (f.shape) {
    case shape::scalar: return {};
    case shape::instance: return {instance};
    case shape::time: return {time};
    case shape::instance_time: return {instance, time};
    case shape::event: return {{"event", 0}};
    case shape::statistic: return {statistic};
    case shape::time_statistic: return {time, statistic};
    case shape::quantile: return {quantile};
    case shape::time_quantile: return {time, quantile};
    case shape::outcome_input: return {outcome, {"sensitivity_input", inputs}};
    case shape::outcome_pair: return {outcome, {"sensitivity_pair", std::ssize(input_pairs(p.design, inputs))}};
    case shape::bin: {
      const auto& h = p.histograms[static_cast<std::size_t>(f.of)];
      return {{"bin_" + h.name, h.bins}};
    }
    case shape::knots: return {{"knot_" + p.model.tables[static_cast<std::size_t>(f.of)].name, std::ssize(f.fixed)}};
  }
  return {};
}

std::vector<detail::name_list> detail::name_lists_of(const plan& p) {
  std::vector<name_list> all;
  if (p.statistics)
    all.push_back({"statistic",
                   "statistic",
                   "which number of a statistic; over the instances that ended well",
                   {statistic_names.begin(), statistic_names.end()}});
  if (p.indices.empty()) return all;
  const indices_setup setup = indices_setup_of(p);
  std::vector<std::string> outcomes, pairs;
  for (const auto& one : setup.outcomes) outcomes.push_back(one.name);
  for (const auto& [i, j] : input_pairs(setup.design, static_cast<int>(setup.inputs.size())))
    pairs.push_back(setup.inputs[static_cast<std::size_t>(i)] + " " + setup.inputs[static_cast<std::size_t>(j)]);
  all.push_back({"sensitivity_outcome", "sensitivity", "what the indices are of", outcomes});
  all.push_back({"sensitivity_input", "sensitivity", "to which input", setup.inputs});
  if (!pairs.empty()) all.push_back({"sensitivity_pair", "sensitivity", "to which two inputs", pairs});
  return all;
}

namespace {

std::vector<double> index_numbers(const field& f, const sensitivity_indices& indices) {
  const auto of = static_cast<std::size_t>(f.of);
  std::vector<double> numbers;
  for (const auto& outcome : indices.outcomes)
    for (const index_estimate& e : outcome.indices.at(of / sensitivity_parts.size()))
      numbers.push_back(std::array{e.value, e.low, e.high, e.left_out}[of % sensitivity_parts.size()]);
  return numbers;
}

std::vector<double> band_numbers(const field& f, const plan& p, const saltus::host::statistics& all) {
  std::vector<double> numbers;
  const auto times = static_cast<std::size_t>(p.sample_count), first = static_cast<std::size_t>(f.of) * times;
  for (std::size_t k = first; k < first + times; ++k) {
    if (f.shape == shape::time_statistic)
      for (const double number : statistic_numbers(all.bands.at(k))) numbers.push_back(number);
    else
      for (const double part : p.quantiles) numbers.push_back(all.values.at(k).quantile(part));
  }
  return numbers;
}

}  // namespace

detail::final_numbers detail::final_numbers_of(const field& f, const plan& p, const saltus::host::statistics& all,
                                               const sensitivity_indices& indices) {
  if (is_index(f)) return {index_numbers(f, indices), {}};  // none: they stay NaN
  if (!p.statistics) return {};
  const auto of = static_cast<std::size_t>(f.of);
  if (f.shape == shape::time_statistic || f.shape == shape::time_quantile) return {band_numbers(f, p, all), {}};
  if (f.role == "statistics") {
    const auto numbers = statistic_numbers(all.summaries.at(of));
    return {{numbers.begin(), numbers.end()}, {}};
  }
  if (f.role == "histogram") return {{}, {all.histograms.at(of).counts.begin(), all.histograms.at(of).counts.end()}};
  return {};
}

derived_columns detail::derive(const chunk_data& c, const plan& p) {
  derived_columns d;
  const auto n = static_cast<std::size_t>(c.count);
  if (p.rows)
    for (const unsigned char s : c.status) d.ok.push_back(is_ok(static_cast<status>(s)));
  if (p.sample_count > 0 && !common_times(p)) {
    d.sample_time.reserve(n * static_cast<std::size_t>(p.sample_count));
    for (std::size_t i = 0; i < n; ++i)
      for (std::int64_t k = 0; k < p.sample_count; ++k)
        d.sample_time.push_back(even_sample_time(c.t_begin[i], c.t_end[i], k, p.sample_count));
  }
  if (p.log_events) d.row_size = c.log.rows_by_slot(n);
  d.before.resize(logged_numbers(p));
  d.after.resize(logged_numbers(p));
  return d;
}

void detail::derived_columns::add(const event_row& row, std::int64_t first_id) {
  instance.push_back(first_id + row.slot);
  time.push_back(row.time);
  guard.push_back(row.guard);
  for (std::size_t j = 0; j < before.size(); ++j) {
    before[j].push_back(row.before[j]);
    after[j].push_back(row.after[j]);
  }
}

void detail::derived_columns::clear_events() {
  instance.clear();
  time.clear();
  guard.clear();
  for (auto* states : {&before, &after})
    for (auto& column : *states) column.clear();
}

const std::vector<std::string>& reserved_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = {"instance",
                                    "time",
                                    "event",
                                    "sample_time",
                                    "t_begin",
                                    "t_end",
                                    "t_final",
                                    "status",
                                    "ok",
                                    "event_time",
                                    "event_guard",
                                    "event_instance",
                                    "event_row_size",
                                    "exception",
                                    "residual",
                                    "residual_of",
                                    "dependent",
                                    "switched",
                                    "switched_to",
                                    "statistic",
                                    "sensitivity_status",
                                    "lyapunov_status",
                                    "lyapunov_grazings"};
    for (const abi::counter_row& counter : abi::counter_table) all.emplace_back(counter.name);
    return all;
  }();
  return names;
}

void check_names(const plan& p) {
  std::vector<std::pair<std::string, std::string>> taken = {{"instance", "the dimension of instances"}};
  if (p.sample_count > 0) taken.emplace_back("time", "the dimension of samples");
  if (p.log_events) taken.emplace_back("event", "the dimension of events");
  if (p.log_events && p.file.ends_with(".zarr")) taken.emplace_back("event_log", "the groups of the event log");
  if (p.statistics) taken.emplace_back("statistic", "the names of statistics");
  for (const field& f : detail::fields_of(p)) {
    if (f.shape == shape::time) continue;  // a coordinate has the name of its dimension
    const std::string what = f.role + ", " + f.about;
    for (const auto& [name, other] : taken)
      if (name == f.name)
        throw error(exit_model, fmt::format("model {}: two variables of the result file would be called `{}` ({}; {}); "
                                            "rename the state, parameter, output or discrete variable",
                                            p.model.name, name, other, what));
    taken.emplace_back(f.name, what);
  }
}

}  // namespace saltus::host
