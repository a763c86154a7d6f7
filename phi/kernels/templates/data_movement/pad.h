// Padding by a value or by elements of the array.
#pragma once

#include <algorithm>

#include "phi/common/inexact.h"
#include "phi/generated/kernels/data_movement.h"
#include "phi/infermeta/data_movement.h"
#include "phi/kernels/functors/scalar_value.h"
#include "phi/kernels/pieces.h"

namespace phi {
namespace {

/// The source index, of `extent`, for position `at` relative to the first element in a padded
/// tensor dim; negative if there is none.
int64_t padded_source(const std::string& mode, int64_t at, int64_t extent) {
  if (at >= 0 && at < extent) return at;
  if (mode == "reflect") return at < 0 ? -at : 2 * (extent - 1) - at;
  if (mode == "replicate") return std::clamp<int64_t>(at, 0, extent - 1);
  if (mode == "circular") return (at % extent + extent) % extent;
  return -1;
}

/// Pads the three inner tensor dims, from `first` on.
Pieces padded(const Dims& x, const Dims& out, const IntArray& paddings, const std::string& mode,
              const std::string& data_format) {
  const int first = first_padded_dim(data_format);
  const std::vector<Padding> by_dim = paddings_by_dim(paddings);
  const Dims x_strides = x.strides();
  const Dims out_strides = out.strides();
  Pieces pieces;
  for (int d = 0; d < x.ndim(); ++d) {
    const Strides strides{out_strides[d], x_strides[d]};
    if (d < first || d >= first + 3) {
      pieces.append(x[d], strides);
      continue;
    }
    const int64_t before = by_dim[static_cast<size_t>(d - first)].before;
    pieces.append(runs_of(out[d], [&](int64_t i) { return padded_source(mode, i - before, x[d]); }),
                  strides);
  }
  return pieces;
}

}  // namespace

template <typename T, typename Context>
void PadKernel(const Context& ctx, const DenseTensor& x, const std::vector<int>& paddings,
               const Scalar& pad_value, DenseTensor* out) {
  if (out->dims() != x.dims()) {
    fill(ctx, out->mutable_data<T>(), out->numel(), scalar_value<T>(pad_value));
  }
  const Dims x_strides = x.dims().strides();
  const Dims out_strides = out->dims().strides();
  Pieces pieces;
  for (int d = 0; d < x.ndim(); ++d) {
    const int64_t before = paddings[static_cast<size_t>(2 * d)];
    pieces.append({{before, 0, x.dims()[d], 1}}, {out_strides[d], x_strides[d]});
  }
  copy_pieces<T>(ctx, pieces, x, out);
}

template <typename T, typename Context>
void Pad3dKernel(const Context& ctx, const DenseTensor& x, const IntArray& paddings,
                 const std::string& mode, double pad_value, const std::string& data_format,
                 DenseTensor* out) {
  const bool is_constant = mode == "constant";
  if (is_constant || x.numel() == 0) {  // an empty x is padded with zeros
    fill(ctx, out->mutable_data<T>(), out->numel(),
         scalar_value<T>(Scalar(is_constant ? pad_value : 0.0)));
  }
  if (x.numel() == 0 || out->numel() == 0) return;
  copy_pieces<T>(ctx, padded(x.dims(), out->dims(), paddings, mode, data_format), x, out);
}

template <typename T, typename Context>
void Pad3dGradKernel(const Context& ctx, const DenseTensor& out_grad, const IntArray& paddings,
                     const std::string& mode, const std::string& data_format, DenseTensor* x_grad) {
  if (x_grad->numel() == 0) return;
  const Pieces pieces = padded(x_grad->dims(), out_grad.dims(), paddings, mode, data_format);
  if (mode == "constant") {
    copy_pieces_back<T>(ctx, pieces, out_grad, x_grad);
  } else {
    sum_pieces_back<T>(ctx, pieces, out_grad, x_grad);
  }
}

PHI_REGISTER_KERNEL(pad, PHI_DEVICE, PadKernel, EveryType);
PHI_REGISTER_KERNEL(pad3d, PHI_DEVICE, Pad3dKernel, EveryType);
PHI_REGISTER_KERNEL(pad3d_grad, PHI_DEVICE, Pad3dGradKernel, Inexact);

}  // namespace phi
