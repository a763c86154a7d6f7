// EXPECT_THAT(callable, ThrowsError(code, "part of the message")).
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "phi/common/errors.h"

namespace phi {

inline auto ThrowsError(ErrorCode code, const std::string& text) {
  return ::testing::Throws<Error>(
      ::testing::AllOf(::testing::Property("code", &Error::code, code),
                       ::testing::Property("what", &Error::what, ::testing::HasSubstr(text))));
}

/// For tests that compare texts: the error's words; the test fails if it is of another code.
inline std::string words_of(const Error& error, ErrorCode code = ErrorCode::kInvalidArgument) {
  EXPECT_EQ(error.code(), code) << error.what();
  return error.what();
}

}  // namespace phi
