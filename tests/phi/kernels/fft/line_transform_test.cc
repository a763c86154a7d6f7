// Transforms of one line against their sums: of lengths with small and with large prime factors.
#include "phi/kernels/cpu/fft/line_transform.h"

#include <gtest/gtest.h>

#include <numbers>
#include <random>
#include <vector>

namespace phi {
namespace {

using C = std::complex<double>;

std::vector<C> random_line(int64_t n) {
  std::mt19937 generator(static_cast<uint32_t>(n));
  std::normal_distribution<double> normal;
  std::vector<C> line(static_cast<size_t>(n));
  for (C& x : line) x = {normal(generator), normal(generator)};
  return line;
}

std::vector<C> sums(const std::vector<C>& in, bool forward) {
  const auto n = static_cast<int64_t>(in.size());
  std::vector<C> out(in.size());
  for (int64_t k = 0; k < n; ++k) {
    for (int64_t t = 0; t < n; ++t) {
      const double turns = static_cast<double>(k * t % n) / static_cast<double>(n);
      out[k] += in[t] * std::polar(1.0, (forward ? -2 : 2) * std::numbers::pi * turns);
    }
  }
  return out;
}

TEST(LineTransform, EqualsItsSums) {
  for (int64_t n : {1, 2, 3, 4, 5, 6, 7, 8, 12, 15, 30, 49, 61, 64, 67, 128, 134, 201, 1009}) {
    for (bool forward : {true, false}) {
      const std::vector<C> in = random_line(n);
      const std::vector<C> expected = sums(in, forward);
      std::vector<C> out(in.size());
      LineTransform<double>(n, forward).run(in.data(), out.data());
      std::vector<std::complex<float>> narrow(in.begin(), in.end()), narrow_out(in.size());
      LineTransform<float>(n, forward).run(narrow.data(), narrow_out.data());
      const double scale = std::sqrt(static_cast<double>(n));
      for (int64_t k = 0; k < n; ++k) {
        EXPECT_LT(std::abs(out[k] - expected[k]), 1e-12 * scale * 10) << n << " at " << k;
        EXPECT_LT(std::abs(C(narrow_out[k]) - expected[k]), 2e-5 * scale) << n << " at " << k;
      }
    }
  }
}

}  // namespace
}  // namespace phi
