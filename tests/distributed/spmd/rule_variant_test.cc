// Forms of the reference's rules, said in texts.
#include "tools/spmd/reference/rule_variant.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"

namespace phi::spmd_tool {
namespace {

TEST(Form, TensorsAndAttributesAreReadFromTexts) {
  const OpRule rule = rule_variant("f", {""}, "x, y?, [z]", "k: int, axes: ints, keep: bool");
  ASSERT_EQ(rule.tensors().size(), 3u);
  EXPECT_EQ(rule.tensors()[1].kind, TensorKind::kOptional);
  EXPECT_EQ(rule.tensors()[2].kind, TensorKind::kList);
  EXPECT_STREQ(rule.tensors()[2].name, "z");
  ASSERT_EQ(rule.attributes().size(), 3u);
  EXPECT_EQ(rule.attribute("axes").kind, AttributeKind::kInts);
}

TEST(Form, ATypeThatIsNoneIsAnError) {
  EXPECT_THAT(
      [] { rule_variant("f", {""}, "x", "k: number of things"); },
      ThrowsError(ErrorCode::kInvalidArgument, "'k: number of things' is no type of attribute."));
}

}  // namespace
}  // namespace phi::spmd_tool
