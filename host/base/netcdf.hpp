// A NetCDF file open for reading: variables and attributes by name. It knows nothing about the contents that saltus
// writes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/attribute.hpp"
#include "base/error.hpp"

namespace saltus::host {

struct netcdf_variable {
  int id;
  std::string name, role, unit, about;  ///< its attributes role, units and long_name; empty without one
  std::vector<std::string> dimensions;
  bool is_number;  ///< false for text
  int type;        ///< NetCDF external type

  bool per_instance() const { return dimensions.size() == 1 && dimensions[0] == "instance"; }
  std::string bracketed_unit() const { return unit.empty() || unit == "1" ? "" : "[" + unit + "]"; }
};

/// Does the file begin as NetCDF files do?
bool is_netcdf(const std::filesystem::path& file);

/// Every member throws `error` if the file cannot be read, or is no NetCDF file.
class netcdf_file {
 public:
  /// @param what  ends the message about a folder or a pipe
  explicit netcdf_file(const std::string& path, const std::string& what = "not a NetCDF file");
  ~netcdf_file();
  netcdf_file(const netcdf_file&) = delete;
  netcdf_file& operator=(const netcdf_file&) = delete;

  const std::string& path() const { return path_; }
  std::size_t bytes() const { return bytes_; }  ///< of the file
  /// Sets the name that messages use, if it is not the name of the file.
  void call(const std::string& name) { path_ = name; }
  const std::vector<netcdf_variable>& variables() const { return variables_; }
  const netcdf_variable* find(std::string_view name) const;  ///< null: there is none

  bool has_attribute(const char* name) const;
  /// An attribute of a variable or of the file; empty or NaN if there is none.
  std::string text(const char* attribute) const;
  std::string text(const char* attribute, const netcdf_variable& of) const;
  double number(const char* attribute) const;
  double number(const char* attribute, const netcdf_variable& of) const;
  /// An attribute of the file that holds whole numbers; empty if there is none.
  std::vector<long long> whole_numbers(const char* attribute) const;
  unsigned long long whole_number(const char* attribute) const;  ///< 0 if there is none
  std::vector<attribute> attributes() const { return attributes(-1); }
  std::vector<attribute> attributes(const netcdf_variable& of) const { return attributes(of.id); }
  std::size_t dimension(const char* name) const;

  /// The number of values in a variable of at most one dimension.
  std::size_t length(const netcdf_variable& v) const;
  using position = std::array<std::size_t, 2>;
  std::vector<double> reals(const netcdf_variable& v, position start, position count) const;
  std::vector<long long> integers(const netcdf_variable& v, std::size_t start, std::size_t count) const;
  /// All values of a variable of at most one dimension, converted from the type of the file to double.
  std::vector<double> column(const netcdf_variable& v) const;
  /// The same of a variable of at most two dimensions, row by row.
  std::vector<double> numbers(const netcdf_variable& v) const;
  /// The numbers of `count` indices along the first dimension, or of a scalar, in the type of the file.
  std::string bytes(const netcdf_variable& v, std::int64_t first, std::int64_t count) const;
  /// The texts of a variable of one dimension.
  std::vector<std::string> texts(const netcdf_variable& v) const;
  /// The value of integers that were never written.
  long long unset(const netcdf_variable& v) const;

 protected:
  void must(int netcdf_status) const;
  int handle() const { return file_; }

 private:
  void read_variables();
  std::vector<attribute> attributes(int variable) const;
  std::string text_of(const char* attribute, int variable) const;
  double number_of(const char* attribute, int variable) const;
  bool has_number(const char* attribute, int variable) const;
  void must_be_numbers(const netcdf_variable& v, std::size_t dimensions) const;
  void must_fit(const netcdf_variable& v, position count) const;

  std::string path_;
  std::size_t bytes_ = 0;
  int file_ = -1;
  std::vector<netcdf_variable> variables_;
};

}  // namespace saltus::host
