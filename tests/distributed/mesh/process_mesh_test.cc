// ProcessMesh: interning, coordinates of regular and irregular meshes, slices, errors.
#include "distributed/mesh/process_mesh.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "phi/common/errors.h"
#include "tests/support/error_matchers.h"

namespace phi::distributed {
namespace {

using ::testing::ElementsAre;

TEST(ProcessMesh, EqualMeshesAreOnePointer) {
  const ProcessMesh counted({2, 3}, {"dp", "tp"});
  const ProcessMesh listed({2, 3}, {"dp", "tp"}, {0, 1, 2, 3, 4, 5});
  EXPECT_EQ(counted, listed);
  EXPECT_NE(counted, ProcessMesh({2, 3}, {"dp", "pp"}));
  EXPECT_NE(counted, ProcessMesh({2, 3}, {"dp", "tp"}, {1, 2, 3, 4, 5, 6}));
}

TEST(ProcessMesh, StridesOfSizeOneDimsDoNotMatter) {
  EXPECT_EQ(ProcessMesh({1, 2}, {}, {4, 6}), ProcessMesh({1, 2}, {}, {4, 6}));
  EXPECT_EQ(ProcessMesh({2, 2}, {"a", "b"}).slice(0, 1).size(), 2);
}

TEST(ProcessMesh, RanksAndCoordinatesAreInverse) {
  const ProcessMesh meshes[] = {ProcessMesh({2, 3, 4}),
                                ProcessMesh({2, 2}, {}, {4, 5, 8, 9}),
                                ProcessMesh({2, 2}, {}, {0, 2, 1, 3}),
                                ProcessMesh({4}, {}, {7, 3, 11, 2}),
                                ProcessMesh({2, 2}, {}, {3, 2, 1, 0}),
                                ProcessMesh({1}, {}, {5})};
  for (const ProcessMesh& mesh : meshes) {
    SCOPED_TRACE(mesh.to_string());
    const auto ranks = mesh.ranks();
    for (int64_t i = 0; i < mesh.size(); ++i) {
      EXPECT_EQ(mesh.rank_at(i), ranks[i]);
      const auto coord = mesh.coord_of(ranks[i]);
      ASSERT_TRUE(coord.has_value());
      EXPECT_EQ(mesh.position_of(*coord), i);
      EXPECT_EQ(mesh.rank_at(*coord), ranks[i]);
    }
    for (int64_t rank = -1; rank < 16; ++rank) {
      const bool listed = std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
      EXPECT_EQ(mesh.contains(rank), listed) << "rank " << rank;
    }
  }
}

TEST(ProcessMesh, TransposedAndStridedMeshesStayRegular) {
  EXPECT_TRUE(ProcessMesh({2, 2}, {}, {0, 2, 1, 3}).is_regular());
  EXPECT_TRUE(ProcessMesh({2, 2}, {}, {4, 6, 12, 14}).is_regular());
  EXPECT_FALSE(ProcessMesh({4}, {}, {0, 1, 3, 2}).is_regular());
  EXPECT_FALSE(ProcessMesh({2, 2}, {}, {3, 2, 1, 0}).is_regular());
}

TEST(ProcessMesh, MoreRanksThan31BitsCountAreRefused) {
  EXPECT_EQ(ProcessMesh({kMaxMeshSize}).highest_rank(), kMaxMeshSize - 1);
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{kMaxMeshSize + 1},
                                            {INT64_MAX},
                                            {65536, 65536},
                                            {INT64_MAX, INT64_MAX}}) {
    EXPECT_THAT([&] { ProcessMesh mesh(shape); },
                ThrowsError(ErrorCode::kInvalidArgument, "a mesh has at most 2147483647 ranks"));
  }
}

TEST(ProcessMesh, SliceIsAPipelineStage) {
  const ProcessMesh mesh({2, 2, 2}, {"dp", "pp", "tp"});
  const ProcessMesh stage = mesh.slice(mesh.dim_of("pp"), 1);
  EXPECT_THAT(stage.ranks(), ElementsAre(2, 3, 6, 7));
  EXPECT_THAT(stage.dim_names(), ElementsAre("dp", "tp"));
  EXPECT_TRUE(stage.is_regular());
  EXPECT_EQ(stage, ProcessMesh({2, 2}, {"dp", "tp"}, {2, 3, 6, 7}));
  EXPECT_EQ(ProcessMesh({3}, {"pp"}).slice(0, 2), ProcessMesh({1}, {"pp"}, {2}));
  EXPECT_THAT(ProcessMesh({2, 2}, {}, {9, 1, 5, 0}).slice(1, 1).ranks(), ElementsAre(1, 0));
}

TEST(ProcessMesh, SubRanksVaryInOneMeshDim) {
  const ProcessMesh mesh({2, 4}, {"dp", "tp"});
  EXPECT_THAT(mesh.sub_ranks(5, 1), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(mesh.sub_ranks(5, 0), ElementsAre(1, 5));
}

TEST(ProcessMesh, LargeMeshStoresNoRanks) {
  const ProcessMesh mesh({64, 16, 64});
  EXPECT_EQ(mesh.size(), 65536);
  EXPECT_EQ(mesh.rank_at(*mesh.coord_of(54321)), 54321);
  EXPECT_FALSE(mesh.contains(65536));
}

TEST(ProcessMesh, PrintsNamesAndUnusualRanks) {
  EXPECT_EQ(ProcessMesh({2, 4}, {"dp", "tp"}).to_string(), "mesh(dp=2,tp=4)");
  EXPECT_EQ(ProcessMesh({2}, {"tp"}, {2, 3}).to_string(), "mesh(tp=2; ranks 2,3)");
}

TEST(ProcessMesh, BadMeshesAreNamed) {
  EXPECT_THAT([] { ProcessMesh(std::vector<int64_t>{}); },
              ThrowsError(ErrorCode::kInvalidArgument, "1 to 6 mesh dims"));
  EXPECT_THAT(
      [] {
        ProcessMesh({2, 0});
      },
      ThrowsError(ErrorCode::kInvalidArgument, "mesh dim 1 has size 0"));
  EXPECT_THAT(
      [] {
        ProcessMesh({2, 2}, {"a"});
      },
      ThrowsError(ErrorCode::kInvalidArgument, "1 names"));
  EXPECT_THAT(
      [] {
        ProcessMesh({2, 2}, {"a", "a"});
      },
      ThrowsError(ErrorCode::kInvalidArgument, "twice"));
  EXPECT_THAT(
      [] {
        ProcessMesh({2}, {"a"}, {0, 0});
      },
      ThrowsError(ErrorCode::kInvalidArgument, "distinct"));
  EXPECT_THAT([] { ProcessMesh({2}, {"a"}, {0}); },
              ThrowsError(ErrorCode::kInvalidArgument, "given 1 ranks"));
  EXPECT_THAT([] { (void)ProcessMesh({2}, {"a"}).dim_of("tp"); },
              ThrowsError(ErrorCode::kNotFound, "no mesh dim 'tp'; it has a"));
  EXPECT_THAT([] { (void)ProcessMesh({2}, {"a"}).sub_ranks(2, 0); },
              ThrowsError(ErrorCode::kInvalidArgument, "rank 2 is not in mesh(a=2)"));
  EXPECT_THAT([] { (void)ProcessMesh({2}, {"a"}).slice(0, 2); },
              ThrowsError(ErrorCode::kOutOfRange, "mesh(a=2) has no slice 2 of mesh dim 0"));
}

}  // namespace
}  // namespace phi::distributed
