// Reading of case files; every error says file, line and key.
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <fstream>

#include "phi/common/errors.h"
#include "tools/spmd/case.h"

namespace phi::spmd_tool {
namespace {

using distributed::AttrKind;
using distributed::AttrValue;
using distributed::RuleEntry;
using distributed::RuleFunction;

class Reader {
 public:
  explicit Reader(std::string path) : path_(std::move(path)) {}

  [[noreturn]] void fail(const YAML::Node& at, const std::string& message) const {
    throw errors::InvalidArgument("{}:{}: {}", path_, at.Mark().line + 1, message);
  }

  YAML::Node key(const YAML::Node& map, const char* name) const {
    if (!map.IsMap()) fail(map, fmt::format("a map with the key '{}' is expected.", name));
    YAML::Node value = map[name];
    if (!value) fail(map, fmt::format("the key '{}' is missing.", name));
    return value;
  }

  template <typename T>
  T scalar(const YAML::Node& node, std::string_view what, std::string_view type) const {
    T value{};
    if (!node.IsScalar() || !YAML::convert<T>::decode(node, value)) {
      fail(node, fmt::format("{} is no {}.", what, type));
    }
    return value;
  }

  int64_t integer(const YAML::Node& node, std::string_view what) const {
    return scalar<int64_t>(node, what, "int");
  }

  std::vector<int64_t> integers(const YAML::Node& node, std::string_view what) const {
    if (!node.IsSequence()) fail(node, fmt::format("{} is no list.", what));
    std::vector<int64_t> values;
    for (const auto& item : node) values.push_back(integer(item, what));
    return values;
  }

  distributed::DimsMapping mapping(const YAML::Node& node) const {
    if (!node.IsSequence()) fail(node, "dims_mapping is no list.");
    distributed::DimsMapping result;
    for (const auto& item : node) {
      std::vector<int> dims;
      if (item.IsSequence()) {
        for (int64_t m : integers(item, "dims_mapping")) dims.push_back(static_cast<int>(m));
      } else if (const int64_t m = integer(item, "dims_mapping"); m != -1) {
        dims.push_back(static_cast<int>(m));
      }
      result.push_back(std::move(dims));
    }
    return result;
  }

  TensorText tensor(const YAML::Node& node, bool with_shape) const {
    TensorText result;
    if (with_shape) result.shape = integers(key(node, "shape"), "shape");
    result.dims_mapping = mapping(key(node, "dims_mapping"));
    if (node["partial"]) {
      for (int64_t m : integers(node["partial"], "partial")) result.partial.push_back(int(m));
    }
    return result;
  }

  ArgumentText argument(const YAML::Node& node, bool with_shape) const {
    ArgumentText result;
    if (node.IsMap() && node["list"]) {
      result.is_list = true;
      if (!node["list"].IsSequence()) fail(node, "list is no list.");
      for (const auto& item : node["list"]) result.tensors.push_back(tensor(item, with_shape));
    } else {
      result.tensors.push_back(tensor(node, with_shape));
    }
    return result;
  }

  std::vector<ArgumentText> arguments(const YAML::Node& node, const char* name,
                                      bool with_shape) const {
    const YAML::Node list = key(node, name);
    if (!list.IsSequence()) fail(list, fmt::format("{} is no list.", name));
    std::vector<ArgumentText> result;
    for (const auto& item : list) result.push_back(argument(item, with_shape));
    return result;
  }

  std::vector<TensorText> flat(const YAML::Node& node, const char* name) const {
    std::vector<TensorText> result;
    for (auto& argument : arguments(node, name, false)) {
      for (auto& tensor : argument.tensors) result.push_back(std::move(tensor));
    }
    return result;
  }

  AttrValue attr(const YAML::Node& node, const std::string& name, AttrKind kind) const {
    switch (kind) {
      case AttrKind::kBool:
        return scalar<bool>(node, name, "bool");
      case AttrKind::kInt:
        return integer(node, name);
      case AttrKind::kFloat:
        return scalar<double>(node, name, "float");
      case AttrKind::kString:
        return scalar<std::string>(node, name, "string");
      case AttrKind::kInts:
        return integers(node, name);
      case AttrKind::kDataType:
        return parse_dtype(scalar<std::string>(node, name, "dtype"));
    }
    fail(node, "unreachable");
  }

  // In the order of the rule's signature. All names in the file must be known to the rule.
  std::vector<AttrValue> attrs(const YAML::Node& node, const RuleFunction& function) const {
    const auto names = distributed::split_names(function.attrs);
    const YAML::Node map = node["attrs"];
    if (map && !map.IsMap()) fail(map, "attrs is no map.");
    if (map) {
      for (const auto& entry : map) {
        const auto name = scalar<std::string>(entry.first, "an attribute's name", "string");
        if (std::find(names.begin(), names.end(), name) == names.end()) {
          fail(entry.first,
               fmt::format("the rule has no attribute '{}'; it has: {}.", name, function.attrs));
        }
      }
    }
    std::vector<AttrValue> values;
    for (size_t i = 0; i < function.attr_kinds.size(); ++i) {
      const AttrKind kind = function.attr_kinds[i];
      if (map && map[names[i]]) {
        values.push_back(attr(map[names[i]], names[i], kind));
      } else {
        values.push_back(distributed::zero_of(kind));
      }
    }
    return values;
  }

  Direction direction(const YAML::Node& node) const {
    const YAML::Node value = node["direction"];
    if (!value) return Direction::kForward;
    const auto text = scalar<std::string>(value, "direction", "string");
    if (text == "forward") return Direction::kForward;
    if (text == "backward") return Direction::kBackward;
    if (text == "grad") return Direction::kGrad;
    fail(value, fmt::format("direction is '{}', expected forward, backward or grad.", text));
  }

  bool flag(const YAML::Node& node, const char* name) const {
    return node[name] && scalar<bool>(node[name], name, "bool");
  }

  Case one(const YAML::Node& node, const RuleEntry& rule) const {
    Case c;
    c.line = node.Mark().line + 1;
    Question& q = c.question;
    q.mesh = integers(key(key(node, "mesh"), "shape"), "mesh.shape");
    q.direction = direction(node);
    if (q.direction == Direction::kGrad && rule.grad.call == nullptr) {
      fail(node, fmt::format("the rule '{}' has no gradient rule.", rule.name));
    }
    q.inputs = arguments(node, "inputs", true);
    if (node["outputs"] || q.direction == Direction::kBackward) {
      q.outputs = arguments(node, "outputs", true);
    }
    q.attrs = attrs(node, q.direction == Direction::kGrad ? rule.grad : rule.forward);
    c.suspect = flag(node, "suspect");
    c.uneven = flag(node, "uneven");
    if (!flag(node, "error")) {
      const YAML::Node expect = key(node, "expect");
      c.expected = Expected{flat(expect, "inputs"), flat(expect, "outputs")};
    }
    return c;
  }

  CaseFile file() const {
    if (!std::ifstream(path_)) {
      throw errors::NotFound("{}: the file cannot be read.", path_);
    }
    YAML::Node root;
    try {
      root = YAML::LoadFile(path_);
    } catch (const YAML::Exception& error) {
      throw errors::InvalidArgument("{}:{}: {}", path_, error.mark.line + 1, error.msg);
    }
    CaseFile result;
    result.path = path_;
    const YAML::Node name = key(root, "rule");
    result.rule = scalar<std::string>(name, "rule", "string");
    const RuleEntry* rule = nullptr;
    try {
      rule = &distributed::find_rule(result.rule);
    } catch (const Error& error) {
      throw errors::NotFound("{}:{}: {}", path_, name.Mark().line + 1, error.what());
    }
    const YAML::Node cases = key(root, "cases");
    if (!cases.IsSequence()) fail(cases, "cases is no list.");
    for (const auto& node : cases) {
      result.cases.push_back(one(node, *rule));
      result.cases.back().number = static_cast<int>(result.cases.size()) - 1;
    }
    return result;
  }

 private:
  std::string path_;
};

}  // namespace

CaseFile load_cases(const std::string& path) { return Reader(path).file(); }

}  // namespace phi::spmd_tool
