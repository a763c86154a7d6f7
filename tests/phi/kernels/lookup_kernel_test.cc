// embedding, gather and one_hot against index arithmetic, whole and sharded.

#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/lookup.h"
#include "phi/infermeta/lookup.h"
#include "tests/phi/kernels/dense_oracle.h"

namespace phi::testing {
namespace {

template <typename T>
class EmbeddingKernelTest : public ::testing::Test {};
using Floats = ::testing::Types<float, double, bfloat16, float16>;
TYPED_TEST_SUITE(EmbeddingKernelTest, Floats);

TYPED_TEST(EmbeddingKernelTest, CopiesRowsAndClearsPadding) {
  using T = TypeParam;
  const Values weight = random_values(5 * 3, 1);
  const Values ids = {4, 0, 2, 2, 1, 3};
  for (int64_t padding : {-1, 2}) {
    const DenseTensor x = tensor<int32_t>(ids, {2, 3});
    const DenseTensor w = tensor<T>(weight, {5, 3});
    DenseTensor out = blank_like(EmbeddingInferMeta(x.meta(), w.meta(), padding, false));
    registered<kernels::embedding, T>(KernelContext(), x, w, padding, &out);
    Values expected;
    for (double id : ids) {
      for (int d = 0; d < 3; ++d)
        expected.push_back(id == padding ? 0 : weight[static_cast<int>(id) * 3 + d]);
    }
    EXPECT_EQ(out.dims(), Dims({2, 3, 3}));
    expect_close<T>(out, expected);
  }
}

TEST(EmbeddingKernel, VocabularyShardsSumToTheWhole) {
  const Dims table{7, 2};
  const Values weight = random_values(table.numel(), 1);
  const DenseTensor x = tensor<int64_t>({6, 0, 3, 3, 5}, {5});
  const DenseTensor whole_weight = tensor<double>(weight, table);
  DenseTensor expected = blank<double>({5, 2});
  registered<kernels::embedding, double>(KernelContext(), x, whole_weight, 3, &expected);
  Values sum(10, 0.0);
  const int64_t bounds[] = {0, 3, 3, 7};  // the middle rank has an empty shard
  for (int rank = 0; rank < 3; ++rank) {
    const int64_t begin = bounds[rank];
    const int64_t end = bounds[rank + 1];
    FakeView view;
    view.inputs = {whole({5}), part(table, 0, begin, end)};
    const DenseTensor shard = tensor<double>(cut(weight, table, 0, begin, end), {end - begin, 2});
    DenseTensor out = blank<double>({5, 2});
    registered<kernels::embedding, double>(KernelContext(CPUPlace(), &view), x, shard, 3, &out);
    const Values part_values = to_doubles(out);
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += part_values[i];
  }
  EXPECT_EQ(sum, to_doubles(expected));
}

TEST(EmbeddingKernel, IdOutsideTheGlobalVocabularyIsNamed) {
  const Dims table{6, 2};
  FakeView view;
  view.inputs = {whole({2}), part(table, 0, 0, 3)};
  const DenseTensor shard = tensor<float>(Values(6, 1.0), {3, 2});
  DenseTensor out = blank<float>({2, 2});
  expect_error(ErrorCode::kOutOfRange,
               "x holds 6 at flat position 1, but the vocabulary has 6 entries", [&] {
                 registered<kernels::embedding, float>(KernelContext(CPUPlace(), &view),
                                                       tensor<int64_t>({5, 6}, {2}), shard, -1,
                                                       &out);
               });
  expect_error(ErrorCode::kOutOfRange, "x holds -1 at flat position 0", [&] {
    registered<kernels::embedding, float>(KernelContext(CPUPlace(), &view),
                                          tensor<int32_t>({-1, 6}, {2}), shard, -1, &out);
  });
}

TEST(GatherKernel, PicksSlicesAlongAnyAxis) {
  const Dims dims{3, 4, 2};
  const Values x = random_values(dims.numel(), 3);
  const Values index = {2, 0, 2, 1};
  for (int axis : {0, 1, 2, -2}) {
    const int at = axis < 0 ? axis + 3 : axis;
    Values picks = index;
    if (at == 2) picks = {1, 0, 1};
    const DenseTensor xt = tensor<float>(x, dims);
    const DenseTensor it = tensor<int64_t>(picks, {static_cast<int64_t>(picks.size())});
    DenseTensor out = blank_like(GatherInferMeta(xt.meta(), it.meta(), axis));
    registered<kernels::gather, float>(KernelContext(), xt, it, axis, &out);
    Values expected;
    const int64_t inner = dims.numel(at + 1, 3);
    for (int64_t o = 0; o < dims.numel(0, at); ++o) {
      for (double pick : picks) {
        for (int64_t i = 0; i < inner; ++i)
          expected.push_back(x[(o * dims[at] + static_cast<int64_t>(pick)) * inner + i]);
      }
    }
    expect_close<float>(out, expected, "axis " + std::to_string(axis));
  }
}

TEST(GatherKernel, ScalarIndexRemovesTheAxis) {
  const DenseTensor x = tensor<int32_t>({1, 2, 3, 4, 5, 6}, {2, 3});
  const DenseTensor index = tensor<int32_t>({2}, {});
  DenseTensor out = blank_like(GatherInferMeta(x.meta(), index.meta(), 1));
  registered<kernels::gather, int32_t>(KernelContext(), x, index, 1, &out);
  EXPECT_EQ(out.dims(), Dims{2});
  EXPECT_EQ(to_doubles(out), Values({3, 6}));
}

TEST(GatherKernel, ShardsSumToTheWholeAndErrorsNameTheIndex) {
  const Dims dims{2, 5};
  const Values x = random_values(dims.numel(), 4);
  const DenseTensor index = tensor<int32_t>({4, 1, 1}, {3});
  Values sum(6, 0.0);
  for (const auto& [begin, end] : {std::pair{0, 3}, std::pair{3, 5}}) {
    FakeView view;
    view.inputs = {part(dims, 1, begin, end), whole({3})};
    const DenseTensor shard = tensor<double>(cut(x, dims, 1, begin, end), {2, end - begin});
    DenseTensor out = blank<double>({2, 3});
    registered<kernels::gather, double>(KernelContext(CPUPlace(), &view), shard, index, -1, &out);
    const Values values = to_doubles(out);
    for (int i = 0; i < 6; ++i) sum[i] += values[i];
  }
  EXPECT_EQ(sum, Values({x[4], x[1], x[1], x[9], x[6], x[6]}));

  DenseTensor out = blank<double>({2, 1});
  expect_error(ErrorCode::kOutOfRange,
               "index holds 5 at flat position 0, but x's tensor dim has 5 entries", [&] {
                 registered<kernels::gather, double>(KernelContext(), tensor<double>(x, dims),
                                                     tensor<int64_t>({5}, {1}), 1, &out);
               });
}

TEST(OneHotKernel, WholeAndSharded) {
  const DenseTensor x = tensor<int64_t>({2, 0, 1}, {3});
  DenseTensor out = blank_like(OneHotInferMeta(x.meta(), 3));
  registered<kernels::one_hot, int64_t>(KernelContext(), x, &out);
  EXPECT_EQ(to_doubles(out), Values({0, 0, 1, 1, 0, 0, 0, 1, 0}));

  FakeView view;
  view.inputs = {whole({3})};
  view.outputs = {part({3, 3}, 1, 1, 3)};
  DenseTensor shard = blank<float>({3, 2});
  registered<kernels::one_hot, int64_t>(KernelContext(CPUPlace(), &view), x, &shard);
  EXPECT_EQ(to_doubles(shard), Values({0, 1, 0, 0, 1, 0}));
  expect_error(ErrorCode::kOutOfRange,
               "x holds 3 at flat position 0, but num_classes has 3 entries", [&] {
                 registered<kernels::one_hot, int64_t>(KernelContext(CPUPlace(), &view),
                                                       tensor<int64_t>({3, 0, 0}, {3}), &shard);
               });
}

TEST(LookupKernels, EmptyArrays) {
  DenseTensor out = blank<float>({0, 2});
  registered<kernels::embedding, float>(KernelContext(), blank<int32_t>({0}), blank<float>({3, 2}),
                                        -1, &out);
  registered<kernels::gather, float>(KernelContext(), blank<float>({3, 2}), blank<int32_t>({0}), 0,
                                     &out);
  DenseTensor hot = blank<float>({0, 4});
  registered<kernels::one_hot, int32_t>(KernelContext(), blank<int32_t>({0}), &hot);
}

template <typename Id>
DenseTensor id_tensor(const std::vector<Id>& ids) {
  return DenseTensor::from<Id>(ids, {static_cast<int64_t>(ids.size())});
}

// Rows of rare numbers are copied bit by bit, the last row as the first; rows that are elsewhere
// are zero, not NaN times zero.
template <typename T, typename Id>
void check_rare_rows() {
  for (const int64_t extent : {1, 2, 7}) {
    const Dims table{extent, 40};
    const DenseTensor weight = rare_tensor<T>(table);
    std::vector<Id> ids;
    for (double id : legal_ids(extent)) ids.push_back(static_cast<Id>(id));
    const auto picked = static_cast<int64_t>(ids.size());
    DenseTensor out = blank<T>({picked, 40}), gathered = blank<T>({picked, 40});
    registered<kernels::embedding, T>(KernelContext(), id_tensor(ids), weight, -1, &out);
    registered<kernels::gather, T>(KernelContext(), weight, id_tensor(ids), 0, &gathered);
    for (int64_t i = 0; i < picked; ++i) {
      const int64_t row = ids[i];
      EXPECT_EQ(bits_of(out.rows(i, i + 1)), bits_of(weight.rows(row, row + 1))) << row;
      EXPECT_EQ(bits_of(gathered.rows(i, i + 1)), bits_of(weight.rows(row, row + 1))) << row;
    }
    FakeView elsewhere;
    elsewhere.inputs = {whole({picked}), part(table, 0, extent, extent)};
    registered<kernels::embedding, T>(KernelContext(CPUPlace(), &elsewhere), id_tensor(ids),
                                      blank<T>({0, 40}), -1, &out);
    EXPECT_EQ(bits_of(out), std::vector<uint64_t>(out.numel(), 0));
  }
}

TEST(LookupKernels, RareRowsAtTheEndsOfTheTable) {
  check_rare_rows<float, int64_t>();
  check_rare_rows<double, int32_t>();
  check_rare_rows<bfloat16, int32_t>();
  check_rare_rows<float16, int64_t>();
}

template <typename Id>
void check_illegal_ids() {
  const Dims table{6, 2};
  for (const Id id : illegal_ids<Id>(6)) {
    const DenseTensor ids = id_tensor<Id>({5, id});
    DenseTensor out = blank<float>({2, 2}), hot = blank<float>({2, 6});
    FakeView lookup, place;
    lookup.inputs = {whole({2}), part(table, 0, 0, 3)};
    place.inputs = {part(table, 0, 0, 3), whole({2})};
    const std::string what = "holds " + std::to_string(id) + " at flat position 1";
    expect_error(ErrorCode::kOutOfRange, what, [&] {
      registered<kernels::embedding, float>(KernelContext(), ids, blank<float>(table), -1, &out);
    });
    expect_error(ErrorCode::kOutOfRange, what, [&] {
      registered<kernels::embedding, float>(KernelContext(CPUPlace(), &lookup), ids,
                                            blank<float>({3, 2}), -1, &out);
    });
    const auto gather = [&] {
      registered<kernels::gather, float>(KernelContext(CPUPlace(), &place), blank<float>({3, 2}),
                                         ids, 0, &out);
    };
    // It counts from the end.
    id == -1 ? gather() : expect_error(ErrorCode::kOutOfRange, what, gather);
    expect_error(ErrorCode::kOutOfRange, what,
                 [&] { registered<kernels::one_hot, Id>(KernelContext(), ids, &hot); });
  }
  DenseTensor none = blank<float>({1, 2});
  expect_error(ErrorCode::kOutOfRange, "the vocabulary has 0 entries", [&] {
    registered<kernels::embedding, float>(KernelContext(), id_tensor<Id>({0}), blank<float>({0, 2}),
                                          -1, &none);
  });
}

TEST(LookupKernels, IllegalIdsAreNamed) {
  check_illegal_ids<int32_t>();
  check_illegal_ids<int64_t>();
}

}  // namespace
}  // namespace phi::testing
