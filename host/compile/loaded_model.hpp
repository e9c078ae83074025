// What of a model stays in memory between the runs of one process: its modules, the lane shapes that were chosen for it, the text
// that it was read from. A program that runs one instance after another would otherwise ask files for all of it each time.
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

/// Any thread may ask.
class loaded_model {
 public:
  /// Reads the files of the model.
  explicit loaded_model(const model& m);

  /// The module of that name, made if it has not been. Throws what `make` throws, and `error` (exit_model) if the files of the
  /// model are no longer those that it was described from.
  built module_called(const std::string& name, const std::function<built()>& make);
  /// The lane shape of that name, chosen if it has not been.
  lane_shape shape_called(const std::string& name, const std::function<lane_shape()>& choose);

  struct text {
    std::filesystem::path file;
    std::string content;
  };
  /// The files of the model as it was described from them, its header first.
  const std::vector<text>& texts() const { return texts_; }

 private:
  void refuse_if_changed() const;

  std::vector<text> texts_;
  std::mutex mutex_;
  std::map<std::string, built> modules_;
  std::map<std::string, lane_shape> shapes_;
};

/// The files of a model, its header first: as they are now, or those it was described from if it stays loaded. Throws `error`
/// (exit_failure) if one cannot be read.
std::vector<loaded_model::text> texts_of(const model& m);

}  // namespace saltus::host
