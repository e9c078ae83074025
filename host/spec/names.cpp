#include "spec/names.hpp"

#include <fmt/format.h>

namespace saltus::host {

std::vector<int> members_of(std::span<const quantity> quantities, std::string_view family) {
  std::vector<int> members;
  const auto first = index_of(quantities, fmt::format("{}_0", family));
  for (std::size_t i = first < 0 ? quantities.size() : static_cast<std::size_t>(first); i < quantities.size(); ++i) {
    if (quantities[i].name != fmt::format("{}_{}", family, members.size())) break;
    members.push_back(static_cast<int>(i));
  }
  if (members.size() < 2) members.clear();  // x_0 alone is a name like any other
  return members;
}

names families_of(std::span<const quantity> quantities) {
  names all;
  for (const auto& one : quantities) {
    const std::string_view name = one.name;
    if (!name.ends_with("_0")) continue;
    const auto family = name.substr(0, name.size() - 2);
    if (!members_of(quantities, family).empty()) all.push_back(family);
  }
  return all;
}

}  // namespace saltus::host
