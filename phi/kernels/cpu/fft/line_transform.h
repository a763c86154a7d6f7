// Discrete Fourier transforms of lines of numbers, of any length, many at once: each in a lane of
// its own, so that no line has a part in the result of another.
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

/// The numbers 0 to count - 1 of the transform of real numbers. The others, which are conjugates
/// of these, may be left out.
template <typename R>
struct Spectrum {
  int64_t count;
  R ends;    // factor of number 0 and, where n is even, of number n / 2
  R others;  // factor of the others
};

/// Of one thread; the last few of it keep their tables. Nothing is divided by n.
template <typename R>
class LineTransform {
 public:
  /// `n` is 1 or more; backward the exponent has the other sign. `kind` says which of the functions
  /// below are called.
  LineTransform(int64_t n, bool forward, LineKind kind) : n_(n), forward_(forward), kind_(kind) {}

  /// times `scale`. The arrays may be the same if the grid's strides are.
  void of_complex(const LineGrid& grid, R scale, const Complex<R>* x, Complex<R>* out);
  /// x's numbers are multiplied by `window`, which may be null.
  void of_real(const LineGrid& grid, const R* window, const Spectrum<R>& spectrum, const R* x,
               Complex<R>* out);
  /// The transform of x's numbers, times their factors, and of each one's conjugate at n - k, but
  /// for number 0 and n / 2, whose imaginary parts count for nothing.
  void to_real(const LineGrid& grid, const Spectrum<R>& spectrum, const Complex<R>* x, R* out);

  /// For registers of some width.
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
