// MoveRecorder: is told of tensors that change their layout while a rank captures a program.
#pragma once

#include "distributed/tensor/dist_tensor.h"
#include "phi/core/rank_context.h"
#include "phi/core/step.h"

namespace phi::distributed {

class MoveRecorder {
 public:
  virtual ~MoveRecorder() = default;
  /// `to` is `from` under other placements or on another mesh.
  virtual void moved(const DistTensor& from, const DistTensor& to) = 0;
  /// `to` is `whole`, which every rank has.
  virtual void laid_out(const DenseTensor& whole, const DistTensor& to) = 0;

  /// Of the calling rank; null unless it captures a program.
  static MoveRecorder* current() {
    return dynamic_cast<MoveRecorder*>(RankContext::current().recorder());
  }
};

}  // namespace phi::distributed
