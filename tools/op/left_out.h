// Operators of Paddle's that models use and this library has not.
#pragma once

#include <span>

namespace phi::op_tool {

struct LeftOut {
  const char* op;
  const char* why;
};

std::span<const LeftOut> left_out();

}  // namespace phi::op_tool
