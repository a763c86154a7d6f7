// The steps that reshard and distribute are in a captured program.
#pragma once

#include <memory>

#include "distributed/placement/placement.h"
#include "distributed/tensor/dist_tensor.h"
#include "phi/core/box.h"
#include "phi/core/step.h"

namespace phi::distributed {

/// One of the two steps of a reshard.
class HalfReshard {
 public:
  virtual ~HalfReshard() = default;
  /// The same for both.
  virtual const void* under_way() const = 0;
};

/// A step that leaves something under way, with arrays that must stay where they are until another
/// step has finished it.
class OverlappingStep : public HalfReshard {
 public:
  /// From now on nothing is left under way: for who moves arrays between steps.
  virtual void finish_at_once() = 0;
};

/// The two halves of a reshard. Between them its input must keep its bytes, and its output belongs
/// to it. The first is an OverlappingStep.
struct RecordedReshard {
  std::unique_ptr<Step> start;
  std::unique_ptr<Step> finish;
};
/// `made`: what a dry reshard of `src` gave.
RecordedReshard record_reshard(const DistTensor& src, const DistTensor& made);
/// Both halves at once.
std::unique_ptr<Step> record_whole_reshard(const DistTensor& src, const DistTensor& made);

/// The copy of box `part` of `whole` to `out`.
std::unique_ptr<Step> recorded_slice(const DenseTensor& whole, const Box& part,
                                     const DenseTensor& out);
/// `out` filled with the value that changes nothing in a reduction.
std::unique_ptr<Step> recorded_fill(ReduceKind kind, const DenseTensor& out);

}  // namespace phi::distributed
