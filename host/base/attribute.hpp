// A named value: metadata of a result, or of one of its variables.
#pragma once

#include <string>
#include <variant>
#include <vector>

namespace saltus::host {

struct attribute {
  std::string name;
  /// Lists have the type of their variable.
  std::variant<std::string, double, long long, unsigned long long, std::vector<int>, std::vector<long long>> value;
};

}  // namespace saltus::host
