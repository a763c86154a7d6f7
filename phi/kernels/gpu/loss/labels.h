// Class labels on a GPU: the check for invalid ones, and the local column of a row's class.
#pragma once

#include <cstdint>

#include "phi/kernels/gpu/check_elements.h"
#include "phi/kernels/gpu/lines.h"
#include "phi/kernels/templates/loss/classes.h"

namespace phi::gpu {

struct IsInvalidLabel {
  int64_t classes;
  int64_t ignored;
  PHI_HD bool operator()(int64_t label) const {
    return label != ignored && (label < 0 || label >= classes);
  }
};

/// Labels of rows, int32 or int64.
struct HardLabels {
  const int32_t* narrow = nullptr;
  const int64_t* wide = nullptr;
  int64_t ignored = 0;
  int64_t begin = 0;  // first class of this rank's shard
  int64_t classes = 0;

  __device__ int64_t label(int64_t r) const { return narrow ? narrow[r] : wide[r]; }
  __device__ bool is_ignored(int64_t r) const { return label(r) == ignored; }
  /// Local column of row r's class; -1 if the class is on another rank, ignored or invalid.
  __device__ int64_t here(int64_t r) const {
    const int64_t place = label(r) - begin;
    return !is_ignored(r) && place >= 0 && place < classes ? place : -1;
  }
};

/// Reads the labels. Errors, at the next host synchronisation: InvalidArgument with the row and its
/// label.
inline HardLabels hard_labels(const GpuContext& ctx, const DenseTensor& label,
                              int64_t global_classes, int64_t ignore_index) {
  HardLabels labels;
  labels.ignored = ignore_index;
  DeviceAssertion assertion{.argument = "label", .raise = [](const DeviceAssertion& found) {
                              throw_wrong_label(found.at, found.value, found.extent, found.ignored);
                            }};
  assertion.extent = global_classes;
  assertion.ignored = ignore_index;
  const IsInvalidLabel wrong{global_classes, ignore_index};
  if (label.dtype() == DataType::INT32) {
    labels.narrow = label.data<int32_t>();
    check_elements<int32_t>(ctx, label, wrong, assertion);
  } else {
    labels.wide = label.data<int64_t>();
    check_elements<int64_t>(ctx, label, wrong, assertion);
  }
  return labels;
}

}  // namespace phi::gpu
