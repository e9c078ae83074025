#include "result/journal_records.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "abi/status.hpp"
#include "ensemble/run_statistics.hpp"

namespace saltus::host {

std::uint64_t checksum_of(const record_head& head, std::uint64_t identity) {
  return XXH3_64bits_withSeed(&head, offsetof(record_head, checksum), identity);
}

bool write_all(int file, const void* bytes, std::size_t size, std::int64_t at) {
  const char* from = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t n = ::pwrite(file, from, size, at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    from += n, at += n, size -= static_cast<std::size_t>(n);
  }
  return true;
}
bool read_all(int file, void* bytes, std::size_t size, std::int64_t at) {
  char* to = static_cast<char*>(bytes);
  while (size > 0) {
    const ssize_t n = ::pread(file, to, size, at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    to += n, at += n, size -= static_cast<std::size_t>(n);
  }
  return true;
}

namespace {

/// Writes the bytes of a record in large pieces. The caller keeps `buffer` between records: allocating it would cost as
/// much as the copy.
class record_out {
 public:
  record_out(const record_position& where, std::vector<char>& buffer)
      : file_(where.file), at_(where.at + static_cast<std::int64_t>(sizeof(record_head))), buffer_(buffer) {
    buffer_.resize(std::max(buffer_.size(), near));
  }

  void put(const void* bytes, std::size_t size) {
    if (size == 0) return;
    if (size <= near / 2) {
      std::memcpy(room(size), bytes, size);
      return;
    }
    flush();
    bytes_ += static_cast<std::int64_t>(size);
    const char* from = static_cast<const char*>(bytes);
    for (std::size_t some = 0; size > 0; from += some, size -= some) write(from, some = size);
  }
  template <class Number>
  void put(const Number& x) {
    put(&x, sizeof x);
  }
  /// Space for `size` bytes, which the caller fills.
  char* room(std::size_t size) {
    if (used_ + size > buffer_.size()) flush();
    if (size > buffer_.size()) buffer_.resize(size);
    bytes_ += static_cast<std::int64_t>(size), used_ += size;
    return buffer_.data() + used_ - size;
  }
  /// Sets the checksums; returns false and sets errno if a write failed.
  bool close(record_head& head, std::uint64_t identity) {
    head.bytes = bytes_;
    head.checksum = checksum_of(head, identity);
    flush();
    const std::uint64_t sum = hash_.of(head);
    write(&sum, sizeof sum);
    errno = error_;
    return error_ == 0;
  }

 private:
  static constexpr std::size_t near = record_piece;

  void flush() {
    if (used_ > 0) write(buffer_.data(), used_);
    used_ = 0;
  }
  /// Hashes and writes large pieces: XXH3 is several times slower on small ones.
  void write(const void* bytes, std::size_t size) {
    hash_.add(bytes, size);
    if (error_ == 0 && !write_all(file_, bytes, size, at_)) error_ = errno != 0 ? errno : EIO;
    at_ += static_cast<std::int64_t>(size);
  }

  int file_, error_ = 0;
  std::int64_t at_, bytes_ = 0;
  std::vector<char>& buffer_;
  std::size_t used_ = 0;
  hash_state hash_;
};

/// Reads the bytes of a record. Missing bytes read as zeros; was_all reports them at the end.
class record_in {
 public:
  record_in(const record_position& where, std::int64_t bytes)
      : file_(where.file), at_(where.at + static_cast<std::int64_t>(sizeof(record_head))), left_(bytes) {}
  void get(void* bytes, std::size_t size) {
    char* to = static_cast<char*>(bytes);
    while (size > 0 && whole_) {
      if (next_ == buffer_.size()) fill();
      const std::size_t some = std::min(size, buffer_.size() - next_);
      std::memcpy(to, buffer_.data() + next_, some);
      next_ += some, to += some, size -= some;
    }
  }
  template <class Number>
  Number get() {
    Number x{};
    get(&x, sizeof x);
    return x;
  }
  /// Reads a number of elements of `size` bytes each; 0 if the record cannot hold so many.
  std::size_t get_count(std::size_t size) {
    const auto n = get<std::int64_t>();
    const auto left = static_cast<std::uint64_t>(left_) + buffer_.size() - next_;
    if (n < 0 || static_cast<std::uint64_t>(n) > left / size) whole_ = false;
    return whole_ ? static_cast<std::size_t>(n) : 0;
  }
  bool was_all() const { return whole_ && left_ == 0 && next_ == buffer_.size(); }

 private:
  void fill() {
    buffer_.resize(static_cast<std::size_t>(std::min<std::int64_t>(left_, record_piece)));
    next_ = 0;
    whole_ = !buffer_.empty() && read_all(file_, buffer_.data(), buffer_.size(), at_);
    at_ += std::ssize(buffer_), left_ -= std::ssize(buffer_);
  }

  int file_;
  std::int64_t at_, left_;  ///< of the bytes not read yet
  std::vector<char> buffer_;
  std::size_t next_ = 0;
  bool whole_ = true;
};

/// body(column, numbers per instance side by side) for each column of results.
template <class Chunk, class F>
void each_column(Chunk& c, std::int64_t sample_count, F&& body) {
  for (auto* column : {&c.final_state, &c.final_output, &c.final_discrete, &c.t_final, &c.residual, &c.switched,
                       &c.reductions, &c.final_derivative, &c.gradient})
    body(*column, 1);
  body(c.samples, sample_count);
  for (auto* column : {&c.status, &c.exception, &c.switched_to, &c.guard_history, &c.sensitivity}) body(*column, 1);
  for (const auto counter : abi::counter_members<std::vector<long long>>) body(c.*counter, 1);
  body(c.residual_of, 1);
  body(c.dependent, 1);
}

/// Writes the slots from `from` to `to` of every column.
void put_columns(record_out& out, const chunk_data& c, const plan& p, std::int64_t from, std::int64_t to) {
  each_column(c, p.sample_count, [&](const auto& column, std::int64_t row) {
    const std::int64_t width = c.count * row;
    for (std::int64_t at = from * row; at < std::ssize(column); at += width)
      out.put(column.data() + at, static_cast<std::size_t>((to - from) * row) * sizeof column[0]);
  });
}
void get_columns(record_in& in, chunk_data& c, const plan& p, std::int64_t from, std::int64_t to) {
  each_column(c, p.sample_count, [&](auto& column, std::int64_t row) {
    const std::int64_t width = c.count * row;
    for (std::int64_t at = from * row; at < std::ssize(column); at += width)
      in.get(column.data() + at, static_cast<std::size_t>((to - from) * row) * sizeof column[0]);
  });
}

void put_events(record_out& out, const event_log& log, std::int64_t count, std::int64_t from, std::int64_t to) {
  const auto rows = log.rows_by_slot(static_cast<std::size_t>(count));
  std::int64_t all = 0;
  for (std::int64_t slot = from; slot < to; ++slot) all += rows[static_cast<std::size_t>(slot)];
  out.put(all);
  if (all == 0) return;
  const std::size_t states = static_cast<std::size_t>(log.state_count) * sizeof(double);
  log.for_each([&](const event_row& row) {
    if (row.slot < from || row.slot >= to) return;
    char* at = out.room(sizeof(std::int64_t) + sizeof(double) + sizeof(std::int64_t) + 2 * states);
    const auto add = [&at](const void* what, std::size_t size) { std::memcpy(at, what, size), at += size; };
    const std::int64_t slot = row.slot - from, guard = row.guard;
    add(&slot, sizeof slot);
    add(&row.time, sizeof row.time);
    add(&guard, sizeof guard);
    add(row.before, states);
    add(row.after, states);
  });
}
void get_events(record_in& in, event_log& log) {
  const auto states = static_cast<std::size_t>(log.state_count);
  std::vector<double> before(states), after(states);
  for (std::size_t left = in.get_count(24 + 16 * states); left > 0; --left) {
    const auto slot = in.get<std::int64_t>();
    const auto time = in.get<double>();
    const auto guard = static_cast<int>(in.get<std::int64_t>());
    in.get(before.data(), states * sizeof(double));
    in.get(after.data(), states * sizeof(double));
    log.append(slot, time, guard, before.data(), after.data());
  }
}

template <class Number>
void put_list(record_out& out, const std::vector<Number>& list) {
  out.put(std::int64_t{std::ssize(list)});
  out.put(list.data(), list.size() * sizeof(Number));
}
template <class Number>
void get_list(record_in& in, std::vector<Number>& list) {
  list.resize(in.get_count(sizeof(Number)));
  in.get(list.data(), list.size() * sizeof(Number));
}

void put_text(record_out& out, const std::string& text) {
  out.put(std::int64_t{std::ssize(text)});
  out.put(text.data(), text.size());
}
std::string get_text(record_in& in) {
  std::string text(in.get_count(1), '\0');
  in.get(text.data(), text.size());
  return text;
}

/// Messages about instances: the first value that is not finite, and an exception of the model.
void put_words(record_out& out, const not_finite_instance& one, const std::string& trouble) {
  out.put(one.id);
  out.put(one.status);
  put_text(out, one.text);
  put_text(out, trouble);
}
void get_words(record_in& in, chunk_data& c) {
  c.not_finite.id = in.get<std::int64_t>();
  in.get(&c.not_finite.status, sizeof c.not_finite.status);
  c.not_finite.text = get_text(in);
  c.trouble = get_text(in);
}

void put_counts(record_out& out, const tally& t) {
  out.put(t.by_status);
  out.put(t.by_rescue);
  for (const auto counter : abi::counter_members<std::int64_t>) out.put(t.*counter);
  out.put(t.switched);
  put_list(out, t.dependent);
  put_list(out, t.guards);
  put_list(out, t.finals);
  put_list(out, t.outputs);
}
void get_counts(record_in& in, tally& t) {
  in.get(&t.by_status, sizeof t.by_status);
  in.get(&t.by_rescue, sizeof t.by_rescue);
  for (const auto counter : abi::counter_members<std::int64_t>) in.get(&(t.*counter), sizeof(t.*counter));
  t.switched = in.get<std::int64_t>();
  get_list(in, t.dependent);
  get_list(in, t.guards);
  get_list(in, t.finals);
  get_list(in, t.outputs);
}

/// A record begins with the number of instances by status, so that these can be counted without the columns.
using status_counts = decltype(tally::by_status);
void put_statuses(record_out& out, const chunk_data& c, std::int64_t from, std::int64_t to) {
  status_counts by{};
  for (std::int64_t slot = from; slot < to; ++slot) ++by[c.status[static_cast<std::size_t>(slot)]];
  out.put(by);
}
status_counts get_statuses(record_in& in) { return in.get<status_counts>(); }

/// For plans without rows: the data from which the statistics of all chunks are made. Blocks that are spread over
/// chunks keep their rows.
void put_statistics(record_out& out, const chunk_data& c, const plan& p, const tally& counts) {
  put_counts(out, counts);
  put_words(out, counts.not_finite, c.trouble);
  put_list(out, c.statistics.summaries);
  for (const auto& counters : c.statistics.histograms) put_list(out, counters);
  for (const value_counts& values : c.statistics.values) {
    out.put(std::int64_t{values.shift});
    put_list(out, values.buckets);
  }
  const auto blocks = blocks_of(p, c.first_id, c.count);
  put_columns(out, c, p, 0, blocks.first);
  put_columns(out, c, p, std::min(blocks.first + blocks.count * statistics_block, c.count), c.count);
}
void get_statistics(record_in& in, chunk_data& c, const plan& p, tally& counts) {
  get_counts(in, counts);
  get_words(in, c);
  counts.not_finite = c.not_finite;
  get_list(in, c.statistics.summaries);
  c.statistics.histograms.resize(p.histograms.size());
  for (auto& counters : c.statistics.histograms) get_list(in, counters);
  c.statistics.values.resize(band_columns(p));
  for (value_counts& values : c.statistics.values) {
    values.shift = static_cast<int>(in.get<std::int64_t>());
    get_list(in, values.buckets);
  }
  const auto blocks = blocks_of(p, c.first_id, c.count);
  get_columns(in, c, p, 0, blocks.first);
  get_columns(in, c, p, std::min(blocks.first + blocks.count * statistics_block, c.count), c.count);
}

}  // namespace

bool has_its_checksum(const record_position& where, const record_head& head, std::vector<char>& some) {
  hash_state hash;
  std::int64_t at = where.at + static_cast<std::int64_t>(sizeof head);
  for (std::int64_t left = head.bytes; left > 0;) {
    const auto size = static_cast<std::size_t>(std::min(left, std::ssize(some)));
    if (!read_all(where.file, some.data(), size, at)) return false;
    hash.add(some.data(), size);
    at += static_cast<std::int64_t>(size), left -= static_cast<std::int64_t>(size);
  }
  std::uint64_t sum = 0;
  return read_all(where.file, &sum, sizeof sum, at) && sum == hash.of(head);
}

std::optional<record_head> write_record(const record_position& where, std::uint64_t identity, const plan& p,
                                        const slots_of_chunk& slots, std::vector<char>& buffer) {
  const auto& [chunk, counts, from, to] = slots;
  record_head head{};
  std::memcpy(head.magic, record_magic, sizeof head.magic);
  head.first = chunk.first_id + from, head.count = to - from;
  record_out out(where, buffer);
  if (p.rows) {
    put_statuses(out, chunk, from, to);
    const bool is_here = chunk.not_finite.id >= head.first && chunk.not_finite.id < head.first + head.count;
    put_words(out, is_here ? chunk.not_finite : not_finite_instance{}, chunk.trouble);
    put_columns(out, chunk, p, from, to);
    put_events(out, chunk.log, chunk.count, from, to);
  } else {
    put_statistics(out, chunk, p, counts);
  }
  if (!out.close(head, identity) || !write_all(where.file, &head, sizeof head, where.at)) return {};
  return head;
}

bool read_record(const record_position& where, std::int64_t first, chunk_data& chunk, const plan& p, tally& counts) {
  record_head head{};
  if (!read_all(where.file, &head, sizeof head, where.at) || head.first != first || head.count != chunk.count)
    return false;
  record_in in(where, head.bytes);
  if (p.rows) {
    get_statuses(in);
    get_words(in, chunk);
    get_columns(in, chunk, p, 0, chunk.count);
    get_events(in, chunk.log);
  } else {
    get_statistics(in, chunk, p, counts);
  }
  return in.was_all();
}

}  // namespace saltus::host
