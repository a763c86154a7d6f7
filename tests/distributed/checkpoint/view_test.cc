// Views: every box of every view is what its definition says, and costs the bytes of the box.
#include "distributed/checkpoint/view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "support/error_matchers.h"
#include "temporary_folder.h"
#include "tensor_files.h"

namespace phi::distributed::checkpoint {
namespace {

using ::testing::ElementsAre;

Checkpoint saved(const TemporaryFolder& folder, const std::vector<NamedTensor>& tensors) {
  save(folder.path(), tensors);
  return open(folder.path());
}

TEST(View, RenamesTransposesAndOrders) {
  const TemporaryFolder folder;
  const Checkpoint below =
      saved(folder, {named<float>("w", {1, 2, 3, 4, 5, 6}, {2, 3}),
                     named<float>("b", {1, 2, 3, 4, 5, 6}, {6}), named<float>("unused", {1}, {1})});
  const Checkpoint seen = view(below, {{.name = "same", .source = "w"},
                                       {.name = "turned", .source = "w", .transposed = true},
                                       {.name = "pairs", .source = "b", .order = {{3, 2, 1}}},
                                       {.name = "heads", .source = "b", .order = {{2, 3, 1}}}});
  EXPECT_THAT(seen.names(), ElementsAre("heads", "pairs", "same", "turned"));
  EXPECT_EQ(seen.meta("turned"), (TensorMeta{Dims{3, 2}, DataType::FLOAT32}));
  EXPECT_THAT(read<float>(seen, "same"), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(read<float>(seen, "turned"), ElementsAre(1, 4, 2, 5, 3, 6));
  // Rows of pairs here are halves below: 1 2 3 | 4 5 6.
  EXPECT_THAT(read<float>(seen, "pairs"), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(read<float>(seen, "heads"), ElementsAre(1, 3, 5, 2, 4, 6));
  EXPECT_THAT(read<float>(seen, "turned", {{1, 0}, {2, 1}}), ElementsAre(2, 3));
  EXPECT_EQ(seen.path(), folder.path());
}

TEST(View, ValuesConvertOnTheWay) {
  const TemporaryFolder folder;
  const Checkpoint below = saved(folder, {named<float>("w", {1.5f, 2, 3, 4.25f}, {2, 2})});
  const Checkpoint seen = view(below, {{.name = "w", .source = "w", .transposed = true}});
  const auto narrow = read<bfloat16>(seen, "w");
  EXPECT_EQ(static_cast<float>(narrow[1]), 3.0f);
  EXPECT_EQ(static_cast<float>(narrow[3]), 4.25f);
  EXPECT_THAT([&] { seen.source("w", DataType::INT64); },
              ThrowsError(ErrorCode::kInvalidArgument, "'w' is f32[2,2] in"));
}

TEST(View, ItsInverseGivesBackWhatWasBelow) {
  const TemporaryFolder folder;
  const Interleave order{.rows = 4, .columns = 3, .inner = 2};
  const Checkpoint below = saved(folder, {random_bits("w", {Dims{48, 5}, DataType::BFLOAT16}, 3)});
  const Checkpoint there = view(below, {{"x", "w", true, {{}, order}}});
  const Checkpoint back = view(there, {{"w", "x", true, {order.inverse(), {}}}});
  EXPECT_NE(bytes_of(there, "x"), bytes_of(below, "w"));
  EXPECT_THAT(unequal(below, back), ElementsAre());
}

// A view's tensor, element by element, as view.h defines it.
std::vector<std::byte> expected_bytes(const Checkpoint& below, const ViewTensor& tensor,
                                      const Box& box) {
  const TensorMeta& meta = below.meta(tensor.source);
  const std::vector<std::byte> all = bytes_of(below, tensor.source);
  const size_t width = size_of(meta.dtype);
  const auto index_below = [&](int dim, int64_t i) {
    const auto d = static_cast<size_t>(dim);
    if (d >= tensor.order.size()) return i;
    const Interleave& order = tensor.order[d];
    const int64_t inner = i % order.inner;
    const int64_t column = i / order.inner % order.columns;
    const int64_t row = i / order.inner / order.columns % order.rows;
    const int64_t outer = i / order.inner / order.columns / order.rows;
    return ((outer * order.columns + column) * order.rows + row) * order.inner + inner;
  };
  std::vector<std::byte> bytes;
  for (int64_t r = box.offset[0]; r < box.offset[0] + box.size[0]; ++r) {
    for (int64_t c = box.offset[1]; c < box.offset[1] + box.size[1]; ++c) {
      const int64_t a = index_below(0, r);
      const int64_t b = index_below(1, c);
      const int64_t at = tensor.transposed ? b * meta.dims[1] + a : a * meta.dims[1] + b;
      const auto* from = all.data() + static_cast<size_t>(at) * width;
      bytes.insert(bytes.end(), from, from + width);
    }
  }
  return bytes;
}

class RandomViews {
 public:
  explicit RandomViews(uint32_t seed) : random_(seed) {}

  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() % static_cast<uint32_t>(high - low + 1));
  }

  Interleave order() { return {between(1, 5), between(1, 5), between(1, 40)}; }

  ViewTensor tensor() {
    ViewTensor tensor{"seen", "w", between(0, 1) == 1, {}};
    for (int64_t d = between(0, 2); d > 0; --d) tensor.order.push_back(order());
    return tensor;
  }

  // That the orders fit.
  Dims dims_below(const ViewTensor& tensor) {
    Dims seen;
    for (size_t d = 0; d < 2; ++d) {
      const int64_t block = d < tensor.order.size() ? tensor.order[d].block() : 1;
      seen.push_back(block * between(1, std::max<int64_t>(1, 150 / block)));
    }
    return tensor.transposed ? Dims{seen[1], seen[0]} : seen;
  }

  Box box(const Dims& dims) {
    Box box = Box::whole(dims);
    for (int d = 0; d < dims.ndim(); ++d) {
      box.offset[d] = between(0, dims[d] - 1);
      box.size[d] = between(0, dims[d] - box.offset[d]);
    }
    return box;
  }

  DataType dtype() {
    constexpr std::array kDtypes = {DataType::UINT8, DataType::FLOAT16, DataType::FLOAT32,
                                    DataType::INT64};
    return kDtypes[random_() % kDtypes.size()];
  }

 private:
  std::mt19937 random_;
};

TEST(View, AnyBoxOfAnyViewIsRightAndReadsItsBytesAlone) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomViews random(seed);
    const ViewTensor tensor = random.tensor();
    const TensorMeta meta{random.dims_below(tensor), random.dtype()};
    const TemporaryFolder folder;
    const Checkpoint below = saved(folder, {random_bits("w", meta, seed)});
    const Checkpoint seen = view(below, {tensor});
    for (int i = 0; i < 4; ++i) {
      const Box box =
          i == 0 ? Box::whole(seen.meta("seen").dims) : random.box(seen.meta("seen").dims);
      const auto expected = expected_bytes(below, tensor, box);
      const int64_t before = seen.bytes_read();
      ASSERT_EQ(bytes_of(seen, "seen", box), expected)
          << meta.to_string() << " box " << box.to_string();
      ASSERT_EQ(seen.bytes_read() - before, std::ssize(expected));
    }
  }
}

TEST(View, WhatCannotBeSeenSoIsRefused) {
  const TemporaryFolder folder;
  const Checkpoint below =
      saved(folder, {named<float>("w", {1, 2, 3, 4, 5, 6}, {2, 3}), named<float>("b", {1, 2}, {2}),
                     named<float>("cubic", {1}, {1, 1, 1})});
  const auto refused = [&](const std::vector<ViewTensor>& tensors, const std::string& message) {
    EXPECT_THAT([&] { view(below, tensors); }, ThrowsError(ErrorCode::kInvalidArgument, message));
  };
  EXPECT_THAT([&] { view(below, {{.name = "x", .source = "cubicc"}}); },
              ThrowsError(ErrorCode::kNotFound, "has no tensor 'cubicc', did you mean 'cubic'?"));
  refused({{.name = "x", .source = "w"}, {.name = "x", .source = "b"}},
          "two tensors of a view of '" + folder.path() + "' are named 'x'");
  refused({{.name = "x", .source = "b", .transposed = true}},
          "'b' is f32[2], which cannot be transposed");
  refused({{.name = "x", .source = "cubic", .order = {{2, 2, 1}}}},
          "'cubic' is f32[1,1,1], which cannot be reordered");
  refused({{.name = "x", .source = "w", .transposed = true, .order = {{2, 2, 1}}}},
          "'w' is f32[2,3], whose tensor dim 1 does not consist of blocks of [2,2,1]");
  refused({{.name = "x", .source = "b", .order = {{}, {2, 2, 1}}}}, "'b' is f32[2], whose");
  refused({{.name = "x", .source = "w", .order = {{0, 2, 1}}}},
          "does not consist of blocks of [2,0,1]");
}

}  // namespace
}  // namespace phi::distributed::checkpoint
