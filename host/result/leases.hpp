// Who of several runs, on one machine or many, integrates which instances of an ensemble, agreed on by files in the journal.
//
// The ensemble is cut into tickets of equal size. Whoever makes the file `leases/17` (open with O_EXCL, which network file
// systems do as one step) has ticket 17. The file names its holder, which counts up in a file of its own, `leases/<name>`, while
// it lives. A holder whose number has not changed for some time by the clock of whoever watches it, or that has dropped
// the lock on that file on this machine, is dead: then its lease is renamed away, which one of all that try can do, and
// the ticket is free again. No clocks are compared, and no lock is trusted to be seen by another machine.
//
// A run that was only thought dead costs instances that are integrated twice, and nothing else (claims.hpp).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "result/sharing.hpp"

namespace saltus::host {

/// Is there a complete result of this very plan? Removes what may be left of its journal.
bool is_made(const plan& p);

class leases final : public sharing {
 public:
  /// Of the ensemble of a plan. A run that has shown no sign of life for so many `seconds` is taken for dead. With
  /// `replaces`, a result that is there says nothing.
  leases(const plan& p, double seconds, bool replaces = false);
  ~leases() override;
  leases(const leases&) = delete;
  leases& operator=(const leases&) = delete;

  const std::string& name() const override { return name_; }
  /// Throws if others have made the result since it was looked for: there is nothing to do, is_made() says so.
  void opened(journal& kept, const cancellation& stop) override;
  std::optional<id_range> next(std::int64_t wanted) override;
  std::int64_t left() const override { return left_; }
  bool wait_for_more() override;
  /// Asked when all instances are in the journal. Is it this run that makes the result? Else another one is at it, or has done it.
  bool makes_result();

  /// Instances of a ticket, of an ensemble of so many.
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
  std::vector<id_range> missing_;  ///< of all instances, when they were last looked at
  std::deque<id_range> taken_;     ///< that were claimed and not handed out yet
  std::size_t from_ = 0;           ///< tickets before this one are not free
  std::int64_t runs_ = 1;          ///< at work, this one too
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
