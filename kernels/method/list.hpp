// Every method, explicit and implicit: the lists that tests, specs and units go through.
#pragma once

#include "method/implicit_tableaus.hpp"

namespace saltus::methods {

/// Every method there is, once.
using every = decltype(all{} + implicit{});

}  // namespace saltus::methods
