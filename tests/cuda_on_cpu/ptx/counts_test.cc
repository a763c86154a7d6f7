// What is counted while PTX runs (the environment of the test has AUTOPHI_CUDA_PTX_COUNTS).
#include "support/cuda_on_cpu/ptx/counts.h"

#include <gmock/gmock.h>

#include "cuda_on_cpu/ptx/runs.h"
#include "cuda_on_cpu/session.h"
#include "support/cuda_on_cpu/gpu.h"

namespace cuda_on_cpu_test {
namespace {

using cuda_on_cpu::ptx::counted;
using cuda_on_cpu::ptx::Counts;

Counts counted_so_far() {
  const auto it = counted().find("run");
  return it == counted().end() ? Counts{} : it->second;
}

// What a warp has done that runs these lines; `from` are 4 KiB of a GPU.
Counts counts_of(const std::string& lines, const std::string& before = "") {
  Session gpu;
  auto* from = gpu.allocate<std::byte>(4096);
  EXPECT_WORKS(cudaStreamSynchronize(gpu.stream));
  const Counts earlier = counted_so_far();
  cuda_on_cpu::gpu(0).arena.open();
  run_block(kernel_of(lines, before), 32, nullptr, from);
  cuda_on_cpu::gpu(0).arena.close();
  Counts counts = counted_so_far();
  counts.threads -= earlier.threads;
  counts.instructions -= earlier.instructions;
  counts.global_bytes -= earlier.global_bytes;
  counts.global_sectors -= earlier.global_sectors;
  counts.shared_passes -= earlier.shared_passes;
  counts.shared_passes_at_best -= earlier.shared_passes_at_best;
  return counts;
}

std::string load(const std::string& type, int stride) {
  return fmt::format(
      "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, {};\n"
      "add.s64 %rd3, %rd1, %rd2;\nld.global.{}, [%rd3];",
      stride, type);
}

TEST(PtxCounts, Instructions) {
  const Counts counts = counts_of("mov.u32 %r1, 1;");
  EXPECT_EQ(counts.threads, 32u);
  EXPECT_EQ(counts.instructions, 32u * 4);  // with two parameters and the end
}

TEST(PtxCounts, SectorsOfGlobalMemory) {
  const Counts neighbours = counts_of(load("u32 %r2", 4));
  EXPECT_EQ(neighbours.global_bytes, 128u);
  EXPECT_EQ(neighbours.global_sectors, 4u);
  EXPECT_EQ(counts_of(load("u32 %r2", 32)).global_sectors, 32u);
  EXPECT_EQ(counts_of(load("v4.u32 {%r2, %r3, %r4, %r5}", 16)).global_sectors, 16u);
}

// Words 0, 32, 64, .. lie in one bank; of the same word all can have it at once.
TEST(PtxCounts, PassesOfSharedMemory) {
  const std::string variable = ".shared .align 16 .b8 values[4096];\n";
  const auto passes = [&](const std::string& type, int stride) {
    const Counts counts = counts_of(fmt::format("mov.u32 %r1, %tid.x;\nmul.lo.s32 %r2, %r1, {};\n"
                                                "mov.u32 %r3, values;\nadd.s32 %r4, %r3, %r2;\n"
                                                "ld.shared.{}, [%r4];",
                                                stride, type),
                                    variable);
    return std::pair(counts.shared_passes, counts.shared_passes_at_best);
  };
  EXPECT_EQ(passes("u32 %r5", 4), std::pair(1ul, 1ul));
  EXPECT_EQ(passes("u32 %r5", 8), std::pair(2ul, 1ul));
  EXPECT_EQ(passes("u32 %r5", 128), std::pair(32ul, 1ul));
  EXPECT_EQ(passes("u32 %r5", 0), std::pair(1ul, 1ul));
  EXPECT_EQ(passes("v4.u32 {%r5, %r6, %r7, %r8}", 16), std::pair(4ul, 4ul));
  EXPECT_EQ(passes("v4.u32 {%r5, %r6, %r7, %r8}", 32), std::pair(8ul, 4ul));
}

// Each lane names a row of 16 bytes of one of four matrices, whose eight rows are read at once.
TEST(PtxCounts, PassesOfMatrices) {
  const auto passes = [](int stride) {
    const Counts counts = counts_of(
        fmt::format("mov.u32 %r1, %tid.x;\nmul.lo.s32 %r2, %r1, {};\nmov.u32 %r3, values;\n"
                    "add.s32 %r4, %r3, %r2;\n"
                    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%r5, %r6, %r7, %r8}}, [%r4];",
                    stride),
        ".shared .align 16 .b8 values[4096];\n");
    return std::pair(counts.shared_passes, counts.shared_passes_at_best);
  };
  EXPECT_EQ(passes(16), std::pair(4ul, 4ul));
  EXPECT_EQ(passes(128), std::pair(32ul, 4ul));
}

// The turns of a loop are requests of their own.
TEST(PtxCounts, TurnsOfALoop) {
  const Counts counts = counts_of("mov.u32 %r9, 0;\n$L__again:\n" + load("u32 %r5", 4) +
                                  "\nadd.s32 %r9, %r9, 1;\nsetp.lt.s32 %p1, %r9, 3;\n"
                                  "@%p1 bra $L__again;");
  EXPECT_EQ(counts.global_sectors, 12u);
}

}  // namespace
}  // namespace cuda_on_cpu_test
