// Lists of names: those that a spec may use, those that a model has.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "spec/model.hpp"

namespace saltus::host {

using names = std::vector<std::string_view>;

template <class List, class Item>
bool contains(const List& list, const Item& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

/// The names refer to `list`, which must outlive them.
template <class List>
names names_of(const List& list) {
  names all;
  for (const auto& one : list) all.push_back(one.name);
  return all;
}

inline names joined(names a, const names& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// The kinds of a model's names that have a value in a spec, for messages.
inline const char* kinds_of_quantities(const model& m) {
  return declared_discretes(m).empty() ? "a parameter or state" : "a parameter, state or discrete variable";
}

/// The indices of the members of a family, height_0, height_1, ...; empty: there is no family of this name.
std::vector<int> members_of(std::span<const quantity> quantities, std::string_view family);
/// The names of all families.
names families_of(std::span<const quantity> quantities);

/// The index of a quantity by name; -1: there is none.
inline int index_of(std::span<const quantity> quantities, std::string_view name) {
  for (std::size_t i = 0; i < quantities.size(); ++i)
    if (quantities[i].name == name) return static_cast<int>(i);
  return -1;
}

}  // namespace saltus::host
