// Checks recorded calls, and lists the operators.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "distributed/mesh/process_mesh.h"

namespace phi::op_tool {

struct CheckOptions {
  std::optional<distributed::ProcessMesh> mesh;  // nullopt: one process
  std::string differences;                       // file or folder of files with known differences
  size_t placements = 4;                         // random choices on the mesh for each call
  bool on_gpus = false;                          // each rank uses its own GPU
};

/// Runs the cases of files, or of all files of folders. Prints failures and "N passed, M failed";
/// on GPUs also the number of calls without a kernel there. Returns the number of failures.
/// Errors: those of use_gpu.
int check_recorded(const std::vector<std::string>& paths, const CheckOptions& options,
                   std::FILE* out);

/// Prints a line for each operator: "cumsum(x; axis, flatten) -> out".
void list_operators(std::FILE* out);

}  // namespace phi::op_tool
