// Selects OpenBLAS's kernels when the program is loaded.
#include "phi/kernels/cpu/matmul/openblas_core.h"

#include <cblas.h>

#include <cstdlib>
#include <string>

// OpenBLAS's initialisation (driver/others/dynamic.c). The functions are exported by builds for
// many cores.
extern "C" {
[[gnu::weak]] void gotoblas_dynamic_init();
[[gnu::weak]] void gotoblas_dynamic_quit();
}

namespace phi {
namespace {

constexpr const char* kCoreType = "OPENBLAS_CORETYPE";

bool choose_core() {
  const char* core = better_openblas_core(openblas_get_corename(), std::getenv(kCoreType));
  if (core) take_openblas_core(core);
  return core != nullptr;
}

/// Initialised while the program is loaded, after OpenBLAS itself and before anything computes.
[[maybe_unused]] const bool kChosen = choose_core();

}  // namespace

const char* better_openblas_core(std::string_view chosen, const char* named) {
  if (named || chosen != "Prescott") return nullptr;
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return "SkylakeX";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
  return nullptr;
}

void take_openblas_core(const char* core) {
  if (!gotoblas_dynamic_init || !gotoblas_dynamic_quit) return;
  const char* const named = std::getenv(kCoreType);
  const std::string before = named ? named : "";
  setenv(kCoreType, core, 1);
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
  named ? setenv(kCoreType, before.c_str(), 1) : unsetenv(kCoreType);
}

}  // namespace phi
