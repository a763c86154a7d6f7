// What attention does to a row between its products: softmax steps forward, slopes backward. On
// machines with AVX-512 in twice as wide registers as the rest of the program.
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

/// The largest of n scores (a multiple of kStep), -inf for none. NaN if all are; other scores, -inf
/// too, may hide one, which add_scores shows. A pass of its own over the rows of a tile, so that
/// the end of one row's maximum overlaps with the next row.
template <typename C>
C largest(int64_t n, const C* row);

/// Takes n more scores (a multiple of kStep) whose maximum is `here`. They become weights exp(score
/// - softmax->most), all 0 while every score is -inf; a NaN makes the total NaN. Returns the factor
/// by which weights given earlier shrink. C is float or double.
template <typename C>
C add_scores(int64_t n, C here, C* row, Softmax<C>* softmax);

/// Scores become weights[j] = exp(score - log_sum), products become slopes[j] = weights[j] *
/// (product - share), for n elements (a multiple of kStep). C is float or double.
template <typename C>
void make_slopes(int64_t n, C log_sum, C share, C* weights, C* slopes);

/// Where a row will be written some time from now: brings its cache lines here meanwhile. Rows of
/// one head lie too far apart for the machine to foresee.
template <typename T>
inline void expect_row(T* row, int64_t n) {
  constexpr int64_t kLine = 64 / sizeof(T);
  for (int64_t j = 0; j < n; j += kLine) __builtin_prefetch(row + j, /*rw=*/1);
}

}  // namespace phi::attention_rows
