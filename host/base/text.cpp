#include "base/text.hpp"

#include <limits>

#include <fmt/format.h>

namespace saltus::host {

namespace {

bool is_control(unsigned char c) { return c < 0x20 || c == 0x7f; }

/// The length of a UTF-8 sequence at the beginning that a terminal would act on: controls U+0080 to U+009F, and marks
/// that change the direction of writing (U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069); 0: there is none.
std::size_t acting_sequence(std::string_view text) {
  const auto at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0; };
  if (at(0) == 0xc2 && at(1) >= 0x80 && at(1) <= 0x9f) return 2;
  if (at(0) != 0xe2) return 0;
  const bool of_80 = at(1) == 0x80 && (at(2) == 0x8e || at(2) == 0x8f || (at(2) >= 0xaa && at(2) <= 0xae));
  return of_80 || (at(1) == 0x81 && at(2) >= 0xa6 && at(2) <= 0xa9) ? 3 : 0;
}

std::string without_controls(std::string_view text, bool in_one_line) {
  std::string kept;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (const auto length = acting_sequence(text.substr(i)); length > 0) i += length - 1;
    else if (text[i] == '\n' || text[i] == '\t') kept += in_one_line ? ' ' : text[i];
    else if (!is_control(static_cast<unsigned char>(text[i]))) kept += text[i];
  }
  return kept;
}

}  // namespace

namespace {
constexpr std::string_view plain_in_shells = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";
}

std::string shell_word(const std::string& word) {
  if (!word.empty() && word.find_first_not_of(plain_in_shells) == word.npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string shell_word_to_type(const std::string& word) {
  if (printable_line(word) == word) return shell_word(word);
  std::string quoted = "$'";  // for bash, zsh and ksh: every byte that is not plain, by its number
  for (const char c : word)
    quoted += plain_in_shells.find(c) != plain_in_shells.npos ? std::string(1, c)
                                                              : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  return quoted + "'";
}

std::string printable(std::string_view text) { return without_controls(text, false); }
std::string printable_line(std::string_view text) { return without_controls(text, true); }

std::string counted(std::size_t n, const char* noun) { return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s"); }

std::string bytes_text(std::int64_t n) {
  if (n == std::numeric_limits<std::int64_t>::max()) return "more than 9.2 EB (2^63 bytes)";
  const char* const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  double x = static_cast<double>(n);
  int i = 0;
  while (x >= 1000 && i < 6) x /= 1000, ++i;
  return fmt::format("{:.{}f} {}", x, i == 0 ? 0 : 1, units[i]);
}

std::string duration_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.2g} us", 1e6 * seconds);
  if (seconds < 0.995) return fmt::format("{:.2g} ms", 1e3 * seconds);
  if (seconds < 99.5) return fmt::format("{:.2g} s", seconds);
  if (seconds < 99.5 * 60) return fmt::format("{:.2g} min", seconds / 60);
  if (seconds < 99.5 * 3600) return fmt::format("{:.2g} h", seconds / 3600);
  return fmt::format("{:.3g} days", seconds / 86400);
}

}  // namespace saltus::host
