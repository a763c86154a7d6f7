// What attention does to a row of scores between its products: softmax steps forward, slopes
// backward. On machines with AVX-512 in twice as wide registers as the rest of the program.
#pragma once

#include <cstdint>
#include <limits>

namespace phi::attention_rows {

/// Rows are worked on in steps of so many elements.
inline constexpr int64_t kStep = 32;
constexpr int64_t whole_steps(int64_t n) { return (n + kStep - 1) / kStep * kStep; }

/// The scores of one query so far: their maximum and the sum of exp(score - most).
template <typename C>
struct Softmax {
  C most = -std::numeric_limits<C>::infinity();
  C total = 0;
};

/// Takes n more scores (a multiple of kStep): weights[j] = exp(scores[j] - softmax->most), all 0
/// while every score is -inf; a NaN makes the total NaN. Returns the factor by which weights given
/// earlier shrink. `weights` may be `scores`. C is float or double; W is C or bfloat16.
template <typename C, typename W>
C add_scores(const C* scores, int64_t n, Softmax<C>* softmax, W* weights);

/// weights[j] = exp(scores[j] - log_sum) and slopes[j] = weights[j] * (products[j] - share) for n
/// elements (a multiple of kStep). `weights` may be `scores` and `slopes` may be `products`.
template <typename C, typename W>
void make_slopes(const C* scores, const C* products, int64_t n, C log_sum, C share, W* weights,
                 W* slopes);

}  // namespace phi::attention_rows
