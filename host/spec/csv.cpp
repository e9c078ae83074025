#include "spec/csv.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/files.hpp"

namespace saltus::host {
namespace {

constexpr std::string_view blanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(blanks);
  return first == text.npos ? std::string_view() : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// The cells of one line.
void split(std::string_view line, std::vector<csv_cell>& cells) {
  cells.clear();
  for (std::size_t begin = 0;;) {
    bool quoted = false;
    std::size_t end = begin;
    for (; end < line.size() && (quoted || line[end] != ','); ++end) quoted ^= line[end] == '"';
    const auto raw = line.substr(begin, end - begin);
    auto text = trimmed(raw);
    const auto at = begin + (text.empty() ? 0 : raw.find_first_not_of(blanks)) + 1;
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
    cells.push_back({text, at});
    if (end == line.size()) return;
    begin = end + 1;
  }
}

/// A hint for a table that seems to use other separators or decimal commas; empty: it does not.
std::string otherwise_written(std::string_view header, std::string_view row) {
  const auto count = [](std::string_view line, char c) { return std::count(line.begin(), line.end(), c); };
  if (const auto semicolons = count(header, ';'); semicolons > 0 && semicolons == count(row, ';'))
    return "; its cells seem to stand between semicolons, and its decimals may have commas: write commas between cells "
           "and decimal points";
  if (count(header, '\t') > 0 && count(header, ',') == 0) return "; its cells seem to stand between tabs: write commas";
  if (count(row, ',') > count(header, ','))
    return "; if its decimals have commas, write decimal points: commas stand between cells";
  return {};
}

}  // namespace

const std::string& standard_input() {
  static const std::string all = [] {
    std::ostringstream text;
    text << std::cin.rdbuf();
    return text.str();
  }();
  return all;
}

csv_reader::csv_reader(const std::filesystem::path& file, std::string who)
    : in_(nullptr), name_(file.string()), who_(std::move(who)) {
  if (file == standard_input_name) {
    name_ = "standard input";
    own_ = std::make_unique<std::istringstream>(standard_input());
  } else {
    if (const auto what = not_a_file(file); !what.empty())
      throw error(exit_usage, fmt::format("{}: cannot read {}: it {}", who_, name_, what));
    own_ = std::make_unique<std::ifstream>(file);
    if (!*own_) throw error(exit_usage, fmt::format("{}: cannot read {}: {}", who_, name_, std::strerror(errno)));
  }
  in_ = own_.get();
  read_header();
}

csv_reader::csv_reader(std::istream& in, std::string name, std::string who)
    : in_(&in), name_(std::move(name)), who_(std::move(who)) {
  read_header();
}

void csv_reader::read_header() {
  if (!std::getline(*in_, first_line_))
    throw error(exit_usage, fmt::format("{}: cannot read {}: it is empty", who_, name_));
  if (first_line_.starts_with("\xEF\xBB\xBF")) first_line_.erase(0, 3);  // the byte order mark that spreadsheets write
  split(first_line_, cells_);
  for (const auto& cell : cells_) {
    header_.emplace_back(cell.text);
    header_places_.push_back(cell.at);
  }
}

std::size_t csv_reader::column(const std::string& name) {
  const auto wanted = std::find(header_.begin(), header_.end(), name);
  if (wanted == header_.end()) {
    std::getline(*in_, line_);
    throw error(exit_usage,
                fmt::format("{}: {} has no column {}; {}{}", who_, name_, name,
                            suggest(name, {header_.begin(), header_.end()}), otherwise_written(first_line_, line_)));
  }
  const auto index = static_cast<std::size_t>(wanted - header_.begin());
  if (const auto again = std::find(wanted + 1, header_.end(), name); again != header_.end())
    throw error(
        exit_usage,
        fmt::format("{}: {}:1:{}: column {} stands there twice, first at {}:1:{}: give the columns different names",
                    who_, name_, header_places_[static_cast<std::size_t>(again - header_.begin())], name, name_,
                    header_places_[index]));
  return index;
}

bool csv_reader::next() {
  do {
    if (!std::getline(*in_, line_)) return false;
    ++row_;
  } while (trimmed(line_).empty());
  split(line_, cells_);
  if (cells_.size() > header_.size())
    throw error(exit_usage, fmt::format("{}:{}:{}: this row has {} cells, and the header has {}{}", name_, row_,
                                        cells_[header_.size()].at, cells_.size(), header_.size(),
                                        otherwise_written(first_line_, line_)));
  return true;
}

csv_cell csv_reader::cell(std::size_t column) const {
  return column < cells_.size() ? cells_[column] : csv_cell{"", line_.size() + 1};
}

double csv_reader::number(std::size_t column) const {
  const auto text = cell(column).text;
  const auto* begin = text.data() + (text.starts_with('+') && !text.starts_with("+-"));
  const auto* end = text.data() + text.size();
  double value = 0;
  const auto read = std::from_chars(begin, end, value);
  if (read.ec != std::errc() || read.ptr != end || !std::isfinite(value)) fail(column, "must be a finite number");
  return value;
}

std::string csv_reader::location(std::size_t column) const {
  return fmt::format("{}:{}:{}", name_, row_, cell(column).at);
}

void csv_reader::fail(std::size_t column, std::string_view what) const {
  throw error(exit_usage, fmt::format("{}: {} = {}: {}", location(column), header_[column], cell(column).text, what));
}

namespace {

csv_table read_table(csv_reader& in, std::vector<std::string> names, const std::string& who) {
  if (names.empty()) names = in.header();
  std::vector<std::size_t> indices;
  for (const auto& column : names) indices.push_back(in.column(column));
  csv_table table{std::move(names), {}};
  table.columns.resize(indices.size());
  while (in.next())
    for (std::size_t j = 0; j < indices.size(); ++j) table.columns[j].push_back(in.number(indices[j]));
  if (table.columns.front().empty())
    throw error(exit_usage, fmt::format("{}: {} has no row below its header", who, in.name()));
  return table;
}

}  // namespace

csv_table read_csv_table(const std::filesystem::path& file, std::vector<std::string> names, const std::string& who) {
  csv_reader in(file, who);
  return read_table(in, std::move(names), who);
}

csv_table read_csv_table(std::istream& in, const std::string& name, std::vector<std::string> names,
                         const std::string& who) {
  csv_reader reader(in, name, who);
  return read_table(reader, std::move(names), who);
}

}  // namespace saltus::host
