// Random programs whose ranks compute on GPUs agree with the same programs on the CPU. A failure
// names the seed and prints a smaller program, to be pasted as a test.
#include <gflags/gflags.h>
#include <gtest/gtest.h>

#include <iostream>
#include <map>

#include "draw.h"
#include "forms.h"
#include "gpu_agreement.h"
#include "smaller.h"

DEFINE_uint32(seed, 0, "first program; a failure names the one to run alone");
constexpr uint32_t kPrograms = 700;

DEFINE_uint32(programs, kPrograms, "how many programs to run");
DEFINE_int32(gpus, 6, "how many GPUs ranks share");
DEFINE_uint32(deadline_ms, 60'000, "how long ranks may wait for each other");

namespace phi::testing::programs {
namespace {

OnGpus where() { return {FLAGS_gpus, distributed::World::Milliseconds(FLAGS_deadline_ms)}; }

// In how many statements of programs that were compared a form stands.
using Counts = std::map<const Form*, int>;

void count_forms(const std::vector<Statement>& statements, Counts* counts) {
  for (const Statement& statement : statements) {
    ++(*counts)[statement.form];
    count_forms(statement.body, counts);
  }
}

void expect_agreement_of(uint32_t seed, Counts* counts) {
  const RandomProgram program = draw_program(seed);
  const Case test = to_case(program);
  if (!operators_without_gpu_kernels(test, where()).empty()) return;
  count_forms(program.statements, counts);
  const auto found = disagreement_on_gpus(test, where());
  if (!found) return;
  ADD_FAILURE() << "--seed=" << seed << "\n" << found->to_string();
  const Comparison comparison = {"expect_agreement_on_gpus", [](const Case& smaller) {
                                   return disagreement_on_gpus(smaller, where());
                                 }};
  std::cout << "made smaller:\n\n"
            << smaller_program(program, seed, *found, comparison) << std::endl;
}

// Those of operators that may have no kernels there.
bool is_there(const Form& form) {
  const std::map<std::string_view, const char*> operators = {{"attention", "flash_attention"},
                                                             {"masked_sum", "masked_select"}};
  const auto found = operators.find(form.name);
  if (found == operators.end()) return true;
  const OpDef& op = ops::find(found->second);
  return has_gpu_kernels(op, DataType::FLOAT32) || has_gpu_kernels(op, DataType::FLOAT64);
}

TEST(RandomProgramsOnGpus, AgreeWithTheCpu) {
  Counts counts;
  for (uint32_t seed = FLAGS_seed; seed < FLAGS_seed + FLAGS_programs; ++seed) {
    expect_agreement_of(seed, &counts);
  }
  if (FLAGS_programs != kPrograms) return;
  // What is left out for a wrong reason is not tried at all, and nobody would see it.
  for (const Form& form : all_forms()) {
    if (is_there(form)) {
      EXPECT_GE(counts[&form], 5) << form.name;
    }
  }
}

}  // namespace
}  // namespace phi::testing::programs

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  return RUN_ALL_TESTS();
}
