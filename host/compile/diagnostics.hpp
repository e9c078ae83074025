// What a compiler complains of, in one sentence.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace saltus::host {

/// The place in a header where one of these words stands, the first of them that does: "/my/ball.hpp:12". Without any, the
/// struct.
std::string place_of(const std::filesystem::path& header, std::vector<std::string> words);

/// The line of a module on which its model has ended, whatever stands in it.
inline constexpr int line_after_model = 3;

/// The compiler's first complaint, as one readable sentence: about the model's own files rather than about what surrounds
/// them, and in the words of the contract if the model is at odds with that. None if it has nothing to say about sources.
/// `log` is all that the compiler said, `own` the model's files, as far as they are known, `source` the file of the
/// module.
std::optional<std::string> first_complaint(const std::string& log, const std::filesystem::path& header,
                                           const std::set<std::filesystem::path>& own,
                                           const std::filesystem::path& source);

/// What is wrong with the compiler itself: the first line that calls itself an error, else the first.
std::string own_trouble(const std::string& log);

}  // namespace saltus::host
