// What is said of a random program that fails: a smaller one that fails alike, as a test.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "failure.h"
#include "program.h"

namespace phi::testing::programs {

/// How cases are compared, and what a printed test says for it ("expect_agreement").
struct Comparison {
  const char* assertion;
  std::function<std::optional<Failure>(const Case&)> disagreement;
};

/// The program of the seed fails so; the text of a test with as little of it as fails alike.
std::string smaller_program(const RandomProgram& program, uint32_t seed, const Failure& failure,
                            const Comparison& comparison);

}  // namespace phi::testing::programs
