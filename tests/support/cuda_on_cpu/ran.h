// Collects the kernels that programs run, for a test that checks their coverage.
#pragma once

namespace cuda_on_cpu {

/// Appends the kernel's demangled name as a line to the file that AUTOPHI_CUDA_RAN names. A name
/// that the file already contains is not written again, so one file serves many processes and runs.
void note_run(const void* kernel);

}  // namespace cuda_on_cpu
