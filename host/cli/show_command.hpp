// `saltus show`: prints the content of a result file.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

namespace saltus::host {

struct show_options {
  std::string file;
  std::string called = {};                    ///< shown instead of the file's own name
  std::optional<std::int64_t> instance = {};  ///< show everything about this instance
  bool failed = false;                        ///< list the failed instances
  bool json = false;
};

/// Shows the ended instances of a journal like a result; another run may be writing it.
int show_journal(show_options options, std::FILE* out);

/// Prints a summary of a result file, one instance of it, or its failed instances to `out`, as text or as one JSON
/// object (json.hpp). Returns 0. Throws `error`: exit_failure if the file cannot be read or is no result of saltus,
/// exit_usage if `instance` is not in the file or both `instance` and `failed` are asked for.
int show(const show_options& options, std::FILE* out);

}  // namespace saltus::host
