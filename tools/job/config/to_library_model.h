// Converts a job's model config to the library's.
#pragma once

#include "api/nn/models/config.h"
#include "tools/job/config/config.h"

namespace phi::job {

nn::models::ModelConfig to_library_model(const ModelConfig& model);

}  // namespace phi::job
