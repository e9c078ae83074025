#include "cli/interrupt.hpp"

#include <csignal>

namespace saltus::host {

const cancellation interrupted;

namespace {

volatile std::sig_atomic_t signals_came = 0;  ///< number of the first signal; 0: none

/// The first Ctrl-C asks the work under way to end, and a run to save ended instances; the second ends the program at
/// once. A closed terminal may send its signal more than once.
extern "C" void on_signal(int number) {
  if (signals_came != 0 && number != SIGHUP) std::signal(number, SIG_DFL), std::raise(number);
  if (signals_came == 0) signals_came = number;
  interrupted.cancel();
}

}  // namespace

void listen_to_signals() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  if (std::signal(SIGHUP, on_signal) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
}

int exit_code_of_signal() { return 128 + (signals_came != 0 ? signals_came : SIGINT); }

void ignore_broken_pipes() { std::signal(SIGPIPE, SIG_IGN); }

}  // namespace saltus::host
