#include "spec/run_records.hpp"

#include <utility>

#include "base/error.hpp"

namespace saltus::host {

void row_store::add(const double* row) {
  here_.insert(here_.end(), row, row + width_);
  ++count_;
  if (here_.size() * sizeof(double) >= memory && !unspillable_) unspillable_ = !spill();
}

bool row_store::spill() {
  if (!file_) file_ = std::make_unique<temporary_file>(folder_);
  if (!file_->add({reinterpret_cast<const char*>(here_.data()), here_.size() * sizeof(double)})) return false;
  here_.clear();
  return true;
}

void row_store::close() {
  if (file_ && file_->size() > 0) {
    if (!unspillable_ && !here_.empty()) unspillable_ = !spill();
    if (unspillable_) {  // the folder is full: all rows have to fit into memory
      std::vector<double> all(static_cast<std::size_t>(file_->size()) / sizeof(double));
      file_->read(0, all.data(), all.size() * sizeof(double));
      all.insert(all.end(), here_.begin(), here_.end());
      here_ = std::move(all);
      file_.reset();
    } else {
      std::vector<double>().swap(here_);
      data_ = static_cast<const double*>(file_->map());
      if (data_ == nullptr) throw error(exit_failure, "the rows of records cannot be mapped into memory");
      return;
    }
  }
  here_.shrink_to_fit();
  data_ = here_.data();
}

run_records::run_records(std::vector<record> all, record_keys keys, bool are_past)
    : all_(std::move(all)), keys_(std::move(keys)), are_past_(are_past) {
  for (const record& r : all_) for_kernels_.push_back({r.rows.data()});
}

}  // namespace saltus::host
