#include "base/message.hpp"

#include <string.h>

#include <cerrno>
#include <cstring>
#include <new>

#include <fmt/format.h>

#include "base/error.hpp"

namespace saltus::host {

std::string message_of(const std::exception& e) {
  constexpr const char* remedy =
      ": is there a limit (ulimit -v, ulimit -u, the batch system)? Fewer --threads and a smaller --chunk take less; a "
      "run goes "
      "on with what is kept by the same command";
  if (dynamic_cast<const error*>(&e)) return e.what();
  if (dynamic_cast<const std::bad_alloc*>(&e)) return std::string("there is not enough memory") + remedy;
  // std::thread says only this; TBB adds a few words before it.
  if (std::string(e.what()).ends_with(std::strerror(EAGAIN))) return std::string("no thread can be started") + remedy;
  return e.what();
}

std::string signal_text(int number) {
  if (number == 0) return "exit was called";
  const char* name = ::sigabbrev_np(number);
  return fmt::format("SIG{} ({})", name ? name : std::to_string(number).c_str(), ::strsignal(number));
}

}  // namespace saltus::host
