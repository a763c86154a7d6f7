// Sharding rules of ops on image windows: pooling, unfold and fold, interpolation, sampling.
//
// Images n and channels c are independent and may be split. Spatial dims must be whole, because a
// window reaches into the neighbour's part. Rules of linear ops pass partial values.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "distributed/spmd/rule.h"
#include "phi/core/attribute.h"

namespace phi::distributed {

/// x [n, c, ...] (or channels last) -> out. Averages pass partial sums.
SpmdRule PoolInferSpmd(const TensorSpec& x, const std::string& data_format,
                       const std::string& pooling_type);
/// x and out_grad are sharded alike -> x_grad.
SpmdRule PoolGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad,
                           const std::string& data_format);
/// p-norms of windows, and their gradient.
SpmdRule LpPoolInferSpmd(const TensorSpec& x, const std::string& data_format);
SpmdRule LpPoolGradInferSpmd(const TensorSpec& x, const TensorSpec& out, const TensorSpec& out_grad,
                             const std::string& data_format);
/// x [n, c, ...] -> out and mask.
SpmdRule MaxPoolWithIndexInferSpmd(const TensorSpec& x);
/// x, mask and out_grad are sharded alike -> x_grad.
SpmdRule MaxPoolWithIndexGradInferSpmd(const TensorSpec& x, const TensorSpec& mask,
                                       const TensorSpec& out_grad);
/// x and indices [n, c, ...] -> out.
SpmdRule UnpoolInferSpmd(const TensorSpec& x, const TensorSpec& indices);

/// x [n, c, h, w] -> [n, c * taps, positions]. Channels are split only over mesh dims that divide
/// their number.
SpmdRule UnfoldInferSpmd(const TensorSpec& x);
/// x [n, c * taps, positions] -> [n, c, h, w], with the same condition.
SpmdRule FoldInferSpmd(const TensorSpec& x, const std::vector<int>& kernel_sizes);

/// x [n, c, ...] (or channels last) -> output. If a tensor determines the sizes, the output is
/// replicated.
SpmdRule InterpInferSpmd(const TensorSpec& x, const TensorSpec* out_size,
                         std::span<const TensorSpec> size_tensor, const TensorSpec* scale_tensor,
                         const std::string& data_format);
SpmdRule InterpGradInferSpmd(const TensorSpec& x, const TensorSpec* scale_tensor,
                             const TensorSpec& output_grad, const std::string& data_format);

/// Samples x [n, c, ...] at grid [n, places..., coordinates] -> [n, c, places...]. Places may be
/// split too.
SpmdRule GridSampleInferSpmd(const TensorSpec& x, const TensorSpec& grid);
/// The gradient of x is Partial(sum) where places are split, that of grid where c is.
SpmdRule GridSampleGradInferSpmd(const TensorSpec& x, const TensorSpec& grid,
                                 const TensorSpec& out_grad);
/// input [n, ...] -> [n, places..., coordinates].
SpmdRule AffineGridInferSpmd(const TensorSpec& input, const IntArray& output_shape);
/// output_grad [n, ...] -> gradient of input [n, ...].
SpmdRule AffineGridGradInferSpmd(const TensorSpec& input, const TensorSpec& output_grad);

}  // namespace phi::distributed
