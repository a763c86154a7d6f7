// The matmuls of a convolution by columns.
#include "phi/kernels/cpu/windowed/conv_gemm.h"

#include <algorithm>

#include "phi/kernels/cpu/matmul/gemm_scratch.h"
#include "phi/kernels/cpu/windowed/columns.h"

namespace phi {
namespace {

/// Calls f(image n, group g) for all images and groups.
template <typename F>
void for_each_conv_group(const ConvProblem& p, F f) {
  for (int64_t n = 0; n < p.n; ++n) {
    for (int64_t g = 0; g < p.groups; ++g) f(n, g);
  }
}

int64_t image_at(const ConvProblem& p, int64_t n, int64_t g) {
  return n * p.image_size() + g * p.group_c() * p.sliding.pixels();
}
int64_t result_at(const ConvProblem& p, int64_t n, int64_t g) {
  return n * p.result_size() + g * p.group_m() * p.sliding.num_positions();
}
int64_t filter_at(const ConvProblem& p, int64_t g) { return g * p.group_m() * p.column_rows(); }

// The matmuls of one group of channels.

GemmShape forward_shape(const ConvProblem& p) {
  return {.m = p.group_m(), .n = p.sliding.num_positions(), .k = p.column_rows()};
}
GemmShape image_grad_shape(const ConvProblem& p) {
  return {.m = p.column_rows(), .n = p.sliding.num_positions(), .k = p.group_m(), .trans_a = true};
}
GemmShape filter_grad_shape(const ConvProblem& p) {
  return {.m = p.group_m(), .n = p.column_rows(), .k = p.sliding.num_positions(), .trans_b = true};
}

// Elements of the arrays of one group of channels.

int64_t columns_size(const ConvProblem& p) { return p.column_rows() * p.sliding.num_positions(); }
int64_t image_group_size(const ConvProblem& p) { return p.group_c() * p.sliding.pixels(); }

template <typename T>
size_t bytes_of(int64_t elements) {
  return static_cast<size_t>(elements) * sizeof(T);
}

/// The columns of one group of channels; the image itself if that has the same elements.
template <typename T>
class ImageColumns {
 public:
  explicit ImageColumns(const ConvProblem& p) : p_(p) {}
  const T* of(const T* image) {
    const Sliding& s = p_.sliding;
    if (s.is_pointwise()) return image;
    T* columns = room_.room<T>(columns_size(p_));
    for (int64_t c = 0; c < p_.group_c(); ++c) {
      image_to_columns(s, image + c * s.pixels(), columns + c * s.taps() * s.num_positions());
    }
    return columns;
  }
  /// The memory of of().
  static size_t nbytes(const ConvProblem& p) {
    return p.sliding.is_pointwise() ? 0 : bytes_of<T>(columns_size(p));
  }

 private:
  const ConvProblem& p_;
  Workspace room_;
};

}  // namespace

template <typename T>
void conv_forward(const ConvProblem& p, const T* image, const T* filter, T* result) {
  const int64_t positions = p.sliding.num_positions();
  const GemmShape shape = forward_shape(p);
  ImageColumns<T> columns(p);
  for_each_conv_group(p, [&](int64_t n, int64_t g) {
    const T* b = columns.of(image + image_at(p, n, g));
    gemm<T>(shape, 1, filter + filter_at(p, g), shape.k, b, positions, 0,
            result + result_at(p, n, g), positions);
  });
}

template <typename T>
void plan_conv_forward(const ConvProblem& p, PlannedScratch* scratch) {
  const PlannedScratch::Block columns(*scratch, ImageColumns<T>::nbytes(p));
  plan_gemm_scratch<T, T>(forward_shape(p), scratch);
}

template <typename T>
void conv_image_grad(const ConvProblem& p, const T* result_grad, const T* filter, T* image_grad) {
  using C = compute_t<T>;
  const Sliding& s = p.sliding;
  const int64_t positions = s.num_positions();
  const int64_t group_size = image_group_size(p);
  const GemmShape shape = image_grad_shape(p);
  Workspace columns_room;
  Workspace sums_room;
  C* columns = columns_room.room<C>(columns_size(p));
  C* sums = sums_room.room<C>(group_size);
  for_each_conv_group(p, [&](int64_t n, int64_t g) {
    gemm<T, C>(shape, 1, filter + filter_at(p, g), shape.m, result_grad + result_at(p, n, g),
               positions, 0, columns, positions);
    std::fill_n(sums, group_size, C(0));
    for (int64_t c = 0; c < p.group_c(); ++c) {
      columns_to_image(s, columns + c * s.taps() * positions, sums + c * s.pixels());
    }
    convert(sums, image_grad + image_at(p, n, g), group_size);
  });
}

template <typename T>
void plan_conv_image_grad(const ConvProblem& p, PlannedScratch* scratch) {
  using C = compute_t<T>;
  const PlannedScratch::Block columns(*scratch, bytes_of<C>(columns_size(p)));
  const PlannedScratch::Block sums(*scratch, bytes_of<C>(image_group_size(p)));
  plan_gemm_scratch<T, C>(image_grad_shape(p), scratch);
}

template <typename T>
void conv_filter_grad(const ConvProblem& p, const T* image, const T* result_grad, T* filter_grad) {
  using C = compute_t<T>;
  const int64_t positions = p.sliding.num_positions();
  const GemmShape shape = filter_grad_shape(p);
  ImageColumns<T> columns(p);
  Workspace room;
  C* sums = room.room<C>(p.filter_size());
  std::fill_n(sums, p.filter_size(), C(0));
  for_each_conv_group(p, [&](int64_t n, int64_t g) {
    const T* b = columns.of(image + image_at(p, n, g));
    gemm<T, C>(shape, 1, result_grad + result_at(p, n, g), positions, b, positions, 1,
               sums + filter_at(p, g), shape.n);
  });
  convert(sums, filter_grad, p.filter_size());
}

template <typename T>
void plan_conv_filter_grad(const ConvProblem& p, PlannedScratch* scratch) {
  using C = compute_t<T>;
  const PlannedScratch::Block columns(*scratch, ImageColumns<T>::nbytes(p));
  const PlannedScratch::Block sums(*scratch, bytes_of<C>(p.filter_size()));
  plan_gemm_scratch<T, C>(filter_grad_shape(p), scratch);
}

#define INSTANTIATE(T)                                                          \
  template void plan_conv_forward<T>(const ConvProblem&, PlannedScratch*);      \
  template void plan_conv_image_grad<T>(const ConvProblem&, PlannedScratch*);   \
  template void plan_conv_filter_grad<T>(const ConvProblem&, PlannedScratch*);  \
  template void conv_forward<T>(const ConvProblem&, const T*, const T*, T*);    \
  template void conv_image_grad<T>(const ConvProblem&, const T*, const T*, T*); \
  template void conv_filter_grad<T>(const ConvProblem&, const T*, const T*, T*);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(float16)
INSTANTIATE(bfloat16)
#undef INSTANTIATE

}  // namespace phi
