// The PTX that nvcc has put into a program or library.
#pragma once

#include <string>
#include <vector>

namespace cuda_on_cpu::ptx {

/// The texts in a file's section .nv_fatbin, one for each source that was compiled. Fails where the
/// file cannot be read, or is packed in a way that is not known.
std::vector<std::string> read_ptx(const std::string& file);

}  // namespace cuda_on_cpu::ptx
