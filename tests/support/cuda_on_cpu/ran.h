// Which kernels programs run, for a test that looks whether all are.
#pragma once

namespace cuda_on_cpu {

/// Adds the kernel's name, demangled, to the file that AUTOPHI_CUDA_RAN names, a line each. What
/// stands there already is not written again, so that a file serves a test of many processes and
/// runs.
void note_run(const void* kernel);

}  // namespace cuda_on_cpu
