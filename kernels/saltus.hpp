// The one header a model includes.
#pragma once

#include "model/bare_names.hpp"
#include "model/rotation.hpp"
#include "model/views.hpp"
#include "number/plain_numbers.hpp"

using namespace saltus::plain;  // sqrt(2.0): its argument names no namespace to search
