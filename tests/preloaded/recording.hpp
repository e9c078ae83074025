// Record of a call that changes files, written by recorded_calls.cpp: this header, then names and bytes.
#pragma once

#include <cstddef>

struct recorded_call {
  /// c: a file is created or exists; w: bytes are written; t: it is truncated; s: its contents are synchronised to disk; D: the names in a
  /// folder are synchronised; r: rename; l: link; u: unlink; m: a folder is made.
  char what;
  unsigned long long inode;
  long long at;
  std::size_t name, other, bytes;  ///< lengths
};
