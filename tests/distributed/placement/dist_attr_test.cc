// TensorDistAttr, the split rule, and the boxes that ranks hold.
#include "distributed/placement/dist_attr.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "distributed/placement/split.h"
#include "tests/support/error_matchers.h"

namespace phi::distributed {
namespace {

using ::testing::ElementsAre;

const ProcessMesh& mesh24() {
  static const ProcessMesh mesh({2, 4}, {"dp", "tp"});
  return mesh;
}

std::vector<int64_t> sizes(int64_t n, int64_t k) {
  std::vector<int64_t> out;
  for (int64_t i = 0; i < k; ++i) out.push_back(split_range(n, k, i).size);
  return out;
}

TEST(SplitRange, IsBalanced) {
  EXPECT_THAT(sizes(12, 5), ElementsAre(3, 3, 2, 2, 2));
  EXPECT_THAT(sizes(2, 4), ElementsAre(1, 1, 0, 0));
  EXPECT_THAT(sizes(0, 2), ElementsAre(0, 0));
}

TEST(SplitRange, CoversEveryElementOnce) {
  for (int64_t n = 0; n < 40; ++n) {
    for (int64_t k = 1; k < 12; ++k) {
      int64_t next = 0;
      for (int64_t i = 0; i < k; ++i) {
        const ShardRange r = split_range(n, k, i);
        ASSERT_EQ(r.offset, next) << n << " over " << k << " at " << i;
        ASSERT_GE(r.size, 0);
        next = r.end();
      }
      ASSERT_EQ(next, n);
    }
  }
}

TEST(DistAttr, EqualMeaningsAreOnePointer) {
  const auto* attr = TensorDistAttr::get(mesh24(), {Shard(0), Replicate()});
  EXPECT_EQ(attr, TensorDistAttr::get(mesh24(), {Shard(0)}));
  EXPECT_EQ(attr, TensorDistAttr::from_dims_mapping(mesh24(), {{0}, {}}, {}));
  EXPECT_NE(attr, TensorDistAttr::get(mesh24(), {Shard(1)}));
  EXPECT_NE(TensorDistAttr::get(mesh24(), {Partial()}),
            TensorDistAttr::get(mesh24(), {Partial(ReduceKind::kMax)}));
  // Orders that say the same are the same; [1,0] is not [0,1].
  EXPECT_EQ(TensorDistAttr::get(mesh24(), {Shard(0), Shard(0)}),
            TensorDistAttr::get(mesh24(), {Shard(0, 2), Shard(0, 5)}));
  EXPECT_NE(TensorDistAttr::get(mesh24(), {Shard(0), Shard(0)}),
            TensorDistAttr::get(mesh24(), {Shard(0, 1), Shard(0, 0)}));
}

TEST(DistAttr, PaddleViewRoundTrips) {
  const DimsMapping mapping = {{1, 0}, {}};
  const auto* attr = TensorDistAttr::from_dims_mapping(mesh24(), mapping, {});
  EXPECT_EQ(attr->dims_mapping(2), mapping);
  const auto* partial =
      TensorDistAttr::from_dims_mapping(mesh24(), {{}, {0}}, {{1, ReduceKind::kMax}});
  EXPECT_THAT(partial->partial_dims(), ElementsAre(1));
  EXPECT_EQ(partial->to_string(), "[S1,P(max)] on mesh(dp=2,tp=4)");
}

TEST(DistAttr, LocalBoxesTileTheTensor) {
  const std::vector<std::vector<Placement>> cases = {
      {Shard(0), Shard(1)}, {Shard(1), Shard(0)}, {Shard(0), Shard(0)}, {Shard(0, 1), Shard(0, 0)}};
  for (const Dims& dims : {Dims{8, 8}, Dims{5, 3}, Dims{1, 7}, Dims{0, 4}}) {
    for (const auto& placements : cases) {
      const auto* attr = TensorDistAttr::get(mesh24(), placements);
      SCOPED_TRACE(describe(dims, *attr));
      std::vector<int> covered(dims.numel(), 0);
      for (int64_t rank = 0; rank < 8; ++rank) {
        const Box box = local_box(dims, *attr, *mesh24().coord_of(rank));
        for (int64_t i = 0; i < box.size[0]; ++i) {
          for (int64_t j = 0; j < box.size[1]; ++j) {
            ++covered[(box.offset[0] + i) * dims[1] + box.offset[1] + j];
          }
        }
      }
      EXPECT_THAT(covered, ::testing::Each(1));
    }
  }
}

TEST(DistAttr, CoShardingSplitsInOrder) {
  // 10 over dp first is {5,5}; then each 5 over tp is {2,1,1,1}.
  const auto* outer_first = TensorDistAttr::get(mesh24(), {Shard(0), Shard(0)});
  EXPECT_EQ(local_box({10}, *outer_first, *mesh24().coord_of(4)), (Box{{5}, {2}}));
  // 10 over tp first is {3,3,2,2}; then each over dp.
  const auto* inner_first = TensorDistAttr::get(mesh24(), {Shard(0, 1), Shard(0, 0)});
  EXPECT_EQ(local_box({10}, *inner_first, *mesh24().coord_of(4)), (Box{{2}, {1}}));
}

TEST(DistAttr, LocalShapeOffTheMeshIsNothing) {
  const auto* attr = TensorDistAttr::get(mesh24(), {Shard(0)});
  EXPECT_EQ(local_shape({64, 32}, *attr, 7), (Dims{32, 32}));
  EXPECT_EQ(local_shape({64, 32}, *attr, 8), std::nullopt);
}

TEST(DistAttr, BadAttrsAreNamed) {
  EXPECT_THAT(
      [] { parse_reduce_kind("mean"); },
      ThrowsError(ErrorCode::kInvalidArgument, "unknown reduce kind 'mean'; use one of sum"));
  EXPECT_THAT(
      [] {
        TensorDistAttr::get(mesh24(), {Shard(0), Shard(1), Shard(2)});
      },
      ThrowsError(ErrorCode::kInvalidArgument, "3 placements are given for mesh(dp=2,tp=4)"));
  EXPECT_THAT([] { TensorDistAttr::get(mesh24(), {Shard(-1)}); },
              ThrowsError(ErrorCode::kInvalidArgument, "names no tensor dim"));
  EXPECT_THAT(
      [] {
        TensorDistAttr::from_dims_mapping(mesh24(), {{0}, {0}}, {});
      },
      ThrowsError(ErrorCode::kInvalidArgument, "mesh dim 'dp' of mesh(dp=2,tp=4) is used twice"));
  EXPECT_THAT(
      [] {
        TensorDistAttr::get(mesh24(), {Replicate(), Shard(2)})->check_fits({4, 4});
      },
      ThrowsError(ErrorCode::kInvalidArgument, "shards tensor dim 2 over mesh dim 'tp'"));
}

}  // namespace
}  // namespace phi::distributed
