// Errors: their code, their text, and the op in front.
#include "phi/common/errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"

namespace phi {
namespace {

TEST(Errors, CarryCodeAndFormattedText) {
  const Error error = errors::OutOfRange("axis is {}, not in [{}, {}).", 3, 0, 2);
  EXPECT_EQ(error.code(), ErrorCode::kOutOfRange);
  EXPECT_STREQ(error.what(), "axis is 3, not in [0, 2).");
  EXPECT_EQ(name_of(error.code()), "OutOfRange");
}

TEST(Errors, TheInnermostOpIsNamedInFront) {
  const OpScope outer("layer_norm");
  {
    const OpScope inner("matmul");
    EXPECT_STREQ(errors::Internal("broken.").what(), "[matmul] broken.");
  }
  EXPECT_STREQ(errors::Internal("broken.").what(), "[layer_norm] broken.");
}

TEST(Errors, NotesAreFurtherLines) {
  Error error = errors::Unavailable("no answer.");
  error.note("at rank 3 of 8").note("in group dp");
  EXPECT_STREQ(error.what(), "no answer.\n  at rank 3 of 8\n  in group dp");
}

TEST(Errors, ObeyNoNamesFromFiles) {
  Error error = errors::NotFound("no '{}'.", "\x1b[2Jw\r\x7f\xc2\x9b\u00e9\t");
  error.note("in '\b'");
  EXPECT_STREQ(error.what(), "no '\\x1b[2Jw\\x0d\\x7f\\x9b\u00e9\t'.\n  in '\\x08'");
}

TEST(PhiCheck, EvaluatesItsErrorOnlyOnFailure) {
  int evaluated = 0;
  const auto error = [&] {
    ++evaluated;
    return errors::InvalidArgument("x is 1.");
  };
  PHI_CHECK(true, error());
  EXPECT_EQ(evaluated, 0);
  EXPECT_THAT([&] { PHI_CHECK(false, error()); },
              ThrowsError(ErrorCode::kInvalidArgument, "x is 1."));
  EXPECT_EQ(evaluated, 1);
}

}  // namespace
}  // namespace phi
