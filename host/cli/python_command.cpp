// saltus plot, saltus report and saltus import belong to the Python package; the program passes its arguments on.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "cli/commands.hpp"

namespace saltus::host {

namespace {

/// Removes the current folder from the search path: `python3 -c` would look for packages there first.
constexpr const char* script = R"(
import sys
sys.path[:] = [folder for folder in sys.path if folder]
try:
    from saltus._commands import main
except ImportError as e:
    sys.stderr.write(f"saltus {sys.argv[1]}: {sys.executable} has no Python package of saltus that does this ({e}): install it "
                     "there, in a clone of saltus by pip install '.[all]', or set SALTUS_PYTHON to the interpreter that has it\n")
    sys.exit(2)
sys.exit(main())
)";

}  // namespace

int run_in_python(char** arguments) {
  const char* chosen = std::getenv("SALTUS_PYTHON");
  const std::string interpreter = chosen && *chosen ? chosen : "python3";
  std::string options[] = {interpreter, "-c", script};
  std::vector<char*> words;
  for (auto& word : options) words.push_back(word.data());
  while (*arguments) words.push_back(*arguments++);
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  throw error(exit_usage, fmt::format("{}: cannot be started ({}); this is done by Python: install python3, or set "
                                      "SALTUS_PYTHON to its interpreter",
                                      interpreter, std::strerror(errno)));
}

}  // namespace saltus::host
