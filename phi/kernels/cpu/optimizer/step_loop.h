// The loop of optimizer steps: one vectorised pass over param, grad and states, in blocks if dtypes
// differ. templates/optimizer/optimizer_arrays.h explains dtypes and master weights.
#pragma once

#include <algorithm>
#include <array>
#include <type_traits>

#include "phi/core/dense_tensor.h"
#include "phi/core/device/device_context.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/loop_isa.h"
#include "phi/kernels/cpu/numbers.h"
#include "phi/kernels/functors/hd.h"
#include "phi/kernels/templates/optimizer/optimizer_arrays.h"

namespace phi {

namespace detail {

template <typename C, size_t kStates>
struct StateArrays {
  std::array<const C*, kStates> from;
  std::array<C*, kStates> to;
};

/// Not inlined, so that all dtypes with compute type C share one loop per step.
template <typename C, typename Step, size_t kStates>
[[gnu::noinline]] void step_run(const C* weights, const C* grads,
                                const StateArrays<C, kStates>& arrays, int64_t at, int64_t n,
                                C* out, const Step& taken) {
  run_best_isa<C>([=, states = arrays, step = taken] {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      C s[kStates + 1];
      for (size_t k = 0; k < kStates; ++k) s[k] = states.from[k][at + i];
      out[i] = step(weights[i], grads[i], s);
      for (size_t k = 0; k < kStates; ++k) states.to[k][at + i] = s[k];
    }
  });
}

template <typename T, typename G, typename Step, size_t kStates>
void step_blocks(const T* param, const G* grad, const float* master, T* param_out,
                 float* master_out, int64_t size, const StateArrays<compute_t<T>, kStates>& states,
                 const Step& step) {
  using C = compute_t<T>;
  if constexpr (std::is_same_v<T, C> && std::is_same_v<G, C>) {
    step_run(param, grad, states, 0, size, param_out, step);
  } else {
    C grads[kConvertBlock];
    for (int64_t at = 0; at < size; at += kConvertBlock) {
      const int64_t n = std::min(kConvertBlock, size - at);
      convert(grad + at, grads, n);
      if constexpr (std::is_same_v<T, C>) {
        step_run(param + at, grads, states, at, n, param_out + at, step);
      } else {
        C rounded[kConvertBlock];
        C* out = master ? master_out + at : rounded;
        if (!master) convert(param + at, rounded, n);
        step_run<C>(master ? master + at : rounded, grads, states, at, n, out, step);
        convert(out, param_out + at, n);
      }
    }
  }
}

}  // namespace detail

/// Runs the step on all elements. T is param's dtype.
template <typename T, typename Step>
void take_step(const TrainedParam& x, const std::array<OptimizerState, Step::kStates>& states,
               const Step& step) {
  using C = compute_t<T>;
  detail::StateArrays<C, Step::kStates> arrays;
  for (size_t k = 0; k < states.size(); ++k) {
    arrays.from[k] = states[k].from.template data<C>();
    arrays.to[k] = states[k].to->template mutable_data<C>();
  }
  const float* master = x.master ? x.master->data<float>() : nullptr;
  float* master_out = x.master ? x.master_out->mutable_data<float>() : nullptr;
  const T* param = x.param.data<T>();
  T* out = x.param_out->mutable_data<T>();
  const int64_t size = x.param.numel();
  if constexpr (!std::is_same_v<T, float>) {
    if (x.grad.dtype() == DataType::FLOAT32) {
      return detail::step_blocks(param, x.grad.data<float>(), master, out, master_out, size, arrays,
                                 step);
    }
  }
  detail::step_blocks(param, x.grad.data<T>(), master, out, master_out, size, arrays, step);
}

/// Runs the step that `make` creates, or leaves param, master and states unchanged if the step is
/// not taken.
template <typename T, typename Make>
void take_step(const CpuContext&, const TrainedParam& x,
               const std::array<OptimizerState, Make::Function::kStates>& states,
               const Make& make) {
  if (make.is_taken()) return take_step<T>(x, states, make.step());
  keep(x.param, x.param_out);
  keep(x.master, x.master_out);
  for (const OptimizerState& state : states) keep(state.from, state.to);
}

/// Writes the number f() to the only element of `out`.
template <typename F>
void set_number_of(const CpuContext&, DenseTensor* out, const F& f) {
  set_number(out, f());
}

}  // namespace phi
