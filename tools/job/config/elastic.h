// Elastic meshes: how many processes a job is started with, and on which mesh, given how many there
// is room for.
//
//   const auto placing = place(config, "", slots);     // dp of 4 along 8 slots, pp=2: "dp=4,pp=2"
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tools/job/config/config.h"

namespace phi::job {

struct Placing {
  int64_t ranks = 1;
  std::string mesh{};  // for --mesh; empty: the job has one, or one rank runs it as it is
};

/// The mesh of the job, `mesh_flag` before the file's; without one all ranks are along dp. Where
/// elastic.dp gives a range, dp is the most of it that there is room for and that divides the rows
/// of a micro-batch, so that each rank has equally many, and the batch stays what it is. Nothing if
/// `slots` have room for no such mesh. Errors: InvalidArgument if the job does not fit the mesh.
std::optional<Placing> place(const JobConfig& config, const std::string& mesh_flag, int64_t slots);

}  // namespace phi::job
