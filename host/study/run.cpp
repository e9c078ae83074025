#include "study/run.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
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
#include "result/provenance.hpp"

namespace saltus::host {

namespace {

existing older_of(const run_options& options) { return options.replace ? existing::replaced : existing::refused; }

/// Checks the output before anything is compiled: a run must not discover after an hour that it cannot write.
void check_output(const plan& p, const std::string& file, existing older, const run_listener& listener) {
  if (file.empty()) return;
  journal::check_folder(p.file);
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

/// The result file, the journal and the arrays of a run, as far as it has them.
class run_output : public kept_chunks {
 public:
  run_output(const plan& p, const backend& where, const run_options& options, const run_listener& listener)
      : plan_(p), where_(where), options_(options), mode_(*options.mode), listener_(listener) {}

  /// Opens what the run has, once the number of its instances is known.
  void open(const cancellation& stop) {
    if (plan_.file.empty() && !options_.in_memory) return;
    origin_ = provenance_of(plan_, where_, shell_line(options_.command));
    if (options_.in_memory) arrays_ = std::make_shared<result_arrays>(plan_, origin_);
    if (plan_.file.empty()) return;
    // A part has only its journal, whatever `checkpoint` says.
    const bool needs_it = mode_.needs_journal() || journal::is_there(plan_.file);
    const bool at_once = options_.time_limit > 0 || plan_.checkpoint.has_value();
    if (needs_it || (has_journal() && at_once)) begin_journal();
    file_ = mode_.output(plan_, origin_, older_of(options_), journal_ ? &*journal_ : nullptr);
    if (file_ && !file_->set_aside().empty())
      listener_.say(fmt::format("a run that did not end has left finished instances: they are now in {}\n",
                                file_->set_aside().string()));
    if (journal_) mode_.opened(*journal_, stop);
  }

  const std::vector<id_range>& stored() const override { return journal_ ? journal_->stored() : nothing_; }
  claims* taken_from() override { return mode_.taken_from(journal_ ? &*journal_ : nullptr); }
  bool is_all_there_is() const override { return !mode_.integrates(); }
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
    if (arrays_) arrays_->write(chunk, counts);
  }

  /// Counts the instances that ended before this was opened, while the number of samples was not known.
  void count(const run_summary& s) {
    if (file_) file_->count(s.instances, s.counts);
    if (arrays_) arrays_->count(s.instances, s.counts);
  }

  /// Instances that this run integrates, or those of all runs that share the ensemble.
  std::int64_t to_do() {
    const claims* from = taken_from();
    return from ? from->unclaimed() : plan_.count;
  }
  /// Number of instances that an earlier run has integrated, which are only read.
  std::int64_t done_before() { return taken_from() ? 0 : continued_; }
  std::int64_t continued() const { return continued_; }
  bool has_more(const run_summary& s) const {
    if (!s.interrupted && s.crash.empty()) return false;
    return s.not_read > 0 || (mode_.integrates() && s.counts.not_finished() > 0) || mode_.unclaimed() > 0;
  }

  /// Completes the result: all instances have ended, or none will be continued.
  void complete(const run_summary& s, run_report& r) {
    const bool is_last = journal_ && mode_.removes_journal();
    if (is_last) journal_->close(file_->unfinished());
    if (file_) file_->close(s.wall_seconds, s.statistics, s.indices);
    if (is_last) journal_->remove();
    r.file = mode_.result_of(plan_);
  }
  /// Keeps ended instances for later runs: in the journal and in the output of a part; or, for a run without a journal,
  /// in the unfinished file.
  void leave(const run_summary& s, const std::string& reason, run_report& r) {
    if (journal_) {
      journal_->settle();
      r.journal = journal_->folder().string();
      r.not_in_journal = not_kept_;
      if (file_) r.store = file_->leave(s.counts.not_finished() == 0);
      if (!r.store.empty()) run_ = journal_->identity();
    } else if (file_ && file_->keep(reason) > 0) r.unfinished = file_->unfinished().string();
    file_.reset();
  }
  /// The mode in which the process goes on after it has left its instances; null: it is done.
  std::shared_ptr<const run_mode> next() {
    if (run_.empty()) return nullptr;
    journal_.reset();
    return mode_.next(plan_, run_);
  }
  /// A part has no statistics.
  std::shared_ptr<result_arrays> close_arrays(const run_summary& s) {
    if (arrays_ && mode_.makes_result()) arrays_->close(s.wall_seconds, s.statistics, s.indices);
    return arrays_;
  }
  /// Keeps ended instances after an error.
  void keep_what_is_finished(const std::string& reason) {
    try {
      if (journal_) {
        journal_->settle();
        tell_kept(journal_->instances(), journal_->folder().string() + ", and the same command goes on with them");
      } else if (file_) tell_kept(file_->keep(reason), file_->unfinished().string());
    } catch (const std::exception& e) { listener_.say(fmt::format("saltus: {}\n", e.what())); }
  }

 private:
  void tell_kept(std::int64_t instances, const std::string& where) const {
    if (instances > 0)
      listener_.say(fmt::format("saltus: {} of {} instances are kept in {}\n", instances, plan_.count, where));
  }
  /// Sums for sensitivity indices are not kept in a journal; with rows, they are computed again from these.
  bool has_journal() const {
    return plan_.checkpoint.value_or(usual_checkpoint) > 0 && (plan_.rows || plan_.indices.empty());
  }
  void begin_journal() {
    if (!mode_.integrates() && !journal::is_there(plan_.file))
      throw error(exit_usage, fmt::format("{} is not there: run the parts first, saltus run SPEC --part 1/4 and so on",
                                          journal::folder_of(plan_.file).string()));
    mode_.before_opening();
    journal_.emplace(plan_.file, plan_, origin_, options_.restart ? journal::older::removed : mode_.use_of_journal(),
                     mode_.part());
    continued_ = journal_->instances();
    if (!journal_->damage().empty()) listener_.say(journal_->damage() + "\n");
    if (mode_.integrates() && continued_ > 0 && continued_ < plan_.count)
      listener_.say(fmt::format("goes on with {}: {} of {} instances have ended\n", journal_->folder().string(),
                                continued_, plan_.count));
  }

  const plan& plan_;
  const backend& where_;
  const run_options& options_;
  const run_mode& mode_;
  const run_listener& listener_;
  provenance origin_;
  std::optional<journal> journal_;
  std::unique_ptr<output_file> file_;
  std::shared_ptr<result_arrays> arrays_;
  const std::vector<id_range> nothing_;
  std::string run_;  ///< identity of the run whose result parts write
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
  return run_ensemble(p, where, stop, {.progress = listener.progress, .grow = grow});
}

/// Integrates all instances into `out`; on failure keeps the instances in the file.
run_summary integrate_into(run_output& out, const plan& p, backend& where, const cancellation& stop,
                           const run_listener& listener) {
  const cancellation ending = stop.within();
  const auto write = [&](const chunk_data& chunk, const tally& counts) {
    try {
      out.write(chunk, counts);
    } catch (...) {
      ending.cancel();  // instances under way could not be kept
      throw;
    }
  };
  try {
    return run_ensemble(p, where, ending, {.write = write, .progress = listener.progress, .kept = &out});
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

std::unique_ptr<backend> backend_for(const plan& p, const alarm_clock& limit, const cancellation& stop,
                                     const run_listener& listener) {
  auto where = compiled_within(limit, p, stop);
  if (where->compile_seconds() > 0)
    listener.mention(fmt::format("compiled {} in {:.1f} s\n", words_of_module(p), where->compile_seconds()));
  return where;
}

/// Integrates into `out`, which is opened at the end if the number of samples is not known before.
run_summary integrate(run_output& out, plan& p, backend& where, const run_options& options, const cancellation& stop,
                      const run_listener& listener) {
  const bool grows = p.design.half_width > 0;
  if (!grows) out.open(stop);
  listener.begins(p, out.to_do(), out.done_before());
  run_summary s =
      grows ? integrate_until_certain(p, where, stop, listener) : integrate_into(out, p, where, stop, listener);
  while (s.crash.empty() && options.mode->wait_for_more()) add(s, integrate_into(out, p, where, stop, listener));
  listener.ends();
  if (grows) {
    out.open(stop);
    out.count(s);
  }
  return s;
}

}  // namespace

void check_run(const plan& p, const run_options& options, const run_listener& listener) {
  check_output_options(p);
  options.mode->check(p, options.restart);
  check_output(p, options.mode->result_of(p), older_of(options), listener);
}

run_report run(plan p, const run_options& options, const cancellation& stop, const run_listener& listener) {
  check_run(p, options, listener);
  if (p.file.empty() && !options.in_memory) p.log_events = false;  // no output would contain them
  const run_mode& mode = *options.mode;
  run_report r;
  r.what = std::move(p);
  r.part = mode.part();
  r.shared = !std::exchange(r.part.among, {}).empty();
  const cancellation ending = stop.within();
  const alarm_clock limit(options.time_limit, ending);
  const auto where = backend_for(r.what, limit, ending, listener);
  run_output out(r.what, *where, options, listener);
  r.summary = integrate(out, r.what, *where, options, ending, listener);
  r.continued = out.continued();
  r.gathered = !mode.integrates() || (mode.makes_result() && r.continued == r.what.count);
  const bool has_more = out.has_more(r.summary);
  if (has_more || !mode.makes_result()) out.leave(r.summary, reason_of(r.summary, limit.rang()), r);
  else out.complete(r.summary, r);
  if (const auto next = has_more ? nullptr : out.next()) {
    listener.mention(fmt::format("part {} is the last one: it completes {}\n", text_of(r.part), r.what.file));
    run_options last = options;
    last.mode = next;
    return run(r.what, last, stop, listener);
  }
  r.arrays = out.close_arrays(r.summary);
  r.device = where->device();
  r.compile_seconds = where->compile_seconds();
  r.exit_code = exit_code_of(r.what, r.summary, has_more, limit.rang());
  return r;
}

}  // namespace saltus::host
