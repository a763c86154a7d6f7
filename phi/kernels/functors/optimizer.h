// Optimizer steps for one element. A step returns the new weight for weight `w` and gradient `g`,
// and updates the states `s` in place.
//
//   const MomentumStep<float> step{.rate = 0.1f, .mu = 0.9f, .decay = 0, .use_nesterov = false};
//   float states[MomentumStep<float>::kStates] = {};
//   w = step(w, g, states);
//
// The caller computes what all elements of a param share, such as bias corrections.
#pragma once

#include <cmath>

#include "phi/kernels/functors/hd.h"

namespace phi {

/// g + decay * w: an L2 penalty as part of the gradient. Without decay, an infinite w does not
/// affect the result.
template <typename C>
PHI_HD C with_decay(C g, C decay, C w) {
  return decay != C(0) ? g + decay * w : g;
}

template <typename C>
struct SgdStep {
  static constexpr int kStates = 0;
  C rate;
  C decay;
  PHI_HD C operator()(C w, C g, C*) const { return w - rate * with_decay(g, decay, w); }
};

/// v = mu * v + g (Sutskever, Martens, Dahl, Hinton, 2013). The learning rate multiplies v and is
/// not part of it, so a change of the rate takes effect at once.
template <typename C>
struct MomentumStep {
  static constexpr int kStates = 1;
  C rate;
  C mu;
  C decay;
  bool use_nesterov;
  PHI_HD C operator()(C w, C grad, C* s) const {
    const C g = with_decay(grad, decay, w);
    s[0] = mu * s[0] + g;
    return w - rate * (use_nesterov ? g + mu * s[0] : s[0]);
  }
};

/// w = w * shrink - rate * m / (sqrt(v) * root_factor + epsilon), where m and v are running
/// averages of g and g^2. With kLargest, v is the largest v so far, which is a third state.
/// Loshchilov, Hutter, 2019; Reddi, Kale, Kumar, 2018.
template <typename C, bool kLargest>
struct AdamStep {
  static constexpr int kStates = kLargest ? 3 : 2;
  C keep1, take1, keep2, take2;
  C rate;
  C root_factor;
  C epsilon;
  C shrink;
  PHI_HD C operator()(C w, C g, C* s) const {
    s[0] = keep1 * s[0] + take1 * g;
    s[1] = keep2 * s[1] + take2 * g * g;
    C v = s[1];
    if constexpr (kLargest) {
      v = s[2] > v ? s[2] : v;
      s[2] = v;
    }
    return w * shrink - rate * s[0] / (std::sqrt(v) * root_factor + epsilon);
  }
};

/// Kingma, Ba, 2015, section 7.1: Adam with a decaying maximum of |g|.
template <typename C>
struct AdamaxStep {
  static constexpr int kStates = 2;
  C keep1, take1, keep2;
  C rate;
  C epsilon;
  PHI_HD C operator()(C w, C g, C* s) const {
    s[0] = keep1 * s[0] + take1 * g;
    const C decayed = keep2 * s[1] + epsilon;
    const C size = std::abs(g);
    s[1] = size <= decayed ? decayed : size;
    return w - rate * s[0] / s[1];
  }
};

/// keep = take = 1 sums squared gradients (Duchi, Hazan, Singer, 2011); other values average them
/// with decay.
template <typename C>
struct AdagradStep {
  static constexpr int kStates = 1;
  C keep, take;
  C rate;
  C epsilon;
  PHI_HD C operator()(C w, C g, C* s) const {
    s[0] = keep * s[0] + take * g * g;
    return w - rate * g / (std::sqrt(s[0]) + epsilon);
  }
};

/// Zeiler, 2012: steps are scaled by the root mean square of the steps before.
template <typename C>
struct AdadeltaStep {
  static constexpr int kStates = 2;
  C keep, take;
  C rate;
  C epsilon;
  PHI_HD C operator()(C w, C g, C* s) const {
    s[0] = keep * s[0] + take * g * g;
    const C step = std::sqrt((s[1] + epsilon) / (s[0] + epsilon)) * g;
    s[1] = keep * s[1] + take * step * step;
    return w - rate * step;
  }
};

/// States: mean square, moment and, if centred, mean.
template <typename C, bool kCentred>
struct RmspropStep {
  static constexpr int kStates = kCentred ? 3 : 2;
  C keep, take;
  C momentum;
  C rate;
  C epsilon;
  PHI_HD C operator()(C w, C g, C* s) const {
    s[0] = keep * s[0] + take * g * g;
    C variance = s[0];
    if constexpr (kCentred) {
      s[2] = keep * s[2] + take * g;
      variance -= s[2] * s[2];
    }
    s[1] = momentum * s[1] + rate * g / std::sqrt(variance + epsilon);
    return w - s[1];
  }
};

/// Dozat, 2016: uses m of the next step. `of_m` and `of_g` include the bias corrections.
template <typename C>
struct NadamStep {
  static constexpr int kStates = 2;
  C keep1, take1, keep2, take2;
  C of_m, of_g;
  C rate;
  C root_factor;
  C epsilon;
  PHI_HD C operator()(C w, C g, C* s) const {
    s[0] = keep1 * s[0] + take1 * g;
    s[1] = keep2 * s[1] + take2 * g * g;
    return w - rate * (of_m * s[0] + of_g * g) / (std::sqrt(s[1]) * root_factor + epsilon);
  }
};

/// Liu et al., 2020. `adapts` is false while the variance of the second moment is not tractable.
template <typename C>
struct RadamStep {
  static constexpr int kStates = 2;
  C keep1, take1, keep2, take2;
  C rate;
  C epsilon;
  bool adapts;
  PHI_HD C operator()(C w, C g, C* s) const {
    s[0] = keep1 * s[0] + take1 * g;
    s[1] = keep2 * s[1] + take2 * g * g;
    return w - (adapts ? rate * s[0] / (std::sqrt(s[1]) + epsilon) : rate * s[0]);
  }
};

/// Schmidt, Le Roux, Bach, 2017: s[0] is the sum of the last gradients, and s[1] is the one that
/// the current gradient replaces.
template <typename C>
struct AsgdStep {
  static constexpr int kStates = 2;
  C rate;  // learning rate / number of gradients
  PHI_HD C operator()(C w, C g, C* s) const {
    s[0] = s[0] - s[1] + g;
    s[1] = g;
    return w - rate * s[0];
  }
};

/// Riedmiller, Braun, 1993: s[0] is the previous gradient, and s[1] is the element's step size.
template <typename C>
struct RpropStep {
  static constexpr int kStates = 2;
  C least, most;
  C shrink, grow;
  PHI_HD C operator()(C w, C grad, C* s) const {
    const C agreement = grad * s[0];
    const C size = s[1] * (agreement > C(0) ? grow : agreement < C(0) ? shrink : C(1));
    s[1] = size > most ? most : size < least ? least : size;
    s[0] = agreement < C(0) ? C(0) : grad;
    return s[0] > C(0) ? w - s[1] : s[0] < C(0) ? w + s[1] : w;
  }
};

/// McMahan et al., 2013. kRoot: the power is the square root.
template <typename C, bool kRoot>
struct FtrlStep {
  static constexpr int kStates = 2;
  C rate;
  C l1, l2;
  C power;
  PHI_HD C raised(C x) const { return kRoot ? std::sqrt(x) : std::pow(x, power); }
  PHI_HD C operator()(C w, C g, C* s) const {
    const C squares = s[0] + g * g;
    const C root = raised(squares);
    s[1] += g - (root - raised(s[0])) / rate * w;
    s[0] = squares;
    const C towards = s[1] > C(0) ? l1 : s[1] < C(0) ? -l1 : C(0);
    return std::abs(s[1]) <= l1 ? C(0) : (towards - s[1]) / (root / rate + l2 + l2);
  }
};

/// The direction of You et al., 2020. The caller scales it.
template <typename C>
struct LambDirection {
  static constexpr int kStates = 2;
  C keep1, take1, keep2, take2;
  C correction1, correction2;  // 1 / (1 - beta^t)
  C epsilon;
  C decay;
  PHI_HD C operator()(C w, C g, C* s) const {
    s[0] = keep1 * s[0] + take1 * g;
    s[1] = keep2 * s[1] + take2 * g * g;
    const C direction = s[0] * correction1 / (std::sqrt(s[1] * correction2) + epsilon);
    return with_decay(direction, decay, w);
  }
};

/// A step with the gradient multiplied by `scale`.
template <typename C, typename Step>
struct ScaledStep {
  static constexpr int kStates = Step::kStates;
  Step step;
  C scale;
  PHI_HD C operator()(C w, C g, C* s) const { return step(w, g * scale, s); }
};

}  // namespace phi
