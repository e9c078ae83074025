#include "result/schema.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include <fmt/format.h>
#include <netcdf.h>

#include "abi/counters.hpp"
#include "abi/sensitivity.hpp"
#include "abi/status.hpp"
#include "base/error.hpp"
#include "ensemble/indices.hpp"
#include "ensemble/rescue.hpp"
#include "ensemble/run_statistics.hpp"
#include "spec/read_reductions.hpp"
#include "spec/statistic_columns.hpp"

namespace saltus::host {

using detail::derived_columns;
using detail::dimension;
using detail::field;
using detail::final_values;

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

template <class Number, class Numbers>
void append(std::vector<Number>& to, const Numbers& more) {
  to.insert(to.end(), more.begin(), more.end());
}

const std::string& about(const quantity& q) { return q.about.empty() ? q.name : q.about; }

using axes = std::vector<dimension>;

dimension listed_dimension(const std::string& name, std::size_t length) {
  return {dimension::kind::listed, name, static_cast<std::int64_t>(length)};
}

/// The dimensions that a plan may have.
struct all_dimensions {
  dimension instance, time, event, statistic, outcome, input, pair;
  explicit all_dimensions(const plan& p)
      : instance{dimension::kind::instance, "instance", p.count},
        time{dimension::kind::time, "time", p.sample_count},
        event{dimension::kind::event, "event", 0},
        statistic{dimension::kind::statistic, "statistic", static_cast<std::int64_t>(statistic_names.size())},
        outcome(listed_dimension("sensitivity_outcome", p.indices.size())),
        input(listed_dimension("sensitivity_input", p.random.size())),
        pair(listed_dimension("sensitivity_pair", input_pairs(p.design, static_cast<int>(p.random.size())).size())) {}
};

/// Every variable of the file, in its order there.
class field_list : all_dimensions {
 public:
  explicit field_list(const plan& p) : all_dimensions(p), p_(p), m_(p.model) {
    inputs();
    if (p.rows) of_instances();
    if (p.tables) tables();
    if (p.records) records();
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
          axes{instance}, NC_DOUBLE, column(&chunk_data::switched));
      add("switched_to", "switched", "1", "the method that it went over to", axes{instance}, NC_UBYTE,
          column(&chunk_data::switched_to))
          .flags = {{0, "none"}, {1, p.stiff_method}, {2, p.lasting_method}};
    }
    reductions();
    if (has_sensitivity(p)) sensitivity_status();
    if (!p.sensitivities.empty()) sensitivities();
    if (p.exponents > 0) exponents();
    if (has_gradient(p)) gradient();
    if (p.sample_count > 0) samples();
    if (p.log_events) events();
  }

  field& add(std::string name, const char* role, std::string unit, std::string about, axes along, int type,
             decltype(field::numbers) numbers = {}) {
    fields_.push_back({.name = std::move(name),
                       .role = role,
                       .unit = std::move(unit),
                       .about = std::move(about),
                       .axes = std::move(along),
                       .type = type,
                       .numbers = std::move(numbers)});
    return fields_.back();
  }

  void add_fixed(std::string name, const char* role, std::string unit, std::string about, double value) {
    add(std::move(name), role, std::move(unit), std::move(about), axes{}, NC_DOUBLE).fixed = {value};
  }

  /// Without rows, the file has no varied inputs: only the spec has them.
  void inputs() {
    const auto add_varied = [&](const std::string& name, const char* role, const std::string& unit,
                                const std::string& what, auto numbers) {
      if (p_.rows) add(name, role, unit, what, axes{instance}, NC_DOUBLE, numbers);
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
        const char* const role = kind == target::kind::discrete && is_kept(m_, j) ? "kept" : "initial";
        if (varies(p_, kind, static_cast<int>(j)))
          add_varied("initial_" + q.name, role, q.unit, what, column(array, j));
        else if (j < fixed.size() && fixed[j] == fixed[j])  // NaN: the model's own value, unknown to the host
          add_fixed("initial_" + q.name, role, q.unit, what, fixed[j]);
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
      const bool of_discretes = &list == &m_.discretes;
      for (std::size_t j = 0; j < list.size(); ++j)
        add("final_" + list[j].name, of_discretes && is_kept(m_, j) ? "kept" : "final", list[j].unit,
            about(list[j]) + ", at t_final", axes{instance}, NC_DOUBLE, column(array, j));
    };
    all(m_.states, &chunk_data::final_state);
    all(m_.outputs, &chunk_data::final_output);
    all(m_.discretes, &chunk_data::final_discrete);
    add("t_final", "final", m_.time_unit, "time at which the instance ended", axes{instance}, NC_DOUBLE,
        column(&chunk_data::t_final));
  }

  void counters() {
    field& status =
        add("status", "status", "1", "how the instance ended", axes{instance}, NC_UBYTE, column(&chunk_data::status));
    for (const status_row& row : status_table) status.flags.emplace_back(static_cast<int>(row.id), row.name);
    status.unset = static_cast<long long>(saltus::status::not_run);
    add("ok", "ok", "1", "the instance is what was asked for: its status is one of those that end well", axes{instance},
        NC_UBYTE, derived_column(&derived_columns::ok))
        .truth = true;
    field& exception = add("exception", "exception", "1", "what lanes gave up with before the instance was rescued",
                           axes{instance}, NC_UBYTE, column(&chunk_data::exception));
    exception.flags = {{0, "none"}};
    for (const status_row& row : status_table)
      if (is_rescued_from(row.id, m_)) exception.flags.emplace_back(static_cast<int>(row.id), row.name);
    for (std::size_t j = 0; j < abi::counter_count; ++j) {
      const abi::counter_row& counter = abi::counter_table[j];
      if (counter.changed_by == abi::change::constraints && !has_residuals(m_)) continue;
      if (counter.changed_by == abi::change::rosenbrock && !is_counted(p_, j)) continue;
      add(counter.name, "counter", "1", counter.about, axes{instance}, NC_INT64,
          column(abi::counter_members<std::vector<long long>>[j]));
    }
  }

  void residuals() {
    add("residual", "residual", "", "largest residual of a constraint after an accepted step", axes{instance},
        NC_DOUBLE, column(&chunk_data::residual));
    field& of = add(
        "residual_of", "residual", "1",
        m_.constraints.empty() ? "state to whose equation that residual belongs" : "the constraint that residual is of",
        axes{instance}, NC_INT64, column(&chunk_data::residual_of));
    of.unset = -1;
    of.flags = {{-1, "none"}};
    for (const std::string& name : names_of_residuals(m_))
      of.flags.emplace_back(static_cast<int>(of.flags.size()) - 1, name);
    if (m_.constraints.empty()) return;
    field& dependent = add("dependent", "residual", "1",
                           "constraints that depend on each other where the instance has ended as inconsistent or at a "
                           "dead point",
                           axes{instance}, NC_INT64, column(&chunk_data::dependent));
    for (std::size_t k = 0; k < m_.constraints.size() && k < 62; ++k) dependent.bits.push_back(m_.constraints[k].name);
  }

  void reductions() {
    for (std::size_t j = 0; j < p_.reductions.size(); ++j) {
      const reduction& r = p_.reductions[j];
      add(r.name, "reduction", unit_of(r, m_), about_reduction(r, m_), axes{instance}, NC_DOUBLE,
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
    field& status = add(is_growth          ? "lyapunov_status"
                        : has_gradient(p_) ? "gradient_status"
                                           : "sensitivity_status",
                        is_growth ? "lyapunov" : "sensitivity", "1",
                        is_growth ? "whether there are exponents, or why they are NaN"
                                  : "whether the derivatives exist, or why they are NaN",
                        axes{instance}, NC_UBYTE, column(&chunk_data::sensitivity));
    for (const sensitivity_row& row : sensitivity_table) status.flags.emplace_back(static_cast<int>(row.id), row.name);
    status.unset = static_cast<long long>(saltus::sensitivity::not_ended);
  }

  void exponents() {
    const auto k = static_cast<std::size_t>(p_.exponents);
    const auto number = [&](const std::string& name, const std::string& about, std::size_t j) {
      add(name, "lyapunov", "", about, axes{instance}, NC_DOUBLE, column(&chunk_data::final_derivative, j));
    };
    for (std::size_t j = 0; j < k; ++j)
      number(fmt::format("lyapunov_{}", j + 1), fmt::format("Lyapunov exponent {}, per unit of time", j + 1), j);
    for (std::size_t j = 0; j < k; ++j)
      number(fmt::format("lyapunov_error_{}", j + 1), fmt::format("standard error of Lyapunov exponent {}", j + 1),
             k + j);
    number("lyapunov_grazings", "events met with so little speed that they may change an exponent", 2 * k);
  }

  void gradient() {
    add("objective", "sensitivity", "", "the outcome of which the gradient is", axes{instance}, NC_DOUBLE,
        column(&chunk_data::gradient));
    for (std::size_t j = 0; j < p_.gradient.size(); ++j) {
      const target& by = p_.gradient[j];
      const bool is_initial = by.which == target::kind::state;
      const std::string& name = (is_initial ? m_.states : m_.parameters)[static_cast<std::size_t>(by.index)].name;
      add(fmt::format("gradient_{}{}", is_initial ? "initial_" : "", name), "sensitivity", "",
          fmt::format("derivative of the objective by {}{}", is_initial ? "the initial value of " : "", name),
          axes{instance}, NC_DOUBLE, column(&chunk_data::gradient, 1 + j));
    }
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
      add(d.name, "sensitivity", d.unit, d.about, axes{instance}, NC_DOUBLE,
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
    auto& all = add("time", "time", m_.time_unit, "time of the sample", axes{time}, NC_DOUBLE).fixed;
    all = p_.sample_times;
    for (std::int64_t k = std::ssize(all); k < p_.sample_count; ++k)
      all.push_back(even_sample_time(p_.t_begin, p_.t_end, k, p_.sample_count));
  }

  void samples() {
    if (common_times(p_)) times();
    else
      add("sample_time", "time", m_.time_unit, "time of the sample", axes{instance, time}, NC_DOUBLE,
          derived_column(&derived_columns::sample_time));
    std::size_t j = 0;
    for (const auto* list : {&m_.states, &m_.outputs})
      for (const quantity& q : *list)
        add(q.name, "sample", q.unit, about(q), axes{instance, time}, NC_DOUBLE,
            column(&chunk_data::samples, j++, p_.sample_count));
    for (std::size_t by = 0; by < directions(p_); ++by)
      for (const auto* list : {&m_.states, &m_.outputs})
        for (const quantity& q : *list) {
          const derivative d = derivative_of(q.name, q.unit, q.name, by);
          add(d.name, "sample", d.unit, d.about, axes{instance, time}, NC_DOUBLE,
              column(&chunk_data::samples, j++, p_.sample_count));
        }
  }

  void events() {
    add("event_row_size", "event", "1", "rows of the event log that belong to the instance", axes{instance}, NC_INT64,
        derived_column(&derived_columns::row_size));
    add("event_instance", "event", "1", "index of the instance of the event", axes{event}, NC_INT64,
        derived_column(&derived_columns::instance));
    add("event_time", "event", m_.time_unit, "time of the event", axes{event}, NC_DOUBLE,
        derived_column(&derived_columns::time));
    field& guard = add("event_guard", "event", "1", "guard or time event that was due", axes{event}, NC_INT,
                       derived_column(&derived_columns::guard));
    for (const std::string& name : event_names(m_)) guard.flags.emplace_back(guard.flags.size(), name);
    if (guard.flags.empty()) guard.flags = {{-1, "none"}};  // no event is possible, but readers ask for the names
    const auto add_point = [&](const std::string& prefix, const std::string& when,
                               std::vector<std::vector<double>> derived_columns::*columns) {
      std::size_t j = 0;
      for (const auto* list : {&m_.states, &m_.outputs})
        for (const quantity& q : *list)
          if (j < logged_quantities(p_))
            add(prefix + q.name, "event", q.unit, about(q) + when, axes{event}, NC_DOUBLE,
                derived_column(columns, j++));
    };
    add_point("before_", ", before the event", &derived_columns::before);
    add_point("event_", ", after the event", &derived_columns::after);
    for (std::size_t j = 0; j < directions(p_); ++j) {
      const derivative d = derivative_of("event_time", m_.time_unit, "the time of the event", j);
      add(d.name, "event", d.unit, d.about, axes{event}, NC_DOUBLE,
          derived_column(&derived_columns::before, logged_quantities(p_) + j));
    }
  }

  void tables() {
    for (std::size_t j = 0; j < m_.tables.size(); ++j) {
      const tabulated& t = m_.tables[j];
      const knots& k = p_.tables->all()[j].knots;
      const dimension knot = listed_dimension("knot_" + t.name, k.times.size());
      axes of_values{knot};
      if (t.choice >= 0) of_values.insert(of_values.begin(), listed_dimension("curve_" + t.name, k.curves()));
      add("knot_" + t.name, "table", m_.time_unit, "time of a knot of " + t.name, axes{knot}, NC_DOUBLE).fixed =
          k.times;
      add("table_" + t.name, "table", t.unit, t.about.empty() ? t.name : t.about, of_values, NC_DOUBLE).fixed =
          k.values;
    }
  }

  /// Data from a file are named in an attribute; those that a program has passed are in the result.
  void records() {
    if (p_.rows)
      add("record_id", "record", "1", "id of the instance in the data of its records", axes{instance}, NC_DOUBLE,
          column(&chunk_data::record_id, 0));
    for (const record& r : p_.records->all())
      for (const auto& [name, numbers] : r.arrays) {
        const dimension row = listed_dimension("row_" + r.name, numbers.size());
        add(array_of_record(r, name), "rows", "", fmt::format("{} of the rows of {}", name, r.name), axes{row},
            NC_DOUBLE)
            .fixed = numbers;
      }
  }

  void statistics() {
    const auto columns = statistic_columns(p_);
    for (std::size_t j = 0; j < columns.size(); ++j)
      add("statistics_" + columns[j].name, "statistics", columns[j].unit, columns[j].about, axes{statistic}, NC_DOUBLE)
          .at_end = [j](const host::statistics& all, const sensitivity_indices&) {
        final_values values;
        if (j < all.summaries.size()) append(values.reals, statistic_numbers(all.summaries[j]));
        return values;
      };
    for (std::size_t j = 0; j < p_.histograms.size(); ++j) {
      const histogram_request& h = p_.histograms[j];
      const histogram_bins bins = {h.from, h.to, h.bins};
      const dimension bin = listed_dimension("bin_" + h.name, static_cast<std::size_t>(h.bins));
      add("histogram_" + h.name, "histogram", "1", "instances with this " + h.name, axes{bin}, NC_INT64).at_end =
          [j](const host::statistics& all, const sensitivity_indices&) {
            final_values values;
            if (j >= all.histograms.size()) return values;
            const auto& [name, ends, counts, below, above] = all.histograms[j];
            append(values.counts, counts);
            values.attributes = {{"from", ends.from}, {"to", ends.to}, {"below", below}, {"above", above}};
            return values;
          };
      auto& middle = add(bin.name, "bin", columns[static_cast<std::size_t>(h.column)].unit, "middle of the bin",
                         axes{bin}, NC_DOUBLE)
                         .fixed;
      for (int k = 0; k < h.bins; ++k) middle.push_back(0.5 * bins.edge(k) + 0.5 * bins.edge(k + 1));
    }
  }

  void bands() {
    if (!p_.rows) times();
    const auto count = static_cast<std::size_t>(p_.sample_count);
    std::size_t first = 0;
    for (const auto* list : {&m_.states, &m_.outputs})
      for (const quantity& q : *list) {
        add("statistics_" + q.name, "bands", q.unit, about(q) + ", over the instances that ended well",
            axes{time, statistic}, NC_DOUBLE)
            .at_end = [first, count](const host::statistics& all, const sensitivity_indices&) {
          final_values values;
          for (std::size_t k = first; k < first + count && k < all.bands.size(); ++k)
            append(values.reals, statistic_numbers(all.bands[k]));
          return values;
        };
        first += count;
      }
    if (p_.quantiles.empty()) return;
    const dimension quantile = listed_dimension("quantile", p_.quantiles.size());
    add("quantile", "quantile", "1", "part of the instances that are below", axes{quantile}, NC_DOUBLE).fixed =
        p_.quantiles;
    first = 0;
    for (const auto* list : {&m_.states, &m_.outputs})
      for (const quantity& q : *list) {
        add("quantiles_" + q.name, "quantiles", q.unit, about(q) + ", quantiles of the instances that ended well",
            axes{time, quantile}, NC_DOUBLE)
            .at_end = [first, count, parts = p_.quantiles](const host::statistics& all, const sensitivity_indices&) {
          final_values values;
          double error = 0;
          for (std::size_t k = first; k < first + count && k < all.values.size(); ++k) {
            for (const double part : parts) values.reals.push_back(all.values[k].quantile(part));
            error = std::max(error, all.values[k].error());
          }
          if (!values.reals.empty()) values.attributes = {{"relative_error", error}};
          return values;
        };
        first += count;
      }
  }

  void indices() {
    const auto names = index_names(p_.design);
    for (std::size_t index = 0; index < names.size(); ++index)
      for (std::size_t part = 0; part < sensitivity_parts.size(); ++part) {
        const auto& [suffix, about] = sensitivity_parts[part];
        const bool is_of_pairs = names[index] == second_order_name;
        add("sensitivity_" + names[index] + suffix, "sensitivity", "1", names[index] + about,
            axes{outcome, is_of_pairs ? pair : input}, NC_DOUBLE)
            .at_end = [index, part](const host::statistics&, const sensitivity_indices& all) {
          final_values values;
          for (const auto& one : all.outcomes)
            for (const index_estimate& e : one.indices.at(index))
              values.reals.push_back(std::array{e.value, e.low, e.high, e.left_out}[part]);
          return values;
        };
      }
  }

  const plan& p_;
  const host::model& m_;
  std::vector<field> fields_;
};

}  // namespace

std::vector<field> detail::fields_of(const plan& p) { return field_list(p).take(); }

std::vector<dimension> detail::dimensions_of(const plan& p, const std::vector<field>& fields) {
  const all_dimensions known(p);
  std::vector<dimension> all{known.instance};
  if (p.sample_count > 0) all.push_back(known.time);
  if (p.log_events) all.push_back(known.event);
  if (p.statistics) all.push_back(known.statistic);
  if (!p.indices.empty()) all.insert(all.end(), {known.outcome, known.input});
  if (known.pair.length > 0 && !p.indices.empty()) all.push_back(known.pair);
  for (const field& f : fields)
    for (const dimension& d : f.axes)
      if (std::find(all.begin(), all.end(), d) == all.end()) all.push_back(d);
  return all;
}

std::string_view detail::final_values::bytes() const {
  return counts.empty() ? std::string_view(reinterpret_cast<const char*>(reals.data()), 8 * reals.size())
                        : std::string_view(reinterpret_cast<const char*>(counts.data()), 8 * counts.size());
}

std::size_t detail::number_bytes(int type) { return type == NC_UBYTE ? 1 : type == NC_INT ? 4 : 8; }

std::size_t detail::field::row_bytes() const {
  std::size_t bytes = number_bytes();
  for (std::size_t k = 1; k < axes.size(); ++k) bytes *= static_cast<std::size_t>(axes[k].length);
  return bytes;
}

void detail::put_unset(int type, long long unset, void* to, std::size_t length) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const void* const one = type == NC_DOUBLE ? static_cast<const void*>(&nan) : &unset;
  for (std::size_t at = 0, size = number_bytes(type); at < length; at += size)
    std::memcpy(static_cast<char*>(to) + at, one, size);  // of an integer, its lower bytes
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
    // clang-format off
    std::vector<std::string> all = {
        "instance", "time", "event", "sample_time", "t_begin", "t_end", "t_final", "status", "ok", "event_time",
        "event_guard", "event_instance", "event_row_size", "exception", "residual", "residual_of", "dependent",
        "switched", "switched_to", "statistic", "sensitivity_status", "lyapunov_status",
        "lyapunov_grazings", "gradient_status", "objective"};
    // clang-format on
    for (const abi::counter_row& counter : abi::counter_table) all.emplace_back(counter.name);
    return all;
  }();
  return names;
}

}  // namespace saltus::host
