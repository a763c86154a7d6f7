// Operators of two tensors that are composed of other operators.
#include "api/autograd/composites/binary.h"

#include <algorithm>

#include "api/autograd/sum_to_shape.h"
#include "api/generated/ops/assign.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/mean.h"
#include "api/generated/ops/multiply.h"
#include "api/generated/ops/p_norm.h"
#include "api/generated/ops/reshape.h"
#include "api/generated/ops/subtract.h"
#include "api/generated/ops/sum.h"
#include "phi/common/errors.h"

namespace phi::composite {
namespace {

Tensor as_shape(const Tensor& x, const Dims& dims) {
  return x.shape() == dims ? x : reshape(x, dims);
}

// The shapes to which kron reshapes x and y, so that their broadcast product has the elements of
// the Kronecker product in order, and the shape of the result.
struct KronShapes {
  Dims x, y, out;
  KronShapes(const Dims& of_x, const Dims& of_y) {
    const int ndim = std::max(of_x.ndim(), of_y.ndim());
    for (int d = 0; d < ndim; ++d) {
      const int in_x = d - (ndim - of_x.ndim());
      const int in_y = d - (ndim - of_y.ndim());
      append(in_x < 0 ? 1 : of_x[in_x], in_y < 0 ? 1 : of_y[in_y], of_x, of_y);
    }
  }

 private:
  // Interleaves an extent of x with one of y. If one of them is 1, they share a dim.
  void append(int64_t a, int64_t b, const Dims& of_x, const Dims& of_y) {
    out.push_back(a * b);
    const bool apart = a != 1 && b != 1;
    PHI_CHECK(x.ndim() + apart < kMaxNdim,
              errors::InvalidArgument("x is {} and y is {}: their product needs more than {} dims "
                                      "as an intermediate; merge some of them.",
                                      of_x.to_string(), of_y.to_string(), kMaxNdim));
    x.push_back(a);
    if (apart) {
      x.push_back(1);
      y.push_back(1);
    }
    y.push_back(b);
  }
};

}  // namespace

std::tuple<Tensor, Tensor> lerp_grad(const Tensor& x, const Tensor& y, const Tensor& weight,
                                     const Tensor& out_grad, GradMask wanted) {
  std::tuple<Tensor, Tensor> grads;
  const Tensor share = multiply(out_grad, weight);
  if (wanted[0]) std::get<0>(grads) = sum_to_shape(subtract(out_grad, share), x);
  if (wanted[1]) std::get<1>(grads) = sum_to_shape(share, y);
  return grads;
}

Tensor kron(const Tensor& x, const Tensor& y) {
  const KronShapes shapes(x.shape(), y.shape());
  // In reshape an extent of 0 means the input's extent.
  if (shapes.out.known() && shapes.out.numel() == 0) return full(shapes.out, 0.0, x.dtype());
  return as_shape(multiply(as_shape(x, shapes.x), as_shape(y, shapes.y)), shapes.out);
}

Tensor dist(const Tensor& x, const Tensor& y, float p) {
  return p_norm(subtract(x, y), p, /*axis=*/-1, /*epsilon=*/0.0f, /*keepdim=*/false,
                /*asvector=*/true);
}

Tensor identity_loss(const Tensor& x, int reduction) {
  PHI_CHECK(reduction >= 0 && reduction <= 2,
            errors::InvalidArgument("reduction is {} for x {}; use 0 (sum), 1 (mean) or 2 (none).",
                                    reduction, x.shape().to_string()));
  if (reduction == 2) return assign(x);
  return reduction == 0 ? sum(x) : mean(x);
}

}  // namespace phi::composite
