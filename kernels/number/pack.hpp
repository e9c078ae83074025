// pack<T, W>: W numbers that move together: one or a few SIMD registers on a CPU, or (W = 1) the one number of a scalar run or of a CUDA
// thread. mask<T, W>: the W answers of a comparison. Every operation acts lane by lane and rounds like IEEE-754 scalar arithmetic, so each
// lane of a pack holds the bits that a pack of one would hold.
#pragma once

#include "number/native_pack.hpp"
#include "number/split_pack.hpp"
