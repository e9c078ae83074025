// Linear algebra by Eigen for compiled modules: factorisations of matrices that are too large for lanes.
#pragma once

#include "abi/module.hpp"

namespace saltus::host {

extern const abi::dense_algebra dense_algebra;

}  // namespace saltus::host
