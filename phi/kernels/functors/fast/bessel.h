// Modified Bessel functions of the first kind of orders 0 and 1, plain and scaled by exp(-|x|), for
// one value, computed in double. Each has two Chebyshev series (own interpolation at the nodes,
// error 2e-18): up to 8, exp(-x) I(x) in x / 4 - 1; above, sqrt(x) exp(-x) I(x) in 16 / x - 1. For
// floats there are shorter ones, written as polynomials (relative error 2e-10). The choice between
// the series is a select, so that loops vectorise.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>

#include "phi/kernels/functors/fast/math.h"
#include "phi/kernels/functors/fast/power.h"
#include "phi/kernels/functors/hd.h"

namespace phi::fast {

namespace detail {

/// The Chebyshev series with these coefficients, the highest first, at t in [-1, 1] (C. Clenshaw,
/// 1955).
template <size_t kTerms>
PHI_HD double chebyshev(const double (&coefficients)[kTerms], double t) {
  double b0 = 0.0;
  double b1 = 0.0;
  double b2 = 0.0;
  PHI_UNROLL(32)
  for (size_t i = 0; i < kTerms; ++i) {
    b2 = b1;
    b1 = b0;
    b0 = 2.0 * t * b1 - b2 + coefficients[i];
  }
  return b0 - t * b1;
}

/// exp(-x) I0(x) for x <= 8.
struct I0Small {
  PHI_HD static double at(double t) {
    constexpr double kCoefficients[] = {
        -4.41534164647933938e-18, 3.3307945188222381e-17,   -2.43127984654795469e-16,
        1.71539128555513303e-15,  -1.16853328779934517e-14, 7.67618549860493562e-14,
        -4.85644678311192946e-13, 2.95505266312963983e-12,  -1.72682629144155571e-11,
        9.67580903537323691e-11,  -5.18979560163526291e-10, 2.65982372468238665e-9,
        -1.30002500998624804e-8,  6.04699502254191895e-8,   -2.67079385394061173e-7,
        1.11738753912010372e-6,   -4.41673835845875056e-6,  0.0000164484480707288971,
        -0.000057541950100821037, 0.000188502885095841656,  -0.000576375574538582366,
        0.0016394756169413358,    -0.00432430999505057594,  0.0105464603945949983,
        -0.0237374148058994688,   0.0493052842396707085,    -0.0949010970480476444,
        0.171620901522208775,     -0.304682672343198399,    0.338397637204738042};
    return chebyshev(kCoefficients, t);
  }
};

/// sqrt(x) exp(-x) I0(x) for x >= 8.
struct I0Large {
  PHI_HD static double at(double t) {
    constexpr double kCoefficients[] = {
        -7.23318048787475395e-18, -4.83050448594418207e-18, 4.46562142029676e-17,
        3.46122286769746109e-17,  -2.82762398051658348e-16, -3.42548561967721913e-16,
        1.77256013305652638e-15,  3.81168066935262242e-15,  -9.55484669882830765e-15,
        -4.15056934728722209e-14, 1.54008621752140983e-14,  3.8527783827421427e-13,
        7.18012445138366623e-13,  -1.79417853150680612e-12, -1.32158118404477131e-11,
        -3.14991652796324136e-11, 1.18891471078464383e-11,  4.94060238822496959e-10,
        3.39623202570838635e-9,   2.26666899049817806e-8,   2.04891858946906374e-7,
        2.89137052083475648e-6,   0.0000688975834691682398, 0.00336911647825569409,
        0.402245205507054416};
    return chebyshev(kCoefficients, t);
  }
};

/// exp(-x) I1(x) / x for x <= 8.
struct I1Small {
  PHI_HD static double at(double t) {
    constexpr double kCoefficients[] = {
        2.77791411276104637e-18,  -2.11142121435816608e-17, 1.55363195773620047e-16,
        -1.10559694773538631e-15, 7.60068429473540693e-15,  -5.04218550472791169e-14,
        3.22379336594557471e-13,  -1.98397439776494372e-12, 1.17361862988909016e-11,
        -6.66348972350202774e-11, 3.62559028155211704e-10,  -1.88724975172282929e-9,
        9.38153738649577178e-9,   -4.44505912879632808e-8,  2.00329475355213526e-7,
        -8.56872026469545474e-7,  3.47025130813767848e-6,   -0.0000132731636560394358,
        0.0000478156510755005423, -0.000161760815825896746, 0.000512285956168575773,
        -0.00151357245063125315,  0.00415642294431288816,   -0.0105640848946261982,
        0.0247264490306265168,    -0.0529459812080949914,   0.102643658689847095,
        -0.176416518357834055,    0.126293593221816827};
    return chebyshev(kCoefficients, t);
  }
};

/// sqrt(x) exp(-x) I1(x) for x >= 8.
struct I1Large {
  PHI_HD static double at(double t) {
    constexpr double kCoefficients[] = {
        7.51729631084210481e-18,  4.41434832307170795e-18,  -4.65030536848935833e-17,
        -3.20952592199342396e-17, 2.96262899764595014e-16,  3.30820231092092828e-16,
        -1.88035477551078245e-15, -3.8144030724370078e-15,  1.04202769841288028e-14,
        4.27244001671195135e-14,  -2.10154184277266431e-14, -4.08355111109219732e-13,
        -7.19855177624590851e-13, 2.03562854414708951e-12,  1.41258074366137813e-11,
        3.25260358301548824e-11,  -1.89749581235054123e-11, -5.58974346219658381e-10,
        -3.83538038596423702e-9,  -2.63146884688951951e-8,  -2.51223623787020893e-7,
        -3.88256480887769039e-6,  -0.000110588938762623716, -0.00976109749136146841,
        0.38928811750914006};
    return chebyshev(kCoefficients, t);
  }
};

/// I0Small at the accuracy of float.
struct I0SmallFloat {
  PHI_HD static double at(double t) {
    return polynomial(t, 4.9179807024730725e-05, -0.00013592006898095621, 0.00010271931878805943,
                      -0.00020636329707506994, 0.00093523212981164953, -0.0020461388965098723,
                      0.0035544414024135983, -0.006605936634764051, 0.01199119818260163,
                      -0.019775351506074058, 0.030168286136064423, -0.042957250755017919,
                      0.056778814790985566, -0.069546514129755876, 0.079275044923550447,
                      -0.084962840765336611, 0.087343424581970822, -0.089043466456308729,
                      0.094515628425160411, -0.11300432654348828, 0.2070019212239867);
  }
};

/// I0Large at the accuracy of float.
struct I0LargeFloat {
  PHI_HD static double at(double t) {
    return polynomial(t, 3.3635802235185296e-08, 1.0910232941075882e-07, 3.0383309086686276e-07,
                      1.4754756356201013e-06, 1.1141542189580863e-05, 0.000136217407834547,
                      0.0033605520313900634, 0.40217650940530542);
  }
};

/// I1Small at the accuracy of float.
struct I1SmallFloat {
  PHI_HD static double at(double t) {
    return polynomial(t, 5.984122024648426e-06, -1.7454720714007641e-05, 1.7599730578225902e-05,
                      -4.0772803880969477e-05, 0.00015715397534503563, -0.00036844674319097819,
                      0.0007375935634886747, -0.0015172283196528769, 0.0030091916424835638,
                      -0.0055453093706759101, 0.0095829026194973882, -0.0155679877622009,
                      0.023686213041875678, -0.033671970552838743, 0.044674552725048805,
                      -0.055279976798581335, 0.063767404637284961, -0.068482609105308595,
                      0.068057599896897553, -0.061124337990074988, 0.044687709875608835);
  }
};

/// I1Large at the accuracy of float.
struct I1LargeFloat {
  PHI_HD static double at(double t) {
    return polynomial(t, -3.7856024793316294e-08, -1.2318419674047784e-07, -3.5481954165334105e-07,
                      -1.8250069387125121e-06, -1.5037047143805947e-05, -0.00021923738535629923,
                      -0.0097495772413154318, 0.38939845907447129);
  }
};

template <typename Small, typename Large>
PHI_HD double scaled_bessel(double magnitude, double factor) {
  const bool is_small = magnitude <= 8.0;
  const double near = Small::at((is_small ? magnitude : 8.0) * 0.25 - 1.0) * factor;
  const double far = Large::at(16.0 / (is_small ? 8.0 : magnitude) - 1.0);
  return is_small ? near : far / std::sqrt(magnitude);
}

/// `scaled` * exp(magnitude). The exponential alone may overflow where the product does not.
PHI_HD double unscaled_bessel(double scaled, double magnitude) {
  const double half = exp(0.5 * magnitude);
  // Above 1000 the exponential overflows. NaN gives NaN.
  return magnitude < 1000.0 ? half * scaled * half
                            : magnitude * std::numeric_limits<double>::infinity();
}

/// |x|, at most 600: there exp(|x|) overflows float, and wide_exp() is still in range. NaN gives
/// NaN.
PHI_HD double float_magnitude(float x) {
  const double magnitude = std::fabs(x);
  return magnitude > 600.0 ? 600.0 : magnitude;
}

PHI_HD double scaled_i0_float(double magnitude) {
  return scaled_bessel<I0SmallFloat, I0LargeFloat>(magnitude, 1.0);
}
PHI_HD double scaled_i1_float(double magnitude) {
  return scaled_bessel<I1SmallFloat, I1LargeFloat>(magnitude, magnitude);
}

}  // namespace detail

PHI_HD float bessel_i0e(float x) {
  return static_cast<float>(detail::scaled_i0_float(std::fabs(x)));
}
PHI_HD float bessel_i1e(float x) {
  return std::copysign(static_cast<float>(detail::scaled_i1_float(std::fabs(x))), x);
}
PHI_HD float bessel_i0(float x) {
  const double magnitude = detail::float_magnitude(x);
  return static_cast<float>(detail::scaled_i0_float(magnitude) * detail::wide_exp(magnitude));
}
PHI_HD float bessel_i1(float x) {
  const double magnitude = detail::float_magnitude(x);
  const double y = detail::scaled_i1_float(magnitude) * detail::wide_exp(magnitude);
  return std::copysign(static_cast<float>(y), x);
}

PHI_HD double bessel_i0e(double x) {
  return detail::scaled_bessel<detail::I0Small, detail::I0Large>(std::fabs(x), 1.0);
}
PHI_HD double bessel_i1e(double x) {
  const double magnitude = std::fabs(x);
  const double y = detail::scaled_bessel<detail::I1Small, detail::I1Large>(magnitude, magnitude);
  return std::copysign(y, x);
}
PHI_HD double bessel_i0(double x) { return detail::unscaled_bessel(bessel_i0e(x), std::fabs(x)); }
PHI_HD double bessel_i1(double x) {
  const double magnitude = std::fabs(x);
  return std::copysign(detail::unscaled_bessel(std::fabs(bessel_i1e(x)), magnitude), x);
}

}  // namespace phi::fast
