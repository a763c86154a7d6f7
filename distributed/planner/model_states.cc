// ZeRO: each state is whole or sharded.
#include "distributed/planner/model_states.h"

#include "phi/common/errors.h"

namespace phi::distributed {

double model_state_bytes(double parameters, ZeroStage stage, int64_t ranks,
                         const StateBytes& bytes) {
  PHI_CHECK(parameters >= 0, errors::InvalidArgument(
                                 "model_state_bytes: parameters is {}, must be >= 0.", parameters));
  PHI_CHECK(ranks >= 1,
            errors::InvalidArgument("model_state_bytes: ranks is {}, must be >= 1.", ranks));
  const auto share = [&](ZeroStage split_from) {
    return stage >= split_from ? 1.0 / static_cast<double>(ranks) : 1.0;
  };
  return parameters * (bytes.parameter * share(ZeroStage::kParameters) +
                       bytes.gradient * share(ZeroStage::kGradients) +
                       bytes.optimizer * share(ZeroStage::kOptimizer));
}

double communicated_elements(double parameters, ZeroStage stage) {
  return (stage == ZeroStage::kParameters ? 3 : 2) * parameters;
}

}  // namespace phi::distributed
