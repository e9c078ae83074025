// The folder of a journal: names of its files, whether it is one of ours, and how it is removed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "ensemble/part.hpp"

namespace saltus::host {

inline constexpr std::string_view all_chunks = "chunks";
inline constexpr const char* leases_name = "leases";
inline constexpr std::size_t longest_text = std::size_t{256} << 20;  ///< bytes of run.json and spec.json

/// The file with the records of a part: "chunks", "chunks.3of16".
std::string file_of(const ensemble_part& part);
/// A text of the folder as JSON; discarded if it is none.
json parsed(const std::filesystem::path& file);
/// The hash by which the heads of records identify their run; nothing if `all` is not an object of texts.
std::optional<std::uint64_t> identity_in(const json& all);
/// Throws `error` (exit_usage) if a folder of that name is there and is not known to be a journal, since a journal is emptied.
void check_that_ours(const std::filesystem::path& folder);
/// Removes the contents of a journal except one file, and run.json last. Is it gone?
bool empty_journal(const std::filesystem::path& folder, const std::string& kept);
/// Removes a journal, and `complete` last; leaves a folder alone that is none.
void drop_journal(const std::filesystem::path& folder);

}  // namespace saltus::host
