// LineTransform: discrete Fourier transforms of lines of any length, many at once. Each line has
// its own lane, so no line affects the result of another.
//
//   LineTransform<double> transform(12, /*forward=*/true, LineKind::kComplex);
//   // 5 lines behind each other: out[k] = sum of in[t] exp(-2 pi i k t / 12)
//   const LineGrid grid{1, 5, /*from=*/{0, 12, 1}, /*to=*/{0, 12, 1}};
//   transform.of_complex(grid, 1.0, in, out);
#pragma once

#include <cstdint>
#include <memory>

#include "phi/common/complex.h"
#include "phi/kernels/cpu/fft/line_grid.h"

namespace phi {

enum class LineKind : uint8_t { kComplex, kReal };

/// The first `count` numbers of the transform of a real line. The others are conjugates of these
/// and may be left out.
template <typename R>
struct Spectrum {
  int64_t count;
  R ends;    // factor of number 0 and, if n is even, of number n / 2
  R others;  // factor of all others
};

/// A transform of lines of n numbers, for use by one thread. Each thread caches the tables of its
/// last few transforms. Results are not divided by n.
template <typename R>
class LineTransform {
 public:
  /// `n` is at least 1. Backward transforms have the opposite sign in the exponent. `kind` states
  /// which of the functions below the caller uses.
  LineTransform(int64_t n, bool forward, LineKind kind) : n_(n), forward_(forward), kind_(kind) {}

  /// Complex lines to complex lines, multiplied by `scale`. x and out may be the same array if both
  /// have the same strides.
  void of_complex(const LineGrid& grid, R scale, const Complex<R>* x, Complex<R>* out);
  /// Real lines to complex lines. The numbers of x are first multiplied by `window`, which may be
  /// null.
  void of_real(const LineGrid& grid, const R* window, const Spectrum<R>& spectrum, const R* x,
               Complex<R>* out);
  /// Complex lines to real lines. x has the first `spectrum.count` numbers, which are multiplied by
  /// the factors of `spectrum`; number n - k is the conjugate of number k. The imaginary parts of
  /// numbers 0 and n / 2 are ignored.
  void to_real(const LineGrid& grid, const Spectrum<R>& spectrum, const Complex<R>* x, R* out);

  /// The implementation for one register width.
  class Blocks {
   public:
    virtual ~Blocks() = default;
    virtual void of_complex(const LineGrid& grid, R scale, const R* x, R* out) = 0;
    virtual void of_real(const LineGrid& grid, const R* window, const Spectrum<R>& spectrum,
                         const R* x, R* out) = 0;
    virtual void to_real(const LineGrid& grid, const Spectrum<R>& spectrum, const R* x, R* out) = 0;
  };

 private:
  std::shared_ptr<Blocks> blocks(const LineGrid& grid) const;

  int64_t n_;
  bool forward_;
  LineKind kind_;
};

}  // namespace phi
