// Which form of its loops this process runs.
#include "phi/kernels/cpu/wide.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include "phi/common/errors.h"

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

LoopIsa find_isa() {
  const char* word = std::getenv("AUTOPHI_LOOP_ISA");
  if (!word) return best_isa();
  constexpr std::string_view kWords[] = {"base", "avx512", "avx512_bf16"};
  const auto* found = std::find(std::begin(kWords), std::end(kWords), word);
  PHI_CHECK(found != std::end(kWords),
            errors::InvalidArgument("AUTOPHI_LOOP_ISA is '{}'; it takes base, avx512 or "
                                    "avx512_bf16.",
                                    word));
  return std::min(static_cast<LoopIsa>(found - kWords), best_isa());
}

}  // namespace

LoopIsa loop_isa() {
  static const LoopIsa isa = find_isa();
  return isa;
}

}  // namespace phi
