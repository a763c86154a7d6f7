// searchsorted against the standard library's binary searches.
#include <algorithm>
#include <limits>

#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/sort.h"
#include "tests/phi/kernels/dense_oracle.h"

namespace phi::testing {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// NaN is larger than all numbers.
bool is_less(double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); }

Values places_of(const Values& sequence, int64_t n, const Values& values, int64_t per_row,
                 bool right) {
  Values places;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto row = static_cast<int64_t>(i) / per_row;
    const auto first = sequence.begin() + row * n;
    const auto last = first + n;
    const auto found = right ? std::upper_bound(first, last, values[i], is_less)
                             : std::lower_bound(first, last, values[i], is_less);
    places.push_back(static_cast<double>(found - first));
  }
  return places;
}

template <typename T>
void check(const Values& sequence, const Dims& dims, const Values& values, const Dims& out) {
  const int64_t per_row = dims.ndim() == 1 ? out.numel() : out.back();
  for (const bool right : {false, true}) {
    DenseTensor places = blank<int64_t>(out);
    registered<kernels::searchsorted, T>(KernelContext(), tensor<T>(sequence, dims),
                                         tensor<T>(values, out), right, &places);
    EXPECT_EQ(to_doubles(places), places_of(sequence, dims.back(), values, per_row, right))
        << dims.to_string() << (right ? " right" : " left");
  }
}

template <typename T>
void check_lengths() {
  for (int64_t n = 0; n <= 40; ++n) {
    Values sequence = random_values(n, static_cast<uint32_t>(n), -8, 8);
    for (double& v : sequence) v = std::floor(v);  // with equal ones
    std::sort(sequence.begin(), sequence.end());
    Values values;
    for (int v = -9; v <= 9; ++v) values.push_back(v);
    check<T>(sequence, {n}, values, {static_cast<int64_t>(values.size())});
  }
}

TEST(SearchKernel, FindsThePlacesOfBinarySearches) {
  check_lengths<float>();
  check_lengths<double>();
  check_lengths<bfloat16>();
  check_lengths<int32_t>();
  check_lengths<int64_t>();
}

TEST(SearchKernel, HasASequencePerRow) {
  check<float>({1, 3, 5, 2, 2, 9}, {2, 3}, {3, 0, 2, 2, 9, 10}, {2, 3});
  check<float>({1, 3, 5, 2, 2, 9}, {2, 3}, random_values(22, 7, 0, 10), {2, 11});
  check<float>({}, {2, 0}, random_values(18, 8, 0, 10), {2, 9});
}

TEST(SearchKernel, NanIsLargerThanAllNumbers) {
  const Values sequence = {-kInf, -1, 0, 0, kInf, kNan, kNan};
  const Values values = {kNan, kInf, -kInf, -0.0, 0.5, -2, kNan, 1, -1, kInf, 3};
  check<float>(sequence, {7}, values, {11});
  check<double>(sequence, {7}, values, {11});
}

}  // namespace
}  // namespace phi::testing
