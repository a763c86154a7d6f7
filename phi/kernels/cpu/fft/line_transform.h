// The discrete Fourier transform of one line of numbers, of any length: by KissFFT, whose time goes
// with the sum of a length's prime factors, and for large ones by Bluestein's convolution (1970).
//
//   LineTransform<double> transform(12, /*forward=*/true);
//   transform.run(in, out);   // out[k] = sum of in[t] exp(-2 pi i k t / 12)
#pragma once

#include <complex>
#include <cstdint>
#include <memory>

namespace phi {

template <typename R>
class LineTransform {
 public:
  /// `n` is 1 or more; backward the exponent has the other sign. Nothing is divided by n.
  LineTransform(int64_t n, bool forward);
  ~LineTransform();
  /// `in` and `out` do not overlap.
  void run(const std::complex<R>* in, std::complex<R>* out);

  /// A way to do it.
  class Method {
   public:
    virtual ~Method() = default;
    virtual void run(const std::complex<R>* in, std::complex<R>* out) = 0;
  };

 private:
  std::unique_ptr<Method> method_;
};

}  // namespace phi
