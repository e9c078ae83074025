// Finds and loads plug-in libraries.
#pragma once

#include <dlfcn.h>

#include <initializer_list>
#include <string>

namespace saltus::host {

/// The loaded plug-in, or the reason for its absence. It stays loaded until the program ends.
struct loaded_plugin {
  void* handle = nullptr;
  std::string reason;

  template <class Function>
  Function* find(const char* symbol) const {
    return reinterpret_cast<Function*>(::dlsym(handle, symbol));
  }
};

/// Loads a library that exports these symbols. The environment variable `variable` may name the library.
loaded_plugin load_plugin(const char* file, const char* variable, std::initializer_list<const char*> symbols);

}  // namespace saltus::host
