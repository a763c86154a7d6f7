// Slices that are added up, of one element and of several, against plain sums: from nothing, from
// what is there, in place and elsewhere, named several times, once, never or on another rank.
#include "phi/kernels/cpu/indexing/slices.h"

#include "tests/phi/kernels/dense_oracle.h"

namespace phi::testing {
namespace {

struct Case {
  Slices slices;
  std::vector<int64_t> places;
  SumsFrom start;
};

Values plain(const Case& c, const Values& there, const Values& from) {
  const int64_t outer = c.slices.outer, extent = c.slices.extent, inner = c.slices.inner;
  const auto count = std::ssize(c.places);
  Values sums = c.start == SumsFrom::kZero ? Values(there.size(), 0) : there;
  for (int64_t o = 0; o < outer; ++o) {
    const auto each = [&](auto f) {
      for (int64_t p = 0; p < count; ++p) {
        for (int64_t e = 0; e < inner && c.places[p] >= 0; ++e)
          f(sums[(o * extent + c.places[p]) * inner + e], from[(o * count + p) * inner + e]);
      }
    };
    if (c.start == SumsFrom::kWritten) each([](double& sum, double) { sum = 0; });
    each([](double& sum, double term) { sum += term; });
  }
  return sums;
}

template <typename T>
void check(const Case& c) {
  const int64_t outer = c.slices.outer, extent = c.slices.extent, inner = c.slices.inner;
  const Values there = random_values(outer * extent * inner, 1);
  const Values from = random_values(outer * std::ssize(c.places) * inner, 2);
  const Values expected = plain(c, there, from);
  const DenseTensor xs = tensor<T>(there, {outer * extent * inner});
  const DenseTensor terms = tensor<T>(from, {std::ssize(from)});
  const std::string what = std::to_string(outer) + " x " + std::to_string(extent) + " x " +
                           std::to_string(inner) + " start " +
                           std::to_string(static_cast<int>(c.start)) + " " +
                           std::string(name_of(dtype_of<T>()));
  const CpuContext ctx;
  DenseTensor out = blank<T>(xs.dims());
  add_slices(ctx, c.start, c.slices, c.places, xs.data<T>(), terms.data<T>(),
             out.mutable_data<T>());
  expect_close(to_doubles(out), expected, 2 * tolerance<T>(), what);
  DenseTensor same = tensor<T>(there, xs.dims());
  T* data = same.mutable_data<T>();
  add_slices(ctx, c.start, c.slices, c.places, data, terms.data<T>(), data);
  expect_close(to_doubles(same), expected, 2 * tolerance<T>(), what + " in place");
}

TEST(Slices, OfPlacesNamedSeveralTimesTheLastCounts) {
  using Places = std::vector<int64_t>;
  const Slices slices{2, 5, 3};
  EXPECT_EQ(last_named(slices, Places{}), Places{});
  EXPECT_EQ(last_named(slices, Places{3, 0}), (Places{3, 0}));
  EXPECT_EQ(last_named(slices, Places{0, 4, 0, -1, 4, 0}), (Places{-1, -1, -1, -1, 4, 0}));
}

TEST(Slices, AddedUp) {
  const std::vector<std::vector<int64_t>> lists = {
      {}, {3}, {0, 4, 0, 0, 2, 4, 3, 0, 1}, {-1, 2, -1, 2}, {-1}};
  for (const auto& places : lists) {
    for (const SumsFrom start : {SumsFrom::kZero, SumsFrom::kWritten, SumsFrom::kExisting}) {
      for (const int64_t inner : {1, 3, 70}) {
        for (const int64_t outer : {0, 1, 3}) {
          const Case c{{outer, 5, inner}, places, start};
          check<float>(c), check<double>(c), check<float16>(c), check<bfloat16>(c);
        }
      }
    }
  }
}

// 16-bit sums are kept in float: each term alone would be lost.
TEST(Slices, SumsOf16BitsAreRoundedOnce) {
  for (const int64_t inner : {1, 2}) {
    const std::vector<int64_t> places(257, 1);
    Values from(257 * inner, 0.5);
    for (int64_t e = 0; e < inner; ++e) from[e] = 256;
    DenseTensor out = blank<bfloat16>({2 * inner});
    const DenseTensor terms = tensor<bfloat16>(from, {257 * inner});
    add_slices(CpuContext(), SumsFrom::kZero, {1, 2, inner}, places, terms.data<bfloat16>(),
               terms.data<bfloat16>(), out.mutable_data<bfloat16>());
    EXPECT_EQ(to_doubles(out)[inner], 384);
    EXPECT_EQ(to_doubles(out)[0], 0);
  }
}

}  // namespace
}  // namespace phi::testing
