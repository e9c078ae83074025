// The data of a model that stays in memory between the runs of one process: its modules, its lane shapes, its source
// text. Otherwise a program that runs one instance after another would read the files each time.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "compile/compiler.hpp"
#include "compile/lane_shape.hpp"
#include "spec/model.hpp"

namespace saltus::host {

/// Members may be called from any thread.
class loaded_model {
 public:
  /// Reads the files of the model.
  explicit loaded_model(const model& m);

  /// The module of that name, made on first use. Throws the exceptions of `make`, and `error` (exit_model) if the files
  /// of the model differ from those that it was described from.
  built module_called(const std::string& name, const std::function<built()>& make);
  /// The lane shape of that name, chosen on first use.
  lane_shape shape_called(const std::string& name, const std::function<lane_shape()>& choose);

  struct text {
    std::filesystem::path file;
    std::string content;
  };
  /// The files that the model was described from, its header first.
  const std::vector<text>& texts() const { return texts_; }

 private:
  void refuse_if_changed() const;

  std::vector<text> texts_;
  std::mutex mutex_;
  std::map<std::string, built> modules_;
  std::map<std::string, lane_shape> shapes_;
};

/// The files of a model, its header first: their present content, or, if the model stays loaded, the content it was
/// described from. Throws `error` (exit_failure) if one cannot be read.
std::vector<loaded_model::text> texts_of(const model& m);

}  // namespace saltus::host
