// saltus-mpi run: integrates one ensemble with all processes of an MPI job.
//
// A counter in the memory of rank 0 holds the next instance; each rank claims instances by adding to it atomically,
// without asking another rank (MPI_Fetch_and_op). Results go into the journal, with one file per rank, and rank 0 makes
// the result file, with the same bits for any number of ranks. If a rank dies, MPI ends the job; the same command
// continues from the journal, with any number of ranks.
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <mpi.h>
#include <CLI/CLI.hpp>

#include "backend/cuda/devices.hpp"
#include "backend/make.hpp"
#include "base/error.hpp"
#include "base/hdf5.hpp"
#include "base/message.hpp"
#include "base/version.hpp"
#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "cli/run_options.hpp"
#include "ensemble/model_call.hpp"
#include "result/sharing.hpp"
#include "statistics/statistics.hpp"

namespace saltus::host {

namespace {

/// The ranks of a job, and those of them on this machine.
struct job {
  int rank = 0, ranks = 1, local_rank = 0, local_ranks = 1;
  MPI_Comm here = MPI_COMM_NULL;

  job() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &here);
    MPI_Comm_rank(here, &local_rank);
    MPI_Comm_size(here, &local_ranks);
  }
  bool is_first() const { return rank == 0; }
  /// The largest code of all ranks.
  int most(int code) const {
    MPI_Allreduce(MPI_IN_PLACE, &code, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return code;
  }
};

/// Claims the instances that no rank has stored, one range after another; the counter holds the number claimed.
class counter final : public sharing {
 public:
  explicit counter(const job& of) : job_(of) {
    // Every rank's name contains a random number from rank 0, so that no earlier run has had it.
    unsigned drawn = std::random_device()();
    MPI_Bcast(&drawn, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
    name_ = fmt::format("mpi-{:08x}-{}of{}", drawn, job_.rank + 1, job_.ranks);
    MPI_Win_allocate(job_.is_first() ? sizeof(std::int64_t) : 0, sizeof(std::int64_t), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &taken_, &window_);
    if (job_.is_first()) *taken_ = 0;
    MPI_Win_fence(0, window_);
    MPI_Win_lock_all(0, window_);
  }
  ~counter() override {
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }
  counter(const counter&) = delete;
  counter& operator=(const counter&) = delete;

  const std::string& name() const override { return name_; }
  /// Rank 0 comes first: it makes the journal, or refuses it.
  void before_opening() override {
    if (!job_.is_first()) tell_all();
  }
  void opened(journal& kept, const cancellation& stop) override {
    stop_ = stop;
    if (job_.is_first()) {
      missing_ = kept.missing();
      tell_all();
    }
    for (const id_range& range : missing_) ends_.push_back((ends_.empty() ? 0 : ends_.back()) + range.count);
    left_ = all();
  }
  std::optional<id_range> next(std::int64_t) override {
    if (!stop_ || *stop_) return {};
    if (mine_.empty()) claim();
    if (mine_.empty()) return {};
    const id_range range = mine_.front();
    mine_.pop_front();
    return range;
  }
  std::int64_t unclaimed() const override { return left_; }
  /// Other ranks finish the instances they have claimed, or the job ends.
  bool wait_for_more() override { return false; }

 private:
  std::int64_t all() const { return ends_.empty() ? 0 : ends_.back(); }

  /// All ranks get the same list, so that records appended meanwhile do not shift it.
  void tell_all() {
    std::int64_t size = std::ssize(missing_);
    MPI_Bcast(&size, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    missing_.resize(static_cast<std::size_t>(size));
    for (std::int64_t i = 0; i < size; i += piece)
      MPI_Bcast(&missing_[static_cast<std::size_t>(i)], static_cast<int>(2 * std::min(piece, size - i)), MPI_INT64_T, 0,
                MPI_COMM_WORLD);
  }
  static constexpr std::int64_t piece = 1 << 20;  ///< ranges in one message

  /// Claims an eighth of this rank's share of the remaining instances: many at first, so that claims are few, and few
  /// in the end, so that all ranks finish at about the same time (guided self-scheduling: C. Polychronopoulos, D. Kuck,
  /// IEEE Trans. Computers 36 (1987) 1425). Large claims are whole blocks of statistics.
  void claim() {
    constexpr std::int64_t shares = 8;
    std::int64_t many = std::max<std::int64_t>(1, left_ / (shares * job_.ranks));
    if (many > statistics_block) many -= many % statistics_block;
    std::int64_t first = 0;
    MPI_Fetch_and_op(&many, &first, MPI_INT64_T, 0, 0, MPI_SUM, window_);
    MPI_Win_flush(0, window_);
    const std::int64_t end = std::min(first + many, all());
    left_ = std::max<std::int64_t>(all() - end, 0);
    auto at = static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), first) - ends_.begin());
    for (; first < end; ++at) {
      const std::int64_t here = std::min(end, ends_[at]) - first;
      mine_.push_back({missing_[at].end() - (ends_[at] - first), here});
      first += here;
    }
  }

  const job& job_;
  std::string name_;
  MPI_Win window_ = MPI_WIN_NULL;
  std::int64_t* taken_ = nullptr;  ///< the counter itself, at rank 0
  std::optional<cancellation> stop_;
  std::vector<id_range> missing_;
  std::vector<std::int64_t> ends_;  ///< number of instances up to the end of each range
  std::deque<id_range> mine_;
  std::atomic<std::int64_t> left_ = 0;
};
static_assert(sizeof(id_range) == 2 * sizeof(std::int64_t));

/// Processes messages while this rank integrates: over some networks other ranks can add to a counter only while its
/// owner is in an MPI call.
std::jthread answering(bool asked) {
  if (!asked) return {};
  return std::jthread([](const std::stop_token& over) {
    while (!over.stop_requested()) {
      int some = 0;
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &some, MPI_STATUS_IGNORE);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
}

/// Divides the processors and devices of a machine between its ranks.
void divide_machine(plan& p, const job& of) {
  if (p.threads == 0) {
    cpu_set_t bound;
    const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    const int mine = ::sched_getaffinity(0, sizeof bound, &bound) == 0 ? CPU_COUNT(&bound) : cores;
    p.threads = std::clamp(cores / of.local_ranks, 1, std::max(mine, 1));
  }
  if (p.backend == backend_kind::cpu) return;
  std::vector<int> devices = p.devices;
  if (devices.empty())
    for (int i = 0; i < static_cast<int>(cuda_devices().size()); ++i) devices.push_back(i);
  if (!devices.empty()) p.devices = {devices[static_cast<std::size_t>(of.local_rank) % devices.size()]};
}

/// Runs an ensemble on all ranks. Returns the common exit code; an error in one rank ends the job.
class ranks_run {
 public:
  ranks_run(const run_arguments& a, const std::vector<std::string>& command) : arguments_(a) {
    options_.replace = a.force;
    options_.restart = a.restart && job_.is_first();
    options_.time_limit = a.time_limit;
    options_.command = command;
  }

  int run() {
    if (const int code = prepare(); code != exit_ok) return code;
    const run_report mine = integrate();
    const bool was_cut = mine.exit_code != exit_ok && mine.exit_code != exit_failed_instances;
    const int worst = job_.most(was_cut ? mine.exit_code : exit_ok);
    if (worst == exit_ok) return job_.most(job_.is_first() ? make_result() : exit_ok);
    if (job_.is_first())
      say("what has ended is kept in {}: the same command goes on with it, on any number of ranks\n", mine.journal);
    return worst;
  }

 private:
  /// Makes the plan and its modules. Rank 0 reports errors; on every other machine one rank compiles for all.
  int prepare() {
    const auto make_plan = [&]() -> int {
      try {
        plan_ = plan_of(arguments_, interrupted);
        if (plan_.file.empty())
          throw error(exit_usage, "a result file must be named, for its journal: output.file, or -o FILE");
        divide_machine(plan_, job_);
        if (job_.is_first()) check_run(plan_, options_);
        make_backend(plan_, interrupted);
        return exit_ok;
      } catch (const error& e) {
        say("saltus-mpi: {}\n", e.what());
        return e.exit_code;
      }
    };
    const int turn = job_.is_first() ? 0 : job_.local_rank == 0 ? 1 : 2;
    for (int now = 0; now <= 2; ++now)
      if (const int code = job_.most(turn == now ? make_plan() : exit_ok); code != exit_ok) return code;
    if (job_.is_first()) print_warnings(plan_);
    return exit_ok;
  }

  /// Integrates this rank's instances. Rank 0 shows the progress of all.
  run_report integrate() {
    counter share(job_);
    const auto answers = answering(job_.is_first() && job_.ranks > 1);
    options_.mode = shared_with(share);
    std::optional<progress> bar;
    std::int64_t left = 0;
    run_listener listener;
    if (job_.is_first()) {
      listener.say = [](const std::string& text) { say("{}", text); };
      listener.begins = [&](const plan& p, std::int64_t instances, std::int64_t) {
        bar.emplace(left = instances, p.model.name, arguments_.quiet, stderr);
      };
      listener.progress = [&, mutex = std::make_shared<std::mutex>()](std::int64_t) {
        const std::lock_guard lock(*mutex);
        bar->add(left - share.unclaimed());
        left = share.unclaimed();
      };
      listener.ends = [&] { bar->finish(); };
    }
    auto r = host::run(plan_, options_, interrupted, listener);
    options_.mode = alone();
    options_.restart = false;
    MPI_Barrier(MPI_COMM_WORLD);  // keeps the counter until no rank needs it
    return r;
  }

  int make_result() {
    return run_and_tell(
        arguments_, [&](const run_listener& listener) { return host::run(plan_, options_, interrupted, listener); });
  }

  const job job_;
  const run_arguments& arguments_;
  run_options options_;
  plan plan_;
};

int mpi_program(int argc, char** argv) {
  run_arguments arguments;
  CLI::App app{"saltus-mpi: one ensemble by all processes of an MPI job, mpirun -n 8 saltus-mpi run SPEC",
               "saltus-mpi"};
  app.set_version_flag("--version", version_with_commit());
  app.require_subcommand(1);
  CLI::App* const command = app.add_subcommand("run", "run an ensemble");
  add_run_options(command, arguments);
  add_journal_options(command, arguments);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return rank == 0 ? app.exit(e) : 0;
    if (rank == 0) say("saltus-mpi: {}\nsaltus-mpi run --help tells more\n", e.what());
    return exit_usage;
  }
  own_hdf5();
  guard_process();
  std::signal(SIGXFSZ, SIG_IGN);
  listen_to_signals();
  return ranks_run(arguments, {argv, argv + argc}).run();
}

}  // namespace
}  // namespace saltus::host

int main(int argc, char** argv) {
  using namespace saltus::host;
  int threads = MPI_THREAD_SINGLE, code = exit_failure;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &threads);
  try {
    if (threads < MPI_THREAD_MULTIPLE)
      throw error(exit_failure, "this MPI library does not let several threads call it (MPI_THREAD_MULTIPLE)");
    code = mpi_program(argc, argv);
  } catch (const std::exception& e) {
    // The other ranks wait for this one, so the job must be aborted.
    const auto* const known = dynamic_cast<const error*>(&e);
    say("saltus-mpi: {}\n", message_of(e));
    std::fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, known ? known->exit_code : exit_failure);
  }
  std::fflush(stdout);
  MPI_Finalize();
  return code == exit_interrupted ? exit_code_of_signal() : code;
}
