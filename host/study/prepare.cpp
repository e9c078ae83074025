#include "study/prepare.hpp"

#include <filesystem>

#include "base/paths.hpp"
#include "compile/compiler.hpp"
#include "compile/loaded_model.hpp"
#include "result/journal.hpp"
#include "result/schema.hpp"

namespace saltus::host {

std::filesystem::path model_of(const spec_document& spec) {
  const std::string name = spec.model_header.empty() ? spec.model : spec.model_header.string();
  return find_model(name, spec.file.empty() ? std::string() : spec.model_place);
}

plan plan_of(const spec_document& spec, const model& known) {
  plan p = validate(spec, known);
  check_names(p);
  return p;
}

plan plan_of(const study& what, const cancellation& stop) {
  const bool is_spec = std::filesystem::path(what.subject).extension() == ".toml";
  const spec_document spec = is_spec ? read_spec(what.subject, what.flags) : from_model(what.subject, what.flags);
  return plan_of(spec, describe_model(model_of(spec), stop));
}

plan plan_of_journal(const std::filesystem::path& folder, const cancellation& stop) {
  const auto [text, base] = journal::spec_of(folder);
  const spec_document spec = from_text(text, {}, {}, base);
  plan p = plan_of(spec, describe_model(model_of(spec), stop));
  p.file = folder.parent_path() / folder.stem();
  return p;
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
