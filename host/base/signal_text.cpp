#include "base/signal_text.hpp"

#include <string.h>

#include <fmt/format.h>

namespace saltus::host {

std::string signal_text(int number) {
  if (number == 0) return "exit was called";
  const char* name = ::sigabbrev_np(number);
  return fmt::format("SIG{} ({})", name ? name : std::to_string(number).c_str(), ::strsignal(number));
}

}  // namespace saltus::host
