// Texts of models in the cache: those that come out of a result or out of Python and need a file, and which of all this user has run.
#pragma once

#include <filesystem>
#include <string>

namespace saltus::host {

/// Is it a name that a model may have: letters, digits and underscores, the first no digit?
bool is_identifier(const std::string& name);

/// A header NAME.hpp with this text, where the same text always is, so that what is compiled of it is found again. Nothing is compiled.
/// Throws `error` (exit_failure) if it cannot be written, or the name is no identifier.
std::filesystem::path keep_header(const std::string& name, const std::string& text);

/// Notes that this user has had a model of this text compiled.
void note_run(const std::string& text);
bool has_been_run(const std::string& text);

}  // namespace saltus::host
