#include "testing/source_folder.hpp"

namespace saltus::test {

std::string in_source(const std::string& name) { return SALTUS_SOURCE_FOLDER "/" + name; }

}  // namespace saltus::test
