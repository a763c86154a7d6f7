// Loops, calls, memory, and what the threads of a block do together; and what ends the test.
#include <gmock/gmock.h>

#include <numeric>

#include "cuda_on_cpu/ptx/runs.h"

namespace cuda_on_cpu_test {
namespace {

TEST(PtxPrograms, Loop) {
  EXPECT_EQ(value_of(R"(mov.u64 %rd9, 0;
mov.u32 %r1, 0;
$L__again:
add.s32 %r1, %r1, 1;
cvt.u64.u32 %rd2, %r1;
add.s64 %rd9, %rd9, %rd2;
setp.lt.s32 %p1, %r1, 10;
@%p1 bra $L__again;
setp.eq.s32 %p2, %r1, 10;
@!%p2 mov.u64 %rd9, 0;)"),
            55u);
}

TEST(PtxPrograms, LinesOfTheSourceAreLeftOut) {
  EXPECT_EQ(value_of("mov.u64 %rd9, 1;\n.loc 1 7 3\nadd.s64 %rd9, %rd9, 4;"), 5u);
}

TEST(PtxPrograms, BracesHideNames) {
  EXPECT_EQ(value_of("{\n.reg .b32 %temp;\nmov.b64 {%temp, %r1}, 0x100000002;\n}\n"
                     "{ .reg .b32 %temp; mov.u32 %temp, 7; cvt.u64.u32 %rd2, %temp; }\n"
                     "cvt.u64.u32 %rd3, %r1;\nadd.s64 %rd9, %rd2, %rd3;"),
            8u);
}

TEST(PtxPrograms, Call) {
  const std::string twice = R"(.func (.param .b64 func_retval0) twice(
.param .b64 twice_param_0
)
;
.func (.param .b64 func_retval0) twice(
.param .b64 twice_param_0
)
{
.reg .b64 %rd<3>;
ld.param.u64 %rd1, [twice_param_0];
add.s64 %rd2, %rd1, %rd1;
st.param.b64 [func_retval0+0], %rd2;
ret;
}
)";
  EXPECT_EQ(value_of(R"({
.param .b64 param0;
st.param.b64 [param0+0], 21;
.param .b64 retval0;
call.uni (retval0),
twice,
(
param0
);
ld.param.b64 %rd9, [retval0+0];
})",
                     twice),
            42u);
}

TEST(PtxPrograms, LocalMemoryAndVectors) {
  EXPECT_EQ(value_of(R"(.local .align 16 .b8 depot[16];
mov.u64 %rd2, depot;
st.local.v2.u32 [%rd2], {1, 2};
st.local.v4.u8 [%rd2+8], {3, 4, 5, 6};
ld.local.v2.u32 {%r1, %r2}, [%rd2];
ld.local.u32 %r3, [%rd2+8];
mov.b64 %rd9, {%r2, %r3};)"),
            0x06050403'00000002u);
}

TEST(PtxPrograms, Variables) {
  const std::string table = ".global .align 4 .b8 table[8] = {1, 2, 3, 4, 5, 6, 7};\n";
  EXPECT_EQ(
      value_of("mov.u64 %rd2, table+4;\nld.global.u32 %r1, [%rd2];\ncvt.u64.u32 %rd9, %r1;", table),
      0x00070605u);
}

TEST(PtxPrograms, MissingBytesAreNaN) {
  const std::string shared = ".shared .align 4 .b8 values[8];\n";
  EXPECT_EQ(value_of("ld.shared.u64 %rd9, [values];", shared), ~uint64_t{0});
}

// Each thread leaves its number, and after the barrier takes that of its mirror image.
TEST(PtxPrograms, Barrier) {
  std::array<uint32_t, 64> to{};
  run_block(kernel_of(R"(mov.u32 %r1, %tid.x;
shl.b32 %r2, %r1, 2;
mov.u32 %r3, values;
add.s32 %r4, %r3, %r2;
st.shared.u32 [%r4], %r1;
bar.sync 0;
sub.s32 %r5, 252, %r2;
add.s32 %r6, %r3, %r5;
ld.shared.u32 %r7, [%r6];
cvt.u64.u32 %rd2, %r2;
add.s64 %rd3, %rd0, %rd2;
st.global.u32 [%rd3], %r7;)",
                      ".shared .align 4 .b8 values[256];\n"),
            64, to.data(), nullptr);
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(to[i], 63 - i) << i;
}

// The lane that a shuffle reads, and whether it is one of its group of `width`.
std::vector<uint32_t> shuffled(const std::string& how, const std::string& operands) {
  std::vector<uint32_t> to(32);
  run_block(kernel_of(fmt::format(R"(mov.u32 %r1, %tid.x;
shfl.sync.{}.b32 %r2|%p1, %r1, {}, -1;
selp.b32 %r3, 100, 0, %p1;
add.s32 %r4, %r2, %r3;
mul.wide.u32 %rd2, %r1, 4;
add.s64 %rd3, %rd0, %rd2;
st.global.u32 [%rd3], %r4;)",
                                  how, operands)),
            32, to.data(), nullptr);
  return to;
}

TEST(PtxPrograms, Shuffles) {
  const auto down = shuffled("down", "2, 31");
  EXPECT_EQ(down[0], 102u);
  EXPECT_EQ(down[31], 31u);
  const auto up = shuffled("up", "1, 0");
  EXPECT_EQ(up[0], 0u);
  EXPECT_EQ(up[5], 104u);
  const auto first = shuffled("idx", "0, 0x181f");  // in groups of 8
  EXPECT_EQ(first[7], 100u);
  EXPECT_EQ(first[8], 108u);
}

TEST(PtxPrograms, Atomics) {
  uint32_t to = 5;
  run_block(kernel_of("atom.global.add.u32 %r1, [%rd0], 2;"), 32, &to, nullptr);
  EXPECT_EQ(to, 69u);
}

// ---- what ends the test ----

class PtxDeathTest : public ::testing::Test {
 protected:
  PtxDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(PtxDeathTest, MisalignedAddress) {
  EXPECT_DEATH(value_of("add.s64 %rd2, %rd0, 4;\nld.global.v2.f32 {%f1, %f2}, [%rd2];"),
               "8 bytes at 0x.*, which is not a multiple of that, in line 1. of the PTX of run, in "
               "block \\(0, 0, 0\\)");
}

TEST_F(PtxDeathTest, UnknownInstruction) {
  EXPECT_DEATH(value_of("lop9.b32 %r1, %r2, %r3;"),
               "line 14 of the PTX of run: the instruction lop9.b32 is not known");
  EXPECT_DEATH(value_of("bar.sync 1;"), "line 14 .*: the instruction bar.sync is not known");
  EXPECT_DEATH(value_of("shfl.sync.up.b32 %r1, %r2, 1, 0, -1;"), "shfl.sync.up.b32 is not known");
}

TEST_F(PtxDeathTest, UnknownNames) {
  EXPECT_DEATH(value_of("mov.u64 %rd9, %rd99;"), "%rd99 is not defined");
  EXPECT_DEATH(value_of("bra $L__nowhere;"), "there is no label \\$L__nowhere");
  EXPECT_DEATH(cuda_on_cpu::ptx::Module("").function("run"), "PTX has no function run");
  EXPECT_DEATH(cuda_on_cpu::ptx::Module("\n.entry run(").function("run"), "a text of PTX ends");
}

TEST_F(PtxDeathTest, BarrierThatSomeThreadsMiss) {
  EXPECT_DEATH(run_block(kernel_of("mov.u32 %r1, %tid.x;\nsetp.eq.s32 %p1, %r1, 3;\n"
                                   "@%p1 ret;\nbar.sync 0;"),
                         32, nullptr, nullptr),
               "a barrier that some threads miss");
}

}  // namespace
}  // namespace cuda_on_cpu_test
