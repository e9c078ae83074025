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
/// The columns of these names, in their order; without names, all there are, in that of the file. Throws as read_csv_column.
csv_table read_csv_table(const std::filesystem::path& file, std::vector<std::string> names, const std::string& who);

/// The numbers of the column of that name, from the second line on; empty lines are skipped. Throws an `error` with
/// exit code 2: `runs.csv:5:3: flow = abc: must be a finite number` (line, column) about a number; and, beginning with
/// `who` and naming the file, if it cannot be read, has no such column or two of that name, or no row.
std::vector<double> read_csv_column(const std::filesystem::path& file, const std::string& column,
                                    const std::string& who);

}  // namespace saltus::host
