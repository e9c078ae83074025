// Columns of numbers from CSV files (RFC 4180 without line breaks inside quotes; the first line is the header).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace saltus::host {

/// The numbers of the column of that name, from the second line on; empty lines are skipped. Throws an `error` with
/// exit code 2: `runs.csv:5:3: flow = abc: must be a finite number` (line, column) about a number; and, beginning with
/// `who` and naming the file, if it cannot be read, has no such column or two of that name, or no row.
std::vector<double> read_csv_column(const std::filesystem::path& file, const std::string& column,
                                    const std::string& who);

}  // namespace saltus::host
