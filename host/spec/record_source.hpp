// Data by rows: a CSV file, or arrays that a program passes beside a spec.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace saltus::host {

/// Errors are `error` (exit_usage) and name the file with line and column, or the array with the number of the value.
class record_source {
 public:
  virtual ~record_source() = default;
  virtual const std::vector<std::string>& header() const = 0;
  /// The index of a column. Throws unless the header has it once.
  virtual std::size_t column(const std::string& name) = 0;
  /// Goes to the next row; returns false behind the last one.
  virtual bool next() = 0;
  /// True if a cell has no value: it is empty, "." or NaN.
  virtual bool is_missing(std::size_t column) const = 0;
  /// The finite number in a cell.
  virtual double number(std::size_t column) const = 0;
  /// "doses.csv:5:3", or "number 4 of records.dose.amount".
  virtual std::string location(std::size_t column) const = 0;
  [[noreturn]] virtual void fail(std::size_t column, std::string_view what) const = 0;
};

/// `who` begins messages that are not about a row.
std::unique_ptr<record_source> rows_of_csv(const std::filesystem::path& file, std::string who);
/// `who` is also the name of the whole. The columns must be equally long and outlive the source.
std::unique_ptr<record_source> rows_of_arrays(const std::map<std::string, std::vector<double>>& columns,
                                              std::string who);

}  // namespace saltus::host
