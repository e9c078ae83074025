// One value of a spec: its name, its location, and readers for the kinds of values.
//
// Every reader below returns a valid value or throws an `error` of the form
//     spec.toml:12:8: rtol = -1: must be a positive number
// For files that include toml++ (base/toml.hpp): readers of a spec (reading.hpp), and code that writes or parses TOML.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/toml.hpp"
#include "spec/spec_choices.hpp"

namespace saltus::host {

/// Was this value set on the command line? Such a value is parsed with the flag ("--set rtol=-1") as its file name, and
/// on the line of its rank among the flags.
inline bool from_flag(const toml::source_region& region) { return region.path && region.path->starts_with('-'); }

/// The location of a value: "spec.toml:12:8", or the flag that set it.
inline std::string location_of(const toml::source_region& region) {
  if (from_flag(region)) return *region.path;
  return fmt::format("{}:{}:{}", region.path ? *region.path : "", region.begin.line, region.begin.column);
}

/// The entries of a table in the order of the user's text, those from flags last; toml++ keeps them in alphabetical
/// order.
inline std::vector<std::pair<const toml::key*, const toml::node*>> in_order(const toml::table& table) {
  std::vector<std::pair<const toml::key*, const toml::node*>> entries;
  for (auto&& [key, node] : table) entries.emplace_back(&key, &node);
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    const auto rank = [](const toml::source_region& at) {
      return std::tuple(from_flag(at), at.begin.line, at.begin.column);
    };
    return rank(a.first->source()) < rank(b.first->source());
  });
  return entries;
}

/// A key that TOML reads back unchanged: quoted unless it is a bare word, for example `max(x)`.
inline std::string key_text(std::string_view key) {
  constexpr std::string_view bare = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
  if (!key.empty() && key.find_first_not_of(bare) == key.npos) return std::string(key);
  std::ostringstream out;
  out << toml::toml_formatter(toml::value<std::string>(std::string(key)), toml::format_flags::none);
  return out.str();
}

/// A value as TOML on one line. Numbers are printed with the fewest digits that read back as the same number.
inline std::string inline_text(const toml::node& node) {
  std::string text;
  if (const auto* table = node.as_table()) {
    for (auto [key, value] : in_order(*table))
      text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", key_text(key->str()), inline_text(*value));
    return text.empty() ? "{}" : "{ " + text + " }";
  }
  if (const auto* array = node.as_array()) {
    for (const auto& value : *array) text += (text.empty() ? "" : ", ") + inline_text(value);
    return "[" + text + "]";
  }
  if (const auto* real = node.as_floating_point()) {
    text = fmt::format("{}", real->get());
    return std::isfinite(real->get()) && text.find_first_of(".e") == text.npos ? text + ".0" : text;
  }
  std::ostringstream out;
  out << toml::toml_formatter(node, toml::format_flags::none);
  return out.str();
}

/// An error about an entry of a spec.
struct spec_error : error {
  spec_error(const std::string& message, std::string name, bool alone)
      : error(exit_usage, message), about(std::move(name)), stands_alone(alone) {}
  std::string about;  ///< dotted name of the entry; for a missing key, of the table that lacks it
  bool stands_alone;  ///< the error holds whatever else the spec says: an unknown key, a value of the wrong type
  std::string missing = {};
};

class field {
 public:
  explicit field(const toml::table& root) : node_(&root) {}

  const std::string& key() const { return key_; }    ///< "count"
  const std::string& name() const { return name_; }  ///< "sweep.flow.count"
  std::string location() const { return location_of(node_->source()); }
  bool flagged() const { return from_flag(node_->source()); }
  bool is_table() const { return node_->is_table(); }
  bool is_list() const { return node_->is_array(); }
  bool is_text() const { return node_->is_string(); }
  bool is_boolean() const { return node_->is_boolean(); }
  std::string value() const { return inline_text(*node_); }
  std::string what() const { return what_at(location()); }  ///< "spec.toml:12:8: rtol = -1"

  // ---- errors

  [[noreturn]] void fail(std::string_view what) const {
    throw spec_error(fmt::format("{}: {}", this->what(), what), name_, false);
  }

  /// Reports that the key itself is wrong, rather than its value.
  [[noreturn]] void fail_key(std::string_view what) const {
    throw spec_error(fmt::format("{}: {}", what_at(location_of(key_region_)), what), name_, true);
  }

  /// Reports that this table lacks a key.
  [[noreturn]] void fail_missing(std::string_view key, std::string_view what) const {
    spec_error complaint(fmt::format("{}: {} is missing: {}", location(), dotted(key), what), name_, true);
    complaint.missing = dotted(key);
    throw complaint;
  }

  // ---- scalars

  double number() const {
    return number_if([](double) { return true; }, "must be a finite number");
  }
  double positive() const {
    return number_if([](double x) { return x > 0; }, "must be a positive number");
  }
  double not_negative() const {
    return number_if([](double x) { return x >= 0; }, "must be zero or a positive number");
  }

  /// A number from 0 to 1; `what` is the requirement for the message.
  double share(std::string_view what) const {
    return number_if([](double x) { return 0 <= x && x <= 1; }, what);
  }

  /// A whole number from `low` to `high`; 1e5 counts as one.
  std::int64_t whole(std::int64_t low, std::int64_t high) const {
    constexpr double exact = 9007199254740992.0;  // 2^53: every whole number up to here is a double
    if (const auto* integer = node_->as_integer(); integer && low <= integer->get() && integer->get() <= high)
      return integer->get();
    if (const auto* real = node_->as_floating_point();
        real && std::abs(real->get()) <= exact && real->get() == std::floor(real->get()) &&
        static_cast<double>(low) <= real->get() && real->get() <= static_cast<double>(high))
      return static_cast<std::int64_t>(real->get());
    refuse(fmt::format("must be a whole number from {} to {}", low, high));
  }

  bool boolean() const {
    if (const auto* value = node_->as_boolean()) return value->get();
    refuse("must be true or false");
  }

  std::string text() const {
    if (const auto* value = node_->as_string(); value && !value->get().empty()) return value->get();
    refuse("must be a text in quotes, not empty");
  }

  /// One of a few words.
  std::string word(const std::vector<std::string_view>& allowed) const {
    const auto* value = node_->as_string();
    if (!value) refuse("must be a word in quotes; " + suggest("", allowed));
    if (std::find(allowed.begin(), allowed.end(), value->get()) == allowed.end())
      refuse("unknown word; " + suggest(value->get(), allowed));
    return value->get();
  }

  template <class Choice>
  Choice choice() const {
    const auto& words = words_of<Choice>;
    return static_cast<Choice>(std::find(words.begin(), words.end(), word({words.begin(), words.end()})) -
                               words.begin());
  }

  // ---- lists

  std::vector<field> items() const {
    const auto* array = node_->as_array();
    if (!array) refuse("must be a list");
    std::vector<field> all;
    for (std::size_t i = 0; i < array->size(); ++i)
      all.push_back(field(key_, fmt::format("{}[{}]", name_, i), (*array)[i], (*array)[i].source()));
    return all;
  }

  /// The items of a list; a text is a list of itself.
  std::vector<field> items_or_text() const { return is_text() ? std::vector{*this} : items(); }

  std::vector<double> numbers() const {
    if (!is_list()) refuse("must be a list of numbers");
    std::vector<double> all;
    for (const auto& item : items()) all.push_back(item.number());
    return all;
  }

  /// Exactly `count` numbers; `what` is the requirement for the message.
  std::vector<double> numbers(std::size_t count, std::string_view what) const {
    const auto all = is_list() ? numbers() : std::vector<double>();
    if (all.size() != count) refuse(what);
    return all;
  }

  // ---- tables

  /// The entries in the order of the text.
  std::vector<field> entries() const {
    const auto* table = node_->as_table();
    if (!table) refuse("must be a table");
    std::vector<field> all;
    for (auto [key, value] : in_order(*table))
      all.push_back(field(std::string(key->str()), dotted(key->str()), *value, key->source()));
    return all;
  }

  std::optional<field> find(std::string_view key) const {
    for (auto& entry : entries())
      if (entry.key() == key) return entry;
    return {};
  }

  /// The entry, or none; also none if this is no table.
  std::optional<field> find_in_table(std::string_view key) const { return is_table() ? find(key) : std::nullopt; }

  field need(std::string_view key, std::string_view what) const {
    if (auto entry = find(key)) return *entry;
    fail_missing(key, what);
  }

  /// Throws unless every key is one of these. Those of `untold` are allowed as well, but no message mentions them.
  void only(const std::vector<std::string_view>& allowed, const std::vector<std::string_view>& untold = {}) const {
    if (!is_table())
      refuse(fmt::format("must be a table {{ KEY = VALUE }}, with keys of {}", fmt::join(allowed, ", ")));
    for (const auto& entry : entries())
      if (std::find(allowed.begin(), allowed.end(), entry.key()) == allowed.end() &&
          std::find(untold.begin(), untold.end(), entry.key()) == untold.end())
        entry.fail_key("unknown key; " + suggest(entry.key(), allowed));
  }

 private:
  field(std::string key, std::string name, const toml::node& node, const toml::source_region& key_region)
      : key_(std::move(key)), name_(std::move(name)), node_(&node), key_region_(key_region) {}

  /// Reports a value of the wrong type or range for this reader.
  [[noreturn]] void refuse(std::string_view what) const {
    throw spec_error(fmt::format("{}: {}", this->what(), what), name_, true);
  }

  std::string dotted(std::string_view key) const { return name_ + (name_.empty() ? "" : ".") + std::string(key); }

  std::string what_at(const std::string& location) const {
    constexpr std::size_t shown = 60;
    auto text = value();
    if (text.size() > shown) text = text.substr(0, shown) + "...";
    return fmt::format("{}: {} = {}", location, name_, text);
  }

  double number_if(bool (*allowed)(double), std::string_view what) const {
    double value = std::numeric_limits<double>::quiet_NaN();
    if (const auto* real = node_->as_floating_point()) value = real->get();
    if (const auto* integer = node_->as_integer()) value = static_cast<double>(integer->get());
    if (!std::isfinite(value) || !allowed(value)) refuse(std::string(what) + advice_on_number());
    return value;
  }

  /// A hint for a text that looks like a number: it is quoted, or a flag's value is not valid TOML.
  std::string advice_on_number() const {
    const auto* const text = node_->as_string();
    if (!text) return {};
    const char* const begin = text->get().c_str();
    char* end = nullptr;
    const double value = std::strtod(begin, &end);
    return end != begin && *end == '\0' && std::isfinite(value) ? "; write " + inline_text(toml::value<double>(value))
                                                                : std::string();
  }

  std::string key_, name_;
  const toml::node* node_;
  toml::source_region key_region_;
};

}  // namespace saltus::host
