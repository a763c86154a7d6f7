// Shrinks and prints.
#include "smaller.h"

#include "print.h"
#include "shrink.h"

namespace phi::testing::programs {

std::string smaller_program(const RandomProgram& program, uint32_t seed, const Failure& failure,
                            const Comparison& comparison) {
  const auto fails_alike = [&](const RandomProgram& candidate) {
    const auto found = comparison.disagreement(to_case(candidate));
    return found && found->is_like(failure);
  };
  const RandomProgram small = shrink(program, fails_alike);
  const Failure left = comparison.disagreement(to_case(small)).value_or(failure);
  return to_test(small, fmt::format("Seed{}", seed),
                 fmt::format("--seed={}, made smaller.\n{}", seed, left.to_string()),
                 comparison.assertion);
}

}  // namespace phi::testing::programs
