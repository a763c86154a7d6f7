// Events of the reshards that a rank takes part in, which its observers receive
// (phi/core/observer.h). All references are valid during the notification.
#pragma once

#include <cstddef>
#include <cstdint>

#include "distributed/reshard/plan.h"
#include "phi/core/dense_tensor.h"

namespace phi::distributed {

enum class ReshardPhase : uint8_t {
  kWhole,   // from its beginning to its end or, across meshes, until its messages are in flight
  kFinish,  // waiting for a reshard in flight, and the remaining steps of its plan
  kStep,    // one step of the plan, within the phase that it belongs to
};

struct ReshardBegin {
  const ReshardPlan& plan;
  ReshardPhase phase;
  size_t step;               // of kStep
  const DenseTensor* local;  // of kWhole: this rank's part of the source; otherwise null
};

struct ReshardEnd {
  const ReshardPlan& plan;
  ReshardPhase phase;
  size_t step;
  int64_t nanoseconds;
  int64_t bytes_sent;  // by this rank
  int64_t bytes_received;
};

}  // namespace phi::distributed
