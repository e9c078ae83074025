#include "compile/loaded_model.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/files.hpp"

namespace saltus::host {

namespace {

std::vector<loaded_model::text> read_texts(const model& m) {
  std::vector<loaded_model::text> all;
  for (const auto& file : files_of_model(m)) all.push_back({file, read_file(file)});
  return all;
}

[[noreturn]] void refuse(const std::filesystem::path& file) {
  throw error(exit_model, fmt::format("{}: has changed since the model was loaded: load it again", file.string()));
}

}  // namespace

loaded_model::loaded_model(const model& m) : texts_(read_texts(m)) {
  for (const text& part : texts_)
    for (const model_file& described : m.sources)
      if (described.file == part.file && described.hash != hash_text(part.content)) refuse(part.file);
}

// A module of a changed text could have other states than the description, and the host would give it too little
// memory.
void loaded_model::refuse_if_changed() const {
  for (const text& part : texts_) {
    std::error_code none;
    if (std::filesystem::exists(part.file, none) && read_file(part.file) == part.content) continue;
    refuse(part.file);
  }
}

built loaded_model::module_called(const std::string& name, const std::function<built()>& make) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = modules_.find(name); known != modules_.end()) {
      built again = known->second;
      again.seconds = 0;
      return again;
    }
  }
  refuse_if_changed();
  built made = make();
  refuse_if_changed();
  const std::lock_guard lock(mutex_);
  modules_.emplace(name, made);
  return made;
}

lane_shape loaded_model::shape_called(const std::string& name, const std::function<lane_shape()>& choose) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = shapes_.find(name); known != shapes_.end()) return known->second;
  }
  const lane_shape chosen = choose();
  const std::lock_guard lock(mutex_);
  return shapes_.emplace(name, chosen).first->second;
}

std::vector<loaded_model::text> texts_of(const model& m) { return m.loaded ? m.loaded->texts() : read_texts(m); }

}  // namespace saltus::host
