// Sums use kStep lanes whatever the register width, so that the AVX-512 and the base version return
// the same bits.
#include "phi/kernels/cpu/attention/attention_rows.h"

#include "phi/kernels/cpu/loop_isa.h"
#include "phi/kernels/functors/fast/math.h"
#include "phi/kernels/functors/hd.h"

namespace phi::attention_rows {
namespace {

// Folds by halves, so that lanes stay in vector registers.
template <typename C, typename Fold>
PHI_HD C fold_halves(C* lanes, Fold fold) {
#pragma GCC unroll 8
  for (int64_t half = kStep / 2; half > 0; half /= 2) {
    for (int64_t lane = 0; lane < half; ++lane) lanes[lane] = fold(lanes[lane], lanes[lane + half]);
  }
  return lanes[0];
}

template <typename C>
PHI_HD C largest_loop(int64_t n, const C* row) {
  if (n == 0) return -std::numeric_limits<C>::infinity();
  const auto larger = [](C a, C b) __attribute__((always_inline)) { return a > b ? a : b; };
  C lanes[kStep];
  for (int64_t lane = 0; lane < kStep; ++lane) lanes[lane] = row[lane];
  for (int64_t i = kStep; i < n; i += kStep) {
    for (int64_t lane = 0; lane < kStep; ++lane) lanes[lane] = larger(lanes[lane], row[i + lane]);
  }
  return fold_halves(lanes, larger);
}

template <typename C>
PHI_HD C add_scores_loop(int64_t n, C here, C* row, Softmax<C>* softmax) {
  constexpr C kLowest = -std::numeric_limits<C>::infinity();
  const C most = softmax->most > here ? softmax->most : here;
  if (most == kLowest) {  // all scores are -inf, or NaN that `here` does not show
    for (int64_t j = 0; j < n; ++j) {
      row[j] = row[j] == row[j] ? C(0) : row[j];
      softmax->total += row[j];
    }
    return C(1);
  }
  C lanes[kStep] = {};
  for (int64_t i = 0; i < n; i += kStep) {
#pragma GCC ivdep
    for (int64_t lane = 0; lane < kStep; ++lane) {
      const C weight = fast::exp_or_zero(row[i + lane] - most);
      row[i + lane] = weight;
      lanes[lane] += weight;
    }
  }
  const C shrink = fast::exp_or_zero(softmax->most - most);
  const auto plus = [](C a, C b) __attribute__((always_inline)) { return a + b; };
  *softmax = {most, softmax->total * shrink + fold_halves(lanes, plus)};
  return shrink;
}

template <typename C>
PHI_HD void make_slopes_loop(int64_t n, C log_sum, C share, C* weights, C* slopes) {
#pragma GCC ivdep
  for (int64_t j = 0; j < n; ++j) {
    const C weight = fast::exp_or_zero(weights[j] - log_sum);
    weights[j] = weight;
    slopes[j] = weight * (slopes[j] - share);
  }
}

}  // namespace

template <typename C>
C largest(int64_t n, const C* row) {
  return run_best_isa<C>([=] { return largest_loop(n, row); });
}

template <typename C>
C add_scores(int64_t n, C here, C* row, Softmax<C>* softmax) {
  return run_best_isa<C>([=] { return add_scores_loop(n, here, row, softmax); });
}

template <typename C>
void make_slopes(int64_t n, C log_sum, C share, C* weights, C* slopes) {
  run_best_isa<C>([=] { make_slopes_loop(n, log_sum, share, weights, slopes); });
}

template float largest(int64_t, const float*);
template double largest(int64_t, const double*);
template float add_scores(int64_t, float, float*, Softmax<float>*);
template double add_scores(int64_t, double, double*, Softmax<double>*);
template void make_slopes(int64_t, float, float, float*, float*);
template void make_slopes(int64_t, double, double, double*, double*);

}  // namespace phi::attention_rows
