// Reads the table [run] of a spec: where and how the ensemble runs.
#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "spec/methods.hpp"
#include "spec/reading.hpp"

namespace saltus::host {

namespace {

/// Every lane has the matrices of a step, and series, on the thread's stack.
void check_matrices_fit(reading& r, const field& lanes) {
  std::int64_t of_one = 0;
  for (const auto& method : {r.plan.method, r.plan.stiff_method, r.plan.lasting_method})
    if (!method.empty())
      of_one = std::max(of_one, stack_of_lane(r.model, method, r.plan.coordinates, carried_directions(r.plan)));
  if (r.plan.lanes * of_one <= largest_stack) return;
  lanes.fail(fmt::format("must be at most {} with {} states and {}: their {} would not fit",
                         std::max<std::int64_t>(1, largest_stack / of_one), r.model.states.size(),
                         r.model.offsets ? "equations of any order" : "an implicit method",
                         r.model.offsets ? "series" : "matrices"));
}

void read_backend(reading& r, const field& e) {
  r.plan.backend = e.choice<backend_kind>();
  if (r.plan.backend != backend_kind::all) return;
  // The bits of an instance must not depend on the backend that takes it.
  const bool is_explicit = method_called(r.plan.method).is_explicit;
  const bool apart = r.model.states.size() > static_cast<std::size_t>(max_rows_in_lanes);
  if (!r.model.arithmetic)
    e.fail(fmt::format("must be cpu or cuda: {} calls functions whose last bits differ between them", r.model.name));
  if (!is_explicit && apart)
    e.fail(
        fmt::format("must be cpu or cuda: beyond {} states they solve linear equations in different ways, and last "
                    "bits differ",
                    max_rows_in_lanes));
}

/// "all", or a list of numbers.
void read_devices(reading& r, const field& e) {
  constexpr std::int64_t highest = 1023;
  if (!e.is_list()) {
    e.word({"all"});
    return;
  }
  if (r.plan.backend == backend_kind::cpu) e.fail("must be left out with the backend cpu");
  for (const field& item : e.items()) {
    const int number = static_cast<int>(item.whole(0, highest));
    if (std::find(r.plan.devices.begin(), r.plan.devices.end(), number) != r.plan.devices.end())
      item.fail("must be there once");
    r.plan.devices.push_back(number);
  }
  if (r.plan.devices.empty()) e.fail("must be \"all\", or a list of one number or more");
}

/// More threads than cores only wait for each other, and each has its own lanes and chunks.
void read_threads(reading& r, const field& e) {
  constexpr std::int64_t per_core = 4;
  const std::int64_t cores = std::max(1u, std::thread::hardware_concurrency());
  r.plan.threads = static_cast<int>(e.whole(0, 4096));
  if (r.plan.threads > per_core * cores)
    e.fail(fmt::format("must be at most {}, {} for each of the {} cores here; 0: all cores", per_core * cores, per_core,
                       cores));
}

}  // namespace

void read_run(reading& r) {
  const auto run = r.root.find("run");
  if (!run) return;
  read_plain_values(r, *run);
  if (const auto e = run->find("backend")) read_backend(r, *e);
  if (const auto e = run->find("devices")) read_devices(r, *e);
  if (const auto e = run->find("threads")) read_threads(r, *e);
  if (const auto e = run->find("lanes")) {
    r.plan.lanes = static_cast<int>(e->whole(0, 32));
    if ((r.plan.lanes & (r.plan.lanes - 1)) != 0) e->fail("must be 0 (as wide as the machine), 1, 2, 4, 8, 16 or 32");
    check_matrices_fit(r, *e);
  }
  if (const auto e = run->find("order")) r.plan.by_work = e->word({"work", "id"}) == "work";
  if (const auto e = run->find("checkpoint")) r.plan.checkpoint = e->not_negative();
  if (const auto e = run->find("instance_time_limit")) {
    if (r.plan.backend == backend_kind::cuda || r.plan.backend == backend_kind::all)
      e->fail("must be left out with a device, which cannot end one instance of many: use max_steps");
    // Auto means cpu here: devices do not watch the time.
    r.plan.backend = backend_kind::cpu;
  }
}

}  // namespace saltus::host
