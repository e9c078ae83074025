// A plan's settings in the form that kernels take.
#pragma once

#include "abi/module.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// Refers to `p`, which must outlive the result.
abi::settings settings_of(const plan& p);

/// CPU threads that the plan allows.
int threads_of(const plan& p);

}  // namespace saltus::host
