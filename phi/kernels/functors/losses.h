// Elementwise losses and their gradients. T is a compute type (compute_t); g is the gradient of the
// loss.
#pragma once

#include <cmath>

#include "phi/kernels/functors/fast/math.h"
#include "phi/kernels/functors/hd.h"

namespace phi {

/// log(1 + exp(-|x|)): the smooth part of softplus.
template <typename T>
PHI_HD T softplus_rest(T x) {
  const T e = fast::exp(-std::abs(x));
  const T u = T(1) + e;
  return fast::log(u) + (e - (u - T(1))) / u;  // adds the rounding error of 1 + e
}

/// Binary cross entropy of a probability x and a label in [0, 1]. Logarithms are at least -100.
template <typename T>
struct BceLossFunctor {
  PHI_HD T operator()(T x, T label) const {
    const T yes = fast::log(x);
    const T no = fast::log(T(1) - x);
    return (label - T(1)) * (no < T(-100) ? T(-100) : no) - label * (yes < T(-100) ? T(-100) : yes);
  }
};

template <typename T>
struct BceLossGradFunctor {
  PHI_HD T operator()(T x, T label, T g) const {
    const T slope = (T(1) - x) * x;
    return g * (x - label) / (slope > T(1e-12) ? slope : T(1e-12));
  }
};

/// The loss of P. J. Huber, "Robust Estimation of a Location Parameter", 1964: quadratic within
/// `delta`, linear outside.
template <typename T>
struct HuberLossFunctor {
  T delta;
  PHI_HD T operator()(T input, T label) const {
    const T away = std::abs(label - input);
    return away <= delta ? T(0.5) * away * away : delta * (away - T(0.5) * delta);
  }
};

template <typename T>
struct HuberLossGradFunctor {
  T delta;
  PHI_HD T dx(T input, T label, T g) const { return -dy(input, label, g); }
  PHI_HD T dy(T input, T label, T g) const {
    const T rest = label - input;
    const T bound = rest > delta ? delta : rest < -delta ? -delta : rest;
    return g * bound;
  }
};

/// The hinge loss. Labels 0 and 1 mean the classes -1 and 1.
template <typename T>
struct HingeLossFunctor {
  PHI_HD T operator()(T logit, T label) const {
    const T loss = T(1) - logit * (T(2) * label - T(1));
    return loss < T(0) ? T(0) : loss;
  }
};

template <typename T>
struct HingeLossGradFunctor {
  PHI_HD T operator()(T logit, T label, T g) const {
    const T side = T(2) * label - T(1);
    return logit * side < T(1) ? -g * side : T(0);
  }
};

/// The logistic loss of a probability x and a label in [0, 1].
template <typename T>
struct LogLossFunctor {
  T epsilon;
  PHI_HD T operator()(T x, T label) const {
    return -label * fast::log(x + epsilon) - (T(1) - label) * fast::log(T(1) - x + epsilon);
  }
};

template <typename T>
struct LogLossGradFunctor {
  T epsilon;
  PHI_HD T operator()(T x, T label, T g) const {
    return g * ((T(1) - label) / (T(1) - x + epsilon) - label / (x + epsilon));
  }
};

/// A term of the Kullback-Leibler divergence of a log-probability x from a probability `label` (its
/// logarithm with log_target).
template <typename T>
struct KLDivLossFunctor {
  bool log_target;
  PHI_HD T operator()(T x, T label) const {
    if (log_target) return fast::exp(label) * (label - x);
    return label <= T(0) ? T(0) : label * (fast::log(label) - x);
  }
};

template <typename T>
struct KLDivLossGradFunctor {
  bool log_target;
  PHI_HD T operator()(T label, T g) const {
    if (log_target) return -fast::exp(label) * g;
    return label <= T(0) ? T(0) : -label * g;
  }
};

/// Binary cross entropy of a logit, times `scale`; 0 if the label is `ignored`. `weight` multiplies
/// the loss of a positive label.
template <typename T>
struct SigmoidCrossEntropyFunctor {
  T ignored;
  T scale;
  PHI_HD T operator()(T x, T label) const {
    const T loss = (x > T(0) ? x : T(0)) - x * label + softplus_rest(x);
    return label == ignored ? T(0) : loss * scale;
  }
  PHI_HD T operator()(T x, T label, T weight) const {
    const T positive = softplus_rest(x) + (x < T(0) ? -x : T(0));
    const T loss = (T(1) - label) * x + weight * positive;
    return label == ignored ? T(0) : loss * scale;
  }
};

template <typename T>
struct SigmoidCrossEntropyGradFunctor {
  T ignored;
  T scale;
  PHI_HD T operator()(T x, T label, T g) const {
    return label == ignored ? T(0) : (fast::sigmoid(x) - label) * (g * scale);
  }
  PHI_HD T operator()(T x, T label, T weight, T g) const {
    const T slope = (T(1) - label) - weight * fast::sigmoid(-x);
    return label == ignored ? T(0) : slope * (g * scale);
  }
};

}  // namespace phi
