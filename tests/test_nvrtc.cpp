// Every built-in problem with every method compiles for sm_90, which needs no device, and fits into registers. The table of
// what the kernels need is printed, for a reader who changes them.
#include <gtest/gtest.h>

#if !defined(SALTUS_WITH_CUDA)

TEST(nvrtc, every_problem_with_every_method_compiles_for_sm_90) {
  GTEST_SKIP() << "the CUDA toolkit was not found when this was built";
}

#else

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "compiler.hpp"
#include "error.hpp"
#include "install.hpp"
#include "method/tableaus.hpp"
#include "nvrtc.hpp"

namespace saltus::host {
namespace {

struct combination {
  plan        what;
  built_cuda  made{};
  std::string failure{};
  double      seconds = 0;
};

plan plan_for(const model& m, const char* method, bool adaptive, const char* precision) {
  plan p;
  p.model     = m;
  p.method    = method;
  p.precision = precision;
  p.atol.assign(m.states.size(), 1e-6);
  p.fixed_step = adaptive ? 0 : 1e-3;
  return p;
}

/// All problems with all methods in double; a few in float.
std::vector<combination> everything() {
  std::vector<combination> r;
  for (const auto& name : builtin_names()) {
    const model m = describe_model(find_model(name));
    methods::for_each(methods::all{}, [&](auto method) {
      r.push_back({plan_for(m, method.name, method.embedded_order > 0, "double")});
      if (std::string(method.name) == "dp5" && (name == "lorenz" || name == "relief_valve" || name == "keller_miksis"))
        r.push_back({plan_for(m, method.name, true, "float")});
    });
  }
  return r;
}

void compile_all(std::vector<combination>& list) {
  std::atomic<std::size_t> next{0};
  const auto               work = [&] {
    for (std::size_t i; (i = next++) < list.size();) {
      combination& c     = list[i];
      const auto   begin = std::chrono::steady_clock::now();
      try {
        c.made = build_cuda_unit(c.what, 90);
      } catch (const error& e) {
        c.failure = e.what();
      }
      c.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) threads.emplace_back(work);
  for (auto& t : threads) t.join();
}

TEST(nvrtc, every_problem_with_every_method_compiles_for_sm_90) {
  auto list = everything();
  compile_all(list);
  std::printf("%-18s %-8s %-6s  %-6s %9s %11s %11s %11s %8s\n", "model", "method", "number", "kernel", "registers", "spill store",
              "spill load", "local bytes", "seconds");
  for (const combination& c : list) {
    EXPECT_EQ("", c.failure) << c.what.model.name << " with " << c.what.method;
    for (const auto& k : c.made.kernels) {
      const std::string kernel = k.name.substr(k.name.find('_') + 1);
      if (kernel != "begin" && kernel != "sail" && kernel != "land") continue;
      std::printf("%-18s %-8s %-6s  %-6s %9d %11d %11d %11d", c.what.model.name.c_str(), c.what.method.c_str(),
                  c.what.precision.c_str(), kernel.c_str(), k.registers, k.spill_store_bytes, k.spill_load_bytes, k.local_bytes);
      if (kernel == "begin") std::printf(" %8.2f", c.seconds);
      std::printf("\n");
    }
  }
}

}  // namespace
}  // namespace saltus::host

#endif
