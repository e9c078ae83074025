#include "compile/machine_shapes.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/version.hpp"
#include "compile/compiler.hpp"

namespace saltus::host {

namespace fs = std::filesystem;

namespace {

constexpr work_kind kinds[] = {work_kind::smooth, work_kind::with_events, work_kind::implicit};

/// Explicit steps: up to so many states, measurements with two or three states apply.
constexpr std::size_t small = 8;

fs::path file_of_machine() { return cache_folder() / (hash_text(machine_identity() + '\n' + version) + ".machine"); }

bool is_same_work(const machine_shape& a, const machine_shape& b) {
  return a.method == b.method && a.precision == b.precision && a.kind == b.kind;
}

/// "dp5 double 1 8 2 1.05": method, precision, number of the kind, lanes, groups, gain.
std::optional<machine_shape> shape_in(const std::string& line) {
  std::istringstream in(line);
  machine_shape m;
  int kind = -1;
  if (!(in >> m.method >> m.precision >> kind >> m.shape.lanes >> m.shape.groups >> m.gain)) return {};
  if (kind < 0 || kind >= static_cast<int>(std::size(kinds)) || !(m.gain >= 1)) return {};
  m.kind = kinds[kind];
  return m;
}

}  // namespace

std::string name_of(work_kind kind) {
  const char* const names[] = {"smooth", "with events", "implicit"};
  return names[static_cast<int>(kind)];
}

work_kind kind_of(const plan& p) {
  if (!is_explicit_method(p.method)) return work_kind::implicit;
  return has_events(p.model) ? work_kind::with_events : work_kind::smooth;
}

bool follows_machine(const plan& p) {
  const auto states = p.model.states.size();
  return p.fixed_step == 0 && !carries_many_derivatives(p) &&
         states <= (kind_of(p) == work_kind::implicit ? two_registers_up_to : small);
}

std::vector<machine_shape> machine_shapes() {
  std::vector<machine_shape> all;
  std::ifstream in(file_of_machine());
  for (std::string line; std::getline(in, line);)
    if (auto one = shape_in(line)) all.push_back(std::move(*one));
  return all;
}

std::optional<machine_shape> machine_shape_of(const plan& p) {
  if (!follows_machine(p)) return {};
  const auto all = machine_shapes();
  const machine_shape wanted{p.method, word_of(p.precision), kind_of(p), {}, 1};
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return is_same_work(one, wanted); });
  if (found == all.end() || !is_tried(p, found->shape)) return {};
  return *found;
}

void keep(const machine_shape& measured) {
  auto all = machine_shapes();
  std::erase_if(all, [&](const auto& one) { return is_same_work(one, measured); });
  all.push_back(measured);
  std::string text;
  for (const auto& m : all)
    text += fmt::format("{} {} {} {} {} {:.3g}\n", m.method, m.precision, static_cast<int>(m.kind), m.shape.lanes,
                        m.shape.groups, m.gain);
  write_at_once(file_of_machine(), text);
}

}  // namespace saltus::host
