// What saltus reads that others have written, as libFuzzer changes it: `fuzz spec|csv|journal [OPTION OF LIBFUZZER | FOLDER]...`.
// Anything may be refused by an `error`; nothing may end otherwise. Result files are left out: of damaged ones HDF5 (1.10.8)
// itself crashes before anything of saltus sees them.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>

#include <xxhash.h>

#include "base/error.hpp"
#include "base/files.hpp"
#include "ensemble/chunk.hpp"
#include "ensemble/tally.hpp"
#include "result/journal.hpp"
#include "result/provenance.hpp"
#include "spec/csv.hpp"
#include "spec/spec.hpp"
#include "study/prepare.hpp"

namespace saltus::host {
namespace {

namespace fs = std::filesystem;

/// A folder in memory, which goes with the process.
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

/// A spec that is accepted says in its plan what is accepted again, and means the same.
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

/// The file of chunks as it is; or, so that more than the checksum is tried, a record of these bytes with the checksum they have.
std::string chunks_of(const std::string& bytes) {
  if (bytes.size() < 4 || bytes[0] % 2 == 0) return bytes;
  struct {
    char magic[8];
    std::int64_t first, count, bytes;
  } head = {};
  std::memcpy(head.magic, "saltusJ1", sizeof head.magic);
  head.first = static_cast<unsigned char>(bytes[1]) % 100, head.count = static_cast<unsigned char>(bytes[2]) % 100;
  head.bytes = static_cast<std::int64_t>(bytes.size()) - 3;
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
      if (!journal::is_there(p.file)) const journal made(p.file, p, origin, journal::older::continued);
      write_file(journal::folder_of(p.file) / "chunks", chunks_of(bytes));
      const journal left(p.file, p, origin, journal::older::continued);
      for (const id_range& range : left.left()) {
        chunk_data chunk(p, range.first, range.count);
        tally counts;
        left.load(range, chunk, counts);
      }
    } catch (const error&) {}
  }
}

const std::map<std::string, void (*)(const std::string&)> readers = {
    {"spec", try_spec}, {"csv", try_csv}, {"journal", try_journal}};
void (*reader)(const std::string&) = nullptr;

}  // namespace
}  // namespace saltus::host

extern "C" int LLVMFuzzerInitialize(int* argument_count, char*** arguments) {
  using namespace saltus::host;
  const auto chosen = readers.find(*argument_count > 1 ? (*arguments)[1] : "");
  if (chosen == readers.end()) {
    std::fprintf(stderr, "usage: fuzz spec|csv|journal [OPTION OF LIBFUZZER | FOLDER]...\n");
    std::exit(2);
  }
  reader = chosen->second;
  (*arguments)[1] = (*arguments)[0];  // libFuzzer sees what follows
  ++*arguments, --*argument_count;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  saltus::host::reader(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
