// The origin of a result: what its file records about the run beyond the plan, so that the run can be repeated.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "spec/plan.hpp"

namespace saltus::host {

class backend;

/// A source file of a run, and the hash of its content (XXH3, 128 bits, as `xxhsum -H128` prints it).
struct source_file {
  std::string path, hash;
};

struct provenance {
  std::string version;     ///< of saltus, with the commit
  std::string model_hash;  ///< of the model's header and its includes: the same on every machine
  std::string compiler;
  std::string device;
  std::string command;               ///< the command line, for the attribute `history`
  std::string module_hash;           ///< of all inputs of the compiled code: sources, settings, compiler, processor
  std::string model_text;            ///< the model's header
  std::vector<source_file> sources;  ///< the header, its includes, the spec, CSV files
};

/// The provenance of a run of this plan on this backend. Throws `error` (exit_failure) if a source file is gone.
provenance provenance_of(const plan& p, const backend& where, const std::string& command);

/// The source files of a plan: the model's header, its includes, the spec, CSV files. Throws likewise.
std::vector<source_file> sources_of(const plan& p);

/// The lines for the attribute of a result file.
std::string lines_of(const std::vector<source_file>& files, const plan& p);
/// A path, and the spec, as a result of the plan shows them: in full, or without folders if the plan is anonymous.
std::string told_path(const std::filesystem::path& file, const plan& p);
std::string told_spec(const plan& p);

/// Joins words to a shell line that a shell parses back unchanged.
std::string shell_line(const std::vector<std::string>& words);

/// Every key of a spec that has a default, with the value used in this plan, as TOML: a spec with the same settings,
/// without [parameters], [initial], [sweep] and [sample]. A setting that is off and has no value appears as a comment.
std::string settings_text(const plan& p);
/// [records] as TOML, with which an instance finds its rows again; but for its id.
std::string records_text(const plan& p);

}  // namespace saltus::host
