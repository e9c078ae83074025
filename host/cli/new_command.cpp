// saltus new.
#include <fmt/format.h>

#include "base/error.hpp"
#include "cli/commands.hpp"
#include "study/skeleton.hpp"

namespace saltus::host {

int new_model(const std::string& name) {
  const auto file = write_skeleton(name).string();
  const std::string path = file.find('/') == file.npos ? "./" + file : file;
  fmt::print(
      "wrote {0}\n  read it:   saltus describe {1}\n  check it:  saltus check {1} --lint\n  run it:    saltus run "
      "{1}\n",
      file, path);
  return exit_ok;
}

}  // namespace saltus::host
