// saltus doctor.
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "compile/module_cache.hpp"
#include "study/doctor.hpp"

namespace saltus::host {

namespace {

/// The measured shapes, one line each.
std::vector<std::string> text_of(const std::vector<machine_shape>& measured) {
  if (measured.empty()) return {"by rule: `saltus doctor --measure` measures"};
  std::vector<std::string> lines;
  for (const auto& m : measured)
    lines.push_back(fmt::format("{}, {}, {}: {}, {}", m.method, name_of(m.kind), m.precision, name_of(m.shape),
                                m.gain > 1 ? fmt::format("{:.2f} times as fast as without measuring", m.gain)
                                           : std::string("as without measuring")));
  return lines;
}

json json_of(const std::vector<machine_shape>& measured) {
  json all = json::array();
  for (const auto& m : measured)
    all.push_back(json{{"method", m.method},
                       {"precision", m.precision},
                       {"kind", name_of(m.kind)},
                       {"lanes", m.shape.lanes},
                       {"groups", m.shape.groups},
                       {"gain", m.gain}});
  return all;
}

void print_json(const health& h) {
  json troubles = json::array();
  for (const finding* f : {&h.home, &h.cache, &h.compiler, &h.compiles})
    if (!f->trouble.empty()) troubles.push_back(f->trouble);
  fmt::print("{}\n", json_text(json{{"version", version_with_commit()},
                                    {"home", h.home.text},
                                    {"compiler", h.compiler.text},
                                    {"compiles", h.is_well()},
                                    {"troubles", troubles},
                                    {"threads", h.threads},
                                    {"processor", h.processor},
                                    {"lanes_double", h.lanes_double},
                                    {"lanes_float", h.lanes_float},
                                    {"lane_shapes", json_of(h.shapes)},
                                    {"cuda_device", h.cuda.text},
                                    {"cuda_absent", h.cuda.trouble},
                                    {"cache", h.cache.text},
                                    {"cache_files", h.cached_files},
                                    {"cache_bytes", h.cached_bytes}}));
}

void print_text(const health& h) {
  fmt::print("saltus     {}\nhome       {}\n", version_with_commit(), h.home.either());
  fmt::print("compiler   {}\n", h.compiler.either());
  fmt::print("compiles   {}\n", (h.compiles.trouble.empty() ? "" : "no: ") + h.compiles.either());
  fmt::print("cpu        {}, {} lanes of double, {} of float; models compiled for: {}\n", counted(h.threads, "thread"),
             h.lanes_double, h.lanes_float, h.processor);
  const char* title = "shapes";
  for (const auto& line : text_of(h.shapes)) fmt::print("{:<10} {}\n", std::exchange(title, ""), line);
  fmt::print("cuda       {}\n", h.cuda.trouble.empty() ? h.cuda.text : "none: " + h.cuda.trouble);
  fmt::print("cache      {}\n", h.cache.trouble.empty()
                                    ? fmt::format("{}: {} files, {} of {}", h.cache.text, h.cached_files,
                                                  bytes_text(h.cached_bytes), bytes_text(module_cache_limit()))
                                    : h.cache.trouble);
}

}  // namespace

int doctor(bool as_json, bool measure) {
  std::function<void(const std::string&)> measured;
  if (measure) measured = [](const std::string& text) { say("{}", text); };
  const health h = examine(interrupted, measured);
  if (as_json) print_json(h);
  else print_text(h);
  return h.is_well() ? exit_ok : exit_failure;
}

int clear_cache(bool as_json) {
  const auto removed = clear_module_cache();
  if (as_json)
    fmt::print("{}\n", json_text(json{{"cache", cache_folder().string()},
                                      {"removed_files", removed.files},
                                      {"removed_bytes", removed.bytes}}));
  else fmt::print("removed {} files, {}, from {}\n", removed.files, bytes_text(removed.bytes), cache_folder().string());
  return exit_ok;
}

}  // namespace saltus::host
