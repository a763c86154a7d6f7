// Random programs agree in all ways to run them: plain, on meshes, captured, within memory limits;
// with --place=gpu, where ranks compute on GPUs, with the CPU. A failure names the seed and prints
// a smaller program, to be pasted as a test.
#include <gflags/gflags.h>
#include <gtest/gtest.h>

#include <iostream>
#include <map>

#include "agreement.h"
#include "draw.h"
#include "forms.h"
#include "gpu_agreement.h"
#include "phi/core/storage/cow_alias.h"
#include "smaller.h"

DEFINE_uint32(seed, 0, "number of the first program; a failure prints the one to run alone");
constexpr uint32_t kPrograms = 700;

DEFINE_uint32(programs, kPrograms, "number of programs to run");
DEFINE_string(place, "cpu", "place of the ranks: cpu, gpu");
DEFINE_int32(gpus, 6, "number of GPUs that ranks share, with --place=gpu");
DEFINE_string(messages, "nccl", "path of messages between ranks that each have a GPU: nccl, host");
DEFINE_bool(alias_everything, false, "alias parts of any size and offset");
DEFINE_uint32(deadline_ms, 60'000, "deadline of a rank's wait for others, in milliseconds");

namespace phi::testing::programs {
namespace {

distributed::World::Milliseconds deadline() {
  return distributed::World::Milliseconds(FLAGS_deadline_ms);
}

OnGpus on_gpus() {
  return {FLAGS_gpus, deadline(), distributed::parse_gpu_messages(FLAGS_messages)};
}

bool are_on_gpus() { return FLAGS_place == "gpu"; }

Comparison comparison() {
  if (are_on_gpus()) {
    return {"expect_agreement_on_gpus",
            [](const Case& test) { return disagreement_on_gpus(test, on_gpus()); }};
  }
  return {"expect_agreement", [](const Case& test) { return disagreement(test, deadline()); }};
}

// GPUs lack the kernels of some operators.
bool can_run(const Case& test) {
  return !are_on_gpus() || operators_without_gpu_kernels(test, on_gpus()).empty();
}

bool can_run(const Form& form) {
  static const std::map<std::string_view, const char*> operators = {
      {"attention", "flash_attention"}, {"masked_sum", "masked_select"}};
  const auto found = operators.find(form.name);
  if (!are_on_gpus() || found == operators.end()) return true;
  const OpDef& op = ops::find(found->second);
  return has_gpu_kernels(op, DataType::FLOAT32) || has_gpu_kernels(op, DataType::FLOAT64);
}

using Counts = std::map<const Form*, int>;

void count_forms(const std::vector<Statement>& statements, Counts* counts) {
  for (const Statement& statement : statements) {
    ++(*counts)[statement.form];
    count_forms(statement.body, counts);
  }
}

// What is turned down, or left out, for a wrong reason is not tried at all, and nobody would see
// it.
void expect_every_form(Counts counts, int times) {
  for (const Form& form : all_forms()) {
    if (can_run(form)) {
      EXPECT_GE(counts[&form], times) << form.name;
    }
  }
}

TEST(RandomPrograms, HaveEveryForm) {
  Counts counts;
  for (uint32_t seed = 0; seed < kPrograms; ++seed) {
    count_forms(draw_program(seed).statements, &counts);
  }
  expect_every_form(counts, 10);
}

TEST(RandomPrograms, AgreeInAllWays) {
  Counts counts;
  for (uint32_t seed = FLAGS_seed; seed < FLAGS_seed + FLAGS_programs; ++seed) {
    const RandomProgram program = draw_program(seed);
    const Case test = to_case(program);
    if (!can_run(test)) continue;
    count_forms(program.statements, &counts);
    const auto found = comparison().disagreement(test);
    if (!found) continue;
    ADD_FAILURE() << "--seed=" << seed << "\n" << found->to_string();
    std::cout << "made smaller:\n\n"
              << smaller_program(program, seed, *found, comparison()) << std::endl;
  }
  if (FLAGS_programs == kPrograms) expect_every_form(counts, 5);
}

}  // namespace
}  // namespace phi::testing::programs

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  if (FLAGS_alias_everything) phi::cow_alias::alias_everything();
  return RUN_ALL_TESTS();
}
