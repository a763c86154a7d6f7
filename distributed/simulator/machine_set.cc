// Follows a dotted key through maps and lists of named elements.
#include "distributed/simulator/machine_set.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <vector>

#include "distributed/simulator/machine_yaml.h"
#include "phi/common/errors.h"
#include "phi/common/nearest_name.h"
#include "phi/yaml/yaml_text.h"

namespace phi::distributed::simulator {
namespace {

std::vector<std::string> parts_of(const std::string& key) {
  std::vector<std::string> parts(1);
  for (const char c : key) c == '.' ? (void)parts.emplace_back() : parts.back().push_back(c);
  return parts;
}

// The part of a node that has this name; undefined if there is none.
YAML::Node child(const YAML::Node& node, const std::string& name) {
  if (node.IsMap()) return node[name];
  for (const YAML::Node& element : node) {
    if (element.IsMap() && element["name"] && element["name"].Scalar() == name) return element;
  }
  return YAML::Node(YAML::NodeType::Undefined);
}

std::vector<std::string> names_in(const YAML::Node& node) {
  std::vector<std::string> names;
  for (const auto& entry : node) {
    if (node.IsMap()) {
      names.push_back(entry.first.Scalar());
    } else if (entry.IsMap() && entry["name"]) {
      names.push_back(entry["name"].Scalar());
    }
  }
  return names;
}

[[noreturn]] void throw_unknown(const std::string& change, const std::string& path,
                                const std::string& name, const YAML::Node& node) {
  const std::string hint = did_you_mean(name, names_in(node));
  throw errors::InvalidArgument("{}: there is no key '{}' in the machine file {}{}", change, name,
                                path, hint.empty() ? "." : hint);
}

void set(const YAML::Node& root, const std::string& path, const std::string& change) {
  const size_t equals = change.find('=');
  PHI_CHECK(equals != std::string::npos && equals > 0 && equals + 1 < change.size(),
            errors::InvalidArgument("'{}' is no KEY=VALUE, e.g. links.node.GBps=50.", change));
  const std::vector<std::string> parts = parts_of(change.substr(0, equals));
  YAML::Node node = root;
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    const YAML::Node next = child(node, parts[i]);
    if (!next || !(next.IsMap() || next.IsSequence())) throw_unknown(change, path, parts[i], node);
    node.reset(next);
  }
  PHI_CHECK(node.IsMap(), errors::InvalidArgument("{}: '{}' of {} is a list; name one of its "
                                                  "elements and a key of it.",
                                                  change, parts[parts.size() - 2], path));
  node[parts.back()] = change.substr(equals + 1);
}

}  // namespace

MachineModel read_machine(const std::string& path, std::span<const std::string> changes) {
  MachineModel machine = read_machine(path);
  const YAML::Node root = yaml::load(yaml::read_text(path, "machine file"), path);
  for (const std::string& change : changes) {
    set(root, path, change);
    machine = parse_machine(YAML::Dump(root), fmt::format("{} with {}", path, change));
  }
  machine.file = path;
  return machine;
}

}  // namespace phi::distributed::simulator
