// The code that a kernel launch runs: normally the one that g++ compiled from its source.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/cuda_on_cpu/arguments.h"
#include "support/cuda_on_cpu/symbols.h"

namespace cuda_on_cpu {

struct Code {
  std::function<void()> thread;     // runs one thread of the kernel
  std::vector<SharedArray> shared;  // shared memory of a block
};

/// Provides other code for the kernel of this name.
using CodeSource = Code (*)(const std::string& kernel, std::shared_ptr<const Arguments> arguments);
/// Installs a code source. The library of ptx/ calls it before main if it is linked. The variable
/// AUTOPHI_CUDA_PTX enables its use.
void set_code_source(CodeSource source);

Code code_of(const void* kernel, Call call, std::shared_ptr<const Arguments> arguments);

}  // namespace cuda_on_cpu
