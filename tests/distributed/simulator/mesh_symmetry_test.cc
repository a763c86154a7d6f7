// Programs whose groups and calls are symmetric along some mesh dims only.
#include "distributed/simulator/mesh_symmetry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace phi::distributed::simulator {
namespace {

using testing::HasSubstr;

const ProcessMesh& mesh() {
  static const ProcessMesh mesh({2, 3, 4}, {"dp", "pp", "tp"});
  return mesh;
}

GroupCall call(std::vector<PeerTraffic> peers) {
  return {0, "exchange", CallPattern::kPointToPoint, false, 0, std::move(peers)};
}

std::vector<PeerTraffic> uniform(int64_t peers) {
  std::vector<PeerTraffic> out;
  for (int64_t i = 1; i <= peers; ++i) out.push_back({i, 1, 8, 1, 8});
  return out;
}

TEST(MeshSymmetry, UniformCallsAreSymmetric) {
  // All of dp and tp in stage 1.
  const std::vector<int64_t> group = {4, 5, 6, 7, 16, 17, 18, 19};
  const auto reasons = asymmetries_of({{call(uniform(7))}, {group}}, 5, mesh());
  EXPECT_EQ(reasons[0], "");
  EXPECT_EQ(reasons[1], "");  // no peers in other stages
  EXPECT_EQ(reasons[2], "");
}

TEST(MeshSymmetry, CallsWithSomeMembersAreNot) {
  const std::vector<int64_t> group = {4, 5, 6, 7};
  const auto reasons = asymmetries_of({{call({{1, 1, 8, 0, 0}})}, {group}}, 5, mesh());
  EXPECT_EQ(reasons[0], "");
  EXPECT_EQ(reasons[1], "");
  EXPECT_THAT(reasons[2], HasSubstr("rank 5 exchanges more with some ranks of a group along tp"));
  auto peers = uniform(3);
  peers[1].bytes_received = 4;
  EXPECT_NE(asymmetries_of({{call(peers)}, {group}}, 5, mesh())[2], "");
  peers = uniform(3);
  for (PeerTraffic& peer : peers) peer.bytes_received = 4;  // of a sender and receivers
  EXPECT_NE(asymmetries_of({{call(peers)}, {group}}, 5, mesh())[2], "");
}

TEST(MeshSymmetry, MessagesToTheSamePlaceInAnotherStageAreSymmetricAlongTheRest) {
  // Stages 0 and 1: rank 5 is at position 5, and 1 is at position 1.
  const std::vector<int64_t> group = {0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 14, 15, 16, 17, 18, 19};
  const auto reasons = asymmetries_of({{call({{12, 1, 8, 0, 0}})}, {group}}, 5, mesh());
  EXPECT_EQ(reasons[0], "");
  EXPECT_THAT(reasons[1], HasSubstr("which are no part of the mesh that has all of pp"));
  EXPECT_EQ(reasons[2], "");
}

// Each of dp and tp in stage 1 gathers a part.
RankProgram gather(const std::vector<int64_t>& bytes) {
  GroupCall gather = call({});
  gather.parts.gathers = true;
  for (const int64_t part : bytes) gather.parts.by_position.push_back({0, part});
  return {{gather}, {{4, 5, 6, 7, 16, 17, 18, 19}}};
}

TEST(MeshSymmetry, CallsByPartsAreSymmetricApartFromSizes) {
  const auto changes_of = [](const std::vector<int64_t>& bytes) {
    const RankProgram program = gather(bytes);
    EXPECT_EQ(asymmetries_of(program, 5, mesh()), (std::vector<std::string>{"", "", ""}));
    return size_changes_of(program, mesh());
  };
  EXPECT_EQ(changes_of({9, 9, 8, 8, 9, 9, 8, 8}), (SizeChanges{{2, 2}}));
  EXPECT_EQ(changes_of({9, 9, 9, 9, 8, 8, 8, 8}), (SizeChanges{{0, 1}}));
  EXPECT_EQ(changes_of({9, 9, 9, 8, 8, 8, 8, 8}), (SizeChanges{{0, 1}, {2, 3}}));
}

TEST(MeshSymmetry, GroupsThatAreNoProductAreNotSymmetric) {
  for (const std::vector<int64_t>& group :
       {std::vector<int64_t>{5, 18}, {5, 4, 6, 7}, {4, 5}, {4, 5, 6, 7, 16}}) {
    EXPECT_NE(asymmetries_of({{}, {group}}, 5, mesh())[2], "") << testing::PrintToString(group);
  }
}

TEST(MeshSymmetry, GroupsOfOtherRanksAreMoved) {
  WorldPrograms world;
  SymmetricGroups groups({{}, {{0, 1, 2, 3}, {0, 12}, {0, 4, 8}}}, 0, mesh());
  const std::vector<size_t> moved = groups.of(14, world);
  ASSERT_EQ(moved.size(), 3u);
  EXPECT_EQ(world.group(moved[0]), (std::vector<int64_t>{12, 13, 14, 15}));
  EXPECT_EQ(world.group(moved[1]), (std::vector<int64_t>{2, 14}));
  EXPECT_EQ(world.group(moved[2]), (std::vector<int64_t>{14, 18, 22}));
  EXPECT_EQ(groups.of(15, world)[0], moved[0]);
}

// The mesh with pp outside.
const ProcessMesh& reordered_mesh() {
  static const ProcessMesh mesh({3, 2, 4}, {"pp", "dp", "tp"});
  return mesh;
}

// Rank 5 is rank 9 of the reordered mesh.
std::optional<RankProgram> reordered(const GroupCall& call, const std::vector<int64_t>& group) {
  return in_reordered_mesh({{call}, {group}}, 5, mesh(), reordered_mesh());
}

TEST(ReorderedMesh, GroupsKeepTheirCoordinates) {
  const GroupCall along_tp = call({{1, 1, 8, 0, 0}});
  EXPECT_EQ(reordered(along_tp, {4, 5, 6, 7})->groups[0], (std::vector<int64_t>{8, 9, 10, 11}));
  EXPECT_EQ(reordered(along_tp, {5, 17})->groups[0], (std::vector<int64_t>{9, 13}));
  EXPECT_EQ(std::get<GroupCall>(reordered(along_tp, {5, 17})->events[0]), along_tp);
}

TEST(ReorderedMesh, MessagesKeepTheCoordinatesOfTheirPeers) {
  // Stages 0 and 1: position 5 sends to position 1, and then position 9 to position 1.
  const std::vector<int64_t> group = {0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 14, 15, 16, 17, 18, 19};
  const auto program = reordered(call({{12, 1, 8, 0, 0}}), group);
  ASSERT_TRUE(program);
  EXPECT_EQ(program->groups[0],
            (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}));
  EXPECT_EQ(std::get<GroupCall>(program->events[0]), call({{8, 1, 8, 0, 0}}));
}

TEST(ReorderedMesh, PartsKeepTheCoordinatesOfTheirMembers) {
  // Stages 0 and 1. Those of stage 1, at positions 4 to 7 and 12 to 15, have larger parts.
  const std::vector<int64_t> group = {0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 14, 15, 16, 17, 18, 19};
  GroupCall gather = call({});
  gather.parts = {std::vector<CallPart>(16, {0, 8}), true, false};
  for (const size_t i : {4, 5, 6, 7, 12, 13, 14, 15}) gather.parts.by_position[i].bytes = 9;
  const auto program = reordered(gather, group);
  ASSERT_TRUE(program);
  const CallParts& parts = std::get<GroupCall>(program->events[0]).parts;
  for (size_t i = 0; i < 16; ++i) EXPECT_EQ(parts.by_position[i].bytes, i < 8 ? 8 : 9);
  gather.pattern = CallPattern::kDirect;
  EXPECT_FALSE(reordered(gather, group));
}

TEST(ReorderedMesh, CollectivesThatDependOnTheOrderOfMembersAreRefused) {
  const std::vector<int64_t> all = mesh().ranks();
  GroupCall collective = call(uniform(23));
  collective.pattern = CallPattern::kDirect;
  EXPECT_EQ(std::get<GroupCall>(reordered(collective, all)->events[0]), collective);
  collective.peers[3].bytes_sent = 4;
  EXPECT_FALSE(reordered(collective, all));
  EXPECT_TRUE(reordered(collective, {4, 5, 6, 7}));
  EXPECT_FALSE(reordered(call(uniform(3)), {5, 4, 6, 7}));
}

}  // namespace
}  // namespace phi::distributed::simulator
