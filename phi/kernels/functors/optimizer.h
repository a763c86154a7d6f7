// Steps of optimizers, one element at a time: what becomes of a weight `w` with the gradient `g`
// and of its states `s`, which are updated in place.
//
//   const MomentumStep<float> step{.rate = 0.1f, .mu = 0.9f, .decay = 0, .use_nesterov = false};
//   float states[MomentumStep<float>::kStates] = {};
//   w = step(w, g, states);
//
// What holds for all elements of a param, bias corrections say, is worked out before.
#pragma once

#include <cmath>

#include "phi/kernels/functors/hd.h"

namespace phi {

/// g + decay * w: an L2 penalty goes through the gradient. Without one an infinite w stays out.
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

/// v = mu * v + g. Sutskever, Martens, Dahl, Hinton, 2013; the learning rate stands outside of the
/// velocity, so that a change of it acts at once.
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

/// Running averages m of g and v of g^2, w = w * shrink - rate * m / (sqrt(v) * root_factor +
/// epsilon). With kLargest the largest v so far, a state of its own, takes v's place.
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

/// Kingma, Ba, 2015, section 7.1: the norm that decays is the largest |g|.
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

/// keep = take = 1 sums the squares up (Duchi, Hazan, Singer, 2011), else they decay.
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

/// Zeiler, 2012: steps in the size of the steps before.
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

/// States: mean square, moment and, where centred, mean.
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

/// Dozat, 2016: m of the next step, `of_m` and `of_g` with their corrections.
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

/// Liu et al., 2020: without the second moment for as long as its variance is not tractable.
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

/// Schmidt, Le Roux, Bach, 2017: s[0] is the sum of the last gradients, s[1] the one that leaves.
template <typename C>
struct AsgdStep {
  static constexpr int kStates = 2;
  C rate;  // by the number of gradients
  PHI_HD C operator()(C w, C g, C* s) const {
    s[0] = s[0] - s[1] + g;
    s[1] = g;
    return w - rate * s[0];
  }
};

/// Riedmiller, Braun, 1993: s[0] is the gradient before, s[1] the size of the element's own step.
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

/// The direction of You et al., 2020; its length is the caller's to give.
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

/// A step with the gradient times a number.
template <typename C, typename Step>
struct ScaledStep {
  static constexpr int kStates = Step::kStates;
  Step step;
  C scale;
  PHI_HD C operator()(C w, C g, C* s) const { return step(w, g * scale, s); }
};

}  // namespace phi
