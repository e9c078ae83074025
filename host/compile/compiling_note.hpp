// That a module is being compiled, for whoever shows progress.
#pragma once

#include <string>

namespace saltus::host {

/// While it lives, a module is being compiled: said by compiling_now(). Of several at a time the first one is told of.
class compiling_note {
 public:
  explicit compiling_note(std::string what);
  ~compiling_note();
  compiling_note(const compiling_note&) = delete;
  compiling_note& operator=(const compiling_note&) = delete;

 private:
  bool is_told_;
};
/// "compiling rescue, 12 s"; empty if nothing is.
std::string compiling_now();

}  // namespace saltus::host
