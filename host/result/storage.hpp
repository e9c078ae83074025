// Storage of the variables in the result file, and its size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "result/schema.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// Size in bytes of the result file without compression and without its event log. Sizes beyond the range of their type
/// are its largest value, here and below.
std::int64_t expected_bytes(const plan& p);

/// Size in bytes of the file without compression, with `event_rows` rows in its event log. Includes the padding of the
/// last chunk of each variable, and an estimate for the descriptions of variables. The second form is for a file with
/// the first `instances` written.
std::int64_t stored_bytes(const plan& p, std::int64_t event_rows);
std::int64_t stored_bytes(const plan& p, std::int64_t event_rows, std::int64_t instances);

/// Largest number of bytes of the file that a netcdf_writer keeps in memory.
std::int64_t buffer_bytes(const plan& p);

namespace detail {

/// Largest number of rows in a file chunk of a variable with one number per instance or event: 512 KiB of doubles,
/// large enough for streaming, small enough to keep one chunk of every variable in memory.
inline constexpr std::size_t max_chunk_rows = 65536;

/// The chunk lengths of a variable by dimension; empty: it has few numbers, which are stored in its header.
std::vector<std::size_t> chunk_lengths(const field& f, const plan& p);
std::size_t bytes_of_chunk(const field& f, const std::vector<std::size_t>& chunk);

}  // namespace detail
}  // namespace saltus::host
