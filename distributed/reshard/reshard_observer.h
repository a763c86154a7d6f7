// ReshardObserver: an observer of every reshard that a rank takes part in, with its plan, bytes and
// time.
//
//   RankContext::current().set_reshard_observer(&observer);  // null removes it
#pragma once

#include <cstdint>

#include "distributed/reshard/plan.h"
#include "phi/core/dense_tensor.h"

namespace phi {

class ReshardObserver {
 public:
  struct Span {
    enum class Phase : uint8_t {
      kWhole,   // from its beginning to its end or, across meshes, until its messages are in flight
      kFinish,  // waiting for a reshard in flight, and the remaining steps of its plan
      kStep,    // one step of the plan; reported before the part that it belongs to
    };
    const distributed::ReshardPlan& plan;
    Phase phase;
    size_t step;  // of kStep
    int64_t nanoseconds;
    int64_t bytes_sent;  // by this rank
    int64_t bytes_received;
  };

  virtual ~ReshardObserver() = default;
  /// A reshard begins; `local` is this rank's part of its source. All reports until its end belong
  /// to it.
  virtual void on_begin(const distributed::ReshardPlan& plan, const DenseTensor& local) = 0;
  virtual void on_end(const Span& move) = 0;
};

}  // namespace phi
