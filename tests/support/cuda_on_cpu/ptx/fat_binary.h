// Extracts the PTX that nvcc put into a program or library.
#pragma once

#include <string>
#include <vector>

namespace cuda_on_cpu::ptx {

/// The PTX texts in a file's section .nv_fatbin, one per compiled source. Fails if the file cannot
/// be read or has an unknown compression.
std::vector<std::string> read_ptx(const std::string& file);

}  // namespace cuda_on_cpu::ptx
