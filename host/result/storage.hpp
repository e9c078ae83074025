// How the variables of the result file lie in it, and what that takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "result/schema.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// Size in bytes of the result file without compression and without its event log. Sizes that are too large for their
/// type are its largest value, here and below.
std::int64_t expected_bytes(const plan& p);

/// Size in bytes that the file will have without compression, with `event_rows` rows in its event log: with what the last
/// chunk of each variable is padded to, and about what the description of the variables takes. Or once the first
/// `instances` have been written.
std::int64_t stored_bytes(const plan& p, std::int64_t event_rows);
std::int64_t stored_bytes(const plan& p, std::int64_t event_rows, std::int64_t instances);

/// What a result_writer keeps in memory of the file, at most.
std::int64_t buffer_bytes(const plan& p);

namespace detail {

/// Rows in a file chunk of a variable with one number per instance or event, at most: 512 KiB of doubles, large enough to
/// stream, small enough for every variable to keep one in memory.
inline constexpr std::size_t max_chunk_rows = 65536;

/// The file chunks of a variable: numbers in each, by dimension; empty: it is stored in one block.
std::vector<std::size_t> chunk_shape(const field& f, const plan& p);
std::size_t bytes_of_chunk(const field& f, const std::vector<std::size_t>& chunk);

}  // namespace detail
}  // namespace saltus::host
