// Runs a few lines of PTX.
#pragma once

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "support/cuda_on_cpu/blocks.h"
#include "support/cuda_on_cpu/ptx/module.h"

namespace cuda_on_cpu_test {

/// Runs the kernel `run(.param .u64 to, .param .u64 from)` of a text in one block.
inline void run_block(const std::string& text, unsigned threads, void* to, const void* from) {
  cuda_on_cpu::ptx::Module module(text);
  const auto& kernel = module.function("run");
  const std::vector<cuda_on_cpu::Argument> arguments{cuda_on_cpu::argument(to),
                                                     cuda_on_cpu::argument(from)};
  const std::function<void()> thread = [&] { cuda_on_cpu::ptx::run_kernel(kernel, arguments); };
  cuda_on_cpu::run_grid({nullptr, dim3(1), dim3(threads), &thread, kernel.shared});
}

/// A text with the kernel, whose body is `lines`. It has registers of all kinds: %p, %rs, %r, %rd,
/// %f and %fd of 0 to 19. %rd0 is `to`, %rd1 `from`. `before` stands before the kernel.
inline std::string kernel_of(const std::string& lines, const std::string& before = "") {
  return fmt::format(R"(.version 9.0
.target sm_80
.address_size 64
{}
.visible .entry run(
.param .u64 run_param_0,
.param .u64 run_param_1
)
{{
.reg .pred %p<20>;
.reg .b16 %rs<20>;
.reg .b32 %r<20>;
.reg .b64 %rd<20>;
.reg .f32 %f<20>;
.reg .f64 %fd<20>;
ld.param.u64 %rd0, [run_param_0];
ld.param.u64 %rd1, [run_param_1];
{}
ret;
}}
)",
                     before, lines);
}

/// What `lines` leave in %rd9 in one thread.
inline uint64_t value_of(const std::string& lines, const std::string& before = "") {
  uint64_t value = 0;
  run_block(kernel_of(lines + "\nst.global.u64 [%rd0], %rd9;", before), 1, &value, nullptr);
  return value;
}

/// What `opcode` makes of immediate operands, from a register of 32 bits (%r, %f) or 64.
inline uint32_t bits32_of(const std::string& opcode, const std::string& operands) {
  return static_cast<uint32_t>(
      value_of(fmt::format("{} %r9, {};\ncvt.u64.u32 %rd9, %r9;", opcode, operands)));
}
inline uint64_t bits64_of(const std::string& opcode, const std::string& operands) {
  return value_of(fmt::format("{} %rd9, {};", opcode, operands));
}
inline float float_of(const std::string& opcode, const std::string& operands) {
  return std::bit_cast<float>(bits32_of(opcode, operands));
}
inline double double_of(const std::string& opcode, const std::string& operands) {
  return std::bit_cast<double>(bits64_of(opcode, operands));
}
inline std::string word(float value) {
  return fmt::format("0f{:08X}", std::bit_cast<uint32_t>(value));
}
inline std::string word(double value) {
  return fmt::format("0d{:016X}", std::bit_cast<uint64_t>(value));
}

}  // namespace cuda_on_cpu_test
