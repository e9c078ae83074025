// Divides the instances of an ensemble between several runs, on one machine or many, by files in the journal.
//
// The ensemble is cut into tickets of equal size. The run that creates the file `leases/17` (open with O_EXCL, which
// network file systems do atomically) holds ticket 17. The file names its holder, which increments a number in its own
// file, `leases/alive.<name>`, while it lives. A holder is taken for dead if its number has not changed for some time
// by the watcher's clock, or if it has dropped the lock on that file on this machine. Another run then renames the
// lease away, which only one of several can do, and the ticket is free again. No clocks are compared, and no lock is
// trusted across machines.
//
// If a run is wrongly taken for dead, some instances are integrated twice; nothing else happens (claims.hpp).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "result/sharing.hpp"

namespace saltus::host {

/// Is there a complete result of this plan? If so, removes the remains of its journal.
bool is_made(const plan& p);

class leases final : public sharing {
 public:
  /// Shares the ensemble of a plan. A run without a sign of life for `seconds` is taken for dead. With `replaces`, an
  /// existing result is ignored.
  leases(const plan& p, double seconds, bool replaces = false);
  ~leases() override;
  leases(const leases&) = delete;
  leases& operator=(const leases&) = delete;

  const std::string& name() const override { return name_; }
  /// Throws if another run has made the result since is_made() was called.
  void opened(journal& kept, const cancellation& stop) override;
  std::optional<id_range> next(std::int64_t wanted) override;
  std::int64_t unclaimed() const override { return left_; }
  bool wait_for_more() override;
  /// Called when all instances are in the journal. Returns true if this run must make the result; false if another run
  /// makes it or has made it.
  bool makes_result();

  /// Instances per ticket for the ensemble of a plan.
  static std::int64_t ticket_size(const plan& p);

 private:
  using clock = std::chrono::steady_clock;
  enum class state : std::uint8_t { free, held, ended };

  std::filesystem::path path(const std::string& what) const { return folder_ / what; }
  bool take(const std::string& ticket);
  void give_up(const std::string& ticket, const std::string& holder);
  std::string holder_of(const std::string& ticket) const;
  bool is_alive(const std::string& holder);
  void begin_to_beat();
  id_range instances_of(std::size_t ticket) const;
  void list();
  void look();
  void claim(std::int64_t wanted);

  const plan& plan_;
  const std::int64_t count_, size_;
  const double seconds_;
  const bool replaces_;
  std::string name_, boot_;
  std::filesystem::path folder_;
  journal* kept_ = nullptr;
  std::optional<cancellation> stop_;
  std::vector<state> tickets_;
  std::vector<id_range> missing_;  ///< the instances that were missing at the last look
  std::deque<id_range> taken_;     ///< claimed and not handed out yet
  std::size_t from_ = 0;           ///< tickets before this one are not free
  std::int64_t runs_ = 1;          ///< active runs, this one included
  std::atomic<std::int64_t> left_ = 0;
  struct sign_of_life {
    std::string text;
    clock::time_point since;
  };
  std::map<std::string, sign_of_life> seen_;
  int heart_ = -1;
  std::jthread beating_;  // the last member: it uses the others
};

}  // namespace saltus::host
