// saltus run.

#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "abi/status.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "compile/compiling_note.hpp"
#include "ensemble/model_call.hpp"
#include "ensemble/run_statistics.hpp"
#include "result/format.hpp"
#include "study/rerun.hpp"
#include "study/run.hpp"

namespace saltus::host {

namespace {

json statistics_json(const statistics& s) {
  json all = json::object();
  for (std::size_t j = 0; j < s.columns.size(); ++j) {
    json one = json::object();
    const auto numbers = statistic_numbers(s.summaries[j]);
    for (std::size_t k = 0; k < numbers.size(); ++k) one[statistic_names[k]] = numbers[k];
    all[s.columns[j].name] = std::move(one);
  }
  return all;
}

json histograms_json(const statistics& s) {
  json all = json::object();
  for (const auto& h : s.histograms) {
    all[h.name] =
        json{{"from", h.bins.from}, {"to", h.bins.to}, {"counts", h.counts}, {"below", h.below}, {"above", h.above}};
  }
  return all;
}

void print_statistics(const statistics& s) {
  if (s.columns.empty()) return;
  tell("  over those that ended well:\n  {:<24} {:>12} {:>12} {:>12} {:>12}\n", "", "mean", "deviation", "min", "max");
  for (std::size_t j = 0; j < s.columns.size(); ++j) {
    const auto n = statistic_numbers(s.summaries[j]);  // in the order of statistic_names
    tell("  {:<24} {:>12.6g} {:>12.6g} {:>12.6g} {:>12.6g}\n", s.columns[j].name, n[1], n[2], n[3], n[4]);
  }
}

json guards_json(const plan& p, const tally& counts) {
  json all = json::object();
  for (std::size_t i = 0; i < counts.guards.size(); ++i)
    all[p.model.guards[i].name] = json{{"fired", counts.guards[i].fired},
                                       {"began_beyond", counts.guards[i].began_beyond},
                                       {"crossed_against", counts.guards[i].crossed_against}};
  return all;
}

/// Number of instances that this run integrated; an earlier run left the others in a journal.
std::int64_t integrated(const run_summary& s) {
  std::int64_t sum = 0;
  for (const part_of_run& part : s.parts) sum += part.instances;
  return sum;
}

json summary_json(const run_report& r) {
  const plan& p = r.what;
  const run_summary& s = r.summary;
  const auto named = [](const auto& counts) {
    json by = json::object();
    for (const auto& row : status_table)
      if (const auto n = counts[static_cast<std::size_t>(row.id)]; n > 0) by[row.name] = n;
    return by;
  };
  json parts = json::array();
  for (const part_of_run& part : s.parts)
    parts.push_back(json{{"device", part.device},
                         {"instances", part.instances},
                         {"chunks", part.chunks},
                         {"chunk_seconds", part.chunk_seconds}});
  json all{{"model", p.model.name},
           {"method", method_name(p)},
           {"instances", s.instances},
           {"part", text_of(r.part)},
           {"status", named(s.counts.by_status)},
           {"ok", s.counts.ok()},
           {"rescued", s.counts.rescued()},
           {"rescued_from", named(s.counts.by_rescue)},
           {"switched", s.counts.switched},
           {"failed", s.counts.failed()},
           {"not_finished", s.counts.not_finished()}};
  abi::each_named_counter(s.counts, [&](const abi::counter_row& counter, auto n) { all[counter.name] = n; });
  all.update(
      json{{"wall_seconds", s.wall_seconds},
           {"compile_seconds", r.compile_seconds},
           {"stiff_compile_seconds", s.stiff_compile_seconds},
           {"rescue_compile_seconds", s.rescue_compile_seconds},
           {"instances_per_second", s.wall_seconds > 0 ? static_cast<double>(integrated(s)) / s.wall_seconds : 0.0},
           {"lane_use",
            s.usage.turns > 0 ? static_cast<double>(s.usage.lane_turns) / static_cast<double>(s.usage.turns) : 0.0},
           {"device", r.device},
           {"parts", parts},
           {"guards", guards_json(p, s.counts)},
           {"remarks", remarks(p.model, s.counts)},
           {"file", r.file},
           {"journal", r.journal},
           {"unfinished", r.unfinished},
           {"continued", r.continued},
           {"warnings", p.warnings},
           {"exit_code", r.exit_code}});
  for (const auto& [name, some] : dependent_constraints(p.model, s.counts)) all["dependent"][name] = some;
  if (!s.trouble.empty()) all["model_threw"] = s.trouble;
  if (!s.counts.not_finite.text.empty()) all["first_not_finite"] = text_of(s.counts.not_finite);
  if (!s.crash.empty()) all["model_crashed"] = s.crash;
  if (p.statistics) {
    all["statistics"] = statistics_json(s.statistics);
    all["histograms"] = histograms_json(s.statistics);
  }
  if (!p.indices.empty()) all["sensitivity"] = indices_json(s.indices);
  return all;
}

/// Counters that are in statistics are shown by their means, the others by their sums.
void print_counters(const tally& counts, double instances) {
  std::string means, sums;
  abi::each_named_counter(counts, [&](const abi::counter_row& counter, std::int64_t sum) {
    std::string name = counter.name;
    std::replace(name.begin(), name.end(), '_', ' ');
    const auto add = [&](std::string& to, const std::string& what) { to += (to.empty() ? "" : ", ") + what; };
    if (counter.in_statistics) add(means, fmt::format("{:.2f} {}", static_cast<double>(sum) / instances, name));
    else if (sum > 0) add(sums, fmt::format("{} {}", sum, name));
  });
  tell("  per instance: {}\n", means);
  if (!sums.empty()) tell("  of all instances: {}\n", sums);
}

/// Prints the number of instances by status; for a quiet run, only statuses that are not ok.
void print_endings(const run_summary& s, bool quiet) {
  for (const auto& row : status_table) {
    const auto some = s.counts.by_status[static_cast<std::size_t>(row.id)];
    if (some == 0 || (quiet && row.group == status_group::ok)) continue;
    tell("  {:<16} {:>12}   {}\n", row.name, some, row.meaning);
    if (row.group != status_group::ok) tell("  {:<16} {:>12}   -> {}\n", "", "", row.remedy);
    if (const auto& first = s.counts.not_finite; row.id == first.status && !first.text.empty())
      tell("  {:<16} {:>12}   {}\n", "", "", text_of(first));
    if (row.id == status::model_threw) tell("  {:<16} {:>12}   {}\n", "", "", s.trouble);
  }
}

/// Where a run that was cut short has kept ended instances, and which are missing there.
std::string kept_in_journal(const run_report& r) {
  std::string text = fmt::format("what has ended is kept in {}: the same command goes on with it\n", r.journal);
  if (r.not_in_journal > 0)
    text += fmt::format("  but for {} that ended in the first {:g} s, before the journal began: {} integrated again\n",
                        counted(static_cast<std::size_t>(r.not_in_journal), "instance"), short_run,
                        r.not_in_journal == 1 ? "it is" : "they are");
  return text;
}

bool is_cut_short(const run_report& r) {
  return r.exit_code == exit_interrupted || r.exit_code == exit_time_limit || !r.summary.crash.empty();
}

/// For a run that was cut short, which has no result file.
void print_what_is_kept(const run_report& r) {
  if (!r.journal.empty()) tell("{}", kept_in_journal(r));
  else if (!r.unfinished.empty())
    tell("what has ended is in {}{}\n", r.unfinished,
         format_of(r.what.file).is_read ? ": saltus show " + shell_word_to_type(r.unfinished) : "");
  else
    tell("nothing is kept: {}\n",
         r.what.rows ? "no instance had ended" : "there was no journal yet, and the run has no rows");
}

void print_summary(const run_report& r) {
  const plan& p = r.what;
  const run_summary& s = r.summary;
  const char* const made_elsewhere =
      "all instances have ended, here or elsewhere; another run makes the result, or has made it\n";
  if (r.shared && s.instances == 0 && !s.interrupted) {
    tell("{}", made_elsewhere);
    return;
  }
  const double n = static_cast<double>(s.instances - s.not_read);
  if (r.gathered) tell("{} {} from a journal in {:.2f} s\n", s.instances, p.model.name, s.wall_seconds);
  else if (const auto some = integrated(s); some < s.instances && !s.interrupted)
    tell("{} {}, {} of them in {:.2f} s: {:.4g} instances/s; the others from a journal\n", s.instances, p.model.name,
         some, s.wall_seconds, static_cast<double>(some) / s.wall_seconds);
  else
    tell("{} {} in {:.2f} s: {:.4g} instances/s, {:.4g} trial steps/s\n", s.instances, p.model.name, s.wall_seconds,
         n / s.wall_seconds, static_cast<double>(s.counts.steps + s.counts.rejected) / s.wall_seconds);
  tell("  on {}\n", r.device);
  for (const part_of_run& part : s.parts)
    if (s.parts.size() > 1)
      tell("  {:<16} {:>12}   in {} chunks\n", part.device.substr(0, part.device.find(',')), part.instances,
           part.chunks);
  if (s.stiff_compile_seconds > 0) tell("  {:.2f} s of it compiling {}\n", s.stiff_compile_seconds, stiff_methods(p));
  if (s.rescue_compile_seconds > 0) tell("  {:.2f} s of it compiling rescue\n", s.rescue_compile_seconds);
  print_endings(s, false);
  for (const auto& row : status_table)
    if (const auto some = s.counts.by_rescue[static_cast<std::size_t>(row.id)]; some > 0)
      tell("  {:<16} {:>12}   of these; lanes gave up: {}\n", "(rescued)", some, row.name);
  if (s.counts.switched > 0)
    tell("  {:<16} {:>12}   of these; went over to {}\n", "(stiff)", s.counts.switched, stiff_methods(p));
  if (const auto names = dependent_constraints(p.model, s.counts); !names.empty()) {
    tell("  depend on each other:");
    const char* comma = " ";
    for (const auto& [name, some] : names) tell("{}{} (in {})", std::exchange(comma, ", "), name, some);
    tell("\n");
  }
  if (s.not_read > 0)
    tell("  {:<16} {:>12}   ended in an earlier run, and were not read again\n", "(kept)", s.not_read);
  print_counters(s.counts, n);
  for (const auto& remark : remarks(p.model, s.counts)) tell("  {}\n", remark);
  print_statistics(s.statistics);
  if (!p.indices.empty()) print_indices(s.indices);
  if (p.design.half_width > 0)
    tell("  until +-{:g}: {} pairs of samples, and the widest interval is +-{:.3g}{}\n", p.design.half_width,
         p.design.count, widest_half_width(s.indices),
         widest_half_width(s.indices) > p.design.half_width ? "; sample.until.max_count does not allow more" : "");
  if (!r.store.empty() && s.counts.not_finished() == 0)
    tell("part {} is in {}: the part that ends last makes {} of it\n", text_of(r.part), r.store, p.file);
  else if (!r.journal.empty() && !r.part.is_all() && s.counts.not_finished() == 0)
    tell("part {} is kept in {}: saltus gather makes the result when all parts are there\n", text_of(r.part),
         r.journal);
  else if (!r.journal.empty() && r.shared && !s.interrupted) tell("{}", made_elsewhere);
  else if (r.file.empty() && !p.file.empty()) print_what_is_kept(r);
  else if (r.file.empty()) tell("no result file: -o FILE writes one\n");
  else {
    const output_format& f = format_of(r.file);
    tell("wrote {}\n", r.file);
    if (f.is_read) tell("  look at it:  saltus show {}\n", shell_word_to_type(r.file));
    tell("  in Python:   {}({}){}\n", f.python_reader, quoted(r.file),
         p.log_events && !f.event_group.empty() ? fmt::format(", saltus.events({})", quoted(r.file)) : "");
  }
}

/// "1 instance (7313) for 1:20": names a few instances that are far slower than all others.
std::string lone_slow_text() {
  constexpr double long_time = 10;  // seconds
  constexpr std::size_t few = 3;
  const auto slow = slow_instances(long_time);
  if (slow.empty() || slow.size() > few) return {};
  std::vector<std::int64_t> ids;
  for (const auto& one : slow) ids.push_back(one.id);
  return fmt::format("{} ({}) for {}", counted(slow.size(), "instance"), fmt::join(ids, ", "),
                     hours(slow.front().seconds));
}

/// The text of the progress line in place of the rate.
std::string progress_note() {
  const std::string compiling = compiling_now();
  return compiling.empty() ? lone_slow_text() : compiling;
}

}  // namespace

/// Prints failures of a run to stderr.
void say_what_went_wrong(const run_report& r) {
  const plan& p = r.what;
  const run_summary& s = r.summary;
  const std::string& kept = !r.journal.empty() ? r.journal : !r.unfinished.empty() ? r.unfinished : r.file;
  if (!s.crash.empty())
    say("saltus: {}\n  the run was ended: {} instances did not finish{}\n", s.crash, s.counts.not_finished(),
        kept.empty() ? "" : "; those that did are in " + kept);
  if (r.exit_code == exit_failed_instances) say("{}\n", too_many_failed(s.counts, p.allowed_failed));
  if (r.exit_code == exit_interrupted) say("interrupted: {} instances did not finish\n", s.counts.not_finished());
}

run_listener listener_of(bool quiet, std::optional<progress>& bar) {
  run_listener listener;
  listener.say = [](const std::string& text) { say("{}", text); };
  listener.mention = [quiet](const std::string& text) {
    if (!quiet) say("{}", text);
  };
  listener.begins = [quiet, &bar](const plan& of, std::int64_t instances, std::int64_t before) {
    if (bar) bar->finish();
    bar.emplace(instances, of.model.name, quiet, stderr, progress_note, before);
  };
  listener.progress = [&bar](std::int64_t some) { bar->add(some); };
  listener.ends = [&bar] { bar->finish(); };
  return listener;
}

namespace {

/// Prints the differences between a repeated instance and the file.
void print_differences(const run_arguments& a, const std::vector<std::string>& other) {
  if (other.empty()) tell("instance {} of {}: the same bits\n", a.instance, a.subject);
  else tell("instance {} of {} was another: {}\n", a.instance, a.subject, fmt::join(other, ", "));
}

int run(const run_arguments& a, const run_options& options, bool shares = false) {
  plan p = plan_of(a, interrupted);
  if (const char* const share = std::getenv("SALTUS_INJECT_EXCEPTIONS")) p.inject_exceptions = std::atof(share);
  print_warnings(p);
  return run_and_tell(a, [&](const run_listener& listener) {
    return shares ? run_with_others(p, options, interrupted, listener)
                  : run(std::move(p), options, interrupted, listener);
  });
}

}  // namespace

int run_and_tell(const run_arguments& a, const std::function<run_report(const run_listener&)>& how) {
  ignore_broken_pipes();
  std::optional<progress> bar;
  const run_report r = how(listener_of(a.quiet, bar));
  const auto other = a.instance >= 0 ? differences(*r.arrays, a.subject, a.instance) : std::vector<std::string>();
  if (a.as_json) {
    json all = summary_json(r);
    if (a.instance >= 0) all["differences"] = other;
    tell("{}\n", json_text(all));
  } else {
    if (!a.quiet) print_summary(r);
    else print_endings(r.summary, true);
    if (a.quiet && is_cut_short(r)) print_what_is_kept(r);
    if (a.instance >= 0) print_differences(a, other);
  }
  say_what_went_wrong(r);
  return r.exit_code;
}

int run(const run_arguments& a, const std::vector<std::string>& command) {
  run_options options;
  options.replace = a.force;
  options.restart = a.restart;
  options.time_limit = a.time_limit;
  options.command = command;
  options.in_memory = a.instance >= 0;
  if (!a.part.empty()) options.mode = one_part(part_called(a.part));
  if (a.share && !a.part.empty())
    throw error(exit_usage, "--share: leave out --part: it takes what nobody else has taken");
  if (a.instance >= 0 && (a.share || !a.part.empty()))
    throw error(exit_usage, "--instance: leave out --share and --part: one instance is made again alone");
  return run(a, options, a.share);
}

int gather(const run_arguments& a, const std::vector<std::string>& command) {
  run_options options;
  options.replace = a.force;
  options.command = command;
  options.mode = a.so_far.empty() ? gathering() : so_far_into(a.so_far);
  return run(a, options);
}

}  // namespace saltus::host
