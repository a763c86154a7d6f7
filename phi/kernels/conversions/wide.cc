// Which form of its loops this process runs.
#include "phi/kernels/cpu/wide.h"

#include <cstdlib>
#include <string_view>

#include "phi/common/errors.h"

namespace phi {
namespace {

bool machine_has_wide() {
#ifdef __x86_64__
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

bool find_wide() {
  const char* word = std::getenv("AUTOPHI_LOOP_ISA");
  if (!word) return machine_has_wide();
  const std::string_view isa = word;
  PHI_CHECK(isa == "base" || isa == "avx512",
            errors::InvalidArgument("AUTOPHI_LOOP_ISA is '{}'; it takes base or avx512.", isa));
  return isa == "avx512" && machine_has_wide();
}

}  // namespace

bool has_wide() {
  static const bool wide = find_wide();
  return wide;
}

}  // namespace phi
