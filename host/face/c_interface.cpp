// The functions of saltus.h over the library.
#include <atomic>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <saltus/saltus.h>

#include "abi/status.hpp"
#include "base/cancellation.hpp"
#include "base/error.hpp"
#include "base/toml.hpp"
#include "base/version.hpp"
#include "ensemble/model_call.hpp"
#include "result/arrays.hpp"
#include "spec/field.hpp"
#include "study/prepare.hpp"
#include "study/run.hpp"

using namespace saltus::host;

struct saltus_study {
  std::string subject, folder;
  bool is_text = false;
  std::vector<flag> flags;
  given_arrays columns;
  saltus_progress progress = nullptr;
  void* with = nullptr;
  cancellation stop;
  std::filesystem::path header;  ///< of the model that is loaded
  std::optional<model> loaded;
};

struct saltus_result {
  std::shared_ptr<result_arrays> arrays;
  tally counts;
  int exit_code = 0;
  std::vector<std::vector<const char*>> dimensions;  ///< of each variable
};

namespace {

constexpr bool same(int a, int b) { return a == b; }
static_assert(same(exit_ok, SALTUS_OK) && same(exit_failure, SALTUS_FAILURE) && same(exit_usage, SALTUS_USAGE) &&
              same(exit_failed_instances, SALTUS_FAILED_INSTANCES) && same(exit_model, SALTUS_MODEL) &&
              same(exit_device, SALTUS_DEVICE) && same(exit_interrupted, SALTUS_INTERRUPTED));
using number = result_array::number;
static_assert(same(int(number::real), SALTUS_REAL) && same(int(number::int64), SALTUS_INT64) &&
              same(int(number::int32), SALTUS_INT32) && same(int(number::byte), SALTUS_BYTE));
#define SALTUS_TEXT_OF(x) #x
#define SALTUS_DOTTED(a, b, c) SALTUS_TEXT_OF(a) "." SALTUS_TEXT_OF(b) "." SALTUS_TEXT_OF(c)
static_assert(std::string_view(SALTUS_VERSION) ==
              SALTUS_DOTTED(SALTUS_VERSION_MAJOR, SALTUS_VERSION_MINOR, SALTUS_VERSION_PATCH));

struct failure {
  std::string text;
  int code = SALTUS_OK;
};
thread_local failure last;

int note(int code, const std::string& text) noexcept {
  last.code = code;
  try {
    last.text = text;
  } catch (const std::bad_alloc&) { last.text.clear(); }
  return code;
}

/// Calls it. No exception leaves a function of C: it becomes the last failure, and its exit code is returned.
template <class Call>
int guarded(Call&& call) noexcept {
  try {
    call();
    return SALTUS_OK;
  } catch (const error& e) { return note(e.exit_code, e.what()); } catch (const std::bad_alloc&) {
    return note(SALTUS_FAILURE, "there is not enough memory");
  } catch (const std::exception& e) { return note(SALTUS_FAILURE, e.what()); } catch (...) {
    return note(SALTUS_FAILURE, "an unknown failure");
  }
}

[[noreturn]] void refuse(const std::string& text) { throw error(exit_usage, text); }

void check_given(const void* pointer, const char* what) {
  if (pointer == nullptr) refuse(fmt::format("{}: must not be NULL", what));
}

spec_document document_of(const saltus_study& s) {
  auto flags = s.flags;
  for (const auto& [name, numbers] : s.columns)
    flags.push_back(
        {"--set", fmt::format("sweep.zip.{}={{ array = {} }}", name, inline_text(toml::value<std::string>(name)))});
  spec_document spec = s.is_text ? from_text(s.subject, flags, {}, s.folder)
                       : std::filesystem::path(s.subject).extension() == ".toml" ? read_spec(s.subject, flags)
                                                                                 : from_model(s.subject, flags);
  spec.arrays = s.columns;
  return spec;
}

plan plan_of_study(saltus_study& s) {
  const spec_document spec = document_of(s);
  const auto header = model_of(spec);
  if (!s.loaded || s.header != header) s.loaded = load(header, s.stop), s.header = header;
  return plan_of(spec, *s.loaded);
}

saltus_study* opened(const char* what, const char* folder, bool is_text) {
  std::unique_ptr<saltus_study> s;
  const int code = guarded([&] {
    check_given(what, is_text ? "saltus_open_text(toml)" : "saltus_open(what)");
    s = std::make_unique<saltus_study>();
    s->subject = what;
    s->folder = folder ? folder : "";
    s->is_text = is_text;
    document_of(*s);
  });
  return code == SALTUS_OK ? s.release() : nullptr;
}

std::unique_ptr<saltus_result> result_of(const run_report& report) {
  auto r = std::make_unique<saltus_result>();
  r->arrays = report.arrays;
  r->counts = report.summary.counts;
  r->exit_code = report.exit_code;
  for (const auto& a : r->arrays->variables()) {
    auto& names = r->dimensions.emplace_back();
    for (const auto& name : a.dimensions) names.push_back(name.c_str());
  }
  return r;
}

}  // namespace

const char* saltus_version(void) {
  static const std::string version = version_with_commit();
  return version.c_str();
}
void saltus_guard_process(void) {
  guarded([] { guard_process(); });
}
const char* saltus_error(void) { return last.text.c_str(); }
int saltus_error_code(void) { return last.code; }

saltus_study* saltus_open(const char* what) { return opened(what, nullptr, false); }
saltus_study* saltus_open_text(const char* toml, const char* folder) { return opened(toml, folder, true); }

int saltus_set(saltus_study* s, const char* key, const char* value) {
  return guarded([&] {
    check_given(s, "saltus_set(study)");
    check_given(key, "saltus_set(key)");
    check_given(value, "saltus_set(value)");
    s->flags.push_back({"--set", fmt::format("{}={}", key, value)});
  });
}

int saltus_column(saltus_study* s, const char* name, const double* values, size_t count) {
  return guarded([&] {
    check_given(s, "saltus_column(study)");
    check_given(name, "saltus_column(name)");
    check_given(values, "saltus_column(values)");
    if (count == 0) refuse("saltus_column(count): must be at least 1");
    s->columns[name] = std::vector<double>(values, values + count);
  });
}

int64_t saltus_count(saltus_study* s) {
  std::int64_t count = -1;
  guarded([&] {
    check_given(s, "saltus_count(study)");
    count = plan_of_study(*s).count;
  });
  return count;
}

void saltus_on_progress(saltus_study* s, saltus_progress call, void* with) {
  if (s != nullptr) s->progress = call, s->with = with;
}

saltus_result* saltus_run(saltus_study* s, int replace) {
  std::unique_ptr<saltus_result> r;
  guarded([&] {
    check_given(s, "saltus_run(study)");
    std::atomic<std::int64_t> ended{0}, all{0};
    run_listener listener;
    listener.begins = [&](const plan&, std::int64_t some, std::int64_t before) { all += some, ended += before; };
    listener.progress = [&](std::int64_t some) {
      const auto now = ended += some;
      if (s->progress != nullptr) s->progress(now, all, s->with);
    };
    const run_report report =
        run(plan_of_study(*s), {.replace = replace != 0, .command = {"saltus", "(library)"}, .in_memory = true},
            s->stop, listener);
    if (!report.summary.crash.empty()) throw error(exit_failure, report.summary.crash);
    r = result_of(report);
  });
  return r.release();
}

void saltus_cancel(saltus_study* s) {
  if (s != nullptr) s->stop.cancel();
}
void saltus_close(saltus_study* s) { delete s; }

int saltus_exit_code(const saltus_result* r) { return r->exit_code; }

int64_t saltus_ended(const saltus_result* r, const char* status) {
  std::int64_t count = -1;
  guarded([&] {
    check_given(r, "saltus_ended(result)");
    check_given(status, "saltus_ended(status)");
    std::vector<std::string_view> known;
    for (const saltus::status_row& row : saltus::status_table) {
      known.push_back(row.name);
      if (known.back() == status) count = r->counts.by_status[static_cast<std::size_t>(row.id)];
    }
    if (count < 0) refuse(fmt::format("{}: no status; {}", status, suggest(status, known)));
  });
  return count;
}

size_t saltus_variables(const saltus_result* r) { return r ? r->arrays->variables().size() : 0; }

int saltus_get(const saltus_result* r, size_t i, saltus_variable* to) {
  return guarded([&] {
    check_given(r, "saltus_get(result)");
    check_given(to, "saltus_get(to)");
    const auto& all = std::as_const(*r->arrays).variables();
    if (i >= all.size()) refuse(fmt::format("saltus_get({}): there are {} variables", i, all.size()));
    const result_array& a = all[i];
    std::size_t size = 1;
    for (const auto n : a.shape) size *= static_cast<std::size_t>(n);
    *to = {a.what.name.c_str(),
           a.what.unit.c_str(),
           a.what.about.c_str(),
           static_cast<int>(a.type),
           static_cast<int>(a.shape.size()),
           r->dimensions[i].data(),
           a.shape.data(),
           size,
           a.numbers.data()};
  });
}

int saltus_find(const saltus_result* r, const char* name, saltus_variable* to) {
  return guarded([&] {
    check_given(r, "saltus_find(result)");
    check_given(name, "saltus_find(name)");
    std::vector<std::string_view> known;
    const auto& all = std::as_const(*r->arrays).variables();
    for (std::size_t i = 0; i < all.size(); ++i) {
      known.push_back(all[i].what.name);
      if (known.back() != name) continue;
      if (saltus_get(r, i, to) != SALTUS_OK) throw error(static_cast<exit_status>(last.code), last.text);
      return;
    }
    refuse(fmt::format("{}: the result has no variable of that name; {}", name, suggest(name, known)));
  });
}

const char* saltus_attribute(const saltus_result* r, const char* name) {
  if (r == nullptr || name == nullptr) return nullptr;
  for (const attribute& a : r->arrays->attributes())
    if (a.name == name)
      if (const auto* text = std::get_if<std::string>(&a.value)) return text->c_str();
  return nullptr;
}

void saltus_free(saltus_result* r) { delete r; }
