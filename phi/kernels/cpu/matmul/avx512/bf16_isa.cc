// Detects the bfloat16 instructions of this machine. Compiled for any x86-64, unlike bf16_tiles.cc.
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "phi/kernels/cpu/matmul/bf16_tiles.h"
#include "phi/kernels/cpu/matmul/gemm.h"

namespace phi::bf16_tiles {
namespace {

// Linux provides the 8 KiB of AMX tile state only on request (arch_prctl(2), since 5.16).
bool may_use_tiles() {
  constexpr long kRequestState = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;          // XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestState, kTileData) == 0;
}

bool has_amx() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  constexpr unsigned kAmxBf16 = 1U << 22, kAmxTile = 1U << 24;
  return (d & kAmxBf16) && (d & kAmxTile) && may_use_tiles();
}

GemmIsa find_best() {
  if (!__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512vl") ||
      !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512bf16"))
    return GemmIsa::kWiden;
  if (has_amx()) return GemmIsa::kAmx;
  // Intel's cores start one VDPBF16PS every other cycle: half the rate of float32.
  return __builtin_cpu_is("amd") ? GemmIsa::kAvx512Bf16 : GemmIsa::kWiden;
}

}  // namespace

GemmIsa best_isa() {
  static const GemmIsa best = find_best();
  return best;
}

}  // namespace phi::bf16_tiles
