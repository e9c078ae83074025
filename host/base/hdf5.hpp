// Side effects of HDF5, which NetCDF uses, on the process.
#pragma once

namespace saltus::host {

/// For a program that is the only user of HDF5 in its process, before the first file is opened. HDF5 then locks no
/// files, and does not close open files when the process exits. On exit HDF5 (seen in 1.10.8) crashes if a file cannot
/// be written because the disk is full; over NFS its locks conflict with those of part_file. A library must not call
/// this function: other users of HDF5 in the process rely on both.
void own_hdf5();

/// While it lives, HDF5 prints no errors on this thread; an `error` carries the message. NetCDF silences HDF5 only on
/// the thread on which it was first called.
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
