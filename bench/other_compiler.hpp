// The same ensembles in modules built by another compiler. A process uses the first compiler that it finds, so a second
// process measures a study on request.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compile/compiler.hpp"
#include "study.hpp"

namespace saltus::bench {

class other_compiler {
 public:
  struct answer {
    bool ok;
    duration took;
    std::uint64_t digest;  ///< of the final states
  };

  /// Must be constructed before the process has threads.
  other_compiler(const std::vector<study>& studies, int lanes) : name_(other_than_ours()) {
    int ask[2], reply[2];
    if (::pipe(ask) != 0 || ::pipe(reply) != 0 || (child_ = ::fork()) < 0)
      throw std::runtime_error("cannot start a second process");
    const bool here = child_ == 0;
    in_ = here ? ask[0] : reply[0];
    out_ = here ? reply[1] : ask[1];
    ::close(here ? ask[1] : ask[0]);
    ::close(here ? reply[0] : reply[1]);
    if (here) {
      serve(studies, lanes);
      ::_exit(0);
    }
  }
  ~other_compiler() {
    ::close(out_);
    ::close(in_);
    ::waitpid(child_, nullptr, 0);
  }
  other_compiler(const other_compiler&) = delete;
  other_compiler& operator=(const other_compiler&) = delete;

  const std::string& name() const { return name_; }

  /// Measures study number `index` on one thread; not ok if this compiler cannot be used.
  answer measure(int index) {
    answer a{};
    if (::write(out_, &index, sizeof index) != sizeof index || ::read(in_, &a, sizeof a) != sizeof a) a.ok = false;
    return a;
  }

 private:
  static std::string other_than_ours() {
    const char* const own = std::getenv("SALTUS_CXX");
#if defined(__clang__)
    const bool clang = !own || std::string_view(own).find("clang") != std::string_view::npos;
#else
    const bool clang = own && std::string_view(own).find("clang") != std::string_view::npos;
#endif
    return clang ? "g++" : "clang++";
  }

  void serve(const std::vector<study>& studies, int lanes) {
    struct prepared {
      host::plan plan;
      std::unique_ptr<host::backend> where;
      std::uint64_t digest;
    };
    std::map<int, prepared> known;
    ::setenv("SALTUS_CXX", name_.c_str(), 1);
    for (int index; ::read(in_, &index, sizeof index) == sizeof index;) {
      answer a{};
      try {
        auto found = known.find(index);
        if (found == known.end()) {
          const auto& s = studies[static_cast<std::size_t>(index)];
          auto p = s.plan(s.method, s.rtol, lanes, 1);
          auto w = host::make_cpu_backend(p);
          const auto d = digest(test::run(p));
          found = known.emplace(index, prepared{std::move(p), std::move(w), d}).first;
        }
        a = {true, time_of(found->second.plan, *found->second.where), found->second.digest};
      } catch (const std::exception& e) { fmt::print(stderr, "with {}: {}\n", name_, e.what()); }
      if (::write(out_, &a, sizeof a) != sizeof a) return;
    }
  }

  std::string name_;
  pid_t child_ = -1;
  int in_ = -1, out_ = -1;
};

}  // namespace saltus::bench
