// The peak rate of operations of this machine, of which measured rates are a fraction.
#pragma once

#include "spec/spec_choices.hpp"

namespace saltus::host {

/// Peak floating-point operations per second of `threads` concurrent threads of this machine: independent multiply-adds
/// (two operations each) in a module that is compiled for this machine like a model. The measurement takes some 0.1 s
/// of each thread, and a compilation on first use. It counts processor time, so other programs do not affect it.
double cpu_peak_flops(precision_kind precision, int threads);

}  // namespace saltus::host
