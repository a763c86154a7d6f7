// Sharding rules of Fourier transforms and of framed signals. Dims that are transformed or cut into
// frames must be whole; all others may be split.
#pragma once

#include <cstdint>
#include <vector>

#include "distributed/spmd/rule.h"

namespace phi::distributed {

/// For transforms whose input and output have different extents along the last of `axes`.
SpmdRule FFTGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad,
                          const std::vector<int64_t>& axes);

/// Axis -1: x [*, signal] and frames [*, 1, 1]. Axis 0: x [signal, *] and frames [1, 1, *].
SpmdRule FrameInferSpmd(const TensorSpec& x, int axis);
SpmdRule FrameGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad, int axis);
SpmdRule OverlapAddInferSpmd(const TensorSpec& x, int axis);
SpmdRule OverlapAddGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad, int axis);

}  // namespace phi::distributed
