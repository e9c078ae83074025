// Columns of numbers from CSV files (RFC 4180 without line breaks inside quotes; the first line is the header).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace saltus::host {

/// Columns of a file, all of one length.
struct csv_table {
  std::vector<std::string> names;
  std::vector<std::vector<double>> columns;
};

/// The path that stands for standard input.
inline constexpr const char* standard_input_name = "-";
/// The content of standard input, which is read once.
const std::string& standard_input();

/// The columns with these names, in their order; without names, all columns in the order of the file. Empty lines are
/// skipped. Throws `error` (exit_usage): for a number, `runs.csv:5:3: flow = abc: must be a finite number` (line,
/// column); if the file cannot be read, lacks a column or has two of its name, or has no row, a message that begins
/// with `who` and names the file.
csv_table read_csv_table(const std::filesystem::path& file, std::vector<std::string> names, const std::string& who);
/// The same for a stream with the name `name`.
csv_table read_csv_table(std::istream& in, const std::string& name, std::vector<std::string> names,
                         const std::string& who);

}  // namespace saltus::host
