#include "study/run.hpp"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "backend/make.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "result/part_file.hpp"
#include "result/provenance.hpp"
#include "result/storage.hpp"
#include "result/writer.hpp"
#include "study/measure.hpp"
#include "study/tune.hpp"

namespace saltus::host {

namespace {

/// Before anything is compiled: what cannot be written must not be found out after an hour.
void check_output(const plan& p, existing older, const run_listener& listener) {
  if (p.file.empty()) return;
  auto inputs = p.inputs;
  for (const auto& file : files_of_model(p.model)) inputs.push_back(file);
  check_result_path(p.file, older, inputs);
  const std::int64_t needed = stored_bytes(p, 0), free = free_bytes(p.file);
  if (free < 0 || needed <= free) return;
  const auto folder = folder_of(p.file).string();
  if (p.compression > 0)
    listener.say(fmt::format("{} will have {} before it is compressed, and {} are free in {}\n", p.file,
                             bytes_text(needed), bytes_text(free), folder));
  else
    throw error(
        exit_failure,
        fmt::format("cannot write {}: it will have {}{}, and {} are free in {}; fewer instances or samples, "
                    "output.rows = false or output.compression make it smaller",
                    p.file, bytes_text(needed), p.log_events ? " and the event log" : "", bytes_text(free), folder));
}

/// After an error: what the file has of finished instances stays.
void keep_what_is_finished(result_writer& file, const plan& p, const std::string& reason,
                           const run_listener& listener) {
  std::int64_t kept = 0;
  try {
    kept = file.keep(reason);
  } catch (const std::exception& e) { listener.say(fmt::format("saltus: {}\n", e.what())); }
  if (kept > 0)
    listener.say(
        fmt::format("saltus: {} of {} instances are kept in {}\n", kept, p.count, file.part().path().string()));
}

/// The result file of a run, if it is to have one; told of what an earlier run has left.
std::unique_ptr<result_writer> file_for(const plan& p, const backend& where, const run_options& options, existing older,
                                        const run_listener& listener) {
  if (p.file.empty()) return nullptr;
  auto file = std::make_unique<result_writer>(p.file, p, provenance_of(p, where, shell_line(options.command)), older);
  if (const auto& old = file->part().set_aside(); !old.empty())
    listener.say(fmt::format("a run that did not end has left finished instances: they are now in {}\n", old.string()));
  return file;
}

/// Integrates all instances into the file; keeps what it has when that fails.
run_summary integrate_into(result_writer* file, const plan& p, backend& where, const cancellation& stop,
                           const run_listener& listener) {
  const cancellation ending = stop.within();
  try {
    return run_ensemble(
        p, where,
        [&](const chunk_data& chunk) {
          try {
            if (file) file->write(chunk);
          } catch (...) {
            ending.cancel();  // what is under way cannot be kept
            throw;
          }
        },
        listener.progress, ending);
  } catch (const std::exception& e) {
    listener.ends();
    if (file) keep_what_is_finished(*file, p, e.what(), listener);
    throw;
  }
}

int exit_code_of(const plan& p, const run_summary& s) {
  if (!s.crash.empty()) return exit_failure;
  if (s.interrupted && s.counts.not_finished() > 0) return exit_interrupted;
  const auto allowed = p.allowed_failed * static_cast<double>(p.count);
  return static_cast<double>(s.counts.failed()) > allowed ? exit_failed_instances : exit_ok;
}

}  // namespace

run_report run(plan p, const run_options& options, const cancellation& stop, const run_listener& listener) {
  const auto older = options.replace ? existing::replaced : existing::refused;
  check_output(p, older, listener);
  if (p.file.empty()) p.log_events = false;  // there is nobody to read it
  run_report r;
  r.what = std::move(p);
  auto where = make_backend(r.what, stop);
  if (where->compile_seconds() > 0)
    listener.mention(
        fmt::format("compiled {} with {} in {:.1f} s\n", r.what.model.name, r.what.method, where->compile_seconds()));
  if (tune_long_run(r.what, *where, stop)) where = make_backend(r.what, stop);
  const auto file = file_for(r.what, *where, options, older, listener);
  auto beside = options.measure_beside ? measure_beside(r.what, *where, options.command) : nullptr;
  listener.begins(r.what);
  r.summary = integrate_into(file.get(), r.what, *where, stop, listener);
  listener.ends();
  beside.reset();
  if (file) file->close(r.summary.wall_seconds, r.summary.statistics);
  r.device = where->device();
  r.compile_seconds = where->compile_seconds();
  r.exit_code = exit_code_of(r.what, r.summary);
  return r;
}

}  // namespace saltus::host
