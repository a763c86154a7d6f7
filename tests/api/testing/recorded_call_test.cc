// Recorded calls that were refused, run on two ranks of which one refuses.
#include "api/testing/recorded_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/call/named_call.h"
#include "distributed/comm/world.h"

namespace phi::testing {
namespace {

using distributed::World;
using ::testing::HasSubstr;

Tensor refuse() { throw errors::InvalidArgument("x is wrong."); }

// Two functions of x that rank 1 refuses. Rank 0 answers in the one, and waits for it in the other.
TensorList answer(CallArgs& args) {
  return {World::current().rank() == 1 ? refuse() : args.tensor(0)};
}
TensorList wait_for_all(CallArgs& args) {
  World& world = World::current();
  if (world.rank() == 1) refuse();
  world.set_deadline(World::Milliseconds(50));
  world.everyone().barrier();
  return {args.tensor(0)};
}
constexpr NamedCall kFunctions[] = {{"answers_alone", answer}, {"waits_for_all", wait_for_all}};

std::string wrong_of_refused(const std::string& function) {
  RecordedCall call;
  call.op = function;
  call.in = {{"x", {{Tensor::from<float>({1, 2}, {2})}}}};
  call.refused = RecordedCall::Refused::kCall;
  const CallNames names{
      .tensors = {"x"}, .attributes = {}, .outputs = {"out"}, .is_operator = false};
  const distributed::ProcessMesh pair({2}, {"x"});
  return compare_distributed_run(call, names, {.mesh = pair, .placements = 1});
}

TEST(RecordedRefusals, OneRankMayRefuseForAll) {
  static const bool added = (add_calls(kFunctions), true);
  ASSERT_TRUE(added);
  EXPECT_EQ(wrong_of_refused("answers_alone"), "");
  EXPECT_THAT(wrong_of_refused("waits_for_all"), HasSubstr("has left the job without barrier"))
      << "a rank that is left waiting is no refusal";
}

}  // namespace
}  // namespace phi::testing
