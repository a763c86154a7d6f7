// The pictures of schedules.
#include "distributed/pipeline/schedules/drawing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "distributed/pipeline/schedules/make_schedule.h"
#include "distributed/simulator/simulate_schedule.h"

namespace phi::distributed::pipeline {
namespace {

using simulator::simulate_schedule;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string text(const Schedule& schedule, int columns, bool colour = false) {
  const int margin = 10;  // "stage 0 |" and "|"
  return draw_text(schedule, simulate_schedule(schedule, {}), {columns + margin, colour});
}

TEST(DrawText, EveryActionStandsAtItsTime) {
  EXPECT_EQ(text(zero_bubble_h1(2, 2), 7 * 3),
            "stage 0 |F0-F1-   B0=W0~B1=W1~|\n"
            "stage 1 |   F0-B0=F1-B1=W0~W1~|\n"
            "time     0              5\n"
            "         F forward   B backward for the input   W backward for the weight   "
            "F3: of micro-batch 3\n");
}

TEST(DrawText, MicroBatchesAreLeftOutWhereTheyDoNotFit) {
  const std::string rows = text(one_forward_one_backward(1, 10), 30);
  EXPECT_THAT(rows, HasSubstr("|FB0FB1FB2FB3FB4FB5FB6FB7FB8FB9|"));
  EXPECT_THAT(text(gpipe(1, 10), 30), Not(HasSubstr("too short")));
  EXPECT_THAT(text(gpipe(1, 100), 30), HasSubstr(" of 200 actions are too short to be seen"));
}

TEST(DrawText, ChunksAreNamedWhereTheyFit) {
  const Schedule schedule = interleaved(1, 1, 2);
  EXPECT_THAT(text(schedule, 6 * 4), HasSubstr("|F0.0F0.1B0.1====B0.0====|"));
  EXPECT_THAT(text(schedule, 6 * 4), HasSubstr("F3.1: chunk 1"));
  EXPECT_THAT(text(interleaved(1, 2, 2), 24), HasSubstr("|F0F0B0.1F1B0.0F1B1.1B1.0|"));
}

TEST(DrawText, ColouredRowsHaveTheSameWidth) {
  const std::string coloured = text(zero_bubble_h1(2, 2), 21, true);
  EXPECT_THAT(coloured, HasSubstr("|\x1b[30;48;5;117mF0 \x1b[0m"));
  std::string plain;
  for (size_t i = 0; i < coloured.size(); ++i) {
    if (coloured[i] == '\x1b') {
      i = coloured.find('m', i);
    } else {
      plain += coloured[i];
    }
  }
  EXPECT_THAT(plain, HasSubstr("stage 0 |F0 F1    B0 W0 B1 W1 |\n"));
}

TEST(DrawText, AVeryNarrowTerminalGetsRowsAllTheSame) {
  EXPECT_THAT(draw_text(gpipe(1, 1), simulate_schedule(gpipe(1, 1), {}), {1, false}),
              HasSubstr("stage 0 |F0-----B0===========|\n"));
}

TEST(DrawText, ActionsThatTakeNoTimeDoNotShow) {
  const Schedule schedule = zero_bubble_h1(1, 2);
  const std::string rows = draw_text(schedule, simulate_schedule(schedule, {1, 1, 0, 0}),
                                     {.width = 30, .colour = false});
  EXPECT_THAT(rows, HasSubstr("|F0---B0===F1---B1===|"));
}

TEST(DrawSvg, HasARectangleAndATooltipPerAction) {
  const Schedule schedule = interleaved(2, 2, 2);
  const std::string svg = draw_svg(schedule, simulate_schedule(schedule, {}));
  EXPECT_THAT(svg, HasSubstr("<title>interleaved: 2 stages, 2 micro-batches, 2 chunks per stage"));
  EXPECT_THAT(svg, HasSubstr("<title>stage 1: backward of micro-batch 1, chunk 0, "));
  EXPECT_THAT(svg, HasSubstr("lighter: earlier chunks"));
}

TEST(Ticks, AreRoundNumbers) {
  EXPECT_THAT(ticks(1310, 7), ElementsAre(0, 200, 400, 600, 800, 1000, 1200));
  EXPECT_THAT(ticks(3, 3), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(ticks(0.5, 1), ElementsAre(0, 0.5));
  EXPECT_THAT(ticks(7, 1), ElementsAre(0));
  EXPECT_THAT(ticks(0, 5), ElementsAre(0));
}

TEST(Title, OneIsNoPlural) { EXPECT_EQ(title_of(gpipe(1, 1)), "gpipe: 1 stage, 1 micro-batch"); }

}  // namespace
}  // namespace phi::distributed::pipeline
