// In which orders a GPU runs the warps and blocks of tests' kernels: the emulator's are told, a
// real one has its own. Each is linked with one of the two definitions.
#pragma once

#include <functional>

namespace phi::testing {

/// Calls run() once in each order, while it gives true; on a real GPU, twice.
void in_each_order(const std::function<bool()>& run);

bool is_real_gpu();

}  // namespace phi::testing
