#include "study/prepare.hpp"

#include <filesystem>

#include "base/paths.hpp"
#include "compile/compiler.hpp"
#include "result/schema.hpp"

namespace saltus::host {

plan plan_of(const study& what, const cancellation& stop) {
  const bool is_spec = std::filesystem::path(what.subject).extension() == ".toml";
  const spec_document spec = is_spec ? read_spec(what.subject, what.flags) : from_model(what.subject, what.flags);
  const std::string place = is_spec ? spec.model_place : std::string();
  const std::string name = spec.model_header.empty() ? spec.model : spec.model_header.string();
  plan p = validate(spec, describe_model(find_model(name, place), stop));
  check_names(p);
  return p;
}

model describe(const std::string& name, const cancellation& stop) { return describe_model(find_model(name), stop); }

std::vector<model> builtin_models(const cancellation& stop) {
  std::vector<model> all;
  for (const auto& name : builtin_names()) all.push_back(describe(name, stop));
  return all;
}

}  // namespace saltus::host
