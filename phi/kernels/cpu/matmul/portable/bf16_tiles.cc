// Stub for builds on machines without AVX-512: best_isa() reports no bfloat16 instructions, so the
// other functions are never called.
#include "phi/kernels/cpu/matmul/bf16_tiles.h"

#include "phi/common/errors.h"
#include "phi/kernels/cpu/matmul/gemm.h"

namespace phi::bf16_tiles {
namespace {

[[noreturn]] void throw_unsupported() {
  throw errors::Internal("this build has no bfloat16 tiles.");
}

}  // namespace

GemmIsa best_isa() { return GemmIsa::kWiden; }
void pack_right(const StridedVectors&, int64_t, int64_t, bfloat16*) { throw_unsupported(); }
void multiply(GemmIsa, const Bf16Gemm<float>&, bfloat16*) { throw_unsupported(); }
void multiply(GemmIsa, const Bf16Gemm<bfloat16>&, bfloat16*) { throw_unsupported(); }

}  // namespace phi::bf16_tiles
