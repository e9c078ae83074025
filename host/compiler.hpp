// Models are compiled on first use, for this machine, and kept.
//
// A unit is a small generated source: the kernels, the model's header, one line that names what is wanted. It goes through
// the system's C++ compiler into a shared object in the cache. Its key is a hash of every source, the flags, the compiler
// and the processor, so nothing stale is ever loaded; it is written under another name and renamed, so nothing half
// written is; and a unit that does not compile is not kept.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "abi.hpp"
#include "plan.hpp"
#include "tune.hpp"

namespace saltus::host {

/// A loaded unit; what it exports is valid while this lives.
class library {
 public:
  explicit library(const std::filesystem::path& file);
  ~library();
  library(const library&)            = delete;
  library& operator=(const library&) = delete;
  /// Address of an exported symbol; throws `error` (failure) if there is none.
  void* symbol(const char* name) const;

 private:
  void* handle_;
};

/// The system's C++ compiler: $SALTUS_CXX, else the one saltus was built with, else c++, g++, clang++ from the PATH. Throws
/// `error` (exit_failure) if none of them runs.
struct cpp_compiler {
  std::filesystem::path program;
  std::string           version;  ///< first line of --version
};
const cpp_compiler& find_compiler();

/// Instances per vector register of this machine in an arithmetic ("double" or "float").
int native_lanes(const std::string& precision);

/// Processor and compiler, for what is measured here and holds nowhere else. Throws `error` as find_compiler does.
std::string machine_identity();

/// What a compiled unit is and where it came from.
struct built {
  std::shared_ptr<library> code;
  std::string              key;       ///< hex digits: also the name in the cache
  bool                     compiled;  ///< false: it was in the cache
  double                   seconds;   ///< of compilation
};

/// The description of the model in a header, compiled on first use. Throws `error`: exit_model with one sentence about the
/// header if it is not a model (what the compiler said stays in last_failure.log in the cache), exit_failure if the compiler
/// itself fails, exit_interrupted after Ctrl-C.
model describe_model(const std::filesystem::path& header);

/// The unit for a plan on CPU lanes, compiled on first use.
built build_cpu_unit(const plan& p, const lane_shape& shape);
/// The same on one lane with line numbers, to find out where a model crashes.
built build_traceable_unit(const plan& p);
/// Its key.
std::string cpu_unit_key(const plan& p, const lane_shape& shape);

/// A unit of any other text, which includes `header`.
built build_unit(const std::string& text, const std::filesystem::path& header);

/// The source text of a unit's engine type, shared by CPU and CUDA units.
std::string engine_text(const plan& p);

/// Hash of all kernel headers and of a model's header with all it includes by quotes; the part of every key that sources make.
std::string source_hash(const std::filesystem::path& model_header);

/// The header of a model and the files that it includes by quotes, itself first.
std::vector<std::filesystem::path> files_of_model(const std::filesystem::path& header);

/// Hash of a text, 32 hex digits.
std::string hash_text(const std::string& text);

}  // namespace saltus::host
