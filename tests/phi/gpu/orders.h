// Runs a test in several orders of warps and blocks. A program links one of two definitions: that
// of the emulator sets the order; that of a real GPU leaves it to the GPU.
#pragma once

#include <functional>

namespace phi::testing {

/// Calls run() once in each order until it returns false; on a real GPU, twice.
void in_each_order(const std::function<bool()>& run);

bool is_real_gpu();

}  // namespace phi::testing
