// Linear algebra for compiled units, by Eigen: factorisations of matrices that are too large for lanes.
#pragma once

#include "abi/unit.hpp"

namespace saltus::host {

extern const abi::dense_algebra dense_algebra;

}  // namespace saltus::host
