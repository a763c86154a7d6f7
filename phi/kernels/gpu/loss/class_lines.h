// Rows of classes on a GPU with what their labels ask of them.
#pragma once

#include "phi/core/dense_tensor.h"
#include "phi/kernels/functors/hd.h"
#include "phi/kernels/gpu/loss/labels.h"

namespace phi::gpu {

/// Labels of one kind: weights of all classes, as `soft`, or the numbers of classes.
template <typename T>
struct Targets {
  const T* soft = nullptr;
  HardLabels hard;
};

/// Errors, where the host waits: InvalidArgument with the row and its label.
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
