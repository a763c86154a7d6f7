// Casts between any two dtypes.
#include "phi/kernels/functors/convert_value.h"
#include "phi/kernels/gpu/data_movement/cast.h"
#include "phi/kernels/gpu/elementwise/map.h"

namespace phi::gpu {

void keep_bytes(const GpuContext& ctx, const void* x, void* out, size_t bytes) {
  if (x == out || bytes == 0) return;
  GpuDevice::of(ctx.place())
      .copy(static_cast<std::byte*>(out), static_cast<const std::byte*>(x), bytes);
}

void cast_elements(const GpuContext& ctx, const void* x, DataType from, void* out, DataType to,
                   int64_t n) {
  if (from == to) return keep_bytes(ctx, x, out, static_cast<size_t>(n) * size_of(to));
  visit_any_dtype(from, [&]<typename From>() {
    visit_any_dtype(to, [&]<typename To>() {
      if constexpr (!std::is_same_v<From, To>)
        map(ctx, static_cast<To*>(out), n, ConvertFunctor<To>(), static_cast<const From*>(x));
    });
  });
}

}  // namespace phi::gpu
