// OutputWatch: sees what every kernel of a rank has written, when it has written it.
#pragma once

#include "phi/core/dense_tensor.h"
#include "phi/core/op_def.h"

namespace phi {

class OutputWatch {
 public:
  virtual ~OutputWatch() = default;
  /// `output` of a kernel of `op` that has just run on the calling rank; it may be read.
  virtual void wrote(const OpDef& op, const DenseTensor& output) = 0;
};

}  // namespace phi
