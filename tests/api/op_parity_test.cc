// For every op and every placement of its inputs the distributed result is the single-process one:
// on even and uneven 1-D meshes (every choice), on 2-D meshes (drawn by --seed), with ranks
// outside.
#include <gflags/gflags.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "tests/api/op_cases.h"

DEFINE_uint32(seed, 20261121, "draws the placements on 2-D meshes");

namespace phi::testing {
namespace {

void run(const std::vector<ParityCase>& cases) { expect_parity_everywhere(cases, FLAGS_seed); }

TEST(OpParity, TheComparisonCanFail) {
  EXPECT_NONFATAL_FAILURE(expect_same_values(full({2}, 1.0f), full({2}, 1.001f), 1e-5),
                          "element 0");
  EXPECT_NONFATAL_FAILURE(expect_same_values(full({2}, NAN), full({2}, 1.0f), 1e-5), "is nan");
  EXPECT_NONFATAL_FAILURE(expect_same_values(full({2}, 1.0f), full({2}, NAN), 1e-5), "is 1");
  EXPECT_NONFATAL_FAILURE(expect_same_values(full({2}, INFINITY), full({2}, -INFINITY), 1e-5),
                          "is inf");
  expect_same_values(full({2}, NAN), full({2}, NAN), 0);
}
TEST(OpParity, Elementwise) { run(elementwise_cases()); }
TEST(OpParity, Reductions) { run(reduction_cases()); }
TEST(OpParity, Products) { run(product_cases()); }
TEST(OpParity, NormAndLoss) { run(norm_and_loss_cases()); }
TEST(OpParity, Lookup) { run(lookup_cases()); }
TEST(OpParity, Shape) { run(shape_cases()); }

void run_rare(const std::vector<ParityCase>& cases) {
  expect_parity_everywhere(cases, FLAGS_seed, kFewPlacements);
}

TEST(OpParity, RareElementwise) { run_rare(rare_elementwise_cases()); }
TEST(OpParity, RareReductions) { run_rare(rare_reduction_cases()); }
TEST(OpParity, RareProducts) { run_rare(rare_product_cases()); }
TEST(OpParity, RareNormAndLoss) { run_rare(rare_norm_and_loss_cases()); }
TEST(OpParity, RareLookup) { run_rare(rare_lookup_cases()); }
TEST(OpParity, RareShape) { run_rare(rare_shape_cases()); }
TEST(OpParity, RareNumbers) { run_rare(rare_number_cases()); }

}  // namespace
}  // namespace phi::testing

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  return RUN_ALL_TESTS();
}
