// full, arange, cast and assign.
#include "phi/kernels/creation_kernel.h"

#include "phi/infermeta/creation.h"
#include "phi/kernels/unary_kernel.h"
#include "tests/phi/kernels/dense_oracle.h"

namespace phi::testing {
namespace {

template <typename F>
void for_all_dtypes(F&& f) {
  for (int t = 1; t < kNumDataTypes; ++t) visit_dtype(static_cast<DataType>(t), f);
}

TEST(FullKernel, EveryElementInEveryDtype) {
  for_all_dtypes([]<typename T>() {
    for (const Dims& dims : {Dims(), Dims{0}, Dims{3, 100}}) {
      DenseTensor out = blank<T>(dims);
      FullKernel<T>(CpuContext(), 1, &out);
      EXPECT_EQ(to_doubles(out), Values(dims.numel(), 1));
    }
  });
  DenseTensor out = blank<bfloat16>({2});
  FullKernel<bfloat16>(CpuContext(), -0.5, &out);
  EXPECT_EQ(to_doubles(out), (Values{-0.5, -0.5}));
}

TEST(ArangeKernel, CountsInTheDtypeOfOut) {
  struct Row {
    Scalar start;
    Scalar end;
    Scalar step;
    DataType dtype;
    Values expected;
  };
  const Row rows[] = {
      {0, 5, 1, DataType::INT64, {0, 1, 2, 3, 4}},
      {5, 0, -2, DataType::INT32, {5, 3, 1}},
      {0, 1, 0.25, DataType::FLOAT32, {0, 0.25, 0.5, 0.75}},
      {1, 2, 0.5, DataType::FLOAT64, {1, 1.5}},
      {-1, 1.5, 0.5, DataType::BFLOAT16, {-1, -0.5, 0, 0.5, 1}},
      {2, 5, 1, DataType::FLOAT16, {2, 3, 4}},
      {0.5, 4, 1.5, DataType::INT64, {0, 2, 3}},
      {3, 3, 1, DataType::INT64, {}},
  };
  for (const Row& row : rows) {
    DenseTensor out = blank_like(ArangeInferMeta(row.start, row.end, row.step, row.dtype));
    visit_dtype(row.dtype, [&]<typename T>() {
      if constexpr (!std::is_same_v<T, bool>) {
        ArangeKernel<T>(CpuContext(), row.start, row.step, &out);
      }
    });
    EXPECT_EQ(to_doubles(out), row.expected) << out.meta().to_string();
  }
}

TEST(ArangeKernel, LateElementsHaveOneRounding) {
  DenseTensor out = DenseTensor::empty({{1000000}, DataType::FLOAT32}, CPUPlace());
  ArangeKernel<float>(CpuContext(), 0, 0.1, &out);
  EXPECT_EQ(out.values<float>()[999999], static_cast<float>(999999 * 0.1));
}

TEST(ArangeKernel, AShardCountsFromItsOffset) {
  FakeView view;
  view.outputs = {part({10}, 0, 4, 7)};
  DenseTensor out = blank<int64_t>({3});
  ArangeKernel<int64_t>(CpuContext(&view), 100, 10, &out);
  EXPECT_EQ(to_doubles(out), (Values{140, 150, 160}));
}

TEST(CastKernel, BetweenAllDtypes) {
  // Whole numbers from 0 to 100 are exact in all but bool; 300 elements pass the vector loops.
  Values xs(300);
  for (int i = 0; i < 300; ++i) xs[i] = i % 101;
  for_all_dtypes([&]<typename From>() {
    const DenseTensor x = tensor<From>(xs, {3, 100});
    for_all_dtypes([&]<typename To>() {
      DenseTensor out = blank<To>({3, 100});
      CastKernel<From>(CpuContext(), x, &out);
      Values expected = to_doubles(x);
      if (std::is_same_v<To, bool>) {
        for (double& v : expected) v = v != 0;
      }
      EXPECT_EQ(to_doubles(out), expected)
          << name_of(dtype_of<From>()) << " to " << name_of(dtype_of<To>());
    });
  });
}

TEST(CastKernel, TruncatesAndRounds) {
  const DenseTensor x = tensor<float>({-1.75, 2.9, 1 + 0x1p-9, 0.001, NAN, 1e30}, {6});
  DenseTensor halves = blank<float16>({6});
  CastKernel<float>(CpuContext(), x, &halves);
  EXPECT_EQ(to_doubles(halves)[2], 1 + 0x1p-9);
  EXPECT_EQ(to_doubles(halves)[5], INFINITY);
  EXPECT_TRUE(std::isnan(to_doubles(halves)[4]));
  DenseTensor brains = blank<bfloat16>({6});
  CastKernel<float>(CpuContext(), x, &brains);
  EXPECT_EQ(to_doubles(brains)[2], 1);
  EXPECT_TRUE(std::isnan(to_doubles(brains)[4]));
  DenseTensor flags = blank<bool>({6});
  CastKernel<float>(CpuContext(), x, &flags);
  EXPECT_EQ(to_doubles(flags), (Values{1, 1, 1, 1, 1, 1}));
  DenseTensor whole_numbers = blank<int32_t>({2});
  CastKernel<float>(CpuContext(), tensor<float>({-1.75, 2.9}, {2}), &whole_numbers);
  EXPECT_EQ(to_doubles(whole_numbers), (Values{-1, 2}));
}

TEST(AssignKernel, CopiesEveryDtype) {
  for_all_dtypes([]<typename T>() {
    for (const Dims& dims : {Dims(), Dims{0, 2}, Dims{5, 3}}) {
      const DenseTensor x = tensor<T>(Values(dims.numel(), 1), dims);
      DenseTensor out = blank<T>(dims);
      AssignKernel<T>(CpuContext(), x, &out);
      EXPECT_EQ(to_doubles(out), to_doubles(x));
    }
  });
}

}  // namespace
}  // namespace phi::testing
