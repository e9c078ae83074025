// How the host program fails: one exception that carries the exit code, and hints for misspelt names.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace saltus::host {

/// Exit codes of the program.
enum exit_status : int {
  exit_ok = 0,
  exit_failure = 1,           ///< an error at run time: a full disk, an unwritable file
  exit_usage = 2,             ///< an error in the spec or on the command line
  exit_failed_instances = 3,  ///< more instances failed than the spec allows
  exit_model = 4,             ///< the model does not compile
  exit_device = 5,            ///< the requested device is absent
  exit_time_limit = 75,       ///< stopped at the time limit of the run; the same command goes on
  exit_interrupted = 130,     ///< interrupted
};

/// Thrown wherever the host cannot go on; `what()` is the complete message for the user.
struct error : std::runtime_error {
  int exit_code;
  error(exit_status status, const std::string& message) : std::runtime_error(message), exit_code(status) {}
};

/// The number of single-character insertions, deletions and substitutions that turn `a` into `b` (Levenshtein).
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

/// The hint after a name that is not allowed: "did you mean rtol? allowed: model, method, ...". The question is left
/// out when no allowed name is near: at most half of the characters differ, and at most two, or one in three.
inline std::string suggest(std::string_view given, const std::vector<std::string_view>& allowed) {
  std::string_view nearest;
  std::size_t least = std::min(given.size() / 2, std::max<std::size_t>(2, given.size() / 3)) + 1;
  std::string list;
  for (const auto name : allowed) {
    const auto distance = edit_distance(given, name);
    const bool goes_on = name.starts_with(given) && !nearest.starts_with(given);  // for rodas5: rodas5p before rodas4
    if (distance < least || (distance == least && !nearest.empty() && goes_on)) least = distance, nearest = name;
    list += (list.empty() ? "" : ", ") + std::string(name);
  }
  if (list.empty()) list = "none";
  return (nearest.empty() ? "" : "did you mean " + std::string(nearest) + "? ") + "allowed: " + list;
}

}  // namespace saltus::host
