#include "study/prepare.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/netcdf.hpp"
#include "base/paths.hpp"
#include "compile/compiler.hpp"
#include "compile/derivative_arrays.hpp"
#include "compile/loaded_model.hpp"
#include "result/format.hpp"
#include "structure/analysis.hpp"
#include "study/rerun.hpp"

namespace saltus::host {

std::filesystem::path model_of(const spec_document& spec) {
  const std::string name = spec.model_header.empty() ? spec.model : spec.model_header.string();
  return find_model(name, spec.file.empty() ? std::string() : spec.model_location);
}

namespace {

/// A warning if algebraic states have a higher structural index than declared; empty: none, as far as the structure
/// shows.
std::string doubt_of_index(const model& m) {
  const int declared = highest_index(m);
  if (declared == 0 || m.equations != abi::semi_explicit || !m.record || m.coordinates > 0) return {};
  const auto found = structure_of(m).analysis;
  if (!found.is_sound() || found.index <= declared) return {};
  return fmt::format(
      "{}: its algebraic states are declared as of index {}, and its equations have the structural index {}: {}",
      m.name, declared, found.index,
      found.index == 2
          ? "their constraints do not depend on them. Write .algebraic(2), which radau5 solves"
          : "write them as they stand, static void residual(const auto& at, auto& r), which taylor solves");
}

}  // namespace

plan plan_of(const spec_document& spec, const model& known) {
  plan p = validate(spec, model_for(spec, known));
  check_names(p);
  if (const auto doubt = doubt_of_index(known); !doubt.empty()) p.warnings.push_back(doubt);
  return p;
}

plan plan_of(const study& what, const cancellation& stop) {
  if (what.instance >= 0) return plan_of_instance(what.subject, what.instance, what.flags, what.trusts, stop);
  if (is_netcdf(what.subject))
    throw error(
        exit_usage,
        fmt::format("{0}: is a result, and no spec: --instance I makes one of its instances again; a run goes on "
                    "from all of them by --set 'initial.from=\"{0}\"'",
                    what.subject));
  const bool is_spec = std::filesystem::path(what.subject).extension() == ".toml";
  const spec_document spec = is_spec ? read_spec(what.subject, what.flags) : from_model(what.subject, what.flags);
  return plan_of(spec, describe_model(model_of(spec), stop));
}

model load(const std::filesystem::path& header, const cancellation& stop) {
  model m = describe_model(header, stop);
  m.loaded = std::make_shared<loaded_model>(m);
  return m;
}

model describe(const std::string& name, const cancellation& stop) { return describe_model(find_model(name), stop); }

std::vector<model> builtin_models(const cancellation& stop) {
  std::vector<model> all;
  for (const auto& name : builtin_names()) all.push_back(describe(name, stop));
  return all;
}

}  // namespace saltus::host
