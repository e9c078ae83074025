// Contents of a result file, for tests that compare two files.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <netcdf.h>

/// Every variable of a result file, as bytes; every line of a CSV file.
inline std::map<std::string, std::string> variables_of(const std::filesystem::path& file) {
  std::map<std::string, std::string> all;
  if (file.extension() == ".csv") {
    std::ifstream in(file, std::ios::binary);
    for (std::string line; std::getline(in, line);) all["line " + std::to_string(all.size())] = line;
    return all;
  }
  int id = -1, count = 0;
  EXPECT_EQ(NC_NOERR, nc_open(file.c_str(), NC_NOWRITE, &id)) << file;
  nc_inq_nvars(id, &count);
  for (int v = 0; v < count; ++v) {
    char name[NC_MAX_NAME + 1] = {};
    int dimensions = 0, of[NC_MAX_VAR_DIMS];
    nc_type type = NC_NAT;
    nc_inq_var(id, v, name, &type, &dimensions, of, nullptr);
    if (type == NC_STRING) continue;
    std::size_t size = 0, length = 1;
    nc_inq_type(id, type, nullptr, &size);
    for (int d = 0; d < dimensions; ++d) {
      std::size_t n = 0;
      nc_inq_dimlen(id, of[d], &n);
      length *= n;
    }
    std::string bytes(size * length, '\0');
    EXPECT_EQ(NC_NOERR, nc_get_var(id, v, bytes.data())) << name;
    all[name] = bytes;
  }
  nc_close(id);
  return all;
}

/// The names of the variables that differ, so that a message need not contain all their bytes.
inline std::string differing(const std::map<std::string, std::string>& a, const std::map<std::string, std::string>& b) {
  std::string names;
  for (const auto& [name, bytes] : a)
    if (const auto other = b.find(name); other == b.end() || other->second != bytes) names += name + " ";
  for (const auto& [name, bytes] : b)
    if (!a.contains(name)) names += name + " ";
  return names;
}
