// Max and average pooling with plain, adaptive and global windows, and their gradients. A rank has
// whole images of some channels. Device primitives: pool and pool_grad of PoolImages.
#pragma once

#include <string>
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/pool.h"
#include "phi/kernels/windowed/pool_images.h"

namespace phi {
namespace {

/// Kernels whose window sizes have the type Sizes.
template <typename Sizes>
struct Pooling {
  /// Averages include padding unless `exclusive` or adaptive.
  template <typename T, typename Context>
  static void forward(const Context& ctx, const DenseTensor& x, const Sizes& kernel_size,
                      const std::vector<int>& strides, const std::vector<int>& paddings,
                      bool ceil_mode, bool exclusive, const std::string& data_format,
                      const std::string& pooling_type, bool global_pooling, bool adaptive,
                      const std::string& padding_algorithm, DenseTensor* out) {
    const PoolImages images = pool_images(x, data_format,
                                          {entries(kernel_size), strides, paddings, ceil_mode,
                                           global_pooling, adaptive, padding_algorithm});
    pool<T>(ctx, images, pooling_type == "max", !exclusive, x, out);
  }

  template <typename T, typename Context>
  static void gradient(const Context& ctx, const DenseTensor& x, const DenseTensor& out_grad,
                       const Sizes& kernel_size, const std::vector<int>& strides,
                       const std::vector<int>& paddings, bool ceil_mode, bool exclusive,
                       const std::string& data_format, const std::string& pooling_type,
                       bool global_pooling, bool adaptive, const std::string& padding_algorithm,
                       DenseTensor* x_grad) {
    const PoolImages images = pool_images(x, data_format,
                                          {entries(kernel_size), strides, paddings, ceil_mode,
                                           global_pooling, adaptive, padding_algorithm});
    pool_grad<T>(ctx, images, pooling_type == "max", !exclusive, x, out_grad, x_grad);
  }
};

}  // namespace

PHI_REGISTER_KERNEL(pool2d, PHI_DEVICE, Pooling<IntArray>::forward, Floats);
PHI_REGISTER_KERNEL(pool3d, PHI_DEVICE, Pooling<std::vector<int>>::forward, Floats);
PHI_REGISTER_KERNEL(pool2d_grad, PHI_DEVICE, Pooling<IntArray>::gradient, Floats);
PHI_REGISTER_KERNEL(pool3d_grad, PHI_DEVICE, Pooling<std::vector<int>>::gradient, Floats);

}  // namespace phi
