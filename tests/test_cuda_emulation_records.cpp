// More engines for test_cuda_emulation.cpp: rows of data of each instance.
#include "emulation_cases.hpp"
#include "models/patients.hpp"

namespace saltus::test {
namespace {

/// Rows of ten ids, from none to nine; each instance has those of one id.
host::plan plan_with_rows(double tolerance) {
  host::plan p = plan_of<patients>(24.0, tolerance);
  std::vector<host::record> all;
  all.push_back({"dose", host::row_store(3, {}), {}, {}, {}, {}});
  for (int id = 0; id < 10; ++id) {
    all[0].first.push_back(all[0].rows.count());
    for (int k = 0; k < id; ++k) {
      const double row[] = {1.75 * (k - k % 3) + (id > 5 ? 0.0 : 0.25 * id), 10.0 * (k + 1), k % 2 == 0 ? 2.0 : -2.0};
      all[0].rows.add(row);
    }
    all[0].end.push_back(all[0].rows.count());
  }
  all[0].rows.close();
  p.records = std::make_shared<const host::run_records>(std::move(all), host::record_keys{10, 1, {}}, false);
  return p;
}

TEST(cuda_emulation, records_are_given_to_lanes) {
  const host::plan p = plan_with_rows(1e-6);
  auto c = scattered_chunk(p, patients::lag, 0.0, 3.0, 40);
  on_lanes<engine_of<patients, "tsit5", float, false>, 8>(host::settings_of(p), c);
  for (int i = 0; i < 40; ++i) EXPECT_EQ(c.final_discrete[static_cast<std::size_t>(40 * patients::given + i)], i % 10);
}

TEST(cuda_emulation, records) {
  expect_same_as_lanes<engine_of<patients, "dp5", double, true, reduction<reduce::max, false, patients::blood>>>(
      plan_with_rows(1e-6), patients::lag, 0.0, 3.0);
  expect_same_as_lanes<engine_of<patients, "tsit5", float, false>>(plan_with_rows(1e-4), patients::lag, 0.0, 3.0);
}

}  // namespace
}  // namespace saltus::test
