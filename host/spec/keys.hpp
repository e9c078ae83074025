// The keys of a spec, one row each. Readers of plain values, messages, the settings in a result, Python's keywords and the tables of
// docs/spec.md are made from these rows (scripts/update_keys).
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "spec/names.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

class field;

inline constexpr std::int64_t max_instances = std::int64_t{1} << 40;
inline constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t largest_history = std::int64_t{1} << 24;

enum class number_range { positive, not_negative };

// Plain values are read into a member of the plan and written from it unchanged. A member outside the range of its key
// is off, and no value of the key sets it so.
struct number_value {
  double plan::*to;
  number_range within;
};
/// A number from 0 to 1; `of` names the whole.
struct share_value {
  double plan::*to;
  std::string_view of;
};
template <class Integer>
struct whole_value {
  Integer plan::*to;
  std::int64_t low, high;
};
struct truth_value {
  bool plan::*to;
};
template <class Choice>
struct word_value {
  Choice plan::*to;
};
/// `std::monostate`: the key has a reader of its own (reading.hpp).
using plain_value =
    std::variant<std::monostate, number_value, share_value, whole_value<int>, whole_value<std::int64_t>, truth_value,
                 word_value<norm_kind>, word_value<controller_kind>, word_value<precision_kind>, word_value<detection>>;

struct spec_key {
  std::string_view table;  ///< "run"; empty: at the top of a spec
  std::string_view topic;  ///< table of docs/spec.md that lists it; empty: that document explains it in prose
  std::string_view name;
  plain_value value;
  std::string_view python;  ///< type of the keyword in Python; empty: that of the plain value, or there is no keyword
  std::string_view otherwise;  ///< default, in Markdown; empty: the plan's own value
  std::string_view allowed;    ///< allowed values, in Markdown; empty: those of the plain value
  std::string_view meaning;    ///< in Markdown

  std::string path() const;  ///< "run.lease"
  bool is_section() const { return table.empty() && topic.empty(); }
  bool is_plain() const { return !std::holds_alternative<std::monostate>(value); }
};

/// All keys by tables, those at the top first.
std::span<const spec_key> spec_keys();
/// Names of the keys of a table.
names keys_of(std::string_view table);
/// The default and the allowed values of a key, in Markdown.
std::string default_of(const spec_key& key);
std::string allowed_of(const spec_key& key);
/// Type of the keyword in Python; empty: there is none.
std::string python_type_of(const spec_key& key);

/// Reads a plain value; throws `spec_error`.
void read_plain(const spec_key& key, const field& entry, plan& to);
/// A plain value of the plan as TOML; empty: it is off.
std::string plain_text(const spec_key& key, const plan& from);

}  // namespace saltus::host
