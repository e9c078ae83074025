// Signals in words.
#pragma once

#include <string>

namespace saltus::host {

/// "SIGSEGV (Segmentation fault)"; of 0: "exit was called".
std::string signal_text(int number);

}  // namespace saltus::host
