// The most operations that a machine can do: what a rate is a fraction of.
#pragma once

#include <string>

namespace saltus::host {

/// Floating-point operations per second of `threads` threads of this machine at once, by multiply-adds (two operations each)
/// that do not wait for one another, in a module that is compiled for this machine, as models are. Measured: takes some
/// 0.1 s of each thread, and its compilation on first use. In processor time: what other programs take does not count.
double cpu_peak_flops(const std::string& precision, int threads);

}  // namespace saltus::host
