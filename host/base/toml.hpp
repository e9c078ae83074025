// toml++, whose functions are taken from its library: compiled with each file that needs them, they would be most of it.
#pragma once

#define TOML_HEADER_ONLY 0
#include <toml++/toml.h>
