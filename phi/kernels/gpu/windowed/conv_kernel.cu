// Convolutions on GPUs by im2col and GEMM, for as many images at a time as the column buffer has
// room for. GEMMs read and write channels in place, through strides.
#include <algorithm>

#include "phi/gpu/gemm.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/windowed/columns.h"
#include "phi/kernels/windowed/conv_problem.h"

namespace phi {
namespace {

using gpu::ImageSteps;

constexpr int64_t kColumnBytes = int64_t{64} << 20;  // size of the column buffer

/// One GEMM operand: a matrix per image and group with row stride `ld`, possibly transposed.
struct Matrices {
  const std::byte* data;
  int64_t per_image;
  int64_t per_group;
  int64_t ld;
  bool transposed = false;
};

template <typename T>
const std::byte* bytes(const T* data) {
  return reinterpret_cast<const std::byte*>(data);
}

/// Extents of the GEMMs of images and groups: [m, k] times [k, n].
struct Shape {
  int64_t images;
  int64_t groups;
  int64_t m;
  int64_t n;
  int64_t k;
};

/// c = a b + beta c. One cuBLASLt call computes all images, or all groups of one image.
void multiply(const GpuContext& ctx, const Shape& s, DataType dtype, const Matrices& a,
              const Matrices& b, double beta, DataType out, const Matrices& c) {
  const bool by_image = s.groups == 1;
  const auto step = [&](const Matrices& x) { return by_image ? x.per_image : x.per_group; };
  const gpu::GemmProblem product{.m = s.m,
                                 .n = s.n,
                                 .k = s.k,
                                 .trans_a = a.transposed,
                                 .trans_b = b.transposed,
                                 .lda = a.ld,
                                 .ldb = b.ld,
                                 .ldc = c.ld,
                                 .batch = by_image ? s.images : s.groups,
                                 .step_a = step(a),
                                 .step_b = step(b),
                                 .step_c = step(c),
                                 .dtype = dtype,
                                 .out = out};
  gpu::GpuDevice& device = gpu::GpuDevice::of(ctx.place());
  const auto width = static_cast<int64_t>(size_of(dtype));
  const auto out_width = static_cast<int64_t>(size_of(out));
  for (int64_t image = 0; image < (by_image ? 1 : s.images); ++image) {
    device.gemm_runner().run(device, product, 1.0, a.data + image * a.per_image * width,
                             b.data + image * b.per_image * width, beta,
                             const_cast<std::byte*>(c.data) + image * c.per_image * out_width);
  }
}

/// A convolution problem and its operands, as matrices of T.
template <typename T>
class Conv {
 public:
  using C = compute_t<T>;

  Conv(const GpuContext& ctx, const ConvProblem& p)
      : ctx_(ctx),
        p_(p),
        positions_(p.sliding.num_positions()),
        columns_size_(p.c * p.sliding.taps() * positions_),
        image_steps_(gpu::image_steps(p.channels_last, p.c, p.sliding.pixels())) {}

  void forward(const T* image, const T* filter, T* result) {
    if (p_.is_empty()) return fill(ctx_, result, p_.n * p_.result_size(), T(0.0f));
    for_each_chunk([&](int64_t first, int64_t images) {
      const Matrices columns = columns_of(image, first, images);
      const Matrices weights = filters(filter);
      const Matrices to = results(result, first);
      if (p_.channels_last) {  // [positions, group_m] = columns^T filter^T
        multiply(ctx_, {images, p_.groups, positions_, p_.group_m(), p_.column_rows()}, kType,
                 flipped(columns), flipped(weights), 0, kType, to);
      } else {
        multiply(ctx_, {images, p_.groups, p_.group_m(), positions_, p_.column_rows()}, kType,
                 weights, columns, 0, kType, to);
      }
    });
  }

  void image_grad(const T* result_grad, const T* filter, T* grad) {
    if (p_.is_empty()) return fill(ctx_, grad, p_.n * p_.image_size(), T(0.0f));
    for_each_chunk([&](int64_t first, int64_t images) {
      DenseTensor columns =
          DenseTensor::empty({{images * columns_size_}, dtype_of<C>()}, ctx_.place());
      Matrices of_result = results(result_grad, first);
      of_result.transposed = p_.channels_last;
      multiply(ctx_, {images, p_.groups, p_.column_rows(), positions_, p_.group_m()}, kType,
               flipped(filters(filter)), of_result, 0, dtype_of<C>(),
               as_columns(bytes(columns.mutable_data<C>())));
      gpu::columns_to_image(ctx_, p_.sliding, images, p_.c, image_steps_,
                            static_cast<const C*>(columns.data<C>()),
                            grad + first * p_.image_size());
    });
  }

  /// Adds images in their order; half precision is summed in float.
  void filter_grad(const T* image, const T* result_grad, T* grad) {
    if (p_.is_empty()) return fill(ctx_, grad, p_.filter_size(), T(0.0f));
    DenseTensor sums;  // defined if sums are not of type T
    if constexpr (kIs16Bit<T>)
      sums = DenseTensor::empty({{p_.filter_size()}, dtype_of<C>()}, ctx_.place());
    const Matrices to = kIs16Bit<T> ? filters(sums.mutable_data<C>()) : filters(grad);
    for_each_chunk([&](int64_t first, int64_t images) {
      Matrices columns = columns_of(image, first, images);
      for (int64_t i = first; i < first + images; ++i) {
        Matrices of_result = results(result_grad, i);
        of_result.transposed = p_.channels_last;
        multiply(ctx_, {1, p_.groups, p_.group_m(), p_.column_rows(), positions_}, kType, of_result,
                 flipped(columns), i == 0 ? 0 : 1, dtype_of<C>(), to);
        columns.data += columns.per_image * static_cast<int64_t>(sizeof(T));
      }
    });
    if constexpr (kIs16Bit<T>)
      convert(ctx_, static_cast<const C*>(sums.data<C>()), grad, p_.filter_size());
  }

 private:
  static constexpr DataType kType = dtype_of<T>();

  template <typename F>
  void for_each_chunk(const F& f) const {
    const int64_t bytes_of_image = columns_size_ * static_cast<int64_t>(sizeof(C));
    const int64_t chunk = std::clamp<int64_t>(kColumnBytes / bytes_of_image, 1, p_.n);
    for (int64_t first = 0; first < p_.n; first += chunk) f(first, std::min(chunk, p_.n - first));
  }

  static Matrices flipped(Matrices x) {
    x.transposed = !x.transposed;
    return x;
  }
  /// Columns [column_rows, positions].
  Matrices as_columns(const std::byte* data) const {
    return {data, columns_size_, p_.column_rows() * positions_, positions_};
  }
  /// The columns of `images` images from `first` on. A pointwise convolution uses the images
  /// themselves.
  Matrices columns_of(const T* image, int64_t first, int64_t images) {
    const T* const from = image + first * p_.image_size();
    if (p_.sliding.is_pointwise() && !p_.channels_last) return as_columns(bytes(from));
    columns_ = DenseTensor::empty({{images * columns_size_}, kType}, ctx_.place());
    gpu::image_to_columns(ctx_, p_.sliding, images, p_.c, image_steps_, from,
                          columns_.mutable_data<T>());
    return as_columns(bytes(columns_.data<T>()));
  }
  /// Filters [group_m, column_rows], the same for all images.
  template <typename E>
  Matrices filters(const E* filter) const {
    return {bytes(filter), 0, p_.group_m() * p_.column_rows(), p_.column_rows()};
  }
  /// Results [group_m, positions]; in channels-last formats [positions, group_m].
  Matrices results(const T* result, int64_t first) const {
    const T* const from = result + first * p_.result_size();
    if (p_.channels_last) return {bytes(from), p_.result_size(), p_.group_m(), p_.m};
    return {bytes(from), p_.result_size(), p_.group_m() * positions_, positions_};
  }

  const GpuContext& ctx_;
  const ConvProblem& p_;
  const int64_t positions_;
  const int64_t columns_size_;  // columns of one image
  const ImageSteps image_steps_;
  DenseTensor columns_;
};

template <typename T>
void convolve(const GpuContext& ctx, const ConvProblem& p, const T* image, const T* filter,
              T* result) {
  Conv<T>(ctx, p).forward(image, filter, result);
}
template <typename T>
void image_grad(const GpuContext& ctx, const ConvProblem& p, const T* result_grad, const T* filter,
                T* grad) {
  Conv<T>(ctx, p).image_grad(result_grad, filter, grad);
}
template <typename T>
void filter_grad(const GpuContext& ctx, const ConvProblem& p, const T* image, const T* result_grad,
                 T* grad) {
  Conv<T>(ctx, p).filter_grad(image, result_grad, grad);
}

}  // namespace
}  // namespace phi

#include "phi/kernels/templates/windowed/conv.h"
