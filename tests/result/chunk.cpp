// Statuses, chunks and the event log, the parts of a result.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "marked.hpp"

namespace saltus::host::result_test {
namespace {

// ------------------------------------------------------------------------------------------------------------ statuses

TEST(status, numbers_are_fixed_for_ever) {
  ASSERT_EQ(status_names.size(), static_cast<std::size_t>(status_count));
  for (int i = 0; i < status_count; ++i) EXPECT_EQ(status_table[i].name, status_names[static_cast<std::size_t>(i)]);
}

TEST(status, every_row_explains_itself_and_every_group_is_right) {
  std::set<std::string> names;
  for (const status_row& row : status_table) {
    EXPECT_TRUE(names.insert(row.name).second);
    EXPECT_EQ(std::string(row.name).find(' '), std::string::npos) << "blanks separate flag_meanings";
    EXPECT_GT(std::string(row.meaning).size(), 10u);
    EXPECT_GT(std::string(row.remedy).size(), 5u);
  }
  EXPECT_TRUE(is_ok(status::finished) && is_ok(status::stopped));
  EXPECT_FALSE(is_ok(status::bad_start) || is_ok(status::not_run) || is_ok(status::interrupted));
  EXPECT_EQ(status_table[int(status::interrupted)].group, status_group::not_finished);
  EXPECT_EQ(status_table[int(status::not_run)].group, status_group::not_finished);
  EXPECT_EQ(status_table[int(status::step_budget)].group, status_group::failed);
}

// -------------------------------------------------------------------------------------------------------------- chunks

TEST(chunk, is_preset_to_not_run) {
  plan p = valve(7);
  p.sample_count = 3;
  p.reductions = {{reduction::kind::max, false, 0, "max(lift)"}};
  chunk_data c = marked(p, 0, 7);
  c.reset(p, 7, 5);
  EXPECT_EQ(c.first_id, 7);
  EXPECT_EQ(c.samples.size(), (2u + 1u) * 5u * 3u);
  for (const auto* v : {&c.parameters, &c.initial, &c.t_begin, &c.t_end, &c.final_state, &c.final_output,
                        &c.final_discrete, &c.t_final, &c.samples, &c.reductions}) {
    ASSERT_FALSE(v->empty());
    for (double x : *v) EXPECT_TRUE(std::isnan(x));
  }
  for (unsigned char s : c.status) EXPECT_EQ(s, static_cast<unsigned char>(status::not_run));
  for (const auto counter : abi::counter_members<std::vector<long long>>)
    EXPECT_EQ(c.*counter, std::vector<long long>(5, 0));
  EXPECT_EQ(c.exception, std::vector<unsigned char>(5, 0));
  EXPECT_EQ(c.residual, std::vector<double>(5, 0.0)) << "without a constraint there is no residual";
  EXPECT_EQ(c.residual_of, std::vector<long long>(5, -1));
  ASSERT_EQ(c.switched.size(), 5u);
  for (double t : c.switched) EXPECT_TRUE(std::isnan(t));
  c.reset(constrained_valve(7), 0, 2);
  ASSERT_EQ(c.residual.size(), 2u);
  for (double residual : c.residual) EXPECT_TRUE(std::isnan(residual)) << "the residual exists, but is not known yet";
  EXPECT_EQ(c.residual_of, std::vector<long long>(2, -1));
}

TEST(chunk, forgets_some_instances_and_no_others) {
  plan p = valve(4);
  p.sample_count = 3;
  p.reductions = {{reduction::kind::max, false, 0, "max(lift)"}, {reduction::kind::min, true, 0, "min(force)"}};
  chunk_data c = marked(p, 0, 4);
  const double y[] = {1, 2};
  for (const long long slot : {3, 0, 1, 3, 2, 1}) c.log.append(slot, 10.0 * static_cast<double>(slot), 0, y, y);
  chunk_data less = c;
  less.forget({1, 3});
  const auto expect = [](const auto& was, const auto& is, std::size_t row, auto preset) {
    ASSERT_EQ(was.size(), is.size());
    for (std::size_t k = 0; k < was.size(); ++k) {
      const bool kept = k / row % 4 % 2 == 0;
      EXPECT_TRUE(kept ? is[k] == was[k] : preset == 0 ? is[k] == 0 : std::isnan(static_cast<double>(is[k])));
    }
  };
  for (auto column : {&chunk_data::final_state, &chunk_data::final_output, &chunk_data::final_discrete,
                      &chunk_data::t_final, &chunk_data::reductions})
    expect(c.*column, less.*column, 1, nan);
  for (const auto counter : abi::counter_members<std::vector<long long>>) expect(c.*counter, less.*counter, 1, 0);
  expect(c.samples, less.samples, 3, nan);
  expect(c.residual, less.residual, 1, 0);
  EXPECT_EQ(less.residual_of, (std::vector<long long>{c.residual_of[0], -1, c.residual_of[2], -1}));
  chunk_data constrained = marked(constrained_valve(4), 0, 4);
  constrained.forget({0});
  EXPECT_TRUE(std::isnan(constrained.residual[0]));
  EXPECT_EQ(constrained.residual[1], c.residual[1]);
  EXPECT_EQ(less.parameters, c.parameters);
  EXPECT_EQ(less.log.slot, (std::vector<long long>{0, 2}));
  EXPECT_EQ(less.log.time, (std::vector<double>{0, 20}));
  EXPECT_EQ(less.log.after, (std::vector<double>{1, 2, 1, 2}));
}

TEST(chunk, exceptions_are_taken_out_by_their_instances) {
  abi::module module{};
  module.snapshot_reals = 2, module.record_integers = 1;
  exception_list list;
  for (const long long slot : {3, 0, 2}) {
    const double reals[] = {10.0 * static_cast<double>(slot), 0.5};
    const long long integers[] = {slot};
    list.append(slot, {reals, integers}, module);
  }
  const exception_list taken = list.take({true, false, false, true});
  EXPECT_EQ(taken.slot, (std::vector<long long>{3, 0}));
  EXPECT_EQ(taken.reals, (std::vector<double>{30, 0.5, 0, 0.5}));
  EXPECT_EQ(taken.integers, (std::vector<long long>{3, 0}));
  EXPECT_EQ(list.slot, std::vector<long long>{2});
  EXPECT_EQ(list.reals, (std::vector<double>{20, 0.5}));
  list.append(taken);
  EXPECT_EQ(list.slot, (std::vector<long long>{2, 3, 0}));
  EXPECT_EQ(list.reals, (std::vector<double>{20, 0.5, 30, 0.5, 0, 0.5}));
  EXPECT_EQ(list.integers, (std::vector<long long>{2, 3, 0}));
  EXPECT_TRUE(exception_list{}.take({}).slot.empty());
}

TEST(chunk, views_point_at_the_columns) {
  const plan p = valve(3);
  chunk_data c(p, 6, 3);
  const abi::batch in = c.batch();
  const abi::results out = c.results();
  EXPECT_EQ(in.count, 3);
  EXPECT_EQ(in.first_id, 6);
  EXPECT_EQ(in.parameters, c.parameters.data());
  EXPECT_EQ(in.initial, c.initial.data());
  EXPECT_EQ(in.t_begin, c.t_begin.data());
  EXPECT_EQ(in.t_end, c.t_end.data());
  EXPECT_EQ(out.final_state, c.final_state.data());
  EXPECT_EQ(out.final_output, c.final_output.data());
  EXPECT_EQ(out.final_discrete, c.final_discrete.data());
  EXPECT_EQ(out.t_final, c.t_final.data());
  EXPECT_EQ(out.status, c.status.data());
  for (std::size_t j = 0; j < abi::counter_count; ++j)
    EXPECT_EQ(out.*abi::counter_members<long long*>[j], (c.*abi::counter_members<std::vector<long long>>[j]).data());
  EXPECT_EQ(out.residual, c.residual.data());
  EXPECT_EQ(out.residual_of, c.residual_of.data());
  EXPECT_EQ(out.samples, c.samples.data());
  EXPECT_EQ(out.reductions, c.reductions.data());
}

TEST(chunk, tally_counts_every_status_once) {
  const plan p = valve(4);
  chunk_data c = marked(p, 0, 4);
  c.status = {0, 1, 5, 10};
  tally t;
  t.add(c);
  t.add(c);
  EXPECT_EQ(t.ok(), 4);
  EXPECT_EQ(t.rescued(), 0);
  EXPECT_EQ(t.failed(), 2);
  EXPECT_EQ(t.not_finished(), 2);
  for (std::size_t j = 0; j < abi::counter_count; ++j)
    EXPECT_EQ(t.*abi::counter_members<std::int64_t>[j], 2 * (4 * 10 * static_cast<int>(j + 1) + 1 + 2 + 3));
  EXPECT_EQ(t.switched, 2 * 2);
}

TEST(chunk, tally_tells_rescued_from_ok_and_failed) {
  chunk_data c(valve(6), 0, 6);
  c.status = {0, 0, 1, 5, 0, 10};  // rescue took over the last four; one failed nevertheless, one was interrupted
  c.exception = {0, 0, 8, 8, 4, 4};
  tally t;
  t.add(c);
  EXPECT_EQ(t.ok(), 2);
  EXPECT_EQ(t.rescued(), 2);
  EXPECT_EQ(t.failed(), 1);
  EXPECT_EQ(t.not_finished(), 1);
  EXPECT_EQ(t.by_rescue[int(status::not_located)], 1);
  EXPECT_EQ(t.by_rescue[int(status::step_too_small)], 1);
}

TEST(chunk, events_have_the_names_of_guards_time_events_and_ends_of_sliding) {
  EXPECT_EQ(event_names(valve(1).model), (std::vector<std::string>{"impact", "top", "end", "pulse", "leaves_top"}));
  EXPECT_TRUE(event_names(model{}).empty());
}

// ----------------------------------------------------------------------------------------------------- the event log

/// Rows of five instances, interleaved; the values before and after identify the rows.
void log_some(event_log& log, int rows, int from = 0) {
  for (int k = from; k < from + rows; ++k) {
    const double before[] = {k + 0.25, k + 0.5}, after[] = {-1.0 * k, -k - 0.5};
    log.append((k * 7 + k / 3) % 5, k, k % 4, before, after);
  }
}

/// The whole log as numbers, in its order.
std::vector<double> numbers_of(const event_log& log) {
  std::vector<double> all;
  log.for_each([&](const event_row& r) {
    all.insert(all.end(), {static_cast<double>(r.slot), r.time, static_cast<double>(r.guard), r.before[0], r.before[1],
                           r.after[0], r.after[1]});
  });
  return all;
}

TEST(event_log, is_the_same_whether_it_fits_into_memory_or_not) {
  const folder dir;
  event_log small, large;
  for (event_log* log : {&small, &large}) log->state_count = 2, log->folder = dir / "";
  small.memory = 10 * static_cast<std::size_t>(small.row_bytes());
  for (event_log* log : {&small, &large}) log_some(*log, 1000);
  EXPECT_LE(small.slot.size(), 11u) << "the other rows are on disk";
  EXPECT_EQ(large.slot.size(), 1000u);
  EXPECT_TRUE(names_in(dir).empty()) << "the file on disk has no name";
  EXPECT_EQ(small.rows(), 1000);
  EXPECT_EQ(small.rows_by_slot(6), large.rows_by_slot(6));
  ASSERT_EQ(numbers_of(large).size(), 7000u);
  EXPECT_EQ(numbers_of(small), numbers_of(large));

  // Some rows are dropped and others follow, as rescue does.
  for (event_log* log : {&small, &large}) {
    log->forget({false, true, false, false, true});
    event_log more;
    more.state_count = 2;
    more.folder = log->folder;
    more.memory = log->memory;
    log_some(more, 500, 1000);
    log->append(more);
  }
  EXPECT_EQ(small.rows_by_slot(5), large.rows_by_slot(5));
  EXPECT_EQ(numbers_of(small), numbers_of(large));
  small.clear();
  EXPECT_EQ(small.rows(), 0);
  EXPECT_TRUE(numbers_of(small).empty());
}

TEST(event_log, stays_in_memory_where_nothing_can_be_written) {
  const folder dir;
  event_log log, same;
  log.state_count = same.state_count = 2;
  log.folder = dir / "none";
  log.memory = 100;
  log_some(log, 1000);
  log_some(same, 1000);
  EXPECT_EQ(log.slot.size(), 1000u);
  EXPECT_EQ(numbers_of(log), numbers_of(same));
}

TEST(result, does_not_depend_on_where_the_event_log_was) {
  const folder dir;
  plan p = valve(5);
  p.log_events = true;
  p.file = dir / "a.nc";
  const auto write = [&](const char* name, std::size_t memory) {
    netcdf_writer writer(dir / name, p, origin);
    for (std::int64_t first : {0, 3}) {
      chunk_data c = marked(p, first, first == 0 ? 3 : 2);
      EXPECT_EQ(c.log.folder, fs::path(dir / "a.nc").parent_path());
      c.log.memory = memory;
      for (int k = 0; k < 70'000; ++k) {  // more than one write buffer holds
        const double before[] = {k + 0.25, k + 0.5}, after[] = {-1.0 * k, -k - 0.5};
        c.log.append(k % c.count, k, k % 3, before, after);
      }
      writer.write(c);
    }
    writer.close(0);
  };
  write("memory.nc", event_log::max_in_memory);
  write("disk.nc", 100'000);
  const reader memory(dir / "memory.nc"), disk(dir / "disk.nc");
  for (const char* name : {"event_row_size", "event_instance", "event_guard"})
    EXPECT_EQ(memory.integers(name), disk.integers(name)) << name;
  for (const char* name : {"event_time", "before_lift", "before_velocity", "event_lift", "event_velocity"})
    EXPECT_EQ(memory.reals(name), disk.reals(name)) << name;
  EXPECT_EQ(disk.integers("event_row_size"), (std::vector<long long>{23'334, 23'333, 23'333, 35'000, 35'000}));
  const auto instance = disk.integers("event_instance");
  EXPECT_TRUE(std::is_sorted(instance.begin(), instance.end()));
  EXPECT_EQ(disk.reals("event_time")[23'334], 1) << "the first event of instance 1";
}

/// A marked chunk with events: instance i has i % 4 of them.
chunk_data with_events(const plan& p, std::int64_t first, std::int64_t count) {
  chunk_data c = marked(p, first, count);
  for (std::int64_t row = 0; row < 3; ++row)
    for (std::int64_t i = count; i-- > 0;) {
      const std::int64_t id = first + i;
      const double before[] = {mark(20, 0, id), static_cast<double>(row)};
      const double after[] = {mark(21, 0, id), static_cast<double>(-row)};
      if (row < id % 4) c.log.append(i, 100.0 * static_cast<double>(id) + static_cast<double>(row), 0, before, after);
    }
  return c;
}

TEST(result, is_the_same_in_whatever_order_chunks_come) {
  const folder dir;
  plan p = valve(50);
  p.log_events = true;
  p.sample_count = 3;
  const auto write = [&](const char* name, const std::vector<std::int64_t>& order, std::int64_t missing = -1) {
    netcdf_writer writer(dir / name, p, origin, existing::replaced);
    for (const std::int64_t k : order)
      if (k != missing) writer.write(with_events(p, 10 * k, 10));
    writer.close(0);
  };
  write("a.nc", {0, 1, 2, 3, 4});
  const reader a(dir / "a.nc");
  for (const std::vector<std::int64_t>& order :
       {std::vector<std::int64_t>{4, 3, 2, 1, 0}, {1, 2, 4, 3, 0}, {2, 0, 4, 1, 3}}) {
    write("b.nc", order);
    const reader b(dir / "b.nc");
    for (const char* name : {"flow", "final_lift", "lift", "event_time", "before_lift", "event_lift", "event_velocity"})
      EXPECT_EQ(a.reals(name), b.reals(name)) << name;
    for (const char* name : {"status", "steps", "event_row_size", "event_instance", "event_guard"})
      EXPECT_EQ(a.integers(name), b.integers(name)) << name;
    EXPECT_EQ(a.number("count_finished"), b.number("count_finished"));
  }
  // If a chunk never comes, the rows of the others are still present and in order.
  write("c.nc", {4, 3, 2, 1, 0}, 2);
  const reader c(dir / "c.nc");
  auto instances = c.integers("event_instance");
  EXPECT_TRUE(std::is_sorted(instances.begin(), instances.end()));
  EXPECT_EQ(std::count_if(instances.begin(), instances.end(), [](long long i) { return i / 10 == 2; }), 0);
  EXPECT_EQ(c.integers("event_row_size")[13], 1) << "13 % 4";
  EXPECT_EQ(c.integers("status")[25], static_cast<long long>(status::not_run));
  EXPECT_EQ(c.integers("status")[31], static_cast<long long>(status::finished));
  EXPECT_THROW(netcdf_writer(dir / "d.nc", p, origin).write(marked(p, 45, 10)), std::logic_error);
}

TEST(result, logs_that_wait_are_kept_in_memory_up_to_a_bound_and_then_on_disk) {
  const folder dir;
  constexpr std::int64_t per_chunk = 100, chunks = 20;
  const auto log_of = [&](std::int64_t chunk) {
    event_log log;
    log.state_count = 2;
    log.folder = dir / "";
    for (std::int64_t k = 0; k < per_chunk; ++k) {
      const double before[] = {static_cast<double>(k) / 8, 1}, after[] = {static_cast<double>(chunk), 2};
      log.append(k % 10, static_cast<double>(k), static_cast<int>(k % 3), before, after);
    }
    return log;
  };
  const std::int64_t of_one = per_chunk * log_of(0).row_bytes();
  waiting_chunks<chunk_log> waiting(3 * of_one);
  for (std::int64_t chunk = chunks; chunk-- > 1;) {
    waiting.put({10 * chunk, 10, log_of(chunk)});
    EXPECT_LE(waiting.in_memory(), 3 * of_one);
    EXPECT_FALSE(waiting.take_next());
  }
  EXPECT_EQ(waiting.in_memory(), 3 * of_one) << "the other rows are on disk";
  EXPECT_TRUE(names_in(dir).empty()) << "the files on disk have no name";
  waiting.put({0, 10, log_of(0)});
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    const auto next = waiting.take_next();
    ASSERT_TRUE(next);
    EXPECT_EQ(next->first, 10 * chunk);
    EXPECT_EQ(numbers_of(next->log), numbers_of(log_of(chunk)));
  }
  EXPECT_FALSE(waiting.take_next());
  EXPECT_EQ(waiting.in_memory(), 0);
}

}  // namespace
}  // namespace saltus::host::result_test
