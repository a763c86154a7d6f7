// A failing program becomes as small as what it fails of.
#include "shrink.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "draw.h"
#include "forms.h"
#include "rules.h"

namespace phi::testing::programs {
namespace {

bool has(const RandomProgram& program, const char* name) {
  return std::any_of(program.statements.begin(), program.statements.end(),
                     [&](const Statement& statement) { return statement.form == form(name); });
}

RandomProgram first_with(const std::vector<const char*>& forms) {
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    RandomProgram program = draw_program(seed);
    const bool has_all = std::all_of(forms.begin(), forms.end(),
                                     [&](const char* name) { return has(program, name); });
    if (has_all && program.statements.size() > 10) return program;
  }
  ADD_FAILURE() << "no seed has them";
  return {};
}

TEST(Shrink, LeavesTheStatementThatFails) {
  const RandomProgram program = first_with({"tanh_", "matmul"});
  const RandomProgram small =
      shrink(program, [](const RandomProgram& candidate) { return has(candidate, "tanh_"); });
  EXPECT_EQ(small.statements.size(), 1u);
  EXPECT_EQ(small.num_given(), 1);
  EXPECT_EQ(small.setting.meshes.size(), 1u);
  EXPECT_EQ(small.setting.meshes[0].size(), 1);
  EXPECT_EQ(small.setting.world, 1);
  EXPECT_TRUE(small.results.empty());
  EXPECT_LE(small.given(0).shape.numel(), 1);
}

TEST(Shrink, KeepsWhatTheFailingStatementNeeds) {
  const RandomProgram program = first_with({"gradients", "sgd"});
  const auto fails = [](const RandomProgram& candidate) {
    return has(candidate, "gradients") && has(candidate, "sgd");
  };
  const RandomProgram small = shrink(program, fails);
  EXPECT_TRUE(fails(small));
  EXPECT_EQ(refusal_of(small), "");
  EXPECT_LE(small.statements.size(), 4u);
}

TEST(Shrink, AsksOfProgramsOnly) {
  const RandomProgram program = first_with({"start", "wait", "recompute"});
  shrink(program, [](const RandomProgram& candidate) {
    EXPECT_EQ(refusal_of(candidate), "");
    return has(candidate, "wait");
  });
}

TEST(Shrink, OfAFailureThatNeedsItAllNothingGoes) {
  const RandomProgram program = draw_program(5);
  const RandomProgram same = shrink(program, [](const RandomProgram&) { return false; });
  EXPECT_EQ(same.statements, program.statements);
  EXPECT_EQ(same.results, program.results);
}

}  // namespace
}  // namespace phi::testing::programs
