// Small text functions: lists, and counts, sizes and durations for people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace saltus::host {

/// "a,b" -> a, b. An empty text gives an empty list.
inline std::vector<std::string> split_at_commas(const std::string& list) {
  std::vector<std::string> parts;
  std::stringstream text(list);
  for (std::string part; std::getline(text, part, ',');) parts.push_back(part);
  return parts;
}

/// Quotes a word so that any shell reads it back unchanged.
std::string shell_word(const std::string& word);
/// Quotes a word for a hint on a terminal; the quoted text contains no control characters.
std::string shell_word_to_type(const std::string& word);
/// Makes a text safe for a terminal: removes control characters except line breaks and tabs, and marks that change the
/// direction of writing.
std::string printable(std::string_view text);
/// The same, in one line.
std::string printable_line(std::string_view text);

/// "1 state", "3 states".
std::string counted(std::size_t n, const char* noun);
/// "1.5 MB"; for the largest number there is, "more than" that.
std::string bytes_text(std::int64_t n);
/// "3.2 s", "4 min", "1.5 h": rounded to the precision of an estimate.
std::string duration_text(double seconds);

}  // namespace saltus::host
