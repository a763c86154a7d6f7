// Max pooling with indices, and unpooling, on GPUs. An index counts through the flattened spatial
// dims of its image; -1 represents a window without elements.
#include "phi/generated/kernels/pool.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/indexing/slices.h"
#include "phi/kernels/gpu/windowed/pool_windows.h"
#include "phi/kernels/windowed/image_index_errors.h"

namespace phi {
namespace {

template <typename T>
__global__ void pool_with_places(gpu::PoolWindows windows, const T* x, int64_t n, T* values,
                                 int32_t* places) {
  for (int64_t i = gpu::first_item(); i < n; i += gpu::item_stride()) {
    const gpu::LargestOfWindow<compute_t<T>> largest(windows, i, x);
    values[i] = static_cast<T>(largest.most);
    places[i] = static_cast<int32_t>(largest.place);
  }
}

template <typename T>
void pool_with_mask(const GpuContext& ctx, const DenseTensor& x,
                    const std::vector<PoolRanges>& ranges, DenseTensor* out, DenseTensor* mask) {
  if (out->numel() == 0) return;
  const gpu::DeviceWindows windows(ctx, {x.dims(), ImageLayout("NCHW"), ranges});
  gpu::launch(ctx, pool_with_places<T>, gpu::blocks_for(ctx, out->numel()), gpu::kBlock,
              windows.get(), x.data<T>(), out->numel(), out->mutable_data<T>(),
              mask->mutable_data<int32_t>());
}

/// Indices into images. Each image has `each` indices and `size` elements.
template <typename Index>
struct PoolIndices {
  const Index* data;
  int64_t each;
  int64_t size;

  /// The offset of the element that index i selects; negative for none.
  PHI_HD int64_t operator()(int64_t i) const {
    const int64_t place = data[i];
    return place < 0 || place >= size ? -1 : i / each * size + place;
  }
};

template <typename Index>
PoolIndices<Index> pool_indices(const DenseTensor& places, const Dims& image) {
  return {places.data<Index>(), places.dims().numel(2, places.ndim()),
          image.numel(2, image.ndim())};
}

struct IsOutsideImage {
  int64_t size;
  PHI_HD bool operator()(int64_t place) const { return place < -1 || place >= size; }
};

template <typename Index>
void refuse_outside(const GpuContext& ctx, const DenseTensor& places, const Dims& image,
                    const char* name) {
  const int64_t size = image.numel(2, image.ndim());
  check_elements<Index>(ctx, places, IsOutsideImage{size},
                        {.argument = name,
                         .raise =
                             [](const DeviceAssertion& found) {
                               throw_outside_image(found.argument, found.value, found.at,
                                                   found.extent);
                             },
                         .extent = size});
}

template <typename Index>
struct CountOutside {
  IsOutsideImage is_outside;
  PHI_HD int64_t operator()(Index place) const { return is_outside(place) ? 1 : 0; }
};
struct IsSet {
  PHI_HD bool operator()(int64_t flag) const { return flag != 0; }
};

/// Rejects invalid indices on every rank alike: with the rank's own error, or with the report that
/// another rank has one.
template <typename Index>
void check_indices(const GpuContext& ctx, const DenseTensor& indices, const Dims& image) {
  refuse_outside<Index>(ctx, indices, image, "indices");
  if (!ctx.view()) return;
  DenseTensor outside = DenseTensor::empty({indices.dims(), DataType::INT64}, ctx.place());
  unary_loop(ctx, indices.data<Index>(), outside.mutable_data<int64_t>(), indices.numel(),
             CountOutside<Index>{{image.numel(2, image.ndim())}});
  DenseTensor flag = DenseTensor::empty({{1}, DataType::INT64}, ctx.place());
  reduce_all<SumReducer<int64_t>>(ctx, outside.data<int64_t>(), indices.numel(),
                                  flag.mutable_data<int64_t>());
  for (int d = 0; d < 2; ++d) ctx.view()->combine_over(1, d, CombineKind::kMax, &flag);
  check_elements<int64_t>(ctx, flag, IsSet(),
                          {.argument = "indices", .raise = [](const DeviceAssertion&) {
                             throw_outside_image_elsewhere();
                           }});
}

/// Calls f.template operator()<Index>() with the type of `indices`.
template <typename F>
void visit_index(const DenseTensor& indices, const F& f) {
  if (indices.dtype() == DataType::INT32) return f.template operator()<int32_t>();
  f.template operator()<int64_t>();
}

/// last[place] = the last position that selects it, counted from 1. Must be 0 before.
template <typename Index>
__global__ void find_last(PoolIndices<Index> places, int64_t n, unsigned long long* last) {
  for (int64_t i = gpu::first_item(); i < n; i += gpu::item_stride()) {
    const int64_t place = places(i);
    if (place >= 0) atomicMax(last + place, static_cast<unsigned long long>(i + 1));
  }
}

template <typename T>
struct PutLast {
  const int64_t* last;
  const T* x;
  PHI_HD T operator()(int64_t i) const { return last[i] > 0 ? x[last[i] - 1] : T(0.0f); }
};

template <typename T, typename Index>
struct TakeIndexed {
  PoolIndices<Index> places;
  const T* from;
  PHI_HD T operator()(int64_t i) const {
    const int64_t place = places(i);
    return place >= 0 ? from[place] : T(0.0f);
  }
};

}  // namespace

template <typename T, typename Context>
void MaxPoolWithIndexKernel(const Context& ctx, const DenseTensor& x,
                            const std::vector<int>& kernel_size, const std::vector<int>& strides,
                            const std::vector<int>& paddings, bool global_pooling, bool adaptive,
                            bool ceil_mode, DenseTensor* out, DenseTensor* mask) {
  const PoolAttributes attributes{entries(kernel_size), strides,  paddings,  ceil_mode,
                                  global_pooling,       adaptive, "EXPLICIT"};
  const Dims extents = ImageLayout("NCHW").spatial(x.dims());
  pool_with_mask<T>(ctx, x, pool_ranges(std::span(extents.begin(), extents.end()), attributes), out,
                    mask);
}

template <typename T, typename Context>
void FractionalMaxPoolKernel(const Context& ctx, const DenseTensor& x,
                             const std::vector<int>& output_size,
                             const std::vector<int>& kernel_size, float random_u, DenseTensor* out,
                             DenseTensor* mask) {
  const Dims extents = ImageLayout("NCHW").spatial(x.dims());
  pool_with_mask<T>(ctx, x,
                    fractional_ranges(std::span(extents.begin(), extents.end()), output_size,
                                      kernel_size, random_u),
                    out, mask);
}

/// Each element sums the gradients of the positions that select it, in order. Errors:
/// InvalidArgument for an index outside of its image.
template <typename T, typename Context>
void MaxPoolWithIndexGradKernel(const Context& ctx, const DenseTensor& mask,
                                const DenseTensor& out_grad, DenseTensor* x_grad) {
  refuse_outside<int32_t>(ctx, mask, x_grad->dims(), "mask");
  const int64_t n = x_grad->numel();
  if (n == 0) return;
  DenseTensor places = DenseTensor::empty({mask.dims(), DataType::INT64}, ctx.place());
  index_loop(ctx, places.mutable_data<int64_t>(), mask.numel(),
             pool_indices<int32_t>(mask, x_grad->dims()));
  T* const to = x_grad->mutable_data<T>();
  gpu::add_positions<T>(ctx, SumsFrom::kZero, {1, n, 1}, gpu::positions_by_slice(ctx, places, n),
                        mask.numel(), to, out_grad.data<T>(), to);
}

/// If several elements have one index, the last is stored. Errors: as above.
template <typename T, typename Context>
void UnpoolKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& indices,
                  DenseTensor* out) {
  visit_index(indices, [&]<typename Index>() {
    check_indices<Index>(ctx, indices, out->dims());
    DenseTensor last = DenseTensor::empty({out->dims(), DataType::INT64}, ctx.place());
    fill(ctx, last.mutable_data<int64_t>(), last.numel(), int64_t{0});
    if (indices.numel() > 0) {
      gpu::launch(ctx, find_last<Index>, gpu::blocks_for(ctx, indices.numel()), gpu::kBlock,
                  pool_indices<Index>(indices, out->dims()), indices.numel(),
                  static_cast<unsigned long long*>(last.mutable_raw_data()));
    }
    index_loop(ctx, out->mutable_data<T>(), out->numel(),
               PutLast<T>{last.data<int64_t>(), x.data<T>()});
  });
}

template <typename T, typename Context>
void UnpoolGradKernel(const Context& ctx, const DenseTensor& indices, const DenseTensor& out_grad,
                      DenseTensor* x_grad) {
  visit_index(indices, [&]<typename Index>() {
    check_indices<Index>(ctx, indices, out_grad.dims());
    index_loop(
        ctx, x_grad->mutable_data<T>(), x_grad->numel(),
        TakeIndexed<T, Index>{pool_indices<Index>(indices, out_grad.dims()), out_grad.data<T>()});
  });
}

PHI_REGISTER_KERNEL(max_pool_with_index, GPU, MaxPoolWithIndexKernel, Floats);
PHI_REGISTER_KERNEL(fractional_max_pool, GPU, FractionalMaxPoolKernel, Floats);
PHI_REGISTER_KERNEL(max_pool_with_index_grad, GPU, MaxPoolWithIndexGradKernel, Floats);
PHI_REGISTER_KERNEL(unpool, GPU, UnpoolKernel, SignedNumbers);
PHI_REGISTER_KERNEL(unpool_grad, GPU, UnpoolGradKernel, SignedNumbers);

}  // namespace phi
