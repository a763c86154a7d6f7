// Recorder: what a rank tells of its work while it captures a program, as far as floors below
// handles can tell it. Of calls on handles RankContext::calls() is told.
#pragma once

#include <memory>

#include "phi/core/step.h"

namespace phi {

/// What a handle shows of a value: global meta, this rank's array, and how it is laid out over
/// processes, which means nothing here; null: a plain tensor.
struct ShownValue {
  const TensorMeta& meta;
  const DenseTensor& array;
  const void* layout = nullptr;
};

/// While a rank has one it is dry: tensors get no bytes and kernels do not run.
class Recorder {
 public:
  virtual ~Recorder() = default;
  /// From then on the step's arrays keep their meta and offset but no storage.
  virtual void add(std::unique_ptr<Step> step) = 0;
  /// `to` is `from` under another layout.
  virtual void moved(const ShownValue& from, const ShownValue& to) = 0;
};

}  // namespace phi
