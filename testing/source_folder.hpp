// Files of the source tree that tests and benchmarks use. The folder is compiled into one object, so that ccache knows the others in every
// clone.
#pragma once

#include <string>

namespace saltus::test {

/// The absolute path of `name`, which is relative to the root of the source tree.
std::string in_source(const std::string& name = {});

}  // namespace saltus::test
