#include "study/check.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "backend/make.hpp"
#include "base/files.hpp"
#include "result/format.hpp"
#include "result/storage.hpp"
#include "spec/methods.hpp"

namespace saltus::host {

namespace {

/// The size of the result file with the compression ratio of the pilot's.
std::int64_t predicted_file_bytes(const plan& p, const prediction& cost, double event_rows) {
  constexpr double most = 9e18;  // larger numbers of rows or bytes would overflow their type
  const auto size = file_bytes(p, std::llround(std::min(event_rows, most)));
  return cost.compression < 1 ? std::llround(cost.compression * static_cast<double>(size)) : size;
}

pilot_report try_out(const plan& p, double seconds, const cancellation& stop) {
  const auto where = make_backend(p, stop);
  pilot_report r;
  r.device = where->device();
  r.model_hash = where->model_hash();
  r.compile_seconds = where->compile_seconds();
  r.chunk_size = where->chunk_size();
  r.cost = predict(p, *where, seconds, stop);
  const estimate& rows = r.cost.event_rows;
  r.memory_bytes = memory_bytes(p, r.chunk_size, where->concurrency(), rows.value / static_cast<double>(p.count));
  const auto size = [&](double of_rows) { return static_cast<double>(predicted_file_bytes(p, r.cost, of_rows)); };
  if (!p.file.empty()) r.file_bytes = {size(rows.value), size(rows.low), size(rows.high)};
  r.remarks = remarks_on_guards(p.model, r.cost.guards);
  for (const status_row& row : status_table)
    if (const auto some = r.cost.by_status[static_cast<std::size_t>(row.id)];
        some > 0 && row.group == status_group::failed)
      r.failures.push_back(fmt::format("{} ended as {}: {}; {}", some, row.name, row.meaning, row.remedy));
  return r;
}

}  // namespace

check_report check(const plan& p, double pilot_seconds, const cancellation& stop) {
  check_output_options(p);
  check_report r;
  r.result_bytes = expected_bytes(p);
  if (!p.file.empty()) {
    r.free_bytes = free_bytes(p.file);
    r.fits = p.compression > 0 || r.free_bytes < 0 || format_of(p.file).bytes(p, 0) <= r.free_bytes;
  }
  if (pilot_seconds > 0 && no_method_for(p.model).empty()) r.pilot = try_out(p, pilot_seconds, stop);
  return r;
}

}  // namespace saltus::host
