// Interpolation of images on the CPU: nearest, linear in one to three dims, bicubic. Sizes may be
// tensors; then the kernel makes the output.
#include <algorithm>
#include <array>
#include <span>

#include "phi/common/errors.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/interpolate.h"
#include "phi/infermeta/interpolate.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/image/resample.h"
#include "phi/kernels/cpu/workspace.h"

namespace phi {
namespace {

/// What a size or scale tensor holds.
std::vector<double> numbers_in(const DenseTensor& tensor) {
  std::vector<double> numbers(static_cast<size_t>(tensor.numel()));
  visit_dtype(tensor.dtype(),
              [&]<typename T>() { convert(tensor.data<T>(), numbers.data(), tensor.numel()); });
  return numbers;
}

std::vector<double> scales_of(const DenseTensor* tensor, std::span<const double> attribute,
                              int spatial) {
  if (tensor) return spatial_scales(numbers_in(*tensor), spatial);
  if (attribute.empty()) return std::vector<double>(static_cast<size_t>(spatial), 0.0);
  return spatial_scales({attribute.begin(), attribute.end()}, spatial);
}

int64_t checked_size(double size) {
  PHI_CHECK(size >= 1.0 && size <= 2147483647.0,
            errors::InvalidArgument("a size tensor asks for an extent of {}; it must be from 1 to "
                                    "2147483647.",
                                    size));
  return static_cast<int64_t>(size);
}

/// The spatial extents that tensors ask for, by their order of precedence.
Dims asked_extents(const Dims& extents, const DenseTensor* out_size,
                   std::span<const DenseTensor* const> size_tensor,
                   const std::vector<double>& scales) {
  Dims asked = extents;
  std::vector<double> sizes = out_size ? numbers_in(*out_size) : std::vector<double>();
  if (!size_tensor.empty()) {
    sizes.clear();
    for (const DenseTensor* size : size_tensor) sizes.push_back(numbers_in(*size)[0]);
  }
  for (int d = 0; d < asked.ndim(); ++d) {
    const auto at = static_cast<size_t>(d);
    asked[d] = sizes.empty() ? scaled_extent(extents[d], scales[at]) : checked_size(sizes[at]);
  }
  return asked;
}

InterpMethod method_of(const std::string& name) {
  if (name == "nearest") return InterpMethod::kNearest;
  return name == "bicubic" ? InterpMethod::kCubic : InterpMethod::kLinear;
}

/// One pass along each spatial dim that changes: those that shrink the image come first, and of
/// others the innermost, whose elements cannot be taken a row at a time.
template <typename C>
struct Pass {
  int dim;
  Taps<C> taps;
};

template <typename C>
std::vector<Pass<C>> passes_of(const ImageLayout& layout, const Dims& in, const Dims& out,
                               const std::vector<double>& scales, InterpMethod method,
                               bool align_corners, int align_mode) {
  std::vector<Pass<C>> passes;
  if (in == out) return passes;
  for (int d = in.ndim() - 3; d >= 0; --d) {
    const int dim = layout.first_spatial() + d;
    // A scale that does not make the output's extent was overruled by a size.
    const double scale = scales[static_cast<size_t>(d)];
    const bool counts = scale > 0.0 && scaled_extent(in[dim], scale) == out[dim];
    Taps<C> taps = interpolation_taps<C>({in[dim], out[dim], counts ? scale : 0.0, method,
                                          align_corners, align_mode == 0 && !align_corners});
    if (!taps.is_identity()) passes.push_back({dim, std::move(taps)});
  }
  std::ranges::stable_sort(passes, {}, [](const Pass<C>& pass) {
    return static_cast<double>(pass.taps.out) / static_cast<double>(pass.taps.in);
  });
  return passes;
}

/// Two arrays that passes read and write in turn.
template <typename C>
class Turns {
 public:
  C* next(int64_t n) { return rooms_[turn_ ^= 1].template room<C>(n); }

 private:
  std::array<Workspace, 2> rooms_;
  int turn_ = 0;
};

/// x as numbers of the computing type; in `turns` where that is another.
template <typename T, typename C>
const C* computed(const T* x, int64_t n, Turns<C>* turns) {
  if constexpr (std::is_same_v<T, C>) {
    return x;
  } else {
    C* copy = turns->next(n);
    convert(x, copy, n);
    return copy;
  }
}

template <typename T>
void interpolate(const std::vector<Pass<compute_t<T>>>& passes, Dims dims, const T* x, T* out) {
  using C = compute_t<T>;
  Turns<C> turns;
  const C* from = computed<T, C>(x, dims.numel(), &turns);
  for (const Pass<C>& pass : passes) {
    const int64_t outer = dims.numel(0, pass.dim);
    const int64_t inner = dims.numel(pass.dim + 1, dims.ndim());
    dims[pass.dim] = pass.taps.out;
    C* to = turns.next(dims.numel());
    resample(pass.taps, outer, inner, from, to);
    from = to;
  }
  convert(from, out, dims.numel());
}

/// The passes backwards. `dims` are the output's.
template <typename T>
void interpolate_grad(const std::vector<Pass<compute_t<T>>>& passes, Dims dims, const T* out_grad,
                      T* x_grad) {
  using C = compute_t<T>;
  Turns<C> turns;
  const C* from = computed<T, C>(out_grad, dims.numel(), &turns);
  for (auto pass = passes.rbegin(); pass != passes.rend(); ++pass) {
    const int64_t outer = dims.numel(0, pass->dim);
    const int64_t inner = dims.numel(pass->dim + 1, dims.ndim());
    dims[pass->dim] = pass->taps.in;
    C* to = turns.next(dims.numel());
    resample_grad(pass->taps, outer, inner, from, to);
    from = to;
  }
  convert(from, x_grad, dims.numel());
}

template <typename T>
void run(const DenseTensor& x, const DenseTensor* out_size,
         std::span<const DenseTensor* const> size_tensor, const DenseTensor* scale_tensor,
         const std::string& data_format, std::span<const double> scale, const std::string& method,
         bool align_corners, int align_mode, DenseTensor* out) {
  const ImageLayout layout = interp_layout(data_format);
  const auto scales = scales_of(scale_tensor, scale, x.ndim() - 2);
  if (out_size || scale_tensor || !size_tensor.empty()) {
    const Dims asked = asked_extents(layout.spatial(x.dims()), out_size, size_tensor, scales);
    const Dims dims =
        layout.dims(x.dims()[0], layout.channels(x.dims()), std::span(asked.begin(), asked.end()));
    *out = DenseTensor::empty({dims, x.dtype(), out->meta().layout}, x.place());
  }
  const auto passes = passes_of<compute_t<T>>(layout, x.dims(), out->dims(), scales,
                                              method_of(method), align_corners, align_mode);
  interpolate(passes, x.dims(), x.data<T>(), out->mutable_data<T>());
}

template <typename T>
void run_grad(const DenseTensor* scale_tensor, const DenseTensor& out_grad,
              const std::string& data_format, std::span<const double> scale,
              const std::string& method, bool align_corners, int align_mode, DenseTensor* x_grad) {
  const ImageLayout layout = interp_layout(data_format);
  const auto passes = passes_of<compute_t<T>>(layout, x_grad->dims(), out_grad.dims(),
                                              scales_of(scale_tensor, scale, out_grad.ndim() - 2),
                                              method_of(method), align_corners, align_mode);
  interpolate_grad(passes, out_grad.dims(), out_grad.data<T>(), x_grad->mutable_data<T>());
}

}  // namespace

/// Errors: InvalidArgument for sizes and scales in tensors that are not positive.
template <typename T, typename Context>
void PlaneInterpKernel(const Context&, const DenseTensor& x, const DenseTensor* out_size,
                       std::span<const DenseTensor* const> size_tensor,
                       const DenseTensor* scale_tensor, const std::string& data_format,
                       const std::vector<double>& scale, const std::string& interp_method,
                       bool align_corners, int align_mode, DenseTensor* output) {
  run<T>(x, out_size, size_tensor, scale_tensor, data_format, scale, interp_method, align_corners,
         align_mode, output);
}

template <typename T, typename Context>
void InterpKernel(const Context&, const DenseTensor& x, const DenseTensor* out_size,
                  std::span<const DenseTensor* const> size_tensor, const DenseTensor* scale_tensor,
                  const std::string& data_format, const std::vector<float>& scale,
                  const std::string& interp_method, bool align_corners, int align_mode,
                  DenseTensor* output) {
  const std::vector<double> scales(scale.begin(), scale.end());
  run<T>(x, out_size, size_tensor, scale_tensor, data_format, scales, interp_method, align_corners,
         align_mode, output);
}

template <typename T, typename Context>
void PlaneInterpGradKernel(const Context&, const DenseTensor* scale_tensor,
                           const DenseTensor& output_grad, const std::string& data_format,
                           const std::vector<double>& scale, const std::string& interp_method,
                           bool align_corners, int align_mode, DenseTensor* x_grad) {
  run_grad<T>(scale_tensor, output_grad, data_format, scale, interp_method, align_corners,
              align_mode, x_grad);
}

template <typename T, typename Context>
void InterpGradKernel(const Context&, const DenseTensor* scale_tensor,
                      const DenseTensor& output_grad, const std::string& data_format,
                      const std::vector<float>& scale, const std::string& interp_method,
                      bool align_corners, int align_mode, DenseTensor* x_grad) {
  const std::vector<double> scales(scale.begin(), scale.end());
  run_grad<T>(scale_tensor, output_grad, data_format, scales, interp_method, align_corners,
              align_mode, x_grad);
}

PHI_REGISTER_KERNEL(plane_interp, CPU, PlaneInterpKernel, Numbers);
PHI_REGISTER_KERNEL(interp, CPU, InterpKernel, Numbers);
PHI_REGISTER_KERNEL(plane_interp_grad, CPU, PlaneInterpGradKernel, Floats);
PHI_REGISTER_KERNEL(interp_grad, CPU, InterpGradKernel, Floats);

}  // namespace phi
