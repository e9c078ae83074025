// Records of a journal: the results of a range of instances, with a head that tells which, and checksums of both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <xxhash.h>

#include "ensemble/chunk_data.hpp"
#include "ensemble/tally.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// The head of a record. It has its own checksum, so that a record with damaged bytes can be skipped and the next one
/// found. The checksum starts from the run's identity: a record of another run does not match.
struct record_head {
  char magic[8];
  std::int64_t first, count, bytes;
  std::uint64_t checksum;  ///< XXH3 of the members before it
};

inline constexpr char record_magic[9] = "saltusJ2";
inline constexpr std::int64_t around_record = sizeof(record_head) + sizeof(std::uint64_t);  ///< head and checksum
inline constexpr std::size_t record_piece = std::size_t{1} << 20;  ///< bytes that are read at once

std::uint64_t checksum_of(const record_head& head, std::uint64_t identity);

struct hash_state {
  XXH3_state_t* state = XXH3_createState();
  hash_state() { XXH3_64bits_reset(state); }
  ~hash_state() { XXH3_freeState(state); }
  hash_state(const hash_state&) = delete;
  hash_state& operator=(const hash_state&) = delete;
  void add(const void* bytes, std::size_t size) { XXH3_64bits_update(state, bytes, size); }
  std::uint64_t of(const record_head& head) {
    add(&head, sizeof head);
    return digest();
  }
  std::uint64_t digest() const { return XXH3_64bits_digest(state); }
};

/// Writes all bytes; returns false and sets errno on failure.
bool write_all(int file, const void* bytes, std::size_t size, std::int64_t at);
/// Reads all bytes; false if they are not there.
bool read_all(int file, void* bytes, std::size_t size, std::int64_t at);

/// Where a record begins: a file of a journal, and the position in it.
struct record_position {
  int file;
  std::int64_t at;
};
/// The instances of slots [from, to) of a chunk, and its counts.
struct slots_of_chunk {
  const chunk_data& chunk;
  const tally& counts;
  std::int64_t from, to;
};

/// Do the bytes of a record match its checksum? `some`: a buffer.
bool has_its_checksum(const record_position& where, const record_head& head, std::vector<char>& some);

/// Writes slots of a chunk as a record, its head last: without it there is no record. Without rows, the statistics of the whole chunk.
/// Returns the head; none, with errno, on failure. `buffer` is kept by the caller between records.
std::optional<record_head> write_record(const record_position& where, std::uint64_t identity, const plan& p,
                                        const slots_of_chunk& slots, std::vector<char>& buffer);
/// Reads a record into a chunk that is as large as it, and without rows its counts. False if it is cut off or damaged.
bool read_record(const record_position& where, std::int64_t first, chunk_data& chunk, const plan& p, tally& counts);

}  // namespace saltus::host
