// The one header a model includes.
#pragma once

#include "model/contract.hpp"
#include "number/math.hpp"
