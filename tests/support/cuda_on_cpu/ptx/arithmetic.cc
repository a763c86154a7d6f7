// Arithmetic and bit operations. Integer sums and products wrap. Results that PTX leaves undefined
// (division by zero) are all ones.
#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>

#include "support/cuda_on_cpu/ptx/instruction_set.h"

namespace cuda_on_cpu::ptx {
namespace {

std::string of(const char* operation, const std::string& type) {
  return std::string(operation) + "." + type;
}

template <class T>
T quotient(T a, T b) {
  if (b == 0) return static_cast<T>(~T{0});
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return static_cast<T>(-static_cast<std::make_unsigned_t<T>>(a));
  }
  return static_cast<T>(a / b);
}
template <class T>
T remainder(T a, T b) {
  if (b == 0) return static_cast<T>(~T{0});
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return 0;
  }
  return static_cast<T>(a % b);
}

template <class T, class Signed, class Unsigned>
using AsSigned = std::conditional_t<std::is_signed_v<T>, Signed, Unsigned>;
template <class T>
using WideOf = std::conditional_t<sizeof(T) == 2, AsSigned<T, int32_t, uint32_t>,
                                  AsSigned<T, int64_t, uint64_t>>;

template <class T>
T high_half(T a, T b) {
  using Whole = AsSigned<T, __int128, unsigned __int128>;
  return static_cast<T>((Whole{a} * Whole{b}) >> (8 * sizeof(T)));
}

// T has the signedness of the PTX type; sums use unsigned arithmetic, which wraps.
template <class T>
void add_integers(Rows& rows, const std::string& type) {
  using U = uint64_t;
  rows[of("add", type)] = computes<[](T a, T b) { return static_cast<T>(U(a) + U(b)); }>();
  rows[of("sub", type)] = computes<[](T a, T b) { return static_cast<T>(U(a) - U(b)); }>();
  rows[of("mul.lo", type)] = computes<[](T a, T b) { return static_cast<T>(U(a) * U(b)); }>();
  rows[of("mul.hi", type)] = computes<[](T a, T b) { return high_half<T>(a, b); }>();
  rows[of("mad.lo", type)] =
      computes<[](T a, T b, T c) { return static_cast<T>(U(a) * U(b) + U(c)); }>();
  rows[of("div", type)] = computes<[](T a, T b) { return quotient<T>(a, b); }>();
  rows[of("rem", type)] = computes<[](T a, T b) { return remainder<T>(a, b); }>();
  rows[of("min", type)] = computes<[](T a, T b) { return b < a ? b : a; }>();
  rows[of("max", type)] = computes<[](T a, T b) { return a < b ? b : a; }>();
  rows[of("shr", type)] = computes<[](T a, uint32_t by) {
    constexpr uint32_t kBits = 8 * sizeof(T);
    if (by >= kBits) return static_cast<T>(a < 0 ? -1 : 0);
    return static_cast<T>(a >> by);
  }>();
  if constexpr (sizeof(T) < 8) {
    rows[of("mul.wide", type)] = computes<[](T a, T b) {
      return static_cast<WideOf<T>>(static_cast<WideOf<T>>(a) * static_cast<WideOf<T>>(b));
    }>();
    rows[of("mad.wide", type)] = computes<[](T a, T b, WideOf<T> c) {
      return static_cast<WideOf<T>>(U(static_cast<WideOf<T>>(a) * static_cast<WideOf<T>>(b)) +
                                    U(c));
    }>();
  }
  if constexpr (std::is_signed_v<T>) {
    rows[of("neg", type)] = computes<[](T a) { return static_cast<T>(-U(a)); }>();
    rows[of("abs", type)] = computes<[](T a) { return static_cast<T>(a < 0 ? -U(a) : U(a)); }>();
  }
}

template <class T>
void add_bits(Rows& rows, const std::string& type) {
  rows[of("and", type)] = computes<[](T a, T b) { return static_cast<T>(a & b); }>();
  rows[of("or", type)] = computes<[](T a, T b) { return static_cast<T>(a | b); }>();
  rows[of("xor", type)] = computes<[](T a, T b) { return static_cast<T>(a ^ b); }>();
  rows[of("not", type)] = computes<[](T a) { return static_cast<T>(~a); }>();
  rows[of("shl", type)] = computes<[](T a, uint32_t by) {
    return by >= 8 * sizeof(T) ? T{0} : static_cast<T>(uint64_t{a} << by);
  }>();
  if constexpr (sizeof(T) >= 4) {
    rows[of("clz", type)] =
        computes<[](T a) { return static_cast<uint32_t>(std::countl_zero(a)); }>();
    rows[of("popc", type)] =
        computes<[](T a) { return static_cast<uint32_t>(std::popcount(a)); }>();
    rows[of("bfi", type)] = computes<[](T bits, T into, uint32_t first, uint32_t count) {
      constexpr uint32_t kBits = 8 * sizeof(T);
      first &= 0xff;
      count &= 0xff;
      if (first >= kBits || count == 0) return into;
      const T ones = count >= kBits ? ~T{0} : static_cast<T>((T{1} << count) - 1);
      const T mask = static_cast<T>(ones << first);
      return static_cast<T>((into & ~mask) | (bits << first & mask));
    }>();
  }
}

uint32_t permuted(uint32_t a, uint32_t b, uint32_t choices) {
  const uint64_t bytes = uint64_t{b} << 32 | a;
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    const uint32_t choice = choices >> (4 * i);
    auto byte = static_cast<uint8_t>(bytes >> (8 * (choice & 7)));
    if ((choice & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;  // the sign in all bits
    result |= uint32_t{byte} << (8 * i);
  }
  return result;
}

// ---- floating point ----

// NaN only if both are NaN; -0 is less than +0.
template <class T>
T smaller(T a, T b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class T>
T larger(T a, T b) {
  return -smaller<T>(-a, -b);
}

// The result of `body` with sums and products rounded in `direction`.
template <int direction, class Body>
auto rounded(Body body) {
  const int before = std::fegetround();
  std::fesetround(direction);
  const auto result = body();
  std::fesetround(before);
  return result;
}
// volatile, so that the compiler does not move the operation out of the rounding mode.
template <class T>
T sum(T a, T b) {
  const volatile T first = a;
  const volatile T result = first + b;
  return result;
}
template <class T>
T fused(T a, T b, T c) {
  const volatile T first = a;
  const volatile T result = std::fma(static_cast<T>(first), b, c);
  return result;
}

template <class T>
void add_floats(Rows& rows, const std::string& type) {
  for (const char* rounding : {"", ".rn"}) {
    const std::string name = rounding + ("." + type);
    rows["add" + name] = computes<[](T a, T b) { return a + b; }>();
    rows["sub" + name] = computes<[](T a, T b) { return a - b; }>();
    rows["mul" + name] = computes<[](T a, T b) { return a * b; }>();
  }
  rows["fma.rn." + type] = computes<[](T a, T b, T c) { return std::fma(a, b, c); }>();
  rows["add.rz." + type] =
      computes<[](T a, T b) { return rounded<FE_TOWARDZERO>([&] { return sum<T>(a, b); }); }>();
  rows["fma.rz." + type] = computes<[](T a, T b, T c) {
    return rounded<FE_TOWARDZERO>([&] { return fused<T>(a, b, c); });
  }>();
  rows["fma.rm." + type] = computes<[](T a, T b, T c) {
    return rounded<FE_DOWNWARD>([&] { return fused<T>(a, b, c); });
  }>();
  rows["div.rn." + type] = computes<[](T a, T b) { return a / b; }>();
  rows["rcp.rn." + type] = computes<[](T a) { return T{1} / a; }>();
  rows["sqrt.rn." + type] = computes<[](T a) { return std::sqrt(a); }>();
  rows[of("neg", type)] = computes<[](T a) { return -a; }>();
  rows[of("abs", type)] = computes<[](T a) { return std::fabs(a); }>();
  rows[of("min", type)] = computes<[](T a, T b) { return smaller<T>(a, b); }>();
  rows[of("max", type)] = computes<[](T a, T b) { return larger<T>(a, b); }>();
  rows[of("copysign", type)] = computes<[](T sign, T size) { return std::copysign(size, sign); }>();
}

float flushed(float value) {
  return std::fabs(value) < std::numeric_limits<float>::min() ? std::copysign(0.0f, value) : value;
}
// GPUs compute the upper 32 bits of such doubles; the rest is zero.
double upper_half(double value) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(value) & ~uint64_t{0xffffffff});
}
double flushed(double value) {
  return std::fabs(value) < std::numeric_limits<double>::min() ? std::copysign(0.0, value) : value;
}

// Above 2^126 the reciprocal of b is flushed to 0.
float approximate_quotient(float a, float b) {
  return std::fabs(b) > 0x1p126f && !std::isinf(b) ? a * 0.0f : a / b;
}

// Rounds to nearest what GPUs compute within one or two ulp.
void add_approximations(Rows& rows) {
  rows["ex2.approx.f32"] =
      computes<[](float a) { return static_cast<float>(std::exp2(double{a})); }>();
  rows["ex2.approx.ftz.f32"] = computes<[](float a) {
    return flushed(static_cast<float>(std::exp2(double{flushed(a)})));
  }>();
  rows["rcp.approx.ftz.f32"] = computes<[](float a) { return flushed(1.0f / flushed(a)); }>();
  rows["div.approx.f32"] = computes<[](float a, float b) { return approximate_quotient(a, b); }>();
  rows["rcp.approx.ftz.f64"] =
      computes<[](double a) { return upper_half(flushed(1.0 / flushed(upper_half(a)))); }>();
  rows["rsqrt.approx.ftz.f64"] =
      computes<[](double a) { return upper_half(1.0 / std::sqrt(flushed(upper_half(a)))); }>();
}

// ---- multi-word integers ----

// d = a * b (low or high half) + c + carry, and the carry out of it.
template <int takes_carry, int gives_carry, class Body>
const Instruction* run_with_carry(const Instruction& self, Frame& frame, Body body) {
  const uint64_t carry_in = takes_carry != 0 && frame.carry ? 1 : 0;
  const uint64_t wide = body(carry_in);
  put<uint32_t>(frame, self.slots[0], static_cast<uint32_t>(wide));
  if (gives_carry != 0) frame.carry = (wide >> 32) != 0;
  return &self + 1;
}
template <int takes_carry, int gives_carry>
const Instruction* add_carry(const Instruction& self, Frame& frame) {
  return run_with_carry<takes_carry, gives_carry>(self, frame, [&](uint64_t carry) {
    return uint64_t{get<uint32_t>(frame, self.slots[1])} + get<uint32_t>(frame, self.slots[2]) +
           carry;
  });
}
// Subtraction: the carry is a borrow, because a negative difference has bits above bit 31.
template <int takes_carry, int gives_carry>
const Instruction* subtract_carry(const Instruction& self, Frame& frame) {
  return run_with_carry<takes_carry, gives_carry>(self, frame, [&](uint64_t carry) {
    return uint64_t{get<uint32_t>(frame, self.slots[1])} - get<uint32_t>(frame, self.slots[2]) -
           carry;
  });
}
template <int takes_carry, int gives_carry, int shift>
const Instruction* multiply_carry(const Instruction& self, Frame& frame) {
  return run_with_carry<takes_carry, gives_carry>(self, frame, [&](uint64_t carry) {
    const uint64_t product =
        uint64_t{get<uint32_t>(frame, self.slots[1])} * get<uint32_t>(frame, self.slots[2]);
    return uint64_t{static_cast<uint32_t>(product >> shift)} + get<uint32_t>(frame, self.slots[3]) +
           carry;
  });
}

void add_carries(Rows& rows) {
  rows["add.cc.u32"] = add_carry<0, 1>;
  rows["addc.cc.u32"] = add_carry<1, 1>;
  rows["addc.u32"] = add_carry<1, 0>;
  rows["sub.cc.u32"] = subtract_carry<0, 1>;
  rows["subc.cc.u32"] = subtract_carry<1, 1>;
  rows["subc.u32"] = subtract_carry<1, 0>;
  rows["mad.lo.cc.u32"] = multiply_carry<0, 1, 0>;
  rows["madc.lo.cc.u32"] = multiply_carry<1, 1, 0>;
  rows["madc.hi.cc.u32"] = multiply_carry<1, 1, 32>;
  rows["madc.hi.u32"] = multiply_carry<1, 0, 32>;
}

}  // namespace

void add_arithmetic(Rows& rows) {
  add_integers<int16_t>(rows, "s16");
  add_integers<int32_t>(rows, "s32");
  add_integers<int64_t>(rows, "s64");
  add_integers<uint16_t>(rows, "u16");
  add_integers<uint32_t>(rows, "u32");
  add_integers<uint64_t>(rows, "u64");
  add_bits<uint16_t>(rows, "b16");
  add_bits<uint32_t>(rows, "b32");
  add_bits<uint64_t>(rows, "b64");
  rows["prmt.b32"] =
      computes<[](uint32_t a, uint32_t b, uint32_t c) { return permuted(a, b, c); }>();
  rows["shf.l.wrap.b32"] = computes<[](uint32_t low, uint32_t high, uint32_t by) {
    return static_cast<uint32_t>((uint64_t{high} << 32 | low) << (by & 31) >> 32);
  }>();
  add_floats<float>(rows, "f32");
  add_floats<double>(rows, "f64");
  add_approximations(rows);
  add_carries(rows);
}

}  // namespace cuda_on_cpu::ptx
