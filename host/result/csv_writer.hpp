// Writes the rows of a result as CSV: one line for each instance, in the order of ids, with the columns that have one
// number per instance. The attributes of the run have no place in it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/temporary_file.hpp"
#include "ensemble/chunk_data.hpp"
#include "ensemble/waiting_chunks.hpp"
#include "result/output.hpp"
#include "result/part_file.hpp"
#include "result/schema.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

extern const output_format csv_files;

/// Lines of consecutive instances, as they wait for their turn (waiting_chunks.hpp).
struct csv_lines {
  std::int64_t first, count, ended;
  std::shared_ptr<temporary_file> beyond;  ///< has the text that memory has no room for
  std::string text = {};
  std::int64_t begin = 0;  ///< of the text in the file
  std::size_t bytes = 0;   ///< of the text in the file; 0: it is in memory

  std::int64_t bytes_in_memory() const { return std::ssize(text); }
  void spill();
};

/// Writes the result of one run; the unfinished file is locked (part_file.hpp).
class csv_writer final : public output_file {
 public:
  static constexpr std::int64_t usual_bound = waiting_chunks<csv_lines>::usual_bound;

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

  void append(csv_lines lines);
  void append_unset(std::int64_t count);

  part_file part_;
  std::vector<detail::field> columns_;
  std::shared_ptr<temporary_file> beyond_ = std::make_shared<temporary_file>();
  waiting_chunks<csv_lines> waiting_;
  std::int64_t next_ = 0;   ///< the first instance whose line is not in the file
  std::int64_t ended_ = 0;  ///< instances in the file that have ended
  bool closed_ = false;
};

}  // namespace saltus::host
