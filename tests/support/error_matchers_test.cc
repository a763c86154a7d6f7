// ThrowsError fails where it should, and says what happened.
#include "support/error_matchers.h"

#include <gtest/gtest-spi.h>

#include <stdexcept>

namespace phi {
namespace {

// EXPECT_NONFATAL_FAILURE takes nothing of the function around it.
const auto throw_not_found = [] { throw errors::NotFound("There are {} of them.", 3); };
const auto throw_nothing = [] {};
const auto throw_other = [] { throw std::runtime_error("a file is full"); };
const auto throw_number = [] { throw 3; };

TEST(ThrowsError, MatchesCodeAndWords) {
  EXPECT_THAT(throw_not_found, ThrowsError(ErrorCode::kNotFound, "3 of them"));
  EXPECT_THAT([] { throw_not_found(); }, ThrowsError(ErrorCode::kNotFound, ""));
  EXPECT_THAT(throw_not_found, ::testing::AnyOf(ThrowsError(ErrorCode::kInternal, "3"),
                                                ThrowsError(ErrorCode::kNotFound, "3")));
  EXPECT_THAT(throw_nothing, ::testing::Not(ThrowsError(ErrorCode::kNotFound, "")));
}

TEST(ThrowsError, FailsAndSaysWhatHappened) {
  EXPECT_NONFATAL_FAILURE(
      EXPECT_THAT(throw_not_found, ThrowsError(ErrorCode::kInternal, "3 of them")),
      "Expected: throws Internal with the text \"3 of them\"\n  Actual: throws NotFound: There are "
      "3 of them.");
  EXPECT_NONFATAL_FAILURE(EXPECT_THAT(throw_not_found, ThrowsError(ErrorCode::kNotFound, "4")),
                          "Value of: throw_not_found");
  EXPECT_NONFATAL_FAILURE(EXPECT_THAT(throw_nothing, ThrowsError(ErrorCode::kNotFound, "")),
                          "Actual: throws nothing");
  EXPECT_NONFATAL_FAILURE(EXPECT_THAT(throw_other, ThrowsError(ErrorCode::kNotFound, "")),
                          "Actual: throws something other than a phi::Error: a file is full");
  EXPECT_NONFATAL_FAILURE(EXPECT_THAT(throw_number, ThrowsError(ErrorCode::kNotFound, "")),
                          "Actual: throws something other than an exception");
}

}  // namespace
}  // namespace phi
