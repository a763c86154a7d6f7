// Loads records of operators.
#include "tools/op_record/op_record.h"

#include <filesystem>

#include "phi/yaml/yaml_map.h"
#include "phi/yaml/yaml_text.h"

namespace phi::yaml {
namespace {

constexpr const char* kSections[] = {"calls",       "lowering",    "refusals", "no_call",
                                     "no_gradient", "differences", "rules",    "recorded"};

}  // namespace

bool is_op_record(const YAML::Node& root) {
  return root.IsMap() && root["op"] && !root["args"] && !root["output"] && !root["cases"];
}

OpRecord op_record_of(const YAML::Node& root, const std::string& path) {
  YamlMap map(path, root);
  OpRecord record{path, map.require("op").Scalar(), root};
  for (const char* section : kSections) map.get(section);
  map.check_all_read();
  const std::string name = std::filesystem::path(path).stem().string();
  if (record.op != name) {
    map.fail(root["op"], fmt::format("op is '{}', and the file is named '{}'.", record.op, name));
  }
  return record;
}

OpRecord load_op_record(const std::string& path) {
  return op_record_of(load(read_text(path, "record of an operator"), path), path);
}

}  // namespace phi::yaml
