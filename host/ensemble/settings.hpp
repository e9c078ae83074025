// A plan's settings as kernels take them.
#pragma once

#include "abi/module.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// The plan's settings as kernels take them; refers to `p`.
abi::settings settings_of(const plan& p);

/// CPU threads that the plan allows.
int threads_of(const plan& p);

}  // namespace saltus::host
