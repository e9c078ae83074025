#include "base/hdf5.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>

namespace saltus::host {

namespace {

/// Looks up a function of HDF5 by name: NetCDF brings the library, but not its headers.
template <class Function>
Function* hdf5_function(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

constexpr std::int64_t default_stack = 0;

}  // namespace

void own_hdf5() {
  ::setenv("HDF5_USE_FILE_LOCKING", "FALSE", 0);
  if (auto* const switch_off = hdf5_function<int()>("H5dont_atexit")) switch_off();
}

hdf5_silence::hdf5_silence() {
  auto* const get = hdf5_function<int(std::int64_t, void**, void**)>("H5Eget_auto2");
  auto* const set = hdf5_function<int(std::int64_t, void*, void*)>("H5Eset_auto2");
  is_changed_ =
      get && set && get(default_stack, &function_, &argument_) >= 0 && set(default_stack, nullptr, nullptr) >= 0;
}

hdf5_silence::~hdf5_silence() {
  auto* const set = hdf5_function<int(std::int64_t, void*, void*)>("H5Eset_auto2");
  if (is_changed_) set(default_stack, function_, argument_);
}

}  // namespace saltus::host
