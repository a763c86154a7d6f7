// The section `model` of a job file, and whether a mesh can hold the model.
#pragma once

#include <yaml-cpp/yaml.h>

#include "tools/job/config/config.h"

namespace phi::job {

/// Reads the section into config->model. Errors: InvalidArgument as Section; for heads that do not
/// divide.
void read_model(const YAML::Node& node, JobConfig* config);

/// Errors: InvalidArgument where the job's mesh has more stages or more ranks along tp than the
/// model can be shared out to.
void check_model_fits_mesh(const JobConfig& config);

}  // namespace phi::job
