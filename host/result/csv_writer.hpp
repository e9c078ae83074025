// Writes the rows of a result as CSV: one line for each instance, in the order of ids, with the columns that have one
// number per instance. The attributes of the run have no place in it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ensemble/chunk_data.hpp"
#include "result/output.hpp"
#include "result/part_file.hpp"
#include "result/schema.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

extern const output_format csv_files;

/// Lines of consecutive instances.
struct csv_lines {
  std::int64_t first, count, ended;
  std::string text;
};

/// Lines that wait for those of lower ids: in memory up to a bound, beyond it in a temporary file.
class waiting_lines {
 public:
  explicit waiting_lines(std::int64_t bound) : bound_(bound) {}

  void put(csv_lines lines);
  bool empty() const { return waiting_.empty(); }
  /// The first instance of all.
  std::int64_t first() const { return waiting_.begin()->first; }
  /// Takes the lines of the lowest ids.
  csv_lines take();

 private:
  struct place {
    csv_lines lines;
    long at = 0;            ///< where the text begins in the file
    std::size_t bytes = 0;  ///< its length there; 0: it is in memory
  };
  const std::int64_t bound_;
  std::int64_t in_memory_ = 0;
  std::map<std::int64_t, place> waiting_;  ///< by first instance
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{nullptr, std::fclose};
};

/// Writes the result of one run; the unfinished file is locked (part_file.hpp).
class csv_writer final : public output_file {
 public:
  static constexpr std::int64_t usual_bound = std::int64_t{256} << 20;

  csv_writer(const std::filesystem::path& path, const plan& p, existing older = existing::refused,
             abandoned part = abandoned::set_aside, std::int64_t bound = usual_bound);
  ~csv_writer() override;

  std::int64_t keep(const std::string& reason) override;
  const std::filesystem::path& unfinished() const override { return part_.path(); }
  const std::filesystem::path& set_aside() const override { return part_.set_aside(); }

 private:
  void put_rows(const chunk_data& chunk, const detail::derived_columns& derived) override;
  void end_rows() override;
  void put_final(std::size_t, const detail::final_values&) override {}  // such fields are refused (csv_files.check)
  void end(const std::vector<attribute>& last) override;

  void append(std::string_view text);
  void append(const csv_lines& lines);
  void append_unset(std::int64_t count);

  const std::filesystem::path path_;
  part_file part_;
  std::vector<detail::field> columns_;
  waiting_lines waiting_;
  std::int64_t next_ = 0;     ///< the first instance whose line is not in the file
  std::int64_t ended_ = 0;    ///< instances in the file that have ended
  std::uintmax_t bytes_ = 0;  ///< of the file
  bool closed_ = false;
};

}  // namespace saltus::host
