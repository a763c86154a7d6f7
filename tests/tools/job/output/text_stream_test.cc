// Characters appear when they are complete; what is not text appears as U+FFFD.
#include "tools/job/output/text_stream.h"

#include <gtest/gtest.h>

#include <vector>

namespace phi::job {
namespace {

const std::string kBad = "\uFFFD";

TEST(TextStream, GivesACharacterWithItsLastByte) {
  TextStream stream;
  std::vector<std::string> given;
  for (char byte : std::string("aä€\U0001F600\n")) {
    given.push_back(stream.add(static_cast<uint8_t>(byte)));
  }
  EXPECT_EQ(given,
            (std::vector<std::string>{"a", "", "ä", "", "", "€", "", "", "", "\U0001F600", "\n"}));
  EXPECT_EQ(stream.end(), "");
}

struct Case {
  std::string bytes;
  std::string expected;
};

TEST(TextStream, WhatATerminalShouldNotGetIsReplaced) {
  const Case cases[] = {
      {"tab\tends\r\n", "tab\tends\r\n"},
      {"\x1b[2J", kBad + "[2J"},
      {std::string("\0\x07\x7f", 3), kBad + kBad + kBad},
      {"\u009b1m", kBad + "1m"},                        // C1: the other way to write ESC [
      {"\u00a0", "\u00a0"},                             // the first behind them
      {"a\x80z", "a" + kBad + "z"},                     // goes on with nothing
      {"\xc3(", kBad + "("},                            // breaks off
      {"\xe2\x82", kBad},                               // ends early
      {"\xe2\x82\xc3\xa4", kBad + "ä"},                 // breaks off for another
      {"\xc0\xaf", kBad + kBad},                        // overlong
      {"\xe0\x80\xaf", kBad + kBad + kBad},             // overlong
      {"\xed\xa0\x80", kBad + kBad + kBad},             // a surrogate
      {"\xf4\x90\x80\x80", kBad + kBad + kBad + kBad},  // beyond U+10FFFF
      {"\xf4\x8f\xbf\xbf", "\U0010FFFF"},
      {"\xff", kBad},
  };
  for (const Case& c : cases) EXPECT_EQ(shown(c.bytes), c.expected) << &c - cases;
}

}  // namespace
}  // namespace phi::job
