// A call that changes files, as recorded_calls.cpp writes it down: this, then names and bytes.
#pragma once

#include <cstddef>

struct recorded_call {
  /// c: a file is made, or is there; w: bytes are written; t: it is truncated; s: what is in it is on the disk; D: the names in a folder
  /// are; r: a name is changed; l: another name; u: a name goes; m: a folder is made.
  char what;
  unsigned long long inode;
  long long at;
  std::size_t name, other, bytes;  ///< lengths
};
