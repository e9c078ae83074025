// Models are compiled on first use, for this machine, and kept.
//
// A module is a small generated source: the kernels, the model's header, one line that names what is wanted. It goes
// through the system's C++ compiler into a shared object in the cache (module_cache.hpp). Which files it is made of,
// the compiler says; a module that does not compile is not kept.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "abi/module.hpp"
#include "base/cancellation.hpp"
#include "compile/lane_shape.hpp"
#include "compile/module_cache.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// A loaded module; what it exports is valid while this lives.
class library {
 public:
  explicit library(const std::filesystem::path& file);
  ~library();
  library(const library&) = delete;
  library& operator=(const library&) = delete;
  /// Address of an exported symbol; throws `error` (failure) if there is none.
  void* symbol(const char* name) const;

 private:
  void* handle_;
};

/// Is this thread loading a module? Its static constructors are the model's.
bool is_loading_module();

/// The system's C++ compiler: $SALTUS_CXX, else the one saltus was built with, else c++, g++, clang++ from the PATH. Throws
/// `error` (exit_failure) if none of them runs.
struct cpp_compiler {
  std::filesystem::path program;
  std::string version;  ///< first line of --version
};
const cpp_compiler& find_compiler();

/// Processor and compiler, for what is measured here and holds nowhere else. Throws `error` as find_compiler does.
std::string machine_identity();

/// What a compiled module is and where it came from.
struct built {
  std::shared_ptr<library> code;
  std::string key;  ///< hex digits: also the name in the cache
  bool compiled;    ///< false: it was in the cache
  double seconds;   ///< of compilation
  file_list files;  ///< that it is made of
};

/// The description of the model in a header: of a built-in that saltus was built with as it is there, of any other compiled
/// on first use. Throws `error`: exit_model with one sentence about the
/// header if it is not a model (what the compiler said stays in last_failure.log in the cache), exit_failure if the compiler
/// itself fails, exit_interrupted when `stop` is cancelled, here and below.
model describe_model(const std::filesystem::path& header, const cancellation& stop = {});

/// The model that a description tells of. `files`: those that it is written in.
model model_from(const abi::description* d, const std::filesystem::path& header,
                 const std::vector<std::filesystem::path>& files);

/// What a plan's module is compiled for, beside the model: "relief_valve with dp5, samples, 2 reductions".
std::string words_of_module(const plan& p);
/// The module for a plan on CPU lanes, compiled on first use.
built build_cpu_module(const plan& p, const lane_shape& shape, const cancellation& stop = {});
/// The same on one lane with line numbers, to find out where a model crashes.
built build_traceable_module(const plan& p, const cancellation& stop = {});
/// A name, 32 hex digits, for what is measured of it: another one when the model, the method, the compiler or the processor
/// is another one.
std::string cpu_module_name(const plan& p, const lane_shape& shape);

/// What is run once need not be fast: without optimisation it compiles in less time. Traced: with line numbers.
enum class optimised { yes, no, traced };

/// A module of any text, which includes `header`: from the cache, or compiled.
built build_module(const std::string& text, const std::filesystem::path& header, const cancellation& stop = {},
                   optimised how = optimised::yes);
/// The same if it is in the cache.
std::optional<built> kept_module(const std::string& text, optimised how);
/// A name, 32 hex digits, of what is known of a module before it is compiled: its text, the compiler and its options.
std::string request_for(const std::string& text, optimised how);

/// The files that the C++ compiler reads for such a text, with these options; none if it cannot say.
std::optional<file_list> files_of(const std::string& text, const std::vector<std::string>& options);

/// May a list be remembered? Not if one of the model's files asks whether another is there: then the compiler is asked each
/// time.
bool may_be_remembered(const file_list& files);

/// What a module must know of a model's derivative array (kernels/model/offsets.hpp).
std::string array_text(const std::string& model, int times, int rank, double time_scale, const std::vector<int>& order,
                       const std::vector<int>& observed);
/// The source text of a module's engine type, shared by CPU and CUDA modules.
std::string engine_text(const plan& p);
/// Its last lines: of two plans for one model they are the same where the whole text is.
std::string engine_name(const plan& p);

}  // namespace saltus::host
