// Results that exist, lists and names of saltus.hpp.
#include <string>
#include <utility>
#include <vector>

#include "abi/status.hpp"
#include "base/version.hpp"
#include "compile/compiling_note.hpp"
#include "ensemble/run_statistics.hpp"
#include "face/inside.hpp"
#include "result/format.hpp"
#include "result/reader.hpp"
#include "result/schema.hpp"
#include "spec/keys.hpp"
#include "study/rerun.hpp"
#include "study/run.hpp"
#include "study/to_zarr.hpp"

namespace saltus {
inline namespace v0 {

void so_far(const std::string& journal, const std::string& file, std::stop_token stop) {
  face::translated([&] { host::so_far(journal, file, face::stopping(std::move(stop)).token()); });
}

std::string to_zarr(const std::string& result, const store_options& how, std::stop_token stop) {
  return face::translated([&] {
    return host::to_zarr(result, {how.store, how.chunk, how.replace}, face::stopping(std::move(stop)).token());
  });
}

void must_be_read_here(const std::string& file) {
  face::translated([&] { host::must_be_read_here(file); });
}

std::string python_reader(const std::string& file) { return std::string(host::format_of(file).python_reader); }

std::string settings_of_instance(const std::string& settings, const std::string& file) {
  return face::translated([&] { return host::settings_of_instance(settings, file); });
}

std::string records_of_instance(const std::string& records, const std::string& sources, const std::string& file) {
  return face::translated([&] { return host::records_of_instance(records, sources, file); });
}

std::vector<ending> endings() {
  std::vector<ending> all;
  for (const status_row& row : status_table)
    all.push_back({static_cast<int>(row.id), row.name, row.meaning, row.remedy,
                   row.group == status_group::ok       ? "ok"
                   : row.group == status_group::failed ? "failed"
                                                       : "not_finished"});
  return all;
}

std::vector<key> keys() {
  std::vector<key> all;
  for (const host::spec_key& k : host::spec_keys())
    all.push_back({std::string(k.table), std::string(k.name), host::python_type_of(k)});
  return all;
}

std::vector<std::string> reserved_names() { return host::reserved_names(); }

std::vector<std::string> statistic_names() { return {host::statistic_names.begin(), host::statistic_names.end()}; }

std::string suggest(const std::string& given, const std::vector<std::string>& allowed) {
  return host::suggest(given, {allowed.begin(), allowed.end()});
}

std::string compiling_now() { return host::compiling_now(); }

std::string version() { return host::version_with_commit(); }

}  // namespace v0
}  // namespace saltus
