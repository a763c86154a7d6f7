// Random draws: known answers of Philox, moments, and shards that fit together bit for bit.

#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/random.h"
#include "phi/kernels/functors/philox.h"
#include "phi/kernels/random_fill.h"
#include "tests/phi/kernels/dense_oracle.h"

namespace phi::testing {
namespace {

// From the Random123 distribution of the paper's authors (kat_vectors, philox4x32 10).
TEST(Philox, KnownAnswers) {
  struct Row {
    PhiloxBlock counter;
    PhiloxKey key;
    PhiloxBlock expected;
  };
  constexpr uint32_t kOnes = 0xffffffffu;
  const Row rows[] = {
      {{{0, 0, 0, 0}}, {{0, 0}}, {{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}}},
      {{{kOnes, kOnes, kOnes, kOnes}},
       {{kOnes, kOnes}},
       {{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}}},
      {{{0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}},
       {{0xa4093822u, 0x299f31d0u}},
       {{0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u}}},
  };
  for (const Row& row : rows) {
    const PhiloxBlock got = philox(row.counter, row.key);
    for (int w = 0; w < 4; ++w) EXPECT_EQ(got.word[w], row.expected.word[w]);
  }
}

// Element i is word i % 4 of block i / 4, in whole batches and in parts of them.
TEST(FillUniform, ElementsAreTheWordsOfTheirBlocks) {
  constexpr uint64_t kSeed = 0x123456789abcdefull;
  for (const int64_t offset : {0, 4, 13}) {
    for (const int64_t n : {1, 100, 255, 256, 1500}) {
      const int64_t first = (int64_t{1} << 34) - offset;  // block numbers pass 32 bits
      const ShardBox where = {{int64_t{1} << 40}, {{first}, {n}}};
      DenseTensor out = blank<double>({n});
      fill_uniform(where, 0, 1, kSeed, &out);
      for (int64_t i = 0; i < n; ++i) {
        const auto block = static_cast<uint64_t>((first + i) / 4);
        const PhiloxBlock words =
            philox(philox_counter(block, RandomUse::kUniform), philox_key(kSeed));
        EXPECT_EQ(out.values<double>()[i], words.word[(first + i) % 4] * 0x1p-32) << i;
      }
    }
  }
}

struct Moments {
  double mean = 0;
  double variance = 0;
  double fourth = 0;  // of the standardised values
};

Moments moments(const Values& values) {
  const auto n = static_cast<double>(values.size());
  Moments m;
  for (double v : values) m.mean += v / n;
  for (double v : values) m.variance += (v - m.mean) * (v - m.mean) / n;
  for (double v : values) m.fourth += std::pow(v - m.mean, 4) / (m.variance * m.variance) / n;
  return m;
}

TEST(FillGaussian, HasTheMomentsOfTheNormalDistribution) {
  const Dims dims = {200001};
  DenseTensor out = blank<float>(dims);
  fill_gaussian(whole(dims), 1.0f, 2.0f, 42, &out);
  const Values values = to_doubles(out);
  const Moments m = moments(values);
  EXPECT_NEAR(m.mean, 1, 0.02);
  EXPECT_NEAR(m.variance, 4, 0.05);
  EXPECT_NEAR(m.fourth, 3, 0.08);
  // Neighbours, which share a Philox block, are not correlated.
  double product = 0;
  for (size_t i = 1; i < values.size(); ++i) product += (values[i] - 1) * (values[i - 1] - 1);
  EXPECT_NEAR(product / static_cast<double>(values.size()), 0, 0.04);
  // And about as many are beyond two deviations as there should be (4.55 %).
  const auto far =
      std::count_if(values.begin(), values.end(), [](double v) { return std::abs(v - 1) > 4; });
  EXPECT_NEAR(static_cast<double>(far) / 200001, 0.0455, 0.002);
}

TEST(FillUniform, FillsItsRangeEvenly) {
  const Dims dims = {100000};
  DenseTensor out = blank<float>(dims);
  fill_uniform(whole(dims), -1, 3, 7, &out);
  const Values values = to_doubles(out);
  EXPECT_NEAR(moments(values).mean, 1, 0.02);
  EXPECT_NEAR(moments(values).variance, 16.0 / 12, 0.02);
  EXPECT_GE(*std::min_element(values.begin(), values.end()), -1);
  EXPECT_LT(*std::max_element(values.begin(), values.end()), 3);
}

TEST(FillUniform, NeverRoundsUpToMax) {
  DenseTensor out = blank<float>({4096});
  fill_uniform(whole({4096}), 1, 1 + 0x1p-22, 7, &out);
  for (float v : out.values<float>()) EXPECT_LT(v, 1 + 0x1p-22f);
  fill_uniform(whole({4096}), 5, 5, 7, &out);
  for (float v : out.values<float>()) EXPECT_EQ(v, 5);
}

TEST(FillGaussian, SeedsAndUsesDiffer) {
  const Dims dims = {64};
  DenseTensor a = blank<float>(dims);
  DenseTensor b = blank<float>(dims);
  fill_gaussian(whole(dims), 0, 1, 1, &a);
  fill_gaussian(whole(dims), 0, 1, 1, &b);
  EXPECT_EQ(to_doubles(a), to_doubles(b));
  fill_gaussian(whole(dims), 0, 1, uint64_t{1} << 32, &b);
  EXPECT_NE(to_doubles(a), to_doubles(b));
}

TEST(FillGaussian, AllDtypesDrawTheSameNumbers) {
  const Dims dims = {77};
  DenseTensor f32 = blank<float>(dims);
  DenseTensor f64 = blank<double>(dims);
  DenseTensor bf16 = blank<bfloat16>(dims);
  for (DenseTensor* out : {&f32, &f64, &bf16}) fill_gaussian(whole(dims), 0.5, 2, 3, out);
  expect_close(to_doubles(f64), to_doubles(f32), 1e-6);
  expect_close(to_doubles(bf16), to_doubles(f32), 1.0 / 128);
}

// Every box of a grid over `dims`, uneven and empty ones included.
std::vector<ShardBox> boxes(const Dims& dims) {
  std::vector<ShardBox> out;
  for (int axis = 0; axis < dims.ndim(); ++axis) {
    for (int64_t begin = 0; begin <= dims[axis]; begin += std::max<int64_t>(1, dims[axis] / 3)) {
      const int64_t end = std::min(dims[axis], begin + std::max<int64_t>(1, dims[axis] / 3));
      out.push_back(part(dims, axis, begin, end));
      ShardBox both = out.back();
      const int other = (axis + 1) % dims.ndim();
      if (other == axis || dims[other] < 2) continue;
      both.box.offset[other] = 1;
      both.box.size[other] = dims[other] - 1;
      out.push_back(both);
    }
  }
  return out;
}

// The elements of `whole` that lie in the box.
Values cut_box(Values whole_values, const ShardBox& where) {
  Dims dims = where.global;
  for (int d = 0; d < dims.ndim(); ++d) {
    const int64_t begin = where.box.offset[d];
    whole_values = cut(whole_values, dims, d, begin, begin + where.box.size[d]);
    dims[d] = where.box.size[d];
  }
  return whole_values;
}

template <typename T>
void expect_shards_equal_the_whole() {
  for (const Dims& dims : {Dims{101}, Dims{9, 7}, Dims{5, 64}, Dims{3, 33, 6}, Dims{40, 1}}) {
    DenseTensor gaussian = blank<T>(dims);
    DenseTensor uniform = blank<T>(dims);
    registered<kernels::gaussian, T>(KernelContext(), 0.1f, 0.7f, 5, &gaussian);
    registered<kernels::uniform, T>(KernelContext(), -1.0, 2.0, 5, &uniform);
    for (const ShardBox& where : boxes(dims)) {
      FakeView view;
      view.outputs = {where};
      DenseTensor shard = blank<T>(where.box.size);
      registered<kernels::gaussian, T>(KernelContext(CPUPlace(), &view), 0.1f, 0.7f, 5, &shard);
      EXPECT_EQ(to_doubles(shard), cut_box(to_doubles(gaussian), where)) << where.box.to_string();
      registered<kernels::uniform, T>(KernelContext(CPUPlace(), &view), -1.0, 2.0, 5, &shard);
      EXPECT_EQ(to_doubles(shard), cut_box(to_doubles(uniform), where)) << where.box.to_string();
    }
  }
}

TEST(RandomKernels, ShardsEqualThePartsOfTheWhole) {
  expect_shards_equal_the_whole<float>();
  expect_shards_equal_the_whole<double>();
  expect_shards_equal_the_whole<bfloat16>();
  expect_shards_equal_the_whole<float16>();
}

TEST(RandomKernels, ScalarsAndEmptyArrays) {
  DenseTensor scalar = blank<float>({});
  registered<kernels::gaussian, float>(KernelContext(), 0, 1, 1, &scalar);
  EXPECT_LT(std::abs(to_doubles(scalar)[0]), 7);
  DenseTensor empty = blank<float>({0, 4});
  registered<kernels::gaussian, float>(KernelContext(), 0, 1, 1, &empty);
  registered<kernels::uniform, float>(KernelContext(), 0, 1, 1, &empty);
}

TEST(RandomKernels, WrongAttributesAreErrors) {
  DenseTensor out = blank<float>({4});
  DenseTensor whole_numbers = blank<int32_t>({4});
  expect_error("std is -1",
               [&] { registered<kernels::gaussian, float>(KernelContext(), 0, -1, 1, &out); });
  expect_error("max must be at least min",
               [&] { registered<kernels::uniform, float>(KernelContext(), 2, 1, 1, &out); });
  expect_error("int32", [&] { fill_gaussian(whole({4}), 0, 1, 1, &whole_numbers); });
  expect_error("has other extents", [&] { fill_gaussian(whole({5}), 0, 1, 1, &out); });
}

struct Dropped {
  DenseTensor out;
  DenseTensor mask;
};

template <typename T>
Dropped dropout(const DenseTensor& x, double p, bool is_test = false,
                const std::string& mode = "upscale_in_train", int seed = 3,
                const KernelContext& ctx = KernelContext(),
                const DenseTensor* seed_tensor = nullptr) {
  Dropped result = {blank<T>(x.dims()), blank<uint8_t>(x.dims())};
  registered<kernels::dropout, T>(ctx, x, seed_tensor, p, is_test, mode, seed, true, &result.out,
                                  &result.mask);
  return result;
}

template <typename T>
void check_dropout() {
  const Dims dims = {50, 201};
  const Values xs = random_values(dims.numel(), 1);
  const DenseTensor x = tensor<T>(xs, dims);
  for (double p : {0.0, 0.25, 0.9, 1.0}) {
    for (bool upscale : {true, false}) {
      const Dropped got =
          dropout<T>(x, p, false, upscale ? "upscale_in_train" : "downscale_in_infer");
      const Values mask = to_doubles(got.mask);
      Values expected(xs.size());
      double kept = 0;
      for (size_t i = 0; i < xs.size(); ++i) {
        kept += mask[i];
        expected[i] = mask[i] == 1 ? xs[i] / (upscale ? 1 - p : 1) : 0;
      }
      EXPECT_NEAR(kept / static_cast<double>(xs.size()), 1 - p, 0.02);
      expect_close<T>(got.out, expected);
    }
  }
}

TEST(DropoutKernel, KeepsAndScalesInTraining) {
  check_dropout<float>();
  check_dropout<double>();
  check_dropout<float16>();
  check_dropout<bfloat16>();
}

TEST(DropoutKernel, InTestKeepsAll) {
  const Values xs = random_values(40, 1);
  const DenseTensor x = tensor<float>(xs, {40});
  const Dropped same = dropout<float>(x, 0.75, true);
  expect_close<float>(same.out, xs);
  EXPECT_EQ(to_doubles(same.mask), Values(40, 1));
  const Dropped scaled = dropout<float>(x, 0.75, true, "downscale_in_infer");
  for (int i = 0; i < 40; ++i) EXPECT_FLOAT_EQ(scaled.out.values<float>()[i], xs[i] * 0.25);
}

TEST(DropoutKernel, WithPOneInfinitiesAreDroppedToo) {
  const DenseTensor x = tensor<float>({INFINITY, NAN, 1}, {3});
  EXPECT_EQ(to_doubles(dropout<float>(x, 1.0).out), (Values{0, 0, 0}));
}

TEST(DropoutKernel, ShardsEqualThePartsOfTheWhole) {
  const Dims dims = {9, 70};
  const Values xs = random_values(dims.numel(), 1);
  const Dropped expected = dropout<float>(tensor<float>(xs, dims), 0.4);
  for (const ShardBox& where : boxes(dims)) {
    FakeView view;
    view.inputs = view.outputs = {where};
    const DenseTensor x = tensor<float>(cut_box(xs, where), where.box.size);
    const Dropped got =
        dropout<float>(x, 0.4, false, "upscale_in_train", 3, KernelContext(CPUPlace(), &view));
    EXPECT_EQ(to_doubles(got.out), cut_box(to_doubles(expected.out), where));
    EXPECT_EQ(to_doubles(got.mask), cut_box(to_doubles(expected.mask), where));
  }
}

TEST(DropoutKernel, TheSeedTensorGoesBeforeTheSeed) {
  const DenseTensor x = tensor<float>(Values(200, 1), {200});
  const DenseTensor seed = tensor<int64_t>({8}, {1});
  const Dropped given =
      dropout<float>(x, 0.5, false, "upscale_in_train", 3, KernelContext(), &seed);
  EXPECT_EQ(to_doubles(given.mask),
            to_doubles(dropout<float>(x, 0.5, false, "upscale_in_train", 8).mask));
  EXPECT_NE(to_doubles(given.mask), to_doubles(dropout<float>(x, 0.5).mask));
}

TEST(DropoutKernel, WrongAttributesAreErrors) {
  const DenseTensor x = tensor<float>({1, 2}, {2});
  expect_error("in [0, 1]", [&] { dropout<float>(x, 1.5); });
  expect_error("in [0, 1]", [&] { dropout<float>(x, NAN); });
  expect_error("mode is 'scale'", [&] { dropout<float>(x, 0.5, false, "scale"); });
  expect_error("seed_tensor is f32[2]",
               [&] { dropout<float>(x, 0.5, false, "upscale_in_train", 3, KernelContext(), &x); });
}

// The forward kernel is linear for one seed: applied to the gradient it is its own transpose.
template <typename T>
void check_dropout_gradient() {
  const DenseTensor g = tensor<T>(random_values(700, 2, -4, 4), {7, 100});
  for (const std::string mode : {"upscale_in_train", "downscale_in_infer"}) {
    for (const bool is_test : {false, true}) {
      for (const double p : {0.0, 0.25, 1.0}) {
        const Dropped expected = dropout<T>(g, p, is_test, mode);
        DenseTensor dx = blank<T>(g.dims());
        registered<kernels::dropout_grad, T>(KernelContext(), expected.mask, g, p, is_test, mode,
                                             &dx);
        EXPECT_EQ(to_doubles(dx), to_doubles(expected.out)) << mode << " " << is_test << " " << p;
      }
    }
  }
}

TEST(DropoutGradKernel, IsTheForwardKernelOnTheGradient) {
  check_dropout_gradient<float>();
  check_dropout_gradient<double>();
  check_dropout_gradient<bfloat16>();
  check_dropout_gradient<float16>();
}

TEST(DropoutGradKernel, WrongAttributesAreErrors) {
  const DenseTensor g = tensor<float>({1, 2}, {2});
  const DenseTensor mask = tensor<uint8_t>({1, 0}, {2});
  DenseTensor dx = blank<float>({2});
  const auto gradient = [&](double p, const char* mode) {
    registered<kernels::dropout_grad, float>(KernelContext(), mask, g, p, false, mode, &dx);
  };
  expect_error("p is 1.5, but a probability is in [0, 1]",
               [&] { gradient(1.5, "upscale_in_train"); });
  expect_error("mode is 'scale'", [&] { gradient(0.5, "scale"); });
}

// A row of any extent begins with the numbers of a longer one: none, one, and around the batches
// that are drawn at a time.
TEST(RandomKernels, RareExtentsDrawTheSameNumbers) {
  const DenseTensor x = tensor<float>(Values(520, 1.0), {520});
  DenseTensor gaussian = blank<float>({520}), uniform = blank<float>({520});
  registered<kernels::gaussian, float>(KernelContext(), 0, 1, 5, &gaussian);
  registered<kernels::uniform, float>(KernelContext(), -1, 1, 5, &uniform);
  const Values normal_numbers = to_doubles(gaussian), even = to_doubles(uniform),
               kept = to_doubles(dropout<float>(x, 0.5).mask);
  for (const int64_t step : {4, 32, 256}) {
    for (const int64_t n : extents_around(step)) {
      DenseTensor g = blank<float>({n}), u = blank<float>({n});
      registered<kernels::gaussian, float>(KernelContext(), 0, 1, 5, &g);
      registered<kernels::uniform, float>(KernelContext(), -1, 1, 5, &u);
      const auto begins = [n](const Values& all) { return Values(all.begin(), all.begin() + n); };
      EXPECT_EQ(to_doubles(g), begins(normal_numbers)) << n;
      EXPECT_EQ(to_doubles(u), begins(even)) << n;
      const DenseTensor some = tensor<float>(Values(n, 1.0), {n});
      EXPECT_EQ(to_doubles(dropout<float>(some, 0.5).mask), begins(kept)) << n;
    }
  }
}

TEST(RandomKernels, RangesOfNoWidth) {
  DenseTensor out = blank<float>({33});
  registered<kernels::gaussian, float>(KernelContext(), 2.5f, 0, 5, &out);
  EXPECT_EQ(to_doubles(out), Values(33, 2.5));
  registered<kernels::uniform, float>(KernelContext(), 0.5, 0.5, 5, &out);
  EXPECT_EQ(to_doubles(out), Values(33, 0.5));
}

// Kept elements are scaled as they are, dropped ones are 0 whatever they were.
TEST(DropoutKernel, RareNumbers) {
  const Values list = rare_floats<float>();
  Values xs;
  for (int i = 0; i < 8; ++i) xs.insert(xs.end(), list.begin(), list.end());
  const DenseTensor x = tensor<float>(xs, {static_cast<int64_t>(xs.size())});
  const Dropped got = dropout<float>(x, 0.5);
  const Values out = to_doubles(got.out), mask = to_doubles(got.mask);
  for (size_t i = 0; i < xs.size(); ++i)
    expect_steps<float>(out[i], mask[i] == 1 ? xs[i] * 2 : 0, 0, std::to_string(xs[i]));
}

}  // namespace
}  // namespace phi::testing
