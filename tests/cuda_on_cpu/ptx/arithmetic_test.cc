// What instructions compute, by the PTX ISA.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "cuda_on_cpu/ptx/runs.h"

namespace cuda_on_cpu_test {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr double kNaN64 = std::numeric_limits<double>::quiet_NaN();

template <class... T>
std::string words(T... values) {
  std::string text;
  ((text += (text.empty() ? "" : ", ") + word(values)), ...);
  return text;
}

TEST(PtxArithmetic, IntegersWrap) {
  EXPECT_EQ(bits32_of("add.s32", "2147483647, 1"), 0x80000000u);
  EXPECT_EQ(bits32_of("sub.s32", "3, 5"), static_cast<uint32_t>(-2));
  EXPECT_EQ(bits32_of("mul.lo.s32", "65536, 65537"), 65536u);
  EXPECT_EQ(bits64_of("mul.wide.s32", "-3, 2147483647"),
            static_cast<uint64_t>(-3 * int64_t{2147483647}));
  EXPECT_EQ(bits64_of("mul.wide.u32", "4294967295, 2"), 8589934590u);
  EXPECT_EQ(bits64_of("mul.hi.s64", "-1, 1"), ~uint64_t{0});
  EXPECT_EQ(bits64_of("mad.wide.u32", "4294967295, 2, 10"), 8589934600u);
  EXPECT_EQ(bits64_of("neg.s64", "5"), static_cast<uint64_t>(-5));
}

TEST(PtxArithmetic, Quotients) {
  EXPECT_EQ(bits32_of("div.s32", "-7, 2"), static_cast<uint32_t>(-3));
  EXPECT_EQ(bits32_of("rem.s32", "-7, 2"), static_cast<uint32_t>(-1));
  EXPECT_EQ(bits32_of("div.u32", "4294967295, 2"), 2147483647u);
  EXPECT_EQ(bits64_of("div.s64", "-9223372036854775808, -1"), uint64_t{1} << 63);
  EXPECT_EQ(bits32_of("div.u32", "5, 0"), ~0u);
}

TEST(PtxArithmetic, Shifts) {
  EXPECT_EQ(bits32_of("shl.b32", "1, 32"), 0u);
  EXPECT_EQ(bits32_of("shr.u32", "0x80000000, 31"), 1u);
  EXPECT_EQ(bits32_of("shr.s32", "0x80000000, 40"), ~0u);
  EXPECT_EQ(bits64_of("shr.u64", "0x8000000000000000, 63"), 1u);
  EXPECT_EQ(bits32_of("shf.l.wrap.b32", "0x80000001, 0x00000003, 1"), 7u);
}

TEST(PtxArithmetic, Bits) {
  EXPECT_EQ(bits32_of("bfi.b32", "0xff, 0x1000, 4, 4"), 0x10f0u);
  EXPECT_EQ(bits32_of("prmt.b32", "0x33221100, 0x77665544, 0x7604"), 0x77660044u);
  EXPECT_EQ(bits32_of("prmt.b32", "0x80, 0, 0x0008"), 0x808080ffu);  // the sign of byte 0, byte 0
  EXPECT_EQ(bits32_of("popc.b32", "0xf0f0"), 8u);
  EXPECT_EQ(bits32_of("clz.b64", "1"), 63u);
  EXPECT_EQ(bits32_of("not.b32", "0"), ~0u);
}

TEST(PtxArithmetic, Carries) {
  EXPECT_EQ(value_of("add.cc.u32 %r1, 0xffffffff, 1;\naddc.u32 %r2, 5, 6;\n"
                     "mov.b64 %rd9, {%r1, %r2};"),
            uint64_t{12} << 32);
  EXPECT_EQ(value_of("sub.cc.u32 %r1, 0, 1;\nsubc.u32 %r2, 5, 2;\nmov.b64 %rd9, {%r1, %r2};"),
            uint64_t{2} << 32 | 0xffffffffu);
  EXPECT_EQ(value_of("mad.lo.cc.u32 %r1, 0xffffffff, 2, 5;\nmadc.hi.u32 %r2, 0xffffffff, 2, 7;\n"
                     "mov.b64 %rd9, {%r1, %r2};"),
            uint64_t{0xffffffffu} * 2 + 5 + (uint64_t{7} << 32));
}

TEST(PtxArithmetic, Floats) {
  EXPECT_EQ(float_of("fma.rn.f32", words(1 + 0x1p-12f, 1 + 0x1p-12f, -1 - 0x1p-11f)), 0x1p-24f);
  EXPECT_EQ(float_of("add.rz.f32", words(1.0f, 0x1.8p-24f)), 1.0f);
  EXPECT_EQ(float_of("add.f32", words(1.0f, 0x1.8p-24f)), 1 + 0x1p-23f);
  EXPECT_EQ(float_of("fma.rm.f32", words(-1.0f, 1.0f, -0x1p-30f)), -1 - 0x1p-23f);
  EXPECT_EQ(float_of("max.f32", words(kNaN, 3.0f)), 3.0f);
  EXPECT_EQ(float_of("min.f32", words(3.0f, kNaN)), 3.0f);
  EXPECT_TRUE(std::signbit(float_of("min.f32", words(0.0f, -0.0f))));
  EXPECT_FALSE(std::signbit(float_of("max.f32", words(-0.0f, 0.0f))));
  EXPECT_EQ(float_of("copysign.f32", words(-1.0f, 5.0f)), -5.0f);  // the sign comes first
  EXPECT_EQ(double_of("abs.f64", word(-2.5)), 2.5);
  EXPECT_EQ(double_of("sqrt.rn.f64", word(2.0)), std::sqrt(2.0));
}

TEST(PtxArithmetic, Approximations) {
  EXPECT_EQ(float_of("ex2.approx.ftz.f32", word(3.0f)), 8.0f);
  EXPECT_EQ(float_of("ex2.approx.ftz.f32", word(-140.0f)), 0.0f);
  EXPECT_EQ(float_of("ex2.approx.f32", word(-140.0f)), 0x1p-140f);
  EXPECT_EQ(float_of("div.approx.f32", words(8.0f, 0x1p127f)), 0.0f);
  const double third = double_of("rcp.approx.ftz.f64", word(3.0));
  EXPECT_NEAR(third, 1.0 / 3, 0x1p-20);
  EXPECT_NE(third, 1.0 / 3);  // half of the bits are zero
}

TEST(PtxArithmetic, Comparisons) {
  const auto holds = [](const std::string& opcode, const std::string& operands) {
    return value_of(fmt::format("{} %p1, {};\nselp.b64 %rd9, 1, 0, %p1;", opcode, operands)) == 1;
  };
  EXPECT_TRUE(holds("setp.lt.s32", "-1, 1"));
  EXPECT_FALSE(holds("setp.lt.u32", "-1, 1"));
  EXPECT_FALSE(holds("setp.ne.f32", words(kNaN, 1.0f)));
  EXPECT_TRUE(holds("setp.neu.f32", words(kNaN, 1.0f)));
  EXPECT_FALSE(holds("setp.le.f64", words(kNaN64, 1.0)));
  EXPECT_TRUE(holds("setp.geu.f64", words(kNaN64, 1.0)));
  EXPECT_FALSE(holds("setp.geu.f64", words(0.5, 1.0)));
  EXPECT_TRUE(holds("setp.nan.f32", words(1.0f, kNaN)));
  EXPECT_TRUE(holds("setp.equ.f32", words(0.0f, -0.0f)));
}

TEST(PtxConversions, OfIntegers) {
  EXPECT_EQ(bits32_of("cvt.s32.s8", "0xff"), ~0u);
  EXPECT_EQ(bits32_of("cvt.u32.u16", "0x12345"), 0x2345u);
  EXPECT_EQ(bits64_of("cvt.s64.s32", "-5"), static_cast<uint64_t>(-5));
  EXPECT_EQ(bits64_of("cvt.u64.u32", "-5"), 0xfffffffbu);
  EXPECT_EQ(float_of("cvt.rn.f32.s32", "16777217"), 16777216.0f);
  EXPECT_EQ(double_of("cvt.rn.f64.u64", "0xffffffffffffffff"), 0x1p64);
}

TEST(PtxConversions, ToIntegers) {
  EXPECT_EQ(bits32_of("cvt.rni.s32.f32", word(2.5f)), 2u);
  EXPECT_EQ(bits32_of("cvt.rzi.s32.f32", word(-2.9f)), static_cast<uint32_t>(-2));
  EXPECT_EQ(bits32_of("cvt.rzi.s32.f32", word(3e9f)), 0x7fffffffu);
  EXPECT_EQ(bits32_of("cvt.rzi.u32.f32", word(-1.0f)), 0u);
  EXPECT_EQ(bits32_of("cvt.rzi.s32.f32", word(kNaN)), 0u);
  EXPECT_EQ(bits64_of("cvt.rzi.s64.f32", word(kNaN)), uint64_t{1} << 63);
  EXPECT_EQ(bits64_of("cvt.rzi.s64.f64", word(1e30)), (uint64_t{1} << 63) - 1);
  EXPECT_EQ(float_of("cvt.rmi.f32.f32", word(-0.5f)), -1.0f);
  EXPECT_EQ(float_of("cvt.rpi.f32.f32", word(0.5f)), 1.0f);
  EXPECT_EQ(float_of("cvt.sat.f32.f32", word(1.5f)), 1.0f);
  EXPECT_EQ(float_of("cvt.sat.f32.f32", word(kNaN)), 0.0f);
}

TEST(PtxConversions, Of16BitFloats) {
  EXPECT_EQ(bits32_of("cvt.rn.f16.f32", word(1.0f)), 0x3c00u);
  EXPECT_EQ(bits32_of("cvt.rn.bf16.f32", word(-2.0f)), 0xc000u);
  EXPECT_EQ(bits32_of("cvt.rn.bf16x2.f32", words(1.0f, -2.0f)), 0x3f80c000u);
  EXPECT_EQ(float_of("cvt.f32.f16", "0x3e00"), 1.5f);
}

}  // namespace
}  // namespace cuda_on_cpu_test
