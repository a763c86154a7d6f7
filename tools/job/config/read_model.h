// Reads the section `model` of a job file, and checks it against the mesh.
#pragma once

#include <yaml-cpp/yaml.h>

#include "tools/job/config/config.h"

namespace phi::job {

/// Reads the section into config->model.
/// Errors: InvalidArgument as Section, for heads that do not divide d_model, and for kv_heads that
/// do not divide heads.
void read_model(const YAML::Node& node, JobConfig* config);

/// Errors: InvalidArgument if the job's mesh has more stages, or more ranks along tp, than the
/// model can be split into.
void check_model_fits_mesh(const JobConfig& config);

}  // namespace phi::job
