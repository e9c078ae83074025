#include "spec/record_source.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "spec/csv.hpp"

namespace saltus::host {

namespace {

class csv_rows final : public record_source {
 public:
  csv_rows(const std::filesystem::path& file, std::string who) : in_(file, std::move(who)) {}

  const std::vector<std::string>& header() const override { return in_.header(); }
  std::size_t column(const std::string& name) override { return in_.column(name); }
  bool next() override { return in_.next(); }
  bool is_missing(std::size_t column) const override {
    const auto text = in_.cell(column).text;
    return text.empty() || text == ".";
  }
  double number(std::size_t column) const override { return in_.number(column); }
  std::string location(std::size_t column) const override { return in_.location(column); }
  [[noreturn]] void fail(std::size_t column, std::string_view what) const override { in_.fail(column, what); }

 private:
  csv_reader in_;
};

class array_rows final : public record_source {
 public:
  array_rows(const std::map<std::string, std::vector<double>>& columns, std::string who) : who_(std::move(who)) {
    for (const auto& [name, numbers] : columns) {
      header_.push_back(name);
      columns_.push_back(&numbers);
      if (numbers.size() != columns_.front()->size())
        throw error(exit_usage, fmt::format("{}: {} has {} numbers, and {} has {}", who_, name, numbers.size(),
                                            header_.front(), columns_.front()->size()));
    }
  }

  const std::vector<std::string>& header() const override { return header_; }
  std::size_t column(const std::string& name) override {
    const auto found = std::find(header_.begin(), header_.end(), name);
    if (found == header_.end())
      throw error(exit_usage,
                  fmt::format("{}: has no column {}; {}", who_, name, suggest(name, {header_.begin(), header_.end()})));
    return static_cast<std::size_t>(found - header_.begin());
  }
  bool next() override { return ++row_ <= (columns_.empty() ? 0 : columns_.front()->size()); }
  bool is_missing(std::size_t column) const override { return std::isnan(value(column)); }
  double number(std::size_t column) const override {
    if (!std::isfinite(value(column))) fail(column, "must be a finite number");
    return value(column);
  }
  std::string location(std::size_t column) const override {
    return fmt::format("number {} of {}.{}", row_ - 1, who_, header_[column]);
  }
  [[noreturn]] void fail(std::size_t column, std::string_view what) const override {
    throw error(exit_usage, fmt::format("{}: {} = {}: {}", location(column), header_[column], value(column), what));
  }

 private:
  double value(std::size_t column) const { return (*columns_[column])[row_ - 1]; }

  std::string who_;
  std::vector<std::string> header_;
  std::vector<const std::vector<double>*> columns_;
  std::size_t row_ = 0;
};

}  // namespace

std::unique_ptr<record_source> rows_of_csv(const std::filesystem::path& file, std::string who) {
  return std::make_unique<csv_rows>(file, std::move(who));
}

std::unique_ptr<record_source> rows_of_arrays(const std::map<std::string, std::vector<double>>& columns,
                                              std::string who) {
  return std::make_unique<array_rows>(columns, std::move(who));
}

}  // namespace saltus::host
