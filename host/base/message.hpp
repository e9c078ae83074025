// The program's message about an exception.
#pragma once

#include <exception>
#include <string>

namespace saltus::host {

/// The message for the user; if the system refused memory or a thread, it includes the remedy.
std::string message_of(const std::exception& e);

}  // namespace saltus::host
