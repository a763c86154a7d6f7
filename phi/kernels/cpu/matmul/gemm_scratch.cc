// Selects methods of half-precision matmuls, and plans their workspaces.
#include "phi/kernels/cpu/matmul/gemm_scratch.h"

#include <omp.h>

#include <deque>
#include <string_view>

#include "phi/kernels/cpu/matmul/skinny_gemm.h"
#include "phi/kernels/functors/hd.h"

namespace phi {
namespace detail {
namespace {

// Elements of b that are packed at a time. They share the L2 cache with a block of a.
constexpr int64_t kRightElements = int64_t{1} << 20;
constexpr int64_t kFewestColumns = 256;  // with fewer, a would be packed too often
// Fewest multiply-adds per thread: some microseconds of work.
constexpr int64_t kThreadWork = int64_t{1} << 24;

template <typename T>
void keep(PlannedScratch* scratch, std::string_view workspace, int64_t thread, int64_t elements) {
  scratch->keep(workspace, thread, static_cast<size_t>(elements) * sizeof(T));
}

void plan_left(PlannedScratch* scratch, int64_t thread, int64_t steps) {
  keep<bfloat16>(scratch, "gemm left", thread, bf16_tiles::left_size(steps));
}

void plan_tiles(const ThreadParts& parts, PlannedScratch* scratch) {
  for (int64_t begin = 0, thread = 0; begin < parts.extent; begin += parts.step, ++thread) {
    keep<bfloat16>(scratch, "gemm right", thread, right_size(parts.at(begin)));
    plan_left(scratch, thread, parts.whole.k);
  }
}

// All threads may have their block at the same time.
void plan_skinny(const ThreadParts& parts, PlannedScratch* scratch) {
  std::deque<PlannedScratch::Block> blocks;
  for (int64_t begin = 0; begin < parts.extent; begin += parts.step) {
    blocks.emplace_back(*scratch,
                        static_cast<size_t>(skinny_size(parts.at(begin))) * sizeof(float));
  }
}

template <typename Out>
void plan_widened(const GemmShape& s, PlannedScratch* scratch) {
  keep<float>(scratch, "gemm wide b", 0, wide_b_size(s));
  keep<float>(scratch, "gemm wide a", 0, wide_a_size(s));
  keep<float>(scratch, "gemm wide c", 0, wide_c_size<Out>(s));
}

}  // namespace

GemmWorkspaces& gemm_workspaces() {
  thread_local GemmWorkspaces workspaces;
  return workspaces;
}

int64_t packed_columns(const GemmShape& part) {
  const int64_t fitting = kRightElements / part.k / bf16_tiles::kBlock * bf16_tiles::kBlock;
  return std::min(std::max(fitting, kFewestColumns), part.n);
}

template <typename T>
HalfMethod half_method(const GemmShape& shape, GemmIsa isa) {
  if (is_skinny(shape)) return HalfMethod::kSkinny;
  return has_tiles<T>(isa) ? HalfMethod::kTiles : HalfMethod::kWidened;
}

ThreadParts::ThreadParts(const GemmShape& shape)
    : whole(shape),
      threads(
          std::clamp<int64_t>(shape.m * shape.n * shape.k / kThreadWork, 1, omp_get_max_threads())),
      by_rows(shape.m >= shape.n),
      extent(by_rows ? shape.m : shape.n),
      step(threads == 1
               ? extent
               : bf16_tiles::round_up((extent + threads - 1) / threads, bf16_tiles::kBlock)) {}

template HalfMethod half_method<bfloat16>(const GemmShape&, GemmIsa);
template HalfMethod half_method<float16>(const GemmShape&, GemmIsa);

}  // namespace detail

template <typename T, typename Out>
void plan_gemm_scratch(const GemmShape& s, PlannedScratch* scratch, GemmIsa isa) {
  if constexpr (kIs16Bit<T>) {
    if (s.m == 0 || s.n == 0 || s.k == 0) return;
    switch (detail::half_method<T>(s, isa)) {
      case detail::HalfMethod::kSkinny:
        return detail::plan_skinny(detail::ThreadParts(s), scratch);
      case detail::HalfMethod::kTiles:
        return detail::plan_tiles(detail::ThreadParts(s), scratch);
      case detail::HalfMethod::kWidened:
        return detail::plan_widened<Out>(s, scratch);
    }
  }
}

void plan_reserved_steps(int64_t steps, PlannedScratch* scratch) {
  detail::plan_left(scratch, 0, steps);
}

#define PHI_INSTANTIATE(T, Out) \
  template void plan_gemm_scratch<T, Out>(const GemmShape&, PlannedScratch*, GemmIsa)
PHI_INSTANTIATE(float, float);
PHI_INSTANTIATE(double, double);
PHI_INSTANTIATE(complex64, complex64);
PHI_INSTANTIATE(complex128, complex128);
PHI_INSTANTIATE(int32_t, int32_t);
PHI_INSTANTIATE(int64_t, int64_t);
PHI_INSTANTIATE(bfloat16, bfloat16);
PHI_INSTANTIATE(bfloat16, float);
PHI_INSTANTIATE(float16, float16);
PHI_INSTANTIATE(float16, float);
#undef PHI_INSTANTIATE

}  // namespace phi
