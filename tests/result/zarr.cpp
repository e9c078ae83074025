// Zarr stores: their contents equal those of a NetCDF file of the same chunks. The code below reads them back from their
// zarr.json, independently of the writer; python/test_zarr.py reads them by zarr-python.
#include <sys/resource.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "marked.hpp"
#include "result/format.hpp"
#include "result/reader.hpp"
#include "result/zarr_format.hpp"
#include "result/zarr_writer.hpp"
#include "study/to_zarr.hpp"

namespace saltus::host::result_test {
namespace {

/// The files of a folder by their paths in it.
std::map<std::string, std::string> tree(const fs::path& folder) {
  std::map<std::string, std::string> all;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) all[fs::relative(entry.path(), folder).string()] = content(entry.path());
  return all;
}

/// The files without the times of their creation and the order of attributes.
std::map<std::string, std::string> lasting(const fs::path& store) {
  auto all = tree(store);
  json root = json::parse(all.at("zarr.json"));
  for (const char* name : {"created", "history", "wall_time_s"}) root["attributes"].erase(name);
  all["zarr.json"] = nlohmann::json::parse(root.dump()).dump();  // sorted
  return all;
}

json description(const fs::path& node) { return json::parse(content(node / "zarr.json")); }

/// The numbers of an array of one or two dimensions, with a single chunk along the second; `missing` for an absent chunk.
template <class Number>
std::vector<Number> numbers(const fs::path& array, Number missing) {
  const json about = description(array);
  const auto shape = about["shape"].get<std::vector<std::size_t>>();
  const auto chunk = about["chunk_grid"]["configuration"]["chunk_shape"].get<std::vector<std::size_t>>();
  if (shape.empty()) {
    Number one{};
    std::memcpy(&one, content(array / "c").data(), sizeof one);
    return {one};
  }
  const std::size_t row = shape.size() > 1 ? shape[1] : 1;
  std::vector<Number> all(shape[0] * row, missing);
  for (std::size_t first = 0; first < shape[0]; first += chunk[0]) {
    const fs::path file = array / "c" / std::to_string(first / chunk[0]) / (shape.size() > 1 ? "0" : "");
    const fs::path named = shape.size() > 1 ? file : file.parent_path();
    if (!fs::exists(named)) continue;
    const std::string bytes = content(named);
    EXPECT_EQ(bytes.size(), chunk[0] * row * sizeof(Number) + 4) << named << ": whole chunks and their checksum";
    std::memcpy(&all[first * row], bytes.data(), std::min(chunk[0], shape[0] - first) * row * sizeof(Number));
  }
  return all;
}
std::vector<double> reals(const fs::path& array) { return numbers<double>(array, nan); }

/// Rows, samples and events; instance i has i % 4 of these.
plan full(std::int64_t count, std::int64_t chunk) {
  plan p = valve(count);
  p.sample_count = 3;
  p.log_events = true;
  p.reductions = {{reduction::kind::max, false, 0, "max(lift)"}};
  p.store_chunk = chunk;
  return p;
}

chunk_data with_events(const plan& p, std::int64_t first, std::int64_t count) {
  chunk_data c = marked(p, first, count);
  const double before[] = {1, 2, 3}, after[] = {4, 5, 6};
  for (int row = 0; row < 3; ++row)
    for (std::int64_t i = 0; i < count; ++i)
      if (row < (first + i) % 4) c.log.append(i, 100.0 * static_cast<double>(first + i) + row, 0, before, after);
  return c;
}

/// Writes batches of `batch` instances, the odd-numbered batches first.
void write_all(result_output& to, const plan& p, std::int64_t batch) {
  for (const std::int64_t begin : {batch, std::int64_t{0}})
    for (std::int64_t first = begin; first < p.count; first += 2 * batch)
      to.write(with_events(p, first, std::min(batch, p.count - first)));
}

/// Numbers of RFC 3720, B.4, and of the catalogue of parametrised CRC algorithms; then lengths around a word, at any address.
TEST(Zarr, ChecksumsAreThoseOfCastagnoliHoweverTheyAreMade) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62A8AB43u);
  std::string text;
  for (int i = 0; i < 300; ++i) text += static_cast<char>(i * i + 3 * i);
  for (std::size_t first = 0; first < 9; ++first)
    for (std::size_t length = 0; length < 280; length += 1 + length / 20) {
      const auto part = std::string_view(text).substr(first, length);
      ASSERT_EQ(crc32c(part), crc32c_by_table(part)) << first << " " << length;
    }
}

TEST(zarr, checksum_is_that_of_the_standard) {
  std::string text = "123456789";  // RFC 3720, B.4; the catalogue of parametrised CRC algorithms: CRC-32/ISCSI
  seal_chunk(text);
  EXPECT_EQ(text.substr(9), "\x83\x92\x06\xe3");
  EXPECT_TRUE(unseal_chunk(text));
  EXPECT_EQ(text, "123456789");
  seal_chunk(text);
  text[3] ^= 1;
  EXPECT_FALSE(unseal_chunk(text));
}

TEST(zarr, has_what_the_file_has_whatever_the_batches) {
  const folder dir;
  for (const auto& [count, chunk] : {std::pair<std::int64_t, std::int64_t>{10, 4}, {8, 4}, {3, 4}, {1, 1}}) {
    const plan p = full(count, chunk);
    const auto name = [&](const char* end) { return dir / fmt::format("{}_{}.{}", count, chunk, end); };
    {
      netcdf_writer file(name("nc"), p, origin);
      write_all(file, p, 3);
      file.close(1);
    }
    std::map<std::string, std::string> first;
    for (const auto& [batch, bound] :
         {std::pair<std::int64_t, std::int64_t>{1, 1}, {3, 1}, {5, zarr_writer::usual_bound}, {100, 1}}) {
      const fs::path store = name("zarr");
      zarr_writer writer(store, p, origin, existing::replaced, abandoned::set_aside, bound);
      write_all(writer, p, batch);
      writer.close(1);
      if (first.empty()) first = lasting(store);
      EXPECT_EQ(lasting(store), first) << batch << " instances at a time, in " << bound << " bytes of memory";
    }
    const fs::path copy = name("copy.zarr");
    to_zarr(name("nc"), {.store = copy, .chunk = chunk});
    EXPECT_EQ(lasting(copy), first) << "the store of the file";
    const reader r(name("nc"));
    const fs::path store = name("zarr");
    for (const char* variable : {"flow", "damping", "final_lift", "max(lift)", "lift", "force", "time"})
      EXPECT_EQ(reals(store / variable), r.reals(variable)) << variable;
    EXPECT_EQ(numbers<long long>(store / "steps", 0), r.integers("steps"));
    EXPECT_EQ(numbers<long long>(store / "event_row_size", 0), r.integers("event_row_size"));
    EXPECT_EQ(description(store / "lift")["dimension_names"], (json{"instance", "time"}));
    std::vector<double> times, after;
    std::vector<long long> instances;
    for (std::int64_t k = 0; k * chunk < count; ++k) {
      const fs::path group = store / "event_log" / std::to_string(k);
      for (const double t : reals(group / "event_time")) times.push_back(t);
      for (const double y : reals(group / "event_velocity")) after.push_back(y);
      for (const long long i : numbers<long long>(group / "event_instance", -1)) instances.push_back(i);
    }
    EXPECT_EQ(times, r.reals("event_time")) << count;
    EXPECT_EQ(after, r.reals("event_velocity"));
    EXPECT_EQ(instances, r.integers("event_instance"));
    const json said = description(store)["attributes"];
    EXPECT_EQ(said["state"], "complete");
    EXPECT_EQ(said["model"], "valve");
    EXPECT_EQ(said["seed"], p.seed);
    EXPECT_EQ(said["count_finished"], count);
    EXPECT_FALSE(fs::exists(store / ".lock"));
  }
}

TEST(zarr, grid_depends_on_the_plan_alone) {
  plan p = valve(10);
  EXPECT_EQ(zarr_stores.shared->chunk_rows(p), 1);
  for (const auto& [count, rows] :
       {std::pair<std::int64_t, std::int64_t>{64, 1}, {65, 2}, {1000, 16}, {1'000'000, 15616}, {100'000'000, 65536}}) {
    p.count = count;
    EXPECT_EQ(zarr_stores.shared->chunk_rows(p), rows) << count;
  }
  p.sample_count = 1000;
  EXPECT_EQ(zarr_stores.shared->chunk_rows(p), 512) << "4 MiB of samples of a variable, in whole blocks of statistics";
  p.sample_count = 10'000'000;
  EXPECT_EQ(zarr_stores.shared->chunk_rows(p), 1);
  p.store_chunk = 300;
  EXPECT_EQ(zarr_stores.shared->chunk_rows(p), 300);
}

TEST(zarr, size_that_is_foretold) {
  const folder dir;
  const plan p = full(1000, 100);
  zarr_writer writer(dir / "a.zarr", p, origin);
  write_all(writer, p, 100);
  writer.close(1);
  std::size_t bytes = 0;
  for (const auto& [name, text] : tree(dir / "a.zarr")) bytes += text.size();
  const double foretold = static_cast<double>(zarr_stores.bytes(p, 1500));
  EXPECT_GT(foretold, 0.7 * static_cast<double>(bytes));
  EXPECT_LT(foretold, 1.3 * static_cast<double>(bytes));
}

TEST(zarr, can_be_read_while_it_is_unfinished_and_is_kept_when_the_run_is_cut_short) {
  const folder dir;
  const plan p = full(10, 4);
  {
    zarr_writer writer(dir / "a.zarr", p, origin);
    writer.write(with_events(p, 0, 5));
    const fs::path part = dir / "a.zarr.part";
    EXPECT_EQ(writer.unfinished(), part);
    EXPECT_EQ(description(part)["attributes"]["state"], "unfinished");
    EXPECT_EQ(reals(part / "final_lift")[3], mark(5, 0, 3));
    EXPECT_EQ(numbers<unsigned char>(part / "status", 9)[4], 9) << "its chunk waits for other instances";
    EXPECT_EQ(description(part / "status")["fill_value"], static_cast<int>(status::not_run));
    EXPECT_FALSE(fs::exists(dir / "a.zarr"));
    EXPECT_EQ(writer.keep("Ctrl-C"), 5);
  }
  const fs::path part = dir / "a.zarr.part";
  EXPECT_EQ(description(part)["attributes"]["state"], "cut short: Ctrl-C");
  EXPECT_EQ(description(part)["attributes"]["count_not_run"], 5);
  EXPECT_EQ(reals(part / "final_lift")[4], mark(5, 0, 4));
  EXPECT_EQ(reals(part / "event_log" / "1" / "event_time").size(), 0u);
  zarr_writer next(dir / "a.zarr", p, origin);
  EXPECT_EQ(next.set_aside(), dir / "a.zarr.part.1");
  EXPECT_EQ(reals(next.set_aside() / "final_lift")[4], mark(5, 0, 4));
  EXPECT_EQ(next.keep("nothing is in it"), 0);
  EXPECT_FALSE(fs::exists(part));
  zarr_writer(dir / "a.zarr", p, origin);
  EXPECT_FALSE(fs::exists(part)) << "the part was empty";
}

TEST(zarr, an_instance_that_was_never_run_is_said_so) {
  const folder dir;
  const plan p = full(10, 4);
  zarr_writer writer(dir / "a.zarr", p, origin);
  writer.write(with_events(p, 0, 2));
  writer.close(1);
  EXPECT_EQ(numbers<unsigned char>(dir / "a.zarr" / "status", 9),
            (std::vector<unsigned char>{0, 0, 9, 9, 9, 9, 9, 9, 9, 9}));
  EXPECT_EQ(description(dir / "a.zarr")["attributes"]["state"], "interrupted");
  EXPECT_EQ(description(dir / "a.zarr")["attributes"]["count_not_finished"], 8);
}

TEST(zarr, two_runs_do_not_meet_and_what_is_there_is_not_harmed) {
  const folder dir;
  const plan p = valve(4);
  const auto at = [&](const char* name, existing older = existing::refused) {
    return complaint([&] { zarr_writer(dir / name, p, origin, older); });
  };
  zarr_writer first(dir / "a.zarr", p, origin);
  EXPECT_EQ(at("a.zarr").second,
            fmt::format("cannot write {}: another run is writing {}: wait for it, or give another name",
                        (dir / "a.zarr").string(), (dir / "a.zarr.part").string()));
  write_all(first, p, 2);
  first.close(1);
  EXPECT_EQ(at("a.zarr").first, exit_usage);
  EXPECT_NE(at("a.zarr").second.find("it exists: --force replaces it"), std::string::npos);
  // A folder with other contents, a file or a link is never replaced, for any options.
  fs::create_directories(dir / "b.zarr" / "c");
  std::ofstream(dir / "b.zarr" / "zarr.json") << R"({"zarr_format": 3, "node_type": "group", "attributes": {}})";
  std::ofstream(dir / "c.zarr") << "mine";
  fs::create_directory_symlink(dir / "a.zarr", dir / "d.zarr");
  fs::create_directories(dir / "e.zarr.part" / "mine");
  const auto before = tree(dir / "");
  for (const char* name : {"b.zarr", "c.zarr", "d.zarr", "e.zarr"})
    EXPECT_NE(at(name, existing::replaced).first, -1) << name;
  EXPECT_EQ(tree(dir / ""), before);
  EXPECT_TRUE(fs::exists(dir / "e.zarr.part" / "mine"));
  zarr_writer again(dir / "a.zarr", p, origin, existing::replaced);
  again.write(marked(p, 0, 4));
  EXPECT_EQ(lasting(dir / "a.zarr")["c"], "") << "the old store stays whole until the new one is complete";
  again.close(1);
  EXPECT_EQ(reals(dir / "a.zarr" / "flow"), marks(1, 1, 4));
  EXPECT_FALSE(fs::exists(dir / "a.zarr.part"));
}

TEST(zarr, that_came_into_being_meanwhile_is_not_replaced) {
  const folder dir;
  const plan p = valve(4);
  zarr_writer writer(dir / "a.zarr", p, origin);
  writer.write(marked(p, 0, 4));
  std::ofstream(dir / "a.zarr") << "someone else's";
  const auto [code, text] = complaint([&] { writer.close(1); });
  EXPECT_EQ(code, exit_failure);
  EXPECT_NE(text.find("the results are in " + (dir / "a.zarr.part").string()), std::string::npos) << text;
  EXPECT_EQ(content(dir / "a.zarr"), "someone else's");
  EXPECT_EQ(reals(dir / "a.zarr.part" / "flow"), marks(1, 1, 4));
}

TEST(zarr, what_cannot_be_written_is_told_and_what_was_written_stays) {
  const folder dir;
  const plan p = full(3000, 1000);  // chunks of samples have 24 kB, all others less
  const auto usual = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  zarr_writer writer(dir / "a.zarr", p, origin);
  writer.write(with_events(p, 0, 1000));
  const rlimit small{20'000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const auto [code, text] = complaint([&] { writer.write(with_events(p, 1000, 1000)); });
  const std::int64_t kept = writer.keep(text);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, usual);
  EXPECT_EQ(code, exit_failure);
  EXPECT_EQ(text, fmt::format("cannot write {}: File too large", (dir / "a.zarr").string()));
  EXPECT_EQ(kept, 1000);
  EXPECT_EQ(reals(dir / "a.zarr.part" / "lift")[999 * 3], mark(10, 0, 999));
  const auto status = numbers<unsigned char>(dir / "a.zarr.part" / "status", 9);
  EXPECT_EQ(status[999], 0);
  EXPECT_EQ(status[1000], 9) << "its chunk is written last";
}

TEST(zarr, options_are_for_one_of_the_two) {
  plan p = valve(2);
  const auto said = [&] { return complaint([&] { check_output_options(p); }).second; };
  p.file = "a.zarr", p.compression = 1;
  EXPECT_EQ(said(), "output.compression = 1: must be 0: a Zarr store is not compressed");
  p.file = "a.nc", p.store_chunk = 100;
  EXPECT_EQ(said(), "output.store_chunk = 100: is for Zarr stores alone, output.file = \"FILE.zarr\"");
  p.file = "";
  EXPECT_EQ(said(), "no error");
}

TEST(zarr, show_says_who_reads_it) {
  const folder dir;
  const plan p = valve(2);
  zarr_writer writer(dir / "a.zarr", p, origin);
  writer.write(marked(p, 0, 2));
  writer.close(1);
  const auto text = complaint([&] { result_file((dir / "a.zarr").string()); }).second;
  EXPECT_NE(text.find("is a Zarr store: in Python, xarray.open_dataset("), std::string::npos) << text;
}

}  // namespace
}  // namespace saltus::host::result_test
