// Signals of the program, which alone listens to any: the library is given a token.
#pragma once

#include "base/cancellation.hpp"

namespace saltus::host {

/// Cancelled by the first Ctrl-C.
extern const cancellation interrupted;
/// What the program returns after it: 128 and the number of the signal, as shells say it.
int exit_code_of_signal();

/// From now on a signal ends what is under way rather than the program; so does a terminal that goes away, unless nohup
/// has been told to let it go.
void listen_to_signals();

/// Whoever reads messages may go: a run goes on.
void ignore_broken_pipes();

}  // namespace saltus::host
