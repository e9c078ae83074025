// Incomplete or damaged results, results that share a name, and places that cannot be written.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <netcdf.h>

#include "marked.hpp"
#include "result/storage.hpp"

namespace saltus::host::result_test {
namespace {

TEST(result, appears_only_when_complete) {
  const folder dir;
  const plan p = valve(4);
  write_marked(dir / "a.nc", valve(2), 2);
  const std::string older = content(dir / "a.nc");
  {
    netcdf_writer writer(dir / "a.nc", p, origin, existing::replaced);
    writer.write(marked(p, 0, 2));
    EXPECT_TRUE(fs::exists(dir / "a.nc.part"));
  }
  EXPECT_EQ(names_in(dir), names{"a.nc"}) << "a writer that was not closed leaves nothing";
  EXPECT_EQ(content(dir / "a.nc"), older) << "and does not change the old file";
  netcdf_writer writer(dir / "a.nc", p, origin, existing::replaced);
  writer.write(marked(p, 0, 4));
  writer.close(0);
  EXPECT_EQ(names_in(dir), names{"a.nc"});
  EXPECT_EQ(reader(dir / "a.nc").reals("flow"), marks(1, 1, 4));
  EXPECT_EQ(reader(dir / "a.nc").text("", "state"), "complete");
}

TEST(result, of_a_run_is_safe_from_another_run) {
  const folder dir;
  const plan p = valve(4);
  netcdf_writer first(dir / "a.nc", p, origin);
  first.write(marked(p, 0, 2));
  for (const existing older : {existing::refused, existing::replaced}) {
    const auto [code, text] = complaint([&] { netcdf_writer(dir / "a.nc", p, origin, older); });
    EXPECT_EQ(code, exit_failure);
    EXPECT_NE(text.find("another run is writing " + (dir / "a.nc.part").string()), std::string::npos) << text;
  }
  const netcdf_writer elsewhere(dir / "b.nc", p, origin);
  first.write(marked(p, 2, 2));
  first.close(1);
  EXPECT_EQ(names_in(dir), (names{"a.nc", "b.nc.part"}));
  EXPECT_EQ(reader(dir / "a.nc").reals("flow"), marks(1, 1, 4));
}

TEST(result, that_came_into_being_meanwhile_is_not_replaced) {
  const folder dir;
  const plan p = valve(4);
  netcdf_writer writer(dir / "a.nc", p, origin);
  writer.write(marked(p, 0, 4));
  std::ofstream(dir / "a.nc") << "someone else's";
  const auto [code, text] = complaint([&] { writer.close(1); });
  EXPECT_EQ(code, exit_failure);
  EXPECT_NE(text.find("the results are in " + (dir / "a.nc.part").string()), std::string::npos) << text;
  EXPECT_EQ(content(dir / "a.nc"), "someone else's");
  EXPECT_EQ(reader(dir / "a.nc.part").reals("flow"), marks(1, 1, 4));
}

/// Leaves the part of a run that is killed while it writes: the file as it is on the disk.
void leave_part(const fs::path& path, const plan& p, std::int64_t instances) {
  netcdf_writer writer(path, p, origin);
  if (instances > 0) writer.write(marked(p, 0, instances));
  EXPECT_EQ(writer.keep("killed"), instances);
  if (instances == 0) std::ofstream(path.string() + ".part") << "half a file";
}

TEST(result, part_of_a_dead_run_makes_room_and_loses_nothing_finished) {
  const folder dir;
  const plan p = valve(4);
  leave_part(dir / "a.nc", p, 0);
  {
    netcdf_writer writer(dir / "a.nc", p, origin);
    EXPECT_EQ(writer.set_aside(), "") << "the part was empty";
  }
  EXPECT_TRUE(names_in(dir).empty());
  leave_part(dir / "a.nc", p, 3);
  for (const char* name : {"a.nc.part.1", "a.nc.part.2"}) {
    netcdf_writer writer(dir / "a.nc", p, origin);
    EXPECT_EQ(writer.set_aside(), dir / name);
    writer.write(marked(p, 0, 2));
    writer.keep("killed");
  }
  EXPECT_EQ(names_in(dir), (names{"a.nc.part", "a.nc.part.1", "a.nc.part.2"}));
  const reader first(dir / "a.nc.part.1");
  EXPECT_EQ(first.reals("final_lift")[2], mark(5, 0, 2));
  EXPECT_EQ(first.integers("status")[3], static_cast<long long>(status::not_run));
}

TEST(result, part_is_never_reached_through_a_link_nor_removed_if_it_is_another_file) {
  const folder dir;
  const plan p = valve(2);
  std::ofstream(dir / "precious") << "precious";
  fs::create_symlink(dir / "precious", dir / "a.nc.part");
  const auto [code, text] = complaint([&] { netcdf_writer(dir / "a.nc", p, origin); });
  EXPECT_EQ(code, exit_failure);
  EXPECT_NE(text.find("symbolic link"), std::string::npos) << text;
  EXPECT_EQ(content(dir / "precious"), "precious");
  EXPECT_TRUE(fs::is_symlink(dir / "a.nc.part"));
  {
    netcdf_writer writer(dir / "b.nc", p, origin);
    fs::remove(dir / "b.nc.part");
    std::ofstream(dir / "b.nc.part") << "someone else's";
  }
  EXPECT_EQ(content(dir / "b.nc.part"), "someone else's");
  fs::create_directory(dir / "c.nc.part");
  EXPECT_EQ(complaint([&] { netcdf_writer(dir / "c.nc", p, origin); }).first, exit_failure);
  EXPECT_TRUE(fs::is_directory(dir / "c.nc.part"));
}

TEST(result, overwrites_nothing_but_an_older_result_if_that_is_allowed) {
  const folder dir;
  plan p = valve(2);
  write_marked(dir / "a.nc", p, 2);
  std::ofstream(dir / "notes") << "notes";
  std::ofstream(dir / "spec.toml") << p.text;
  std::ofstream(dir / "empty");
  int foreign = -1;
  nc_create((dir / "foreign.nc").c_str(), NC_NETCDF4 | NC_CLOBBER, &foreign);
  nc_close(foreign);
  fs::create_symlink(dir / "a.nc", dir / "link.nc");
  fs::create_hard_link(dir / "spec.toml", dir / "again.toml");
  p.inputs = {dir / "spec.toml"};
  const auto before = names_in(dir);
  const auto complaints = [&](const char* name, existing older) {
    return complaint([&] { netcdf_writer(dir / name, p, origin, older); });
  };
  for (const existing older : {existing::refused, existing::replaced})
    for (const auto& [name, why] : {std::pair("notes", "is not a result of saltus"),
                                    {"foreign.nc", "is not a result of saltus"},
                                    {"spec.toml", "this run reads it"},
                                    {"again.toml", "this run reads it"},
                                    {"link.nc", "is a symbolic link to"}}) {
      const auto [code, text] = complaints(name, older);
      EXPECT_EQ(code, exit_usage) << name;
      EXPECT_NE(text.find(why), std::string::npos) << text;
    }
  for (const char* name : {"a.nc", "empty"}) {
    const auto [code, text] = complaints(name, existing::refused);
    EXPECT_EQ(code, exit_usage);
    EXPECT_NE(text.find("--force replaces it"), std::string::npos) << text;
    EXPECT_EQ(complaints(name, existing::replaced).first, -1) << name;
  }
  EXPECT_EQ(names_in(dir), before) << "a rejected result leaves no trace";
  EXPECT_EQ(content(dir / "notes"), "notes");
  EXPECT_EQ(content(dir / "spec.toml"), p.text);
}

/// All numbers and texts of a file, or nothing if a part of it cannot be read.
std::string all_of(const fs::path& path) {
  int file = -1, count = 0, attributes = 0;
  std::string all;
  const auto read = [&](int code) { return code == NC_NOERR; };
  if (!read(nc_open(path.c_str(), NC_NOWRITE, &file))) return {};
  bool good = read(nc_inq(file, nullptr, &count, &attributes, nullptr));
  for (int v = -1; v < count && good; ++v) {
    int rank = 0, dimensions[NC_MAX_VAR_DIMS];
    char name[NC_MAX_NAME + 1] = "";
    std::size_t size = 1;
    if (v >= 0) good = read(nc_inq_var(file, v, name, nullptr, &rank, dimensions, &attributes));
    for (int d = 0; d < rank && good; ++d) {
      std::size_t length = 0;
      good = read(nc_inq_dimlen(file, dimensions[d], &length)) && length < 100'000;
      size *= length;
    }
    std::vector<double> values(good ? size : 0);
    if (v >= 0) good = good && (size == 0 || read(nc_get_var_double(file, v, values.data())));
    all += name + std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
    for (int a = 0; a < attributes && good; ++a) {
      nc_type type = NC_NAT;
      std::size_t length = 0;
      good =
          read(nc_inq_attname(file, v, a, name)) && read(nc_inq_att(file, v, name, &type, &length)) && length < 100'000;
      if (!good || type != NC_CHAR) continue;
      std::string text(length, ' ');
      good = read(nc_get_att_text(file, v, name, text.data()));
      all += name + text;
    }
  }
  nc_close(file);
  return good ? all : std::string();
}

TEST(result, a_flipped_bit_is_noticed) {
  const folder dir;
  plan p = valve(300);
  p.sample_count = 3;
  p.log_events = true;
  {
    netcdf_writer writer(dir / "a.nc", p, origin);
    chunk_data c = marked(p, 0, 300);
    const double y[] = {0.5, -2};
    for (int k = 0; k < 300; ++k) c.log.append(k, k, k % 3, y, y);
    writer.write(c);
    writer.close(1);
  }
  const std::string good = content(dir / "a.nc"), all = all_of(dir / "a.nc");
  ASSERT_FALSE(all.empty());
  const auto at = [&](double number) {  // the offset of a number in the file
    return good.find(std::string(reinterpret_cast<const char*>(&number), sizeof number));
  };
  const auto reads_as_before_or_not_at_all = [&](std::size_t place, int bit) {
    std::string bad = good;
    bad[place] = static_cast<char>(bad[place] ^ (1 << bit));
    std::ofstream(dir / "bad.nc", std::ios::binary) << bad;
    const std::string read = all_of(dir / "bad.nc");
    EXPECT_TRUE(read.empty() || read == all) << "bit " << bit << " of byte " << place << " of " << good.size();
    return read.empty();
  };
  // A final value, a scalar, a sample time, a sample, an event: each occurs in the file once.
  for (const double number : {mark(5, 1, 77), 1.25, 20.0, mark(10, 1, 55) + 1.0 / 1024, 277.0}) {
    ASSERT_NE(at(number), std::string::npos) << number;
    EXPECT_TRUE(reads_as_before_or_not_at_all(at(number), 3)) << number;
  }
  int noticed = 0;
  for (std::size_t place = 1; place < good.size(); place += 211)
    noticed += reads_as_before_or_not_at_all(place, static_cast<int>(place % 8));
  EXPECT_GT(noticed, 100);
}

// ------------------------------------------------------------------------------------------------------- what can fail

TEST(result, names_that_would_meet_in_the_file) {
  const auto with_state = [](const char* name) {
    plan p = valve(2);
    p.model.states[1].name = name;
    return p;
  };
  EXPECT_NO_THROW(check_names(valve(2)));
  plan p = valve(2);
  p.model.parameters[1].name = "final_lift";
  const auto [code, text] = complaint([&] { check_names(p); });
  EXPECT_EQ(code, exit_model);
  EXPECT_NE(text.find("`final_lift`"), std::string::npos) << text;
  EXPECT_NE(text.find("parameter, flow rate"), std::string::npos) << text;

  p = with_state("time");
  EXPECT_NO_THROW(check_names(p));
  p.sample_count = 2;
  EXPECT_EQ(complaint([&] { check_names(p); }).first, exit_model) << "a state called like the dimension";

  for (const char* name : {"time", "guard", "row_size", "instance"}) {  // event_<state>
    p = with_state(name);
    EXPECT_NO_THROW(check_names(p));
    p.log_events = true;
    EXPECT_EQ(complaint([&] { check_names(p); }).first, exit_model) << name;
  }
  p = valve(2);
  p.model.parameters[0].name = "instance";
  EXPECT_EQ(complaint([&] { check_names(p); }).first, exit_model);
  const folder dir;
  EXPECT_EQ(complaint([&] { netcdf_writer(dir / "a.nc", p, origin); }).first, exit_model);
  EXPECT_FALSE(fs::exists(dir / "a.nc.part"));
}

TEST(result, reserved_names_are_those_the_file_may_hold) {
  const auto& reserved = reserved_names();
  for (const std::string& name : reserved) {
    plan p = valve(2);
    p.sample_count = 2;
    p.log_events = true;
    p.statistics = true;
    if (name == "sample_time") also_varies(p, target::kind::t_end, 0);
    p.model.states[0].index = 1;
    p.model.constraints.push_back({"rod", "m", "", true, false, false});
    p.stiff_method = "rodas5p";
    if (name == "rounded") p.method = p.stiff_method;
    if (name.starts_with("lyapunov_")) p.exponents = 1;
    else if (name == "objective" || name == "gradient_status") p.gradient_weights = {1.0};
    else p.sensitivities.push_back({target::kind::parameter, 1, p.model.parameters[1].name});
    p.model.parameters[0].name = name;
    EXPECT_EQ(complaint([&] { check_names(p); }).first, exit_model) << name;
  }
}

TEST(result, unwritable_places) {
  const folder dir;
  const plan p = valve(2);
  const auto at = [&](const fs::path& path) { return complaint([&] { netcdf_writer(path, p, origin); }); };
  auto [code, text] = at(dir / "missing/a.nc");
  EXPECT_EQ(code, exit_failure);
  EXPECT_NE(text.find((dir / "missing/a.nc").string()), std::string::npos) << text;
  EXPECT_NE(text.find("No such file or directory"), std::string::npos) << text;

  fs::create_directory(dir / "folder");
  std::tie(code, text) = at(dir / "folder");
  EXPECT_EQ(code, exit_usage);
  EXPECT_NE(text.find("not a regular file"), std::string::npos) << text;

  std::tie(code, text) = at("/dev/null");  // a file must not replace it, whichever user runs this
  EXPECT_EQ(code, exit_usage);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));

  if (geteuid() != 0) {  // root may write anywhere
    fs::permissions(dir / "folder", fs::perms::owner_read | fs::perms::owner_exec);
    std::tie(code, text) = at(dir / "folder/a.nc");
    EXPECT_EQ(code, exit_failure);
    EXPECT_NE(text.find("Permission denied"), std::string::npos) << text;
  }
}

/// Writes the result of `p`, in chunks of a tenth, into a file that cannot grow beyond `limit` bytes, which a writer sees as a full
/// disk (with EFBIG instead of ENOSPC). Keeps as much as it can. Ends the process, so that the test covers failures at exit,
/// too.
[[noreturn]] void write_with_limit(const fs::path& path, plan p, rlim_t limit) {
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit bound{limit, limit};
  setrlimit(RLIMIT_FSIZE, &bound);
  std::unique_ptr<netcdf_writer> writer;
  const auto [code, text] = complaint([&] {
    writer = std::make_unique<netcdf_writer>(path, p, origin);
    for (std::int64_t first = 0; first < p.count; first += p.count / 10) {
      chunk_data c = marked(p, first, p.count / 10);
      const double y[] = {0.5, -2};
      for (int k = 0; k < p.count / 5 && p.log_events; ++k) c.log.append(k % c.count, k, k % 3, y, y);
      writer->write(c);
    }
    writer->close(1);
  });
  const std::int64_t kept = writer && code >= 0 ? writer->keep(text) : p.count;
  std::fprintf(stderr, "kept %d: %s\n", static_cast<int>(kept), text.c_str());
  std::exit(code < 0 ? exit_ok : code);
}

TEST(result, on_a_full_disk_keeps_what_it_has) {
  plan plain = valve(200'000), much = valve(20'000);
  much.sample_count = 30;
  much.log_events = true;
  plan compressed = much;
  compressed.compression = 1;
  for (const plan& p : {plain, much, compressed}) {
    const folder whole;
    EXPECT_EXIT(write_with_limit(whole / "a.nc", p, RLIM_INFINITY), testing::ExitedWithCode(exit_ok), "kept");
    const auto size = static_cast<double>(stored_bytes(p, 2 * p.count));
    // The limit hits the first definitions, all of them, the first chunk, a later one, or nearly all.
    std::size_t with_part = 0;
    for (const double share : {1e-5, 0.01, 0.1, 0.33, 0.5, 0.77, 0.95}) {
      if (p.compression > 0 && share > 0.6) continue;  // there is room for all of it
      const folder dir;
      EXPECT_EXIT(write_with_limit(dir / "a.nc", p, static_cast<rlim_t>(200 + share * size)),
                  testing::ExitedWithCode(exit_failure), "kept [0-9]+: cannot write .*a.nc: File too large")
          << share;
      EXPECT_FALSE(fs::exists(dir / "a.nc")) << share;
      if (!fs::exists(dir / "a.nc.part")) continue;
      ++with_part;
      EXPECT_TRUE(is_result(dir / "a.nc.part"));
      const reader r(dir / "a.nc.part");
      const auto status_of = r.integers("status");
      const auto kept = std::count(status_of.begin(), status_of.end(), 0);
      EXPECT_GT(kept, 0);
      EXPECT_EQ(kept % (p.count / 10), 0) << "whole chunks";
      EXPECT_EQ(r.number("count_finished"), static_cast<double>(kept));
      EXPECT_EQ(r.number("count_not_run"), static_cast<double>(p.count - kept));
      EXPECT_EQ(r.text("", "state").find("cut short: cannot write "), 0u) << r.text("", "state");
      const auto lift = r.reals("final_lift");
      for (std::int64_t i = 0; i < p.count; ++i) {
        const auto at = static_cast<std::size_t>(i);
        ASSERT_TRUE(i < kept ? lift[at] == mark(5, 0, i) : std::isnan(lift[at])) << i;
      }
      if (p.log_events) { EXPECT_EQ(std::ssize(r.reals("event_time")), 2 * kept); }
    }
    EXPECT_GE(with_part, p.compression > 0 ? 2u : 4u);
  }
}

}  // namespace
}  // namespace saltus::host::result_test
