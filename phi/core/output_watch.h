// OutputWatch: an observer of the outputs of all kernels that a rank runs.
#pragma once

#include "phi/core/dense_tensor.h"
#include "phi/core/op_def.h"

namespace phi {

class OutputWatch {
 public:
  virtual ~OutputWatch() = default;
  /// Called for each output after a kernel of `op` has run on the calling rank. `output` may be
  /// read.
  virtual void wrote(const OpDef& op, const DenseTensor& output) = 0;
};

}  // namespace phi
