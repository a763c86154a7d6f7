// Taps: resampling along one dim, shared by all devices. Each output element is a weighted sum of a
// few input elements. Interpolation in several dims resamples along each of them.
//
//   const Taps<float> taps = interpolation_taps<float>({.in = 4, .out = 8});
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace phi {

enum class InterpMethod : uint8_t { kNearest, kLinear, kCubic };

/// One dim of an interpolation. If `scale` is 0, the extents determine the step.
struct InterpDim {
  int64_t in;
  int64_t out;
  double scale;
  InterpMethod method;
  bool align_corners;
  bool half_pixel;  // linear only: coordinates refer to element centres
};

/// `each` taps (input elements with weights) per output element.
template <typename C>
struct Taps {
  int64_t in;
  int64_t out;
  int64_t each;
  std::vector<int64_t> from;
  std::vector<C> weight;

  /// Whether the output equals the input.
  bool is_identity() const {
    if (in != out) return false;
    for (int64_t o = 0; o < out; ++o) {
      for (int64_t k = 0; k < each; ++k) {
        const int64_t at = o * each + k;
        if (from[at] == o ? weight[at] == C(0) && k == 0 : weight[at] != C(0)) return false;
      }
    }
    return true;
  }
};

namespace detail {

/// The weights of elements -1, 0, 1 and 2, for a position `t` after element 0: cubic convolution
/// with a = -0.75 (R. Keys, 1981).
template <typename C>
void cubic_weights(C t, C* weights) {
  constexpr C a = C(-0.75);
  const auto near = [](C d) { return ((a + C(2)) * d - (a + C(3))) * d * d + C(1); };
  const auto far = [](C d) { return ((a * d - C(5) * a) * d + C(8) * a) * d - C(4) * a; };
  weights[0] = far(t + C(1));
  weights[1] = near(t);
  weights[2] = near(C(1) - t);
  weights[3] = far(C(2) - t);
}

/// The distance in x of one step in out. Steps, and weights of linear methods, are float for every
/// dtype, as in the reference.
inline float step_of(const InterpDim& d) {
  if (d.align_corners) {
    return d.out > 1 ? static_cast<float>(d.in - 1) / static_cast<float>(d.out - 1) : 0.0f;
  }
  if (d.scale > 0.0) return static_cast<float>(1.0 / d.scale);
  return static_cast<float>(d.in) / static_cast<float>(d.out);
}

}  // namespace detail

template <typename C>
Taps<C> interpolation_taps(const InterpDim& d) {
  const int64_t each = d.method == InterpMethod::kNearest  ? 1
                       : d.method == InterpMethod::kLinear ? 2
                                                           : 4;
  Taps<C> taps{d.in, d.out, each, std::vector<int64_t>(d.out * each),
               std::vector<C>(d.out * each, C(1))};
  const float step = detail::step_of(d);
  const auto clamped = [&](int64_t i) { return std::clamp<int64_t>(i, 0, d.in - 1); };
  for (int64_t o = 0; o < d.out; ++o) {
    const auto at = static_cast<float>(o);
    int64_t* from = taps.from.data() + o * each;
    C* weight = taps.weight.data() + o * each;
    if (d.method == InterpMethod::kNearest) {
      from[0] = clamped(static_cast<int64_t>(step * at + (d.align_corners ? 0.5f : 0.0f)));
      continue;
    }
    if constexpr (std::is_floating_point_v<C>) {  // integers are not interpolated
      const double product = double{step} * double{at + 0.5f};
      if (d.method == InterpMethod::kLinear) {
        // The product is rounded before 0.5 is subtracted.
        const float centre = static_cast<float>(product) - 0.5f;
        const float place = std::max(d.half_pixel ? centre : step * at, 0.0f);
        from[0] = clamped(static_cast<int64_t>(place));
        from[1] = clamped(from[0] + 1);
        const float behind = place - static_cast<float>(from[0]);
        weight[0] = static_cast<C>(1.0f - behind);
        weight[1] = static_cast<C>(behind);
      } else {
        const C place = static_cast<C>(d.align_corners ? double{step * at} : product - 0.5);
        const C first = std::floor(place);
        for (int64_t k = 0; k < 4; ++k) from[k] = clamped(static_cast<int64_t>(first) - 1 + k);
        detail::cubic_weights(place - first, weight);
      }
    }
  }
  return taps;
}

}  // namespace phi
