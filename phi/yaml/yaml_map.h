// YamlMap: a map of a YAML file that tracks which keys were read, so that unknown keys can be
// refused.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <set>
#include <string>
#include <vector>

#include "phi/common/errors.h"
#include "phi/common/nearest_name.h"

namespace phi::yaml {

class YamlMap {
 public:
  /// Errors: InvalidArgument with `path` and line if the node is no map or repeats a key.
  YamlMap(const std::string& path, const YAML::Node& node) : path_(path), node_(node) {
    if (!node.IsMap()) fail(node, "a map is expected.");
    std::set<std::string> names;
    for (const auto& entry : node_) {
      if (!entry.first.IsScalar()) fail(entry.first, "a key is no text.");
      const std::string& name = entry.first.Scalar();
      if (!names.insert(name).second) fail(entry.first, fmt::format("'{}' is set twice.", name));
    }
  }

  const YAML::Node& node() const { return node_; }

  /// The value of a key; undefined if the key is missing.
  YAML::Node get(const char* name) {
    asked_.insert(name);
    const YAML::Node& map = node_;
    return map[name];
  }

  /// Errors: InvalidArgument if the key is missing.
  YAML::Node require(const char* name) {
    YAML::Node value = get(name);
    if (!value) fail(node_, fmt::format("the key '{}' is missing.", name));
    return value;
  }

  /// Errors: InvalidArgument for a key that was not read.
  void check_all_read() const {
    for (const auto& entry : node_) {
      const std::string& name = entry.first.Scalar();
      if (asked_.contains(name)) continue;
      const std::vector<std::string> keys(asked_.begin(), asked_.end());
      const std::string hint = did_you_mean(name, keys);
      fail(entry.first,
           fmt::format(
               "the key '{}' is not read here{}", name,
               hint.empty() ? fmt::format("; the keys are {}.", fmt::join(keys, ", ")) : hint));
    }
  }

  [[noreturn]] void fail(const YAML::Node& at, const std::string& message) const {
    throw errors::InvalidArgument("{}:{}: {}", path_, at.Mark().line + 1, message);
  }

 private:
  const std::string& path_;
  YAML::Node node_;
  std::set<std::string> asked_;
};

}  // namespace phi::yaml
