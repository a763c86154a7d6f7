// Maps opcodes to C++ functions. One file per kind of instruction adds entries. An opcode without
// an entry is an error that names it.
#pragma once

#include <cstring>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "support/cuda_on_cpu/ptx/program.h"

namespace cuda_on_cpu::ptx {

using Rows = std::unordered_map<std::string, Instruction::Run>;

void add_arithmetic(Rows& rows);
void add_comparisons(Rows& rows);
void add_conversions(Rows& rows);
void add_memory(Rows& rows);
void add_moves(Rows& rows);
void add_control(Rows& rows);
void add_warp(Rows& rows);
void add_tiles(Rows& rows);

/// The function of an opcode; null if there is none.
Instruction::Run find_instruction(const std::string& opcode);

/// Reads the low bytes of a slot. Values narrower than 64 bits are stored sign- or zero-extended
/// according to their type.
template <class T>
T get(const Frame& frame, Slot slot) {
  T value;
  std::memcpy(&value, &frame.slots[slot], sizeof(T));
  return value;
}
template <>
inline bool get<bool>(const Frame& frame, Slot slot) {
  return frame.slots[slot] != 0;
}
template <class T>
void put(Frame& frame, Slot slot, T value) {
  if constexpr (std::is_integral_v<T>) {
    frame.slots[slot] = static_cast<uint64_t>(static_cast<int64_t>(value));
    if constexpr (std::is_unsigned_v<T>) frame.slots[slot] = value;
  } else {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    frame.slots[slot] = bits;
  }
}

/// The address of a memory operand whose register is operand number `operand`.
inline std::byte* address_of(const Instruction& self, const Frame& frame, size_t operand) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): registers hold addresses as numbers.
  return reinterpret_cast<std::byte*>(get<uint64_t>(frame, self.slots[operand]) +
                                      static_cast<uint64_t>(self.offset));
}

namespace detail {
template <class Body>
struct Signature;
template <class Body, class R, class... A>
struct Signature<R (Body::*)(A...) const> {
  template <Body body, size_t... k>
  static const Instruction* run(const Instruction& self, Frame& frame,
                                std::index_sequence<k...> /*operands*/) {
    put<R>(frame, self.slots[0], body(get<A>(frame, self.slots[k + 1])...));
    return &self + 1;
  }
  template <Body body>
  static const Instruction* run_all(const Instruction& self, Frame& frame) {
    return run<body>(self, frame, std::index_sequence_for<A...>());
  }
};
}  // namespace detail

/// An instruction that stores body(values of the other operands) in its first operand.
template <auto body>
constexpr Instruction::Run computes() {
  using Body = decltype(body);
  return &detail::Signature<decltype(&Body::operator())>::template run_all<body>;
}

}  // namespace cuda_on_cpu::ptx
