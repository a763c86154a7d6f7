// A program as C++ text: a test that can be pasted behind others that include agreement.h and
// site.h.
#pragma once

#include <string>

#include "program.h"

namespace phi::testing::programs {

/// TEST(RandomProgramsFound, <name>) with the case and its function. `remark`: lines of comment
/// above it; `assertion`: what is called with the case.
std::string to_test(const RandomProgram& program, const std::string& name,
                    const std::string& remark, const char* assertion = "expect_agreement");

}  // namespace phi::testing::programs
