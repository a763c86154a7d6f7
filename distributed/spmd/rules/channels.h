// Sharding rules of ops that work per channel, and of bilinear.
#pragma once

#include <string>

#include "distributed/spmd/rule.h"

namespace phi::distributed {

/// x may be split along all its dims: the kernel combines statistics over the dims that a channel
/// extends along, so they are whole. Outputs: out, mean_out, variance_out, saved_mean,
/// saved_variance. BatchNormInferSpmd is the reference's rule, which keeps the batch whole.
SpmdRule BatchStatisticsInferSpmd(const TensorSpec& x, const TensorSpec& mean,
                                  const TensorSpec& variance, const TensorSpec* scale,
                                  const TensorSpec* bias, const std::string& data_format);
SpmdRule BatchStatisticsGradInferSpmd(const TensorSpec& x, const TensorSpec* scale,
                                      const TensorSpec* bias, const TensorSpec& saved_mean,
                                      const TensorSpec& saved_variance, const TensorSpec& out_grad,
                                      const std::string& data_format);
SpmdRule AffineChannelInferSpmd(const TensorSpec& x, const TensorSpec& scale,
                                const TensorSpec& bias, const std::string& data_layout);
/// The gradients of scale and bias are Partial(sum) where x is split along its other dims.
SpmdRule AffineChannelGradInferSpmd(const TensorSpec& x, const TensorSpec& scale,
                                    const TensorSpec& bias, const TensorSpec& out_grad,
                                    const std::string& data_layout);

/// x [n, i], y [n, j], weight [k, i, j]. Without a bias, i and j may be split and the output is
/// partial. With a bias they must be whole, because every rank would add the bias.
SpmdRule BilinearInferSpmd(const TensorSpec& x, const TensorSpec& y, const TensorSpec& weight,
                           const TensorSpec* bias);
SpmdRule BilinearGradInferSpmd(const TensorSpec& x, const TensorSpec& y, const TensorSpec& weight,
                               const TensorSpec* bias, const TensorSpec& out_grad);

}  // namespace phi::distributed
