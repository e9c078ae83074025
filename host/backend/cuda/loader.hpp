// Plug-in libraries, found and loaded.
#pragma once

#include <dlfcn.h>

#include <initializer_list>
#include <string>

namespace saltus::host {

/// The loaded plug-in, or the reason why there is none. It stays loaded until the program ends.
struct loaded_plugin {
  void* handle = nullptr;
  std::string reason;

  template <class Function>
  Function* find(const char* symbol) const {
    return reinterpret_cast<Function*>(::dlsym(handle, symbol));
  }
};

/// Loads a library that has these symbols. `variable` of the environment may say which.
loaded_plugin load_plugin(const char* file, const char* variable, std::initializer_list<const char*> symbols);

}  // namespace saltus::host
