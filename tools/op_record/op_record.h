// Records of operators: tests/ops/FAMILY/OP.yaml has all that tests know of one operator.
// docs/op_records.md describes the sections.
#pragma once

#include <yaml-cpp/yaml.h>

#include <string>

namespace phi::yaml {

/// Whether a document is a record, and not another file that names an operator.
bool is_op_record(const YAML::Node& root);

struct OpRecord {
  std::string path;
  std::string op;
  YAML::Node root;

  /// Undefined if the record has no such section.
  YAML::Node section(const char* name) const {
    const YAML::Node& map = root;
    return map[name];
  }
};

/// Errors: InvalidArgument with file and line for an unknown section, or if `op` is not the file's
/// name.
OpRecord op_record_of(const YAML::Node& root, const std::string& path);
OpRecord load_op_record(const std::string& path);

}  // namespace phi::yaml
