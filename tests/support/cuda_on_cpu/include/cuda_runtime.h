// The twin of the toolkit's header: what g++ needs to compile the sources that nvcc compiles for a
// GPU. Types and signatures are the toolkit's own; keywords, built-in variables, device functions
// and the launch are ours. What is neither here nor in the library does not compile or link.
#pragma once

// Its own form of this template passes arguments without their types; launch.h has ours.
#define cudaLaunchKernelEx cuda_on_cpu_replaced_launch
#include_next <cuda_runtime.h>
#undef cudaLaunchKernelEx

#include "cuda_on_cpu/arithmetic.h"
#include "cuda_on_cpu/atomics.h"
#include "cuda_on_cpu/keywords.h"
#include "cuda_on_cpu/launch.h"
#include "cuda_on_cpu/threads.h"
