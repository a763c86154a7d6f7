// Elements that indices name one by one: more indices than a block, counted from the end, of both
// dtypes, along each axis; and what a wrong one leaves.
#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/indexing.h"
#include "tests/phi/kernels/dense_oracle.h"

namespace phi::testing {
namespace {

const Dims kDims{5, 700, 3};  // of arr, indices and values

std::vector<int64_t> drawn_indices(int64_t extent, bool from_end) {
  std::mt19937 engine(7);
  std::uniform_int_distribution<int64_t> draw(from_end ? -extent : 0, extent - 1);
  std::vector<int64_t> ids(static_cast<size_t>(kDims.numel()));
  for (int64_t& id : ids) id = draw(engine);
  return ids;
}

DenseTensor indices_of(const std::vector<int64_t>& ids, DataType dtype) {
  if (dtype == DataType::INT64) return DenseTensor::from<int64_t>(ids, kDims);
  return DenseTensor::from<int32_t>(std::vector<int32_t>(ids.begin(), ids.end()), kDims);
}

/// The flat position in arr that index i names.
int64_t named(const std::vector<int64_t>& ids, int64_t i, int axis) {
  const int64_t stride = kDims.strides()[axis];
  const int64_t own = i / stride % kDims[axis];
  const int64_t id = ids[static_cast<size_t>(i)];
  return i + ((id < 0 ? id + kDims[axis] : id) - own) * stride;
}

std::vector<float> floats_of(const DenseTensor& x) {
  const auto values = x.values<float>();
  return {values.begin(), values.end()};
}

/// Calls f(axis, ids, a tensor of them) for each case.
template <typename F>
void for_each_case(F f) {
  for (int axis = 0; axis < 3; ++axis) {
    for (const bool from_end : {false, true}) {
      for (const DataType dtype : {DataType::INT32, DataType::INT64}) {
        SCOPED_TRACE(::testing::Message() << "axis " << axis << ", from the end: " << from_end
                                          << ", " << name_of(dtype));
        const auto ids = drawn_indices(kDims[axis], from_end);
        f(axis, ids, indices_of(ids, dtype));
      }
    }
  }
}

TEST(TakeAlongAxisKernel, TakesWhatEachIndexNames) {
  const Values xs = random_values(kDims.numel(), 1);
  for_each_case([&](int axis, const std::vector<int64_t>& ids, const DenseTensor& indices) {
    DenseTensor out = blank<float>(kDims);
    registered<kernels::take_along_axis, float>(KernelContext(), tensor<float>(xs, kDims), indices,
                                                axis, &out);
    const Values got = to_doubles(out);
    for (int64_t i = 0; i < kDims.numel(); ++i) ASSERT_EQ(got[i], xs[named(ids, i, axis)]) << i;
  });
}

TEST(PutAlongAxisKernel, AddsInTheOrderOfIndicesInPlaceToo) {
  const Values xs = random_values(kDims.numel(), 1), values = random_values(kDims.numel(), 2);
  for_each_case([&](int axis, const std::vector<int64_t>& ids, const DenseTensor& indices) {
    std::vector<float> expected(xs.begin(), xs.end());
    for (int64_t i = 0; i < kDims.numel(); ++i) {
      expected[named(ids, i, axis)] += static_cast<float>(values[i]);
    }
    DenseTensor arr = tensor<float>(xs, kDims);
    DenseTensor out = blank<float>(kDims);
    const auto put = [&](DenseTensor* to) {
      registered<kernels::put_along_axis, float>(
          KernelContext(), arr, indices, tensor<float>(values, kDims), axis, "add", true, to);
    };
    put(&out);
    EXPECT_EQ(floats_of(out), expected);
    put(&arr);
    EXPECT_EQ(floats_of(arr), expected);
  });
}

// The wrong index stands behind several blocks of right ones.
TEST(PutAlongAxisKernel, AWrongIndexIsNamedAndLeavesWhatIsThere) {
  const Values xs = random_values(kDims.numel(), 1);
  for (const DataType dtype : {DataType::INT32, DataType::INT64}) {
    for (const int64_t wrong : {int64_t{700}, int64_t{-701}}) {
      auto ids = drawn_indices(700, false);
      ids[3001] = wrong;
      DenseTensor arr = tensor<float>(xs, kDims);
      try {
        registered<kernels::put_along_axis, float>(KernelContext(), arr, indices_of(ids, dtype),
                                                   tensor<float>(xs, kDims), 1, "add", true, &arr);
        ADD_FAILURE() << "index " << wrong << " was taken";
      } catch (const Error& error) {
        const std::string what = error.what();
        EXPECT_NE(what.find(std::to_string(wrong)), std::string::npos) << what;
        EXPECT_NE(what.find("3001"), std::string::npos) << what;
      }
      EXPECT_EQ(to_doubles(arr), xs);
    }
  }
}

// Rows long enough to be summed where they are written, and short ones, which are copied first.
TEST(IndexAddKernel, AddsInRisingOrderInPlaceToo) {
  for (const int64_t width : {1, 5, 64, 130}) {
    const Dims dims{4, width}, added{6, width};
    const std::vector<int64_t> rows = {2, 0, 2, -1, 2, 0};
    const Values xs = random_values(dims.numel(), 1), terms = random_values(added.numel(), 2);
    std::vector<float> expected(xs.begin(), xs.end());
    for (int64_t i = 0; i < added.numel(); ++i) {
      const int64_t row = rows[i / width] < 0 ? rows[i / width] + 4 : rows[i / width];
      expected[row * width + i % width] += static_cast<float>(terms[i]);
    }
    DenseTensor x = tensor<float>(xs, dims);
    DenseTensor out = blank<float>(dims);
    for (DenseTensor* to : {&out, &x}) {
      registered<kernels::index_add, float>(KernelContext(), x,
                                            DenseTensor::from<int64_t>(rows, {6}),
                                            tensor<float>(terms, added), 0, to);
      EXPECT_EQ(floats_of(*to), expected) << width;
    }
  }
}

}  // namespace
}  // namespace phi::testing
