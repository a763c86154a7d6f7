// nanmedian and its gradient on GPUs.
#include <limits>
#include <string>

#include "phi/common/errors.h"
#include "phi/generated/kernels/sort.h"
#include "phi/kernels/functors/median.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/partition_point.h"
#include "phi/kernels/gpu/sort/order_lines.h"

namespace phi {
namespace {

/// The median of a row: the two middle ones of its sorted elements that are not NaN.
template <typename T>
struct Medians {
  using C = compute_t<T>;
  const T* x;
  const int64_t* ordered;  // as order_lines() returns them
  gpu::WalkLines lines;
  bool both;
  T* out;
  int64_t* places;

  __device__ void find(int64_t line) const {
    const int64_t first = lines.start(line);
    const auto place = [&](int64_t k) { return ordered[line * lines.n + k] - line * lines.n; };
    const auto value = [&](int64_t at) { return static_cast<C>(x[first + lines.at(at)]); };
    const int64_t numbers = gpu::partition_point(lines.n, [&](int64_t k) {
      const C element = value(place(k));
      return element == element;
    });
    const int64_t upper = numbers == 0 ? -1 : place(numbers / 2);
    const int64_t lower = numbers == 0 ? -1 : place((numbers - 1) / 2);
    if (numbers == 0) {
      out[line] = static_cast<T>(std::numeric_limits<C>::quiet_NaN());
    } else {
      out[line] = static_cast<T>(both ? middle(value(lower), value(upper)) : value(lower));
    }
    if (!both) {
      places[line] = lower;
      return;
    }
    places[2 * line] = lower;
    places[2 * line + 1] = upper;
  }
};

template <typename T>
__global__ void find_medians(Medians<T> medians) {
  for (int64_t line = gpu::first_item(); line < medians.lines.count; line += gpu::item_stride()) {
    medians.find(line);
  }
}

/// Adds a row's gradient to its `each` elements, in their order.
template <typename T>
__global__ void give_shares(const int64_t* places, const T* out_grad, gpu::WalkLines lines,
                            int64_t each, T* x_grad) {
  using C = compute_t<T>;
  for (int64_t line = gpu::first_item(); line < lines.count; line += gpu::item_stride()) {
    const C share = static_cast<C>(out_grad[line]) / static_cast<C>(each);
    for (int64_t m = line * each; m < (line + 1) * each; ++m) {
      if (places[m] < 0 || places[m] >= lines.n) continue;
      T& target = x_grad[lines.start(line) + lines.at(places[m])];
      target = static_cast<T>(static_cast<C>(target) + share);
    }
  }
}

struct IsPastRowEnd {
  int64_t length;
  PHI_HD bool operator()(int64_t place) const { return place >= length; }
};

[[noreturn]] void throw_past_row_end(const DeviceAssertion& found) {
  throw errors::InvalidArgument(
      "medians hold {}, but a row has {} elements; pass those of the forward call.", found.value,
      found.extent);
}

}  // namespace

template <typename T, typename Context>
void NanmedianKernel(const Context& ctx, const DenseTensor& x, const IntArray& axis,
                     const std::string& mode, DenseTensor* out, DenseTensor* medians) {
  if (out->numel() == 0) return;
  const gpu::WalkLines lines(x.dims(), normalise_axes(axis, x.dims()));
  const DenseTensor ordered = gpu::order_lines<T>(ctx, x, lines, false);
  gpu::launch(ctx, find_medians<T>, gpu::blocks_for(ctx, lines.count), gpu::kBlock,
              Medians<T>{x.data<T>(), ordered.data<int64_t>(), lines, mode == "avg",
                         out->mutable_data<T>(), medians->mutable_data<int64_t>()});
}

/// Errors: InvalidArgument for indices that are out of range.
template <typename T, typename Context>
void NanmedianGradKernel(const Context& ctx, const DenseTensor& medians,
                         const DenseTensor& out_grad, const IntArray& axis, DenseTensor* x_grad) {
  const gpu::WalkLines lines(x_grad->dims(), normalise_axes(axis, x_grad->dims()));
  fill(ctx, x_grad->mutable_data<T>(), x_grad->numel(), T(0.0f));
  if (x_grad->numel() == 0) return;
  check_elements<int64_t>(ctx, medians, IsPastRowEnd{lines.n},
                          {.argument = "medians", .raise = throw_past_row_end, .extent = lines.n});
  gpu::launch(ctx, give_shares<T>, gpu::blocks_for(ctx, lines.count), gpu::kBlock,
              medians.data<int64_t>(), out_grad.data<T>(), lines, medians.numel() / lines.count,
              x_grad->mutable_data<T>());
}

PHI_REGISTER_KERNEL(nanmedian, GPU, NanmedianKernel, SignedNumbers);
PHI_REGISTER_KERNEL(nanmedian_grad, GPU, NanmedianGradKernel, Floats);

}  // namespace phi
