// Limits of every emulated GPU: those of compute capability 9.0.
#pragma once

#include <cstddef>

namespace cuda_on_cpu {

inline constexpr unsigned kMaxGridX = 2147483647;
inline constexpr unsigned kMaxGridYZ = 65535;
inline constexpr unsigned kMaxBlockXY = 1024;
inline constexpr unsigned kMaxBlockZ = 64;
inline constexpr int kMaxThreadsPerMultiprocessor = 2048;
inline constexpr int kMaxBlocksPerMultiprocessor = 32;
inline constexpr int kRegisters = 65536;
inline constexpr size_t kSharedPerBlock = size_t{48} << 10;
inline constexpr size_t kSharedPerBlockOptin = size_t{227} << 10;
inline constexpr size_t kSharedPerMultiprocessor = size_t{228} << 10;

}  // namespace cuda_on_cpu
