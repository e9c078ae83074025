// What the program says of an exception.
#pragma once

#include <exception>
#include <string>

namespace saltus::host {

/// What an exception says, for the user: where the system has refused memory or a thread, also what is to be done.
std::string message_of(const std::exception& e);

}  // namespace saltus::host
