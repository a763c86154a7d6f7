// The emulator's version of the CUDA toolkit's header, with which g++ compiles sources that nvcc
// compiles for a GPU. Types and signatures are the toolkit's. Keywords, built-in variables, device
// functions and launches are implemented here. What neither this header nor the library defines
// does not compile or link.
#pragma once

// The toolkit's version of this template passes arguments without their types; launch.h defines
// ours.
#define cudaLaunchKernelEx cuda_on_cpu_replaced_launch
#include_next <cuda_runtime.h>
#undef cudaLaunchKernelEx

#include "cuda_on_cpu/arithmetic.h"
#include "cuda_on_cpu/atomics.h"
#include "cuda_on_cpu/keywords.h"
#include "cuda_on_cpu/launch.h"
#include "cuda_on_cpu/threads.h"
