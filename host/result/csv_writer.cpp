#include "result/csv_writer.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <netcdf.h>

#include "base/error.hpp"

namespace saltus::host {

using detail::derived_columns;
using detail::field;

namespace {

/// The columns of the file: the variables with one number per instance.
std::vector<field> columns_of(const std::vector<field>& fields) {
  std::vector<field> all;
  std::copy_if(fields.begin(), fields.end(), std::back_inserter(all), [](const field& f) {
    return f.has_rows() && std::string_view(f.role) != "kept";  // no run goes on from a CSV file
  });
  return all;
}

/// A name as a cell: in quotes if it contains a comma, such as quantile(x, 0.5). No name contains quotes.
std::string cell_of(const std::string& name) { return name.find(',') == name.npos ? name : '"' + name + '"'; }

std::string header_of(const std::vector<field>& columns) {
  std::string line = "instance";
  for (const field& f : columns) line += ',' + cell_of(f.name);
  return line + '\n';
}

template <class Number>
Number number_at(const void* numbers, std::int64_t k) {
  Number value;
  std::memcpy(&value, static_cast<const char*>(numbers) + static_cast<std::size_t>(k) * sizeof value, sizeof value);
  return value;
}

/// Adds number k of a column: reals with all their digits, the names of statuses and methods, true and false.
void add_cell(std::string& line, const field& f, const void* numbers, std::int64_t k) {
  const auto to = std::back_inserter(line);
  if (f.type == NC_DOUBLE) {
    const auto x = number_at<double>(numbers, k);
    if (std::isnan(x)) line += "NaN";
    else fmt::format_to(to, "{}", x);
    return;
  }
  const long long n = f.type == NC_UBYTE ? number_at<unsigned char>(numbers, k) : number_at<long long>(numbers, k);
  const auto flag = std::find_if(f.flags.begin(), f.flags.end(), [&](const auto& one) { return one.first == n; });
  if (flag != f.flags.end()) line += flag->second;
  else if (f.truth) line += n != 0 ? "true" : "false";
  else fmt::format_to(to, "{}", n);
}

/// The first line of a file of this format; empty: it is none.
std::string header_in(std::ifstream& in) {
  constexpr std::string_view first = "instance,";
  std::string line(first.size(), '\0');
  if (!in.read(line.data(), std::ssize(line)) || line != first) return {};
  std::getline(in, line);
  const bool is_mine = line.find("t_final,status,ok,exception,") != line.npos;
  return is_mine ? line : std::string();
}

bool is_csv_result(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return !header_in(in).empty();
}

bool has_ended_instances(const std::filesystem::path& part) {
  std::ifstream in(part, std::ios::binary);
  return !header_in(in).empty() && in.peek() != std::ifstream::traits_type::eof();
}

/// Refuses settings whose results are not one number per instance, so that none is left out silently.
void check(const plan& p) {
  const auto refuse = [](const char* key, const char* what) {
    throw error(exit_usage,
                fmt::format("output.{}: must be {}: a CSV file has one line for each instance; a NetCDF file "
                            "has the rest, output.file = \"FILE.nc\"",
                            key, what));
  };
  if (!p.rows) refuse("rows", "true");
  if (p.sample_count > 0) refuse("samples", "left out");
  if (p.log_events) refuse("events", "false");
  if (!p.histograms.empty()) refuse("histogram", "left out");
  if (p.statistics) refuse("statistics", "false");
  if (!p.indices.empty()) refuse("indices", "false");
}

/// An estimate: a real that takes all its digits has 17 of them.
std::int64_t bytes_of(const plan& p, std::int64_t) {
  constexpr std::int64_t real = 19, other = 6;
  const auto columns = columns_of(detail::fields_of(p));
  std::int64_t line = other, bytes = 0;
  for (const field& f : columns) line += f.type == NC_DOUBLE ? real : other;
  return __builtin_mul_overflow(line, p.count, &bytes) ? std::numeric_limits<std::int64_t>::max() : bytes;
}

}  // namespace

const output_format csv_files{
    .name = "CSV file",
    .ending = ".csv",
    .python_reader = "pandas.read_csv",
    .check = check,
    .make = [](const auto& path, const plan& p, const provenance&, existing older, abandoned part)
        -> std::unique_ptr<output_file> { return std::make_unique<csv_writer>(path, p, older, part); },
    .bytes = bytes_of,
    .buffer_bytes = [](const plan& p) { return std::min(csv_writer::usual_bound, bytes_of(p, 0)); },
    .is_result = is_csv_result,
    .has_ended_instances = has_ended_instances,
};

void csv_lines::spill() {
  if (!beyond->add(text)) return;
  bytes = text.size();
  begin = beyond->size() - std::ssize(text);
  text = {};
}

csv_writer::csv_writer(const std::filesystem::path& path, const plan& p, existing older, abandoned part,
                       std::int64_t bound)
    : output_file(path, p, older), part_(path, part), columns_(columns_of(fields_)), waiting_(bound) {
  try {
    part_.append(header_of(columns_));
  } catch (...) {
    part_.remove();
    throw;
  }
}

csv_writer::~csv_writer() {
  if (!closed_) part_.remove();
}

void csv_writer::put_rows(const chunk_data& chunk, const derived_columns& derived) {
  std::vector<const void*> numbers;
  for (const field& f : columns_) numbers.push_back(f.numbers(chunk, derived));
  csv_lines lines{chunk.first_id, chunk.count, std::count_if(chunk.status.begin(), chunk.status.end(), has_ended),
                  beyond_};
  for (std::int64_t k = 0; k < chunk.count; ++k) {
    fmt::format_to(std::back_inserter(lines.text), "{}", chunk.first_id + k);
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      lines.text += ',';
      add_cell(lines.text, columns_[j], numbers[j], k);
    }
    lines.text += '\n';
  }
  waiting_.put(std::move(lines));
  while (auto next = waiting_.take_next()) append(std::move(*next));
}

/// Adds lines of instances that were never written.
void csv_writer::append_unset(std::int64_t count) {
  std::string cells;
  for (const field& f : columns_) {
    char number[sizeof(double)];
    f.put_unset(number, f.number_bytes());
    cells += ',';
    add_cell(cells, f, number, 0);
  }
  constexpr std::size_t enough = 1 << 20;  // for one call of the system
  std::string lines;
  for (; count > 0; --count, ++next_) {
    lines += std::to_string(next_) + cells + '\n';
    if (lines.size() < enough) continue;
    part_.append(lines);
    lines.clear();
  }
  part_.append(lines);
}

void csv_writer::end_rows() {
  while (auto first = waiting_.take_first()) {
    append_unset(first->first - next_);
    append(std::move(*first));
  }
}

void csv_writer::end(const std::vector<attribute>&) {
  append_unset(plan_.count - next_);
  closed_ = true;  // if the file cannot get its name, the results stay in the part
  part_.publish(older_);
}

/// After an error the file has the lines of the chunks that have arrived, and none of the others.
std::int64_t csv_writer::keep(const std::string&) {
  if (ended() == 0 || std::exchange(closed_, true)) return 0;
  try {
    while (auto first = waiting_.take_first()) append(std::move(*first));
    part_.settle();
  } catch (const error&) {}  // the lines written so far stay
  if (ended_ == 0) part_.remove();
  return ended_;
}

void csv_writer::append(csv_lines lines) {
  if (lines.bytes > 0) {
    lines.text.resize(lines.bytes);
    beyond_->read(lines.begin, lines.text.data(), lines.bytes);
  }
  part_.append(lines.text);
  next_ = lines.first + lines.count;
  ended_ += lines.ended;
}

}  // namespace saltus::host
