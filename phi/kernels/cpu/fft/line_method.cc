// KissFFT on lanes, long lines as matrices, and Bluestein's way to a power of two.
#include "phi/kernels/cpu/fft/line_method.h"

#include <cmath>
#include <kissfft/kissfft.hh>
#include <numbers>
#include <vector>

#include "phi/kernels/cpu/fft/line_blocks.h"
#include "phi/kernels/cpu/workspace.h"

namespace phi {
namespace {

// Above it a convolution of more than twice the length costs less than KissFFT's sums.
constexpr int64_t kLargePrime = 64;
constexpr int64_t kLongLine = 2048;

int64_t largest_prime(int64_t n) {
  int64_t largest = 1;
  for (int64_t p = 2; p * p <= n; ++p) {
    for (; n % p == 0; n /= p) largest = p;
  }
  return n > 1 ? n : largest;
}

/// The power of two that a convolution with n numbers fits in.
int64_t padded(int64_t n) {
  int64_t size = 1;
  while (size < 2 * n - 1) size *= 2;
  return size;
}

std::complex<double> unit(double turns) { return std::polar(1.0, 2 * std::numbers::pi * turns); }

/// KissFFT's radices: fours, twos, then odd numbers upwards; and what is left after each.
void factorise(size_t n, std::vector<size_t>* radices, std::vector<size_t>* rests) {
  size_t p = 4;
  do {
    while (n % p != 0) {
      p = p == 4 ? 2 : p == 2 ? 3 : p + 2;
      if (p * p > n) p = n;
    }
    n /= p;
    radices->push_back(p);
    rests->push_back(n);
  } while (n > 1);
}

/// Rounded once; KissFFT's own are as exact as their angles in the lanes' type.
template <typename V>
std::vector<std::complex<V>> twiddles_of(size_t n, bool inverse) {
  std::vector<std::complex<V>> twiddles(n);
  for (size_t i = 0; i < n; ++i) {
    const auto w = unit((inverse ? 1.0 : -1.0) * static_cast<double>(i) / static_cast<double>(n));
    twiddles[i] = {V(w.real()), V(w.imag())};
  }
  return twiddles;
}

}  // namespace

using FloatLanes = Lanes<float, kLanes<float>>;
using DoubleLanes = Lanes<double, kLanes<double>>;
using WideFloatLanes = Lanes<float, kWideLanes<float>>;
using WideDoubleLanes = Lanes<double, kWideLanes<double>>;
}  // namespace phi

#define PHI_TWIDDLES_(V)                                                               \
  template <>                                                                          \
  kissfft<phi::V>::kissfft(const size_t n, const bool inverse)                         \
      : _nfft(n), _inverse(inverse), _twiddles(phi::twiddles_of<phi::V>(n, inverse)) { \
    phi::factorise(n, &_stageRadix, &_stageRemainder);                                 \
  }
PHI_TWIDDLES_(FloatLanes)
PHI_TWIDDLES_(DoubleLanes)
PHI_TWIDDLES_(WideFloatLanes)
PHI_TWIDDLES_(WideDoubleLanes)
#undef PHI_TWIDDLES_

#ifdef __x86_64__
#define PHI_WIDE_STAGES_ [[gnu::flatten]] PHI_WIDE_TARGET
#else
#define PHI_WIDE_STAGES_
#endif
// As KissFFT has it: what calls itself is not inlined into a function that has the instructions.
#define PHI_WIDE_TRANSFORM_(V)                                                               \
  template <>                                                                                \
  PHI_WIDE_STAGES_ void kissfft<phi::V>::transform(const cpx_t* in, cpx_t* out,              \
                                                   const size_t stage, const size_t fstride, \
                                                   const size_t in_stride) const {           \
    const size_t p = _stageRadix[stage], m = _stageRemainder[stage];                         \
    for (size_t i = 0; i < p; ++i) {                                                         \
      const cpx_t* from = in + i * fstride * in_stride;                                      \
      if (m == 1) {                                                                          \
        out[i] = *from;                                                                      \
      } else {                                                                               \
        transform(from, out + i * m, stage + 1, fstride * p, in_stride);                     \
      }                                                                                      \
    }                                                                                        \
    switch (p) {                                                                             \
      case 2:                                                                                \
        return kf_bfly2(out, fstride, m);                                                    \
      case 3:                                                                                \
        return kf_bfly3(out, fstride, m);                                                    \
      case 4:                                                                                \
        return kf_bfly4(out, fstride, m);                                                    \
      case 5:                                                                                \
        return kf_bfly5(out, fstride, m);                                                    \
      default:                                                                               \
        return kf_bfly_generic(out, fstride, m, p);                                          \
    }                                                                                        \
  }
PHI_WIDE_TRANSFORM_(WideFloatLanes)
PHI_WIDE_TRANSFORM_(WideDoubleLanes)
#undef PHI_WIDE_TRANSFORM_
#undef PHI_WIDE_STAGES_

namespace phi {
namespace {

template <typename R, int L>
class Kiss final : public LineMethod<R, L> {
 public:
  using C = std::complex<Lanes<R, L>>;
  Kiss(int64_t n, bool forward) : plan_(static_cast<size_t>(n), !forward) {}
  void run(const R* in, R* out) override {
    plan_.transform(reinterpret_cast<const C*>(in), reinterpret_cast<C*>(out));
  }

 private:
  kissfft<Lanes<R, L>> plan_;
};

/// The number whose parts lie at z, times w.
template <typename V, typename R>
PHI_LANES void multiply(const V* z, std::complex<R> w, V* real, V* imag) {
  const V re = z[0], im = z[1], wr = w.real(), wi = w.imag();
  *real = re * wr - im * wi;
  *imag = re * wi + im * wr;
}

/// As k t = (k^2 + t^2 - (k - t)^2) / 2, the transform is a convolution with exp(pi i t^2 / n)
/// between two products with its conjugate.
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
  void run(const R* in, R* out) override {
    run_in_lanes<R, L>([this, in, out] { convolve(in, out); });
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
    there_->run(first, second);
    for (int64_t k = 0; k < padded_; ++k) {
      filter_.push_back({second[2 * k * L], second[(2 * k + 1) * L]});
    }
  }
  /// The way back is the way there with real and imaginary parts exchanged.
  PHI_LANES void convolve(const R* in, R* out) {
    V* const first = first_.data<V>();
    V* const second = second_.data<V>();
    const V* const x = reinterpret_cast<const V*>(in);
    V* const y = reinterpret_cast<V*>(out);
    for (int64_t t = 0; t < n_; ++t) {
      multiply(x + 2 * t, chirp_[t], &first[2 * t], &first[2 * t + 1]);
    }
    for (int64_t t = 2 * n_; t < 2 * padded_; ++t) first[t] = V();
    there_->run(first_.data<R>(), second_.data<R>());
    for (int64_t k = 0; k < padded_; ++k) {
      multiply(second + 2 * k, filter_[k], &second[2 * k + 1], &second[2 * k]);
    }
    there_->run(second_.data<R>(), first_.data<R>());
    for (int64_t t = 0; t < n_; ++t) {
      const V z[] = {first[2 * t + 1], first[2 * t]};
      multiply(z, chirp_[t], &y[2 * t], &y[2 * t + 1]);
    }
  }

  int64_t n_;
  int64_t padded_;
  std::unique_ptr<LineMethod<R, L>> there_;
  std::vector<C> chirp_, filter_;
  Workspace first_, second_;
};

/// One line as a matrix of n1 rows: transforms of its columns, times exp(-2 pi i row column / n),
/// then transforms of its rows, whose results are the columns of the result.
template <typename R, int L>
class LongLine final : public LineMethod<R, 1> {
 public:
  LongLine(int64_t n, bool forward)
      : n1_(divisor(n)),
        n2_(n / n1_),
        columns_(LineMethod<R, L>::of(n1_, forward)),
        rows_(LineMethod<R, L>::of(n2_, forward)) {
    a_.room<R>(2 * n2_ * L);
    b_.room<R>(2 * n2_ * L);
    matrix_.room<R>(2 * n);
    find_factors(forward);
  }
  void run(const R* in, R* out) override {
    run_in_lanes<R, L>([this, in, out] {
      transform_columns(in);
      transform_rows(out);
    });
  }

 private:
  using V = Lanes<R, L>;
  /// The largest that is not above the root.
  static int64_t divisor(int64_t n) {
    auto d = static_cast<int64_t>(std::sqrt(static_cast<double>(n)));
    while (n % d != 0) --d;
    return d;
  }
  int64_t groups() const { return (n2_ + L - 1) / L; }

  /// In the order of transform_columns: L columns, row by row. Each is the product of two of few.
  void find_factors(bool forward) {
    const int64_t n = n1_ * n2_;
    const double turn = (forward ? -1.0 : 1.0) / static_cast<double>(n);
    std::vector<std::complex<double>> fine, coarse;
    for (int64_t i = 0; i < n2_; ++i) fine.push_back(unit(turn * static_cast<double>(i)));
    for (int64_t i = 0; i < n1_; ++i) coarse.push_back(unit(turn * static_cast<double>(i * n2_)));
    R* to = factors_.room<R>(groups() * n1_ * 2 * L);
    for (int64_t g = 0; g < groups(); ++g) {
      for (int64_t row = 0; row < n1_; ++row, to += 2 * L) {
        for (int64_t l = 0; l < L; ++l) {
          const int64_t turns = row * (g * L + l) % n;
          const std::complex<double> w = coarse[turns / n2_] * fine[turns % n2_];
          to[l] = static_cast<R>(w.real());
          to[L + l] = static_cast<R>(w.imag());
        }
      }
    }
  }
  PHI_LANES void transform_columns(const R* in) {
    const LineGrid grid{1, n2_, {0, 1, n2_}, {0, 1, n2_}};
    const V* w = factors_.data<V>();
    V* const b = b_.data<V>();
    for (int64_t c = 0; c < n2_; c += L) {
      const Places<L> at(grid, grid.from, c);
      gather_complex<R, L>(in, at, n1_, a_.data<V>());
      columns_->run(a_.data<R>(), b_.data<R>());
      for (int64_t row = 0; row < n1_; ++row, w += 2) {
        const V re = b[2 * row], im = b[2 * row + 1];
        b[2 * row] = re * w[0] - im * w[1];
        b[2 * row + 1] = re * w[1] + im * w[0];
      }
      scatter_complex<R, L>(b, at, n1_, matrix_.data<R>());
    }
  }
  PHI_LANES void transform_rows(R* out) {
    const LineGrid grid{1, n1_, {0, n2_, 1}, {0, 1, n1_}};
    for (int64_t r = 0; r < n1_; r += L) {
      gather_complex<R, L>(matrix_.data<R>(), Places<L>(grid, grid.from, r), n2_, a_.data<V>());
      rows_->run(a_.data<R>(), b_.data<R>());
      scatter_complex<R, L>(b_.data<V>(), Places<L>(grid, grid.to, r), n2_, out);
    }
  }

  int64_t n1_, n2_;
  std::unique_ptr<LineMethod<R, L>> columns_, rows_;
  Workspace a_, b_, matrix_, factors_;
};

}  // namespace

bool is_long_line(int64_t n) {
  return (largest_prime(n) > kLargePrime ? padded(n) : n) > kLongLine;
}

template <typename R, int L>
std::unique_ptr<LineMethod<R, L>> LineMethod<R, L>::of(int64_t n, bool forward) {
  if (largest_prime(n) > kLargePrime) return std::make_unique<Bluestein<R, L>>(n, forward);
  if constexpr (L > 1) {
    return std::make_unique<Kiss<R, L>>(n, forward);
  } else {
    if (has_wide()) return std::make_unique<LongLine<R, kWideLanes<R>>>(n, forward);
    return std::make_unique<LongLine<R, kLanes<R>>>(n, forward);
  }
}

template class LineMethod<float, 1>;
template class LineMethod<double, 1>;
template class LineMethod<float, kLanes<float>>;
template class LineMethod<double, kLanes<double>>;
template class LineMethod<float, kWideLanes<float>>;
template class LineMethod<double, kWideLanes<double>>;

}  // namespace phi
