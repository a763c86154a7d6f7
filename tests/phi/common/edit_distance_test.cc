// Distances between words.
#include "phi/common/edit_distance.h"

#include <gtest/gtest.h>

namespace phi {
namespace {

TEST(EditDistance, CountsInsertedRemovedAndReplacedLetters) {
  const struct {
    const char* a;
    const char* b;
    size_t distance;
  } rows[] = {
      {"", "", 0},       {"", "abc", 3},  {"abc", "abc", 0},        {"abc", "ac", 1},
      {"abc", "axc", 1}, {"ab", "ba", 2}, {"kitten", "sitting", 3}, {"intention", "execution", 5},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(edit_distance(row.a, row.b), row.distance) << row.a << " " << row.b;
    EXPECT_EQ(edit_distance(row.b, row.a), row.distance) << row.b << " " << row.a;
  }
}

}  // namespace
}  // namespace phi
