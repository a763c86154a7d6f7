// Rows of class scores on a GPU, with their labels.
#pragma once

#include "phi/core/dense_tensor.h"
#include "phi/kernels/functors/hd.h"
#include "phi/kernels/gpu/loss/labels.h"

namespace phi::gpu {

/// Labels of one kind: class weights (`soft`), or class numbers (`hard`).
template <typename T>
struct Targets {
  const T* soft = nullptr;
  HardLabels hard;
};

/// Reads the labels. Errors, at the next host synchronisation: InvalidArgument with the row and its
/// label.
template <typename T>
Targets<T> targets_of(const GpuContext& ctx, const DenseTensor& label, const ClassLayout& layout,
                      const ShardBox& box, bool soft, int ignore_index) {
  Targets<T> targets;
  if (soft) {
    targets.soft = label.data<T>();
    return targets;
  }
  targets.hard = hard_labels(ctx, label, box.global[layout.axis], ignore_index);
  targets.hard.begin = box.box.offset[layout.axis];
  targets.hard.classes = layout.classes;
  return targets;
}

}  // namespace phi::gpu
