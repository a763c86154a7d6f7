// The schedule command: its figures, and its errors.
#include "tools/schedule_command.h"

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
  words.insert(words.begin(), "schedule");
  return phi::testing::run_command(schedule_command, std::move(words));
}

TEST(ScheduleCommand, PrintsTheFiguresOfTheTable) {
  const Result r = run({"--kind=zb_h1", "--stages=8", "--micro_batches=24", "--forward=18.522",
                        "--backward=18.086", "--weight=9.337", "--comm=0.601"});
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("zb_h1: 8 stages, 24 micro-batches\n"));
  EXPECT_THAT(r.out, HasSubstr("\nbubble_rate: 0.1585\n"));
  EXPECT_THAT(r.out, HasSubstr("\nideal: 1102.68\n"));
  EXPECT_THAT(r.out, HasSubstr("\npeak_micro_batches: 8 7 6 5 4 3 2 1\n"));
  EXPECT_THAT(r.out, HasSubstr("\npeak_with_weight: 8 8 8 8 8 8 8 8\n"));
}

TEST(ScheduleCommand, EveryKindIsDrawn) {
  for (const std::string kind : {"gpipe", "1f1b", "interleaved", "zb_h1", "zb_h2"}) {
    const Result r = run({"--kind=" + kind, "--stages=2", "--micro_batches=4"});
    EXPECT_EQ(r.status, 0) << r.err;
    EXPECT_THAT(r.out, HasSubstr(kind + ": 2 stages, 4 micro-batches\nstage 0 |F0"));
    EXPECT_THAT(r.out, HasSubstr("\nideal: 12\n"));
    EXPECT_EQ(r.out.find("peak_with_weight") != std::string::npos, kind.starts_with("zb"));
  }
}

TEST(ScheduleCommand, TimesAreThoseOfAStageWhateverItsChunks) {
  const Result r = run({"--kind=interleaved", "--stages=4", "--micro_batches=8", "--chunks=2"});
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("interleaved: 4 stages, 8 micro-batches, 2 chunks per stage\n"));
  // (p - 1) / (v m) of the ideal time.
  EXPECT_THAT(r.out, HasSubstr("cost: 28.5\nideal: 24\nbubble_rate: 0.1579\n"));
  EXPECT_THAT(r.out, HasSubstr("peak_micro_batches: 5.5 4.5 3.5 2.5\n"));
}

TEST(ScheduleCommand, HelpSaysWhatTheFiguresMean) {
  const Result r = run({"--help"});
  EXPECT_EQ(r.status, 0);
  EXPECT_THAT(r.out, HasSubstr("bubble_rate         (cost - ideal) / cost"));
}

TEST(ScheduleCommand, ErrorsSayWhatToWrite) {
  const std::vector<std::string> small = {"--kind=1f1b", "--stages=2", "--micro_batches=2"};
  const struct {
    std::vector<std::string> words;
    const char* message;
    bool complete = false;  // the words are all there are; else `small` goes before them
  } rows[] = {
      {{}, "--kind is missing; pass --kind=1f1b", true},
      {{"--kind=1f1b"}, "--stages is missing; pass --stages=8.", true},
      {{"--kind=1f1b", "--stages=2"}, "--micro_batches is missing; pass --micro_batches=8.", true},
      {{"--kind=zbh1"}, "there is no pipeline schedule 'zbh1', did you mean 'zb_h1'?"},
      {{"--stages=0"}, "--stages=0 must be at least 1."},
      {{"--micro_batches=-3"}, "--micro_batches=-3 must be at least 1."},
      {{"--chunks=0"}, "--chunks=0 must be at least 1."},
      {{"--chunks=2"}, "1f1b runs 1 model chunk per stage, got chunks = 2; use interleaved"},
      {{"--stages=two"}, "--stages expects a value of type int32, got 'two'."},
      {{"--stages=99999999999"}, "--stages expects a value of type int32"},
      {{"--stages=2000000", "--micro_batches=2000000"}, "use fewer micro-batches"},
      {{"--forward=2"}, "--backward is missing; pass all of --forward, --backward and --weight"},
      {{"--forward=2", "--backward=2"}, "--weight is missing"},
      {{"--forward=nan", "--backward=1", "--weight=1"}, "--forward=nan must be a finite time"},
      {{"--forward=1", "--backward=inf", "--weight=1"}, "--backward=inf must be a finite time"},
      {{"--forward=1", "--backward=1", "--weight=-2"}, "--weight=-2 must be a finite time"},
      {{"--comm=-1"}, "--comm=-1 must be a finite time, 0 or more."},
      {{"--forward=0", "--backward=0", "--weight=0"}, "are all 0; one must be more."},
      {{"--micro_batch=3"}, "did you mean 'micro_batches'"},
      {{"more"}, "the argument 'more' is unknown; see autophi schedule --help."},
  };
  for (const auto& row : rows) {
    std::vector<std::string> words = row.complete ? std::vector<std::string>{} : small;
    words.insert(words.end(), row.words.begin(), row.words.end());
    const Result r = run(words);
    EXPECT_EQ(r.status, 2) << r.err;
    EXPECT_THAT(r.err, HasSubstr(row.message));
    EXPECT_EQ(r.out, "");
  }
}

TEST(ScheduleCommand, AFileThatCannotBeWrittenIsNamed) {
  const Result r =
      run({"--kind=1f1b", "--stages=2", "--micro_batches=2", "--svg=/nonexistent/a.svg"});
  EXPECT_EQ(r.status, 1);
  EXPECT_THAT(r.err, HasSubstr("cannot write the picture '/nonexistent/a.svg': No such file"));
  EXPECT_EQ(r.out, "");
}

}  // namespace
