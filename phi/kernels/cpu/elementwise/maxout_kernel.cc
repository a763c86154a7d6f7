// maxout and label_smooth on the CPU. I. Goodfellow et al., "Maxout Networks", 2013.
#include <algorithm>

#include "phi/generated/kernels/activation.h"
#include "phi/infermeta/axes.h"
#include "phi/kernels/cpu/convert.h"

namespace phi {
namespace {

/// x as [outer, joined, groups, inner], out as [outer, joined, inner].
struct MaxOutBlocks {
  MaxOutBlocks(const Dims& x, int groups_of_x, int axis) : groups(groups_of_x) {
    const int d = normalise_axis(axis, x.ndim(), x);
    rows = x.numel(0, d) * (x[d] / groups);
    inner = x.numel(d + 1, x.ndim());
  }
  int64_t rows;
  int64_t groups;
  int64_t inner;
};

}  // namespace

/// The largest of each `groups` neighbours along `axis`; NaN wins.
template <typename T, typename Context>
void MaxOutKernel(const Context&, const DenseTensor& x, int groups, int axis, DenseTensor* out) {
  using C = compute_t<T>;
  const MaxOutBlocks blocks(x.dims(), groups, axis);
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  for (int64_t r = 0; r < blocks.rows; ++r, to += blocks.inner) {
    std::copy_n(from, blocks.inner, to);
    from += blocks.inner;
    for (int64_t g = 1; g < blocks.groups; ++g, from += blocks.inner) {
      for (int64_t i = 0; i < blocks.inner; ++i) {
        const C most = convert_value<C>(to[i]);
        const C other = convert_value<C>(from[i]);
        const bool stays = most >= other || most != most;
        to[i] = stays ? to[i] : from[i];
      }
    }
  }
}

/// To the first of the neighbours that is the largest; to the first NaN where one is NaN.
template <typename T, typename Context>
void MaxOutGradKernel(const Context&, const DenseTensor& x, const DenseTensor& out,
                      const DenseTensor& out_grad, int groups, int axis, DenseTensor* x_grad) {
  using C = compute_t<T>;
  const MaxOutBlocks blocks(x.dims(), groups, axis);
  const int64_t stride = blocks.inner;
  const T* xs = x.data<T>();
  T* to = x_grad->mutable_data<T>();
  std::fill_n(to, x_grad->numel(), T(0));
  for (int64_t at = 0; at < blocks.rows * stride; ++at) {
    const int64_t first = at / stride * stride * blocks.groups + at % stride;
    const C most = convert_value<C>(out.data<T>()[at]);
    for (int64_t g = 0; g < blocks.groups; ++g) {
      const C value = convert_value<C>(xs[first + g * stride]);
      if (value != most && value == value) continue;
      to[first + g * stride] = out_grad.data<T>()[at];
      break;
    }
  }
}

/// (1 - epsilon) label + epsilon prior_dist, without which all classes are as likely. The factors
/// are made in float, as the gradient's.
template <typename T, typename Context>
void LabelSmoothKernel(const Context& ctx, const DenseTensor& label, const DenseTensor* prior_dist,
                       float epsilon, DenseTensor* out) {
  using C = compute_t<T>;
  if (out->numel() == 0) return;
  const int64_t classes = label.dims().back();  // of this part
  const auto all_classes = static_cast<float>(ctx.output_box(0, out->dims()).global.back());
  const auto kept = static_cast<C>(1.0f - epsilon);
  const auto given = static_cast<C>(epsilon);
  const auto even = static_cast<C>(epsilon / all_classes);
  const T* from = label.data<T>();
  const T* prior = prior_dist ? prior_dist->data<T>() : nullptr;
  T* to = out->mutable_data<T>();
  for (int64_t row = 0; row < label.numel(); row += classes) {
    for (int64_t c = 0; c < classes; ++c) {
      const C more = prior ? given * convert_value<C>(prior[c]) : even;
      to[row + c] = convert_value<T>(kept * convert_value<C>(from[row + c]) + more);
    }
  }
}

PHI_REGISTER_KERNEL(maxout, CPU, MaxOutKernel, Floats);
PHI_REGISTER_KERNEL(maxout_grad, CPU, MaxOutGradKernel, Floats);
PHI_REGISTER_KERNEL(label_smooth, CPU, LabelSmoothKernel, Floats);

}  // namespace phi
