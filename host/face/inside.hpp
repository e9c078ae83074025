// The content of the objects of saltus.hpp, and the way in which errors of the host leave its functions.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <saltus/saltus.hpp>

#include "base/cancellation.hpp"
#include "base/error.hpp"
#include "ensemble/tally.hpp"
#include "result/arrays.hpp"
#include "spec/plan.hpp"

namespace saltus {
inline namespace v0 {

class __attribute__((visibility("hidden"))) model::inside {
 public:
  host::model m;
};

class __attribute__((visibility("hidden"))) plan::inside {
 public:
  host::plan p;
};

class __attribute__((visibility("hidden"))) result::inside {
 public:
  std::shared_ptr<host::result_arrays> arrays;
  host::tally counts;
  int exit_code = 0;
  std::vector<std::vector<const char*>> dimensions = {};  ///< names, of each variable

  /// A text about the run; null: there is none of that name.
  const std::string* text_called(const std::string& name) const {
    for (const auto& a : arrays->attributes())
      if (a.name == name) return std::get_if<std::string>(&a.value);
    return nullptr;
  }
};

}  // namespace v0

namespace face {

/// Calls it. An error of the host becomes one of the public interface, with the same words.
template <class Call>
auto translated(Call&& call) {
  try {
    return call();
  } catch (const host::error& e) { throw error(e.what(), e.exit_code); }
}

/// A token of the host that is cancelled when a stop is requested.
class stopping {
 public:
  explicit stopping(std::stop_token asked) : when_asked_(std::move(asked), [token = token_] { token.cancel(); }) {}
  const host::cancellation& token() const { return token_; }

 private:
  host::cancellation token_;
  std::stop_callback<std::function<void()>> when_asked_;
};

/// Runs a plan into memory.
result run_in_memory(const host::plan& p, const run_options& how, const host::cancellation& stop);

}  // namespace face
}  // namespace saltus
