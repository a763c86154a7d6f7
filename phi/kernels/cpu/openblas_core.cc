// OpenBLAS's kernels on processors that are younger than it. Those it does not know get the ones of
// a Prescott (SSE3): the Emerald Rapids with 0.3.21, Debian 12's, which multiplied doubles at a
// quarter of the speed.
#include <cblas.h>

#include <cstdlib>
#include <string_view>

// OpenBLAS's own start (driver/others/dynamic.c), public in builds for many processors; others have
// none to choose from.
extern "C" {
[[gnu::weak]] void gotoblas_dynamic_init();
[[gnu::weak]] void gotoblas_dynamic_quit();
}

namespace phi {
namespace {

constexpr const char* kCoreType = "OPENBLAS_CORETYPE";  // what the user says with it stays

const char* core_by_instructions() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return "SKYLAKEX";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "HASWELL";
#endif
  return nullptr;
}

bool choose_core() {
  const bool fell_back = std::string_view(openblas_get_corename()) == "Prescott";
  const char* core = core_by_instructions();
  if (!fell_back || !core || std::getenv(kCoreType) || !gotoblas_dynamic_init) return false;
  setenv(kCoreType, core, 1);
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
  unsetenv(kCoreType);
  return true;
}

/// While the program is loaded, after OpenBLAS itself: nothing computes yet.
[[maybe_unused]] const bool kChosen = choose_core();

}  // namespace
}  // namespace phi
