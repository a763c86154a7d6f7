// Paddle operators that models use and this library does not have.
#pragma once

#include <span>

namespace phi::op_tool {

struct MissingOperator {
  const char* op;
  const char* why;
};

std::span<const MissingOperator> missing_operators();

}  // namespace phi::op_tool
