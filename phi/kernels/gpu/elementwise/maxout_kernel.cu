// maxout and label_smooth on GPUs.
#include "phi/generated/kernels/activation.h"
#include "phi/infermeta/axes.h"
#include "phi/kernels/gpu/device_primitives.h"

namespace phi {
namespace {

/// x as [rows, groups, inner], of which out has [rows, inner].
template <typename T>
struct MaxoutInput {
  const T* x;
  int64_t count;
  int64_t inner;
  /// Offset of the first element of the group of out's element i. Elements of a group are `inner`
  /// apart.
  PHI_HD int64_t first(int64_t i) const { return i / inner * inner * count + i % inner; }
  PHI_HD compute_t<T> at(int64_t place) const { return static_cast<compute_t<T>>(x[place]); }
};

template <typename T>
struct LargestOfGroup {
  MaxoutInput<T> of;
  PHI_HD T operator()(int64_t i) const {
    int64_t best = of.first(i);
    auto most = of.at(best);
    int64_t place = best;
    for (int64_t g = 1; g < of.count; ++g) {
      place += of.inner;
      const auto other = of.at(place);
      if (most >= other || most != most) continue;
      best = place;
      most = other;
    }
    return of.x[best];
  }
};

/// Gradient of element i of x: out_grad if it is the first maximum of its group, else 0.
template <typename T>
struct LargestGradient {
  MaxoutInput<T> of;
  const T* out;
  const T* out_grad;
  PHI_HD T operator()(int64_t i) const {
    const int64_t row = i / (of.inner * of.count);
    const int64_t place = row * of.inner + i % of.inner;
    const auto most = static_cast<compute_t<T>>(out[place]);
    for (int64_t k = of.first(place); k < i; k += of.inner) {
      if (is_chosen(of.at(k), most)) return T(0);
    }
    return is_chosen(of.at(i), most) ? out_grad[place] : T(0);
  }
  PHI_HD static bool is_chosen(compute_t<T> value, compute_t<T> most) {
    return value == most || value != value;
  }
};

template <typename T>
struct SmoothFunctor {
  using C = compute_t<T>;
  const T* label;
  const T* prior;  // null: all classes are equally likely
  int64_t classes;
  C kept;
  C given;
  C even;  // prior of each class without prior_dist
  PHI_HD T operator()(int64_t i) const {
    const C more = prior ? given * static_cast<C>(prior[i % classes]) : even;
    return static_cast<T>(kept * static_cast<C>(label[i]) + more);
  }
};

template <typename T>
MaxoutInput<T> groups_of(const DenseTensor& x, int groups, int axis) {
  const int d = normalise_axis(axis, x.ndim(), x.dims());
  return {x.data<T>(), groups, x.dims().numel(d + 1, x.ndim())};
}

}  // namespace

/// The largest of each `groups` elements along `axis`; NaN if one is NaN.
template <typename T, typename Context>
void MaxOutKernel(const Context& ctx, const DenseTensor& x, int groups, int axis,
                  DenseTensor* out) {
  index_loop(ctx, out->mutable_data<T>(), out->numel(),
             LargestOfGroup<T>{groups_of<T>(x, groups, axis)});
}

/// The first maximum of a group receives the gradient, or its first NaN.
template <typename T, typename Context>
void MaxOutGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& out,
                      const DenseTensor& out_grad, int groups, int axis, DenseTensor* x_grad) {
  index_loop(ctx, x_grad->mutable_data<T>(), x_grad->numel(),
             LargestGradient<T>{groups_of<T>(x, groups, axis), out.data<T>(), out_grad.data<T>()});
}

/// (1 - epsilon) label + epsilon prior_dist; without prior_dist all classes are equally likely. The
/// factors are computed in float, as in the gradient.
template <typename T, typename Context>
void LabelSmoothKernel(const Context& ctx, const DenseTensor& label, const DenseTensor* prior_dist,
                       float epsilon, DenseTensor* out) {
  using C = compute_t<T>;
  if (out->numel() == 0) return;
  const auto all_classes = static_cast<float>(ctx.output_box(0, out->dims()).global.back());
  index_loop(ctx, out->mutable_data<T>(), out->numel(),
             SmoothFunctor<T>{label.data<T>(), prior_dist ? prior_dist->data<T>() : nullptr,
                              label.dims().back(), static_cast<C>(1.0f - epsilon),
                              static_cast<C>(epsilon), static_cast<C>(epsilon / all_classes)});
}

PHI_REGISTER_KERNEL(maxout, GPU, MaxOutKernel, Floats);
PHI_REGISTER_KERNEL(maxout_grad, GPU, MaxOutGradKernel, Floats);
PHI_REGISTER_KERNEL(label_smooth, GPU, LabelSmoothKernel, Floats);

}  // namespace phi
