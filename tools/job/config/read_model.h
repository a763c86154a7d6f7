// Reads the section `model` of a job file, and checks it against the mesh.
#pragma once

#include <yaml-cpp/yaml.h>

#include "tools/job/config/config.h"

namespace phi::job {

/// Loads the libraries in config->models, then reads the section into config->model by the row of
/// its kind.
/// Errors: InvalidArgument as Section, for a kind that does not exist, for values that the row
/// refuses, and for a library that cannot be loaded.
void read_model(const YAML::Node& node, JobConfig* config);

/// Errors: InvalidArgument if the job's mesh has more stages, or more ranks along tp, than the
/// model can be split into, or a dim along which models of this kind cannot be split.
void check_model_fits_mesh(const JobConfig& config);

}  // namespace phi::job
