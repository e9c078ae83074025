// Messages about exceptions and signals.
#pragma once

#include <exception>
#include <string>

namespace saltus::host {

/// The message for the user; if the system refused memory or a thread, it includes the remedy.
std::string message_of(const std::exception& e);

/// "SIGSEGV (Segmentation fault)"; for 0: "exit was called".
std::string signal_text(int number);

}  // namespace saltus::host
