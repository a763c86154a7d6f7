// Paddle operators that models use and this library does not have.
#pragma once

#include <span>

namespace phi::op_tool {

struct LeftOut {
  const char* op;
  const char* why;
};

std::span<const LeftOut> left_out();

}  // namespace phi::op_tool
