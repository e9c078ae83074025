// Model texts in the cache: headers from results or from Python, which need a file; and a record of the texts that this
// user has run.
#pragma once

#include <filesystem>
#include <string>

namespace saltus::host {

/// Is this a valid name of a model: letters, digits and underscores, the first no digit?
bool is_identifier(const std::string& name);

/// Writes a header NAME.hpp with this text. The same text always gets the same path, so that its compiled module is
/// found again. Nothing is compiled. Throws `error` (exit_failure) if the header cannot be written, or the name is no
/// identifier.
std::filesystem::path keep_header(const std::string& name, const std::string& text);

/// Records that this user has had a model of this text compiled.
void note_run(const std::string& text);
bool has_been_run(const std::string& text);

}  // namespace saltus::host
