// Gradients of the activations of activation.h. Each returns the gradient of x for the gradient `g`
// of the result, and is a function of x or of the result `out`. T is float or double.
#pragma once

#include <cmath>

#include "phi/kernels/functors/elementwise/activation.h"
#include "phi/kernels/functors/elementwise/unary_grad.h"
#include "phi/kernels/functors/elementwise/unary_math_grad.h"
#include "phi/kernels/functors/fast/complex_math.h"

namespace phi {

template <typename T>
struct CeluGradFunctor {
  T alpha;
  PHI_HD T operator()(T x, T g) const { return x > T(0) ? g : g * fast::exp(x / alpha); }
};

template <typename T>
struct EluGradFunctor {
  T alpha;
  PHI_HD T operator()(T x, T g) const { return x > T(0) ? g : g * alpha * fast::exp(x); }
};

/// scale * alpha is computed in float, the type of the attributes.
template <typename T>
struct SeluGradFunctor {
  T scale;
  T alpha;
  PHI_HD T operator()(T out, T g) const {
    const float limit = static_cast<float>(scale) * static_cast<float>(alpha);
    return out > T(0) ? g * scale : g * (out + static_cast<T>(limit));
  }
};

/// For hardshrink and softshrink.
template <typename T>
struct ShrinkGradFunctor {
  T threshold;
  PHI_HD T operator()(T x, T g) const { return x > threshold || x < -threshold ? g : T(0); }
};

template <typename T>
struct TanhShrinkGradFunctor {
  PHI_HD T operator()(T x, T g) const {
    const T t = fast::tanh(x);
    return g * t * t;
  }
};

template <typename T>
struct HardsigmoidGradFunctor {
  T slope;
  PHI_HD T operator()(T out, T g) const { return out > T(0) && out < T(1) ? g * slope : T(0); }
};

template <typename T>
struct HardswishGradFunctor {
  PHI_HD T operator()(T x, T g) const {
    const T inner = x > T(-3) ? g * (x / T(3) + T(0.5)) : T(0);
    return x >= T(3) ? g : inner;
  }
};

template <typename T>
struct Relu6GradFunctor {
  PHI_HD T operator()(T out, T g) const { return HardTanhGradFunctor<T>{0, 6}(out, g); }
};

template <typename T>
struct LeakyReluGradFunctor {
  T negative_slope;
  PHI_HD T operator()(T x, T g) const { return x < T(0) ? g * negative_slope : g; }
};

template <typename T>
struct ThresholdedReluGradFunctor {
  T threshold;
  PHI_HD T operator()(T x, T g) const { return x > threshold ? g : T(0); }
};

template <typename T>
struct LogsigmoidGradFunctor {
  PHI_HD T operator()(T x, T g) const { return g * fast::sigmoid(-x); }
};

template <typename T>
struct SoftplusGradFunctor {
  T beta;
  T threshold;
  PHI_HD T operator()(T x, T g) const {
    const T z = beta * x;
    return z > threshold ? g : g * fast::sigmoid(z);
  }
};

/// t + x (1 - t^2) s, where t is the tanh of the softplus of x and s the derivative of softplus.
template <typename T>
struct MishGradFunctor {
  T threshold;
  PHI_HD T operator()(T x, T g) const {
    x = detail::within(x, T(1000));
    const T t = detail::tanh_softplus(x, threshold);
    const T slope = x > threshold ? T(1) : fast::sigmoid(x);
    return g * (t + x * (T(1) - t * t) * slope);
  }
};

template <typename T>
struct SoftsignGradFunctor {
  PHI_HD T operator()(T x, T g) const {
    const T below = T(1) + std::fabs(x);
    return g / below / below;
  }
};

template <typename T>
struct StanhGradFunctor {
  T scale_a;
  T scale_b;
  PHI_HD T operator()(T x, T g) const {
    const T t = fast::tanh(scale_a * x);
    return g * scale_a * scale_b * (T(1) - t * t);
  }
};

}  // namespace phi
