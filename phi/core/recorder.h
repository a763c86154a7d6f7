// Recorder: what a rank tells of its work while it captures a program, as far as floors below
// handles can tell it. Of calls on handles RankContext::calls() is told.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "phi/core/step.h"

namespace phi {

/// What a handle shows of a value: global meta, this rank's array, and how it is laid out over
/// processes, which means nothing here; null: a plain tensor.
struct ShownValue {
  const TensorMeta& meta;
  const DenseTensor& array;
  const void* layout = nullptr;
};

/// A launch whose seed each run draws: of which operator, which of the kernel's arguments it is,
/// and the number of the draw, counted from the beginning of a run.
struct DrawAtRun {
  const void* op;
  size_t slot;
  uint64_t number;
};

/// While a rank has one it is dry: tensors get no bytes and kernels do not run.
class Recorder {
 public:
  virtual ~Recorder() = default;
  /// From then on the step's arrays keep their meta and offset but no storage.
  virtual void add(std::unique_ptr<Step> step) = 0;
  /// `to` is `from` under another layout.
  virtual void moved(const ShownValue& from, const ShownValue& to) = 0;

  /// Of the call that runs now; nothing unless its seed was left out.
  std::optional<DrawAtRun> draw_at_run = std::nullopt;
  /// Set by calls whose values follow the number of the micro-batch that they run in, as dropout's
  /// do. A run of the program has no such number.
  bool follows_pass = false;
};

}  // namespace phi
