// The model that a job describes, in the words of the library.
#pragma once

#include "api/nn/models/config.h"
#include "tools/job/config/config.h"

namespace phi::job {

nn::models::ModelConfig library_model(const ModelConfig& model);

}  // namespace phi::job
