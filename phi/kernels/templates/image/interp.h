// Interpolation of images: nearest, linear in one to three dims, bicubic. If sizes are tensors, the
// kernel allocates the output. Device primitives: resample and resample_grad along one dim;
// on_host, which copies an array to the host.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "phi/common/errors.h"
#include "phi/core/kernel_registry.h"
#include "phi/core/scratch_array.h"
#include "phi/generated/kernels/interpolate.h"
#include "phi/infermeta/interpolate.h"
#include "phi/kernels/functors/convert_value.h"
#include "phi/kernels/image/taps.h"
#include "phi/kernels/templates/converted.h"

namespace phi {
namespace {

/// The elements of a size or scale tensor.
template <typename Context>
std::vector<double> numbers_in(const Context& ctx, const DenseTensor& tensor) {
  const DenseTensor values = on_host(ctx, tensor);
  std::vector<double> numbers;
  visit_dtype(tensor.dtype(), [&]<typename T>() {
    const T* const value = values.data<T>();
    for (int64_t i = 0; i < values.numel(); ++i) {
      numbers.push_back(convert_value<double>(value[i]));
    }
  });
  return numbers;
}

template <typename Context>
std::vector<double> scales_of(const Context& ctx, const DenseTensor* tensor,
                              std::span<const double> attribute, int spatial) {
  if (tensor) return spatial_scales(numbers_in(ctx, *tensor), spatial);
  if (attribute.empty()) return std::vector<double>(static_cast<size_t>(spatial), 0.0);
  return spatial_scales({attribute.begin(), attribute.end()}, spatial);
}

inline int64_t checked_size(double size) {
  PHI_CHECK(size >= 1.0 && size <= 2147483647.0,
            errors::InvalidArgument(
                "a size tensor requests an extent of {}; it must be from 1 to 2147483647.", size));
  return static_cast<int64_t>(size);
}

/// The spatial extents that tensors request, in order of precedence.
template <typename Context>
Dims asked_extents(const Context& ctx, const Dims& extents, const DenseTensor* out_size,
                   std::span<const DenseTensor* const> size_tensor,
                   const std::vector<double>& scales) {
  Dims asked = extents;
  std::vector<double> sizes = out_size ? numbers_in(ctx, *out_size) : std::vector<double>();
  if (!size_tensor.empty()) {
    sizes.clear();
    for (const DenseTensor* size : size_tensor) sizes.push_back(numbers_in(ctx, *size)[0]);
  }
  for (int d = 0; d < asked.ndim(); ++d) {
    const auto at = static_cast<size_t>(d);
    asked[d] = sizes.empty() ? scaled_extent(extents[d], scales[at]) : checked_size(sizes[at]);
  }
  return asked;
}

inline InterpMethod method_of(const std::string& name) {
  if (name == "nearest") return InterpMethod::kNearest;
  return name == "bicubic" ? InterpMethod::kCubic : InterpMethod::kLinear;
}

/// Interpolation along one spatial dim. Passes that shrink the image most come first; with equal
/// ratios the innermost dim does, whose elements cannot be processed in rows.
template <typename C>
struct ResamplePass {
  int dim;
  Taps<C> taps;
};

template <typename C>
std::vector<ResamplePass<C>> passes_of(const ImageLayout& layout, const Dims& in, const Dims& out,
                                       const std::vector<double>& scales, InterpMethod method,
                                       bool align_corners, int align_mode) {
  std::vector<ResamplePass<C>> passes;
  if (in == out) return passes;
  const auto growth = [](const Taps<C>& taps) {
    return static_cast<double>(taps.out) / static_cast<double>(taps.in);
  };
  for (int d = in.ndim() - 3; d >= 0; --d) {
    const int dim = layout.first_spatial() + d;
    // A scale that does not give the output's extent was overridden by a size.
    const double scale = scales[static_cast<size_t>(d)];
    const bool counts = scale > 0.0 && scaled_extent(in[dim], scale) == out[dim];
    Taps<C> taps = interpolation_taps<C>({in[dim], out[dim], counts ? scale : 0.0, method,
                                          align_corners, align_mode == 0 && !align_corners});
    if (taps.is_identity()) continue;
    const auto later = std::ranges::find_if(
        passes, [&](const ResamplePass<C>& pass) { return growth(pass.taps) > growth(taps); });
    passes.insert(later, {dim, std::move(taps)});
  }
  return passes;
}

/// The number of elements before and after tensor dim `dim`.
struct ResampleShape {
  int64_t outer;
  int64_t inner;
  ResampleShape(const Dims& dims, int dim)
      : outer(dims.numel(0, dim)), inner(dims.numel(dim + 1, dims.ndim())) {}
};

template <typename T, typename Context>
void interpolate(const Context& ctx, const std::vector<ResamplePass<compute_t<T>>>& passes,
                 const DenseTensor& x, DenseTensor* out) {
  using C = compute_t<T>;
  DenseTensor from = converted<C, T>(ctx, x);
  Dims dims = x.dims();
  for (const ResamplePass<C>& pass : passes) {
    const ResampleShape beside(dims, pass.dim);
    dims[pass.dim] = pass.taps.out;
    DenseTensor to = scratch_array({dims, dtype_of<C>()}, ctx.place());
    resample(ctx, pass.taps, beside.outer, beside.inner, from.data<C>(),
             to.template mutable_data<C>());
    from = to;
  }
  convert(ctx, from.data<C>(), out->mutable_data<T>(), out->numel());
}

/// The passes in reverse.
template <typename T, typename Context>
void interpolate_grad(const Context& ctx, const std::vector<ResamplePass<compute_t<T>>>& passes,
                      const DenseTensor& out_grad, DenseTensor* x_grad) {
  using C = compute_t<T>;
  DenseTensor from = converted<C, T>(ctx, out_grad);
  Dims dims = out_grad.dims();
  for (auto pass = passes.rbegin(); pass != passes.rend(); ++pass) {
    const ResampleShape beside(dims, pass->dim);
    dims[pass->dim] = pass->taps.in;
    DenseTensor to = scratch_array({dims, dtype_of<C>()}, ctx.place());
    resample_grad(ctx, pass->taps, beside.outer, beside.inner, from.data<C>(),
                  to.template mutable_data<C>());
    from = to;
  }
  convert(ctx, from.data<C>(), x_grad->mutable_data<T>(), x_grad->numel());
}

template <typename T, typename Context>
void run(const Context& ctx, const DenseTensor& x, const DenseTensor* out_size,
         std::span<const DenseTensor* const> size_tensor, const DenseTensor* scale_tensor,
         const std::string& data_format, std::span<const double> scale, const std::string& method,
         bool align_corners, int align_mode, DenseTensor* out) {
  const ImageLayout layout(data_format);
  const auto scales = scales_of(ctx, scale_tensor, scale, x.ndim() - 2);
  if (out_size || scale_tensor || !size_tensor.empty()) {
    const Dims asked = asked_extents(ctx, layout.spatial(x.dims()), out_size, size_tensor, scales);
    const Dims dims =
        layout.dims(x.dims()[0], layout.channels(x.dims()), std::span(asked.begin(), asked.end()));
    *out = DenseTensor::empty({dims, x.dtype(), out->meta().layout}, x.place());
  }
  const auto passes = passes_of<compute_t<T>>(layout, x.dims(), out->dims(), scales,
                                              method_of(method), align_corners, align_mode);
  interpolate<T>(ctx, passes, x, out);
}

template <typename T, typename Context>
void run_grad(const Context& ctx, const DenseTensor* scale_tensor, const DenseTensor& out_grad,
              const std::string& data_format, std::span<const double> scale,
              const std::string& method, bool align_corners, int align_mode, DenseTensor* x_grad) {
  const ImageLayout layout(data_format);
  const auto passes =
      passes_of<compute_t<T>>(layout, x_grad->dims(), out_grad.dims(),
                              scales_of(ctx, scale_tensor, scale, out_grad.ndim() - 2),
                              method_of(method), align_corners, align_mode);
  interpolate_grad<T>(ctx, passes, out_grad, x_grad);
}

}  // namespace

/// Errors: InvalidArgument for sizes and scales in tensors that are not positive.
template <typename T, typename Context>
void PlaneInterpKernel(const Context& ctx, const DenseTensor& x, const DenseTensor* out_size,
                       std::span<const DenseTensor* const> size_tensor,
                       const DenseTensor* scale_tensor, const std::string& data_format,
                       const std::vector<double>& scale, const std::string& interp_method,
                       bool align_corners, int align_mode, DenseTensor* output) {
  run<T>(ctx, x, out_size, size_tensor, scale_tensor, data_format, scale, interp_method,
         align_corners, align_mode, output);
}

template <typename T, typename Context>
void InterpKernel(const Context& ctx, const DenseTensor& x, const DenseTensor* out_size,
                  std::span<const DenseTensor* const> size_tensor, const DenseTensor* scale_tensor,
                  const std::string& data_format, const std::vector<float>& scale,
                  const std::string& interp_method, bool align_corners, int align_mode,
                  DenseTensor* output) {
  const std::vector<double> scales(scale.begin(), scale.end());
  run<T>(ctx, x, out_size, size_tensor, scale_tensor, data_format, scales, interp_method,
         align_corners, align_mode, output);
}

template <typename T, typename Context>
void PlaneInterpGradKernel(const Context& ctx, const DenseTensor* scale_tensor,
                           const DenseTensor& output_grad, const std::string& data_format,
                           const std::vector<double>& scale, const std::string& interp_method,
                           bool align_corners, int align_mode, DenseTensor* x_grad) {
  run_grad<T>(ctx, scale_tensor, output_grad, data_format, scale, interp_method, align_corners,
              align_mode, x_grad);
}

template <typename T, typename Context>
void InterpGradKernel(const Context& ctx, const DenseTensor* scale_tensor,
                      const DenseTensor& output_grad, const std::string& data_format,
                      const std::vector<float>& scale, const std::string& interp_method,
                      bool align_corners, int align_mode, DenseTensor* x_grad) {
  const std::vector<double> scales(scale.begin(), scale.end());
  run_grad<T>(ctx, scale_tensor, output_grad, data_format, scales, interp_method, align_corners,
              align_mode, x_grad);
}

PHI_REGISTER_KERNEL(plane_interp, PHI_DEVICE, PlaneInterpKernel, Numbers);
PHI_REGISTER_KERNEL(interp, PHI_DEVICE, InterpKernel, Numbers);
PHI_REGISTER_KERNEL(plane_interp_grad, PHI_DEVICE, PlaneInterpGradKernel, Floats);
PHI_REGISTER_KERNEL(interp_grad, PHI_DEVICE, InterpGradKernel, Floats);

}  // namespace phi
