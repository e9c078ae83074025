// Where a result comes from: what its file says about the run beyond the plan, so that it can be made again.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "spec/plan.hpp"

namespace saltus::host {

class backend;

/// A file that a run was made from, and the hash of its content (XXH3, 128 bits, as `xxhsum -H128` prints it).
struct source_file {
  std::string path, hash;
};

struct provenance {
  std::string version;     ///< of saltus, with the commit
  std::string model_hash;  ///< of the model's header and what it includes: the same on every machine
  std::string compiler;
  std::string device;
  std::string command;      ///< the command line, for the attribute `history`
  std::string module_hash;  ///< of all that went into the compiled code: sources, settings, compiler, processor
  std::string model_text;   ///< the model's header
  std::vector<source_file> sources;  ///< the header, what it includes, the spec, CSV files
};

/// Of a run of this plan on this backend. Throws `error` (exit_failure) if a file that it was made from is gone.
provenance provenance_of(const plan& p, const backend& where, const std::string& command);

/// The files that a plan was made from: the model's header, what it includes, the spec, CSV files. Throws likewise.
std::vector<source_file> sources_of(const plan& p);

/// As they stand in a result file of the plan.
std::string lines_of(const std::vector<source_file>& files, const plan& p);
/// A path, and the spec, as a result of the plan tells them: all of it, or without folders.
std::string told_path(const std::filesystem::path& file, const plan& p);
std::string told_spec(const plan& p);

/// Words as a line for a shell, which reads them back as they are.
std::string shell_line(const std::vector<std::string>& words);

/// Every key of a spec that has a default, with the value that is used in this plan, as TOML: a spec of the same settings,
/// without [parameters], [initial], [sweep] and [sample]. What is off and has no value to write stands in a comment.
std::string settings_text(const plan& p);

}  // namespace saltus::host
