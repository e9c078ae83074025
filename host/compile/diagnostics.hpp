// Reduces a compiler's output to one sentence.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace saltus::host {

/// The location of the first of these words that the header contains: "/my/ball.hpp:12". If it contains none, the location of
/// the struct.
std::string location_of(const std::filesystem::path& header, std::vector<std::string> words);

/// The line of a module on which its model must have ended, whatever its header contains.
inline constexpr int line_after_model = 3;

/// The compiler's first error as one readable sentence: preferably about the model's own files, and in the words of the
/// contract if the model breaks it. None if the output has no error about sources. `log`: the compiler's output; `own`:
/// the model's files, as far as they are known; `source`: the file of the module.
std::optional<std::string> first_complaint(const std::string& log, const std::filesystem::path& header,
                                           const std::set<std::filesystem::path>& own,
                                           const std::filesystem::path& source);

/// A fault of the compiler itself: the first line with an error, else the first line.
std::string own_trouble(const std::string& log);

}  // namespace saltus::host
