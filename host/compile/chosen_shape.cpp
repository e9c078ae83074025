#include "compile/chosen_shape.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "compile/compiler.hpp"
#include "compile/loaded_model.hpp"
#include "compile/machine_shapes.hpp"

namespace saltus::host {
namespace fs = std::filesystem;

namespace {

/// The file with the shape for a model, method and set of compiler options; the plan's own `lanes` do not enter its
/// name.
fs::path file_of(const plan& p) { return cache_folder() / (cpu_module_name(p, {0, 0}) + ".lanes"); }

}  // namespace

lane_shape usual_shape(const plan& p) {
  const auto measured = machine_shape_of(p);
  return measured ? measured->shape : shape_by_rule(p);
}

void remember(const plan& p, const lane_shape& shape) {
  write_at_once(file_of(p), fmt::format("{} {}\n", shape.lanes, shape.groups));
}

std::optional<lane_shape> remembered_shape(const plan& p) {
  std::ifstream in(file_of(p));
  lane_shape shape;
  if (!(in >> shape.lanes >> shape.groups)) return {};
  if (!is_tried(p, shape)) return {};  // treats a damaged file as missing
  return shape;
}

lane_shape lane_shape_of(const plan& p) {
  if (p.lanes > 0) return {p.lanes, std::max(p.groups, 1)};
  const auto choose = [&] { return remembered_shape(p).value_or(usual_shape(p)); };
  lane_shape shape = p.model.loaded ? p.model.loaded->shape_called(engine_name(p), choose) : choose();
  if (p.groups > 0) shape.groups = p.groups;
  return shape;
}

}  // namespace saltus::host
