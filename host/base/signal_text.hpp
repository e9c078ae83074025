// Names of signals.
#pragma once

#include <string>

namespace saltus::host {

/// "SIGSEGV (Segmentation fault)"; for 0: "exit was called".
std::string signal_text(int number);

}  // namespace saltus::host
