// Files of recorded calls: FILE.yaml, and FILE.safetensors with the tensors.
#pragma once

#include <string>
#include <vector>

#include "api/testing/recorded_call.h"

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
  std::vector<RecordedCase> cases;
};

/// Errors: InvalidArgument with file and line for an invalid file; NotFound if there is no operator
/// or function of its name.
RecordedFile load_recorded(const std::string& path);

}  // namespace phi::op_tool
