// For every op and every placement of its inputs the distributed result is the single-process one:
// on even and uneven 1-D meshes (every choice), on 2-D meshes (drawn by --seed), with ranks
// outside.
#include <gflags/gflags.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "api/generated/ops/full.h"
#include "tests/api/op_cases.h"

DECLARE_string(op);
DECLARE_string(place);
DEFINE_uint32(seed, 20261121, "seed of the drawn placements on 2-D meshes");

namespace phi::testing {
namespace {

TEST(SameValues, TheComparisonCanFail) {
  EXPECT_NONFATAL_FAILURE(expect_same_values(full({2}, 1.0f), full({2}, 1.001f), 1e-5),
                          "element 0");
  EXPECT_NONFATAL_FAILURE(expect_same_values(full({2}, NAN), full({2}, 1.0f), 1e-5), "is nan");
  EXPECT_NONFATAL_FAILURE(expect_same_values(full({2}, 1.0f), full({2}, NAN), 1e-5), "is 1");
  EXPECT_NONFATAL_FAILURE(expect_same_values(full({2}, INFINITY), full({2}, -INFINITY), 1e-5),
                          "is inf");
  expect_same_values(full({2}, NAN), full({2}, NAN), 0);
}

TEST(ChosenCases, AreThere) {
  size_t count = 0;
  for (const OpTable& table : op_tables()) count += chosen_cases(table).size();
  EXPECT_GT(count, 0u) << "no case runs the operator that --op names; give it a call in its record";
  // Fewer than ever: some have lost their kernels, and would be left out without a word.
  if (!FLAGS_op.empty()) return;
  EXPECT_GE(count, FLAGS_place == "gpu" ? 939U : 1076U);
}

class OpParity : public ::testing::TestWithParam<OpTable> {};

TEST_P(OpParity, DistributedIsTheSame) {
  expect_parity_everywhere(chosen_cases(GetParam()), FLAGS_seed);
}

TEST_P(OpParity, PlainTensorsAreTheSameOnTheDevice) {
  for (const ParityCase& test : chosen_cases(GetParam())) expect_same_on_device(test);
}

// The tables' rows have the usual dtypes, and kernels many more.
TEST_P(OpParity, PlainTensorsAreTheSameInEveryDtype) {
  if (FLAGS_place == "cpu") GTEST_SKIP() << "a device is compared with the CPU";
  for (const ParityCase& test : chosen_cases(GetParam())) expect_same_in_every_dtype(test);
}
INSTANTIATE_TEST_SUITE_P(Tables, OpParity, ::testing::ValuesIn(op_tables()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace phi::testing

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  return RUN_ALL_TESTS();
}
