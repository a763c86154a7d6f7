// CUDA's keywords for g++. Only one block runs at a time in the process, so its shared memory is a
// static variable, which sanitizers check like any other. `extern __shared__` does not compile,
// because dynamic shared memory is not supported.
#pragma once

#include <memory>  // has an attribute of the name __noinline__, so it comes before the macro

#undef __global__
#undef __device__
#undef __host__
#undef __constant__
#undef __shared__
#undef __launch_bounds__
#undef __grid_constant__
#define __global__
#define __device__
#define __host__
#define __constant__
#define __shared__ static
#define __launch_bounds__(...)
#define __grid_constant__
#ifndef __noinline__
#define __noinline__ __attribute__((noinline))
#endif
