// nonzero, masked_select, unique and unique_consecutive against hand-made results and sorted sets.

#include <limits>
#include <map>
#include <random>

#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/data_dependent.h"
#include "phi/infermeta/data_dependent.h"
#include "tests/phi/kernels/gradient_check.h"

namespace phi::testing {
namespace {

DenseTensor unmade(const TensorMeta& meta) { return {meta, nullptr}; }

TEST(NonZeroKernel, RowMajorCoordinates) {
  const DenseTensor x = tensor<float>({0, 2, 0, -1, NAN, 0}, {2, 3});
  DenseTensor out = unmade(NonZeroInferMeta(x.meta()));
  registered<kernels::nonzero, float>(KernelContext(), x, &out);
  EXPECT_EQ(out.meta().to_string(), "i64[3,2]");
  EXPECT_EQ(to_doubles(out), Values({0, 1, 1, 0, 1, 1}));
}

TEST(NonZeroKernel, EveryDtypeAndNothingFound) {
  const auto check = []<typename T>(T) {
    DenseTensor out = unmade(NonZeroInferMeta({{3}, dtype_of<T>()}));
    registered<kernels::nonzero, T>(KernelContext(), tensor<T>({0, 1, 1}, {3}), &out);
    EXPECT_EQ(to_doubles(out), Values({1, 2}));
    registered<kernels::nonzero, T>(KernelContext(), tensor<T>({0, 0}, {2}), &out);
    EXPECT_EQ(out.dims(), Dims({0, 1}));
    registered<kernels::nonzero, T>(KernelContext(), blank<T>({0, 4}), &out);
    EXPECT_EQ(out.dims(), Dims({0, 2}));
    registered<kernels::nonzero, T>(KernelContext(), tensor<T>({1}, {}), &out);
    EXPECT_EQ(out.dims(), Dims({1, 0}));
  };
  check(float()), check(double()), check(bfloat16()), check(float16());
  check(bool()), check(uint8_t()), check(int32_t()), check(int64_t());
}

TEST(MaskedSelectKernel, SameShapeAndBroadcast) {
  const DenseTensor x = tensor<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  const auto select = [&](const DenseTensor& from, const Values& mask, const Dims& dims) {
    const DenseTensor m = tensor<bool>(mask, dims);
    DenseTensor out = unmade(MaskedSelectInferMeta(from.meta(), m.meta()));
    registered<kernels::masked_select, float>(KernelContext(), from, m, &out);
    return to_doubles(out);
  };
  EXPECT_EQ(select(x, {1, 0, 0, 0, 1, 1}, {2, 3}), Values({1, 5, 6}));
  EXPECT_EQ(select(x, {0, 1, 1}, {3}), Values({2, 3, 5, 6}));
  EXPECT_EQ(select(x, {0, 1}, {2, 1}), Values({4, 5, 6}));
  EXPECT_EQ(select(x, {0}, {}), Values());
  EXPECT_EQ(select(tensor<float>({7, 8}, {2}), {1, 0, 0, 1}, {2, 2}), Values({7, 8}));
  EXPECT_EQ(select(tensor<float>({7, 8}, {2, 1}), {1, 0, 1}, {1, 3}), Values({7, 7, 8, 8}));
  EXPECT_EQ(select(blank<float>({0, 3}), {1, 0, 1}, {3}), Values());
  EXPECT_EQ(select(blank<float>({0, 3}), {}, {0, 3}), Values());
}

struct Unique {
  DenseTensor out, indices, inverse, counts;
};

template <typename T>
Unique unique(const DenseTensor& x, const std::vector<int>& axis, DataType dtype) {
  const auto [om, im, vm, cm] = UniqueInferMeta(x.meta(), true, true, true, axis, dtype);
  Unique u{unmade(om), unmade(*im), unmade(*vm), unmade(*cm)};
  registered<kernels::unique, T>(KernelContext(), x, true, true, true, axis, dtype, &u.out,
                                 &u.indices, &u.inverse, &u.counts);
  EXPECT_EQ(u.indices.dtype(), dtype);
  return u;
}

TEST(UniqueKernel, FlattenedEqualsASortedSet) {
  Values x = random_values(60, 1, -1, 1);
  for (double& v : x) v = std::round(v * 8) / 8;
  std::map<double, int> first, count;
  for (int i = 0; i < 60; ++i) {
    first.emplace(x[i], i);
    ++count[x[i]];
  }
  const Unique u = unique<float>(tensor<float>(x, {3, 20}), {}, DataType::INT32);
  const Values out = to_doubles(u.out), inverse = to_doubles(u.inverse);
  ASSERT_EQ(out.size(), first.size());
  EXPECT_TRUE(std::is_sorted(out.begin(), out.end()));
  for (size_t g = 0; g < out.size(); ++g) {
    EXPECT_EQ(to_doubles(u.indices)[g], first[out[g]]);
    EXPECT_EQ(to_doubles(u.counts)[g], count[out[g]]);
  }
  ASSERT_EQ(inverse.size(), 60u);
  for (int i = 0; i < 60; ++i) EXPECT_EQ(out[static_cast<int>(inverse[i])], x[i]);
}

// Against a map. Integers close together are counted, others sorted, in few bits or in all.
template <typename T>
void check_integers(const std::vector<T>& x) {
  const auto n = static_cast<int64_t>(x.size());
  DenseTensor given = blank<T>({n});
  std::copy(x.begin(), x.end(), given.mutable_data<T>());
  std::map<T, std::vector<int64_t>> places;
  for (int64_t i = 0; i < n; ++i) places[x[i]].push_back(i);
  const Unique u = unique<T>(given, {}, DataType::INT64);
  ASSERT_EQ(u.out.numel(), std::ssize(places));
  ASSERT_EQ(u.inverse.numel(), n);
  int64_t g = 0;
  for (const auto& [value, at] : places) {
    EXPECT_EQ(u.out.data<T>()[g], value);
    EXPECT_EQ(u.indices.data<int64_t>()[g], at.front());
    EXPECT_EQ(u.counts.data<int64_t>()[g], std::ssize(at));
    for (const int64_t i : at) EXPECT_EQ(u.inverse.data<int64_t>()[i], g);
    ++g;
  }
}

template <typename T>
std::vector<T> drawn_integers(int64_t n, T least, T most) {
  std::mt19937 engine(7);
  std::uniform_int_distribution<int64_t> draw(static_cast<int64_t>(least),
                                              static_cast<int64_t>(most));
  std::vector<T> values(n);
  std::generate(values.begin(), values.end(), [&] { return static_cast<T>(draw(engine)); });
  return values;
}

TEST(UniqueKernel, IntegersCloseTogetherAndFarApart) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr int kLeast32 = std::numeric_limits<int32_t>::min();
  constexpr int kMost32 = std::numeric_limits<int32_t>::max();
  for (const int64_t n : {1, 2, 40, 2000}) {
    check_integers(drawn_integers<int64_t>(n, -20, 20));
    check_integers(drawn_integers<int64_t>(n, kMost - 5, kMost));
    check_integers(drawn_integers<int64_t>(n, kLeast, kLeast + 9));
    check_integers(drawn_integers<int64_t>(n, kLeast, kLeast + (int64_t{1} << 32) - 1));
    check_integers(drawn_integers<int64_t>(n, -(int64_t{1} << 32), int64_t{1} << 31));
    check_integers(drawn_integers<int64_t>(n, kLeast, kMost));
    check_integers(drawn_integers<int32_t>(n, -20, 20));
    check_integers(drawn_integers<int32_t>(n, kLeast32, kMost32));
    check_integers(drawn_integers<uint8_t>(n, 0, 255));
  }
  check_integers<int64_t>({kMost, kLeast, 0, kMost, kLeast});
  check_integers<int64_t>({0, (int64_t{1} << 32) - 1, 0}), check_integers<int64_t>({});
  check_integers<int32_t>({kMost32, kLeast32, kMost32});
}

TEST(UniqueKernel, SlicesAlongAnAxis) {
  const Values x = {2, 1, 2, 0, 5, 0};
  const Unique rows = unique<int64_t>(tensor<int64_t>(x, {3, 2}), {0}, DataType::INT64);
  EXPECT_EQ(to_doubles(rows.out), Values({2, 0, 2, 1, 5, 0}));
  EXPECT_EQ(to_doubles(rows.indices), Values({1, 0, 2}));
  const Values y = {2, 1, 2, 0, 5, 0};  // columns (2,0) (1,5) (2,0)
  const Unique columns = unique<int64_t>(tensor<int64_t>(y, {2, 3}), {-1}, DataType::INT64);
  EXPECT_EQ(columns.out.dims(), Dims({2, 2}));
  EXPECT_EQ(to_doubles(columns.out), Values({1, 2, 5, 0}));
  EXPECT_EQ(to_doubles(columns.inverse), Values({1, 0, 1}));
  EXPECT_EQ(to_doubles(columns.counts), Values({1, 2}));
}

TEST(UniqueKernel, NanIsOneValueAndEmptyIsEmpty) {
  const Unique u = unique<float>(tensor<float>({NAN, 1, NAN, -1}, {4}), {}, DataType::INT64);
  const Values out = to_doubles(u.out);
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(out[0], -1);
  EXPECT_TRUE(std::isnan(out[2]));
  EXPECT_EQ(to_doubles(u.counts), Values({1, 1, 2}));
  EXPECT_EQ(unique<int32_t>(blank<int32_t>({0}), {}, DataType::INT64).out.dims(), Dims({0}));
  EXPECT_EQ(unique<int32_t>(blank<int32_t>({0, 3}), {0}, DataType::INT64).out.dims(), Dims({0, 3}));
}

TEST(UniqueKernel, OutputsNotAskedForAreNull) {
  DenseTensor out = unmade({{kUnknownDim}, DataType::BOOL});
  registered<kernels::unique, bool>(KernelContext(), tensor<bool>({1, 0, 1}, {3}), false, false,
                                    false, {}, DataType::INT64, &out, nullptr, nullptr, nullptr);
  EXPECT_EQ(to_doubles(out), Values({0, 1}));
}

template <typename T>
void check_runs(const Values& x, const Values& out, const Values& index, const Values& counts) {
  const auto [om, im, cm] =
      UniqueConsecutiveInferMeta({{std::ssize(x)}, dtype_of<T>()}, true, true, {}, DataType::INT32);
  DenseTensor o = unmade(om), i = unmade(*im), c = unmade(*cm);
  registered<kernels::unique_consecutive, T>(KernelContext(), tensor<T>(x, {std::ssize(x)}), true,
                                             true, {}, DataType::INT32, &o, &i, &c);
  EXPECT_EQ(to_doubles(o).size(), out.size());
  expect_close(to_doubles(o), out, 0);
  EXPECT_EQ(to_doubles(i), index);
  EXPECT_EQ(to_doubles(c), counts);
}

TEST(UniqueConsecutiveKernel, RunsOfEqualElements) {
  const auto check = []<typename T>(T) {
    check_runs<T>({1, 1, 0, 1, 1, 1, 0}, {1, 0, 1, 0}, {0, 0, 1, 2, 2, 2, 3}, {2, 1, 3, 1});
    check_runs<T>({1}, {1}, {0}, {1});
    check_runs<T>({0, 0, 0}, {0}, {0, 0, 0}, {3});
    check_runs<T>({}, {}, {}, {});
  };
  check(float()), check(double()), check(bfloat16()), check(float16());
  check(bool()), check(uint8_t()), check(int32_t()), check(int64_t());
  check_runs<float>({NAN, NAN, 1, -0.0, 0}, {NAN, NAN, 1, -0.0}, {0, 1, 2, 3, 3}, {1, 1, 1, 2});
}

TEST(DataDependentInferMeta, ShapesAndErrors) {
  const TensorMeta x{{2, 3}, DataType::FLOAT32};
  EXPECT_EQ(NonZeroInferMeta(x).to_string(), "i64[?,2]");
  const auto [out, indices, inverse, counts] =
      UniqueInferMeta(x, false, true, false, {1}, DataType::INT32);
  EXPECT_EQ(out.to_string(), "f32[2,?]");
  EXPECT_FALSE(indices.has_value() || counts.has_value());
  EXPECT_EQ(inverse->to_string(), "i32[3]");
  expect_error("axis has 2 entries", [&] {
    UniqueInferMeta(x, false, false, false, {0, 1}, DataType::INT64);
  });
  expect_error("dtype is float32",
               [&] { UniqueInferMeta(x, false, false, false, {}, DataType::FLOAT32); });
  expect_error("mask is f32[2,3], but it must be bool", [&] { MaskedSelectInferMeta(x, x); });
  expect_error("mask", [&] { MaskedSelectInferMeta(x, {{2}, DataType::BOOL}); });
}

struct MaskedSelect {
  DenseTensor mask;

  template <typename T>
  DenseTensor forward(const Tensors& in) const {
    DenseTensor out = unmade(MaskedSelectInferMeta(in[0].meta(), mask.meta()));
    registered<kernels::masked_select, T>(KernelContext(), in[0], mask, &out);
    return out;
  }
  template <typename T>
  Tensors gradients(const Tensors& in, const DenseTensor&, const DenseTensor& out_grad) const {
    Tensors grads = {blank<T>(in[0].dims())};
    registered<kernels::masked_select_grad, T>(KernelContext(), mask, out_grad, &grads[0]);
    return grads;
  }
};

TEST(MaskedSelectGradKernel, EqualsFiniteDifferences) {
  const DenseTensor mask = tensor<bool>({1, 0, 1, 0, 0, 1}, {2, 3});
  check_gradients(MaskedSelect{mask}, {{{2, 3}}}, "one shape");
  check_gradients(MaskedSelect{mask}, {{{4, 2, 3}}}, "mask is broadcast");
  check_gradients(MaskedSelect{mask}, {{{3}}}, "x is broadcast");
  check_gradients(MaskedSelect{mask}, {{{2, 1}}}, "columns of x are broadcast");
  check_gradients(MaskedSelect{tensor<bool>({0, 0}, {2})}, {{{2}}}, "nothing is chosen");
  check_gradients(MaskedSelect{tensor<bool>({}, {0})}, {{{0}}}, "empty");
  check_gradients(MaskedSelect{tensor<bool>({}, {0})}, {{{1}}}, "broadcast to nothing");
}

}  // namespace
}  // namespace phi::testing
