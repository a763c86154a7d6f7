// Line methods: stages on lanes, a line as a matrix, and Bluestein's convolution of a power-of-two
// length.
#include "phi/kernels/cpu/fft/line_method.h"

#include <cmath>
#include <vector>

#include "phi/kernels/cpu/fft/line_blocks.h"
#include "phi/kernels/cpu/fft/stages.h"
#include "phi/kernels/cpu/workspace.h"

namespace phi {
namespace {

constexpr int64_t kLongLine = 2048;

int64_t largest_prime(int64_t n) {
  int64_t largest = 1;
  for (int64_t p = 2; p * p <= n; ++p) {
    for (; n % p == 0; n /= p) largest = p;
  }
  return n > 1 ? n : largest;
}

/// Whether a convolution of more than twice the length is faster than the stage of a prime factor.
bool is_convolved(int64_t n) { return largest_prime(n) > kLargestFactor; }

/// Returns the power of two that is large enough for a convolution of n numbers.
int64_t padded(int64_t n) {
  int64_t size = 1;
  while (size < 2 * n - 1) size *= 2;
  return size;
}

template <typename R, int L>
class LinesPerLane final : public LineMethod<R, L> {
 public:
  LinesPerLane(int64_t n, bool forward) : stages_(n, forward) {}
  void run(const LinePointers<const R, 1>& in, const LinePointers<R, 1>& out,
           const NextLines<R, 1>& /*soon*/) override {
    stages_.run(reinterpret_cast<const V*>(in[0]), reinterpret_cast<V*>(out[0]));
  }

 private:
  using V = lanes_t<R, L>;
  Stages<R, L> stages_;
};

/// Multiplies the number whose parts are at z by w.
template <typename V, typename R>
PHI_LANES void multiply_by_twiddle(const V* z, std::complex<R> w, V* real, V* imag) {
  const V re = z[0], im = z[1], wr = w.real(), wi = w.imag();
  *real = re * wr - im * wi;
  *imag = re * wi + im * wr;
}

/// Bluestein's algorithm. Because k t = (k^2 + t^2 - (k - t)^2) / 2, the transform is a convolution
/// with exp(pi i t^2 / n), with a multiplication by its conjugate before and after.
template <typename R, int L>
class Bluestein final : public LineMethod<R, L> {
 public:
  using C = std::complex<R>;
  using V = lanes_t<R, L>;
  Bluestein(int64_t n, bool forward)
      : n_(n), padded_(padded(n)), there_(LineMethod<R, L>::of(padded_, true)) {
    for (int64_t t = 0; t < n; ++t) {
      // t^2 modulo 2n keeps the angle exact.
      const auto square =
          static_cast<int64_t>(static_cast<__int128>(t) * t % (2 * static_cast<__int128>(n)));
      const double turns = static_cast<double>(square) / (2 * static_cast<double>(n));
      chirp_.push_back(C(unit(forward ? -turns : turns)));
    }
    find_filter();
  }
  void run(const LinePointers<const R, 1>& in, const LinePointers<R, 1>& out,
           const NextLines<R, 1>& /*soon*/) override {
    run_in_lanes<R, L>([this, in, out] { convolve(in[0], out[0]); });
  }

 private:
  void find_filter() {
    R* first = first_.room<R>(2 * padded_ * L);
    R* second = second_.room<R>(2 * padded_ * L);
    std::fill_n(first, 2 * padded_ * L, R(0));
    for (int64_t t = 0; t < n_; ++t) {
      const C w = std::conj(chirp_[t]) / static_cast<R>(padded_);
      for (int64_t at : {t, (padded_ - t) % padded_}) {
        std::fill_n(first + 2 * at * L, L, w.real());
        std::fill_n(first + (2 * at + 1) * L, L, w.imag());
      }
    }
    there_->run({first}, {second}, {});
    for (int64_t k = 0; k < padded_; ++k) {
      filter_.push_back({second[2 * k * L], second[(2 * k + 1) * L]});
    }
  }
  /// The inverse transform is the forward transform with real and imaginary parts exchanged.
  PHI_LANES void convolve(const R* in, R* out) {
    V* const first = first_.data<V>();
    V* const second = second_.data<V>();
    const V* const x = reinterpret_cast<const V*>(in);
    V* const y = reinterpret_cast<V*>(out);
    for (int64_t t = 0; t < n_; ++t) {
      multiply_by_twiddle(x + 2 * t, chirp_[t], &first[2 * t], &first[2 * t + 1]);
    }
    for (int64_t t = 2 * n_; t < 2 * padded_; ++t) first[t] = V();
    there_->run({first_.data<R>()}, {second_.data<R>()}, {});
    for (int64_t k = 0; k < padded_; ++k) {
      multiply_by_twiddle(second + 2 * k, filter_[k], &second[2 * k + 1], &second[2 * k]);
    }
    there_->run({second_.data<R>()}, {first_.data<R>()}, {});
    for (int64_t t = 0; t < n_; ++t) {
      const V z[] = {first[2 * t + 1], first[2 * t]};
      multiply_by_twiddle(z, chirp_[t], &y[2 * t], &y[2 * t + 1]);
    }
  }

  int64_t n_;
  int64_t padded_;
  std::unique_ptr<LineMethod<R, L>> there_;
  std::vector<C> chirp_, filter_;
  Workspace first_, second_;
};

/// A line as a matrix with n1 rows and n2 columns (Bailey's four steps): transforms of its columns,
/// twiddle factors exp(-2 pi i row column / n), then transforms of its rows, whose results are the
/// columns of the result.
///
/// Both passes process M columns or rows at once. If their number is not a multiple of M, the last
/// group repeats some of the previous one. M is the number of lanes, or half of it if the other
/// half has a second line. n is at least M squared, so there are at least M columns.
template <typename R, int L, int K>
class SingleLines final : public LineMethod<R, 1, K> {
 public:
  SingleLines(int64_t n, bool forward)
      : forward_(forward),
        n1_(rows_of(n)),
        n2_(n / n1_),
        columns_(n1_, forward),
        rows_(n2_, forward) {
    const int64_t larger = std::max(n1_, n2_);
    a_.room<R>(2 * larger * L);
    b_.room<R>(2 * larger * L);
    matrix_.room<R>(groups(n1_) * n2_ * 2 * L);
    find_factors();
  }
  void run(const LinePointers<const R, K>& in, const LinePointers<R, K>& out,
           const NextLines<R, K>& soon) override {
    run_in_lanes<R, L>([this, &in, &out, &soon] {
      const auto from = one_by_one(in);
      const auto to = one_by_one(out);
      if (kSquareFits && n1_ == M && n2_ == M) {
        bring_all_near(soon.written, 0, 2 * n1_ * n2_);
        forward_ ? transform_all<true>(from, to) : transform_all<false>(from, to);
        bring_all_near(soon.read, 0, 2 * n1_ * n2_);
      } else {
        transform_columns(from, soon);
        if (is_short()) bring_all_near(soon.read, 0, 2 * n1_ * n2_);
        transform_rows(to);
      }
    });
  }

 private:
  using V = Lanes<R, L>;
  static constexpr int M = L / K;
  static constexpr bool kSquareFits = L > kLanes<R> || M <= 4;  // in 32 or 16 registers

  /// Few rows keep the columns in registers. For a long line, about sqrt(n) rows keep rows and
  /// columns in the caches.
  static int64_t rows_of(int64_t n) {
    if (n % M == 0 && n <= kLongLine) return M;
    auto d = static_cast<int64_t>(std::sqrt(static_cast<double>(n)));
    while (n % d != 0) --d;
    return d;
  }
  bool is_short() const { return n1_ * n2_ <= kLongLine; }
  static int64_t groups(int64_t count) { return (count + M - 1) / M; }
  static int64_t first_of(int64_t group, int64_t count) {
    return std::max<int64_t>(0, std::min(group * M, count - M));
  }

  template <typename X>
  PHI_LANES static void bring_all_near(const LinePointers<X, K>& lines, int64_t begin,
                                       int64_t count) {
    if (lines[K - 1] == nullptr) return;
    for (X* line : lines) prefetch_line(line + begin, count);
  }

  /// Computes the twiddle factors, in the order of transform_columns: M columns of each line, row
  /// by row. Each is the product of one coarse and one fine factor, so that few angles are
  /// computed.
  void find_factors() {
    const int64_t n = n1_ * n2_;
    const double turn = (forward_ ? -1.0 : 1.0) / static_cast<double>(n);
    std::vector<std::complex<double>> fine, coarse;
    for (int64_t i = 0; i < n2_; ++i) fine.push_back(unit(turn * static_cast<double>(i)));
    for (int64_t i = 0; i < n1_; ++i) coarse.push_back(unit(turn * static_cast<double>(i * n2_)));
    R* to = factors_.room<R>(groups(n2_) * n1_ * 2 * L);
    for (int64_t g = 0; g < groups(n2_); ++g) {
      for (int64_t row = 0; row < n1_; ++row, to += 2 * L) {
        // Row times column, divided by n2.
        int64_t whole = row * first_of(g, n2_) / n2_, rest = row * first_of(g, n2_) % n2_;
        for (int64_t m = 0; m < M; ++m) {
          const std::complex<double> w = coarse[whole] * fine[rest];
          for (int64_t l = m; l < L; l += M) {
            to[l] = static_cast<R>(w.real());
            to[L + l] = static_cast<R>(w.imag());
          }
          rest += row;
          if (rest >= n2_) rest -= n2_, ++whole;
        }
      }
    }
  }
  PHI_LANES void transform_columns(const LinePointers<const R, K>& in,
                                   const NextLines<R, K>& soon) {
    const V* w = factors_.data<V>();
    for (int64_t g = 0; g < groups(n2_); ++g, w += 2 * n1_) {
      const int64_t column = first_of(g, n2_);
      if (is_short()) {
        const int64_t width = std::min<int64_t>(M, n2_ - column);
        bring_all_near(soon.written, 2 * n1_ * column, 2 * n1_ * width);
      }
      if (K > 1 || n1_ == M) {  // pairs are short
        forward_ ? put_square<true>(in, column, w) : put_square<false>(in, column, w);
      } else if constexpr (K == 1) {
        transform_any(in[0], column, w);
      }
    }
  }
  /// A backward transform is a forward one with real and imaginary parts exchanged.
  template <bool kForward>
  PHI_LANES static ComplexLanes<V> sided(const ComplexLanes<V>& z) {
    return kForward ? z : ComplexLanes<V>{z.im, z.re};
  }
  /// Transforms M columns of M rows in registers, applies the twiddle factors and transposes.
  template <bool kForward>
  PHI_LANES void transform_square(const LinePointers<const R, K>& in, int64_t column,
                                  const V* factors, V (&re)[M], V (&im)[M]) {
    transform_even<R, M>(
        [&](int t) { return sided<kForward>(numbers_at<L>(in, 2 * (t * n2_ + column))); },
        [&](int t, const ComplexLanes<V>& z) {
          ComplexLanes<V> turned = sided<kForward>(z);
          if (t > 0)
            turned = turned * ComplexLanes<V>{factors[int64_t{2} * t], factors[int64_t{2} * t + 1]};
          re[t] = turned.re;
          im[t] = turned.im;
        });
    transpose(re);
    transpose(im);
  }
  template <bool kForward>
  PHI_LANES void put_square(const LinePointers<const R, K>& in, int64_t column, const V* factors) {
    V re[M], im[M];
    transform_square<kForward>(in, column, factors, re, im);
    put_rows(re, im, 0, column);
  }
  /// Transforms a line that is a single square.
  template <bool kForward>
  PHI_LANES void transform_all(const LinePointers<const R, K>& in, const LinePointers<R, K>& out) {
    V re[M], im[M];
    transform_square<kForward>(in, 0, factors_.data<V>(), re, im);
    transform_even<R, M>(
        [&](int t) {
          return sided<kForward>({re[t], im[t]});
        },
        [&](int t, const ComplexLanes<V>& z) {
          put_numbers<L>(sided<kForward>(z), out, 2 * t * M);
        });
  }
  PHI_LANES void transform_any(const R* in, int64_t column, const V* factors) {
    V* const a = a_.data<V>();
    gather_neighbours(in + 2 * column, n2_, n1_, a);
    columns_.run(a, b_.data<V>());
    for (int64_t g = 0; g < groups(n1_); ++g) {
      const int64_t row = first_of(g, n1_);
      V re[M], im[M];
      for (int64_t i = 0; i < std::min<int64_t>(M, n1_); ++i) {
        const V* const z = b_.data<V>() + 2 * (row + i);
        const V* const w = factors + 2 * (row + i);
        const ComplexLanes<V> turned = ComplexLanes<V>{z[0], z[1]} * ComplexLanes<V>{w[0], w[1]};
        re[i] = turned.re;
        im[i] = turned.im;
      }
      transpose(re);
      transpose(im);
      put_rows(re, im, g, column);
    }
  }
  /// Writes M columns to the block of M rows.
  PHI_LANES void put_rows(const V (&re)[M], const V (&im)[M], int64_t group, int64_t column) {
    V* const to = matrix_.data<V>() + 2 * (group * n2_ + column);
#pragma GCC unroll 16
    for (int64_t m = 0; m < M; ++m) {
      to[2 * m] = re[m];
      to[2 * m + 1] = im[m];
    }
  }
  PHI_LANES void transform_rows(const LinePointers<R, K>& out) {
    for (int64_t g = 0; g < groups(n1_); ++g) {
      const V* const block = matrix_.data<V>() + 2 * g * n2_;
      const int64_t row = first_of(g, n1_);
      if (K > 1 || n1_ >= L) {
        rows_.run_to_neighbours(block, b_.data<V>(), out, row, n1_);
      } else if constexpr (K == 1) {
        rows_.run(block, b_.data<V>());
        const LineGrid grid{1, n1_, {0, n2_, 1}, {0, 1, n1_}};
        scatter_complex<R, L>(b_.data<V>(), LineOffsets<L>(grid, grid.to, row), n2_, out[0]);
      }
    }
  }

  bool forward_;
  int64_t n1_, n2_;  // n1 <= n2
  Stages<R, L> columns_, rows_;
  Workspace a_, b_, matrix_, factors_;
};

/// Whether the rows and columns of lines of n numbers fill `lanes`.
bool fills(int64_t n, int64_t lanes) { return n % lanes == 0 && n >= lanes * lanes; }

}  // namespace

template <typename R>
LineLayout line_layout(int64_t n, bool neighbours) {
  // Several long lines at once would not fit into the caches, whatever their layout.
  if ((is_convolved(n) ? padded(n) : n) > kLongLine) return LineLayout::kAlone;
  if (!neighbours || is_convolved(n)) return LineLayout::kSideBySide;
  const int lanes = has_avx512() ? kWideLanes<R> : kLanes<R>;
  // A square of 8 x 8 needs more than 16 registers, which slows short lines down.
  const bool fits = has_avx512() || lanes < 8 || n >= 512;
  if (fills(n, lanes) && fits) return LineLayout::kAlone;
  return lanes >= 8 && fills(n, lanes / 2) ? LineLayout::kInPairs : LineLayout::kSideBySide;
}
template LineLayout line_layout<float>(int64_t, bool);
template LineLayout line_layout<double>(int64_t, bool);

template <typename R, int L, int K>
std::unique_ptr<LineMethod<R, L, K>> LineMethod<R, L, K>::of(int64_t n, bool forward) {
  if constexpr (K == 1) {
    if (is_convolved(n)) return std::make_unique<Bluestein<R, L>>(n, forward);
  }
  if constexpr (L > 1) {
    return std::make_unique<LinesPerLane<R, L>>(n, forward);
  } else {
    if (has_avx512()) return std::make_unique<SingleLines<R, kWideLanes<R>, K>>(n, forward);
    return std::make_unique<SingleLines<R, kLanes<R>, K>>(n, forward);
  }
}

template class LineMethod<float, 1>;
template class LineMethod<double, 1>;
template class LineMethod<float, 1, 2>;
template class LineMethod<double, 1, 2>;
template class LineMethod<float, kLanes<float>>;
template class LineMethod<double, kLanes<double>>;
template class LineMethod<float, kWideLanes<float>>;
template class LineMethod<double, kWideLanes<double>>;

}  // namespace phi
