// The queue that hands out instances to workers, and the sizes of the parts: host/ensemble/chunk_queue.hpp.
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "backend/shared.hpp"
#include "ensemble/chunk_queue.hpp"
#include "ensemble/claims.hpp"

namespace saltus::host {
namespace {

/// A backend that only states its wishes.
class stub : public backend {
 public:
  stub(std::int64_t chunk, std::int64_t smallest, int width, bool is_device)
      : chunk_(chunk), smallest_(smallest), width_(width), is_device_(is_device) {}
  std::string device() const override { return "stub"; }
  std::string model_hash() const override { return {}; }
  double compile_seconds() const override { return 0; }
  std::int64_t chunk_size() const override { return chunk_; }
  int concurrency() const override { return width_; }
  std::int64_t smallest_chunk() const override { return smallest_; }
  bool uses_host_threads() const override { return !is_device_; }
  void integrate(chunk_data&, const std::function<bool(std::int64_t)>&, abi::usage&) override {}

 private:
  std::int64_t chunk_, smallest_;
  int width_;
  bool is_device_;
};

std::unique_ptr<backend> shared(std::unique_ptr<backend> a, std::unique_ptr<backend> b) {
  std::vector<std::unique_ptr<backend>> parts;
  parts.push_back(std::move(a));
  parts.push_back(std::move(b));
  return make_shared_backend(std::move(parts));
}

plan plan_for(std::int64_t count) {
  plan p;
  p.count = count;
  return p;
}

TEST(chunk_queue, one_backend_gets_ranges_of_its_size_in_order) {
  const plan p = plan_for(1050);
  stub one(100, 10, 2, false);
  chunk_queue queue(p, one);
  EXPECT_EQ(2, queue.threads());
  EXPECT_EQ(4u, queue.max_ranges());
  std::int64_t next = 0;
  while (const auto range = queue.next()) {
    EXPECT_EQ(next, range->first);
    EXPECT_EQ(std::min<std::int64_t>(100, 1050 - next), range->count);
    next += range->count;
    queue.is_integrated(*range, 1);
    queue.is_written(*range);
  }
  EXPECT_EQ(1050, next);
}

TEST(chunk_queue, claims_are_handed_out_one_after_another) {
  const plan p = plan_for(1'000'000);
  stub one(100, 10, 2, false);
  listed_claims some({{0, 250}, {1000, 1}, {5000, 100}});
  EXPECT_EQ(351, some.unclaimed());
  chunk_queue queue(p, one, {}, &some);
  std::vector<id_range> all;
  while (const auto range = queue.next()) {
    all.push_back({range->first, range->count});
    queue.is_integrated(*range, 1);
    queue.is_written(*range);
  }
  EXPECT_EQ((std::vector<id_range>{{0, 100}, {100, 100}, {200, 50}, {1000, 1}, {5000, 100}}), all);
  EXPECT_EQ(351, queue.handed_out());
  EXPECT_EQ(0, some.unclaimed());
}

/// Two backends work in simulated time: a device of `fast` instances per second in all of its places together, and lanes of
/// `slow`. Returns the times at which each has finished its last instance.
std::vector<double> run_in_time(std::int64_t count, double fast, double slow) {
  const plan p = plan_for(count);
  const auto both = shared(std::make_unique<stub>(100'000, 1000, 3, true), std::make_unique<stub>(4000, 32, 2, false));
  chunk_queue queue(p, *both);
  struct under_way {
    chunk_queue::range range;
    double begin, end;
  };
  std::vector<under_way> running;
  std::vector<double> last(2), free_at[2] = {std::vector<double>(3), std::vector<double>(2)};
  std::vector<std::int64_t> open = {5, 2};  // ranges that each may still get
  double now = 0;
  std::int64_t next = 0;
  for (;;) {
    while (next < count && open[0] + open[1] > 0) {
      const auto range = queue.next();
      if (!range) break;
      EXPECT_EQ(next, range->first);
      next += range->count;
      open[range->worker] -= 1;
      auto& places = free_at[range->worker];
      const auto place = std::min_element(places.begin(), places.end());
      const double begin = std::max(now, *place);
      const double rate = (range->worker == 0 ? fast : slow) / static_cast<double>(places.size());
      *place = begin + static_cast<double>(range->count) / rate;
      running.push_back({*range, begin, *place});
    }
    if (running.empty()) break;
    const auto first = std::min_element(running.begin(), running.end(), [](auto& a, auto& b) { return a.end < b.end; });
    now = first->end;
    last[first->range.worker] = now;
    open[first->range.worker] += 1;
    queue.is_integrated(first->range, first->end - first->begin);
    queue.is_written(first->range);
    running.erase(first);
  }
  EXPECT_EQ(count, next);
  return last;
}

TEST(chunk_queue, a_slow_one_is_not_left_with_a_large_range_in_the_end) {
  // The device is 1000, 50 or 2 times as fast; both together would take this long:
  for (const double ratio : {1000.0, 50.0, 2.0}) {
    const double fast = 1e6, slow = fast / ratio;
    const double ideal = 1e7 / (fast + slow);
    const auto last = run_in_time(10'000'000, fast, slow);
    EXPECT_LT(last[0], 1.03 * ideal) << ratio;
    EXPECT_LT(last[1], 1.03 * ideal) << ratio;
  }
}

TEST(chunk_queue, who_waits_for_a_worker_is_told_when_a_run_is_given_up) {
  const plan p = plan_for(1'000'000);
  const auto both = shared(std::make_unique<stub>(1000, 10, 1, false), std::make_unique<stub>(1000, 10, 1, false));
  chunk_queue queue(p, *both);
  ASSERT_TRUE(queue.next());
  ASSERT_TRUE(queue.next());
  bool was_given = true;
  std::thread waits([&] { was_given = queue.next().has_value(); });
  queue.give_up();
  waits.join();
  EXPECT_FALSE(was_given);
}

TEST(chunk_queue, a_size_that_is_asked_for_is_kept_by_all) {
  plan p = plan_for(10'000);
  p.chunk = 64;
  const auto both = shared(std::make_unique<stub>(64, 10, 1, true), std::make_unique<stub>(64, 10, 1, false));
  chunk_queue queue(p, *both);
  for (int i = 0; i < 10'000 / 64; ++i) {
    const auto range = queue.next();
    ASSERT_TRUE(range);
    EXPECT_EQ(64, range->count);
    queue.is_integrated(*range, 1);
    queue.is_written(*range);
  }
}

}  // namespace
}  // namespace saltus::host
