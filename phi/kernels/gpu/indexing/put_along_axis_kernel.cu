// put_along_axis and its gradient on GPUs. One thread combines the values that are put to an
// element, in index order.
#include <string>

#include "phi/generated/kernels/indexing.h"
#include "phi/infermeta/axes.h"
#include "phi/kernels/functors/put.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/indexing/elements.h"

namespace phi {
namespace {

/// The values for element i of arr: values[positions[k]] for k from begins[i] to begins[i + 1] - 1.
template <typename T>
struct PutValues {
  const T* self;
  const T* values;
  const int64_t* begins;
  const int64_t* positions;
  bool include_self;

  PHI_HD int64_t count(int64_t i) const { return begins[i + 1] - begins[i]; }
  PHI_HD T value(int64_t k) const { return values[positions[k]]; }
};

template <typename T>
struct LastPut {
  PutValues<T> puts;
  PHI_HD T operator()(int64_t i) const {
    return puts.count(i) > 0 ? puts.value(puts.begins[i + 1] - 1) : puts.self[i];
  }
};

/// kMean divides the sum by the number of its terms.
template <typename T, typename Put, bool kMean>
struct ReducePuts {
  using C = compute_t<T>;
  PutValues<T> puts;
  PHI_HD T operator()(int64_t i) const {
    const int64_t count = puts.count(i);
    if (count == 0) return puts.self[i];
    C result = puts.include_self ? static_cast<C>(puts.self[i]) : Put::kStart;
    for (int64_t k = puts.begins[i]; k < puts.begins[i + 1]; ++k) {
      result = Put()(result, static_cast<C>(puts.value(k)));
    }
    if constexpr (kMean) {
      result = static_cast<C>(result / static_cast<C>(count + (puts.include_self ? 1 : 0)));
    }
    return static_cast<T>(result);
  }
};

template <typename T, typename Put, bool kMean = false>
void reduce_puts(const GpuContext& ctx, const PutValues<T>& puts, DenseTensor* out) {
  index_loop(ctx, out->mutable_data<T>(), out->numel(), ReducePuts<T, Put, kMean>{puts});
}

enum class PutMode : uint8_t { kAssign, kSum, kMean, kExtreme, kProduct };

PutMode mode_of(const std::string& reduce) {
  if (reduce == "assign") return PutMode::kAssign;
  if (reduce == "add") return PutMode::kSum;
  if (reduce == "mean") return PutMode::kMean;
  return reduce == "amax" || reduce == "amin" ? PutMode::kExtreme : PutMode::kProduct;
}

/// Statistics of the values that one element combines: those put to it, and its previous value if
/// included.
struct PartsOf {
  double grad;
  double result;
  double parts;    // number of values
  double shares;   // number of values equal to the result
  double product;  // product of the nonzero values
  double zeros;

  PHI_HD void add(double value) {
    parts += 1;
    shares += value == result ? 1 : 0;
    zeros += value == 0 ? 1 : 0;
    product *= value == 0 ? 1.0 : value;
  }
  PHI_HD double of(PutMode mode, double value) const {
    switch (mode) {
      case PutMode::kMean:
        return grad / parts;
      case PutMode::kExtreme:
        return value == result ? grad / shares : 0.0;
      case PutMode::kProduct: {
        const bool is_zero = value == 0;
        if (zeros > (is_zero ? 1 : 0)) return 0.0;
        return grad * (is_zero ? product : product / value);
      }
      default:
        return grad;
    }
  }
};

template <typename T>
struct PutAlongAxisGrad {
  PutValues<T> puts;
  const T* out;
  const T* out_grad;
  PutMode mode;
  T* self_grad;    // null: not computed
  T* values_grad;  // null: not computed; else initially zero

  PHI_HD void give(int64_t i) const {
    const bool takes_part = puts.include_self && mode != PutMode::kAssign;
    if (puts.count(i) == 0) {
      if (self_grad) self_grad[i] = out_grad[i];
      return;
    }
    PartsOf all{static_cast<double>(out_grad[i]), static_cast<double>(out[i]), 0, 0, 1, 0};
    const auto own = static_cast<double>(puts.self[i]);
    if (takes_part) all.add(own);
    for (int64_t k = puts.begins[i]; k < puts.begins[i + 1]; ++k) {
      all.add(static_cast<double>(puts.value(k)));
    }
    if (self_grad) self_grad[i] = convert_value<T>(takes_part ? all.of(mode, own) : 0.0);
    if (!values_grad) return;
    // Values that a later one overwrites have gradient 0.
    const int64_t first = mode == PutMode::kAssign ? puts.begins[i + 1] - 1 : puts.begins[i];
    for (int64_t k = first; k < puts.begins[i + 1]; ++k) {
      const auto value = static_cast<double>(puts.value(k));
      values_grad[puts.positions[k]] = convert_value<T>(all.of(mode, value));
    }
  }
};

template <typename T>
__global__ void give_gradients(PutAlongAxisGrad<T> gradients, int64_t n) {
  for (int64_t i = gpu::first_item(); i < n; i += gpu::item_stride()) gradients.give(i);
}

gpu::PositionsBySlice puts_of(const GpuContext& ctx, const DenseTensor& arr,
                              const DenseTensor& indices, const DenseTensor& values, int axis) {
  const int at = normalise_axis(axis, arr.ndim(), arr.dims());
  return gpu::positions_by_element(ctx, arr.dims(), {indices, "indices", FromEnd::kYes, at},
                                   values.dims());
}

}  // namespace

/// `axis` is unsharded. For mean, half precision is summed in float, and integers are truncated.
/// out may be arr.
template <typename T, typename Context>
void PutAlongAxisKernel(const Context& ctx, const DenseTensor& arr, const DenseTensor& indices,
                        const DenseTensor& values, int axis, const std::string& reduce,
                        bool include_self, DenseTensor* out) {
  using C = compute_t<T>;
  const auto named = puts_of(ctx, arr, indices, values, axis);
  const PutValues<T> puts{arr.data<T>(), values.data<T>(), named.first(), named.of(), include_self};
  if (reduce == "assign") {
    index_loop(ctx, out->mutable_data<T>(), out->numel(), LastPut<T>{puts});
  } else if (reduce == "add") {
    reduce_puts<T, PutAdd<C>>(ctx, puts, out);
  } else if (reduce == "amax") {
    reduce_puts<T, PutLargest<C>>(ctx, puts, out);
  } else if (reduce == "amin") {
    reduce_puts<T, PutSmallest<C>>(ctx, puts, out);
  } else if (reduce == "mean") {
    reduce_puts<T, PutAdd<C>, true>(ctx, puts, out);
  } else {
    reduce_puts<T, PutMultiply<C>>(ctx, puts, out);
  }
}

/// Values beyond the indices have gradient 0.
template <typename T, typename Context>
void PutAlongAxisGradKernel(const Context& ctx, const DenseTensor& arr, const DenseTensor& indices,
                            const DenseTensor& values, const DenseTensor& out,
                            const DenseTensor& out_grad, int axis, const std::string& reduce,
                            bool include_self, DenseTensor* arr_grad, DenseTensor* values_grad) {
  if (values_grad) fill(ctx, values_grad->mutable_data<T>(), values_grad->numel(), T(0.0f));
  const auto named = puts_of(ctx, arr, indices, values, axis);
  const int64_t n = arr.numel();
  if (n == 0) return;
  const PutAlongAxisGrad<T> gradients{
      {arr.data<T>(), values.data<T>(), named.first(), named.of(), include_self},
      out.data<T>(),
      out_grad.data<T>(),
      mode_of(reduce),
      arr_grad ? arr_grad->mutable_data<T>() : nullptr,
      values_grad ? values_grad->mutable_data<T>() : nullptr};
  gpu::launch(ctx, give_gradients<T>, gpu::blocks_for(ctx, n), gpu::kBlock, gradients, n);
}

PHI_REGISTER_KERNEL(put_along_axis, GPU, PutAlongAxisKernel, RealNumbers);
PHI_REGISTER_KERNEL(put_along_axis_grad, GPU, PutAlongAxisGradKernel, Floats);

}  // namespace phi
