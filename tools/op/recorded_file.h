// Files of recorded calls: FILE.yaml, and FILE.safetensors with the tensors. FILE.yaml is a file of
// recorded calls alone, or a record of an operator with a section of them
// (tools/op_record/op_record.h).
#pragma once

#include <set>
#include <string>
#include <vector>

#include "api/testing/recorded_call.h"
#include "phi/yaml/yaml_map.h"

namespace phi::op_tool {

struct RecordedCase {
  int id = 0;
  int line = 0;
  testing::RecordedCall call;
};

struct RecordedFile {
  std::string path;
  std::string op;
  testing::CallNames names;
  std::vector<RecordedCase> cases;  // none in a record without recorded calls
  std::set<int> differences;        // ids of cases with a known difference, of which a record tells
};

/// Reads an entry of a list of differences, {ids: [0, 2], when: .., why: ..}. Errors:
/// InvalidArgument if it has no reason or an unknown key.
void add_difference(yaml::YamlMap& entry, std::set<int>& ids);

/// Errors: InvalidArgument with file and line for an invalid file; NotFound if there is no operator
/// or function of its name.
RecordedFile load_recorded(const std::string& path);

}  // namespace phi::op_tool
