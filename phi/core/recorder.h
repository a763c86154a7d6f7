// Recorder: receives a rank's steps, moves and aliases while the rank captures a program. Calls are
// reported to the rank's observers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "phi/core/step.h"

namespace phi {

class Tensor;

/// The value of a handle: global metadata, this rank's array, and the distributed attribute.
/// `layout` is opaque at this level; it is null for a plain tensor.
struct ShownValue {
  const TensorMeta& meta;
  const DenseTensor& array;
  const void* layout = nullptr;
};

/// A launch whose seed is drawn anew in each run of the program.
struct DrawAtRun {
  const void* op;
  size_t slot;      // index of the seed among the kernel's arguments
  uint64_t number;  // number of the draw, counted from the beginning of a run
};

/// A rank that has a recorder is dry: tensors have no bytes and kernels do not run.
class Recorder {
 public:
  virtual ~Recorder() = default;
  /// Receives a step. The recorder removes the storages of the step's arrays and keeps their
  /// metadata and offset.
  virtual void add(std::unique_ptr<Step> step) = 0;
  /// Reports that `to` has the value of `from` under another layout.
  virtual void moved(const ShownValue& from, const ShownValue& to) = 0;
  /// Reports that the program uses x. Needed for moves, which are reported without handles: a
  /// parameter is identified by the handle of its first use.
  virtual void used(const Tensor& x) = 0;
  /// Reports that `to` has the value of `from` although it does not share its bytes.
  virtual void alias(const Tensor& from, const Tensor& to) = 0;

  /// The draw of the current call; nullopt if the call has an explicit seed.
  std::optional<DrawAtRun> draw_at_run = std::nullopt;
  /// Set by calls whose values depend on the number of the current micro-batch, such as dropout. A
  /// run of the program has no such number.
  bool follows_pass = false;
};

}  // namespace phi
