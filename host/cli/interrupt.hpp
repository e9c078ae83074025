// Signals of the program. Only the program handles signals; the library gets a token.
#pragma once

#include "base/cancellation.hpp"

namespace saltus::host {

/// Cancelled by the first Ctrl-C.
extern const cancellation interrupted;
/// The exit code after a signal: 128 plus the signal's number, as in shells.
int exit_code_of_signal();

/// From now on a signal ends the work under way instead of the program. So does a closed terminal, unless nohup ignores
/// that.
void listen_to_signals();

/// Ignores SIGPIPE: if the reader of messages ends, the run goes on.
void ignore_broken_pipes();

}  // namespace saltus::host
