// Calls of every op, as tables that several tests go through: a new op gets a row here.
#pragma once

#include <vector>

#include "tests/phi/api/parity.h"

namespace phi::testing {

std::vector<ParityCase> elementwise_cases();
std::vector<ParityCase> reduction_cases();
std::vector<ParityCase> product_cases();
std::vector<ParityCase> norm_and_loss_cases();
std::vector<ParityCase> lookup_cases();
std::vector<ParityCase> shape_cases();

/// Runs a table on a mesh of two of four ranks, of three of three (uneven), and of 2x2 with a rank
/// outside; `seed` draws the placements where there are too many.
void expect_parity_everywhere(const std::vector<ParityCase>& cases, uint32_t seed);

}  // namespace phi::testing
