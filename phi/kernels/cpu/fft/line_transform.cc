// KissFFT, and Bluestein's way to a power of two.
#include "phi/kernels/cpu/fft/line_transform.h"

#include <kissfft/kissfft.hh>
#include <numbers>
#include <vector>

namespace phi {
namespace {

// Above it a convolution of more than twice the length costs less than KissFFT's sums.
constexpr int64_t kLargePrime = 64;

int64_t largest_prime(int64_t n) {
  int64_t largest = 1;
  for (int64_t p = 2; p * p <= n; ++p) {
    for (; n % p == 0; n /= p) largest = p;
  }
  return n > 1 ? n : largest;
}

template <typename R>
class Kiss final : public LineTransform<R>::Method {
 public:
  Kiss(int64_t n, bool forward) : plan_(static_cast<size_t>(n), !forward) {}
  void run(const std::complex<R>* in, std::complex<R>* out) override { plan_.transform(in, out); }

 private:
  kissfft<R> plan_;
};

/// As k t = (k^2 + t^2 - (k - t)^2) / 2, the transform is a convolution with exp(pi i t^2 / n)
/// between two products with its conjugate.
template <typename R>
class Bluestein final : public LineTransform<R>::Method {
 public:
  using C = std::complex<R>;
  Bluestein(int64_t n, bool forward)
      : n_(n), padded_(padded(n)), there_(padded_, true), back_(padded_, false) {
    const double sign = forward ? -1 : 1;
    for (int64_t t = 0; t < n; ++t) {
      // t^2 modulo 2n keeps the angle exact.
      const int64_t square = static_cast<int64_t>(static_cast<__int128>(t) * t % (2 * n));
      const double angle = sign * std::numbers::pi * static_cast<double>(square) / double(n);
      chirp_.push_back(C(std::polar(1.0, angle)));
    }
    std::vector<C> filter(static_cast<size_t>(padded_));
    for (int64_t t = 0; t < n; ++t) {
      filter[t] = std::conj(chirp_[t]) / static_cast<R>(padded_);
      filter[(padded_ - t) % padded_] = filter[t];
    }
    filter_.resize(filter.size());
    there_.run(filter.data(), filter_.data());
    first_.resize(filter.size());
    second_.resize(filter.size());
  }
  void run(const C* in, C* out) override {
    std::fill(first_.begin(), first_.end(), C());
    for (int64_t t = 0; t < n_; ++t) first_[t] = in[t] * chirp_[t];
    there_.run(first_.data(), second_.data());
    for (int64_t t = 0; t < padded_; ++t) second_[t] *= filter_[t];
    back_.run(second_.data(), first_.data());
    for (int64_t t = 0; t < n_; ++t) out[t] = first_[t] * chirp_[t];
  }

 private:
  static int64_t padded(int64_t n) {
    int64_t size = 1;
    while (size < 2 * n - 1) size *= 2;
    return size;
  }

  int64_t n_;
  int64_t padded_;
  Kiss<R> there_;
  Kiss<R> back_;
  std::vector<C> chirp_, filter_, first_, second_;
};

}  // namespace

template <typename R>
LineTransform<R>::LineTransform(int64_t n, bool forward) {
  if (largest_prime(n) > kLargePrime) {
    method_ = std::make_unique<Bluestein<R>>(n, forward);
  } else {
    method_ = std::make_unique<Kiss<R>>(n, forward);
  }
}

template <typename R>
LineTransform<R>::~LineTransform() = default;

template <typename R>
void LineTransform<R>::run(const std::complex<R>* in, std::complex<R>* out) {
  method_->run(in, out);
}

template class LineTransform<float>;
template class LineTransform<double>;

}  // namespace phi
