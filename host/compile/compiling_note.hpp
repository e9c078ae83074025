// That a module is being compiled beside a run, for whoever shows progress.
#pragma once

#include <string>

namespace saltus::host {

/// While it lives, a module is being compiled beside a run: said by compiling_now().
class compiling_note {
 public:
  explicit compiling_note(std::string what);
  ~compiling_note();
  compiling_note(const compiling_note&) = delete;
  compiling_note& operator=(const compiling_note&) = delete;
};
/// "compiling rescue, 12 s"; empty if nothing is.
std::string compiling_now();

}  // namespace saltus::host
