// Error functions, normal quantiles and trigamma of one value in vectorisable form, and polygamma.
#pragma once

#include <cmath>
#include <limits>
#include <numbers>

#include "phi/kernels/functors/fast/gamma.h"
#include "phi/kernels/functors/fast/math.h"
#include "phi/kernels/functors/fast/normal.h"
#include "phi/kernels/functors/fast/trig.h"

namespace phi::fast {

namespace detail {
/// erf(x) / x as a function of z = x^2 for |x| <= 1 (own fits; relative error 2e-9).
PHI_HD float erf_near_zero(float z) {
  float p = 7.8758750627e-5f;
  p = p * z - 8.0168642872e-4f;
  p = p * z + 5.1890874234e-3f;
  p = p * z - 2.6854212011e-2f;
  p = p * z + 1.1283594715e-1f;
  p = p * z - 3.7612626667e-1f;
  return p * z + 1.1283791658f;
}
PHI_HD double erf_near_zero(double z) {  // 7e-18
  return polynomial(z, -7.779462971761597e-10, 1.3710988704190523e-08, -1.6206318752969208e-07,
                    1.6447132699786621e-06, -1.4924712439534814e-05, 0.0001205529358693695,
                    -0.0008548325929766244, 0.005223977606130842, -0.026866170643113415,
                    0.112837916709442, -0.3761263890318352, 1.1283791670955126);
}

/// erf(x) for x >= 1; z = x^2.
PHI_HD float erf_beyond_one(float x, float /*z*/) {
  return 1.0f - 2.0f * normal_cdf(-std::numbers::sqrt2_v<float> * x);
}
/// Up to 6: (1 - erf(x)) exp(x^2) is a polynomial in (x - 2.5) / (x + 2.5) (own fit, 2e-17 of erf;
/// the transformation is that of normal_tail()). From 6 on, erf(x) is 1. The larger x^2 is, the
/// less the exponential contributes, so its polynomial is two terms shorter than that of exp (own
/// fit, 6e-17 of erf), and ln(2) is one number.
PHI_HD double erf_beyond_one(double x, double z) {
  using R = FloatTraits<double>;
  const double p =
      long_polynomial((x - 2.5) / (x + 2.5), -5.1021981978914095e-05, -0.00013656067448702616,
                      0.00022673180027213982, 0.0008759188269305443, -0.002642283498469061,
                      -0.003993684326830086, 0.03992254007843253, -0.12503305245382285,
                      0.2517131932061697, -0.3717367339492697, 0.2108063640611469);
  constexpr double kRound = R::kRound + double(R::kBias);
  const double shifted = kRound - z * R::kLog2e;
  const double r = std::fma(kRound - shifted, std::numbers::ln2, -z);
  const double tail =
      long_polynomial(r, 2.747680202131975e-07, 2.7635006379944497e-06, 2.4801931798822192e-05,
                      0.00019841185202236012, 0.0013888888516054563, 0.008333333370892718,
                      0.04166666666813748, 0.1666666666661151, 0.49999999999998324);
  const double power = std::bit_cast<double>(std::bit_cast<uint64_t>(shifted) << R::kMantissaBits);
  const double inside = 1.0 - p * ((tail * r + 1.0) * r + 1.0) * power;
  return x > 6.0 ? 1.0 : inside;  // NaN stays
}
}  // namespace detail

/// Near 0 a polynomial, elsewhere from its complement.
template <typename T>
PHI_HD T erf(T x) {
  const T magnitude = std::fabs(x);
  const T z = x * x;
  const T far = std::copysign(detail::erf_beyond_one(magnitude, z), x);
  return magnitude <= T(1) ? detail::erf_near_zero(z) * x : far;
}

namespace detail {

/// erfinv(x) / x: polynomials in w = -log(1 - x^2), or in its square root for tails.
///
/// M. Giles, "Approximating the erfinv function", GPU Computing Gems Jade Edition, 2010; relative
/// error 4e-7 for |x| < 1. For w < 5 and beyond.
PHI_HD float erfinv_ratio_inside(float w) {
  const float near = w - 2.5f;
  float p = 2.81022636e-08f;
  p = p * near + 3.43273939e-07f;
  p = p * near - 3.5233877e-06f;
  p = p * near - 4.39150654e-06f;
  p = p * near + 0.00021858087f;
  p = p * near - 0.00125372503f;
  p = p * near - 0.00417768164f;
  p = p * near + 0.246640727f;
  return p * near + 1.50140941f;
}
PHI_HD float erfinv_ratio(float w) {
  const float far = std::sqrt(w) - 3.0f;
  float q = -0.000200214257f;
  q = q * far + 0.000100950558f;
  q = q * far + 0.00134934322f;
  q = q * far - 0.00367342844f;
  q = q * far + 0.00573950773f;
  q = q * far - 0.0076224613f;
  q = q * far + 0.00943887047f;
  q = q * far + 1.00167406f;
  q = q * far + 2.83297682f;
  return w < 5.0f ? erfinv_ratio_inside(w) : q;
}
/// The same up to the last double below 1 (own fits, 1e-16 and 3e-16), for w < 8 and above. The
/// first is a ratio of two polynomials whose terms are all positive.
PHI_HD double erfinv_ratio_inside(double w) {
  const double numerator =
      polynomial(w, 1.8383786302870402e-10, 2.2875505142397568e-08, 7.981770285330963e-07,
                 1.5530531720888347e-05, 0.00020448379024603667, 0.001984168406748768,
                 0.014644857555389088, 0.08013799781082236, 0.31114290838582437, 0.886226925452758);
  const double denominator =
      polynomial(w, 3.202931502240829e-09, 1.2391741920721578e-07, 4.650963202412007e-06,
                 4.604942288331505e-05, 0.0009056359279684272, 0.003854214465552924,
                 0.05401852203307947, 0.08928778801292457, 1.0);
  return numerator / denominator;
}
PHI_HD double erfinv_ratio(double w) {
  const double far = long_polynomial(
      std::sqrt(w) - 4.4183773395330554, 1.1549893397637763e-14, -2.4556923874343426e-14,
      -2.360139358253425e-13, 9.91111224420032e-13, -3.9956827347005504e-13, -6.569958311700724e-12,
      2.8481854607496563e-11, -6.984153013587618e-11, 4.154911231412781e-11, 4.748570446044663e-10,
      -2.3257054705936337e-09, 5.76009632575278e-09, -6.39102596639717e-09, -1.3596128839087326e-08,
      9.630095789577427e-08, -3.095601975062504e-07, 7.260054625173127e-07, -1.3995417882930417e-06,
      2.476267329205447e-06, -4.924933489963157e-06, 1.3504473094489363e-05, -4.701248328612482e-05,
      0.0001658646272377406, -0.00048140449487147307, 0.00043893982617328664, 1.010170404889949,
      4.262298346499649);
  return w < 8.0 ? erfinv_ratio_inside(w) : far;
}

/// -log(x) for normal positive x. Double needs only a small absolute error: 1e-16 plus rounding. 2
/// artanh(s) = 2 s + s^3 p(s^2) for a mantissa (1 + s) / (1 - s) (own fit, 4e-17).
PHI_HD float minus_log(float x) { return -log_inside(x); }
PHI_HD double minus_log(double x) {
  const auto [mantissa, exponent] = split_normal(x);
  const double s = (mantissa - 1.0) / (mantissa + 1.0);
  const double z = s * s;
  const double p = long_polynomial(z, 0.16896577788270223, 0.18116598658622354, 0.22223615953345066,
                                   0.2857141319254174, 0.40000000081058423, 0.6666666666651385);
  return std::fma(exponent, -std::numbers::ln2, -s * std::fma(z, p, 2.0));
}

/// `inside` for |x| < 1, +-inf at +-1, NaN outside [-1, 1].
template <typename C>
PHI_HD C erfinv_ends(C x, C inside) {
  const C magnitude = std::fabs(x);
  const C end = std::copysign(std::numeric_limits<C>::infinity(), x);
  const C outside = magnitude == C(1) ? end : std::numeric_limits<C>::quiet_NaN();
  return magnitude < C(1) ? inside : outside;
}

}  // namespace detail

template <typename T>
PHI_HD T erfinv(T x) {
  const T w = detail::minus_log((T(1) - x) * (T(1) + x));
  return detail::erfinv_ends(x, detail::erfinv_ratio(w) * x);
}

/// The limit of |x| for erfinv_inside, below which one polynomial is sufficient.
template <typename T>
inline constexpr T kErfinvInside = sizeof(T) == sizeof(float) ? T(0.996) : T(0.9998);
template <typename T>
PHI_HD T erfinv_inside(T x) {
  return detail::erfinv_ratio_inside(detail::minus_log((T(1) - x) * (T(1) + x))) * x;
}

/// The smallest probability that normal_quantile() accepts.
inline constexpr double kLeastProbability = 1e-16;
/// The quantile of the standard normal distribution for kLeastProbability <= p < 1.
PHI_HD double normal_quantile(double p) {
  const double w = detail::minus_log(4 * p * (1 - p));
  return std::numbers::sqrt2 * detail::erfinv_ratio(w) * (2 * p - 1);
}

namespace detail {

/// Powers of q > 0 for hurwitz_zeta in double, and the relative size at which terms are negligible.
struct ZetaOfDouble {
  static constexpr double kNegligible = 1e-18;
  PHI_HD static double inverse_power(double q, int s) { return std::pow(q, -s); }
};
/// The same for float: powers by multiplication, whose lost digits float does not represent.
struct ZetaOfFloat {
  static constexpr double kNegligible = 1e-11;
  PHI_HD static double inverse_power(double q, int s) {
    double square = 1.0 / q;
    double power = 1.0;
    for (; s > 0; s >>= 1) {
      power *= (s & 1) != 0 ? square : 1.0;
      square *= square;
    }
    return power;
  }
};

/// Hurwitz's zeta function, the sum of (q + k)^-s over k >= 0, for an integer s >= 2 and q > 0.
/// Adds terms up to a number that is large compared to s, then uses the Euler-Maclaurin formula.
template <typename Zeta>
PHI_HD double hurwitz_zeta(int s, double q) {
  constexpr int kCorrections = 12;
  // (2k)! / B_2k for k = 1 ..
  constexpr double kScale[kCorrections] = {12.0,
                                           -720.0,
                                           30240.0,
                                           -1209600.0,
                                           47900160.0,
                                           -1.8924375803183791606e9,
                                           7.47242496e10,
                                           -2.950130727918164224e12,
                                           1.1646782814350067249e14,
                                           -4.5979787224074726105e15,
                                           1.8152105401943546773e17,
                                           -7.1661652561756670113e18};
  const double enough = 10.0 + 0.5 * s;
  double sum = 0.0;
  for (; q < enough; q += 1.0) {
    const double term = Zeta::inverse_power(q, s);
    sum += term;
    if (term <= Zeta::kNegligible * sum) return sum;
  }
  const double last = Zeta::inverse_power(q, s);
  sum += last * q / (s - 1.0) + 0.5 * last;
  double factor = s;
  double power = last / q;
  for (int k = 0; k < kCorrections; ++k) {
    const double term = factor * power / kScale[k];
    sum += term;
    if (std::fabs(term) <= 10.0 * Zeta::kNegligible * std::fabs(sum)) break;
    factor *= (s + 2.0 * k + 1.0) * (s + 2.0 * k + 2.0);
    power /= q * q;
  }
  return sum;
}

/// The same for a negative non-integer q: the terms on each side of 0 are sums of this kind.
template <typename Zeta>
PHI_HD double hurwitz_zeta_below(int s, double q) {
  const double above = q - std::floor(q);
  const double below = std::ceil(q) - q;  // 1 - above, accurate for numbers near 0
  const double left = hurwitz_zeta<Zeta>(s, below) - hurwitz_zeta<Zeta>(s, 1.0 - q);
  return hurwitz_zeta<Zeta>(s, above) + (s % 2 == 0 ? left : -left);
}

template <typename Zeta>
PHI_HD double polygamma(int n, double x) {
  if (n == 0) return digamma(x);
  const double sign = n % 2 == 0 ? -1.0 : 1.0;
  if (x == std::numeric_limits<double>::infinity()) return sign * 0.0;
  if (x <= 0.0 && x == std::floor(x)) return sign * std::numeric_limits<double>::infinity();
  const double zeta = x > 0.0 ? hurwitz_zeta<Zeta>(n + 1, x) : hurwitz_zeta_below<Zeta>(n + 1, x);
  return sign * std::tgamma(n + 1.0) * zeta;
}

/// sin(pi r) for |r| <= 1/2, relative error 8e-14 (own interpolation at Chebyshev nodes).
PHI_HD double sin_pi(double r) {
  const double z = r * r;
  double p = 0.0004474920849077101;
  p = p * z - 0.007364005472115722;
  p = p * z + 0.08214479467064854;
  p = p * z - 0.5992644339357286;
  p = p * z + 2.550164035906745;
  p = p * z - 5.167712779987959;
  p = p * z + 3.141592653589635;
  return p * r;
}

}  // namespace detail

/// The n-th derivative of digamma: (-1)^(n + 1) n! zeta(n + 1, x). At the poles, 0 and the negative
/// integers, it is infinite with the sign of the limit from above.
PHI_HD double polygamma(int n, double x) { return detail::polygamma<detail::ZetaOfDouble>(n, x); }
PHI_HD float polygamma(int n, float x) {
  return static_cast<float>(detail::polygamma<detail::ZetaOfFloat>(n, x));
}

/// polygamma(1, x): in double at x, or below 6 at x + 6 plus 1 / x^2 + .. + 1 / (x + 5)^2 as one
/// fraction; by reflection for x <= 0. Error below 2e-10.
PHI_HD float trigamma(float x) {
  const double whole = x < -1e30f ? -1e30 : static_cast<double>(x);  // treated as a pole, like -inf
  const double sine = detail::sin_pi(whole - std::rint(whole));
  const bool mirrored = whole <= 0.0;
  const double start = mirrored ? 1.0 - whole : whole;
  const bool small = start < 6.0;
  double above = 1.0;  // the sum so far is above / below
  double below = start * start;
  for (int k = 1; k < 6; ++k) {
    const double square = (start + k) * (start + k);
    above = above * square + below;
    below *= square;
  }
  const double at = small ? start + 6.0 : start;
  const double inverse = 1.0 / at;
  const double z = inverse * inverse;
  // B_2k for k = 5 .. 1.
  double p = 5.0 / 66.0;
  p = p * z - 1.0 / 30.0;
  p = p * z + 1.0 / 42.0;
  p = p * z - 1.0 / 30.0;
  p = p * z + 1.0 / 6.0;
  const double value = inverse + 0.5 * z + p * z * inverse + (small ? above / below : 0.0);
  constexpr double kSquaredPi = 9.8696044010893586188;
  return static_cast<float>(mirrored ? kSquaredPi / (sine * sine) - value : value);
}
/// The same in double at x or x + 10, within a few ulp.
PHI_HD double trigamma(double x) {
  constexpr double kPi = 3.14159265358979323846;
  constexpr int kShift = 10;
  const double whole = x < -1e300 ? -1e300 : x;
  const double sine = sin(kPi * (whole - std::rint(whole)));
  const bool mirrored = whole <= 0.0;
  const double start = mirrored ? 1.0 - whole : whole;
  const bool small = start < kShift;
  const double inverse = 1.0 / (small ? start + kShift : start);
  const double z = inverse * inverse;
  // B_2k for k = 10 .. 1.
  const double p = detail::polynomial(z, -174611.0 / 330.0, 43867.0 / 798.0, -3617.0 / 510.0,
                                      7.0 / 6.0, -691.0 / 2730.0, 5.0 / 66.0, -1.0 / 30.0,
                                      1.0 / 42.0, -1.0 / 30.0, 1.0 / 6.0);
  double shifted = 0.0;
  for (int k = kShift - 1; k >= 0; --k) shifted += 1.0 / ((start + k) * (start + k));
  const double value = inverse + (0.5 * z + p * z * inverse) + (small ? shifted : 0.0);
  return mirrored ? kPi * kPi / (sine * sine) - value : value;
}

}  // namespace phi::fast
