// The rows of a run's recorded time events: data that each instance has of its own, such as a patient's doses. They are held once, shared
// by all chunks and all copies of the plan; read_records.cpp reads them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "abi/module.hpp"
#include "base/temporary_file.hpp"

namespace saltus::host {

/// Rows of equal width, one after another. Beyond `memory` bytes they go to a file without a name, which is mapped.
class row_store {
 public:
  static constexpr std::size_t memory = std::size_t{256} << 20;

  /// `folder` is that of the file; empty: the system's folder for such files.
  row_store(std::size_t width, std::filesystem::path folder) : width_(width), folder_(std::move(folder)) {}

  void add(const double* row);
  /// Ends the rows; only then data() is valid.
  void close();
  std::int64_t count() const { return count_; }
  std::size_t width() const { return width_; }
  const double* data() const { return data_; }
  std::size_t bytes() const { return static_cast<std::size_t>(count_) * width_ * sizeof(double); }

 private:
  /// Moves the rows in memory to the file. Returns false if it cannot be written: they then stay in memory.
  bool spill();

  std::size_t width_;
  std::filesystem::path folder_;
  std::int64_t count_ = 0;
  std::vector<double> here_;
  std::unique_ptr<temporary_file> file_;
  bool unspillable_ = false;
  const double* data_ = nullptr;
};

/// The instances with one id, by number: instances / stride % count. Without a sweep of rows, each instance is one of its own.
struct record_keys {
  std::int64_t count = 1, stride = 1;
  std::vector<double> ids;  ///< [count] the ids in the data; empty: 0, 1, 2, ...

  std::int64_t of(std::int64_t instance) const { return instance / stride % count; }
  double id(std::int64_t instance) const {
    const std::int64_t key = of(instance);
    return ids.empty() ? static_cast<double>(key) : ids[static_cast<std::size_t>(key)];
  }
};

/// The rows of one recorded time event.
struct record {
  std::string name;
  row_store rows;
  std::vector<std::int64_t> first,
      end;                     ///< [key] the rows of its instances: the first one, and the one behind the last
  std::filesystem::path file;  ///< from which they were read; empty: from arrays
  /// Columns that a program has passed beside the spec, by their names in the data.
  std::map<std::string, std::vector<double>> arrays;
};

/// The name in a result of an array that a program has passed: record_dose_amount.
inline std::string array_of_record(const record& r, const std::string& column) {
  return "record_" + r.name + "_" + column;
}

class run_records {
 public:
  /// `are_past`: rows up to the start of an instance were given by the run that this one continues.
  run_records(std::vector<record> all, record_keys keys, bool are_past);
  run_records(const run_records&) = delete;
  run_records& operator=(const run_records&) = delete;

  const std::vector<record>& all() const { return all_; }
  const record_keys& keys() const { return keys_; }
  bool are_past() const { return are_past_; }
  const abi::record* for_kernels() const { return for_kernels_.data(); }
  /// The rows of an instance in one record: the first one, and the one behind the last.
  std::pair<std::int64_t, std::int64_t> rows_of(std::size_t record, std::int64_t instance) const {
    const auto key = static_cast<std::size_t>(keys_.of(instance));
    return {all_[record].first[key], all_[record].end[key]};
  }

 private:
  std::vector<record> all_;
  record_keys keys_;
  bool are_past_;
  std::vector<abi::record> for_kernels_;
};

}  // namespace saltus::host
