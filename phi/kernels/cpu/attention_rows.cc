// Sums run in kStep lanes whatever the registers hold, so that wide and narrow ones give the same
// numbers.
#include "phi/kernels/cpu/attention_rows.h"

#include "phi/common/half.h"
#include "phi/kernels/cpu/wide.h"
#include "phi/kernels/functors/fast_math.h"
#include "phi/kernels/functors/hd.h"

namespace phi::attention_rows {
namespace {

/// Not always NaN if there is one, but NaN if all are.
template <typename C>
PHI_HD C largest(const C* row, int64_t n) {
  C lanes[kStep];
  for (int64_t lane = 0; lane < kStep; ++lane) lanes[lane] = row[lane];
  for (int64_t i = kStep; i < n; i += kStep) {
    for (int64_t lane = 0; lane < kStep; ++lane)
      lanes[lane] = lanes[lane] > row[i + lane] ? lanes[lane] : row[i + lane];
  }
  for (int64_t half = kStep / 2; half > 0; half /= 2) {
    for (int64_t lane = 0; lane < half; ++lane)
      lanes[lane] = lanes[lane] > lanes[lane + half] ? lanes[lane] : lanes[lane + half];
  }
  return lanes[0];
}

template <typename C, typename W>
PHI_HD C add_scores_loop(const C* scores, int64_t n, Softmax<C>* softmax, W* weights) {
  constexpr C kLowest = -std::numeric_limits<C>::infinity();
  const C here = n > 0 ? largest(scores, n) : kLowest;
  const C most = softmax->most > here ? softmax->most : here;
  if (most == kLowest) {
    for (int64_t j = 0; j < n; ++j) weights[j] = W(C(0));
    return C(1);
  }
  C lanes[kStep] = {};
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i += kStep) {
#pragma GCC ivdep
    for (int64_t lane = 0; lane < kStep; ++lane) {
      const C weight = fast::exp_or_zero(scores[i + lane] - most);
      weights[i + lane] = W(weight);
      lanes[lane] += weight;
    }
  }
  for (int64_t half = kStep / 2; half > 0; half /= 2) {
    for (int64_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  }
  const C shrink = fast::exp_or_zero(softmax->most - most);
  *softmax = {most, softmax->total * shrink + lanes[0]};
  return shrink;
}

template <typename C, typename W>
PHI_HD void make_slopes_loop(const C* scores, const C* products, int64_t n, C log_sum, C share,
                             W* weights, W* slopes) {
#pragma GCC ivdep
  for (int64_t j = 0; j < n; ++j) {
    const C weight = fast::exp_or_zero(scores[j] - log_sum);
    const C slope = weight * (products[j] - share);
    weights[j] = W(weight);
    slopes[j] = W(slope);
  }
}

}  // namespace

template <typename C, typename W>
C add_scores(const C* scores, int64_t n, Softmax<C>* softmax, W* weights) {
  return run_widest<C>([=] { return add_scores_loop(scores, n, softmax, weights); });
}

template <typename C, typename W>
void make_slopes(const C* scores, const C* products, int64_t n, C log_sum, C share, W* weights,
                 W* slopes) {
  run_widest<C>([=] { make_slopes_loop(scores, products, n, log_sum, share, weights, slopes); });
}

#define PHI_INSTANTIATE_ROWS(C, W)                           \
  template C add_scores(const C*, int64_t, Softmax<C>*, W*); \
  template void make_slopes(const C*, const C*, int64_t, C, C, W*, W*)
PHI_INSTANTIATE_ROWS(float, float);
PHI_INSTANTIATE_ROWS(float, bfloat16);
PHI_INSTANTIATE_ROWS(double, double);
#undef PHI_INSTANTIATE_ROWS

}  // namespace phi::attention_rows
