// Models are compiled for this machine on first use and kept in a cache.
//
// A module is a small generated source: the kernels, the model's header, and one line that names the engine type. The
// system's C++ compiler makes a shared object of it in the cache (module_cache.hpp). The compiler also lists the files
// that it read. A module that does not compile is not kept. Where it pays, two compilers make parts of a module at the
// same time; the module, its key and its bits are the same.
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

/// A loaded module; its exports are valid while this lives.
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

/// Is this thread loading a module? The model's static constructors run at that time.
bool is_loading_module();

/// The system's C++ compiler: $SALTUS_CXX, else the one that built saltus, else c++, g++, clang++ from the PATH. Throws
/// `error` (exit_failure) if none of them runs.
struct cpp_compiler {
  std::filesystem::path program;
  std::string version;  ///< first line of --version
};
const cpp_compiler& find_compiler();

/// The processor that modules are compiled for, in the compiler's words: $SALTUS_CPU, else the one that saltus was built
/// with, which is `native` unless it was cross-compiled.
std::string target_processor();

/// Identifies processor and compiler: measurements hold only for this pair. Throws `error` as find_compiler does.
std::string machine_identity();

/// A compiled module and its origin.
struct built {
  std::shared_ptr<library> code;
  std::string key;  ///< hex digits: also the name in the cache
  bool compiled;    ///< false: it was in the cache
  double seconds;   ///< of compilation
  file_list files;  ///< that were read for it
};

/// The description of the model in a header: compiled on first use, except for a built-in whose files have not changed.
/// Throws `error`: exit_model with one sentence about the header if it is not a model (the compiler's full output stays
/// in last_failure.log in the cache), exit_failure if the compiler itself fails, exit_interrupted when `stop` is
/// cancelled; the functions below throw the same.
model describe_model(const std::filesystem::path& header, const cancellation& stop = {});

/// The host's model from a module's description. `files`: the files of its source.
model model_from(const abi::description* d, const std::filesystem::path& header,
                 const std::vector<std::filesystem::path>& files);

/// Names the options for which a plan's module is compiled: "relief_valve with dp5, samples, 2 reductions".
std::string words_of_module(const plan& p);
/// The module for a plan on CPU lanes, compiled on first use.
built build_cpu_module(const plan& p, const lane_shape& shape, const cancellation& stop = {});
/// The same on one lane with line numbers, to locate a crash in the model.
built build_traceable_module(const plan& p, const cancellation& stop = {});
/// A name, 32 hex digits, under which measurements are kept: it depends on the model, the method, the compiler and the
/// processor.
std::string cpu_module_name(const plan& p, const lane_shape& shape);

/// A module that runs once is compiled without optimisation, which takes less time. traced: with line numbers. in_parts:
/// as `yes`, but landing and the rest at the same time (cpu_module_text), which gives the same bits.
enum class optimised { yes, no, traced, in_parts };

/// A module of any text that includes `header`: from the cache, or compiled.
built build_module(const std::string& text, const std::filesystem::path& header, const cancellation& stop = {},
                   optimised how = optimised::yes);
/// The same, but only from the cache.
std::optional<built> kept_module(const std::string& text, optimised how);
/// A name, 32 hex digits, from the inputs that are known before compilation: text, compiler and options.
std::string request_for(const std::string& text, optimised how);

/// The files that the C++ compiler reads for such a text with these options; none if it cannot list them.
std::optional<file_list> files_of(const std::string& text, const std::vector<std::string>& options);

/// May the list of files be remembered? It may not if one of the model's files uses __has_include: then the compiler is
/// asked each time.
bool may_be_remembered(const file_list& files);

/// The text that tells a module of a model's derivative array (kernels/model/offsets.hpp).
std::string array_text(const std::string& model, const model_array& array, const std::vector<int>& observed);
/// The source text of a module's engine type, shared by CPU and CUDA modules.
std::string engine_text(const plan& p);
/// The last lines of engine_text; they identify the module among those of one model.
std::string engine_name(const plan& p);

}  // namespace saltus::host
