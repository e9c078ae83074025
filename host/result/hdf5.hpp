// What HDF5, below NetCDF, does to a process beside reading and writing files.
#pragma once

#include <cstdint>

namespace saltus::host {

/// For a program that has HDF5 for itself, before anything is read or written: it locks no files, and leaves those that are
/// still open alone when the process exits. HDF5 closes them then, and crashes (seen in 1.10.8) if one of them cannot be
/// written because the disk is full; over NFS its locks meet those of part_file. Nothing else calls this: other users of
/// HDF5 in a process rely on both.
void own_hdf5();

/// While it lives, HDF5 prints no errors on this thread: what there is to say, an `error` says. NetCDF has told it so on the
/// thread alone on which it was first called.
class hdf5_silence {
 public:
  hdf5_silence();
  ~hdf5_silence();
  hdf5_silence(const hdf5_silence&) = delete;
  hdf5_silence& operator=(const hdf5_silence&) = delete;

 private:
  void* function_ = nullptr;
  void* argument_ = nullptr;
  bool is_changed_ = false;
};

}  // namespace saltus::host
