// Unused chunks, kept for their memory.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "ensemble/chunk_data.hpp"

namespace saltus::host {

/// For any number of threads. A chunk that was used before still holds its numbers.
class chunk_pool {
 public:
  std::unique_ptr<chunk_data> get() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<chunk_data>();
    auto chunk = std::move(free_.back());
    free_.pop_back();
    return chunk;
  }
  void put(std::unique_ptr<chunk_data> chunk) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(chunk));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<chunk_data>> free_;
};

}  // namespace saltus::host
