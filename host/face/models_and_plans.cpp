// Models, studies, plans and runs of saltus.hpp.
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "abi/choices.hpp"
#include "abi/status.hpp"
#include "base/paths.hpp"
#include "base/toml.hpp"
#include "compile/kept_headers.hpp"
#include "compile/loaded_model.hpp"
#include "face/inside.hpp"
#include "spec/field.hpp"
#include "study/prepare.hpp"
#include "study/rerun.hpp"
#include "study/run.hpp"

namespace saltus {
namespace {

std::vector<quantity> quantities(std::span<const host::quantity> all) {
  std::vector<quantity> made;
  for (const auto& q : all) made.push_back({q.name, q.value, q.unit, q.about});
  return made;
}

std::optional<std::vector<std::string>> columns_of(const host::time_event& e) {
  if (!e.recorded) return std::nullopt;
  std::vector<std::string> names;
  for (const auto& c : e.columns) names.push_back(c.name);
  return names;
}

host::run_options options_of(const run_options& how) {
  return {.replace = how.replace, .command = {"saltus", "(" + how.caller + ")"}};
}

/// A run whose model crashes is an error.
host::run_report done(const host::plan& p, const host::run_options& how, const host::cancellation& stop,
                      const host::run_listener& listener = {}) {
  host::run_report report = host::run(p, how, stop, listener);
  if (!report.summary.crash.empty()) throw host::error(host::exit_failure, report.summary.crash);
  return report;
}

}  // namespace

result face::run_in_memory(const host::plan& p, const run_options& how, const host::cancellation& stop) {
  std::atomic<std::int64_t> ended{0}, all{0};
  const auto tell = [&] {
    if (how.progress) how.progress(ended, all);
  };
  host::run_listener listener;
  listener.begins = [&](const host::plan&, std::int64_t some, std::int64_t before) {
    all += some, ended += before;
    tell();
  };
  listener.progress = [&](std::int64_t some) {
    ended += some;
    tell();
  };
  auto asked = options_of(how);
  asked.in_memory = true;
  const auto report = done(p, asked, stop, listener);
  auto made = std::make_shared<result::inside>(result::inside{report.arrays, report.summary.counts, report.exit_code});
  for (const auto& a : report.arrays->variables()) {
    auto& names = made->dimensions.emplace_back();
    for (const auto& name : a.dimensions) names.push_back(name.c_str());
  }
  return result(std::move(made));
}

inline namespace v0 {

// ---- models

model::model(const std::string& header, std::stop_token stop)
    : inside_(face::translated([&] {
        return std::make_shared<const inside>(inside{host::load(header, face::stopping(std::move(stop)).token())});
      })) {}

description model::description() const {
  const host::model& m = inside_->m;
  saltus::description d{.name = m.name,
                        .title = m.title,
                        .source = m.source,
                        .header = m.header.string(),
                        .text = m.loaded->texts().front().content,
                        .time_unit = m.time_unit,
                        .t_begin = m.t_begin,
                        .t_end = m.t_end,
                        .states = quantities(m.states),
                        .parameters = quantities(m.parameters),
                        .outputs = quantities(m.outputs),
                        .discretes = quantities(host::declared_discretes(m)),
                        .kept = quantities(host::kept_discretes(m)),
                        .guards = {},
                        .time_events = {},
                        .tables = {}};
  for (const auto& g : m.guards)
    d.guards.push_back({g.name, name_of(g.direction), name_of(g.sidedness), g.terminal, g.about});
  for (const auto& e : m.time_events) d.time_events.push_back({e.name, e.about, columns_of(e)});
  for (const auto& t : m.tables)
    d.tables.push_back({t.name, name_of(t.between), name_of(t.beyond), t.times.size(), t.unit, t.about,
                        t.choice < 0 ? "" : host::chooser_of(m, t).name});
  return d;
}

std::vector<std::string> builtin_names() { return face::translated(host::builtin_names); }

std::string find_model(const std::string& name) {
  return face::translated([&] { return host::find_model(name).string(); });
}

std::string keep_header(const std::string& name, const std::string& text) {
  return face::translated([&] { return host::keep_header(name, text).string(); });
}

std::string header_of(const model_of_result& m, bool trusted) {
  return face::translated([&] { return host::header_of({m.result, m.name, m.text, m.file}, trusted).string(); });
}

// ---- plans

std::int64_t plan::count() const { return inside_->p.count; }

std::vector<std::string> plan::warnings() const { return inside_->p.warnings; }

void plan::set_file(const std::string& file) { inside_->p.file = file; }

void plan::check(bool replace) const {
  face::translated([&] { host::check_run(inside_->p, {.replace = replace}); });
}

result plan::run(const run_options& how) const {
  return face::translated([&] { return face::run_in_memory(inside_->p, how, face::stopping(how.stop).token()); });
}

std::int64_t plan::run_part(const std::string& part, const run_options& how) const {
  return face::translated([&] {
    auto asked = options_of(how);
    asked.mode = host::one_part(host::part_called(part));
    const auto report = done(inside_->p, asked, face::stopping(how.stop).token());
    return report.summary.instances + report.continued;
  });
}

void plan::gather(const run_options& how) const {
  face::translated([&] {
    auto asked = options_of(how);
    asked.mode = host::gathering();
    done(inside_->p, asked, face::stopping(how.stop).token());
  });
}

std::string plan::too_many_failed(const std::map<std::string, std::int64_t>& by_status) const {
  host::tally t;
  for (const status_row& row : status_table)
    if (const auto found = by_status.find(row.name); found != by_status.end())
      t.by_status[static_cast<std::size_t>(row.id)] = found->second;
  return host::too_many_failed(t, inside_->p.allowed_failed);
}

// ---- studies

class __attribute__((visibility("hidden"))) study::inside {
 public:
  enum class kind { model, file, text };
  std::string subject;
  kind is = kind::model;
  std::string folder = {};  ///< start of paths in a text; empty: the current one
  std::vector<host::flag> flags = {};
  host::given_arrays arrays = {};
  progress_function progress = {};
  host::cancellation stop = {};
  std::filesystem::path header = {};  ///< of the model that is loaded
  std::optional<host::model> loaded = {};

  host::spec_document document() const {
    host::spec_document spec = is == kind::text   ? host::from_text(subject, flags, {}, folder)
                               : is == kind::file ? host::read_spec(subject, flags)
                                                  : host::from_model(subject, flags);
    spec.arrays = arrays;
    return spec;
  }

  host::plan planned() {
    const auto spec = document();
    const auto wanted = host::model_of(spec);
    if (!loaded || header != wanted) loaded = host::load(wanted, stop), header = wanted;
    return host::plan_of(spec, *loaded);
  }
};

study::study(std::unique_ptr<inside> in) : inside_(std::move(in)) {
  face::translated([&] { inside_->document(); });
}
study::study(const std::string& what)
    : study(std::make_unique<inside>(inside{
          what, std::filesystem::path(what).extension() == ".toml" ? inside::kind::file : inside::kind::model})) {}
study study::of_file(const std::string& file) {
  return study(std::make_unique<inside>(inside{file, inside::kind::file}));
}
study study::of_text(const std::string& toml, const std::string& folder) {
  return study(std::make_unique<inside>(inside{toml, inside::kind::text, folder}));
}
study::~study() = default;
study::study(study&&) noexcept = default;

study& study::set(const std::string& key, const std::string& value) {
  inside_->flags.push_back({"--set", fmt::format("{}={}", key, value)});
  return *this;
}

study& study::array(const std::string& name, std::span<const double> values) {
  inside_->arrays[name].assign(values.begin(), values.end());
  return *this;
}

study& study::column(const std::string& name, std::span<const double> values) {
  if (values.empty()) throw error(name + ": a column must have at least one value", SALTUS_USAGE);
  array(name, values);
  return set("sweep.zip." + name, fmt::format("{{ array = {} }}", host::inline_text(toml::value<std::string>(name))));
}

std::string study::header() const {
  return face::translated([&] { return host::model_of(inside_->document()).string(); });
}

plan study::plan() {
  return face::translated(
      [&] { return saltus::plan(std::make_shared<plan::inside>(plan::inside{inside_->planned()})); });
}

plan study::plan(const model& loaded) const {
  return face::translated([&] {
    return saltus::plan(
        std::make_shared<plan::inside>(plan::inside{host::plan_of(inside_->document(), loaded.in().m)}));
  });
}

study& study::on_progress(progress_function call) {
  inside_->progress = std::move(call);
  return *this;
}

result study::run(bool replace) {
  return face::translated([&] {
    return face::run_in_memory(inside_->planned(), {.replace = replace, .progress = inside_->progress}, inside_->stop);
  });
}

void study::cancel() noexcept { inside_->stop.cancel(); }

}  // namespace v0
}  // namespace saltus
