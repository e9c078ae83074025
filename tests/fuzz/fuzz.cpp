// Fuzzing of the inputs that saltus reads, by libFuzzer: `fuzz spec|csv|journal|result [OPTION OF LIBFUZZER | FOLDER]...`.
// An `error` may reject any input; every other failure is a finding. For result files the fuzzer changes the contents by names that saltus
// knows instead of the bytes, because HDF5 (1.10.8) itself crashes on damaged files before saltus sees them.
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fuzzer/FuzzedDataProvider.h>
#include <netcdf.h>
#include <xxhash.h>

#include "base/error.hpp"
#include "base/files.hpp"
#include "cli/show_command.hpp"
#include "ensemble/chunk_data.hpp"
#include "ensemble/tally.hpp"
#include "result/journal.hpp"
#include "result/provenance.hpp"
#include "spec/csv.hpp"
#include "spec/spec.hpp"
#include "study/find_indices.hpp"
#include "study/prepare.hpp"

namespace saltus::host {
namespace {

namespace fs = std::filesystem;

/// A folder in memory, removed at the end of the process.
const fs::path& workplace() {
  static const struct here {
    fs::path path = fs::path("/dev/shm") / ("saltus-fuzz-" + std::to_string(::getpid()));
    here() { fs::create_directories(path); }
    ~here() { fs::remove_all(path); }
  } here;
  return here.path;
}

[[noreturn]] void wrong(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

const model& known() {
  static const model one = describe("bouncing_ball");
  return one;
}

/// An accepted spec must give a plan whose spec is accepted again with the same meaning.
void try_spec(const std::string& text) {
  plan first;
  try {
    first = validate(from_text(text), known());
  } catch (const error&) { return; }
  try {
    if (validate(from_text(first.text), known()).text != first.text) wrong("another spec: " + first.text);
  } catch (const error& e) { wrong(std::string(e.what()) + "\nis said of\n" + first.text); }
}

void try_csv(const std::string& text) {
  const fs::path file = workplace() / "a.csv";
  write_file(file, text);
  try {
    const csv_table all = read_csv_table(file, {}, "fuzz");
    for (const auto& column : all.columns)
      if (column.size() != all.columns.front().size()) wrong("columns of different length");
  } catch (const error&) {}
}

/// Either the bytes as a file of chunks, or, to get past the checksums, a record of these bytes with valid checksums.
std::string chunks_of(const std::string& bytes, std::uint64_t seed) {
  if (bytes.size() < 4 || bytes[0] % 2 == 0) return bytes;
  struct {
    char magic[8];
    std::int64_t first, count, bytes;
    std::uint64_t checksum;
  } head = {};
  std::memcpy(head.magic, "saltusJ2", sizeof head.magic);
  head.first = static_cast<unsigned char>(bytes[1]) % 100, head.count = static_cast<unsigned char>(bytes[2]) % 100;
  head.bytes = static_cast<std::int64_t>(bytes.size()) - 3;
  head.checksum = XXH3_64bits_withSeed(&head, offsetof(decltype(head), checksum), seed);
  XXH3_state_t* const state = XXH3_createState();
  XXH3_64bits_reset(state);
  XXH3_64bits_update(state, bytes.data() + 3, bytes.size() - 3);
  XXH3_64bits_update(state, &head, sizeof head);
  const XXH64_hash_t sum = XXH3_64bits_digest(state);
  XXH3_freeState(state);
  std::string file(reinterpret_cast<const char*>(&head), sizeof head);
  file += bytes.substr(3);
  return file.append(reinterpret_cast<const char*>(&sum), sizeof sum);
}

plan plan_with(const std::string& output) {
  return validate(from_text("model = \"bouncing_ball\"\nsample = {count = 100, restitution = {uniform = [0.3, 0.9]}}\n"
                            "output = {statistics = true, " +
                            output + "}\n"),
                  known());
}

void try_journal(const std::string& bytes) {
  static const plan with_rows = plan_with("samples = {count = 3}, events = true"), without = plan_with("rows = false");
  for (const bool rows : {true, false}) {
    plan p = rows ? with_rows : without;
    p.file = workplace() / (rows ? "rows.nc" : "statistics.nc");
    const provenance origin;
    try {
      const auto seed = journal(p.file, p, origin, journal::older::continued).seed();
      write_file(journal::folder_of(p.file) / "chunks", chunks_of(bytes, seed));
      const journal left(p.file, p, origin, journal::older::continued);
      for (const id_range& range : left.stored()) {
        chunk_data chunk(p, range.first, range.count);
        tally counts;
        left.load(range, chunk, counts);
      }
    } catch (const error&) {}
  }
}

struct usual_attribute {
  const char *name, *text;  ///< null: a number
};
struct usual_variable {
  const char *name, *role;
  nc_type type;
  std::vector<const char*> along;
  bool without_rows = false;
  usual_attribute also = {"units", "m"};
};

/// A file like a result in which some items are missing, or have another type, shape or value.
class made_result {
 public:
  made_result(const fs::path& file, FuzzedDataProvider& from) : from_(from) {
    must(nc_create(file.c_str(), NC_CLOBBER | NC_64BIT_DATA, &file_));
    for (const char* name : dimensions)
      if (int id; !differs()) must(nc_def_dim(file_, name, from_.ConsumeIntegralInRange<std::size_t>(1, 4), &id));
    for (const usual_attribute& one : of_file) put(NC_GLOBAL, one);
    const bool has_rows = from_.ConsumeIntegralInRange(0, 3) > 0;
    for (const usual_variable& one : variables)
      if (has_rows || one.without_rows) add(one);
    must(nc_enddef(file_));
    for (const int id : ids_) fill(id);
    must(nc_close(file_));
  }

 private:
  void must(int status) const {
    if (status != NC_NOERR) wrong(nc_strerror(status));
  }
  bool differs() { return from_.ConsumeIntegralInRange(0, 31) == 31; }

  double number() {
    switch (from_.ConsumeIntegralInRange(0, 15)) {
      case 14: return from_.ConsumeFloatingPoint<double>();
      case 15: return from_.PickValueInArray({-1.0, 255.0, 256.0, 1000.0, -9e18, 9e18, 1e300, -0.0});
      default: return from_.ConsumeIntegralInRange(0, 2);
    }
  }
  void put(int of, const usual_attribute& one) {
    if (differs()) return;
    const bool is_text = (one.text != nullptr) != differs();
    if (is_text) {
      const std::string text = one.text == nullptr || differs() ? from_.ConsumeRandomLengthString(20) : one.text;
      must(nc_put_att_text(file_, of, one.name, text.size(), text.data()));
    } else {
      const std::array<double, 3> values = {number(), number(), number()};
      const std::size_t length = differs() ? from_.ConsumeIntegralInRange<std::size_t>(0, 3) : 1;
      const nc_type type = differs() ? from_.PickValueInArray({NC_INT64, NC_INT, NC_UBYTE, NC_FLOAT}) : NC_DOUBLE;
      const int status = nc_put_att_double(file_, of, one.name, type, length, values.data());
      if (status != NC_ERANGE) must(status);
    }
  }
  nc_type type_instead_of(nc_type usual) {
    return differs() ? from_.PickValueInArray({NC_DOUBLE, NC_INT64, NC_INT, NC_UBYTE, NC_CHAR, NC_FLOAT}) : usual;
  }
  void add(const usual_variable& one) {
    std::vector<int> along;
    auto names = one.along;
    if (differs()) names.resize(from_.ConsumeIntegralInRange<std::size_t>(0, 3), dimensions[0]);
    for (const char* name : names)
      if (int id; nc_inq_dimid(file_, differs() ? from_.PickValueInArray(dimensions) : name, &id) == NC_NOERR)
        along.push_back(id);
    int id = -1;
    const std::string name = differs() ? from_.ConsumeRandomLengthString(6) : one.name;
    if (differs() || nc_def_var(file_, name.c_str(), type_instead_of(one.type), static_cast<int>(along.size()),
                                along.data(), &id) != NC_NOERR)
      return;
    put(id, {"role", one.role});
    put(id, one.also);
    ids_.push_back(id);
  }
  void fill(int variable) {
    nc_type of = NC_NAT;
    int rank = 0;
    std::array<int, NC_MAX_VAR_DIMS> along;
    must(nc_inq_var(file_, variable, nullptr, &of, &rank, along.data(), nullptr));
    if (of == NC_CHAR) return;
    std::size_t size = 1, length = 0;
    for (int d = 0; d < rank; ++d)
      must(nc_inq_dimlen(file_, along[static_cast<std::size_t>(d)], &length)), size *= length;
    std::vector<double> values(size);
    for (double& value : values) value = number();
    const int status = nc_put_var_double(file_, variable, values.data());
    if (status != NC_ERANGE) must(status);
  }

  static constexpr const char* dimensions[] = {
      "instance", "time", "event", "statistic", "bin_t_final", "sensitivity_outcome", "sensitivity_input"};
  static inline const std::vector<usual_attribute> of_file = {{"saltus_version", "0.1"},
                                                              {"model", "bouncing_ball"},
                                                              {"method", "dp5"},
                                                              {"spec", "model = \"bouncing_ball\""},
                                                              {"settings", "rtol = 1e-6"},
                                                              {"seed", nullptr},
                                                              {"wall_time_s", nullptr},
                                                              {"state", "complete"},
                                                              {"remarks", "none"},
                                                              {"count_ok", nullptr},
                                                              {"count_finished", nullptr},
                                                              {"count_rescued_from_step_budget", nullptr},
                                                              {"design", "saltelli"},
                                                              {"design_count", nullptr},
                                                              {"design_inputs", "height"},
                                                              {"design_second_order", nullptr},
                                                              {"design_levels", nullptr},
                                                              {"design_harmonics", nullptr},
                                                              {"sensitivity_outcomes", "t_final"},
                                                              {"sensitivity_failed", nullptr},
                                                              {"sensitivity_first_failed", nullptr}};
  static inline const std::vector<usual_variable> variables = {
      {"status", "status", NC_UBYTE, {"instance"}},
      {"exception", "status", NC_UBYTE, {"instance"}},
      {"restitution", "parameter", NC_DOUBLE, {"instance"}},
      {"gravity", "parameter", NC_DOUBLE, {}, true},
      {"initial_height", "initial", NC_DOUBLE, {"instance"}},
      {"t_begin", "span", NC_DOUBLE, {}, true},
      {"t_final", "final", NC_DOUBLE, {"instance"}},
      {"final_height", "final", NC_DOUBLE, {"instance"}},
      {"final_velocity", "final", NC_DOUBLE, {"instance"}},
      {"steps", "counter", NC_INT64, {"instance"}},
      {"switched", "", NC_DOUBLE, {"instance"}},
      {"switched_to", "", NC_UBYTE, {"instance"}, false, {"flag_meanings", "none rodas5p radau5"}},
      {"residual", "", NC_DOUBLE, {"instance"}},
      {"residual_of", "", NC_INT, {"instance"}, false, {"flag_meanings", "none height velocity"}},
      {"dependent", "", NC_INT64, {"instance"}, false, {"flag_meanings", "a b c"}},
      {"time", "time", NC_DOUBLE, {"time"}, true},
      {"height", "sample", NC_DOUBLE, {"instance", "time"}},
      {"event_row_size", "", NC_INT64, {"instance"}},
      {"event_time", "event", NC_DOUBLE, {"event"}},
      {"event_guard", "event", NC_INT, {"event"}, false, {"flag_meanings", "impact apex"}},
      {"before_height", "event", NC_DOUBLE, {"event"}},
      {"event_height", "event", NC_DOUBLE, {"event"}},
      {"statistic", "statistics", NC_INT, {"statistic"}, true},
      {"statistics_t_final", "statistics", NC_DOUBLE, {"statistic"}, true},
      {"histogram_t_final", "histogram", NC_INT64, {"bin_t_final"}, true, {"from", nullptr}},
      {"sensitivity_S1", "sensitivity", NC_DOUBLE, {"sensitivity_outcome", "sensitivity_input"}, true},
      {"sensitivity_S1_low", "sensitivity", NC_DOUBLE, {"sensitivity_outcome", "sensitivity_input"}, true},
      {"sensitivity_ST", "sensitivity", NC_DOUBLE, {"sensitivity_outcome", "sensitivity_input"}, true}};

  FuzzedDataProvider& from_;
  int file_ = -1;
  std::vector<int> ids_;
};

void try_result(const std::string& bytes) {
  FuzzedDataProvider from(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  const fs::path file = workplace() / "result.nc";
  const made_result made(file, from);
  static const std::unique_ptr<std::FILE, int (*)(std::FILE*)> nowhere(std::fopen("/dev/null", "w"), std::fclose);
  const auto try_to = [](const auto& read) {
    try {
      read();
    } catch (const error&) {}
  };
  for (const bool json : {false, true}) {
    show_options how{.file = file, .json = json};
    try_to([&] { show(how, nowhere.get()); });
    how.failed = true;
    try_to([&] { show(how, nowhere.get()); });
    how.failed = false, how.instance = 1;
    try_to([&] { show(how, nowhere.get()); });
  }
  try_to([&] { indices_of(result_file(file)); });
  try_to([&] {
    validate(from_text("model = \"bouncing_ball\"\ninitial = {from = \"" + file.string() + "\"}\n"), known());
  });
  try_to([&] {
    validate(from_text("model = \"bouncing_ball\"\nsweep = {table = \"" + file.string() + "\"}\n"), known());
  });
}

const std::map<std::string, void (*)(const std::string&)> readers = {
    {"spec", try_spec}, {"csv", try_csv}, {"journal", try_journal}, {"result", try_result}};
void (*reader)(const std::string&) = nullptr;

}  // namespace
}  // namespace saltus::host

extern "C" int LLVMFuzzerInitialize(int* argument_count, char*** arguments) {
  using namespace saltus::host;
  const auto chosen = readers.find(*argument_count > 1 ? (*arguments)[1] : "");
  if (chosen == readers.end()) {
    std::fprintf(stderr, "usage: fuzz spec|csv|journal|result [OPTION OF LIBFUZZER | FOLDER]...\n");
    std::exit(2);
  }
  reader = chosen->second;
  (*arguments)[1] = (*arguments)[0];  // libFuzzer sees the remaining arguments
  ++*arguments, --*argument_count;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  saltus::host::reader(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
