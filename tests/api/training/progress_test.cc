// Lines and the bar of progress.
#include "api/training/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace phi::training {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Progress, TimesAreWrittenForPeople) { EXPECT_EQ(clock_text(311), "0:05:11"); }

std::string progress_text(Progress::Style style, int64_t steps, int64_t tokens = 100) {
  std::string out;
  Progress progress(style, steps, tokens, [&](const std::string& text) { out += text; });
  for (int64_t step = 1; step <= steps; ++step) progress.done(step, 2.5);
  return out;
}

TEST(Progress, WritesPlainLinesToALog) {
  const std::string text = progress_text(Progress::Style::kLines, 4);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
  EXPECT_THAT(text, HasSubstr("step 4/4  loss 2.5000"));
  EXPECT_EQ(text.find('\r'), std::string::npos);
  const std::string lines = progress_text(Progress::Style::kLines, 1000);
  EXPECT_LE(std::count(lines.begin(), lines.end(), '\n'), 52);
}

TEST(Progress, DrawsOneLineOverItselfOnATerminal) {
  const std::string text = progress_text(Progress::Style::kBar, 4);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\r'), 4);
  EXPECT_EQ(progress_text(Progress::Style::kSilent, 4), "");
}

TEST(Progress, TokensAreLeftOutWhereThereAreNone) {
  EXPECT_THAT(progress_text(Progress::Style::kLines, 2), HasSubstr(" tok/s"));
  EXPECT_THAT(progress_text(Progress::Style::kLines, 2, 0), Not(HasSubstr("tok/s")));
}

TEST(Progress, CountsWhatItIsTold) {
  std::string text;
  Progress progress(
      Progress::Style::kLines, 1, 8, [&](const std::string& line) { text += line; }, "img");
  progress.done(1, 0.5);
  EXPECT_THAT(text, HasSubstr(" img/s"));
}

TEST(Progress, AnOutputThatIsNoTerminalGetsLines) {
  EXPECT_EQ(Progress::of_terminal(false), Progress::Style::kLines);
}

}  // namespace
}  // namespace phi::training
