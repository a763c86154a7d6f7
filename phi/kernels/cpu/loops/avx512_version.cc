// Square roots from AVX-512's 14-bit approximation of 1 / sqrt(x), with refinement steps. The
// results are those of the square root instruction, which takes longer.
#include "phi/kernels/cpu/loops/avx512_version.h"

#ifdef __x86_64__
#include <immintrin.h>

#include "phi/kernels/cpu/loop_isa.h"

namespace phi::detail {
namespace {

/// A register of numbers of type R, with the operations of the algorithm below.
template <typename R>
struct Register;

template <>
struct Register<float> {
  using V = __m512;
  static constexpr int kLanes = 16, kSteps = 1;
  static constexpr float kLeast = 0x1p-100f, kMost = 0x1p100f;

  PHI_AVX512_TARGET static V all(float x) { return _mm512_set1_ps(x); }
  PHI_AVX512_TARGET static V load(__mmask16 which, const float* x) {
    return _mm512_mask_loadu_ps(all(1), which, x);
  }
  PHI_AVX512_TARGET static void store(float* out, __mmask16 which, V x) {
    _mm512_mask_storeu_ps(out, which, x);
  }
  PHI_AVX512_TARGET static bool all_inside(V x) {
    return (_mm512_cmp_ps_mask(x, all(kLeast), _CMP_GE_OQ) &
            _mm512_cmp_ps_mask(x, all(kMost), _CMP_LE_OQ)) == 0xffff;
  }
  PHI_AVX512_TARGET static V near_inverse_root(V x) { return _mm512_rsqrt14_ps(x); }
  PHI_AVX512_TARGET static V root(V x) { return _mm512_sqrt_ps(x); }
  PHI_AVX512_TARGET static V fused(V a, V b, V c) { return _mm512_fmadd_ps(a, b, c); }
  PHI_AVX512_TARGET static V rest(V a, V b, V c) { return _mm512_fnmadd_ps(a, b, c); }
};

template <>
struct Register<double> {
  using V = __m512d;
  static constexpr int kLanes = 8, kSteps = 2;
  static constexpr double kLeast = 0x1p-700, kMost = 0x1p700;

  PHI_AVX512_TARGET static V all(double x) { return _mm512_set1_pd(x); }
  PHI_AVX512_TARGET static V load(__mmask8 which, const double* x) {
    return _mm512_mask_loadu_pd(all(1), which, x);
  }
  PHI_AVX512_TARGET static void store(double* out, __mmask8 which, V x) {
    _mm512_mask_storeu_pd(out, which, x);
  }
  PHI_AVX512_TARGET static bool all_inside(V x) {
    return (_mm512_cmp_pd_mask(x, all(kLeast), _CMP_GE_OQ) &
            _mm512_cmp_pd_mask(x, all(kMost), _CMP_LE_OQ)) == 0xff;
  }
  PHI_AVX512_TARGET static V near_inverse_root(V x) { return _mm512_rsqrt14_pd(x); }
  PHI_AVX512_TARGET static V root(V x) { return _mm512_sqrt_pd(x); }
  PHI_AVX512_TARGET static V fused(V a, V b, V c) { return _mm512_fmadd_pd(a, b, c); }
  PHI_AVX512_TARGET static V rest(V a, V b, V c) { return _mm512_fnmadd_pd(a, b, c); }
};

/// Returns the correctly rounded square root (P. Markstein, IBM Journal of Research and Development
/// 34, 1990). g approximates the root and h approximates 1 / (2 g); each step doubles the number of
/// correct bits. The last step adds the remainder of x, which fused operations compute without
/// error.
template <typename R>
PHI_AVX512_TARGET inline typename R::V refined_root(typename R::V x) {
  const auto half = R::all(0.5), none = R::all(0);
  const auto near = R::near_inverse_root(x);
  auto h = R::fused(near, half, none);
  auto g = R::fused(near, x, none);
  for (int step = 0; step < R::kSteps; ++step) {
    const auto error = R::rest(g, h, half);
    g = R::fused(g, error, g);
    h = R::fused(h, error, h);
  }
  return R::fused(h, R::rest(g, g, x), g);
}

/// Uses the instruction if an intermediate result of a number of the register could leave the range
/// of normal numbers.
template <typename R>
PHI_AVX512_TARGET inline typename R::V root(typename R::V x) {
  return R::all_inside(x) ? refined_root<R>(x) : R::root(x);
}

template <typename T>
PHI_AVX512_TARGET inline void roots(const T* x, T* out, int64_t n) {
  using R = Register<T>;
  constexpr unsigned kAll = (1u << R::kLanes) - 1;
  int64_t i = 0;
  for (; i + R::kLanes <= n; i += R::kLanes) {
    R::store(out + i, kAll, root<R>(R::load(kAll, x + i)));
  }
  if (i == n) return;
  const unsigned rest = (1u << (n - i)) - 1;
  R::store(out + i, rest, root<R>(R::load(rest, x + i)));
}

}  // namespace

template <typename T>
void Avx512Version<SqrtFunctor<T>>::run(const T* x, T* out, int64_t n) {
  roots(x, out, n);
}

template struct Avx512Version<SqrtFunctor<float>>;
template struct Avx512Version<SqrtFunctor<double>>;

}  // namespace phi::detail
#endif
