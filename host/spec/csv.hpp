// Columns of numbers from CSV files (RFC 4180 without line breaks inside quotes; the first line is the header).
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
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

/// A cell, without surrounding blanks and quotes.
struct csv_cell {
  std::string_view text;
  std::size_t at;  ///< where it begins in its line, from 1
};

/// Reads a file row by row. Empty lines are skipped. Errors (exit_usage) are those of read_csv_table.
class csv_reader {
 public:
  /// `who` begins messages that are not about a row.
  csv_reader(const std::filesystem::path& file, std::string who);
  csv_reader(std::istream& in, std::string name, std::string who);
  csv_reader(const csv_reader&) = delete;
  csv_reader& operator=(const csv_reader&) = delete;

  const std::string& name() const { return name_; }
  /// The names of all columns.
  const std::vector<std::string>& header() const { return header_; }
  /// The index of a column. Throws unless the header has it once.
  std::size_t column(const std::string& name);

  /// Goes to the next row; returns false behind the last one.
  bool next();
  /// A cell of the row; it is empty if the row ends before it.
  csv_cell cell(std::size_t column) const;
  /// The finite number in a cell.
  double number(std::size_t column) const;
  /// "runs.csv:5:3": the line and column of a cell.
  std::string location(std::size_t column) const;
  /// Throws: "runs.csv:5:3: flow = abc: must be a finite number".
  [[noreturn]] void fail(std::size_t column, std::string_view what) const;

 private:
  void read_header();

  std::unique_ptr<std::istream> own_;
  std::istream* in_;
  std::string name_, who_, line_, first_line_;
  std::vector<std::string> header_;
  std::vector<std::size_t> header_places_;
  std::vector<csv_cell> cells_;
  std::int64_t row_ = 1;
};

/// The columns with these names, in their order; without names, all columns in the order of the file. Empty lines are
/// skipped. Throws `error` (exit_usage): for a number, `runs.csv:5:3: flow = abc: must be a finite number` (line,
/// column); if the file cannot be read, lacks a column or has two of its name, or has no row, a message that begins
/// with `who` and names the file.
csv_table read_csv_table(const std::filesystem::path& file, std::vector<std::string> names, const std::string& who);
/// The same for a stream with the name `name`.
csv_table read_csv_table(std::istream& in, const std::string& name, std::vector<std::string> names,
                         const std::string& who);

}  // namespace saltus::host
