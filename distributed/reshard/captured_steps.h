// The steps of a captured program for reshard and distribute.
#pragma once

#include <memory>

#include "distributed/placement/placement.h"
#include "distributed/tensor/dist_tensor.h"
#include "phi/core/box.h"
#include "phi/core/step.h"

namespace phi::distributed {

/// One of the two steps of a captured reshard.
class ReshardPhaseStep {
 public:
  virtual ~ReshardPhaseStep() = default;
  /// Identity of the transfer, the same for both halves.
  virtual const void* transfer_id() const = 0;
};

/// A step that leaves messages in flight. Its arrays must not move until another step has finished
/// it.
class AsyncReshardStep : public ReshardPhaseStep {
 public:
  /// Makes run() complete its messages before it returns, from the next run on. For code that moves
  /// arrays between steps.
  virtual void make_synchronous() = 0;
};

/// The two halves of a reshard. Between them its input must keep its bytes and only the reshard may
/// access its output. `start` is an AsyncReshardStep.
struct CapturedReshard {
  std::unique_ptr<Step> start;
  std::unique_ptr<Step> finish;
};
/// `made` is the result of a dry reshard of `src`.
CapturedReshard capture_reshard(const DistTensor& src, const DistTensor& made);
/// Both halves as one step.
std::unique_ptr<Step> capture_whole_reshard(const DistTensor& src, const DistTensor& made);

/// Copies box `part` of `whole` to `out`.
std::unique_ptr<Step> capture_slice(const DenseTensor& whole, const Box& part,
                                    const DenseTensor& out);
/// Fills `out` with the identity element of a reduction.
std::unique_ptr<Step> capture_fill(ReduceKind kind, const DenseTensor& out);

}  // namespace phi::distributed
