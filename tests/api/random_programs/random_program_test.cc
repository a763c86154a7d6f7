// Random programs agree in all ways to run them: plain, on meshes, captured, within memory limits.
// A failure names the seed and prints a smaller program, to be pasted as a test.
#include <gflags/gflags.h>
#include <gtest/gtest.h>

#include <iostream>
#include <map>

#include "agreement.h"
#include "draw.h"
#include "forms.h"
#include "phi/core/storage/lending.h"
#include "smaller.h"

DEFINE_uint32(seed, 0, "first program; a failure names the one to run alone");
constexpr uint32_t kPrograms = 700;

DEFINE_uint32(programs, kPrograms, "how many programs to run");
DEFINE_bool(lend_everything, false, "parts are lent however small, and wherever they begin");
DEFINE_uint32(deadline_ms, 60'000, "how long ranks may wait for each other");

namespace phi::testing::programs {
namespace {

distributed::World::Milliseconds deadline() {
  return distributed::World::Milliseconds(FLAGS_deadline_ms);
}

void count_forms(const std::vector<Statement>& statements, std::map<const Form*, int>* counts) {
  for (const Statement& statement : statements) {
    ++(*counts)[statement.form];
    count_forms(statement.body, counts);
  }
}

// What is turned down for a wrong reason is not tried at all, and nobody would see it.
TEST(RandomPrograms, HaveEveryForm) {
  std::map<const Form*, int> counts;
  for (uint32_t seed = 0; seed < kPrograms; ++seed) {
    count_forms(draw_program(seed).statements, &counts);
  }
  for (const Form& form : all_forms()) EXPECT_GE(counts[&form], 10) << form.name;
}

TEST(RandomPrograms, AgreeInAllWays) {
  const Comparison comparison = {"expect_agreement",
                                 [](const Case& test) { return disagreement(test, deadline()); }};
  for (uint32_t seed = FLAGS_seed; seed < FLAGS_seed + FLAGS_programs; ++seed) {
    const RandomProgram program = draw_program(seed);
    const auto found = disagreement(to_case(program), deadline());
    if (!found) continue;
    ADD_FAILURE() << "--seed=" << seed << "\n" << found->to_string();
    std::cout << "made smaller:\n\n"
              << smaller_program(program, seed, *found, comparison) << std::endl;
  }
}

}  // namespace
}  // namespace phi::testing::programs

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  if (FLAGS_lend_everything) phi::lending::lend_everything();
  return RUN_ALL_TESTS();
}
