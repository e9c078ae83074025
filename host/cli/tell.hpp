// Output of the program for people, who read it on a terminal.
#pragma once

#include <cstdio>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"

namespace saltus::host {

// Names, titles and units come from foreign files: printable() removes control characters, so that no terminal acts on
// them.
template <class... Args>
void tell(std::FILE* to, fmt::format_string<Args...> form, Args&&... args) {
  const std::string text = printable(fmt::format(form, std::forward<Args>(args)...));
  std::fwrite(text.data(), 1, text.size(), to);
}
template <class... Args>
void tell(fmt::format_string<Args...> form, Args&&... args) {
  tell(stdout, form, std::forward<Args>(args)...);
}
/// A message to stderr. A failure to write it must not end a run.
template <class... Args>
void say(fmt::format_string<Args...> form, Args&&... args) {
  tell(stderr, form, std::forward<Args>(args)...);
}

}  // namespace saltus::host
