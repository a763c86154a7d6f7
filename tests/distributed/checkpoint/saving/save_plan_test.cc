// Plans: every element once, by a rank that holds it, and the work shared.
#include "distributed/checkpoint/saving/save_plan.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "distributed/checkpoint/format/index.h"

namespace phi::distributed::checkpoint {
namespace {

std::map<int64_t, int64_t> bytes_by_writer(const std::vector<TensorLayout>& tensors,
                                           int64_t world_size) {
  std::map<int64_t, int64_t> bytes;
  for (const PlannedPiece& piece : plan_save(tensors, world_size)) {
    bytes[piece.writer] +=
        piece.box.numel() * static_cast<int64_t>(size_of(tensors[piece.tensor].meta.dtype));
  }
  return bytes;
}

TEST(PlanSave, EachShardOnceByAHolder) {
  const std::vector<ProcessMesh> meshes = {ProcessMesh({1}),
                                           ProcessMesh({8}),
                                           ProcessMesh({2, 3}),
                                           ProcessMesh({2, 2, 2}),
                                           ProcessMesh({2, 2}, {}, {7, 1, 4, 2}),
                                           ProcessMesh({3}, {}, {5, 6, 7})};
  const std::vector<Placement> choices = {Replicate(), Shard(0), Shard(1)};
  const std::vector<Dims> shapes = {{5, 7}, {1, 2}, {8, 8}, {0, 3}, {3, 1}};
  for (const ProcessMesh& mesh : meshes) {
    for (int list = 0; list < 27; ++list) {
      std::vector<Placement> placements;
      for (int m = 0, left = list; m < mesh.ndim(); ++m, left /= 3) {
        placements.push_back(choices[left % 3]);
      }
      const auto* attr = TensorDistAttr::get(mesh, placements);
      for (const Dims& shape : shapes) {
        SCOPED_TRACE(describe(shape, *attr));
        const std::vector<TensorLayout> tensors = {{{shape, DataType::FLOAT32}, attr}};
        std::vector<Box> boxes;
        for (const PlannedPiece& piece : plan_save(tensors, 8)) {
          boxes.push_back(piece.box);
          const auto coord = mesh.coord_of(piece.writer);
          ASSERT_TRUE(coord.has_value());
          if (shape.numel() > 0) {
            EXPECT_EQ(local_box(shape, *attr, *coord), piece.box);
          }
        }
        EXPECT_TRUE(is_grid(shape, boxes));
      }
    }
  }
}

TEST(PlanSave, ReplicasShareTheWork) {
  const auto* attr = TensorDistAttr::get(ProcessMesh({4, 2}), {Replicate(), Shard(0)});
  const std::vector<TensorLayout> tensors(12, {{Dims{8, 8}, DataType::FLOAT32}, attr});
  const auto bytes = bytes_by_writer(tensors, 8);
  ASSERT_EQ(bytes.size(), 8u);
  for (const auto& [writer, n] : bytes) EXPECT_EQ(n, 12 * 256 / 8) << "rank " << writer;
}

TEST(PlanSave, LargeTensorsDoNotPileUp) {
  const auto* attr = TensorDistAttr::replicated(ProcessMesh({3}));
  std::vector<TensorLayout> tensors;
  for (int64_t n : {1, 9, 1, 10, 1, 11, 1, 1})
    tensors.push_back({{Dims{n}, DataType::UINT8}, attr});
  for (const auto& [writer, n] : bytes_by_writer(tensors, 3)) EXPECT_LE(n, 12) << "rank " << writer;
}

TEST(PlanSave, PiecesAreInOrder) {
  const auto* attr = TensorDistAttr::get(ProcessMesh({2, 2}), {Shard(1), Shard(0)});
  const std::vector<TensorLayout> tensors(2, {{Dims{4, 4}, DataType::UINT8}, attr});
  const auto plan = plan_save(tensors, 4);
  ASSERT_EQ(plan.size(), 8u);
  for (size_t i = 0; i < 8; ++i) EXPECT_EQ(plan[i].tensor, i / 4);
  EXPECT_EQ(plan[1].box.to_string(), "[0:2,2:4]");
  EXPECT_EQ(plan[2].box.to_string(), "[2:4,0:2]");
}

}  // namespace
}  // namespace phi::distributed::checkpoint
