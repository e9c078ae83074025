// Compiled modules in the cache folder: found by what they are made of, checked before they are used, and the least
// recently used of them removed when they take too much room.
//
// A module has two names. Its request is a hash of all that is known before a compiler has run: the generated source, the
// flags, the compiler, the processor. Its key is a hash of the request and of every file that the compiler reads for it,
// so that nothing stale is ever loaded. Which files these are, only the compiler knows (program.hpp, compiler.cpp); beside
// the modules lies what it said:
//
//     REQUEST.deps   the files that were read for a request, one list for each way of reading it there was
//     KEY.so         a module, and after its last byte a seal: key and checksum
//
// So a start costs the hashes of these files, and no compiler. A file is written under another name and renamed, so nothing
// half written is ever found; what was damaged later has a broken seal, and is made anew.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace saltus::host {

/// Hash of a text, 32 hex digits.
std::string hash_text(const std::string& text);
/// The same of the content of a file, which need not fit into memory. Throws `error` (failure) if it cannot be read.
std::string hash_file(const std::filesystem::path& file);

/// The files that a compiler reads for a module, with full paths: those of the model, and all others, saltus' kernels and
/// what belongs to the system. Equal contents make an equal module as long as none of `absent` is there: those might be
/// found before a file of the same name that was read.
struct file_list {
  std::vector<std::filesystem::path> own, other, absent;
};

/// The key of a request with what is now in the files; none if one cannot be read, or one that was absent is there.
std::optional<std::string> key_of(const std::string& request, const file_list& files);

/// The lists that are remembered for a request, the newest first.
std::vector<file_list> remembered_files(const std::string& request);

/// Remembers a list for a request.
void remember_files(const std::string& request, const file_list& files);

/// A module of the cache by its key and the suffix of its name (".so"); none if it is not there, or is not what was kept
/// there: cut short, changed, another one, or not a file of this user. Counts as a use of it.
struct sealed_file {
  std::filesystem::path file;
  std::string content;  ///< without the seal
};
std::optional<sealed_file> find_module(const std::string& key, const std::string& suffix);

/// Keeps a file as a module: seals it and moves it to its place, whose name is returned. Then removes the least recently
/// used modules until all take no more than $SALTUS_CACHE_SIZE (module_cache_limit).
std::filesystem::path keep_module(const std::filesystem::path& fresh, const std::string& key,
                                  const std::string& suffix);

/// How many bytes the cache may take: $SALTUS_CACHE_SIZE, such as 500M or 2G, else 1 GiB. Throws `error` (usage) if it is
/// no size.
std::int64_t module_cache_limit();

/// How much of the cache folder is saltus' own.
struct cache_size {
  std::int64_t files = 0, bytes = 0;
};
cache_size module_cache_size();

/// Removes all modules and what else saltus has kept there, but for what another saltus may be compiling at this moment.
/// What is not ours stays.
cache_size clear_module_cache();

/// A folder of our own in the cache, to compile in; it goes with all that is in it.
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
