// Max pooling that returns the positions of maxima, and unpooling, on the CPU. A position counts
// through the flattened spatial dims of its image.
#include <algorithm>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/pool.h"
#include "phi/kernels/cpu/deferred_error.h"
#include "phi/kernels/cpu/windowed/pool_loops.h"
#include "phi/kernels/windowed/image_index_errors.h"

namespace phi {
namespace {

template <typename T>
void pool_with_mask(const PoolImages& images, const DenseTensor& x, DenseTensor* out,
                    DenseTensor* mask) {
  using C = compute_t<T>;
  T* values = out->mutable_data<T>();
  auto* places = mask->mutable_data<int32_t>();
  pool_maxima(images, x.data<T>(), [&](int64_t output, C most, int64_t place) {
    values[output] = convert_value<T>(most);
    places[output] = static_cast<int32_t>(place);
  });
}

/// Calls f(offset of the image, offset of the index, position in the image) for all indices of all
/// images; images are the first two tensor dims of both arrays. Index -1, a window without
/// elements, is skipped. `image` has the dims of the images that are indexed.
///
/// Errors   InvalidArgument for a position outside the image.
template <typename Index, typename F>
void for_each_place(const DenseTensor& places, const Dims& image, std::string_view name, F f) {
  const auto* at = places.data<Index>();
  const int64_t each = places.dims().numel(2, places.ndim());
  const int64_t size = image.numel(2, image.ndim());
  for (int64_t i = 0; i < image[0] * image[1]; ++i) {
    for (int64_t k = i * each; k < (i + 1) * each; ++k) {
      const int64_t place = at[k];
      if (place < -1 || place >= size) [[unlikely]]
        throw_outside_image(name, place, k, size);
      if (place >= 0) f(i * size, k, place);
    }
  }
}

template <typename F>
void for_each_index(const DenseTensor& indices, const Dims& image, F f) {
  if (indices.dtype() == DataType::INT32) {
    for_each_place<int32_t>(indices, image, "indices", f);
  } else {
    for_each_place<int64_t>(indices, image, "indices", f);
  }
}

/// Combines a flag by maximum over the ranks that hold some of the indices, the operator's input 1.
void combine_flags(const KernelContext& ctx, DenseTensor* flag) {
  for (int d = 0; ctx.view() && d < 2; ++d) {
    ctx.view()->combine_over(1, d, CombineKind::kMax, flag);
  }
}

/// Calls f for all indices. If an index is invalid, every rank throws: its own error, or that
/// another rank has one.
template <typename F>
void for_each_checked_index(const KernelContext& ctx, const DenseTensor& indices, const Dims& image,
                            F f) {
  const DeferredError deferred([&] { for_each_index(indices, image, f); });
  DenseTensor flag = DenseTensor::empty({{1}, DataType::INT64}, ctx.place());
  *flag.mutable_data<int64_t>() = deferred.count();
  combine_flags(ctx, &flag);
  deferred.raise(*flag.data<int64_t>() != 0, throw_outside_image_elsewhere);
}

PoolImages images_of(const DenseTensor& x, const std::vector<PoolRanges>& ranges) {
  return {x.dims(), ImageLayout("NCHW"), ranges};
}

}  // namespace

template <typename T, typename Context>
void MaxPoolWithIndexKernel(const Context&, const DenseTensor& x,
                            const std::vector<int>& kernel_size, const std::vector<int>& strides,
                            const std::vector<int>& paddings, bool global_pooling, bool adaptive,
                            bool ceil_mode, DenseTensor* out, DenseTensor* mask) {
  const PoolAttributes attributes{entries(kernel_size), strides,  paddings,  ceil_mode,
                                  global_pooling,       adaptive, "EXPLICIT"};
  const Dims extents = ImageLayout("NCHW").spatial(x.dims());
  const auto ranges = pool_ranges(std::span(extents.begin(), extents.end()), attributes);
  pool_with_mask<T>(images_of(x, ranges), x, out, mask);
}

template <typename T, typename Context>
void FractionalMaxPoolKernel(const Context&, const DenseTensor& x,
                             const std::vector<int>& output_size,
                             const std::vector<int>& kernel_size, float random_u, DenseTensor* out,
                             DenseTensor* mask) {
  const Dims extents = ImageLayout("NCHW").spatial(x.dims());
  const auto ranges = fractional_ranges(std::span(extents.begin(), extents.end()), output_size,
                                        kernel_size, random_u);
  pool_with_mask<T>(images_of(x, ranges), x, out, mask);
}

/// Errors   InvalidArgument for a position outside its image.
template <typename T, typename Context>
void MaxPoolWithIndexGradKernel(const Context&, const DenseTensor& mask,
                                const DenseTensor& out_grad, DenseTensor* x_grad) {
  using C = compute_t<T>;
  const T* g = out_grad.data<T>();
  const auto sums = std::make_unique<C[]>(x_grad->numel());
  for_each_place<int32_t>(mask, x_grad->dims(), "mask",
                          [&](int64_t image, int64_t output, int64_t place) {
                            sums[image + place] += convert_value<C>(g[output]);
                          });
  convert(sums.get(), x_grad->mutable_data<T>(), x_grad->numel());
}

/// If several elements have the same position, the last one stays.
///
/// Errors   InvalidArgument for a position outside its image, on every rank.
template <typename T, typename Context>
void UnpoolKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& indices,
                  DenseTensor* out) {
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  std::fill_n(to, out->numel(), T(0));
  for_each_checked_index(
      ctx, indices, out->dims(),
      [&](int64_t image, int64_t position, int64_t place) { to[image + place] = from[position]; });
}

template <typename T, typename Context>
void UnpoolGradKernel(const Context& ctx, const DenseTensor& indices, const DenseTensor& out_grad,
                      DenseTensor* x_grad) {
  const T* from = out_grad.data<T>();
  T* to = x_grad->mutable_data<T>();
  std::fill_n(to, x_grad->numel(), T(0));
  for_each_checked_index(
      ctx, indices, out_grad.dims(),
      [&](int64_t image, int64_t position, int64_t place) { to[position] = from[image + place]; });
}

// A dry run counts the message of the flag.
template <typename T, typename Context>
void UnpoolDry(const Context& ctx, const DenseTensor&, const DenseTensor&, DenseTensor*) {
  DenseTensor flag = DenseTensor::empty({{1}, DataType::INT64}, ctx.place());
  combine_flags(ctx, &flag);
}

PHI_REGISTER_KERNEL(max_pool_with_index, CPU, MaxPoolWithIndexKernel, Floats);
PHI_REGISTER_KERNEL(fractional_max_pool, CPU, FractionalMaxPoolKernel, Floats);
PHI_REGISTER_KERNEL(max_pool_with_index_grad, CPU, MaxPoolWithIndexGradKernel, Floats);
PHI_REGISTER_KERNEL(unpool, CPU, UnpoolKernel, SignedNumbers);
PHI_REGISTER_KERNEL(unpool_grad, CPU, UnpoolGradKernel, SignedNumbers);
PHI_REGISTER_DRY_KERNEL(unpool, UnpoolDry, SignedNumbers);
PHI_REGISTER_DRY_KERNEL(unpool_grad, UnpoolDry, SignedNumbers);

}  // namespace phi
