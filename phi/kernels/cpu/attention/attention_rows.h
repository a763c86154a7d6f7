// Row operations of attention between its matmuls: online softmax steps forward, score gradients
// backward. They use AVX-512 if the machine has it.
#pragma once

#include <cstdint>
#include <limits>

namespace phi::attention_rows {

/// Rows are processed in steps of this many elements.
inline constexpr int64_t kStep = 32;
constexpr int64_t whole_steps(int64_t n) { return (n + kStep - 1) / kStep * kStep; }

/// Online softmax state of one query: the maximum of its scores so far, and the sum of exp(score -
/// most).
template <typename C>
struct Softmax {
  C most = -std::numeric_limits<C>::infinity();
  C total = 0;
};

/// Returns the largest of n scores (a multiple of kStep), -inf if n is 0, NaN if all are NaN. If
/// only some are NaN, the result may not show it; add_scores does. This is a separate pass over the
/// rows of a tile, so that the end of one row's maximum overlaps with the next row.
template <typename C>
C largest(int64_t n, const C* row);

/// Adds n scores (a multiple of kStep) whose maximum is `here` to the state. Scores become weights
/// exp(score - softmax->most), which are all 0 while every score is -inf. A NaN makes the total
/// NaN. Returns the factor by which earlier weights shrink. C is float or double.
template <typename C>
C add_scores(int64_t n, C here, C* row, Softmax<C>* softmax);

/// Turns scores into weights[j] = exp(score - log_sum), and the gradients of weights (`slopes`)
/// into gradients of scores, slopes[j] = weights[j] * (slopes[j] - share), for n elements (a
/// multiple of kStep). C is float or double.
template <typename C>
void make_slopes(int64_t n, C log_sum, C share, C* weights, C* slopes);

/// Prefetches the cache lines of a row that will be written soon. Rows of one head are too far
/// apart for the hardware prefetcher.
template <typename T>
inline void expect_row(T* row, int64_t n) {
  constexpr int64_t kLine = 64 / sizeof(T);
  for (int64_t j = 0; j < n; j += kLine) __builtin_prefetch(row + j, /*rw=*/1);
}

}  // namespace phi::attention_rows
