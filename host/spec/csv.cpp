#include "spec/csv.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdint>
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

struct cell {
  std::string text;
  std::size_t at;  ///< where it begins in its line, from 1
};

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(blanks);
  return first == text.npos ? std::string_view() : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// The cells of one line, without surrounding blanks and quotes.
std::vector<cell> split(std::string_view line) {
  std::vector<cell> cells;
  for (std::size_t begin = 0;;) {
    bool quoted = false;
    std::size_t end = begin;
    for (; end < line.size() && (quoted || line[end] != ','); ++end) quoted ^= line[end] == '"';
    const auto raw = line.substr(begin, end - begin);
    auto text = trimmed(raw);
    const auto at = begin + (text.empty() ? 0 : raw.find_first_not_of(blanks)) + 1;
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
    cells.push_back({std::string(text), at});
    if (end == line.size()) return cells;
    begin = end + 1;
  }
}

/// The index of a column in the header, which must contain it once.
std::size_t column_of(const std::string& column, const std::vector<cell>& header, const std::string& name,
                      const std::string& who) {
  std::vector<std::string_view> allowed;
  for (const auto& cell : header) allowed.push_back(cell.text);
  const std::size_t wanted = std::find(allowed.begin(), allowed.end(), column) - allowed.begin();
  if (wanted == header.size())
    throw error(exit_usage, fmt::format("{}: {} has no column {}; {}", who, name, column, suggest(column, allowed)));
  const std::size_t again =
      std::find(allowed.begin() + static_cast<std::ptrdiff_t>(wanted) + 1, allowed.end(), column) - allowed.begin();
  if (again != header.size())
    throw error(
        exit_usage,
        fmt::format("{}: {}:1:{}: column {} stands there twice, first at {}:1:{}: give the columns different names",
                    who, name, header[again].at, column, name, header[wanted].at));
  return wanted;
}

/// The number in cell number `index` of a row; `where` is its file and line.
double number_at(const std::vector<cell>& cells, std::size_t index, std::size_t end_of_line, const std::string& column,
                 const std::string& where) {
  const auto [text, at] = index < cells.size() ? cells[index] : cell{"", end_of_line};
  const auto* begin = text.data() + (text.starts_with('+') && !text.starts_with("+-"));
  const auto* end = text.data() + text.size();
  double value = 0;
  const auto read = std::from_chars(begin, end, value);
  if (read.ec != std::errc() || read.ptr != end || !std::isfinite(value))
    throw error(exit_usage, fmt::format("{}:{}: {} = {}: must be a finite number", where, at, column, text));
  return value;
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

csv_table read_csv_table(const std::filesystem::path& file, std::vector<std::string> names, const std::string& who) {
  if (file == standard_input_name) {
    std::istringstream in(standard_input());
    return read_csv_table(in, "standard input", std::move(names), who);
  }
  if (const auto what = not_a_file(file); !what.empty())
    throw error(exit_usage, fmt::format("{}: cannot read {}: it {}", who, file.string(), what));
  std::ifstream in(file);
  if (!in) throw error(exit_usage, fmt::format("{}: cannot read {}: {}", who, file.string(), std::strerror(errno)));
  return read_csv_table(in, file.string(), std::move(names), who);
}

csv_table read_csv_table(std::istream& in, const std::string& name, std::vector<std::string> names,
                         const std::string& who) {
  std::string line;
  if (!std::getline(in, line)) throw error(exit_usage, fmt::format("{}: cannot read {}: it is empty", who, name));
  if (line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);  // the byte order mark that spreadsheets write

  const std::string first_line = line;
  const auto header = split(line);
  if (names.empty())
    for (const auto& cell : header) names.push_back(cell.text);
  std::vector<std::size_t> indices;
  try {
    for (const auto& column : names) indices.push_back(column_of(column, header, name, who));
  } catch (const error& e) {
    std::getline(in, line);
    throw error(exit_usage, e.what() + otherwise_written(first_line, line));
  }

  csv_table table{std::move(names), {}};
  table.columns.resize(indices.size());
  for (std::int64_t row = 2; std::getline(in, line); ++row) {
    if (trimmed(line).empty()) continue;
    const auto cells = split(line);
    if (cells.size() > header.size())
      throw error(exit_usage, fmt::format("{}:{}:{}: this row has {} cells, and the header has {}{}", name, row,
                                          cells[header.size()].at, cells.size(), header.size(),
                                          otherwise_written(first_line, line)));
    for (std::size_t j = 0; j < indices.size(); ++j)
      table.columns[j].push_back(
          number_at(cells, indices[j], line.size() + 1, table.names[j], fmt::format("{}:{}", name, row)));
  }
  if (table.columns.front().empty())
    throw error(exit_usage, fmt::format("{}: {} has no row below its header", who, name));
  return table;
}

}  // namespace saltus::host
