// Blocks of lines: read, transformed in lanes, written. Real lines of even length are complex ones
// of half of it, whose transform's halves are then put together.
#include "phi/kernels/cpu/fft/line_transform.h"

#include <algorithm>
#include <array>
#include <complex>
#include <numbers>
#include <vector>

#include "phi/kernels/cpu/fft/line_blocks.h"
#include "phi/kernels/cpu/fft/line_method.h"
#include "phi/kernels/cpu/workspace.h"

namespace phi {
namespace {

/// What is transformed for lines of n numbers.
int64_t complex_length(int64_t n, LineKind kind) {
  return kind == LineKind::kReal && n % 2 == 0 ? n / 2 : n;
}

template <typename R, int L>
class LineBlocks final : public LineTransform<R>::Blocks {
 public:
  LineBlocks(int64_t n, bool forward, LineKind kind)
      : n_(n), method_(LineMethod<R, L>::of(complex_length(n, kind), forward)) {
    // Room for n / 2 + 1 numbers where n is 1 or 2 as well.
    a_.room<R>(2 * (n + 1) * L);
    b_.room<R>(2 * (n + 1) * L);
    if (kind == LineKind::kComplex || n % 2 != 0) return;
    const double turn = (forward ? -2 : 2) * std::numbers::pi / static_cast<double>(n);
    for (int64_t k = 0; k <= n / 4; ++k) {
      factors_.push_back(std::complex<R>(std::polar(1.0, turn * static_cast<double>(k))));
    }
  }

  void of_complex(const LineGrid& grid, R scale, const R* x, R* out) override {
    for_each_block(grid, [=, this](const Places<L>& from, const Places<L>& to) {
      gather_complex<R, L>(x, from, n_, a());
      run_method();
      if (scale != 1) scale_rows(b(), 0, 2 * n_, scale);
      scatter_complex<R, L>(b(), to, n_, out);
    });
  }
  void of_real(const LineGrid& grid, const R* window, const Spectrum<R>& spectrum, const R* x,
               R* out) override {
    const int64_t apart = n_ % 2 == 0 ? 1 : 2;
    for_each_block(grid, [=, this](const Places<L>& from, const Places<L>& to) {
      gather_real<R, L>(x, from, n_, apart, a());
      for (int64_t t = 0; window && t < n_; ++t) a()[t * apart] = a()[t * apart] * V(window[t]);
      if (apart == 1) {
        run_method();
        join_halves(b(), spectrum.ends, spectrum.others);
      } else {
        for (int64_t t = 0; t < n_; ++t) a()[2 * t + 1] = V();
        run_method();
        scale_spectrum(b(), spectrum.count, spectrum.ends, spectrum.others);
      }
      if (apart == 1) mirror(b(), spectrum.count);
      scatter_complex<R, L>(b(), to, spectrum.count, out);
    });
  }
  void to_real(const LineGrid& grid, const Spectrum<R>& spectrum, const R* x, R* out) override {
    const int64_t given = std::min(spectrum.count, n_);
    for_each_block(grid, [=, this](const Places<L>& from, const Places<L>& to) {
      gather_complex<R, L>(x, from, given, a());
      fold(a(), given);
      scale_spectrum(a(), n_ / 2 + 1, spectrum.ends, spectrum.others);
      if (n_ % 2 == 0) {
        part_halves(a());
        run_method();
        scatter_real<R, L>(b(), to, n_, 1, out);
      } else {
        a()[1] = V();
        mirror(a(), n_);
        run_method();
        scatter_real<R, L>(b(), to, n_, 2, out);
      }
    });
  }

 private:
  using V = lanes_t<R, L>;
  V* a() const { return a_.data<V>(); }
  V* b() const { return b_.data<V>(); }
  void run_method() { method_->run(a_.data<R>(), b_.data<R>()); }

  template <typename F>
  void for_each_block(const LineGrid& grid, F f) {
    run_in_lanes<R, L>([=] {
      for (int64_t first = 0; first < grid.outer * grid.inner; first += L) {
        f(Places<L>(grid, grid.from, first), Places<L>(grid, grid.to, first));
      }
    });
  }

  PHI_LANES static void scale_rows(V* x, int64_t begin, int64_t end, R factor) {
    const V by(factor);
    for (int64_t i = begin; i < end; ++i) x[i] *= by;
  }
  /// `ends` for number 0 and n / 2.
  PHI_LANES void scale_spectrum(V* x, int64_t count, R ends, R others) const {
    const int64_t middle = n_ % 2 == 0 ? n_ / 2 : n_;
    scale_rows(x, 0, 2, ends);
    scale_rows(x, 2, 2 * std::min(count, middle), others);
    if (middle < count) scale_rows(x, 2 * middle, 2 * middle + 2, ends);
    scale_rows(x, 2 * middle + 2, 2 * count, others);
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
  PHI_LANES void join_halves(V* z, R ends, R others) const {
    const int64_t half = n_ / 2;
    const V re = z[0], im = z[1], end(ends), factor(others / 2);
    z[0] = (re + im) * end;
    z[2 * half] = (re - im) * end;
    z[1] = z[2 * half + 1] = V();
    for (int64_t k = 1; 2 * k <= half; ++k) {
      V* const low = z + 2 * k;
      V* const high = z + 2 * (half - k);
      const V wr(factors_[k].real()), wi(factors_[k].imag());
      const V even_re = low[0] + high[0], even_im = low[1] - high[1];
      const V odd_re = low[1] + high[1], odd_im = high[0] - low[0];
      const V re = odd_re * wr - odd_im * wi, im = odd_re * wi + odd_im * wr;
      low[0] = (even_re + re) * factor;
      low[1] = (even_im + im) * factor;
      high[0] = (even_re - re) * factor;
      high[1] = (im - even_im) * factor;
    }
  }
  /// The other way.
  PHI_LANES void part_halves(V* x) const {
    const int64_t half = n_ / 2;
    const V first = x[0], last = x[2 * half];
    x[0] = first + last;
    x[1] = first - last;
    for (int64_t k = 1; 2 * k <= half; ++k) {
      V* const low = x + 2 * k;
      V* const high = x + 2 * (half - k);
      const V wr(factors_[k].real()), wi(factors_[k].imag());
      const V even_re = low[0] + high[0], even_im = low[1] - high[1];
      const V re = low[0] - high[0], im = low[1] + high[1];
      const V odd_re = re * wr - im * wi, odd_im = re * wi + im * wr;
      low[0] = even_re - odd_im;
      low[1] = even_im + odd_re;
      high[0] = even_re + odd_im;
      high[1] = odd_re - even_im;
    }
  }

  int64_t n_;
  std::unique_ptr<LineMethod<R, L>> method_;
  std::vector<std::complex<R>> factors_;  // exp(-2 pi i k / n)
  Workspace a_, b_;
};

template <typename R>
using SharedBlocks = std::shared_ptr<typename LineTransform<R>::Blocks>;

template <typename R>
SharedBlocks<R> blocks_of(int64_t n, bool forward, LineKind kind) {
  if (is_long_line(complex_length(n, kind))) {
    return std::make_shared<LineBlocks<R, 1>>(n, forward, kind);
  }
  if (has_wide()) return std::make_shared<LineBlocks<R, kWideLanes<R>>>(n, forward, kind);
  return std::make_shared<LineBlocks<R, kLanes<R>>>(n, forward, kind);
}

/// The last few of a thread that are not too large to keep: their tables take as long as the
/// transforms of some lines.
template <typename R>
SharedBlocks<R> kept_blocks_of(int64_t n, bool forward, LineKind kind) {
  struct Kept {
    int64_t n;
    bool forward;
    LineKind kind;
    SharedBlocks<R> blocks;
  };
  constexpr int64_t kLongest = 1 << 17;
  thread_local std::array<Kept, 4> kept;
  if (n > kLongest) return blocks_of<R>(n, forward, kind);
  const auto it = std::find_if(kept.begin(), kept.end(), [=](const Kept& k) {
    return k.blocks && k.n == n && k.forward == forward && k.kind == kind;
  });
  if (it != kept.end()) {
    std::rotate(kept.begin(), it, it + 1);
  } else {
    std::rotate(kept.begin(), kept.end() - 1, kept.end());
    kept[0] = {n, forward, kind, blocks_of<R>(n, forward, kind)};
  }
  return kept[0].blocks;
}

}  // namespace

template <typename R>
LineTransform<R>::LineTransform(int64_t n, bool forward, LineKind kind)
    : blocks_(kept_blocks_of<R>(n, forward, kind)) {}

template <typename R>
void LineTransform<R>::of_complex(const LineGrid& grid, R scale, const Complex<R>* x,
                                  Complex<R>* out) {
  blocks_->of_complex(grid, scale, reinterpret_cast<const R*>(x), reinterpret_cast<R*>(out));
}

template <typename R>
void LineTransform<R>::of_real(const LineGrid& grid, const R* window, const Spectrum<R>& spectrum,
                               const R* x, Complex<R>* out) {
  blocks_->of_real(grid, window, spectrum, x, reinterpret_cast<R*>(out));
}

template <typename R>
void LineTransform<R>::to_real(const LineGrid& grid, const Spectrum<R>& spectrum,
                               const Complex<R>* x, R* out) {
  blocks_->to_real(grid, spectrum, reinterpret_cast<const R*>(x), out);
}

template class LineTransform<float>;
template class LineTransform<double>;

}  // namespace phi
