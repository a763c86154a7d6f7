// Reads case files; every error names file, line and key.
#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "phi/common/errors.h"
#include "phi/yaml/yaml_map.h"
#include "phi/yaml/yaml_text.h"
#include "tools/op_record/op_record.h"
#include "tools/spmd/case.h"
#include "tools/spmd/case_text.h"

namespace phi::spmd_tool {
using yaml::YamlMap;

namespace {

class CaseFileReader {
 public:
  explicit CaseFileReader(std::string path) : path_(std::move(path)) {}

  [[noreturn]] void fail(const YAML::Node& at, const std::string& message) const {
    throw errors::InvalidArgument("{}:{}: {}", path_, at.Mark().line + 1, message);
  }

  // Returns read(map), and refuses keys that `read` did not read.
  template <typename Read>
  auto whole(const YAML::Node& node, Read read) const {
    YamlMap map(path_, node);
    auto result = read(map);
    map.check_all_read();
    return result;
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

  std::vector<distributed::ReduceKind> reduce_kinds(const YAML::Node& node) const {
    if (!node.IsSequence()) fail(node, "partial_type is no list.");
    std::vector<distributed::ReduceKind> kinds;
    for (const auto& item : node) {
      const auto text = scalar<std::string>(item, "partial_type", "string");
      try {
        kinds.push_back(distributed::parse_reduce_kind(text));
      } catch (const Error& error) {
        fail(item, error.what());
      }
    }
    return kinds;
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
    return whole(node, [&](YamlMap& map) {
      TensorText result;
      if (with_shape) result.shape = integers(map.require("shape"), "shape");
      result.dims_mapping = mapping(map.require("dims_mapping"));
      if (const YAML::Node partial = map.get("partial")) {
        for (int64_t m : integers(partial, "partial")) result.partial.push_back(int(m));
      }
      if (const YAML::Node kinds = map.get("partial_type"))
        result.partial_kinds = reduce_kinds(kinds);
      if (!result.partial_kinds.empty() && result.partial_kinds.size() != result.partial.size()) {
        fail(node, fmt::format("partial has {} entries, partial_type {}; write one each.",
                               result.partial.size(), result.partial_kinds.size()));
      }
      return result;
    });
  }

  ArgumentText argument(const YAML::Node& node, bool with_shape) const {
    if (!node.IsMap() || !node["list"]) return {{tensor(node, with_shape)}, false};
    return whole(node, [&](YamlMap& map) {
      const YAML::Node list = map.get("list");
      if (!list.IsSequence()) fail(node, "list is no list.");
      ArgumentText result{{}, true};
      for (const auto& item : list) result.tensors.push_back(tensor(item, with_shape));
      return result;
    });
  }

  std::vector<ArgumentText> arguments(YamlMap& map, const char* name, bool with_shape) const {
    const YAML::Node list = map.require(name);
    if (!list.IsSequence()) fail(list, fmt::format("{} is no list.", name));
    std::vector<ArgumentText> result;
    for (const auto& item : list) result.push_back(argument(item, with_shape));
    return result;
  }

  std::vector<TensorText> flat(YamlMap& map, const char* name) const {
    std::vector<TensorText> result;
    for (auto& argument : arguments(map, name, false)) {
      for (auto& tensor : argument.tensors) result.push_back(std::move(tensor));
    }
    return result;
  }

  AttributeValue number(const YAML::Node& node, const std::string& name) const {
    int64_t value = 0;
    if (YAML::convert<int64_t>::decode(node, value)) return value;
    return checked_number(scalar<double>(node, name, "number"),
                          fmt::format("{}:{}: {}", path_, node.Mark().line + 1, name));
  }

  AttributeValue attr(const YAML::Node& node, const std::string& name, AttributeKind kind) const {
    switch (kind) {
      case AttributeKind::kBool:
        return scalar<bool>(node, name, "bool");
      case AttributeKind::kInt:
        return integer(node, name);
      case AttributeKind::kFloat:
        return scalar<double>(node, name, "float");
      case AttributeKind::kNumber:
        return number(node, name);
      case AttributeKind::kString:
      case AttributeKind::kPlace:
        return scalar<std::string>(node, name, "string");
      case AttributeKind::kDataType:
        return parse_dtype(scalar<std::string>(node, name, "dtype"));
      case AttributeKind::kInts:
        return integers(node, name);
      case AttributeKind::kFloats:
      case AttributeKind::kStrings:
        break;
    }
    fail(node, fmt::format("{} is a {}, which no recorded rule accepts.", name, name_of(kind)));
  }

  // Attributes without effect are read and omitted.
  std::vector<std::pair<std::string, AttributeValue>> attrs(const YAML::Node& map,
                                                            const Reference& reference,
                                                            Direction direction) const {
    std::vector<std::pair<std::string, AttributeValue>> values;
    if (!map) return values;
    if (!map.IsMap()) fail(map, "attrs is no map.");
    for (const auto& entry : map) {
      const auto name = scalar<std::string>(entry.first, "an attribute's name", "string");
      const OpRule::Attribute* attribute = nullptr;
      try {
        attribute = reference.attribute(name, direction);
      } catch (const Error& error) {
        fail(entry.first, error.what());
      }
      if (attribute != nullptr) {
        values.emplace_back(name, attr(entry.second, name, attribute->kind));
      }
    }
    return values;
  }

  Direction direction(const YAML::Node& value) const {
    if (!value) return Direction::kForward;
    const auto text = scalar<std::string>(value, "direction", "string");
    if (text == "forward") return Direction::kForward;
    if (text == "backward") return Direction::kBackward;
    if (text == "grad") return Direction::kGrad;
    fail(value, fmt::format("direction is '{}', expected forward, backward or grad.", text));
  }

  bool flag(YamlMap& map, const char* name) const {
    const YAML::Node value = map.get(name);
    return value && scalar<bool>(value, name, "bool");
  }

  // A line, or {case: LINE, differs: REASON}.
  Case of_line(const YAML::Node& node, const Reference& reference) const {
    if (node.IsScalar()) return parsed_line(node, reference);
    return whole(node, [&](YamlMap& map) {
      Case c = parsed_line(map.require("case"), reference);
      const auto reason = scalar<std::string>(map.require("differs"), "differs", "string");
      if (reason.empty()) fail(node, "a difference needs a reason.");
      c.differs = true;
      return c;
    });
  }

  Case parsed_line(const YAML::Node& node, const Reference& reference) const {
    Case c;
    c.line = node.Mark().line + 1;
    CaseLine line;
    try {
      line = parse_case_line(scalar<std::string>(node, "a case", "string"));
    } catch (const Error& error) {
      fail(node, error.what());
    }
    c.call = std::move(line.call);
    c.expected = std::move(line.expected);
    check_direction(node, reference, c.call.direction);
    check_outputs(node, reference, c.call);
    YAML::Node given;
    // Behind so many ends of lines, a value has its line in the file.
    const std::string before(static_cast<size_t>(c.line - 1), '\n');
    for (const auto& [name, value] : line.attrs) {
      given[yaml::load(before + name, path_)] = yaml::load(before + value, path_);
    }
    if (given.IsMap()) c.call.attrs = attrs(given, reference, c.call.direction);
    return c;
  }

  void check_outputs(const YAML::Node& at, const Reference& reference, const CaseCall& call) const {
    const bool needed = call.direction == Direction::kBackward ||
                        takes_outputs(reference.of(call.direction), call.inputs.size());
    if (needed && call.outputs.empty()) fail(at, "the outputs are missing; write them behind '/'.");
    if (!needed && !call.outputs.empty()) fail(at, "only a backward case has outputs behind '/'.");
  }

  void check_direction(const YAML::Node& at, const Reference& reference,
                       Direction direction) const {
    if (direction != Direction::kGrad || reference.grad != nullptr) return;
    fail(at, fmt::format("the rule '{}' has no gradient rule.", reference.name));
  }

  Case one(YamlMap& map, const Reference& reference) const {
    Case c;
    c.line = map.node().Mark().line + 1;
    CaseCall& q = c.call;
    q.mesh = whole(map.require("mesh"),
                   [&](YamlMap& mesh) { return integers(mesh.require("shape"), "mesh.shape"); });
    q.direction = direction(map.get("direction"));
    check_direction(map.node(), reference, q.direction);
    q.inputs = arguments(map, "inputs", true);
    if (q.direction == Direction::kBackward ||
        takes_outputs(reference.of(q.direction), q.inputs.size())) {
      q.outputs = arguments(map, "outputs", true);
    }
    q.attrs = attrs(map.get("attrs"), reference, q.direction);
    // Remarks in the recorded cases; they have no effect.
    for (const char* remark : {"why", "suspect_why", "co_shard"}) map.get(remark);
    c.suspect = flag(map, "suspect");
    c.uneven = flag(map, "uneven");
    if (!flag(map, "error")) {
      c.expected = whole(map.require("expect"), [&](YamlMap& expect) {
        return ExpectedResult{flat(expect, "inputs"), flat(expect, "outputs")};
      });
    }
    return c;
  }

  CaseFile cases_of(const YAML::Node& name, const YAML::Node& cases) const {
    CaseFile result;
    result.path = path_;
    result.rule = scalar<std::string>(name, "rule", "string");
    const Reference* reference = nullptr;
    try {
      reference = &find_reference(result.rule);
    } catch (const Error& error) {
      throw UnknownRule(error.code(),
                        fmt::format("{}:{}: {}", path_, name.Mark().line + 1, error.what()));
    }
    if (!cases.IsSequence()) fail(cases, "cases is no list.");
    for (const auto& node : cases) {
      const bool is_line = node.IsScalar() || (node.IsMap() && node["case"]);
      result.cases.push_back(is_line ? of_line(node, *reference) : whole(node, [&](YamlMap& item) {
        return one(item, *reference);
      }));
      result.cases.back().number = static_cast<int>(result.cases.size());
    }
    return result;
  }

  std::vector<CaseFile> of_record(const yaml::OpRecord& record) const {
    std::vector<CaseFile> files;
    const YAML::Node rules = record.section("rules");
    if (rules && !rules.IsMap()) fail(rules, "rules is no map of lists of cases.");
    for (const auto& entry : rules) files.push_back(cases_of(entry.first, entry.second));
    return files;
  }

  std::vector<CaseFile> files() const {
    const YAML::Node root = yaml::load(yaml::read_text(path_, "case file"), path_);
    if (yaml::is_op_record(root)) return of_record(yaml::op_record_of(root, path_));
    return {whole(root, [&](YamlMap& map) {
      const YAML::Node name = map.require("rule");
      return cases_of(name, map.require("cases"));
    })};
  }

 private:
  std::string path_;
};

}  // namespace

std::vector<CaseFile> load_cases(const std::string& path) { return CaseFileReader(path).files(); }

}  // namespace phi::spmd_tool
