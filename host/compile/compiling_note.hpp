// A note for progress displays that a module is being compiled.
#pragma once

#include <string>

namespace saltus::host {

/// While it lives, compiling_now() reports its module; if several live at a time, the first one.
class compiling_note {
 public:
  explicit compiling_note(std::string what);
  ~compiling_note();
  compiling_note(const compiling_note&) = delete;
  compiling_note& operator=(const compiling_note&) = delete;

 private:
  bool is_told_;
};
/// "compiling rescue, 12 s"; empty if no module is being compiled.
std::string compiling_now();

}  // namespace saltus::host
