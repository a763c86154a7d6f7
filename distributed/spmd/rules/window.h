// Rules of windows over images: pooling, unfold and fold, interpolation, sampling.
//
// Images n and channels c are independent and may be split; spatial dims must be whole, for a
// window reaches into the neighbour's part. What is linear passes partial values on.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "distributed/spmd/rule.h"
#include "phi/core/attribute.h"

namespace phi::distributed {

/// x [n, c, ...] (or channels last) -> out. Averages pass partial sums on.
SpmdRule PoolInferSpmd(const TensorSpec& x, const std::string& data_format,
                       const std::string& pooling_type);
/// x and out_grad alike -> x_grad.
SpmdRule PoolGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad,
                           const std::string& data_format);
/// The norms of windows, and their gradient.
SpmdRule LpPoolInferSpmd(const TensorSpec& x, const std::string& data_format);
SpmdRule LpPoolGradInferSpmd(const TensorSpec& x, const TensorSpec& out, const TensorSpec& out_grad,
                             const std::string& data_format);
/// x [n, c, ...] -> out and mask.
SpmdRule MaxPoolWithIndexInferSpmd(const TensorSpec& x);
/// x, mask and out_grad alike -> x_grad.
SpmdRule MaxPoolWithIndexGradInferSpmd(const TensorSpec& x, const TensorSpec& mask,
                                       const TensorSpec& out_grad);
/// x and indices [n, c, ...] -> out.
SpmdRule UnpoolInferSpmd(const TensorSpec& x, const TensorSpec& indices);

/// x [n, c, h, w] -> [n, c * taps, positions]. Channels are split over mesh dims that divide their
/// number.
SpmdRule UnfoldInferSpmd(const TensorSpec& x);
/// x [n, c * taps, positions] -> [n, c, h, w], likewise.
SpmdRule FoldInferSpmd(const TensorSpec& x, const std::vector<int>& kernel_sizes);

/// x [n, c, ...] (or channels last) -> output. Sizes that tensors give make it replicated.
SpmdRule InterpInferSpmd(const TensorSpec& x, const TensorSpec* out_size,
                         std::span<const TensorSpec> size_tensor, const TensorSpec* scale_tensor,
                         const std::string& data_format);
SpmdRule InterpGradInferSpmd(const TensorSpec& x, const TensorSpec* scale_tensor,
                             const TensorSpec& output_grad, const std::string& data_format);

/// x [n, c, ...] at the places grid [n, places..., coordinates] -> [n, c, places...]; places may be
/// split too.
SpmdRule GridSampleInferSpmd(const TensorSpec& x, const TensorSpec& grid);
/// That of x is Partial(sum) where places are split, that of grid where c is.
SpmdRule GridSampleGradInferSpmd(const TensorSpec& x, const TensorSpec& grid,
                                 const TensorSpec& out_grad);
/// input [n, ...] -> [n, places..., coordinates].
SpmdRule AffineGridInferSpmd(const TensorSpec& input, const IntArray& output_shape);
/// output_grad [n, ...] -> that of input [n, ...].
SpmdRule AffineGridGradInferSpmd(const TensorSpec& input, const TensorSpec& output_grad);

}  // namespace phi::distributed
