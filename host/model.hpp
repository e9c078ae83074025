// A model as the host knows it: names, units, defaults. Read from its compiled description, never from its source text.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "abi.hpp"

namespace saltus::host {

struct quantity {
  std::string name;
  double      value = 0;  ///< default; states: initial value; unused for outputs
  std::string unit;
  std::string about;
};

struct guard {
  std::string    name;
  abi::direction direction;
  abi::sidedness sidedness;
  bool           terminal;
  std::string    about;
};

struct model {
  std::string           name;
  std::string           title;
  std::string           source;
  std::filesystem::path header;  ///< the file it was read from
  std::vector<quantity> states, parameters, discretes, outputs;
  std::vector<guard>    guards;
  double                t_begin = 0, t_end = 1;  ///< its own default span
  bool                  arithmetic = false;
};

}  // namespace saltus::host
