// saltus from C++: classes over the functions of saltus.h. A failure throws saltus::error.
//
//     saltus::study valves("relief_valve");
//     valves.set("sweep.flow", "{ from = 2.0, to = 6.0, count = 100 }");
//     const saltus::result r = valves.run();
//     for (const double lift : r.reals("final_lift")) ...
#pragma once

#include <saltus/saltus.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

namespace saltus {

/// `what()` is a sentence for users, `exit_code` that of the program.
struct error : std::runtime_error {
  int exit_code;
  error(const std::string& text, int code) : std::runtime_error(text), exit_code(code) {}
};

/// The last failure on this thread.
[[noreturn]] inline void fail() { throw error(saltus_error(), saltus_error_code()); }

/// The result of a run, in memory. Copies are the same result.
class result {
 public:
  explicit result(saltus_result* r) : r_(r, saltus_free) {}

  int exit_code() const { return saltus_exit_code(r_.get()); }
  /// Number of instances that ended with that status: "finished", "zeno".
  std::int64_t ended(const std::string& status) const {
    const auto count = saltus_ended(r_.get(), status.c_str());
    if (count < 0) fail();
    return count;
  }
  std::size_t variables() const { return saltus_variables(r_.get()); }
  saltus_variable operator[](std::size_t i) const {
    saltus_variable v{};
    if (saltus_get(r_.get(), i, &v) != SALTUS_OK) fail();
    return v;
  }
  saltus_variable operator[](const std::string& name) const {
    saltus_variable v{};
    if (saltus_find(r_.get(), name.c_str(), &v) != SALTUS_OK) fail();
    return v;
  }
  /// The numbers of a variable of doubles; they live as long as the result. Throws if it has another type.
  std::span<const double> reals(const std::string& name) const {
    const auto v = (*this)[name];
    if (v.type != SALTUS_REAL) throw error(name + ": its numbers are no doubles", SALTUS_USAGE);
    return {static_cast<const double*>(v.numbers), v.size};
  }
  /// A text about the run; empty: there is none of that name.
  std::string attribute(const std::string& name) const {
    const char* const text = saltus_attribute(r_.get(), name.c_str());
    return text ? text : "";
  }

 private:
  std::shared_ptr<saltus_result> r_;
};

/// A model or a spec, with settings. Used by one thread at a time.
class study {
 public:
  /// A built-in's name, "./my_model.hpp" or "./my_sweep.toml".
  explicit study(const std::string& what) : study(saltus_open(what.c_str())) {}
  /// The text of a spec, whose paths start at the folder; empty: at the current one.
  static study of_text(const std::string& toml, const std::string& folder = {}) {
    return study(saltus_open_text(toml.c_str(), folder.empty() ? nullptr : folder.c_str()));
  }

  /// A key of a spec, a parameter or an initial value, as TOML.
  study& set(const std::string& key, const std::string& value) {
    if (saltus_set(s_.get(), key.c_str(), value.c_str()) != SALTUS_OK) fail();
    return *this;
  }
  /// Values of an input, one for each instance; all columns together are one axis of the sweep.
  study& column(const std::string& name, std::span<const double> values) {
    if (saltus_column(s_.get(), name.c_str(), values.data(), values.size()) != SALTUS_OK) fail();
    return *this;
  }
  std::int64_t count() const {
    const auto n = saltus_count(s_.get());
    if (n < 0) fail();
    return n;
  }
  /// Is told, from any thread of a run, how many instances have ended, and of how many.
  study& on_progress(std::function<void(std::int64_t, std::int64_t)> call) {
    progress_ = std::make_unique<std::function<void(std::int64_t, std::int64_t)>>(std::move(call));
    saltus_on_progress(
        s_.get(),
        [](std::int64_t ended, std::int64_t all, void* with) {
          (*static_cast<std::function<void(std::int64_t, std::int64_t)>*>(with))(ended, all);
        },
        progress_.get());
    return *this;
  }
  /// Runs all instances, into memory and into output.file if that is set. `replace`: an older file is replaced.
  result run(bool replace = false) {
    saltus_result* const r = saltus_run(s_.get(), replace);
    if (r == nullptr) fail();
    return result(r);
  }
  /// Ends the present and all later runs early; from any thread.
  void cancel() { saltus_cancel(s_.get()); }

 private:
  explicit study(saltus_study* s) : s_(s, saltus_close) {
    if (!s_) fail();
  }
  std::unique_ptr<saltus_study, void (*)(saltus_study*)> s_;
  std::unique_ptr<std::function<void(std::int64_t, std::int64_t)>> progress_;
};

}  // namespace saltus
