// Printed programs are C++: golden_program_test.cc is what the printer makes of some seeds, and is
// compiled and run as a test of its own. Between them these programs have every form.
#include "print.h"

#include <gflags/gflags.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "draw.h"
#include "forms.h"

DEFINE_bool(write, false, "rewrite the golden file instead of comparing; then run clang-format");

namespace phi::testing::programs {
namespace {

constexpr const char* kGolden =
    AUTOPHI_SOURCE_DIR "/tests/api/random_programs/golden_program_test.cc";

constexpr const char* kHead = R"(// Random programs as the printer prints them: made by
// random_program_print_test --write, and compared with what it prints now.
#include <gtest/gtest.h>

#include "agreement.h"
#include "site.h"

namespace phi::testing::programs {
namespace {

using distributed::Partial;
using distributed::ProcessMesh;
using distributed::ReduceKind;
using distributed::Replicate;
using distributed::Shard;

)";
constexpr const char* kTail = R"(
}  // namespace
}  // namespace phi::testing::programs
)";

void add_forms(const std::vector<Statement>& statements, std::set<const Form*>* forms) {
  for (const Statement& statement : statements) {
    forms->insert(statement.form);
    add_forms(statement.body, forms);
  }
}

std::set<const Form*> forms_of(const RandomProgram& program) {
  std::set<const Form*> forms;
  add_forms(program.statements, &forms);
  return forms;
}

// Few seeds that have all forms between them: the one with the most new ones for its length first.
std::vector<uint32_t> golden_seeds() {
  std::vector<RandomProgram> programs;
  for (uint32_t seed = 0; seed < 400; ++seed) programs.push_back(draw_program(seed));
  std::vector<uint32_t> seeds;
  std::set<const Form*> covered;
  for (bool grows = true; grows;) {
    double most = 0;
    uint32_t best = 0;
    for (uint32_t seed = 0; seed < programs.size(); ++seed) {
      std::set<const Form*> more = forms_of(programs[seed]);
      std::erase_if(more, [&](const Form* form) { return covered.contains(form); });
      const size_t length = 10 + programs[seed].statements.size();
      const double worth = static_cast<double>(more.size()) / static_cast<double>(length);
      if (worth <= most) continue;
      most = worth;
      best = seed;
    }
    grows = most > 0;
    if (!grows) continue;
    seeds.push_back(best);
    covered.merge(forms_of(programs[best]));
  }
  EXPECT_EQ(covered.size(), all_forms().size());
  return seeds;
}

std::string golden_text() {
  std::string text = kHead;
  for (const uint32_t seed : golden_seeds()) {
    text += to_test(draw_program(seed), "Seed" + std::to_string(seed), "") + "\n";
  }
  return text + kTail;
}

std::string without_spaces(std::string text) {
  std::erase_if(text, [](unsigned char c) { return std::isspace(c); });
  return text;
}

std::string golden_file() {
  std::ifstream file(kGolden);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(PrintedPrograms, AreTheGoldenTests) {
  const std::string text = golden_text();
  if (FLAGS_write) {
    std::ofstream(kGolden) << text;
    return;
  }
  EXPECT_TRUE(without_spaces(golden_file()) == without_spaces(text))
      << "the draw, the printer or a form has changed; to mend: random_program_print_test --write, "
         "then clang-format -i "
      << kGolden;
}

TEST(PrintedPrograms, ARemarkIsAComment) {
  const RandomProgram program = draw_program(0);
  EXPECT_THAT(to_test(program, "Seed0", "two\nlines"),
              ::testing::StartsWith("// two\n// lines\nTEST(RandomProgramsFound, Seed0) {\n"));
}

TEST(PrintedPrograms, SayHowTheyAreCompared) {
  const RandomProgram program = draw_program(0);
  EXPECT_THAT(to_test(program, "Seed0", ""),
              ::testing::EndsWith("\n  expect_agreement(test);\n}\n"));
  EXPECT_THAT(to_test(program, "Seed0", "", "expect_agreement_on_gpus"),
              ::testing::EndsWith("\n  expect_agreement_on_gpus(test);\n}\n"));
}

}  // namespace
}  // namespace phi::testing::programs

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  return RUN_ALL_TESTS();
}
