#include "ensemble/blocks.hpp"

#include "abi/status.hpp"

namespace saltus::host {

std::vector<number_column> spread_blocks::whole::columns(std::int64_t block) const {
  std::vector<number_column> r;
  for (auto first = values.begin(); first != values.end(); first += block) r.push_back({&*first, nullptr});
  return r;
}

std::optional<spread_blocks::whole> spread_blocks::take(std::int64_t first_id,
                                                        const std::vector<number_column>& columns,
                                                        const unsigned char* status, std::int64_t from,
                                                        std::int64_t to) {
  if (from == to) return {};
  const std::int64_t number = (first_id + from) / block_, first = number * block_;
  const auto block = static_cast<std::size_t>(block_);
  whole& here = spread_[number];
  here.number = number;
  here.values.resize(columns.size() * block);
  here.status.resize(block, static_cast<unsigned char>(saltus::status::not_run));
  for (std::int64_t slot = from; slot < to; ++slot, ++here.rows) {
    const auto row = static_cast<std::size_t>(first_id + slot - first);
    here.status[row] = status[slot];
    for (std::size_t j = 0; j < columns.size(); ++j) here.values[j * block + row] = columns[j].at(slot);
  }
  if (here.rows < std::min(block_, all_ - first)) return {};
  auto found = spread_.extract(number);
  return std::move(found.mapped());
}

std::optional<spread_blocks::whole> spread_blocks::take_incomplete() {
  if (spread_.empty()) return {};
  whole first = std::move(spread_.extract(spread_.begin()).mapped());
  first.rows = std::min(block_, all_ - first.number * block_);
  return first;
}

}  // namespace saltus::host
