// Built-in problems compile for sm_90, without a device, with the methods that can solve them, and fit into registers. The test
// prints a table of the resources of the kernels.
#include <gtest/gtest.h>

#if !defined(SALTUS_WITH_CUDA)

TEST(nvrtc, problems_and_methods_compile_for_sm_90) {
  GTEST_SKIP() << "the CUDA toolkit was not found when this was built";
}

#else

#include <elf.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <nvrtc.h>

#include "abi/reductions.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "compile/compiler.hpp"
#include "compile/module_cache.hpp"
#include "compile/nvrtc.hpp"
#include "method/by_name.hpp"
#include "method/list.hpp"
#include "testing/source_folder.hpp"

namespace saltus::host {
namespace {

struct combination {
  plan what;
  bool whole;  ///< all kernels, or the sailing kernel alone
  cuda_module_code made{};
  std::string failure{};
  double seconds = 0;
};

constexpr auto in_double = precision_kind::double_precision, in_float = precision_kind::single_precision;

plan plan_for(const model& m, const char* method, bool adaptive, precision_kind precision) {
  plan p;
  p.model = m;
  p.method = method;
  p.precision = precision;
  p.atol.assign(m.states.size(), 1e-6);
  p.fixed_step = adaptive ? 0 : 1e-3;
  if (p.method == "dp5" && m.coordinates == 0) p.stiff_method = "rodas5p";  // the default, which looks for stiffness
  return p;
}

/// More states and guards than the registers of one thread can hold: NVRTC may take minutes (docs/cuda.md).
bool is_large(const model& m) { return m.states.size() + m.guards.size() > 16; }

/// Problems that are compiled with all methods that can solve them, explicit and implicit.
bool is_chosen(const std::string& name) { return name == "lorenz" || name == "robertson"; }

/// Problems with special features in their kernels: no guard, an impact, conditions, sliding, time events, costly functions, many
/// guards, index 2.
bool is_special(const std::string& name) {
  const std::string all[] = {"relief_valve",  "bouncing_ball", "coulomb_oscillator", "relay",          "pulsed_dose",
                             "keller_miksis", "izhikevich",    "two_tanks",          "campbell_orbits"};
  return is_chosen(name) || std::find(std::begin(all), std::end(all), name) != std::end(all);
}

/// These problems with one method; the sailing kernel of some with all explicit methods; float; implicit
/// methods: one of each family, and one for index 2. From eight states on NVRTC takes a minute for each (docs/cuda.md).
std::vector<combination> everything() {
  std::vector<combination> r;
  for (const auto& name : builtin_names()) {
    const model m = describe_model(find_model(name));
    if (is_large(m) || !is_special(name)) continue;
    methods::for_each(methods::all_methods{}, [&](auto method) {
      const std::string key = method.name;
      const bool usual = key == (m.equations == abi::plain ? "dp5" : "radau5");
      const bool of_each_family = key == "rodas5p" || key == "sdirk4" || key == "radau5";
      const bool all = is_chosen(name) && (name == "robertson" ? of_each_family : method.is_explicit);
      const bool small = m.equations == abi::plain || highest_index(m) == 2;
      const bool whole = (usual && small) || (all && !method.is_explicit);
      if (whole || all) r.push_back({plan_for(m, method.name, method.embedded_order > 0, in_double), whole});
      if (usual && is_chosen(name) && name != "robertson")
        r.push_back({plan_for(m, method.name, true, in_float), true});
    });
  }
  // Rows of data of each instance.
  r.push_back(
      {plan_for(describe_model(saltus::test::in_source("tests/models/patients.hpp")), "dp5", true, in_double), true});
  // Histories of delayed states, without and with events.
  r.push_back({plan_for(describe_model(find_model("mackey_glass")), "dp5", true, in_double), true});
  r.push_back(
      {plan_for(describe_model(saltus::test::in_source("tests/models/delayed_relay.hpp")), "dp5", true, in_double),
       true});
  // Stages in descriptor form are a separate family, for mechanical models.
  r.push_back({plan_for(describe_model(find_model("compound_pendulum")), "inflsdirk4", true, in_double), true});
  // Steps that are differentiated by parameters are another family.
  for (const char* method : {"rodas5p", "sdirk4", "radau5"}) {
    r.push_back({plan_for(describe_model(find_model("robertson")), method, true, in_double), false});
    for (int j = 0; j < 2; ++j)
      r.back().what.sensitivities.push_back({target::kind::parameter, j, "k" + std::to_string(j + 1)});
  }
  return r;
}

/// One of each family of forms and methods among these, except descriptor form, which takes as long as all others together.
std::vector<combination> one_of_each_family() {
  auto r = everything();
  std::erase_if(r, [](const combination& c) {
    const std::string what = c.what.model.name + " " + c.what.method;
    const std::string kept[] = {"lorenz dp5",       "lorenz taylor12",        "coulomb_oscillator dp5",
                                "robertson sdirk4", "campbell_orbits radau5", "patients dp5",
                                "mackey_glass dp5"};
    return c.what.precision != precision_kind::double_precision || !c.what.sensitivities.empty() ||
           std::find(std::begin(kept), std::end(kept), what) == std::end(kept);
  });
  return r;
}

void compile_all(std::vector<combination>& list) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i; (i = next++) < list.size();) {
      combination& c = list[i];
      const auto begin = std::chrono::steady_clock::now();
      try {
        c.made = c.whole ? build_cuda_module(c.what, 90) : build_sailing(c.what, 90);
      } catch (const error& e) { c.failure = e.what(); }
      c.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) threads.emplace_back(work);
  for (auto& t : threads) t.join();
}

void expect_that_all_compile(std::vector<combination> list) {
  compile_all(list);
  std::printf("%-18s %-8s %-9s  %-5s %9s %11s %10s %11s %6s %8s\n", "model", "method", "precision", "part", "registers",
              "spill store", "spill load", "local bytes", "warps", "seconds");
  for (const combination& c : list) {
    const std::string what = c.what.model.name + " with " + c.what.method + " in " + word_of(c.what.precision);
    EXPECT_EQ("", c.failure) << what;
    EXPECT_EQ(!c.failure.empty() ? 0u : !c.whole ? 1u : c.made.quick ? 4u : 3u, c.made.kernels().size()) << what;
    for (const auto& k : c.made.kernels()) {
      const std::string part = k.name.substr(k.name.find('_') + 1);
      std::printf("%-18s %-8s %-9s  %-5s %9d %11d %10d %11d %6d", c.what.model.name.c_str(), c.what.method.c_str(),
                  word_of(c.what.precision).c_str(), part.c_str(), k.registers, k.spill_store_bytes, k.spill_load_bytes,
                  k.local_bytes, resident_warps(k.registers));
      std::printf(part == "sail" ? " %8.2f\n" : "\n", c.seconds);
      EXPECT_GT(k.instructions, 100) << what;
      // Most instances only sail: four warps must fit, with almost no local memory. Landing is rare and may use local memory;
      // implicit steps may, too, since they need a matrix and the increments of all stages at once, except for Robertson's
      // problem.
      const bool fits =
          c.what.model.equations == abi::plain && (c.what.method == "dp5" || is_chosen(c.what.model.name));
      if (part != "sail" || !fits) continue;
      EXPECT_LE(k.spill_store_bytes + k.spill_load_bytes, 6 * k.instructions / 10) << what;
      if (c.what.method == "dp5") { EXPECT_GE(resident_warps(k.registers), 3) << what; }
    }
  }
}

TEST(nvrtc, one_of_each_family_compiles_for_sm_90) {
  auto list = one_of_each_family();
  EXPECT_EQ(7u, list.size());
  expect_that_all_compile(std::move(list));
}

TEST(nvrtc, problems_and_methods_compile_for_sm_90) { expect_that_all_compile(everything()); }

TEST(nvrtc, scheduled_events_and_random_streams_compile_for_sm_90) {
  std::vector<combination> list;
  for (const char* name : {"repairs", "relay_race"}) {
    const auto header = std::filesystem::path(saltus::test::in_source("tests/models")) / (name + std::string(".hpp"));
    list.push_back({plan_for(describe_model(header), "dp5", true, in_double), true});
  }
  expect_that_all_compile(std::move(list));
}

TEST(nvrtc, every_reduction_compiles_for_sm_90) {
  std::vector<combination> list;
  for (const bool of_output : {false, true}) {
    plan p = plan_for(describe_model(find_model("pulsed_dose")), "dp5", true, in_double);
    for (int which = 0; which < static_cast<int>(std::size(reduction_table)); ++which)
      if (const auto kind = static_cast<reduce>(which); !of_output || !is_of_event(kind))
        p.reductions.push_back({kind, of_output, 0, reduction_table[which].notation, which % 2 == 0});
    list.push_back({p, true});
  }
  list.push_back({plan_for(describe_model(find_model("van_der_pol")), "taylor8", true, in_double), true});
  list.back().what.reductions.push_back({reduce::deviation, false, 0, "std(x)"});
  compile_all(list);
  for (const combination& c : list) EXPECT_EQ("", c.failure) << c.what.model.name << " with " << c.what.method;
}

TEST(nvrtc, code_whose_report_is_lost_is_made_anew) {
  const plan p = plan_for(describe_model(find_model("lorenz")), "dp5", true, in_double);
  const built_cuda before = build_sailing(p, 90).sail;
  {
    const scratch_folder scratch(before.key);
    write_file(scratch / "log", "");
    keep_module(scratch / "log", before.key, ".cubin.log");
  }
  const built_cuda after = build_sailing(p, 90).sail;
  ASSERT_EQ(1u, after.kernels.size());
  EXPECT_EQ(before.kernels[0].registers, after.kernels[0].registers);
  EXPECT_FALSE(build_sailing(p, 90).sail.compiled);
}

TEST(nvrtc, warps_fit_by_their_registers) {
  // 65536 registers of a multiprocessor, allocated to warps of 32 threads in units of eight, a quarter of them at each scheduler.
  EXPECT_EQ(16, resident_warps(32));
  EXPECT_EQ(8, resident_warps(64));
  EXPECT_EQ(7, resident_warps(65));
  EXPECT_EQ(4, resident_warps(128));
  EXPECT_EQ(3, resident_warps(129));
  EXPECT_EQ(3, resident_warps(168));
  EXPECT_EQ(2, resident_warps(169));
  EXPECT_EQ(2, resident_warps(255));
}

TEST(nvrtc, registers_are_given_up_for_warps_as_long_as_spills_cost_less) {
  const auto with = [](int registers, int spilled, int local) {
    kernel_report k;
    k.registers = registers, k.spill_store_bytes = k.spill_load_bytes = spilled, k.local_bytes = local;
    k.instructions = 3000;
    return estimated_cost(k);
  };
  EXPECT_LT(with(128, 50, 50), with(136, 0, 0)) << "a third more warps for 100 bytes";
  EXPECT_GT(with(128, 1000, 400), with(168, 0, 0)) << "2000 cycles of 4500";
  EXPECT_GT(with(96, 10, 10), with(128, 0, 0)) << "four warps are enough";
  EXPECT_GT(with(128, 100, 1000), with(128, 100, 100)) << "512 threads fill the cache";
}

TEST(nvrtc, the_choice_of_registers_is_remembered) {
  const plan p = plan_for(describe_model(find_model("stick_slip")), "dp5", true, in_double);
  const auto first = build_sailing(p, 90), second = build_sailing(p, 90);
  EXPECT_EQ(0, second.seconds);
  EXPECT_EQ(first.key(), second.key());
  EXPECT_EQ(first.sailing_warps, second.sailing_warps);
  EXPECT_GE(resident_warps(first.kernels().at(0).registers), first.sailing_warps);
  EXPECT_LE(first.candidates, 4);
}

/// Constant memory of a cubin, which is an ELF file: the bytes of its sections .nv.constant3*.
std::string constant_memory(const std::string& cubin) {
  const auto part = [&]<class T>(T value, std::size_t at) {
    if (at + sizeof(T) <= cubin.size()) std::memcpy(&value, cubin.data() + at, sizeof(T));
    return value;
  };
  const auto head = part(Elf64_Ehdr{}, 0);
  const auto section = [&](std::size_t i) { return part(Elf64_Shdr{}, head.e_shoff + i * head.e_shentsize); };
  const auto names = section(head.e_shstrndx).sh_offset;
  std::string bytes;
  for (std::size_t i = 0; i < head.e_shnum; ++i)
    if (cubin.compare(names + section(i).sh_name, 13, ".nv.constant3") == 0)
      bytes += cubin.substr(section(i).sh_offset, section(i).sh_size);
  return bytes;
}

/// Number of a tableau's coefficients that are missing, among those with a nonzero low half: other coefficients are literals.
template <class Table>
int not_in(const std::string& bytes, const Table& table, int& looked_for) {
  int missing = 0;
  for (const auto& row : table)
    for (const double w : row) {
      std::uint64_t bits;
      std::memcpy(&bits, &w, sizeof bits);
      if ((bits & 0xffffffffu) == 0) continue;
      ++looked_for;
      bool found = false;
      for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) found |= std::memcmp(&bytes[at], &w, 8) == 0;
      missing += !found;
    }
  return missing;
}

// A literal of double precision would take two instructions at each use. The compiler must not turn coefficients into
// literals, and they must have the bits of the tableau.
TEST(nvrtc, coefficients_of_methods_lie_in_constant_memory) {
  const model m = describe_model(find_model("lorenz"));
  const auto missing = [&]<class Method>(Method, const model& of) {
    int looked_for = 0;
    const auto module = build_sailing(plan_for(of, Method::name, true, in_double), 90);
    const int r = not_in(constant_memory(module.sail.code), Method::a, looked_for);
    EXPECT_GT(looked_for, 5) << Method::name;
    return r;
  };
  EXPECT_EQ(0, missing(methods::by_name<"dp5">{}, m));
  EXPECT_EQ(0, missing(methods::by_name<"rodas5p">{}, describe_model(find_model("robertson"))));
  // In single precision a literal is an operand.
  const auto narrow = build_sailing(plan_for(m, "dp5", true, in_float), 90);
  EXPECT_EQ("", constant_memory(narrow.sail.code));
}

TEST(nvrtc, every_kernel_header_compiles_alone) {
  const auto kernels = home() / "kernels";
  const auto folder = "--include-path=" + kernels.string();
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kernels)) {
    const std::string header = std::filesystem::relative(entry.path(), kernels).string();
    const auto kind = entry.path().extension();
    if (kind != ".hpp" && kind != ".cuh") continue;
    if (header == "run/on_cpu.hpp" || header == "model/describe.hpp") continue;  // CPU only
    const char* options[] = {"--std=c++20", "--gpu-architecture=compute_90", "--device-as-default-execution-space",
                             folder.c_str()};
    nvrtcProgram program;
    ASSERT_EQ(NVRTC_SUCCESS,
              nvrtcCreateProgram(&program, ("#include \"" + header + "\"\n").c_str(), "alone.cu", 0, nullptr, nullptr));
    const bool compiles = nvrtcCompileProgram(program, 4, options) == NVRTC_SUCCESS;
    std::size_t size = 0;
    nvrtcGetProgramLogSize(program, &size);
    std::string log(size, '\0');
    nvrtcGetProgramLog(program, log.data());
    nvrtcDestroyProgram(&program);
    EXPECT_TRUE(compiles) << header << ":\n" << log;
  }
}

TEST(nvrtc, a_second_time_a_module_comes_from_the_cache) {
  const plan p = plan_for(describe_model(find_model("lorenz")), "dp5", true, in_double);
  const auto first = build_cuda_module(p, 90), second = build_cuda_module(p, 90);
  EXPECT_EQ(0, second.seconds);
  EXPECT_FALSE(second.land.compiled);
  EXPECT_EQ(first.sail.code, second.sail.code);
  ASSERT_EQ(3u, second.kernels().size());
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(first.kernels()[i].registers, second.kernels()[i].registers);
}

TEST(nvrtc, quick_landings_are_made_where_full_ones_are_long) {
  const auto names = [](const char* problem) {
    std::string all;
    for (const kernel_report& k :
         build_cuda_module(plan_for(describe_model(find_model(problem)), "dp5", true, in_double), 90).kernels())
      all += k.name + " ";
    return all;
  };
  EXPECT_EQ(names("lorenz"), "saltus_begin saltus_sail saltus_land ");
  EXPECT_EQ(names("bok_1"), "saltus_begin saltus_sail saltus_land ");
  EXPECT_EQ(names("relief_valve"), "saltus_begin saltus_sail saltus_land_quickly saltus_land ");
}

// NVRTC does not report the files that it reads.
TEST(nvrtc, a_module_is_compiled_anew_when_an_included_file_has_changed) {
  const auto folder = std::filesystem::path(testing::TempDir());
  const auto header = folder / "with_rate.hpp";
  const auto make = [&](const char* rate) {
    std::ofstream(folder / "rate.h") << "#define RATE " << rate << "\n";
    return build_sailing(plan_for(describe_model(header), "bs3", true, in_double), 90);
  };
  std::ofstream(header) << "#include <saltus.hpp>\n"
                           "#define FILE \"rate.h\"\n"
                           "#include FILE\n"
                           "struct with_rate {\n"
                           "  enum state { x };\n"
                           "  static constexpr saltus::variable<state> state_list[] = {{x, 1.0, \"1\", \"a state\"}};\n"
                           "  static void rhs(const auto& at, auto& dy) { dy[x] = -RATE * at[x]; }\n"
                           "};\n";
  const auto one = make("1.25"), other = make("1.75"), again = make("1.25");
  EXPECT_NE(one.key(), other.key());
  EXPECT_NE(one.sail.code, other.sail.code);
  EXPECT_EQ(one.key(), again.key());
  EXPECT_EQ(one.sail.code, again.sail.code);
  EXPECT_EQ(again.seconds, 0);
}

TEST(nvrtc, a_device_it_does_not_know_is_an_error_that_names_it) {
  try {
    build_cuda_module(plan_for(describe_model(find_model("lorenz")), "bs3", true, in_double), 35);
    FAIL() << "no error";
  } catch (const error& e) {
    EXPECT_EQ(exit_device, e.exit_code);
    EXPECT_NE(std::string::npos, std::string(e.what()).find("compute capability 3.5")) << e.what();
  }
}

TEST(nvrtc, a_device_newer_than_all_it_knows_is_given_ptx) {
  const plan p = plan_for(describe_model(find_model("lorenz")), "dp5", true, in_double);
  // The newest available architecture; compute capabilities have one digit after the point.
  int count = 0;
  ASSERT_EQ(NVRTC_SUCCESS, nvrtcGetNumSupportedArchs(&count));
  std::vector<int> known(static_cast<std::size_t>(count));
  ASSERT_EQ(NVRTC_SUCCESS, nvrtcGetSupportedArchs(known.data()));
  const int newest = *std::max_element(known.begin(), known.end()), next = (newest / 10 + 1) * 10;

  const auto module = build_cuda_module(p, next);
  for (const auto& [part, kernel] : {std::pair{&module.begin, "saltus_begin"}, std::pair{&module.sail, "saltus_sail"},
                                     std::pair{&module.land, "saltus_land"}}) {
    EXPECT_EQ(newest, part->ptx_of);
    EXPECT_NE(std::string::npos, part->code.find(".target sm_" + std::to_string(newest)));
    EXPECT_NE(std::string::npos, part->code.find(std::string(".entry ") + kernel));
    // Operations not written as fma must not become fma; the driver's compiler would merge the loose forms below.
    EXPECT_NE(std::string::npos, part->code.find("mul.rn.f64"));
    for (const char* loose : {"\tmul.f64", "\tadd.f64", "\tsub.f64"})
      EXPECT_EQ(std::string::npos, part->code.find(loose)) << loose;
  }
  EXPECT_TRUE(module.kernels().empty());
  EXPECT_NE(build_statistics_module(next).code.find(".entry saltus_statistics"), std::string::npos);
  const auto again = build_cuda_module(p, next);
  EXPECT_EQ(module.sail.code, again.sail.code);
  EXPECT_EQ(0, again.seconds);
}

TEST(nvrtc, code_of_the_same_major_number_runs_on_a_device_that_is_not_known) {
  const plan p = plan_for(describe_model(find_model("lorenz")), "dp5", true, in_double);
  const auto module = build_sailing(p, 97);
  EXPECT_EQ(0, module.sail.ptx_of);
  EXPECT_EQ(build_sailing(p, 90).key(), module.key());
}

TEST(nvrtc, a_model_that_is_not_for_devices_is_named_with_its_line) {
  const auto header = std::filesystem::path(testing::TempDir()) / "host_only.hpp";
  {
    std::ofstream out(header);
    out << "#include <saltus.hpp>\n"
           "#include <vector>\n"  // line 2: NVRTC has no standard library
           "struct host_only {\n"
           "  enum state { x };\n"
           "  static constexpr saltus::variable<state> state_list[] = {{x, 1.0, \"1\", \"a state\"}};\n"
           "  static void rhs(const auto& at, auto& dy) { dy[x] = -at[x]; }\n"
           "};\n";
  }
  try {
    build_cuda_module(plan_for(describe_model(header), "dp5", true, in_double), 90);
    FAIL() << "no error";
  } catch (const error& e) {
    EXPECT_EQ(exit_model, e.exit_code);
    EXPECT_EQ(0u, std::string(e.what()).find(header.string() + ":2: ")) << e.what();
  }
}

}  // namespace
}  // namespace saltus::host

#endif
