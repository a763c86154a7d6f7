// Blocks of lines: read, transformed in lanes, written. Real lines of even length are complex ones
// of half of it, whose transform's halves are then put together.
#include "phi/kernels/cpu/fft/line_transform.h"

#include <algorithm>
#include <array>
#include <complex>
#include <numbers>
#include <vector>

#include "phi/kernels/cpu/fft/butterflies.h"
#include "phi/kernels/cpu/fft/line_blocks.h"
#include "phi/kernels/cpu/fft/line_method.h"
#include "phi/kernels/cpu/workspace.h"

namespace phi {
namespace {

/// What is transformed for lines of n numbers.
int64_t complex_length(int64_t n, LineKind kind) {
  return kind == LineKind::kReal && n % 2 == 0 ? n / 2 : n;
}

/// L lines at a time, or one, in registers of W lanes.
template <typename R, int L, int W>
class LineBlocks final : public LineTransform<R>::Blocks {
 public:
  LineBlocks(int64_t n, bool forward, LineKind kind)
      : n_(n), method_(LineMethod<R, L>::of(complex_length(n, kind), forward)) {
    // Room for n / 2 + 1 numbers where n is 1 or 2 as well.
    a_.room<R>(2 * (n + 1) * L);
    b_.room<R>(2 * (n + 1) * L);
    if (kind == LineKind::kComplex || n % 2 != 0) return;
    const double turn = (forward ? -2 : 2) * std::numbers::pi / static_cast<double>(n);
    for (int64_t k = 0; k <= n / 4 + W; ++k) {
      factors_.push_back(std::complex<R>(std::polar(1.0, turn * static_cast<double>(k))));
    }
  }

  void of_complex(const LineGrid& grid, R scale, const R* x, R* out) override {
    for_each_block(grid, [=, this](const Places<L>& from, const Places<L>& to) {
      const R* in = where_it_lies(x, from, 2);
      if (!in) gather_complex<R, L>(x, from, n_, a());
      R* const result = where_it_lies(out, to, 2);
      run_method(in, result);
      V* const z = result ? reinterpret_cast<V*>(result) : b();
      if (scale != 1) scale_rows(z, 0, 2 * n_, scale);
      if (!result) scatter_complex<R, L>(b(), to, n_, out);
    });
  }
  void of_real(const LineGrid& grid, const R* window, const Spectrum<R>& spectrum, const R* x,
               R* out) override {
    for_each_block(grid, [=, this](const Places<L>& from, const Places<L>& to) {
      n_ % 2 == 0 ? of_even(window, spectrum, x, from, to, out)
                  : of_odd(window, spectrum, x, from, to, out);
    });
  }
  void to_real(const LineGrid& grid, const Spectrum<R>& spectrum, const R* x, R* out) override {
    for_each_block(grid, [=, this](const Places<L>& from, const Places<L>& to) {
      n_ % 2 == 0 ? to_even(spectrum, x, from, to, out) : to_odd(spectrum, x, from, to, out);
    });
  }

 private:
  using V = lanes_t<R, L>;
  V* a() const { return a_.data<V>(); }
  V* b() const { return b_.data<V>(); }
  /// Null for what blocks have.
  void run_method(const R* in, R* out) {
    method_->run(in ? in : a_.data<R>(), out ? out : b_.data<R>());
  }
  /// Where a line alone lies as a block would have it; else null.
  template <typename X>
  static X* where_it_lies(X* x, const Places<L>& at, int64_t parts) {
    return L == 1 && at.step == 1 ? x + at.begin[0] * parts : nullptr;
  }

  template <typename F>
  void for_each_block(const LineGrid& grid, F f) {
    run_in_lanes<R, W>([=] {
      for (int64_t first = 0; first < grid.outer * grid.inner; first += L) {
        f(Places<L>(grid, grid.from, first), Places<L>(grid, grid.to, first));
      }
    });
  }

  PHI_LANES void of_even(const R* window, const Spectrum<R>& spectrum, const R* x,
                         const Places<L>& from, const Places<L>& to, R* out) {
    const R* in = window ? nullptr : where_it_lies(x, from, 1);
    if (!in) gather_real<R, L>(x, from, n_, 1, a());
    if (window) weigh(window, 1);
    R* const result = spectrum.count > n_ / 2 ? where_it_lies(out, to, 2) : nullptr;
    if (result) bring_near(result, n_ + 2);
    run_method(in, nullptr);
    V* const z = result ? reinterpret_cast<V*>(result) : a();
    join_halves(b(), spectrum.ends, spectrum.others, z);
    mirror(z, spectrum.count);
    if (!result) scatter_complex<R, L>(a(), to, spectrum.count, out);
  }
  PHI_LANES void of_odd(const R* window, const Spectrum<R>& spectrum, const R* x,
                        const Places<L>& from, const Places<L>& to, R* out) {
    gather_real<R, L>(x, from, n_, 2, a());
    if (window) weigh(window, 2);
    for (int64_t t = 0; t < n_; ++t) a()[2 * t + 1] = V();
    run_method(nullptr, nullptr);
    scale_spectrum(b(), spectrum.count, spectrum.ends, spectrum.others);
    scatter_complex<R, L>(b(), to, spectrum.count, out);
  }
  PHI_LANES void to_even(const Spectrum<R>& spectrum, const R* x, const Places<L>& from,
                         const Places<L>& to, R* out) {
    const int64_t given = std::min(spectrum.count, n_);
    const R* in = given == n_ / 2 + 1 ? where_it_lies(x, from, 2) : nullptr;
    if (!in) {
      gather_complex<R, L>(x, from, given, a());
      fold(a(), given);
    }
    part_halves(in ? reinterpret_cast<const V*>(in) : a(), spectrum.ends, spectrum.others, b());
    if (in) bring_near(in + n_ + 2, n_ + 2);  // the next line, perhaps
    R* const result = where_it_lies(out, to, 1);
    run_method(b_.data<R>(), result ? result : a_.data<R>());
    if (!result) scatter_real<R, L>(a(), to, n_, 1, out);
  }
  PHI_LANES void to_odd(const Spectrum<R>& spectrum, const R* x, const Places<L>& from,
                        const Places<L>& to, R* out) {
    const int64_t given = std::min(spectrum.count, n_);
    gather_complex<R, L>(x, from, given, a());
    fold(a(), given);
    scale_spectrum(a(), n_ / 2 + 1, spectrum.ends, spectrum.others);
    a()[1] = V();
    mirror(a(), n_);
    run_method(nullptr, nullptr);
    scatter_real<R, L>(b(), to, n_, 2, out);
  }
  PHI_LANES void weigh(const R* window, int64_t apart) {
    for (int64_t t = 0; t < n_; ++t) a()[t * apart] = a()[t * apart] * V(window[t]);
  }
  PHI_LANES static void scale_rows(V* x, int64_t begin, int64_t end, R factor) {
    const V by(factor);
    for (int64_t i = begin; i < end; ++i) x[i] *= by;
  }
  /// Of an odd n: `ends` for number 0.
  PHI_LANES void scale_spectrum(V* x, int64_t count, R ends, R others) const {
    scale_rows(x, 0, 2, ends);
    scale_rows(x, 2, 2 * count, others);
  }
  /// Numbers n / 2 + 1 to count - 1 from those before.
  PHI_LANES void mirror(V* x, int64_t count) const {
    for (int64_t k = n_ / 2 + 1; k < count; ++k) {
      x[2 * k] = x[2 * (n_ - k)];
      x[2 * k + 1] = -x[2 * (n_ - k) + 1];
    }
  }
  /// Numbers up to n / 2: what there are beyond it is added as conjugates, and what is missing
  /// before it is zero.
  PHI_LANES void fold(V* x, int64_t given) const {
    for (int64_t t = 2 * given; t < 2 * (n_ / 2 + 1); ++t) x[t] = V();
    for (int64_t k = n_ / 2 + 1; k < given; ++k) {
      x[2 * (n_ - k)] += x[2 * k];
      x[2 * (n_ - k) + 1] -= x[2 * k + 1];
    }
  }
  /// From the transform of x[0] + i x[1], x[2] + i x[3].. to numbers 0 to n / 2 of x's: the sum of
  /// the even elements' and the odd ones', which each are the conjugates of their mirror images.
  PHI_LANES void join_halves(const V* z, R ends, R others, V* out) const {
    const V end(ends);
    out[0] = (z[0] + z[1]) * end;
    out[n_] = (z[0] - z[1]) * end;
    out[1] = out[n_ + 1] = V();
    for_each_pair(z, out, [others](auto* low, auto* high, const auto& w) {
      using X = decltype(w.re);
      const X factor(others / 2);
      const Number<X> even{low->re + high->re, low->im - high->im};
      const Number<X> odd = Number<X>{low->im + high->im, high->re - low->re} * w;
      *low = {(even.re + odd.re) * factor, (even.im + odd.im) * factor};
      *high = {(even.re - odd.re) * factor, (odd.im - even.im) * factor};
    });
  }
  /// The other way.
  PHI_LANES void part_halves(const V* x, R ends, R others, V* out) const {
    const V end(ends);
    out[0] = (x[0] + x[n_]) * end;
    out[1] = (x[0] - x[n_]) * end;
    for_each_pair(x, out, [others](auto* low, auto* high, const auto& w) {
      using X = decltype(w.re);
      const X factor(others);
      const Number<X> even{low->re + high->re, low->im - high->im};
      const Number<X> odd = Number<X>{low->re - high->re, low->im + high->im} * w;
      *low = {(even.re - odd.im) * factor, (even.im + odd.re) * factor};
      *high = {(even.re + odd.im) * factor, (odd.re - even.im) * factor};
    });
  }
  /// Calls f(&number k, &number n / 2 - k, exp(-2 pi i k / n)) from k = 1 to the middle one, which
  /// is both, and writes what it makes of them. Of a line alone W at once: some beyond the middle
  /// are found twice.
  template <typename F>
  PHI_LANES void for_each_pair(const V* from, V* to, F f) const {
    const int64_t half = n_ / 2;
    const bool wide = L == 1 && half >= int64_t{2} * W;
    if constexpr (L == 1) {
      for (int64_t k = 1; wide && 2 * k <= half; k += W) {
        const int64_t opposite = half - k - W + 1;
        Number<Lanes<R, W>> low = numbers_at<W>(from + 2 * k);
        Number<Lanes<R, W>> high = backwards(numbers_at<W>(from + 2 * opposite));
        f(&low, &high, numbers_at<W>(reinterpret_cast<const R*>(&factors_[k])));
        put_numbers<W>(low, to + 2 * k);
        put_numbers<W>(backwards(high), to + 2 * opposite);
      }
    }
    for (int64_t k = 1; !wide && 2 * k <= half; ++k) {
      const V* const at = from + 2 * k;
      const V* const opposite = from + 2 * (half - k);
      Number<V> low{at[0], at[1]}, high{opposite[0], opposite[1]};
      f(&low, &high, Number<V>{V(factors_[k].real()), V(factors_[k].imag())});
      V* const low_to = to + 2 * k;
      V* const high_to = to + 2 * (half - k);
      low_to[0] = low.re, low_to[1] = low.im;
      high_to[0] = high.re, high_to[1] = high.im;
    }
  }
  PHI_LANES static Number<Lanes<R, W>> backwards(const Number<Lanes<R, W>>& z) {
    return {reversed(z.re), reversed(z.im)};
  }

  int64_t n_;
  std::unique_ptr<LineMethod<R, L>> method_;
  std::vector<std::complex<R>> factors_;  // exp(-2 pi i k / n)
  Workspace a_, b_;
};

template <typename R>
using SharedBlocks = std::shared_ptr<typename LineTransform<R>::Blocks>;

template <typename R, int W>
SharedBlocks<R> blocks_in(int64_t n, bool forward, LineKind kind, bool alone) {
  if (alone) return std::make_shared<LineBlocks<R, 1, W>>(n, forward, kind);
  return std::make_shared<LineBlocks<R, W, W>>(n, forward, kind);
}
template <typename R>
SharedBlocks<R> blocks_of(int64_t n, bool forward, LineKind kind, bool alone) {
  return (has_wide() ? blocks_in<R, kWideLanes<R>> : blocks_in<R, kLanes<R>>)(n, forward, kind,
                                                                              alone);
}

/// Whether these lines are transformed one by one.
template <typename R>
bool are_alone(const LineGrid& grid, int64_t n, LineKind kind) {
  const int64_t length = complex_length(n, kind);
  const bool neighbours = grid.from.step == 1 && grid.to.step == 1;
  return is_long_line(length) ||
         (neighbours && is_quicker_alone(length, has_wide() ? kWideLanes<R> : kLanes<R>));
}

/// The last few of a thread that are not too large to keep: their tables take as long as the
/// transforms of some lines.
template <typename R>
SharedBlocks<R> kept_blocks_of(int64_t n, bool forward, LineKind kind, bool alone) {
  struct Kept {
    int64_t n;
    bool forward;
    LineKind kind;
    bool alone;
    SharedBlocks<R> blocks;
  };
  constexpr int64_t kLongest = 1 << 17;
  thread_local std::array<Kept, 4> kept;
  if (n > kLongest) return blocks_of<R>(n, forward, kind, alone);
  const auto it = std::find_if(kept.begin(), kept.end(), [=](const Kept& k) {
    return k.blocks && k.n == n && k.forward == forward && k.kind == kind && k.alone == alone;
  });
  if (it != kept.end()) {
    std::rotate(kept.begin(), it, it + 1);
  } else {
    std::rotate(kept.begin(), kept.end() - 1, kept.end());
    kept[0] = {n, forward, kind, alone, blocks_of<R>(n, forward, kind, alone)};
  }
  return kept[0].blocks;
}

}  // namespace

template <typename R>
std::shared_ptr<typename LineTransform<R>::Blocks> LineTransform<R>::blocks(
    const LineGrid& grid) const {
  return kept_blocks_of<R>(n_, forward_, kind_, are_alone<R>(grid, n_, kind_));
}

template <typename R>
void LineTransform<R>::of_complex(const LineGrid& grid, R scale, const Complex<R>* x,
                                  Complex<R>* out) {
  blocks(grid)->of_complex(grid, scale, reinterpret_cast<const R*>(x), reinterpret_cast<R*>(out));
}

template <typename R>
void LineTransform<R>::of_real(const LineGrid& grid, const R* window, const Spectrum<R>& spectrum,
                               const R* x, Complex<R>* out) {
  blocks(grid)->of_real(grid, window, spectrum, x, reinterpret_cast<R*>(out));
}

template <typename R>
void LineTransform<R>::to_real(const LineGrid& grid, const Spectrum<R>& spectrum,
                               const Complex<R>* x, R* out) {
  blocks(grid)->to_real(grid, spectrum, reinterpret_cast<const R*>(x), out);
}

template class LineTransform<float>;
template class LineTransform<double>;

}  // namespace phi
