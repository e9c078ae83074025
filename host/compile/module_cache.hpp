// Compiled modules in the cache folder: found by a hash of their inputs and checked before use. The least recently used
// ones are removed when the cache grows too large.
//
// A module has two names. Its request is a hash of the inputs known before compilation: the generated source, the
// flags, the compiler, the processor. Its key is a hash of the request and of every file that the compiler reads for
// it, so that no stale module is ever loaded. Only the compiler knows these files (compiler.hpp), so the cache keeps
// its list beside the modules:
//
//     REQUEST.deps   the files that were read for a request, one list for each set of files seen
//     KEY.so         a module, and after its last byte a seal: key and checksum
//
// A start therefore costs the hashes of these files and no compiler. A file is written under another name and renamed,
// so no partial file is ever found; a module that is damaged later has a broken seal and is built again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace saltus::host {

/// Hash of a text, 32 hex digits.
std::string hash_text(const std::string& text);
/// Hash of the content of a file, which need not fit into memory. Throws `error` (failure) if it cannot be read.
std::string hash_file(const std::filesystem::path& file);

/// The files that a compiler reads for a module, with full paths: `own` are those of the model, `other` saltus' kernels
/// and system headers. Equal contents make an equal module as long as no file of `absent` exists: such a file would be
/// found before one of the same name that was read.
struct file_list {
  std::vector<std::filesystem::path> own, other, absent;
};

/// The key of a request with the present content of the files; none if one cannot be read, or a file of `absent`
/// exists.
std::optional<std::string> key_of(const std::string& request, const file_list& files);

/// The lists remembered for a request, the newest first.
std::vector<file_list> remembered_files(const std::string& request);

/// Remembers a list for a request.
void remember_files(const std::string& request, const file_list& files);

/// A module of the cache by its key and the suffix of its name (".so"); none if it is missing, damaged, exchanged, or
/// not a file of this user. The call counts as a use of the module.
struct sealed_file {
  std::filesystem::path file;
  std::string content;  ///< without the seal
};
std::optional<sealed_file> find_module(const std::string& key, const std::string& suffix);

/// Seals a file, moves it into the cache as a module, and returns its path. Then removes the least recently used
/// modules until all take at most $SALTUS_CACHE_SIZE (module_cache_limit).
std::filesystem::path keep_module(const std::filesystem::path& fresh, const std::string& key,
                                  const std::string& suffix);

/// The limit of the cache in bytes: $SALTUS_CACHE_SIZE, such as 500M or 2G, else 1 GiB. Throws `error` (usage) if the
/// variable is no size.
std::int64_t module_cache_limit();

/// Number and size of saltus' own files in the cache folder.
struct cache_size {
  std::int64_t files = 0, bytes = 0;
};
cache_size module_cache_size();

/// Removes all modules and other files of saltus from the cache, except files that another saltus may be compiling now.
/// Foreign files stay.
cache_size clear_module_cache();

/// A temporary folder in the cache to compile in; the destructor removes it with its content.
class scratch_folder {
 public:
  explicit scratch_folder(const std::string& name);
  ~scratch_folder();
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;

  std::filesystem::path operator/(const char* name) const { return folder_ / name; }

 private:
  std::filesystem::path folder_;
};

}  // namespace saltus::host
