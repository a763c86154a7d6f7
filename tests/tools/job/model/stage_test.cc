// Stages of meshes.
#include "tools/job/model/stage.h"

#include <gtest/gtest.h>

namespace phi::job {
namespace {

TEST(StagesOf, AreTheSlicesAlongPp) {
  const distributed::ProcessMesh mesh({2, 2, 2}, {"dp", "pp", "tp"});
  const auto stages = stages_of(mesh);
  ASSERT_EQ(stages.size(), 2u);
  EXPECT_EQ(stages[1].mesh().ranks(), (std::vector<int64_t>{2, 3, 6, 7}));
  EXPECT_EQ(stages[1].mesh().dim_names(), (std::vector<std::string>{"dp", "tp"}));
  EXPECT_EQ(stages_of(distributed::ProcessMesh({1}, {"dp"})).size(), 1u);
  EXPECT_EQ(stages_of(distributed::ProcessMesh({3}, {"pp"})).size(), 3u);
}

}  // namespace
}  // namespace phi::job
