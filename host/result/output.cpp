#include "result/output.hpp"

#include <stdexcept>
#include <utility>

#include "abi/status.hpp"
#include "result/storage.hpp"

namespace saltus::host {

result_output::result_output(const plan& p) : plan_(p), fields_(detail::fields_of(p)) {}

void result_output::write(const chunk_data& chunk, const tally& counts) {
  if (chunk.first_id < 0 || written_ + chunk.count > plan_.count || chunk.first_id + chunk.count > plan_.count)
    throw std::logic_error("result_output: more instances than the plan has");
  if (chunk.count > 0) put_rows(chunk, detail::derive(chunk, plan_));
  count(chunk.count, counts);
  if (plan_.log_events) put_log(chunk);
}

void result_output::count(std::int64_t instances, const tally& counts) {
  written_ += instances;
  tally_.add(counts);
}

std::vector<attribute> result_output::counts_and_state(const std::string& state) {
  tally_.by_status[static_cast<std::size_t>(status::not_run)] += plan_.count - written_;
  std::vector<attribute> all = attributes_of(plan_, tally_);
  all.push_back({"state", !state.empty() ? state : tally_.not_finished() > 0 ? "interrupted" : "complete"});
  return all;
}

void result_output::close(double wall_time_s, const statistics& all, const sensitivity_indices& indices) {
  end_rows();
  for (std::size_t k = 0; k < fields_.size(); ++k)
    if (fields_[k].at_end) put_final(k, fields_[k].at_end(all, indices));
  std::vector<attribute> last;
  if (!indices.outcomes.empty()) last = attributes_of(indices);
  last.push_back({"wall_time_s", wall_time_s});
  for (attribute& more : counts_and_state({})) last.push_back(std::move(more));
  end(last);
}

output_file::output_file(const std::filesystem::path& result, const plan& p, existing older)
    : result_output(p), older_(older) {
  check_names(p);
  check_result_path(result, older, p.inputs);
}

std::unique_ptr<output_file> make_output(const std::filesystem::path& path, const plan& p, const provenance& origin,
                                         existing older, abandoned part) {
  const output_format& f = format_of(path);
  if (f.check) f.check(p);
  return f.make(path, p, origin, older, part);
}

event_pieces::event_pieces(const plan& p, std::int64_t rows, taker take) : rows_(rows), take_(std::move(take)) {
  piece_.before.resize(logged_numbers(p));
  piece_.after.resize(logged_numbers(p));
}

void event_pieces::add(const event_log& log, std::int64_t first_id, std::int64_t from, std::int64_t to) {
  log.for_each([&](const event_row& row) {
    if (row.slot < from || row.slot >= to) return;
    piece_.add(row, first_id);
    if (std::ssize(piece_.time) == rows_) end();
  });
}

void event_pieces::end() {
  if (!piece_.time.empty()) take_(piece_);
  piece_.clear_events();
}

ordered_log::ordered_log(const plan& p, event_pieces::taker take)
    : pieces_(p, detail::max_chunk_rows, std::move(take)) {}

void ordered_log::put(const chunk_data& chunk) {
  waiting_rows_ += chunk.log.rows();
  waiting_.put({chunk.first_id, chunk.count, chunk.log});
  while (const auto next = waiting_.take_next()) take(*next);
}

void ordered_log::end() {
  while (const auto next = waiting_.take_first()) take(*next);
}

/// Hands on the rest of each chunk at once, so that a reader finds its rows.
void ordered_log::take(const chunk_log& chunk) {
  waiting_rows_ -= chunk.log.rows();
  pieces_.add(chunk.log, chunk.first, 0, chunk.count);
  pieces_.end();
}

}  // namespace saltus::host
