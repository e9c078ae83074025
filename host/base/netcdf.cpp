#include "base/netcdf.hpp"

#include <fstream>
#include <limits>

#include <fmt/format.h>
#include <netcdf.h>

#include "base/files.hpp"
#include "base/hdf5.hpp"

namespace saltus::host {

namespace {

bool is_number(nc_type type) { return type != NC_CHAR && type > NC_NAT && type <= NC_UINT64; }

}  // namespace

bool is_netcdf(const std::filesystem::path& file) {
  if (!not_a_file(file).empty()) return false;
  std::array<char, 8> begin{};
  std::ifstream in(file, std::ios::binary);
  in.read(begin.data(), begin.size());
  const std::string_view text(begin.data(), static_cast<std::size_t>(in.gcount()));
  return text.starts_with("\x89HDF\r\n\x1a\n") || (text.starts_with("CDF") && text.size() > 3 && text[3] < 6);
}

netcdf_file::netcdf_file(const std::string& path, const std::string& what) : path_(path) {
  if (const auto other = not_a_file(path); !other.empty())
    throw error(exit_failure, fmt::format("{}: {}, {}", path, other, what));
  const hdf5_silence silent;
  must(nc_open(path.c_str(), NC_NOWRITE, &file_));
  std::error_code ignored;
  bytes_ = std::filesystem::file_size(path, ignored);
  try {
    read_variables();
  } catch (...) {
    nc_close(file_);
    throw;
  }
}

netcdf_file::~netcdf_file() { nc_close(file_); }

void netcdf_file::must(int netcdf_status) const {
  if (netcdf_status == NC_NOERR) return;
  const char* const why = netcdf_status == NC_EHDFERR ? "; the file is damaged, or on a disk that is" : "";
  throw error(exit_failure, fmt::format("cannot read {}: {}{}", path_, nc_strerror(netcdf_status), why));
}

void netcdf_file::read_variables() {
  int count = 0;
  must(nc_inq_nvars(file_, &count));
  for (int v = 0; v < count; ++v) {
    char name[NC_MAX_NAME + 1];
    int rank = 0;
    nc_type type = NC_NAT;
    std::array<int, NC_MAX_VAR_DIMS> dimensions;
    must(nc_inq_var(file_, v, name, &type, &rank, dimensions.data(), nullptr));
    variables_.push_back(
        {v, name, text_of("role", v), text_of("units", v), text_of("long_name", v), {}, is_number(type), type});
    for (int d = 0; d < rank; ++d) {
      must(nc_inq_dimname(file_, dimensions[static_cast<std::size_t>(d)], name));
      variables_.back().dimensions.push_back(name);
    }
  }
}

const netcdf_variable* netcdf_file::find(std::string_view name) const {
  for (const netcdf_variable& v : variables_)
    if (v.name == name) return &v;
  return nullptr;
}

bool netcdf_file::has_attribute(const char* name) const {
  const hdf5_silence silent;
  int id;
  return nc_inq_attid(file_, NC_GLOBAL, name, &id) == NC_NOERR;
}

std::string netcdf_file::text_of(const char* attribute, int variable) const {
  const hdf5_silence silent;
  std::size_t length = 0;
  if (nc_inq_attlen(file_, variable, attribute, &length) != NC_NOERR) return "";
  nc_type type = NC_NAT;
  must(nc_inq_atttype(file_, variable, attribute, &type));
  if (type == NC_STRING) return {};  // other programs write strings
  std::string value(length, '\0');
  must(nc_get_att_text(file_, variable, attribute, value.data()));
  return value;
}

/// A list or a text does not count as a number.
bool netcdf_file::has_number(const char* attribute, int variable) const {
  const hdf5_silence silent;
  std::size_t length = 0;
  nc_type type = NC_NAT;
  return nc_inq_att(file_, variable, attribute, &type, &length) == NC_NOERR && length == 1 && is_number(type);
}

double netcdf_file::number_of(const char* attribute, int variable) const {
  double value = std::numeric_limits<double>::quiet_NaN();
  if (has_number(attribute, variable)) must(nc_get_att_double(file_, variable, attribute, &value));
  return value;
}

unsigned long long netcdf_file::whole_number(const char* attribute) const {
  unsigned long long value = 0;
  if (has_number(attribute, NC_GLOBAL)) must(nc_get_att_ulonglong(file_, NC_GLOBAL, attribute, &value));
  return value;
}

std::string netcdf_file::text(const char* attribute) const { return text_of(attribute, NC_GLOBAL); }
std::string netcdf_file::text(const char* attribute, const netcdf_variable& of) const {
  return text_of(attribute, of.id);
}
double netcdf_file::number(const char* attribute) const { return number_of(attribute, NC_GLOBAL); }
double netcdf_file::number(const char* attribute, const netcdf_variable& of) const {
  return number_of(attribute, of.id);
}

std::vector<long long> netcdf_file::whole_numbers(const char* attribute) const {
  const hdf5_silence silent;
  std::size_t length = 0;
  if (nc_inq_attlen(file_, NC_GLOBAL, attribute, &length) != NC_NOERR) return {};
  std::vector<long long> values(length);
  must(nc_get_att_longlong(file_, NC_GLOBAL, attribute, values.data()));
  return values;
}

std::vector<attribute> netcdf_file::attributes(int variable) const {
  const hdf5_silence silent;
  int count = 0;
  must(nc_inq_varnatts(file_, variable, &count));
  std::vector<attribute> all;
  for (int k = 0; k < count; ++k) {
    char name[NC_MAX_NAME + 1];
    nc_type type = NC_NAT;
    std::size_t length = 0;
    must(nc_inq_attname(file_, variable, k, name));
    must(nc_inq_att(file_, variable, name, &type, &length));
    if (type == NC_CHAR) all.push_back({name, text_of(name, variable)});
    else if (type == NC_DOUBLE) all.push_back({name, number_of(name, variable)});
    else if (type == NC_UINT64) all.push_back({name, whole_number(name)});
    else if (is_number(type)) {
      std::vector<long long> list(length);
      must(nc_get_att_longlong(file_, variable, name, list.data()));
      all.push_back({name, std::move(list)});
    }
  }
  return all;
}

std::size_t netcdf_file::dimension(const char* name) const {
  int id;
  std::size_t length;
  must(nc_inq_dimid(file_, name, &id));
  must(nc_inq_dimlen(file_, id, &length));
  return length;
}

/// Throws unless `v` is numeric and has at most `dimensions` dimensions: NetCDF reads one index for each dimension of
/// the variable.
void netcdf_file::must_be_numbers(const netcdf_variable& v, std::size_t dimensions) const {
  if (!v.is_number || v.dimensions.size() > dimensions)
    throw error(
        exit_failure,
        fmt::format("cannot read {}: {} is not what a result of saltus has under this name: {}", path_, v.name,
                    v.is_number ? fmt::format("it has {} dimensions", v.dimensions.size()) : "it is no number"));
}

std::size_t netcdf_file::length(const netcdf_variable& v) const {
  must_be_numbers(v, 1);
  return v.dimensions.empty() ? 1 : dimension(v.dimensions.front().c_str());
}

/// Throws if more numbers are asked for than the file could hold at deflate's highest compression: a damaged or hostile
/// file may declare any size.
void netcdf_file::must_fit(const netcdf_variable& v, position count) const {
  constexpr std::size_t few = std::size_t{1} << 24, most_per_byte = 1032,
                        most = std::numeric_limits<std::size_t>::max();
  const std::size_t numbers = count[1] > 0 && count[0] > most / count[1] ? most : count[0] * count[1];
  if (numbers / most_per_byte > few / most_per_byte + bytes_)
    throw error(exit_failure, fmt::format("cannot read {}: it declares {} numbers of {} and has {} bytes", path_,
                                          numbers, v.name, bytes_));
}

std::vector<double> netcdf_file::reals(const netcdf_variable& v, position start, position count) const {
  const hdf5_silence silent;
  must_be_numbers(v, 2);
  must_fit(v, count);
  std::vector<double> values(count[0] * count[1]);
  if (!values.empty()) must(nc_get_vara_double(file_, v.id, start.data(), count.data(), values.data()));
  return values;
}

std::vector<long long> netcdf_file::integers(const netcdf_variable& v, std::size_t start, std::size_t count) const {
  const hdf5_silence silent;
  must_be_numbers(v, 1);
  must_fit(v, {count, 1});
  std::vector<long long> values(count);
  if (count > 0) must(nc_get_vara_longlong(file_, v.id, &start, &count, values.data()));
  return values;
}

std::vector<double> netcdf_file::column(const netcdf_variable& v) const { return reals(v, {0, 0}, {length(v), 1}); }

std::vector<double> netcdf_file::numbers(const netcdf_variable& v) const {
  must_be_numbers(v, 2);
  position all = {1, 1};
  for (std::size_t d = 0; d < v.dimensions.size(); ++d) all[d] = dimension(v.dimensions[d].c_str());
  return reals(v, {0, 0}, all);
}

std::string netcdf_file::bytes(const netcdf_variable& v, std::int64_t first, std::int64_t count) const {
  const hdf5_silence silent;
  must_be_numbers(v, 2);
  const position start = {static_cast<std::size_t>(first), 0},
                 lengths = {static_cast<std::size_t>(count),
                            v.dimensions.size() < 2 ? 1 : dimension(v.dimensions[1].c_str())};
  must_fit(v, lengths);
  std::size_t width = 0;
  must(nc_inq_type(file_, v.type, nullptr, &width));
  std::string values(lengths[0] * lengths[1] * width, '\0');
  if (!values.empty()) must(nc_get_vara(file_, v.id, start.data(), lengths.data(), values.data()));
  return values;
}

std::vector<std::string> netcdf_file::texts(const netcdf_variable& v) const {
  const hdf5_silence silent;
  const std::size_t start = 0, count = dimension(v.dimensions.at(0).c_str());
  must_fit(v, {count, 1});
  std::vector<char*> values(count);
  must(nc_get_vara_string(file_, v.id, &start, &count, values.data()));
  const std::vector<std::string> all(values.begin(), values.end());
  nc_free_string(values.size(), values.data());
  return all;
}

long long netcdf_file::unset(const netcdf_variable& v) const {
  long long value = 0;
  if (v.type != NC_STRING) must(nc_inq_var_fill(file_, v.id, nullptr, &value));
  return v.type == NC_INT ? static_cast<int>(value) : value;
}

}  // namespace saltus::host
