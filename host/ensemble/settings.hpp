// A plan's settings in the form that kernels take, and what goes with them.
#pragma once

#include "abi/module.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// Refers to `p`, which must outlive the result.
abi::settings settings_of(const plan& p);

/// CPU threads that the plan allows.
int threads_of(const plan& p);

/// Linear algebra by Eigen for compiled modules: factorisations of matrices that are too large for lanes.
extern const abi::dense_algebra dense_algebra;

}  // namespace saltus::host
