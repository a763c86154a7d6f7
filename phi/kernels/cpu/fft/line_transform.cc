// Gathers lines into blocks, transforms them in lanes and scatters them. A real line of even length
// is transformed as a complex line of half the length, whose halves are then combined.
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

/// Returns the length of the complex transform for lines of n numbers.
int64_t complex_length(int64_t n, LineKind kind) {
  return kind == LineKind::kReal && n % 2 == 0 ? n / 2 : n;
}

/// Transforms L lines at a time, or K single lines, in registers of W lanes.
template <typename R, int L, int W, int K>
class LineBlocks final : public LineTransform<R>::Blocks {
 public:
  LineBlocks(int64_t n, bool forward, LineKind kind)
      : n_(n), method_(LineMethod<R, L, K>::of(complex_length(n, kind), forward)) {
    for (LineBuffers& block : blocks_) {
      // Large enough for n / 2 + 1 numbers also if n is 1 or 2.
      block.a.template room<R>(2 * (n + 1) * L);
      block.b.template room<R>(2 * (n + 1) * L);
    }
    if (kind == LineKind::kComplex || n % 2 != 0) return;
    const double turn = (forward ? -2 : 2) * std::numbers::pi / static_cast<double>(n);
    for (int64_t k = 0; k <= n / 4 + W; ++k) {
      factors_.push_back(std::complex<R>(std::polar(1.0, turn * static_cast<double>(k))));
    }
  }

  void of_complex(const LineGrid& grid, R scale, const R* x, R* out) override {
    run_all(grid, OfComplex{*this, scale, x, out});
  }
  void of_real(const LineGrid& grid, const R* window, const Spectrum<R>& spectrum, const R* x,
               R* out) override {
    n_ % 2 == 0 ? run_all(grid, OfEven{*this, window, spectrum, x, out})
                : run_all(grid, OfOdd{*this, window, spectrum, x, out});
  }
  void to_real(const LineGrid& grid, const Spectrum<R>& spectrum, const R* x, R* out) override {
    n_ % 2 == 0 ? run_all(grid, ToEven{*this, spectrum, x, out})
                : run_all(grid, ToOdd{*this, spectrum, x, out});
  }

 private:
  using V = lanes_t<R, L>;
  /// Buffers of L lines: `a` for the input and `b` for the output of a transform, if these are not
  /// used in place.
  struct LineBuffers {
    Workspace a, b;
  };
  static V* a(const LineBuffers& block) { return block.a.template data<V>(); }
  static V* b(const LineBuffers& block) { return block.b.template data<V>(); }
  /// Returns a single line in place if it has the layout of a block, else null.
  template <typename X>
  static X* in_place_line(X* x, const LineOffsets<L>& at, int64_t parts) {
    return L == 1 && at.step == 1 ? x + at.begin[0] * parts : nullptr;
  }

  /// Runs `task` on all lines. For each block, `read` returns the input of the transform, `room`
  /// returns where it is written, and `write` reads it from there. Some tasks have `source` and
  /// `target`: where a single line is read and its result will be written, null if it is gathered.
  template <typename Task>
  void run_all(const LineGrid& grid, const Task& task) {
    run_in_lanes<R, W>([=, this] {
      const int64_t lines = grid.outer * grid.inner;
      for (int64_t first = 0; first < lines; first += int64_t{L} * K) {
        const auto count = static_cast<int>(std::min<int64_t>(K, (lines - first + L - 1) / L));
        LinePointers<const R, K> in;
        LinePointers<R, K> out;
        NextLines<R, K> soon;
        for (int k = 0; k < count; ++k) {
          LineBuffers& block = blocks_[static_cast<size_t>(k)];
          const int64_t line = first + int64_t{L} * k;
          const LineOffsets<L> from(grid, grid.from, line), to(grid, grid.to, line);
          in[k] = reinterpret_cast<const R*>(task.read(block, from));
          out[k] = reinterpret_cast<R*>(task.room(block, to));
          if constexpr (L == 1 && requires { task.source(from); }) {
            soon.written[k] = task.target(to);
            if (first + K + k < lines)
              soon.read[k] = task.source(LineOffsets<1>(grid, grid.from, first + K + k));
          }
        }
        // If there is no second line, the first one is transformed twice and the second result is
        // ignored.
        for (int k = count; k < K; ++k) in[k] = in[0], out[k] = blocks_[k].b.template data<R>();
        method_->run(in, out, soon);
        for (int k = 0; k < count; ++k) {
          task.write(blocks_[static_cast<size_t>(k)], reinterpret_cast<V*>(out[k]),
                     LineOffsets<L>(grid, grid.to, first + int64_t{L} * k));
        }
      }
    });
  }

  struct OfComplex {
    const LineBlocks& lines;
    R scale;
    const R* x;
    R* out;
    const R* source(const LineOffsets<L>& from) const { return in_place_line(x, from, 2); }
    R* target(const LineOffsets<L>& to) const { return in_place_line(out, to, 2); }
    PHI_LANES const V* read(LineBuffers& block, const LineOffsets<L>& from) const {
      if (const R* in = source(from)) return reinterpret_cast<const V*>(in);
      gather_complex<R, L>(x, from, lines.n_, a(block));
      return a(block);
    }
    PHI_LANES V* room(LineBuffers& block, const LineOffsets<L>& to) const {
      R* const result = target(to);
      return result ? reinterpret_cast<V*>(result) : b(block);
    }
    PHI_LANES void write(LineBuffers& block, V* z, const LineOffsets<L>& to) const {
      if (scale != 1) scale_rows(z, 0, 2 * lines.n_, scale);
      if (z == b(block)) scatter_complex<R, L>(z, to, lines.n_, out);
    }
  };
  struct OfEven {
    const LineBlocks& lines;
    const R* window;
    Spectrum<R> spectrum;
    const R* x;
    R* out;
    PHI_LANES const V* read(LineBuffers& block, const LineOffsets<L>& from) const {
      if (const R* in = source(from)) return reinterpret_cast<const V*>(in);
      gather_real<R, L>(x, from, lines.n_, 1, a(block));
      if (window) lines.weigh(window, 1, a(block));
      return a(block);
    }
    PHI_LANES V* room(LineBuffers& block, const LineOffsets<L>&) const { return b(block); }
    PHI_LANES void write(LineBuffers& block, V* z, const LineOffsets<L>& to) const {
      R* const result = target(to);
      V* const joined = result ? reinterpret_cast<V*>(result) : a(block);
      lines.join_halves(z, spectrum.ends, spectrum.others, joined);
      lines.mirror(joined, spectrum.count);
      if (!result) scatter_complex<R, L>(joined, to, spectrum.count, out);
    }
    const R* source(const LineOffsets<L>& from) const {
      return window ? nullptr : in_place_line(x, from, 1);
    }
    R* target(const LineOffsets<L>& to) const {
      return spectrum.count > lines.n_ / 2 ? in_place_line(out, to, 2) : nullptr;
    }
  };
  struct OfOdd {
    const LineBlocks& lines;
    const R* window;
    Spectrum<R> spectrum;
    const R* x;
    R* out;
    PHI_LANES const V* read(LineBuffers& block, const LineOffsets<L>& from) const {
      V* const z = a(block);
      gather_real<R, L>(x, from, lines.n_, 2, z);
      if (window) lines.weigh(window, 2, z);
      for (int64_t t = 0; t < lines.n_; ++t) z[2 * t + 1] = V();
      return z;
    }
    PHI_LANES V* room(LineBuffers& block, const LineOffsets<L>&) const { return b(block); }
    PHI_LANES void write(LineBuffers&, V* z, const LineOffsets<L>& to) const {
      scale_spectrum(z, spectrum.count, spectrum.ends, spectrum.others);
      scatter_complex<R, L>(z, to, spectrum.count, out);
    }
  };
  struct ToEven {
    const LineBlocks& lines;
    Spectrum<R> spectrum;
    const R* x;
    R* out;
    PHI_LANES const V* read(LineBuffers& block, const LineOffsets<L>& from) const {
      const int64_t n = lines.n_, given = std::min(spectrum.count, n);
      const R* in = source(from);
      if (!in) {
        gather_complex<R, L>(x, from, given, a(block));
        lines.fold(a(block), given);
      }
      lines.part_halves(in ? reinterpret_cast<const V*>(in) : a(block), spectrum.ends,
                        spectrum.others, b(block));
      return b(block);
    }
    const R* source(const LineOffsets<L>& from) const {
      return std::min(spectrum.count, lines.n_) == lines.n_ / 2 + 1 ? in_place_line(x, from, 2)
                                                                    : nullptr;
    }
    R* target(const LineOffsets<L>& to) const { return in_place_line(out, to, 1); }
    PHI_LANES V* room(LineBuffers& block, const LineOffsets<L>& to) const {
      R* const result = target(to);
      return result ? reinterpret_cast<V*>(result) : a(block);
    }
    PHI_LANES void write(LineBuffers& block, V* z, const LineOffsets<L>& to) const {
      if (z == a(block)) scatter_real<R, L>(z, to, lines.n_, 1, out);
    }
  };
  struct ToOdd {
    const LineBlocks& lines;
    Spectrum<R> spectrum;
    const R* x;
    R* out;
    PHI_LANES const V* read(LineBuffers& block, const LineOffsets<L>& from) const {
      const int64_t n = lines.n_, given = std::min(spectrum.count, n);
      V* const z = a(block);
      gather_complex<R, L>(x, from, given, z);
      lines.fold(z, given);
      scale_spectrum(z, n / 2 + 1, spectrum.ends, spectrum.others);
      z[1] = V();
      lines.mirror(z, n);
      return z;
    }
    PHI_LANES V* room(LineBuffers& block, const LineOffsets<L>&) const { return b(block); }
    PHI_LANES void write(LineBuffers&, V* z, const LineOffsets<L>& to) const {
      scatter_real<R, L>(z, to, lines.n_, 2, out);
    }
  };

  PHI_LANES void weigh(const R* window, int64_t apart, V* x) const {
    for (int64_t t = 0; t < n_; ++t) x[t * apart] = x[t * apart] * V(window[t]);
  }
  PHI_LANES static void scale_rows(V* x, int64_t begin, int64_t end, R factor) {
    const V by(factor);
    for (int64_t i = begin; i < end; ++i) x[i] *= by;
  }
  /// For odd n: `ends` is the factor of number 0.
  PHI_LANES static void scale_spectrum(V* x, int64_t count, R ends, R others) {
    scale_rows(x, 0, 2, ends);
    scale_rows(x, 2, 2 * count, others);
  }
  /// Computes numbers n / 2 + 1 to count - 1 as conjugates of those before.
  PHI_LANES void mirror(V* x, int64_t count) const {
    for (int64_t k = n_ / 2 + 1; k < count; ++k) {
      x[2 * k] = x[2 * (n_ - k)];
      x[2 * k + 1] = -x[2 * (n_ - k) + 1];
    }
  }
  /// Reduces `given` numbers to numbers 0 to n / 2: those beyond are added as conjugates, missing
  /// ones are zero.
  PHI_LANES void fold(V* x, int64_t given) const {
    for (int64_t t = 2 * given; t < 2 * (n_ / 2 + 1); ++t) x[t] = V();
    for (int64_t k = n_ / 2 + 1; k < given; ++k) {
      x[2 * (n_ - k)] += x[2 * k];
      x[2 * (n_ - k) + 1] -= x[2 * k + 1];
    }
  }
  /// Computes numbers 0 to n / 2 of x's transform from the transform z of x[0] + i x[1], x[2] + i
  /// x[3], ...: the sum of the transforms of even and of odd elements. In each of the two, number k
  /// and its mirror image are conjugates.
  PHI_LANES void join_halves(const V* z, R ends, R others, V* out) const {
    const V end(ends);
    out[0] = (z[0] + z[1]) * end;
    out[n_] = (z[0] - z[1]) * end;
    out[1] = out[n_ + 1] = V();
    for_each_pair(z, out, [others](auto* low, auto* high, const auto& w) {
      using X = decltype(w.re);
      const X factor(others / 2);
      const ComplexLanes<X> even{low->re + high->re, low->im - high->im};
      const ComplexLanes<X> odd = ComplexLanes<X>{low->im + high->im, high->re - low->re} * w;
      *low = {(even.re + odd.re) * factor, (even.im + odd.im) * factor};
      *high = {(even.re - odd.re) * factor, (odd.im - even.im) * factor};
    });
  }
  /// The inverse of join_halves.
  PHI_LANES void part_halves(const V* x, R ends, R others, V* out) const {
    const V end(ends);
    out[0] = (x[0] + x[n_]) * end;
    out[1] = (x[0] - x[n_]) * end;
    for_each_pair(x, out, [others](auto* low, auto* high, const auto& w) {
      using X = decltype(w.re);
      const X factor(others);
      const ComplexLanes<X> even{low->re + high->re, low->im - high->im};
      const ComplexLanes<X> odd = ComplexLanes<X>{low->re - high->re, low->im + high->im} * w;
      *low = {(even.re - odd.im) * factor, (even.im + odd.re) * factor};
      *high = {(even.re + odd.im) * factor, (odd.re - even.im) * factor};
    });
  }
  /// Calls f(&number k, &number n / 2 - k, exp(-2 pi i k / n)) for k from 1 to the middle, where
  /// both are the same number, and writes the results. Processes W pairs of a single line at once;
  /// some beyond the middle are computed twice.
  template <typename F>
  PHI_LANES void for_each_pair(const V* from, V* to, F f) const {
    const int64_t half = n_ / 2;
    const bool wide = L == 1 && half >= int64_t{2} * W;
    if constexpr (L == 1) {
      for (int64_t k = 1; wide && 2 * k <= half; k += W) {
        const int64_t opposite = half - k - W + 1;
        ComplexLanes<Lanes<R, W>> low = numbers_at<W>(from + 2 * k);
        ComplexLanes<Lanes<R, W>> high = backwards(numbers_at<W>(from + 2 * opposite));
        f(&low, &high, numbers_at<W>(reinterpret_cast<const R*>(&factors_[k])));
        put_numbers<W>(low, to + 2 * k);
        put_numbers<W>(backwards(high), to + 2 * opposite);
      }
    }
    for (int64_t k = 1; !wide && 2 * k <= half; ++k) {
      const V* const at = from + 2 * k;
      const V* const opposite = from + 2 * (half - k);
      ComplexLanes<V> low{at[0], at[1]}, high{opposite[0], opposite[1]};
      f(&low, &high, ComplexLanes<V>{V(factors_[k].real()), V(factors_[k].imag())});
      V* const low_to = to + 2 * k;
      V* const high_to = to + 2 * (half - k);
      low_to[0] = low.re, low_to[1] = low.im;
      high_to[0] = high.re, high_to[1] = high.im;
    }
  }
  PHI_LANES static ComplexLanes<Lanes<R, W>> backwards(const ComplexLanes<Lanes<R, W>>& z) {
    return {reversed(z.re), reversed(z.im)};
  }

  int64_t n_;
  std::unique_ptr<LineMethod<R, L, K>> method_;
  std::vector<std::complex<R>> factors_;  // exp(-2 pi i k / n)
  std::array<LineBuffers, static_cast<size_t>(K)> blocks_;
};

template <typename R>
using SharedBlocks = std::shared_ptr<typename LineTransform<R>::Blocks>;

template <typename R, int W>
SharedBlocks<R> blocks_in(int64_t n, bool forward, LineKind kind, LineLayout way) {
  switch (way) {
    case LineLayout::kAlone:
      return std::make_shared<LineBlocks<R, 1, W, 1>>(n, forward, kind);
    case LineLayout::kInPairs:
      return std::make_shared<LineBlocks<R, 1, W, 2>>(n, forward, kind);
    default:
      return std::make_shared<LineBlocks<R, W, W, 1>>(n, forward, kind);
  }
}
template <typename R>
SharedBlocks<R> shared_blocks(int64_t n, bool forward, LineKind kind, LineLayout way) {
  return (has_avx512() ? blocks_in<R, kWideLanes<R>> : blocks_in<R, kLanes<R>>)(n, forward, kind,
                                                                                way);
}

/// Caches the last few transforms of a thread, unless they are too large: computing the tables
/// takes as long as transforming some lines.
template <typename R>
SharedBlocks<R> kept_blocks_of(int64_t n, bool forward, LineKind kind, LineLayout way) {
  struct Kept {
    int64_t n;
    bool forward;
    LineKind kind;
    LineLayout way;
    SharedBlocks<R> blocks;
  };
  constexpr int64_t kLongest = 1 << 17;
  thread_local std::array<Kept, 4> kept;
  if (n > kLongest) return shared_blocks<R>(n, forward, kind, way);
  const auto it = std::find_if(kept.begin(), kept.end(), [=](const Kept& k) {
    return k.blocks && k.n == n && k.forward == forward && k.kind == kind && k.way == way;
  });
  if (it != kept.end()) {
    std::rotate(kept.begin(), it, it + 1);
  } else {
    std::rotate(kept.begin(), kept.end() - 1, kept.end());
    kept[0] = {n, forward, kind, way, shared_blocks<R>(n, forward, kind, way)};
  }
  return kept[0].blocks;
}

}  // namespace

template <typename R>
std::shared_ptr<typename LineTransform<R>::Blocks> LineTransform<R>::blocks(
    const LineGrid& grid) const {
  const bool neighbours = grid.from.step == 1 && grid.to.step == 1;
  const LineLayout way = line_layout<R>(complex_length(n_, kind_), neighbours);
  return kept_blocks_of<R>(n_, forward_, kind_, way);
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
