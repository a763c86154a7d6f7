// Steps of the optimizers on the CPU, each one vectorised pass over param, grad and states, block
// by block where dtypes differ.
//
// learning_rate and grad_scale are float32 arrays of one element, `step` is an int64 one, so that a
// captured program can be given others. Errors: InvalidArgument naming one that is not.
// All: g = grad * grad_scale, 1 if that is absent; where it is not finite all stays as it is. With
// master_param, a float32 copy of a 16-bit param, the step is taken on the master and rounded into
// param. Otherwise a 16-bit param is widened, updated and rounded. States are float32 for 16-bit
// params, else param's dtype; grad may be float32 beside any param. An output may be its input's
// buffer, as it is when called as an op, or another one. T is param's dtype.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "phi/common/errors.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/optimizer.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/functors/hd.h"

namespace phi {
namespace {

/// Walks over param and grad. `update(at, n, weights, grads, out)` takes n elements from `at` on,
/// all in the computing type C: the weights, the gradients, and where the new weights go, which may
/// be where the old ones are.
template <typename T, typename G, typename Update>
void update_each(const T* param, const G* grad, const float* master, T* param_out,
                 float* master_out, int64_t size, const Update& update) {
  using C = compute_t<T>;
  if constexpr (std::is_same_v<T, C> && std::is_same_v<G, C>) {
    update(0, size, param, grad, param_out);
  } else {
    C grads[kConvertBlock];
    for (int64_t at = 0; at < size; at += kConvertBlock) {
      const int64_t n = std::min(kConvertBlock, size - at);
      const C* gs = grads;
      if constexpr (std::is_same_v<G, C>) {
        gs = grad + at;
      } else {
        convert(grad + at, grads, n);
      }
      if constexpr (std::is_same_v<T, C>) {
        update(at, n, param + at, gs, param_out + at);
      } else {
        C rounded[kConvertBlock];
        C* out = master ? master_out + at : rounded;
        if (!master) convert(param + at, rounded, n);
        update(at, n, master ? master + at : rounded, gs, out);
        convert(out, param_out + at, n);
      }
    }
  }
}

template <typename T, typename Update>
void update_all(const DenseTensor& param, const DenseTensor& grad, const DenseTensor* master,
                DenseTensor* param_out, DenseTensor* master_out, const Update& update) {
  const float* from = master ? master->data<float>() : nullptr;
  float* to = master ? master_out->mutable_data<float>() : nullptr;
  const T* old = param.data<T>();
  T* out = param_out->mutable_data<T>();
  if constexpr (!std::is_same_v<T, float>) {
    if (grad.dtype() == DataType::FLOAT32)
      return update_each(old, grad.data<float>(), from, out, to, param.numel(), update);
  }
  update_each(old, grad.data<T>(), from, out, to, param.numel(), update);
}

/// The only element.
template <typename T>
T number_in(const DenseTensor& x, const char* name) {
  PHI_CHECK(x.numel() == 1 && x.dtype() == dtype_of<T>(),
            errors::InvalidArgument("{} is {}, but it must be one number of {}; make it with full.",
                                    name, x.meta().to_string(), name_of(dtype_of<T>())));
  return *x.data<T>();
}

float scale_in(const DenseTensor* grad_scale) {
  return grad_scale ? number_in<float>(*grad_scale, "grad_scale") : 1.0f;
}

void keep(const DenseTensor& x, DenseTensor* out) {
  const void* from = x.raw_data();
  void* to = out->mutable_raw_data();
  if (from != to && x.nbytes() > 0) std::memcpy(to, from, x.nbytes());
}

}  // namespace

/// g += weight_decay * param (an L2 penalty: decay goes through the gradient, after grad_scale),
/// param -= learning_rate * g.
template <typename T, typename Context>
void SgdKernel(const Context&, const DenseTensor& param, const DenseTensor& grad,
               const DenseTensor* master_param, const DenseTensor& learning_rate,
               const DenseTensor* grad_scale, float weight_decay, DenseTensor* param_out,
               DenseTensor* master_param_out) {
  using C = compute_t<T>;
  const C rate = number_in<float>(learning_rate, "learning_rate");
  const C decay = weight_decay;
  const C scale = scale_in(grad_scale);
  if (!std::isfinite(scale)) {
    keep(param, param_out);
    if (master_param) keep(*master_param, master_param_out);
    return;
  }
  const auto update = [=](int64_t, int64_t n, const C* w, const C* grads, C* out) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = w[i] - rate * (grads[i] * scale + decay * w[i]);
  };
  update_all<T>(param, grad, master_param, param_out, master_param_out, update);
}

/// g += weight_decay * param, velocity = mu * velocity + g, and then
/// param -= learning_rate * (use_nesterov ? g + mu * velocity : velocity).
/// The first step takes velocity 0. Sutskever, Martens, Dahl, Hinton, 2013; the learning rate
/// stands outside of the velocity, so that a change of it acts at once.
template <typename T, typename Context>
void MomentumKernel(const Context&, const DenseTensor& param, const DenseTensor& grad,
                    const DenseTensor& velocity, const DenseTensor* master_param,
                    const DenseTensor& learning_rate, const DenseTensor* grad_scale, float mu,
                    bool use_nesterov, float weight_decay, DenseTensor* param_out,
                    DenseTensor* velocity_out, DenseTensor* master_param_out) {
  using C = compute_t<T>;
  const C rate = number_in<float>(learning_rate, "learning_rate");
  const C kept = mu;
  const C decay = weight_decay;
  const C scale = scale_in(grad_scale);
  if (!std::isfinite(scale)) {
    keep(param, param_out);
    keep(velocity, velocity_out);
    if (master_param) keep(*master_param, master_param_out);
    return;
  }
  const C* old_velocity = velocity.data<C>();
  C* new_velocity = velocity_out->mutable_data<C>();
  const auto update = [=](int64_t at, int64_t n, const C* w, const C* grads, C* out) {
    const C* from = old_velocity + at;
    C* to = new_velocity + at;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const C g = grads[i] * scale + decay * w[i];
      const C v = kept * from[i] + g;
      to[i] = v;
      out[i] = w[i] - rate * (use_nesterov ? g + kept * v : v);
    }
  };
  update_all<T>(param, grad, master_param, param_out, master_param_out, update);
}

/// moment1 = beta1 * moment1 + (1 - beta1) * g, moment2 = beta2 * moment2 + (1 - beta2) * g^2,
/// param -= learning_rate * (m / (sqrt(v) + epsilon) + weight_decay * param) with
/// m = moment1 / (1 - beta1^step), v = moment2 / (1 - beta2^step); `step` counts from 1.
/// Loshchilov, Hutter: Decoupled Weight Decay Regularization, 2019.
/// Errors: InvalidArgument for step < 1.
template <typename T, typename Context>
void AdamwKernel(const Context&, const DenseTensor& param, const DenseTensor& grad,
                 const DenseTensor& moment1, const DenseTensor& moment2,
                 const DenseTensor* master_param, const DenseTensor& learning_rate,
                 const DenseTensor& step, const DenseTensor* grad_scale, float beta1, float beta2,
                 float epsilon, float weight_decay, DenseTensor* param_out,
                 DenseTensor* moment1_out, DenseTensor* moment2_out,
                 DenseTensor* master_param_out) {
  using C = compute_t<T>;
  const auto number = number_in<int64_t>(step, "step");
  PHI_CHECK(number >= 1, errors::InvalidArgument("step is {}, but steps count from 1: the bias "
                                                 "correction of step 0 divides by zero.",
                                                 number));
  const C scale = scale_in(grad_scale);
  if (!std::isfinite(scale)) {
    keep(param, param_out);
    keep(moment1, moment1_out);
    keep(moment2, moment2_out);
    if (master_param) keep(*master_param, master_param_out);
    return;
  }
  // What holds for all elements is worked out in double: 1 - beta2^step loses digits in float.
  const double b1 = beta1;
  const double b2 = beta2;
  const auto t = static_cast<double>(number);
  const auto lr = number_in<float>(learning_rate, "learning_rate");
  const C keep1 = static_cast<C>(b1);
  const C take1 = static_cast<C>(1 - b1);
  const C keep2 = static_cast<C>(b2);
  const C take2 = static_cast<C>(1 - b2);
  const C rate = static_cast<C>(lr / (1 - std::pow(b1, t)));
  const C root_factor = static_cast<C>(1 / std::sqrt(1 - std::pow(b2, t)));
  const C shrink = static_cast<C>(1 - static_cast<double>(lr) * weight_decay);
  const C small = epsilon;
  const C* m_old = moment1.data<C>();
  const C* v_old = moment2.data<C>();
  C* m_new = moment1_out->mutable_data<C>();
  C* v_new = moment2_out->mutable_data<C>();
  const auto update = [=](int64_t at, int64_t n, const C* w, const C* grads, C* out) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const C g = grads[i] * scale;
      const C m = keep1 * m_old[at + i] + take1 * g;
      const C v = keep2 * v_old[at + i] + take2 * g * g;
      m_new[at + i] = m;
      v_new[at + i] = v;
      out[i] = w[i] * shrink - rate * m / (std::sqrt(v) * root_factor + small);
    }
  };
  update_all<T>(param, grad, master_param, param_out, master_param_out, update);
}

PHI_REGISTER_KERNEL(sgd, CPU, SgdKernel, Floats);
PHI_REGISTER_KERNEL(momentum, CPU, MomentumKernel, Floats);
PHI_REGISTER_KERNEL(adamw, CPU, AdamwKernel, Floats);

}  // namespace phi
