// MoveWatch: an observer of every reshard that a rank takes part in, with its plan, bytes and time.
//
//   RankContext::current().watch_moves(&watch);   // from here on; null: nobody is told
#pragma once

#include <cstdint>

#include "distributed/reshard/plan.h"
#include "phi/core/dense_tensor.h"

namespace phi {

class MoveWatch {
 public:
  struct Move {
    enum class Part : uint8_t {
      kWhole,   // from its beginning to its end or, across meshes, until its messages are in flight
      kFinish,  // waiting for a reshard in flight, and the remaining steps of its plan
      kStep,    // one step of the plan; reported before the part that it belongs to
    };
    const distributed::ReshardPlan& plan;
    Part part;
    size_t step;  // of kStep
    int64_t nanoseconds;
    int64_t bytes_sent;  // by this rank
    int64_t bytes_received;
  };

  virtual ~MoveWatch() = default;
  /// A reshard begins; `local` is this rank's part of its source. All reports until its end belong
  /// to it.
  virtual void begins(const distributed::ReshardPlan& plan, const DenseTensor& local) = 0;
  virtual void ended(const Move& move) = 0;
};

}  // namespace phi
