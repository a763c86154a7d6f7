// Selects the instruction set of this process's loops.
#include "phi/kernels/cpu/loop_isa.h"

#include <string_view>

#include "phi/kernels/cpu/isa_from_env.h"

namespace phi {
namespace {

LoopIsa best_isa() {
#ifdef __x86_64__
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
    return LoopIsa::kBase;
  return __builtin_cpu_supports("avx512bf16") ? LoopIsa::kAvx512Bf16 : LoopIsa::kAvx512;
#else
  return LoopIsa::kBase;
#endif
}

}  // namespace

LoopIsa loop_isa() {
  constexpr std::string_view kWords[] = {"base", "avx512", "avx512_bf16"};
  static const LoopIsa isa = isa_from_env("AUTOPHI_LOOP_ISA", kWords, best_isa());
  return isa;
}

}  // namespace phi
