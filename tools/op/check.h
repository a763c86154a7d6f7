// Checking recorded calls, and the list of operators.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "distributed/mesh/process_mesh.h"

namespace phi::op_tool {

struct CheckOptions {
  std::optional<distributed::ProcessMesh> mesh;  // none: in one process
  std::string differences;                       // a file, or a folder of files: known differences
  size_t placements = 4;                         // drawn on the mesh for each call
  bool on_gpus = false;                          // each rank on its own
};

/// Runs the cases of files, or of all files of folders, prints what fails and "N passed, M failed";
/// on GPUs also how many calls have no kernel there. Returns how many failed.
/// Errors: of use_gpu.
int check_recorded(const std::vector<std::string>& paths, const CheckOptions& options,
                   std::FILE* out);

/// "cumsum(x; axis, flatten) -> out", a line for each operator.
void list_operators(std::FILE* out);

}  // namespace phi::op_tool
