// The show command: what it prints, and its errors. Pictures are picture_test's.
#include "tools/show_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/run_command.h"

namespace {

using ::testing::HasSubstr;

using Result = phi::testing::Printed;

Result run(std::vector<std::string> words) {
  words.insert(words.begin(), "show");
  return phi::testing::run_command(show_command, std::move(words));
}

TEST(ShowCommand, DrawsATensorInTheSpellingOfReshard) {
  for (const char* placements :
       {"--placements=[S0,P(sum)]", "--placements=S0,P", "--placements=[0,_,p1]"}) {
    const Result r = run({"--shape=6x4", "--mesh=2x2", placements});
    EXPECT_EQ(r.status, 0) << r.err;
    EXPECT_THAT(r.out, HasSubstr("tensor [6,4] [S0,P(sum)] on mesh(d0=2,d1=2)"));
    EXPECT_THAT(r.out, HasSubstr("0+1"));
  }
}

TEST(ShowCommand, NamesRanksOutsideTheMesh) {
  const Result r = run({"--shape=5", "--mesh=tp=2", "--ranks=2,4", "--placements=S0"});
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("ranks 0,1,3: outside the mesh, no elements"));
}

TEST(ShowCommand, ErrorsSayWhatToWrite) {
  const struct {
    std::vector<std::string> words;
    int status;
    const char* message;
  } rows[] = {
      {{}, 2, "which mesh? Give --mesh=2x4 or --mesh=dp=2,tp=4."},
      {{"--mesh=2"}, 2, "which tensor? Give --shape=64x32"},
      {{"--mesh=2", "--shape=4"}, 2, "which placements? Give --placements="},
      {{"--mesh=2", "--shape=4", "--placements=Q"}, 2, "'Q' in --placements is no placement"},
      {{"--mesh=2", "--shape=4", "--placements=R,R"}, 2, "--placements has 2 placements"},
      {{"--mesh=2", "--shape=4", "--placements=S1"}, 1, "S1"},
      {{"--mesh=2", "--shape=4294967296x4294967296", "--placements=R"}, 1, "is too large"},
      {{"--mesh=9223372036854775807", "--shape=4", "--placements=R"}, 1, "a mesh has at most"},
      {{"--mesh=2", "--ranks=0,9223372036854775807", "--shape=4", "--placements=R"},
       2,
       "--mesh=2 has rank 9223372036854775807"},
      {{"--mesh=2", "--shape=4", "--placements=R", "more"}, 2, "'more' is not understood"},
  };
  for (const auto& row : rows) {
    const Result r = run(row.words);
    EXPECT_EQ(r.status, row.status) << row.message << "\n" << r.err;
    EXPECT_THAT(r.err, HasSubstr(row.message));
    EXPECT_EQ(r.out, "");
  }
}

TEST(ShowCommand, Help) {
  const Result r = run({"--help"});
  EXPECT_EQ(r.status, 0);
  EXPECT_THAT(r.out, HasSubstr("--placements"));
}

}  // namespace
