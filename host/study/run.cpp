#include "study/run.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "backend/make.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "compile/compiler.hpp"
#include "ensemble/kept_chunks.hpp"
#include "result/journal.hpp"
#include "result/output.hpp"
#include "result/part_file.hpp"
#include "result/provenance.hpp"
#include "result/sharing.hpp"
#include "study/measure.hpp"
#include "study/tune.hpp"

namespace saltus::host {

namespace {

/// Checks the output before anything is compiled: a run must not discover after an hour that it cannot write.
void check_output(const plan& p, const std::string& file, existing older, const run_listener& listener) {
  if (file.empty()) return;
  journal::check_place(p.file);
  journal::sweep(p.file);
  auto inputs = p.inputs;
  for (const auto& header : files_of_model(p.model)) inputs.push_back(header);
  check_result_path(file, older, inputs);
  const std::int64_t needed = format_of(file).bytes(p, 0), free = free_bytes(file);
  if (free < 0 || needed <= free) return;
  const auto folder = folder_of(file).string();
  if (p.compression > 0)
    listener.say(fmt::format("{} will have {} before it is compressed, and {} are free in {}\n", file,
                             bytes_text(needed), bytes_text(free), folder));
  else
    throw error(
        exit_failure,
        fmt::format("cannot write {}: it will have {}{}, and {} are free in {}; fewer instances or samples, "
                    "output.rows = false or output.compression make it smaller",
                    file, bytes_text(needed), p.log_events ? " and the event log" : "", bytes_text(free), folder));
}

bool is_part(const run_options& options) { return options.share || !options.part.is_all(); }
bool reads_journal(const run_options& options) { return options.gathers || !options.so_far.empty(); }
std::string result_of(const plan& p, const run_options& options) {
  return options.so_far.empty() ? p.file : options.so_far;
}

/// Throws if options conflict with each other or with this plan.
void check_options(const plan& p, const run_options& options) {
  check_output_options(p);
  const auto refuse = [](const std::string& why) { throw error(exit_usage, why); };
  if (p.file.empty() && (is_part(options) || reads_journal(options)))
    refuse("a result file must be named, for its journal: output.file, or -o FILE");
  std::error_code ignored;
  if (reads_journal(options) &&
      (options.so_far == p.file || std::filesystem::equivalent(options.so_far, p.file, ignored)))
    refuse(fmt::format("--so-far {}: must be another file than the result of the run, which is not complete yet",
                       options.so_far));
  const char* const flag = options.share ? "--share" : "--part";
  if (!options.part.is_all() && options.restart) refuse("--restart drops what all parts have: leave out --part");
  if (is_part(options) && !p.rows && !p.indices.empty())
    refuse(fmt::format("{}: indices of sensitivity without rows need all instances in one run: set output.rows = true",
                       flag));
  if (is_part(options) && p.design.half_width > 0)
    refuse(fmt::format("{}: how many samples sample.until makes is not known before: leave out one of the two", flag));
}

/// The result file, the journal and the arrays of a run, as far as it has them.
class run_output : public kept_chunks {
 public:
  run_output(const plan& p, const backend& where, const run_options& options, existing older,
             const run_listener& listener)
      : plan_(p), options_(options), listener_(listener) {
    if (p.file.empty() && !options.in_memory) return;
    origin_ = provenance_of(p, where, shell_line(options.command));
    if (options.in_memory) arrays_ = std::make_shared<result_arrays>(p, origin_);
    if (p.file.empty()) return;
    // A part has only its journal, whatever `checkpoint` says.
    const bool needs_it = reads_journal(options) || is_part(options) || journal::is_there(p.file);
    const bool at_once = options.time_limit > 0 || p.checkpoint.has_value();
    if (needs_it || (has_journal() && at_once)) begin_journal();
    if (options.gathers) refuse_if_missing();
    if (is_part(options)) {
      if (const auto* shared = shared_format_of(p); !options.share && shared) begin_part(*shared, older);
      return;
    }
    if (options.completes) {
      file_ = options.completes(p, origin_, older);
      return;
    }
    file_ = make_output(result_of(p, options), p, origin_, older,
                        journal_ && options.so_far.empty() ? abandoned::removed : abandoned::set_aside);
    if (const auto& old = file_->set_aside(); !old.empty())
      listener.say(
          fmt::format("a run that did not end has left finished instances: they are now in {}\n", old.string()));
  }

  const std::vector<id_range>& stored() const override { return journal_ ? journal_->stored() : nothing_; }
  claims* taken_from() override {
    if (options_.share) return options_.share;
    return journal_ ? journal_->taken_from() : nullptr;
  }
  bool is_all_there_is() const override { return reads_journal(options_); }
  void load(const id_range& range, chunk_data& chunk, tally& counts) const override {
    journal_->load(range, chunk, counts);
  }
  /// A short run has no journal. Instances that end before the journal begins would be integrated again.
  void keep(const chunk_data& chunk, const tally& counts) override {
    if (file_ && !journal_ && has_journal() && seconds_since(begin_) > short_run) begin_journal();
    if (journal_) journal_->keep(chunk, counts);
    else not_kept_ += chunk.count - counts.not_finished();
  }
  void write(const chunk_data& chunk, const tally& counts) {
    if (file_) file_->write(chunk, counts);
    if (part_) part_->write(chunk, counts);
    if (arrays_) arrays_->write(chunk, counts);
  }

  /// Counts the instances that ended before this was made, while the number of samples was not known.
  void count(const run_summary& s) {
    if (file_) file_->count(s.instances, s.counts);
    if (arrays_) arrays_->count(s.instances, s.counts);
  }

  const std::shared_ptr<result_arrays>& arrays() const { return arrays_; }
  /// Instances that this run integrates, or those of all runs that share the ensemble.
  std::int64_t to_do() {
    const claims* from = taken_from();
    return from ? from->unclaimed() : plan_.count;
  }
  /// Number of instances that an earlier run has integrated, which are only read.
  std::int64_t done_before() { return taken_from() ? 0 : continued_; }
  void begin_to_share(const cancellation& stop) {
    if (options_.share) options_.share->opened(*journal_, stop);
  }
  std::int64_t continued() const { return continued_; }

  /// Completes the output: all instances have ended, or none will be continued.
  void complete(const run_summary& s) {
    const bool is_last = journal_ && options_.so_far.empty();
    if (is_last) journal_->close(file_->unfinished());
    if (file_) file_->close(s.wall_seconds, s.statistics, s.indices);
    if (is_last) journal_->remove();
  }
  void close_arrays(const run_summary& s) {
    if (arrays_) arrays_->close(s.wall_seconds, s.statistics, s.indices);
  }
  /// For a run without a journal: keeps ended instances in the unfinished file and returns its name, or nothing if
  /// there are none.
  std::string leave_unfinished(const std::string& reason) {
    const std::string kept = file_ && file_->keep(reason) > 0 ? file_->unfinished().string() : std::string();
    file_.reset();
    return kept;
  }
  /// Instances that ended before there was a journal.
  std::int64_t not_kept() const { return not_kept_; }
  /// Keeps ended instances in the journal, to be continued, and returns its folder; nothing if there is no journal.
  std::string leave_journal() {
    if (!journal_) return {};
    journal_->settle();
    file_.reset();
    return journal_->folder().string();
  }
  /// Ends a part that writes chunks of a store and returns the store; nothing if it has none. `all`: all instances have
  /// ended.
  std::string end_part(bool all) {
    if (!part_) return {};
    part_->end_part(all);
    return part_->unfinished().string();
  }
  /// The store, if this part is the last one; closes this part's own journal.
  completion completed_by_this_part() {
    if (!part_) return {};
    const std::string run = journal_->identity();
    part_.reset();
    journal_.reset();
    return shared_format_of(plan_)->left_by_parts(plan_.file, options_.part.of, run);
  }
  /// Keeps ended instances after an error.
  void keep_what_is_finished(const std::string& reason) {
    try {
      if (const auto folder = leave_journal(); !folder.empty())
        tell_kept(journal_->instances(), folder + ", and the same command goes on with them");
      else if (file_) tell_kept(file_->keep(reason), file_->unfinished().string());
    } catch (const std::exception& e) { listener_.say(fmt::format("saltus: {}\n", e.what())); }
  }

 private:
  void begin_part(const shared_format& format, existing older) {
    const std::string name = fmt::format("{}of{}", options_.part.number, options_.part.of);
    const auto ranges = ranges_of(options_.part, plan_.count, format.chunk_rows(plan_));
    part_ = format.begin(plan_.file, plan_, origin_, older, {name, ranges, journal_->identity()});
  }
  void tell_kept(std::int64_t instances, const std::string& where) const {
    if (instances > 0)
      listener_.say(fmt::format("saltus: {} of {} instances are kept in {}\n", instances, plan_.count, where));
  }
  void refuse_if_missing() const {
    const auto missing = journal_->missing();
    if (missing.empty()) return;
    constexpr std::size_t few = 4;
    std::string some;
    for (std::size_t i = 0; i < std::min(few, missing.size()); ++i)
      some += fmt::format("{}{}..{}", i > 0 ? ", " : "", missing[i].first, missing[i].end() - 1);
    if (missing.size() > few) some += ", ...";
    throw error(
        exit_failure,
        fmt::format("{} has no results of {} of {} instances: {}. Run the parts that have not ended again; or saltus "
                    "run without --part, which integrates them here",
                    journal_->folder().string(), instances_in(missing), plan_.count, some));
  }
  /// Sums for sensitivity indices are not kept in a journal; with rows, they are computed again from these.
  bool has_journal() const {
    return plan_.checkpoint.value_or(usual_checkpoint) > 0 && (plan_.rows || plan_.indices.empty());
  }
  void begin_journal() {
    const auto use = !options_.so_far.empty() ? journal::older::read
                     : options_.restart       ? journal::older::removed
                                              : journal::older::continued;
    if (reads_journal(options_) && !journal::is_there(plan_.file))
      throw error(exit_usage, fmt::format("{} is not there: run the parts first, saltus run SPEC --part 1/4 and so on",
                                          journal::folder_of(plan_.file).string()));
    ensemble_part part = options_.part;
    if (options_.share) {
      part.among = options_.share->name();
      options_.share->before_opening();
    }
    journal_.emplace(plan_.file, plan_, origin_, use, part);
    continued_ = journal_->instances();
    if (!journal_->damage().empty()) listener_.say(journal_->damage() + "\n");
    if (reads_journal(options_)) return;
    if (continued_ > 0 && continued_ < plan_.count)
      listener_.say(fmt::format("goes on with {}: {} of {} instances have ended\n", journal_->folder().string(),
                                continued_, plan_.count));
  }

  const plan& plan_;
  const run_options& options_;
  const run_listener& listener_;
  provenance origin_;
  std::optional<journal> journal_;
  std::unique_ptr<output_file> file_;
  std::unique_ptr<part_output> part_;  ///< chunks of this part alone
  std::shared_ptr<result_arrays> arrays_;
  const std::vector<id_range> nothing_;
  std::int64_t continued_ = 0, not_kept_ = 0;
  monotonic_clock::time_point begin_ = monotonic_clock::now();
};

/// Integrates samples, and doubles their number while an index is less certain than the plan asks for and its limit
/// allows.
run_summary integrate_until_certain(plan& p, backend& where, const cancellation& stop, const run_listener& listener) {
  const auto grow = [&](const sensitivity_indices& so_far) {
    if (!(widest_half_width(so_far) > p.design.half_width) || 2 * p.design.count > p.design.max_count) return false;
    listener.begins(p, p.count, 0);
    double_samples(p);
    return true;
  };
  return run_ensemble(
      p, where, [](const chunk_data&, const tally&) {}, listener.progress, stop, nullptr, grow);
}

/// Integrates all instances into `out`; on failure keeps the instances in the file.
run_summary integrate_into(run_output& out, const plan& p, backend& where, const cancellation& stop,
                           const run_listener& listener) {
  const cancellation ending = stop.within();
  try {
    return run_ensemble(
        p, where,
        [&](const chunk_data& chunk, const tally& counts) {
          try {
            out.write(chunk, counts);
          } catch (...) {
            ending.cancel();  // instances under way could not be kept
            throw;
          }
        },
        listener.progress, ending, &out);
  } catch (const std::exception& e) {
    listener.ends();
    out.keep_what_is_finished(e.what());
    throw;
  }
}

/// Cancels a token after some seconds, unless it is destroyed before.
class alarm_clock {
 public:
  alarm_clock(double seconds, const cancellation& what) {
    if (seconds <= 0) return;
    thread_ = std::jthread([this, seconds, what](const std::stop_token& over) {
      std::unique_lock lock(mutex_);
      wait_.wait_for(lock, over, std::chrono::duration<double>(seconds), [] { return false; });
      if (over.stop_requested()) return;
      rang_ = true;
      what.cancel();
    });
  }
  bool rang() const { return rang_; }

 private:
  std::mutex mutex_;
  std::condition_variable_any wait_;
  std::atomic<bool> rang_{false};
  std::jthread thread_;  // the last member: it uses the others
};

std::string reason_of(const run_summary& s, bool at_time_limit) {
  if (!s.crash.empty()) return s.crash;
  return at_time_limit ? "time limit" : "interrupted";
}

int exit_code_of(const plan& p, const run_summary& s, bool has_more, bool at_time_limit) {
  if (!s.crash.empty()) return exit_failure;
  if (has_more) return at_time_limit ? exit_time_limit : exit_interrupted;
  return too_many_failed(s.counts, p.allowed_failed).empty() ? exit_ok : exit_failed_instances;
}

/// The last part of a result that parts write completes it: makes statistics and counts from the journal, and gives the store its
/// name.
run_report complete(const plan& p, run_options options, completion whole, const cancellation& stop,
                    const run_listener& listener) {
  listener.mention(fmt::format("part {} is the last one: it completes {}\n", text_of(options.part), p.file));
  options.part = {};
  options.gathers = true;
  options.completes = std::move(whole);
  return run(p, options, stop, listener);
}

/// The backend of a plan. Compiling it counts towards the time limit of the run.
std::unique_ptr<backend> compiled_within(const alarm_clock& limit, const plan& p, const cancellation& stop) {
  try {
    return make_backend(p, stop);
  } catch (const error&) {
    if (!limit.rang()) throw;
    throw error(
        exit_time_limit,
        fmt::format("{}: the time limit came while {} was compiled: no instance has begun; give the run more time",
                    p.file.empty() ? p.model.name : p.file, words_of_module(p)));
  }
}

}  // namespace

void check_run(const plan& p, const run_options& options, const run_listener& listener) {
  check_options(p, options);
  check_output(p, result_of(p, options), options.replace ? existing::replaced : existing::refused, listener);
}

run_report run(plan p, const run_options& options, const cancellation& stop, const run_listener& listener) {
  const auto older = options.replace ? existing::replaced : existing::refused;
  check_run(p, options, listener);
  if (p.file.empty() && !options.in_memory) p.log_events = false;  // no output would contain them
  run_report r;
  r.what = std::move(p);
  const cancellation ending = stop.within();
  const alarm_clock limit(options.time_limit, ending);
  auto where = compiled_within(limit, r.what, ending);
  if (where->compile_seconds() > 0)
    listener.mention(fmt::format("compiled {} in {:.1f} s\n", words_of_module(r.what), where->compile_seconds()));
  if (options.tune && !reads_journal(options) && tune_long_run(r.what, *where, ending))
    where = compiled_within(limit, r.what, ending);
  const bool grows = r.what.design.half_width > 0;
  std::optional<run_output> out;
  if (!grows) out.emplace(r.what, *where, options, older, listener);
  r.part = options.part;
  r.shared = options.share != nullptr;
  r.continued = out ? out->continued() : 0;
  r.gathered = reads_journal(options) || (!is_part(options) && r.continued == r.what.count);
  auto beside = options.measure_beside && !reads_journal(options) && !r.what.reads_standard_input
                    ? measure_beside(r.what, *where, options.command)
                    : nullptr;
  if (out) out->begin_to_share(ending);
  listener.begins(r.what, out ? out->to_do() : r.what.count, out ? out->done_before() : 0);
  if (grows) r.summary = integrate_until_certain(r.what, *where, ending, listener);
  else r.summary = integrate_into(*out, r.what, *where, ending, listener);
  while (options.share && r.summary.crash.empty() && options.share->wait_for_more())
    add(r.summary, integrate_into(*out, r.what, *where, ending, listener));
  listener.ends();
  beside.reset();
  if (grows) {
    out.emplace(r.what, *where, options, older, listener);
    out->count(r.summary);
  }
  const bool was_cut = r.summary.interrupted || !r.summary.crash.empty();
  const bool is_left = r.summary.not_read > 0 || (!reads_journal(options) && r.summary.counts.not_finished() > 0) ||
                       (options.share && options.share->unclaimed() > 0);
  const bool has_more = was_cut && is_left;
  if (has_more || is_part(options)) {
    r.journal = out->leave_journal();
    r.not_in_journal = out->not_kept();
    r.store = out->end_part(r.summary.counts.not_finished() == 0);
  }
  if (!r.store.empty() && !has_more)
    if (auto whole = out->completed_by_this_part()) return complete(r.what, options, std::move(whole), stop, listener);
  if (has_more && r.journal.empty()) {
    r.unfinished = out->leave_unfinished(reason_of(r.summary, limit.rang()));
  } else if (r.journal.empty()) {
    out->complete(r.summary);
    r.file = result_of(r.what, options);
  }
  if (!is_part(options)) out->close_arrays(r.summary);  // a part has no statistics
  r.arrays = out->arrays();
  r.device = where->device();
  r.compile_seconds = where->compile_seconds();
  r.exit_code = exit_code_of(r.what, r.summary, has_more, limit.rang());
  return r;
}

}  // namespace saltus::host
