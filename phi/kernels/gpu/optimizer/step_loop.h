// The loop of optimizer steps on GPUs: one pass over param, grad and states. The first thread of
// each block constructs the step from numbers in GPU memory.
#pragma once

#include <array>

#include "phi/gpu/launch.h"
#include "phi/kernels/functors/hd.h"
#include "phi/kernels/templates/optimizer/optimizer_arrays.h"

namespace phi {
namespace gpu {

template <typename C, size_t kStates>
struct StateArrays {
  const C* from[kStates + 1];
  C* to[kStates + 1];
};

/// Arrays of one parameter. The master pointers are null if there are no master weights.
template <typename T, typename G>
struct TrainedArrays {
  const T* param;
  const G* grad;
  const float* master;
  T* param_out;
  float* master_out;
};

template <typename T, typename G, typename Make, size_t kStates>
__device__ void step_element(const TrainedArrays<T, G>& x,
                             const StateArrays<compute_t<T>, kStates>& states, int64_t i,
                             const typename Make::Function& step) {
  using C = compute_t<T>;
  C s[kStates + 1];
  PHI_UNROLL(4)
  for (size_t k = 0; k < kStates; ++k) s[k] = states.from[k][i];
  const C weight = x.master ? static_cast<C>(x.master[i]) : static_cast<C>(x.param[i]);
  const C stepped = step(weight, static_cast<C>(x.grad[i]), s);
  if (x.master) x.master_out[i] = static_cast<float>(stepped);
  x.param_out[i] = static_cast<T>(stepped);
  PHI_UNROLL(4)
  for (size_t k = 0; k < kStates; ++k) states.to[k][i] = s[k];
}

template <typename T, typename G, size_t kStates>
__device__ void keep_element(const TrainedArrays<T, G>& x,
                             const StateArrays<compute_t<T>, kStates>& states, int64_t i) {
  if (x.master) x.master_out[i] = x.master[i];
  x.param_out[i] = x.param[i];
  PHI_UNROLL(4)
  for (size_t k = 0; k < kStates; ++k) states.to[k][i] = states.from[k][i];
}

template <typename T, typename G, typename Make, size_t kStates>
__global__ void step_elements(TrainedArrays<T, G> x, StateArrays<compute_t<T>, kStates> states,
                              int64_t n, Make make) {
  __shared__ typename Make::Function step;
  const bool is_taken = make.is_taken();
  if (is_taken && threadIdx.x == 0) step = make.step();
  __syncthreads();
  for (int64_t i = first_item(); i < n; i += item_stride()) {
    if (is_taken) {
      step_element<T, G, Make, kStates>(x, states, i, step);
    } else {
      keep_element<T, G, kStates>(x, states, i);
    }
  }
}

/// The only element of a one-element array, and its dtype.
struct ScalarOutput {
  void* out;
  DataType dtype;
  explicit ScalarOutput(DenseTensor* x) : out(x->mutable_raw_data()), dtype(x->dtype()) {}
};

template <typename Value>
__device__ void store_scalar(const ScalarOutput& to, Value value) {
  void* const out = to.out;
  switch (to.dtype) {
    case DataType::FLOAT32:
      *static_cast<float*>(out) = convert_value<float>(value);
      break;
    case DataType::FLOAT64:
      *static_cast<double*>(out) = convert_value<double>(value);
      break;
    case DataType::FLOAT16:
      *static_cast<float16*>(out) = convert_value<float16>(value);
      break;
    case DataType::BFLOAT16:
      *static_cast<bfloat16*>(out) = convert_value<bfloat16>(value);
      break;
    case DataType::INT32:
      *static_cast<int32_t*>(out) = convert_value<int32_t>(value);
      break;
    case DataType::INT64:
      *static_cast<int64_t*>(out) = convert_value<int64_t>(value);
      break;
    case DataType::INT16:
      *static_cast<int16_t*>(out) = convert_value<int16_t>(value);
      break;
    case DataType::INT8:
      *static_cast<int8_t*>(out) = convert_value<int8_t>(value);
      break;
    case DataType::UINT8:
      *static_cast<uint8_t*>(out) = convert_value<uint8_t>(value);
      break;
    default:
      *static_cast<bool*>(out) = convert_value<bool>(value);
  }
}

template <typename F>
__global__ void write_number(ScalarOutput out, F f) {
  store_scalar(out, f());
}

template <typename T, typename G, typename Make>
void launch_step(const GpuContext& ctx, const TrainedParam& x,
                 const std::array<OptimizerState, Make::Function::kStates>& states,
                 const Make& make) {
  using C = compute_t<T>;
  constexpr size_t kStates = Make::Function::kStates;
  const int64_t n = x.param.numel();
  if (n == 0) return;
  StateArrays<C, kStates> arrays{};
  for (size_t k = 0; k < kStates; ++k) {
    arrays.from[k] = states[k].from.template data<C>();
    arrays.to[k] = states[k].to->template mutable_data<C>();
  }
  const TrainedArrays<T, G> trained{
      x.param.data<T>(), x.grad.data<G>(), x.master ? x.master->data<float>() : nullptr,
      x.param_out->mutable_data<T>(), x.master ? x.master_out->mutable_data<float>() : nullptr};
  launch(ctx, step_elements<T, G, Make, kStates>, blocks_for(ctx, n), kBlock, trained, arrays, n,
         make);
}

}  // namespace gpu

/// Applies the step that `make` constructs, or leaves all arrays unchanged if it constructs none. T
/// is the dtype of param.
template <typename T, typename Make>
void take_step(const GpuContext& ctx, const TrainedParam& x,
               const std::array<OptimizerState, Make::Function::kStates>& states,
               const Make& make) {
  if constexpr (!std::is_same_v<T, float>) {
    if (x.grad.dtype() == DataType::FLOAT32) {
      return gpu::launch_step<T, float>(ctx, x, states, make);
    }
  }
  gpu::launch_step<T, T>(ctx, x, states, make);
}

/// Writes the number f() to the only element of `out`.
template <typename F>
void set_number_of(const GpuContext& ctx, DenseTensor* out, const F& f) {
  gpu::launch(ctx, gpu::write_number<F>, 1, 1, gpu::ScalarOutput(out), f);
}

}  // namespace phi
