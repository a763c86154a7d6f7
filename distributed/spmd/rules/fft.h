// Rules of Fourier transforms and of signals in frames: what is transformed or cut into frames is
// whole, all other dims are split.
#pragma once

#include <cstdint>
#include <vector>

#include "distributed/spmd/rule.h"

namespace phi::distributed {

/// Of transforms whose input and output have different extents along the last of axes.
SpmdRule FFTGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad,
                          const std::vector<int64_t>& axes);

/// Axis -1 has x [*, signal] and frames [*, 1, 1], axis 0 x [signal, *] and frames [1, 1, *].
SpmdRule FrameInferSpmd(const TensorSpec& x, int axis);
SpmdRule FrameGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad, int axis);
SpmdRule OverlapAddInferSpmd(const TensorSpec& x, int axis);
SpmdRule OverlapAddGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad, int axis);

}  // namespace phi::distributed
