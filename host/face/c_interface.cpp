// The functions of saltus.h over the library.
#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <saltus/saltus.hpp>

#include "base/error.hpp"
#include "base/version.hpp"
#include "ensemble/model_call.hpp"
#include "face/inside.hpp"

struct saltus_study {
  saltus::study s;
};

struct saltus_result {
  saltus::result r;
};

namespace {

using namespace saltus::host;
static_assert(exit_ok == +SALTUS_OK && exit_failure == +SALTUS_FAILURE && exit_usage == +SALTUS_USAGE &&
              exit_failed_instances == +SALTUS_FAILED_INSTANCES && exit_model == +SALTUS_MODEL &&
              exit_device == +SALTUS_DEVICE && exit_interrupted == +SALTUS_INTERRUPTED);
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
  } catch (const saltus::error& e) { return note(e.exit_code, e.what()); } catch (const std::bad_alloc&) {
    return note(SALTUS_FAILURE, "there is not enough memory");
  } catch (const std::exception& e) { return note(SALTUS_FAILURE, e.what()); } catch (...) {
    return note(SALTUS_FAILURE, "an unknown failure");
  }
}

void check_given(const void* pointer, const char* what) {
  if (pointer == nullptr) throw saltus::error(fmt::format("{}: must not be NULL", what), SALTUS_USAGE);
}

/// A new object with what the call makes; null if that fails.
template <class Object, class Call>
Object* made(Call&& call) {
  Object* object = nullptr;
  guarded([&] { object = new Object{call()}; });
  return object;
}

}  // namespace

const char* saltus_version(void) { return saltus::host::version_with_commit().c_str(); }
void saltus_guard_process(void) {
  guarded([] { saltus::host::guard_process(); });
}
const char* saltus_error(void) { return last.text.c_str(); }
int saltus_error_code(void) { return last.code; }

saltus_study* saltus_open(const char* what) {
  return made<saltus_study>([&] {
    check_given(what, "saltus_open(what)");
    return saltus::study(what);
  });
}

saltus_study* saltus_open_text(const char* toml, const char* folder) {
  return made<saltus_study>([&] {
    check_given(toml, "saltus_open_text(toml)");
    return saltus::study::of_text(toml, folder ? folder : "");
  });
}

int saltus_set(saltus_study* s, const char* key, const char* value) {
  return guarded([&] {
    check_given(s, "saltus_set(study)");
    check_given(key, "saltus_set(key)");
    check_given(value, "saltus_set(value)");
    s->s.set(key, value);
  });
}

int saltus_column(saltus_study* s, const char* name, const double* values, size_t count) {
  return guarded([&] {
    check_given(s, "saltus_column(study)");
    check_given(name, "saltus_column(name)");
    check_given(values, "saltus_column(values)");
    s->s.column(name, {values, count});
  });
}

int64_t saltus_count(saltus_study* s) {
  std::int64_t count = -1;
  guarded([&] {
    check_given(s, "saltus_count(study)");
    count = s->s.count();
  });
  return count;
}

void saltus_on_progress(saltus_study* s, saltus_progress call, void* with) {
  if (s == nullptr) return;
  guarded([&] {
    if (call == nullptr) s->s.on_progress({});
    else s->s.on_progress([call, with](std::int64_t ended, std::int64_t all) { call(ended, all, with); });
  });
}

saltus_result* saltus_run(saltus_study* s, int replace) {
  return made<saltus_result>([&] {
    check_given(s, "saltus_run(study)");
    return s->s.run(replace != 0);
  });
}

void saltus_cancel(saltus_study* s) {
  if (s != nullptr) s->s.cancel();
}
void saltus_close(saltus_study* s) { delete s; }

int saltus_exit_code(const saltus_result* r) { return r->r.exit_code(); }

int64_t saltus_ended(const saltus_result* r, const char* status) {
  std::int64_t count = -1;
  guarded([&] {
    check_given(r, "saltus_ended(result)");
    check_given(status, "saltus_ended(status)");
    count = r->r.ended(status);
  });
  return count;
}

size_t saltus_variables(const saltus_result* r) { return r ? r->r.variables() : 0; }

int saltus_get(const saltus_result* r, size_t i, saltus_variable* to) {
  return guarded([&] {
    check_given(r, "saltus_get(result)");
    check_given(to, "saltus_get(to)");
    *to = r->r[i];
  });
}

int saltus_find(const saltus_result* r, const char* name, saltus_variable* to) {
  return guarded([&] {
    check_given(r, "saltus_find(result)");
    check_given(name, "saltus_find(name)");
    check_given(to, "saltus_find(to)");
    *to = r->r[std::string(name)];
  });
}

const char* saltus_attribute(const saltus_result* r, const char* name) {
  const std::string* text = nullptr;
  guarded([&] {
    if (r != nullptr && name != nullptr) text = r->r.in().text_called(name);
  });
  return text ? text->c_str() : nullptr;
}

void saltus_free(saltus_result* r) { delete r; }
