// Elastic meshes: the number of processes and the mesh with which a job is started, for a number of
// available slots.
//
//   const auto launch_size = choose_launch_size(config, "", slots);  // 8 slots, pp=2: "dp=4,pp=2"
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tools/job/config/config.h"

namespace phi::job {

struct LaunchSize {
  int64_t ranks = 1;
  std::string mesh{};  // for --mesh; empty: the job has one, or runs on one rank
};

/// The mesh of the job: `mesh_flag`, else the file's, else all ranks along dp. If elastic.dp has a
/// range, dp is its largest value that fits into `slots` and divides the rows of a micro-batch, so
/// that ranks have equal shares and the batch does not change. Nothing if no such mesh fits.
/// Errors: InvalidArgument if the job does not fit the mesh.
std::optional<LaunchSize> choose_launch_size(const JobConfig& config, const std::string& mesh_flag,
                                             int64_t slots);

}  // namespace phi::job
