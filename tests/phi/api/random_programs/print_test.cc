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

DEFINE_bool(write, false,
            "write the golden file anew, instead of comparing; then run clang-format");

namespace phi::testing::programs {
namespace {

constexpr const char* kGolden =
    AUTOPHI_SOURCE_DIR "/tests/phi/api/random_programs/golden_program_test.cc";

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

// The first seeds that each have a form that none before has, until there are all.
std::vector<uint32_t> golden_seeds() {
  std::vector<uint32_t> seeds;
  std::set<const Form*> covered;
  for (uint32_t seed = 0; seed < 2000 && covered.size() < all_forms().size(); ++seed) {
    const size_t before = covered.size();
    std::set<const Form*> more = covered;
    add_forms(draw_program(seed).statements, &more);
    // The first ones bring many; later ones are worth their lines for one.
    const size_t worth = before * 10 < all_forms().size() * 8 ? 4 : 1;
    if (more.size() < before + worth) continue;
    covered = std::move(more);
    seeds.push_back(seed);
  }
  for (const Form& form : all_forms()) {
    EXPECT_TRUE(covered.contains(&form)) << form.name << " is never drawn";
  }
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

}  // namespace
}  // namespace phi::testing::programs

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  return RUN_ALL_TESTS();
}
