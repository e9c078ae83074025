// Results of saltus.hpp: variables and attributes of a run in memory.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "abi/status.hpp"
#include "face/inside.hpp"

namespace saltus {
namespace {

using number = host::result_array::number;
static_assert(int(number::real) == +SALTUS_REAL && int(number::int64) == +SALTUS_INT64 &&
              int(number::int32) == +SALTUS_INT32 && int(number::byte) == +SALTUS_BYTE);

[[noreturn]] void refuse(const std::string& text) { throw error(text, SALTUS_USAGE); }

std::vector<named_value> public_ones(const std::vector<host::attribute>& all) {
  std::vector<named_value> made;
  for (const auto& a : all) made.push_back({a.name, a.value});
  return made;
}

}  // namespace

inline namespace v0 {

int result::exit_code() const { return inside_->exit_code; }

std::int64_t result::ended(const std::string& status) const {
  std::vector<std::string_view> known;
  for (const status_row& row : status_table) {
    if (status == row.name) return inside_->counts.by_status[static_cast<std::size_t>(row.id)];
    known.emplace_back(row.name);
  }
  refuse(fmt::format("{}: no status; {}", status, host::suggest(status, known)));
}

std::size_t result::variables() const { return inside_->arrays->variables().size(); }

saltus_variable result::operator[](std::size_t i) const {
  const auto& all = std::as_const(*inside_->arrays).variables();
  if (i >= all.size()) refuse(fmt::format("variable {}: there are {} variables", i, all.size()));
  const host::result_array& a = all[i];
  std::size_t size = 1;
  for (const auto n : a.shape) size *= static_cast<std::size_t>(n);
  return {a.what.name.c_str(),
          a.what.unit.c_str(),
          a.what.about.c_str(),
          static_cast<int>(a.type),
          static_cast<int>(a.shape.size()),
          inside_->dimensions[i].data(),
          a.shape.data(),
          size,
          a.numbers.data()};
}

saltus_variable result::operator[](const std::string& name) const {
  std::vector<std::string_view> known;
  for (const auto& a : inside_->arrays->variables()) {
    if (a.what.name == name) return (*this)[known.size()];
    known.emplace_back(a.what.name);
  }
  refuse(fmt::format("{}: the result has no variable of that name; {}", name, host::suggest(name, known)));
}

std::span<const double> result::reals(const std::string& name) const {
  const auto v = (*this)[name];
  if (v.type != SALTUS_REAL) refuse(name + ": its numbers are no doubles");
  return {static_cast<const double*>(v.numbers), v.size};
}

std::span<std::byte> result::bytes(std::size_t i) { return inside_->arrays->variables().at(i).numbers; }

std::vector<named_value> result::attributes_of(std::size_t i) const {
  return public_ones(inside_->arrays->variables().at(i).attributes);
}

std::vector<named_value> result::attributes() const { return public_ones(inside_->arrays->attributes()); }

std::string result::attribute(const std::string& name) const {
  const auto* const text = inside_->text_called(name);
  return text ? *text : "";
}

}  // namespace v0
}  // namespace saltus
