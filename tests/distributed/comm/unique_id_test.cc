// How members of a group come to one unique id, on every backend of the host.
#include "distributed/comm/nccl/unique_id.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/rank_launcher.h"

namespace phi::distributed {
namespace {

UniqueId id_of(int64_t maker) {
  UniqueId id;
  for (size_t i = 0; i < id.size(); ++i) id[i] = static_cast<std::byte>(7 * maker + int64_t(i));
  return id;
}

TEST(UniqueIds, AreTheFirstMembersOnes) {
  testing::on_all_world_sizes([](World& world) {
    int made = 0;
    const auto make = [&] {
      ++made;
      return id_of(world.rank());
    };
    EXPECT_EQ(share_unique_id(world.everyone(), make), id_of(0));
    EXPECT_EQ(made, world.rank() == 0 ? 1 : 0);
  });
}

TEST(UniqueIds, OfSeveralGroupsAreApart) {
  testing::on_all_world_sizes([](World& world) {
    std::vector<int64_t> backwards(world.everyone().ranks().rbegin(),
                                   world.everyone().ranks().rend());
    const auto make = [&] { return id_of(world.rank()); };
    const UniqueId one = share_unique_id(world.everyone(), make);
    const UniqueId other = share_unique_id(world.group(backwards), make);
    EXPECT_EQ(one, id_of(0));
    EXPECT_EQ(other, id_of(world.size() - 1));
  });
}

// Who is not in the group neither makes one nor waits.
TEST(UniqueIds, ConcernMembersAlone) {
  testing::on_all_world_sizes([](World& world) {
    const int64_t last = world.size() - 1;
    const int64_t alone[] = {last};
    if (world.rank() != last) return;
    EXPECT_EQ(share_unique_id(world.group(alone), [&] { return id_of(last); }), id_of(last));
  });
}

}  // namespace
}  // namespace phi::distributed
