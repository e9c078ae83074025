#include "ensemble/crash.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "abi/status.hpp"
#include "base/child.hpp"
#include "base/message.hpp"
#include "base/paths.hpp"
#include "base/subprocess.hpp"
#include "compile/compiler.hpp"
#include "ensemble/settings.hpp"

namespace saltus::host {

namespace {

/// Seconds for all attempts, without compilation.
constexpr double longest = 60;

/// Integrates one instance of a chunk alone, from its beginning, in a child process. Returns the trace if the model
/// crashes, else nothing.
std::string try_alone(const plan& p, const abi::module& module, const chunk_data& of, std::size_t slot) {
  const auto settings = settings_of(p);
  chunk_data one(p, of.first_id + static_cast<std::int64_t>(slot), 1);
  const auto take = [&](auto column) {
    auto& to = one.*column;
    for (std::size_t j = 0; j < to.size(); ++j) to[j] = (of.*column)[j * static_cast<std::size_t>(of.count) + slot];
  };
  for (const auto column : columns::starts) take(column);
  take(&columns::first_row), take(&columns::end_row);
  const std::function<bool(std::int64_t)> go_on = [](std::int64_t) { return true; };
  abi::usage used{};
  trace_crashes();
  try {
    integrate({module, settings, one, one.log, nullptr, go_on, 0}, used);
  } catch (const model_crash& crash) {
    std::string bytes(reinterpret_cast<const char*>(&crash.signal), sizeof crash.signal);
    bytes.append(reinterpret_cast<const char*>(crash.trace.data()), crash.trace.size() * sizeof(void*));
    return bytes;
  }
  return {};
}

/// "in transition, ./bottle.hpp:34" for the innermost function of the model; empty if there is none.
std::string function_at(const plan& p, const abi::module& module, int signal, const std::vector<const void*>& trace,
                        const cancellation& stop) {
  Dl_info object{};
  if (::dladdr(&module, &object) == 0) return {};
  std::vector<std::string> command = {"addr2line", "-f", "-i", "-C", "-e", object.dli_fname};
  const std::size_t fixed = command.size(), enough = fixed + 16;
  for (std::size_t k = 0; k < trace.size() && command.size() < enough; ++k) {
    Dl_info of{};
    if (::dladdr(trace[k], &of) == 0 || of.dli_fbase != object.dli_fbase) continue;
    const auto offset = static_cast<const char*>(trace[k]) - static_cast<const char*>(object.dli_fbase);
    // After the handler and its caller comes the crashing instruction itself; further addresses follow a call.
    command.push_back(fmt::format("{:#x}", offset - (signal != 0 && k == 2 ? 0 : 1)));
  }
  if (which(command[0]).empty() || command.size() == fixed) return {};
  const auto asked = run_program(command, stop);
  const std::string kernels = (home() / "kernels").string();
  std::stringstream said(asked.said);
  for (std::string name, location; std::getline(said, name) && std::getline(said, location);) {
    const auto file = location.substr(0, location.find(':'));
    if (asked.status != 0 || file == "??" || file.starts_with(kernels) || file.find("module.cpp") != file.npos)
      continue;
    if (file.starts_with("/usr/")) continue;
    name = name.substr(0, name.find_first_of("(<"));
    name = name.substr(name.find(' ') == name.npos ? 0 : name.rfind(' ') + 1);  // without the return type
    if (const auto scope = name.rfind("::"); scope != name.npos) name = name.substr(scope + 2);
    const auto line = location.substr(file.size(), location.find(' ') - file.size());
    const auto path = std::filesystem::path(file).lexically_normal();
    return fmt::format("in {}, {}{}", name, path == p.model.header ? p.model.header.string() : path.string(), line);
  }
  return {};
}

struct finding {
  std::size_t slot;
  int signal;
  std::vector<const void*> trace;
};

std::optional<finding> find_culprit(const plan& p, const abi::module& module, const chunk_data& chunk,
                                    const model_crash& crash, const cancellation& stop) {
  const auto begin = std::chrono::steady_clock::now();
  for (const std::int64_t id : crash.instances) {
    const double left = longest - std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (left <= 0) return {};
    const auto slot = static_cast<std::size_t>(id - chunk.first_id);
    try {
      const auto bytes = in_child([&] { return try_alone(p, module, chunk, slot); }, left, stop);
      if (bytes.empty()) continue;
      finding found{slot, 0, std::vector<const void*>((bytes.size() - sizeof(int)) / sizeof(void*))};
      std::memcpy(&found.signal, bytes.data(), sizeof(int));
      std::memcpy(found.trace.data(), bytes.data() + sizeof(int), found.trace.size() * sizeof(void*));
      return found;
    } catch (const error& e) {
      // If the attempt killed the child by a signal, this instance is the one, too.
      if (std::string(e.what()).starts_with("SIG")) return finding{slot, crash.signal, {}};
    }
  }
  return {};
}

}  // namespace

std::string explain_crash(const plan& p, chunk_data& chunk, const model_crash& crash, const cancellation& stop) {
  std::string who, where;
  try {
    const built module_file = build_traceable_module(p, stop);
    const auto& module = *static_cast<const abi::module*>(module_file.code->symbol("saltus_module"));
    if (const auto found = find_culprit(p, module, chunk, crash, stop)) {
      who = fmt::format("instance {}", chunk.first_id + static_cast<std::int64_t>(found->slot));
      where = function_at(p, module, found->signal, found->trace, stop);
      chunk.status[found->slot] = static_cast<unsigned char>(status::model_crashed);
    }
  } catch (const error&) {
    // The message then names the candidates and no function.
  }
  if (who.empty() && !crash.instances.empty()) {
    const auto some = std::min<std::size_t>(crash.instances.size(), 8);
    who = fmt::format("{}{}{}", crash.instances.size() == 1 ? "instance " : "one of the instances ",
                      fmt::join(crash.instances.begin(), crash.instances.begin() + static_cast<long>(some), ", "),
                      crash.instances.size() > some ? ", ..." : "");
  }
  return fmt::format("the model {} crashed: {}{}{}", p.model.name, signal_text(crash.signal),
                     who.empty() ? "" : " in " + who, where.empty() ? "" : ", " + where);
}

}  // namespace saltus::host
