// 2-D convolution of images.
#pragma once

#include "api/nn/module.h"

namespace phi::nn {

struct Conv2dOptions {
  int stride = 1;
  int padding = 0;
  int dilation = 1;
  int groups = 1;
  bool bias = true;  // initially zeros
                     // nullptr: normal with variance 2 / (elements of a window) (He et al. 2015)
  Initialiser weight = nullptr;
};

/// Maps x [B,in,H,W] to [B,out,..] with a kernel of `size` x `size`; parameters `weight` [out, in /
/// groups, size, size] and `bias` [out].
/// Errors: InvalidArgument for groups that do not divide the channels.
class Conv2d final : public Layer {
 public:
  Conv2d(Module& parent, const Name& name, int64_t in, int64_t out, int64_t size,
         const Conv2dOptions& options = {});
  Tensor forward(const Tensor& x) const override;

 private:
  Conv2dOptions options_;
  const Tensor& weight_;
  const Tensor* bias_;  // null: none
};

}  // namespace phi::nn
