// toml++ with its functions taken from the compiled library; compiling them into each file would dominate the build.
#pragma once

#define TOML_HEADER_ONLY 0
#include <toml++/toml.h>
