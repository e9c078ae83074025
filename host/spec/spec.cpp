#include "spec/spec.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string_view>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/files.hpp"
#include "linear/factorised.hpp"
#include "method/list.hpp"
#include "spec/axis_values.hpp"
#include "spec/csv.hpp"
#include "spec/distribution.hpp"
#include "spec/field.hpp"
#include "spec/flags.hpp"
#include "spec/statistic_columns.hpp"

namespace saltus::host {
namespace {

using names = std::vector<std::string_view>;

constexpr std::int64_t most_instances = std::int64_t{1} << 40;
constexpr std::int64_t most_samples = 10'000'000;  // points of the time grid: a row of one instance stays in memory
constexpr std::int64_t most_bins = 100'000;        // of a histogram
constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

// method = "auto" is these two.
constexpr const char* auto_method = "dp5";
constexpr const char* auto_stiff_method = "rodas5p";

/// What a spec must know of a method.
struct method_traits {
  std::string_view name;
  int embedded_order;  ///< 0: no error estimate
  bool certifies;      ///< its error estimate holds for every right-hand side
  bool is_explicit, is_rosenbrock;
  int highest_index;  ///< of algebraic states that it can solve for
};

const std::vector<method_traits>& all_methods() {
  static const std::vector<method_traits> list = [] {
    std::vector<method_traits> r;
    methods::for_each(methods::all_methods{}, [&](auto m) {
      r.push_back(
          {m.name, m.embedded_order, methods::certifies<decltype(m)>, m.is_explicit, m.is_rosenbrock, m.highest_index});
    });
    return r;
  }();
  return list;
}

/// What a model has that dy/dt = f(t, y) has not.
const char* special_about(const model& m) {
  constexpr const char* words[] = {"", "algebraic states", "a mass matrix", "implicit equations"};
  return words[m.equations];
}

/// What speaks against a method for a model; empty if nothing does.
std::string obstacle(const method_traits& method, const model& m) {
  if (method.is_explicit && m.equations != abi::plain)
    return fmt::format("must be an implicit method, as {} has {}", m.name, special_about(m));
  if (method.highest_index < highest_index(m))
    return fmt::format("must be a method for index {0}, as {1} has algebraic states of index {0}", highest_index(m),
                       m.name);
  if (method.is_rosenbrock && m.equations == abi::implicit)
    return fmt::format("must not be a Rosenbrock method, as {} has {}", m.name, special_about(m));
  return {};
}

const method_traits& method_called(std::string_view name) {
  return *std::find_if(all_methods().begin(), all_methods().end(), [&](const auto& m) { return m.name == name; });
}

/// The methods that can solve a model.
names methods_for(const model& m) {
  names all;
  for (const auto& method : all_methods())
    if (obstacle(method, m).empty()) all.push_back(method.name);
  return all;
}

/// What a model is solved with unless its spec says otherwise.
std::string default_method(const model& m) {
  if (m.equations == abi::plain) return "dp5";
  return m.equations == abi::implicit || highest_index(m) > 1 ? "radau5" : "rodas5p";
}

template <class List, class Item>
bool contains(const List& list, const Item& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

names names_of(const std::vector<quantity>& quantities) {
  names all;
  for (const auto& quantity : quantities) all.push_back(quantity.name);
  return all;
}

names joined(names a, const names& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

int index_of(const std::vector<quantity>& quantities, std::string_view name) {
  for (std::size_t i = 0; i < quantities.size(); ++i)
    if (quantities[i].name == name) return static_cast<int>(i);
  return -1;
}

std::string read_text(const std::filesystem::path& file) {
  if (const auto what = not_a_file(file); !what.empty())
    throw error(exit_usage, fmt::format("{}: {}, not a spec", file.string(), what));
  std::ifstream in(file, std::ios::binary);
  if (!in) throw error(exit_usage, fmt::format("{}: cannot be read: {}", file.string(), std::strerror(errno)));
  return std::string(std::istreambuf_iterator<char>(in), {});
}

bool is_path(std::string_view model) { return model.find('/') != model.npos || model.ends_with(".hpp"); }

/// A path in the spec: from the folder of the file, or from the current one if a flag has set it.
std::filesystem::path resolve(const spec_document& spec, const field& entry) {
  const std::filesystem::path path = entry.text();
  return entry.flagged() ? path : spec.file.parent_path() / path;
}

void read_model(spec_document& spec) {
  const auto merged = merge(spec, nullptr);
  const field root(merged);
  root.only(top_keys);
  const auto model = root.need("model", "must be the name of a built-in model, or the path of a header");
  spec.model = model.text();
  spec.model_place = model.what();
  if (is_path(spec.model)) spec.model_header = resolve(spec, model);
}

/// Root table as TOML: values, then one section for each table.
std::string document_text(const field& root) {
  std::string values, sections;
  for (const auto& entry : root.entries()) {
    if (!entry.is_table()) {
      values += fmt::format("{} = {}\n", entry.key(), entry.value());
      continue;
    }
    sections += fmt::format("\n[{}]\n", entry.key());
    for (const auto& inner : entry.entries()) sections += fmt::format("{} = {}\n", inner.key(), inner.value());
  }
  return values + sections;
}

// ---- distributions

/// { normal = [0.8, 0.05], min = 0.0, max = 1.0 }
distribution read_law(const field& entry) {
  constexpr double least = 1e-3;  // sampled by rejection: what is left must not be rare
  names allowed;
  for (const auto& law : laws) allowed.push_back(law.name);
  if (!entry.is_table()) entry.fail("must be a distribution such as { uniform = [0.0, 1.0] }; " + suggest("", allowed));
  entry.only(joined(allowed, {"min", "max"}));

  std::optional<distribution> law;
  for (const auto& known : laws) {
    const auto given = entry.find(known.name);
    if (!given) continue;
    if (law) entry.fail("must have one distribution, not two");
    const auto numbers = given->numbers(known.arity, known.allowed);
    law = distribution{known.which, numbers[0], numbers[1], known.arity > 2 ? numbers[2] : 0};
    if (!is_law(*law)) given->fail(known.allowed);
  }
  if (!law) entry.fail("must have a distribution; " + suggest("", allowed));

  if (const auto min = entry.find("min")) law->min = min->number();
  if (const auto max = entry.find("max")) law->max = max->number();
  if (law->min >= law->max) entry.fail("min must be smaller than max");
  const double left = cumulative(*law, law->max) - cumulative(*law, law->min);
  if (!(left >= least))
    entry.fail(fmt::format("min and max must leave at least {} of the probability; they leave {:.1e}", least, left));
  return *law;
}

// ---- the plan

/// Fills a plan, section by section; an error ends it.
class builder {
 public:
  builder(const spec_document& spec, const model& model, const field& root) : spec_(spec), model_(model), root_(root) {
    plan_.model = model;
    if (!spec.file.empty()) plan_.inputs.push_back(spec.file);
    for (const auto& parameter : model.parameters) plan_.parameters.push_back(parameter.value);
    plan_.initial.assign(model.states.size(), std::numeric_limits<double>::quiet_NaN());
    plan_.t_begin = model.t_begin;
    plan_.t_end = model.t_end;
  }

  plan build() {
    root_.only(top_keys);
    read_integration();
    read_events();
    read_fixed();
    read_sweep();
    read_random();
    count_instances();
    check_span();
    read_output();
    read_run();
    plan_.text = document_text(root_);
    return std::move(plan_);
  }

 private:
  void read_integration() {
    read_method();
    if (const auto e = root_.find("controller")) plan_.controller = e->word({"elementary", "pi", "h211b"});
    if (const auto e = root_.find("norm")) plan_.norm = e->word({"rms", "max", "compere"});
    if (const auto e = root_.find("precision")) plan_.precision = e->word({"double", "float"});
    if (const auto e = root_.find("rtol")) plan_.rtol = e->positive();
    read_atol();
    if (const auto e = root_.find("event_tol")) plan_.event_tol = e->not_negative();
    if (const auto e = root_.find("first_step")) plan_.first_step = e->not_negative();
    if (const auto e = root_.find("max_step")) plan_.max_step = e->positive();
    if (const auto e = root_.find("step")) {
      plan_.fixed_step = e->positive();
      if (!plan_.stiff_method.empty())
        e->fail("must be left out with the method auto, which goes by the steps that the error control asks for");
    }
    if (plan_.fixed_step == 0) warn_of_rounding();
    if (const auto e = root_.find("max_steps")) plan_.max_steps = e->whole(1, unlimited);
    if (const auto e = root_.find("max_events")) plan_.max_events = e->whole(1, unlimited);
    if (method_called(plan_.method).embedded_order == 0 && plan_.fixed_step == 0)
      root_.find("method")->fail("has no error estimate: must come with step, the constant step size");
    read_consistency();
    if (const auto e = root_.find("t")) {
      const auto t = e->numbers(2, "must be [begin, end]");
      if (t[0] == t[1] || !std::isfinite(t[1] - t[0]))
        e->fail("must be [begin, end] with begin < end, or begin > end to run backward");
      plan_.t_begin = t[0], plan_.t_end = t[1];
    }
  }

  /// Below some tens of roundings the error estimate is rounding itself: steps shrink and nothing becomes more exact.
  void warn_of_rounding() {
    const bool is_float = plan_.precision == "float";
    const double least = is_float ? 1e-6 : 1e-14;
    const auto rtol = root_.find("rtol");
    if (!rtol || plan_.rtol >= least) return;
    plan_.warnings.push_back(fmt::format(
        "{}: below {:g} the rounding of {} numbers is larger than the errors that are to be kept: steps become "
        "shorter, results no better",
        rtol->what(), least, plan_.precision));
  }

  void read_method() {
    plan_.method = default_method(model_);
    const auto e = root_.find("method");
    if (!e) return;
    names known;
    for (const auto& method : all_methods()) known.push_back(method.name);
    const bool is_auto = e->word(joined(known, {"auto"})) == "auto";
    plan_.method = is_auto ? auto_method : e->text();
    plan_.stiff_method = is_auto ? auto_stiff_method : "";
    if (const auto why = obstacle(method_called(plan_.method), model_); !why.empty())
      e->fail(fmt::format("{}; {}", why, suggest("", methods_for(model_))));
  }

  void read_consistency() {
    constexpr std::pair<std::string_view, abi::consistency> ways[] = {
        {"algebraic", abi::algebraic}, {"nearest", abi::nearest}, {"given", abi::given}};
    const auto e = root_.find("consistency");
    if (!e) return;
    names known;
    for (const auto& way : ways) known.push_back(way.first);
    const auto word = e->word(known);
    if (!has_constraints(model_))
      e->fail(fmt::format("must be left out, as {} has no constraints to be consistent with", model_.name));
    if (word == "nearest" && model_.equations != abi::semi_explicit)
      e->fail(fmt::format("must be algebraic or given, as {} has {}", model_.name, special_about(model_)));
    plan_.consistency =
        std::find_if(std::begin(ways), std::end(ways), [&](auto& w) { return w.first == word; })->second;
  }

  void read_events() {
    if (const auto e = root_.find("detection")) {
      plan_.detection = e->word({"hermite", "certified"});
      if (plan_.detection == "certified" && !certifies(plan_.method)) {
        names able;
        for (const auto& method : all_methods())
          if (method.certifies) able.push_back(method.name);
        e->fail(fmt::format("needs a method whose error estimate holds for every right-hand side, and {} has none; {}",
                            plan_.method, suggest("", able)));
      }
    }
    if (const auto e = root_.find("guards_in_error")) {
      plan_.guards_in_error = e->boolean();
      if (plan_.guards_in_error && plan_.fixed_step > 0) e->fail("must be false with step, which has no error control");
    }
    if (const auto e = root_.find("concurrency")) {
      e->only({"time", "value"});
      plan_.concurrency_time = e->need("time", "must be a span of time").positive();
      plan_.concurrency_value = e->need("value", "must be a distance from zero, in the units of the guards").positive();
    }
    if (const auto e = root_.find("zeno")) plan_.zeno = e->share("must be a part of the time span, from 0 to 1");
    if (const auto e = root_.find("rescue")) plan_.rescue = e->boolean();
    if (const auto e = root_.find("inject_exceptions"))
      plan_.inject_exceptions = e->share("must be a share of all instances, from 0 to 1");
  }

  /// A number, a list with one per state, or a table by state name with a `default`.
  void read_atol() {
    plan_.atol.assign(model_.states.size(), plan_.rtol);
    const auto atol = root_.find("atol");
    if (!atol) return;
    if (atol->is_list()) {
      const auto items = atol->items();
      if (items.size() != model_.states.size())
        atol->fail(fmt::format("must have one number for each state: {}", fmt::join(names_of(model_.states), ", ")));
      for (std::size_t i = 0; i < items.size(); ++i) plan_.atol[i] = items[i].positive();
    } else if (atol->is_table()) {
      atol->only(joined({"default"}, names_of(model_.states)));
      if (const auto e = atol->find("default")) plan_.atol.assign(model_.states.size(), e->positive());
      for (const auto& e : atol->entries())
        if (e.key() != "default") plan_.atol[index_of(model_.states, e.key())] = e.positive();
    } else {
      plan_.atol.assign(model_.states.size(), atol->positive());
    }
  }

  /// A name may be given a value in one place only.
  void claim(const field& entry) {
    const auto [first, fresh] = given_.emplace(entry.key(), entry);
    if (!fresh)
      entry.fail(fmt::format("{} must have one value, but has another at {} ({})", entry.key(), first->second.place(),
                             first->second.name()));
  }

  void read_fixed() {
    const auto read = [&](const char* section, const std::vector<quantity>& quantities, std::vector<double>& values) {
      const auto table = root_.find(section);
      if (!table) return;
      table->only(names_of(quantities));
      for (const auto& entry : table->entries()) {
        claim(entry);
        values[index_of(quantities, entry.key())] = entry.number();
      }
    };
    read("parameters", model_.parameters, plan_.parameters);
    read("initial", model_.states, plan_.initial);
  }

  /// What an entry of [sweep] or [sample] varies; `others` are the further keys of its section, for the message.
  target target_of(const field& entry, bool times, const names& others) {
    claim(entry);
    const auto& name = entry.key();
    if (const int i = index_of(model_.parameters, name); i >= 0) return {target::kind::parameter, i, name};
    if (const int i = index_of(model_.states, name); i >= 0) return {target::kind::state, i, name};
    if (times && name == "t_begin") return {target::kind::t_begin, 0, name};
    if (times && name == "t_end") return {target::kind::t_end, 0, name};
    const auto allowed = joined(joined(others, names_of(model_.parameters)), names_of(model_.states));
    entry.fail_key(fmt::format("not a parameter or state of {}; {}", model_.name,
                               suggest(name, times ? joined(allowed, {"t_begin", "t_end"}) : allowed)));
  }

  /// [1.0, 2.0], { from, to, count, scale } or { csv, column, count }
  std::variant<listed, ranged> read_values(const field& entry) {
    if (entry.is_list()) {
      auto values = entry.numbers();
      if (values.empty()) entry.fail("must have at least one value");
      return listed{std::move(values)};
    }
    if (!entry.is_table()) entry.fail("must be a list, { from, to, count, scale } or { csv, column, count }");
    if (entry.find("csv") || entry.find("column")) {
      entry.only({"csv", "column", "count"});
      const auto csv = entry.need("csv", "must be the path of a CSV file");
      const auto column = entry.need("column", "must be the name of a column of the CSV file");
      const auto file = resolve(spec_, csv);
      auto values = read_csv_column(file, column.text(), entry.what());
      if (!contains(plan_.inputs, file)) plan_.inputs.push_back(file);
      if (const auto count = entry.find("count")) {
        const auto rows = static_cast<std::int64_t>(values.size());
        const auto some = count->whole(1, most_instances);
        if (some > rows) count->fail(fmt::format("must be at most {}, the number of rows of {}", rows, csv.text()));
        values.resize(static_cast<std::size_t>(some));
      }
      return listed{std::move(values)};
    }
    entry.only({"from", "to", "count", "scale"});
    const auto from = entry.need("from", "must be the first value of the range");
    const auto to = entry.need("to", "must be the last value of the range");
    const auto count = entry.need("count", "must be the number of values of the range");
    ranged range{from.number(), to.number(), count.whole(1, most_instances), false};
    if (const auto scale = entry.find("scale")) range.logarithmic = scale->word({"linear", "log"}) == "log";
    if (range.logarithmic) {
      constexpr auto allowed = "must be a positive number, as the scale is log";
      if (range.from <= 0) from.fail(allowed);
      if (range.to <= 0) to.fail(allowed);
    } else if (!std::isfinite((range.to - range.from) * static_cast<double>(range.count))) {
      entry.fail("from and to must be nearer to each other: their distance overflows");
    }
    return range;
  }

  static std::int64_t length(const std::variant<listed, ranged>& values) {
    if (const auto* list = std::get_if<listed>(&values)) return static_cast<std::int64_t>(list->values.size());
    return std::get<ranged>(values).count;
  }

  axis read_axis(const std::vector<field>& entries, const names& others) {
    axis axis;
    for (const auto& entry : entries) {
      axis.columns.push_back({target_of(entry, true, others), read_values(entry)});
      const auto count = length(axis.columns.back().values);
      if (axis.columns.size() == 1) axis.count = count;
      if (count != axis.count)
        entry.fail(
            fmt::format("must have as many values as {}, that is {}; it has {}", entries[0].name(), axis.count, count));
    }
    return axis;
  }

  void read_sweep() {
    const auto sweep = root_.find("sweep");
    if (!sweep) return;
    if (sweep->entries().empty()) sweep->fail("must have at least one entry");
    for (const auto& entry : sweep->entries()) {
      if (entry.key() != "zip") {
        plan_.axes.push_back(read_axis({entry}, {"zip"}));
        continue;
      }
      if (!entry.is_table() && !entry.is_list()) entry.fail("must be a table, or a list of tables");
      for (const auto& group : entry.is_list() ? entry.items() : std::vector{entry}) {
        if (group.entries().empty()) group.fail("must have at least one entry");
        plan_.axes.push_back(read_axis(group.entries(), {}));
      }
    }
  }

  void read_random() {
    const auto sample = root_.find("sample");
    if (!sample) return;
    for (const auto& entry : sample->entries()) {
      if (entry.key() == "count") plan_.samples = entry.whole(1, most_instances);
      else if (entry.key() == "seed") plan_.seed = static_cast<std::uint64_t>(entry.whole(0, unlimited));
      else plan_.random.push_back({target_of(entry, false, {"count", "seed"}), read_law(entry)});
    }
    if (!plan_.random.empty()) sample->need("count", "must be the number of samples");
  }

  void count_instances() {
    plan_.count = plan_.samples;
    for (const auto& axis : plan_.axes) {
      if (axis.count > most_instances / plan_.count)
        root_.find("sweep")->fail(fmt::format("must make at most {} instances, samples included", most_instances));
      plan_.count *= axis.count;
    }
  }

  struct swept_time {
    const axis* on = nullptr;  ///< null: not swept
    const axis::column* column = nullptr;
  };

  swept_time find_time(target::kind which) const {
    for (const auto& axis : plan_.axes)
      for (const auto& column : axis.columns)
        if (column.what.which == which) return {&axis, &column};
    return {};
  }

  /// All instances must run the same way, forward or backward in time. Leaves the hull of all spans in first_ and last_.
  void check_span() {
    const auto begin = find_time(target::kind::t_begin);
    const auto end = find_time(target::kind::t_end);
    const auto begin_at = [&](std::int64_t i) { return begin.on ? value_at(*begin.column, i) : plan_.t_begin; };
    const auto end_at = [&](std::int64_t i) { return end.on ? value_at(*end.column, i) : plan_.t_end; };
    first_ = begin_at(0), last_ = end_at(0);
    plan_.backward = first_ > last_;
    one_span_ = !begin.on && !end.on;
    const auto check = [&](double t_begin, double t_end) {
      if (is_before(t_begin, t_end)) return;
      given_.at(end.on ? "t_end" : "t_begin")
          .fail(fmt::format("must leave t_begin < t_end in every instance, or t_begin > t_end in every one; one would "
                            "have {} and {}",
                            t_begin, t_end));
    };
    if (one_span_) return;

    double last_begin = first_, first_end = last_;
    for (std::int64_t i = 0; begin.on && i < begin.on->count; ++i) {
      if (is_before(begin_at(i), first_)) first_ = begin_at(i);
      if (is_before(last_begin, begin_at(i))) last_begin = begin_at(i);
    }
    for (std::int64_t i = 0; end.on && i < end.on->count; ++i) {
      if (is_before(last_, end_at(i))) last_ = end_at(i);
      if (is_before(end_at(i), first_end)) first_end = end_at(i);
    }
    if (begin.on != end.on) return check(last_begin, first_end);  // each begin meets each end
    for (std::int64_t i = 0; i < begin.on->count; ++i) check(begin_at(i), end_at(i));
  }
  /// In the direction of the run.
  bool is_before(double a, double b) const { return plan_.backward ? a > b : a < b; }

  void read_output() {
    const auto output = root_.find("output");
    if (!output) return;
    output->only({"file", "samples", "events", "reduce", "compression", "rows", "statistics", "histogram"});
    if (const auto e = output->find("file")) plan_.file = e->text();
    if (const auto e = output->find("samples")) read_time_grid(*e);
    if (const auto e = output->find("events")) plan_.log_events = e->boolean();
    if (const auto e = output->find("reduce")) read_reductions(*e);
    if (const auto e = output->find("compression")) plan_.compression = static_cast<int>(e->whole(0, 9));
    read_statistics(*output);
  }

  /// Statistics are made if asked for, or if something needs them.
  void read_statistics(const field& output) {
    const auto rows = output.find("rows"), statistics = output.find("statistics"), histogram = output.find("histogram");
    if (rows) plan_.rows = rows->boolean();
    plan_.statistics = statistics ? statistics->boolean() : histogram || !plan_.rows;
    if (!plan_.rows && !plan_.statistics)
      rows->fail("must be true without statistics, or nothing of the instances would be kept");
    if (!plan_.rows && (plan_.sample_count > 0 || plan_.log_events))
      rows->fail("must be true with samples or events, which are kept for each instance");
    if (!histogram) return;
    if (!plan_.statistics) statistics->fail("must be true with a histogram");
    read_histograms(*histogram);
  }

  /// { final_lift = { from = 0.0, to = 1.0, bins = 50 } }
  void read_histograms(const field& table) {
    const auto columns = statistic_columns(plan_);
    names allowed;
    for (const auto& column : columns) allowed.push_back(column.name);
    table.only(allowed);
    for (const auto& e : table.entries()) {
      e.only({"from", "to", "bins"});
      const auto from = e.need("from", "must be the lower end of the first bin");
      const auto to = e.need("to", "must be the upper end of the last bin");
      const auto bins = e.need("bins", "must be their number");
      plan_.histograms.push_back({e.key(), statistic_column_called(plan_, e.key()), from.number(), to.number(),
                                  static_cast<int>(bins.whole(1, most_bins))});
      const auto& h = plan_.histograms.back();
      const double width = (h.to - h.from) / h.bins;
      if (!(h.from < h.to) || !std::isfinite(h.to - h.from) || h.from + width == h.from || h.to - width == h.to)
        e.fail("must have from < to, so far apart that the edges of its bins differ");
    }
  }

  /// { count = 401 }, { times = [0.0, 1.0] } or { step = 0.1 }
  void read_time_grid(const field& samples) {
    samples.only({"count", "times", "step"});
    if (samples.entries().size() != 1) samples.fail("must have one of count, times, step");
    if (const auto count = samples.find("count")) {
      plan_.sample_count = count->whole(2, most_samples);
    } else if (const auto times = samples.find("times")) {
      plan_.sample_times = times->numbers();
      const auto& t = plan_.sample_times;
      const auto turn = [this](double a, double b) { return !is_before(a, b); };
      if (t.empty() || std::adjacent_find(t.begin(), t.end(), turn) != t.end() || is_before(t.front(), first_) ||
          is_before(last_, t.back()))
        times->fail(fmt::format("must be {} times from {} to {}, at least one",
                                plan_.backward ? "decreasing" : "increasing", first_, last_));
    } else {
      const auto step = *samples.find("step");
      const double size = step.positive();
      const double length = std::abs(plan_.t_end - plan_.t_begin);
      if (!one_span_) step.fail("must be replaced by count or times, as the time span differs between instances");
      if (length / size >= static_cast<double>(most_samples))
        step.fail(fmt::format("must be larger: at most {} times are kept", most_samples));
      // The slack lets a step that divides the span up to rounding reach its end.
      const auto last = static_cast<std::int64_t>(length / size * (1 + 1e-12));
      for (std::int64_t i = 0; i <= last; ++i) {
        const double t = plan_.t_begin + static_cast<double>(i) * (plan_.backward ? -size : size);
        plan_.sample_times.push_back(is_before(plan_.t_end, t) ? plan_.t_end : t);
      }
    }
    if (!plan_.sample_times.empty()) plan_.sample_count = static_cast<std::int64_t>(plan_.sample_times.size());
  }

  /// ["max(pressure)"]
  void read_reductions(const field& list) {
    constexpr std::pair<std::string_view, reduction::kind> kinds[] = {{"min", reduction::kind::min},
                                                                      {"max", reduction::kind::max},
                                                                      {"mean", reduction::kind::mean},
                                                                      {"integral", reduction::kind::integral}};
    const auto quantities = joined(names_of(model_.states), names_of(model_.outputs));
    for (const auto& item : list.items()) {
      const auto text = item.text();
      const auto open = text.find('(');
      const auto of = open == text.npos || text.back() != ')' ? "" : text.substr(open + 1, text.size() - open - 2);
      const auto kind = std::find_if(std::begin(kinds), std::end(kinds),
                                     [&](const auto& known) { return known.first == text.substr(0, open); });
      if (kind == std::end(kinds) || of.empty())
        item.fail("must be min(name), max(name), mean(name) or integral(name) of a state or an output");
      if (!contains(quantities, of)) item.fail(of + " is not a state or an output; " + suggest(of, quantities));
      for (const auto& other : plan_.reductions)
        if (other.name == text) item.fail("must not be listed twice");
      const int state = index_of(model_.states, of);
      plan_.reductions.push_back({kind->second, state < 0, state < 0 ? index_of(model_.outputs, of) : state, text});
    }
  }

  /// The matrices of an implicit step, one for every lane, lie on a thread's stack.
  void check_matrices_fit(const field& lanes) const {
    constexpr std::int64_t stack = std::int64_t{4} << 20, of_one = 4 * sizeof(double);
    const auto states = static_cast<std::int64_t>(model_.states.size());
    if (method_called(plan_.method).is_explicit && plan_.stiff_method.empty()) return;
    if (plan_.lanes * states * states * of_one > stack)
      lanes.fail(fmt::format("must be at most {} with {} states and an implicit method: their matrices would not fit",
                             std::max<std::int64_t>(1, stack / (states * states * of_one)), states));
  }

  void read_backend(const field& e) {
    plan_.backend = e.word({"auto", "cpu", "cuda", "all"});
    if (plan_.backend != "all") return;
    // It must not matter to an instance who takes it.
    const bool is_explicit = method_called(plan_.method).is_explicit;
    const bool apart = model_.states.size() > static_cast<std::size_t>(most_rows_in_lanes);
    if (!model_.arithmetic)
      e.fail(fmt::format("must be cpu or cuda: {} calls functions whose last bits differ between them", model_.name));
    if (!is_explicit && apart)
      e.fail(
          fmt::format("must be cpu or cuda: beyond {} states they solve linear equations in different ways, and last "
                      "bits differ",
                      most_rows_in_lanes));
  }

  /// "all", or the numbers of some.
  void read_devices(const field& e) {
    constexpr std::int64_t highest = 1023;
    if (plan_.backend == "cpu") e.fail("must be left out with the backend cpu");
    if (!e.is_list()) {
      e.word({"all"});
      return;
    }
    for (const field& item : e.items()) {
      const int number = static_cast<int>(item.whole(0, highest));
      if (std::find(plan_.devices.begin(), plan_.devices.end(), number) != plan_.devices.end())
        item.fail("must be there once");
      plan_.devices.push_back(number);
    }
    if (plan_.devices.empty()) e.fail("must be \"all\", or a list of one number or more");
  }

  /// More threads than cores only wait for each other, and each has lanes and chunks of its own.
  void read_threads(const field& e) {
    constexpr std::int64_t per_core = 4;
    const std::int64_t cores = std::max(1u, std::thread::hardware_concurrency());
    plan_.threads = static_cast<int>(e.whole(0, 4096));
    if (plan_.threads > per_core * cores)
      e.fail(fmt::format("must be at most {}, {} for each of the {} cores here; 0: all cores", per_core * cores,
                         per_core, cores));
  }

  void read_run() {
    const auto run = root_.find("run");
    if (!run) return;
    run->only({"backend", "devices", "threads", "lanes", "groups", "chunk", "order", "allowed_failed",
               "instance_time_limit"});
    if (const auto e = run->find("backend")) read_backend(*e);
    if (const auto e = run->find("devices")) read_devices(*e);
    if (const auto e = run->find("threads")) read_threads(*e);
    if (const auto e = run->find("lanes")) {
      plan_.lanes = static_cast<int>(e->whole(0, 32));
      if ((plan_.lanes & (plan_.lanes - 1)) != 0) e->fail("must be 0 (as wide as the machine), 1, 2, 4, 8, 16 or 32");
      check_matrices_fit(*e);
    }
    if (const auto e = run->find("groups")) plan_.groups = static_cast<int>(e->whole(0, 4));
    if (const auto e = run->find("chunk")) plan_.chunk = e->whole(0, most_instances);
    if (const auto e = run->find("order")) plan_.by_work = e->word({"work", "id"}) == "work";
    if (const auto e = run->find("allowed_failed"))
      plan_.allowed_failed = e->share("must be a share of all instances, from 0 to 1");
    if (const auto e = run->find("instance_time_limit")) {
      plan_.instance_time_limit = e->positive();
      if (plan_.backend == "cuda" || plan_.backend == "all")
        e->fail("must be left out with a device, which cannot end one instance of many: use max_steps");
      // Devices are not looked for: they do not watch the time.
      plan_.backend = "cpu";
    }
  }

  const spec_document& spec_;
  const model& model_;
  const field& root_;
  plan plan_;
  std::map<std::string, field> given_;  ///< where each parameter, state or time has its value
  double first_ = 0, last_ = 0;         ///< the hull of all time spans, in the direction of the run
  bool one_span_ = true;                ///< the same for every instance
};

}  // namespace

spec_document read_spec(const std::filesystem::path& file, std::vector<flag> flags) {
  spec_document spec{file, read_text(file), std::move(flags), {}, {}, {}};
  read_model(spec);
  return spec;
}

spec_document from_model(const std::string& name, std::vector<flag> flags) {
  const auto text = fmt::format("model = {}\n", inline_text(toml::value<std::string>(name)));
  spec_document spec{{}, text, std::move(flags), {}, {}, {}};
  read_model(spec);
  return spec;
}

bool certifies(std::string_view method) { return method_called(method).certifies; }

plan validate(const spec_document& spec, const host::model& model) {
  const auto merged = merge(spec, &model);
  const field root(merged);
  return builder(spec, model, root).build();
}

}  // namespace saltus::host
