// The cache of compiled modules: keys that are found and keys that are not, users of its folder, and its largest size. Modules
// here are plain texts, since their contents do not matter to the cache.
#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "compile/module_cache.hpp"

namespace saltus::host {
namespace {

namespace fs = std::filesystem;

class module_cache : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "saltus_modules_XXXXXX").string();
    folder_ = mkdtemp(name.data());
    for (const char* variable : {"SALTUS_CACHE", "SALTUS_CACHE_SIZE", "XDG_CACHE_HOME", "HOME"})
      if (const char* value = std::getenv(variable)) before_[variable] = value;
    set("SALTUS_CACHE", folder_ / "cache");
    unsetenv("SALTUS_CACHE_SIZE");
  }
  void TearDown() override {
    for (const char* variable : {"SALTUS_CACHE", "SALTUS_CACHE_SIZE", "XDG_CACHE_HOME", "HOME"})
      if (before_.count(variable)) set(variable, before_[variable]);
      else unsetenv(variable);
    fs::remove_all(folder_);
  }

  static void set(const char* variable, const std::string& value) { setenv(variable, value.c_str(), 1); }
  const fs::path& folder() const { return folder_; }
  fs::path cache() const { return folder_ / "cache"; }

  fs::path keep(const std::string& key, const std::string& content) {
    const fs::path fresh = folder_ / "fresh";
    write_file(fresh, content);
    return keep_module(fresh, key, ".so");
  }
  /// Makes the file look last used that many seconds ago.
  static void age(const fs::path& file, long seconds) {
    const timespec now{time(nullptr) - seconds, 0}, times[2] = {now, now};
    ASSERT_EQ(0, utimensat(AT_FDCWD, file.c_str(), times, 0));
  }
  static std::string key(char digit) { return std::string(32, digit); }

 private:
  fs::path folder_;
  std::map<std::string, std::string> before_;
};

TEST_F(module_cache, a_module_is_found_as_it_was_kept) {
  const std::string content("code\0and more\n", 14);
  EXPECT_FALSE(find_module(key('a'), ".so"));
  const auto file = keep(key('a'), content);
  const auto found = find_module(key('a'), ".so");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->file, file);
  EXPECT_EQ(found->content, content);
  EXPECT_FALSE(find_module(key('a'), ".cubin"));
  EXPECT_FALSE(find_module(key('b'), ".so"));
}

TEST_F(module_cache, any_flipped_bit_any_missing_byte_and_another_name_are_noticed) {
  const auto file = keep(key('a'), "some code of a module");
  const std::string kept = read_file(file);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    std::string changed = kept;
    changed[i] = static_cast<char>(changed[i] ^ (1 << i % 8));
    write_file(file, changed);
    EXPECT_FALSE(find_module(key('a'), ".so")) << "byte " << i;
    write_file(file, kept.substr(0, i));
    EXPECT_FALSE(find_module(key('a'), ".so")) << i << " bytes left";
  }
  write_file(file, kept + "\n");
  EXPECT_FALSE(find_module(key('a'), ".so")) << "one byte too many";
  write_file(file, kept);
  EXPECT_TRUE(find_module(key('a'), ".so"));
  fs::rename(file, cache() / (key('b') + ".so"));
  EXPECT_FALSE(find_module(key('b'), ".so")) << "a sound module, but not the one stored under this name";
}

TEST_F(module_cache, a_key_is_made_of_names_and_contents_and_of_what_must_be_absent) {
  const fs::path a = folder() / "a.h", b = folder() / "b.h", none = folder() / "none.h";
  write_file(a, "1");
  write_file(b, "2");
  const auto first = key_of("request", {{a}, {b}, {none}});
  ASSERT_TRUE(first);
  EXPECT_NE(first, key_of("another", {{a}, {b}, {none}}));
  EXPECT_NE(first, key_of("request", {{a}, {}, {none}}));
  write_file(a, "2");
  write_file(b, "1");
  EXPECT_NE(first, key_of("request", {{a}, {b}, {none}})) << "other files with the same contents";
  write_file(a, "1");
  write_file(b, "2");
  EXPECT_EQ(first, key_of("request", {{a}, {b}, {none}}));
  write_file(none, "");
  EXPECT_FALSE(key_of("request", {{a}, {b}, {none}}));
  fs::remove(none);
  fs::remove(b);
  EXPECT_FALSE(key_of("request", {{a}, {b}, {none}}));
}

TEST_F(module_cache, lists_of_files_are_remembered_the_newest_first) {
  EXPECT_TRUE(remembered_files(key('1')).empty());
  const file_list one{{"/a b.h"}, {"/c#.h", "/+.h"}, {"/-.h"}}, two{{"/a b.h"}, {}, {}};
  remember_files(key('1'), one);
  remember_files(key('1'), two);
  remember_files(key('1'), two);
  const auto lists = remembered_files(key('1'));
  ASSERT_EQ(lists.size(), 2u);
  EXPECT_EQ(lists[0].own, two.own);
  EXPECT_EQ(lists[0].other, two.other);
  EXPECT_EQ(lists[1].own, one.own);
  EXPECT_EQ(lists[1].other, one.other);
  EXPECT_EQ(lists[1].absent, one.absent);
  EXPECT_TRUE(remembered_files(key('2')).empty());
  // A list that was cut short is not taken for a shorter list.
  const fs::path file = cache() / (key('1') + ".deps");
  write_file(file, read_file(file).substr(0, read_file(file).size() - 1));
  EXPECT_EQ(remembered_files(key('1')).size(), 1u);
}

TEST_F(module_cache, the_least_recently_used_go_when_there_is_no_room) {
  const std::string content(10000, 'x');
  for (const char name : {'a', 'b', 'c', 'd'}) age(keep(key(name), content), 1000 - name);
  write_file(cache() / "notes.txt", content);
  EXPECT_GT(module_cache_size().bytes, 40000);
  EXPECT_EQ(module_cache_size().files, 4);
  EXPECT_TRUE(find_module(key('a'), ".so")) << "used now";
  set("SALTUS_CACHE_SIZE", "42K");
  keep(key('e'), content);
  EXPECT_LE(module_cache_size().bytes, 42 << 10);
  EXPECT_TRUE(fs::exists(cache() / (key('a') + ".so"))) << "stored first, but used last";
  EXPECT_FALSE(fs::exists(cache() / (key('b') + ".so")));
  EXPECT_TRUE(fs::exists(cache() / (key('d') + ".so")));
  EXPECT_TRUE(fs::exists(cache() / (key('e') + ".so")));
  EXPECT_TRUE(fs::exists(cache() / "notes.txt")) << "not ours";
}

TEST_F(module_cache, its_size_is_bytes_or_has_a_unit) {
  const std::map<std::string, std::int64_t> sizes = {
      {"", std::int64_t{1} << 30},  {"0", 0}, {"123", 123}, {"3K", 3072}, {"500M", 500 << 20},
      {"2T", std::int64_t{2} << 40}};
  for (const auto& [text, bytes] : sizes) {
    set("SALTUS_CACHE_SIZE", text);
    EXPECT_EQ(module_cache_limit(), bytes) << text;
  }
  for (const char* text : {"much", "-1", "1.5G", "5 M", "3KB", "3k", "M", "9999999999G", "99999999999999999999"}) {
    set("SALTUS_CACHE_SIZE", text);
    try {
      module_cache_limit();
      FAIL() << text;
    } catch (const error& e) {
      EXPECT_EQ(e.exit_code, exit_usage);
      EXPECT_EQ(std::string(e.what()).find(std::string("SALTUS_CACHE_SIZE = ") + text + ": must be "), 0u) << e.what();
    }
  }
}

/// The function's return value in a separate process, as another user if possible.
std::string in_another_process(uid_t user, const std::function<std::string()>& what) {
  int ends[2];
  EXPECT_EQ(0, pipe(ends));
  const pid_t child = fork();
  if (child == 0) {
    std::string said = "cannot change the user";
    if (user == geteuid() || (setgid(user) == 0 && setuid(user) == 0)) {
      try {
        said = what();
      } catch (const std::exception& e) { said = e.what(); }
    }
    if (write(ends[1], said.data(), said.size()) < 0) _exit(1);
    std::exit(0);  // with the actions at the end of a process
  }
  close(ends[1]);
  std::string said;
  char piece[1024];
  for (ssize_t n; (n = read(ends[0], piece, sizeof piece)) > 0;) said.append(piece, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << said;
  return said;
}

TEST_F(module_cache, without_a_home_nobody_can_foresee_its_folder) {
  for (const char* variable : {"SALTUS_CACHE", "XDG_CACHE_HOME", "HOME"}) unsetenv(variable);
  const passwd* me = getpwuid(geteuid());
  ASSERT_NE(me, nullptr);
  const fs::path here = in_another_process(geteuid(), [] { return cache_folder().string(); });
  EXPECT_EQ(here, fs::path(me->pw_dir) / ".cache" / "saltus") << "the system's home for the user";

  if (geteuid() != 0) GTEST_SKIP() << "only root can become a user without a home";
  if (const passwd* nobody = getpwuid(65534); nobody != nullptr && fs::exists(fs::path(nobody->pw_dir) / ".cache"))
    GTEST_SKIP() << nobody->pw_dir << "/.cache exists: the user without a home has been given one";
  const auto private_folder = [] {
    const fs::path folder = cache_folder();
    struct stat about {};
    stat(folder.c_str(), &about);
    return std::string(cache_folder() == folder ? "" : "changes ") + std::to_string(about.st_uid) +
           ((about.st_mode & 077) == 0 ? " private " : " open ") + folder.string();
  };
  const std::string expected = "65534 private " + (fs::temp_directory_path() / "saltus-").string();
  std::vector<std::string> folders;
  for (int i = 0; i < 2; ++i) {
    folders.push_back(in_another_process(65534, private_folder));
    EXPECT_EQ(folders.back().find(expected), 0u) << folders.back();
    EXPECT_FALSE(fs::exists(folders.back().substr(folders.back().find('/')))) << "the process removes it";
  }
  EXPECT_NE(folders[0], folders[1]);
}

}  // namespace
}  // namespace saltus::host
