// Frames of signals and what they add up to, against index arithmetic one element at a time: more
// frames and longer ones than tiles hold, of elements of each width.
#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/fft.h"
#include "tests/phi/kernels/dense_oracle.h"

namespace phi::testing {
namespace {

/// Signals [outer, length], or [length, inner] for axis 0.
struct Problem {
  int64_t outer, length, inner;
  int frame_length, hop, axis;
  int64_t frames() const { return (length - frame_length) / hop + 1; }
  Dims signal_dims() const { return axis == 0 ? Dims{length, inner} : Dims{outer, length}; }
  Dims frame_dims() const {
    return axis == 0 ? Dims{frames(), frame_length, inner} : Dims{outer, frame_length, frames()};
  }
  Dims added_dims() const {
    const int64_t added = (frames() - 1) * hop + frame_length;
    return axis == 0 ? Dims{added, inner} : Dims{outer, added};
  }
  /// Calls f(place in the frames, place in signals of `length`) for each element of each frame.
  template <typename F>
  void for_each(int64_t signal_length, F f) const {
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t n = 0; n < frames(); ++n) {
        for (int64_t e = 0; e < frame_length; ++e) {
          for (int64_t i = 0; i < inner; ++i) {
            const int64_t place = axis == 0 ? (n * frame_length + e) * inner + i
                                            : (o * frame_length + e) * frames() + n;
            f(place, (o * signal_length + n * hop + e) * inner + i);
          }
        }
      }
    }
  }
};

const Problem kProblems[] = {
    {1, 7, 1, 3, 2, -1}, {3, 400, 1, 70, 33, -1}, {2, 300, 1, 37, 5, -1}, {2, 90, 1, 10, 20, -1},
    {1, 9, 4, 3, 2, 0},  {1, 200, 5, 40, 7, 0},   {1, 5, 1, 5, 1, -1},    {2, 600, 1, 33, 8, -1},
};

/// Small whole numbers, whose sums every type has.
template <typename T>
DenseTensor whole_numbers(const Dims& dims) {
  DenseTensor x = blank<T>(dims);
  for (int64_t i = 0; i < x.numel(); ++i) {
    x.mutable_data<T>()[i] = static_cast<T>(static_cast<float>(i * 7 % 31 - 15));
  }
  return x;
}

template <typename T>
std::vector<T> elements(const DenseTensor& x) {
  return {x.data<T>(), x.data<T>() + x.numel()};
}

template <typename T>
class FrameKernelOf : public ::testing::Test {};
using FrameTypes =
    ::testing::Types<int32_t, int64_t, bfloat16, float, double, Complex<float>, Complex<double>>;
TYPED_TEST_SUITE(FrameKernelOf, FrameTypes);

TYPED_TEST(FrameKernelOf, FramesAreParts) {
  using T = TypeParam;
  for (const Problem& p : kProblems) {
    const DenseTensor x = whole_numbers<T>(p.signal_dims());
    DenseTensor out = blank<T>(p.frame_dims());
    registered<kernels::frame, T>(KernelContext(), x, p.hop, p.axis, &out);
    std::vector<T> expected(static_cast<size_t>(out.numel()));
    p.for_each(p.length, [&](int64_t at, int64_t from) { expected[at] = x.data<T>()[from]; });
    EXPECT_EQ(elements<T>(out), expected) << out.meta().to_string();
  }
}

TYPED_TEST(FrameKernelOf, OverlapAddSumsThem) {
  using T = TypeParam;
  for (const Problem& p : kProblems) {
    const DenseTensor x = whole_numbers<T>(p.frame_dims());
    DenseTensor out = blank<T>(p.added_dims());
    registered<kernels::overlap_add, T>(KernelContext(), x, p.hop, p.axis, &out);
    std::vector<T> expected(static_cast<size_t>(out.numel()), static_cast<T>(0.0f));
    const int64_t length = p.added_dims()[p.axis == 0 ? 0 : 1];
    p.for_each(length, [&](int64_t at, int64_t to) {
      expected[to] = static_cast<T>(expected[to] + x.data<T>()[at]);
    });
    EXPECT_EQ(elements<T>(out), expected) << out.meta().to_string();
  }
}

}  // namespace
}  // namespace phi::testing
