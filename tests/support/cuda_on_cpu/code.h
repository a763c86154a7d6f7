// What runs when a kernel is launched: as a rule what g++ has made of its source.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/cuda_on_cpu/arguments.h"
#include "support/cuda_on_cpu/symbols.h"

namespace cuda_on_cpu {

struct Code {
  std::function<void()> thread;     // one of the kernel's
  std::vector<SharedArray> shared;  // of its block
};

/// Other code for the kernel of this name.
using CodeSource = Code (*)(const std::string& kernel, std::shared_ptr<const Arguments> arguments);
/// Before main: the library of ptx/ calls it where it is linked. AUTOPHI_CUDA_PTX says that it is
/// to be asked.
void set_code_source(CodeSource source);

Code code_of(const void* kernel, Call call, std::shared_ptr<const Arguments> arguments);

}  // namespace cuda_on_cpu
