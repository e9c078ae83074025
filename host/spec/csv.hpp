// Columns of numbers from CSV files (RFC 4180 without line breaks inside quotes; the first line is the header).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace saltus::host {

/// Columns of a file, as long as each other.
struct csv_table {
  std::vector<std::string> names;
  std::vector<std::vector<double>> columns;
};

/// What a path must be to stand for standard input.
inline constexpr const char* standard_input_name = "-";
/// All of it; it is read once.
const std::string& standard_input();

/// The columns of these names, in their order; without names, all there are, in that of the file. Empty lines are skipped. Throws an
/// `error` with exit code 2: `runs.csv:5:3: flow = abc: must be a finite number` (line, column) about a number; and, beginning
/// with `who` and naming the file, if it cannot be read, has no such column or two of that name, or no row.
csv_table read_csv_table(const std::filesystem::path& file, std::vector<std::string> names, const std::string& who);
/// The same of a text that is called `name`.
csv_table read_csv_table(std::istream& in, const std::string& name, std::vector<std::string> names,
                         const std::string& who);

}  // namespace saltus::host
