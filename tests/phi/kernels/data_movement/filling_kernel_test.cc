// linspace on the CPU, every part of it, against the number's own formula; masks of fractional
// lengths.
#include <algorithm>
#include <cmath>
#include <string>

#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/filling.h"
#include "tests/phi/kernels/dense_oracle.h"

namespace phi::testing {
namespace {

// Number i of `count` from -3 to 40.5, counted from the nearer end.
double number_of(int64_t i, int64_t count) {
  const double step = count > 1 ? 43.5 / static_cast<double>(count - 1) : 0;
  if (i < std::max<int64_t>(count / 2, 1)) return -3 + step * static_cast<double>(i);
  return 40.5 - step * static_cast<double>(count - 1 - i);
}

template <typename T>
void check_linspace() {
  for (int64_t count : {1, 2, 3, 8, 33, 2047, 5000}) {
    for (int64_t parts : {1, 3}) {
      for (int64_t p = 0; p < parts; ++p) {
        const int64_t first = count * p / parts, n = count * (p + 1) / parts - first;
        FakeView view;
        view.outputs = {{{count}, {{first}, {n}}}};
        DenseTensor out = blank<T>({n});
        registered<kernels::linspace, T>(CpuContext(&view), Scalar(-3.0), Scalar(40.5), &out);
        Values expected;
        for (int64_t i = first; i < first + n; ++i) expected.push_back(number_of(i, count));
        expect_close<T>(out, expected,
                        std::string(name_of(dtype_of<T>())) + ", " + std::to_string(n) + " of " +
                            std::to_string(count) + " from " + std::to_string(first));
      }
    }
  }
}

TEST(LinspaceKernel, PartsAreThoseOfTheWhole) {
  check_linspace<float>();
  check_linspace<double>();
  check_linspace<bfloat16>();
  check_linspace<float16>();
}

// 1 where an index is below the length, which is nowhere for NaN.
TEST(SequenceMaskKernel, LengthsMayBeFractionsAndNan) {
  DenseTensor mask = blank<float>({6, 3});
  registered<kernels::sequence_mask, float>(
      KernelContext(), tensor<float>({0.5, 1, 2.25, 7, -1, NAN}, {6}), Scalar(3), &mask);
  EXPECT_EQ(to_doubles(mask), (Values{1, 0, 0, 1, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace phi::testing
