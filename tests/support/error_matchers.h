// EXPECT_THAT(callable, ThrowsError(code, "part of the message")).
#pragma once

#include <gmock/gmock.h>

#include <string>

#include "phi/common/errors.h"

namespace phi {

inline auto ThrowsError(ErrorCode code, const std::string& text) {
  return ::testing::Throws<Error>(
      ::testing::AllOf(::testing::Property("code", &Error::code, code),
                       ::testing::Property("what", &Error::what, ::testing::HasSubstr(text))));
}

}  // namespace phi
