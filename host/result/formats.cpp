#include "result/csv_writer.hpp"
#include "result/netcdf_writer.hpp"
#include "result/zarr_writer.hpp"

namespace saltus::host {

std::span<const output_format* const> formats() {
  static constexpr const output_format* all[] = {&netcdf_files, &zarr_stores, &csv_files};
  return all;
}

}  // namespace saltus::host
