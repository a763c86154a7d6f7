// mov, including packing and unpacking of several registers, and address conversions, which are the
// identity because all state spaces are one.
#include "support/cuda_on_cpu/ptx/instruction_set.h"

namespace cuda_on_cpu::ptx {
namespace {

template <class Part, size_t count>
const Instruction* pack(const Instruction& self, Frame& frame) {
  uint64_t bits = 0;
  for (size_t i = 0; i < count; ++i) {
    bits |= uint64_t{get<Part>(frame, self.slots[i + 1])} << (8 * sizeof(Part) * i);
  }
  put<uint64_t>(frame, self.slots[0], bits);
  return &self + 1;
}

template <class Part, size_t count>
const Instruction* unpack(const Instruction& self, Frame& frame) {
  const auto bits = get<uint64_t>(frame, self.slots[count]);
  for (size_t i = 0; i < count; ++i) {
    put<Part>(frame, self.slots[i], static_cast<Part>(bits >> (8 * sizeof(Part) * i)));
  }
  return &self + 1;
}

template <class T>
void add_move(Rows& rows, std::initializer_list<const char*> opcodes) {
  for (const char* opcode : opcodes) rows[opcode] = computes<[](T a) { return a; }>();
}

}  // namespace

void add_moves(Rows& rows) {
  add_move<bool>(rows, {"mov.pred"});
  add_move<uint16_t>(rows, {"mov.b16", "mov.u16", "mov.s16"});
  add_move<uint32_t>(rows, {"mov.b32", "mov.u32", "mov.s32", "mov.f32"});
  add_move<uint64_t>(rows, {"mov.b64", "mov.u64", "mov.s64", "mov.f64", "cvta.shared.u64",
                            "cvta.local.u64", "cvta.param.u64", "cvta.global.u64",
                            "cvta.to.global.u64", "cvta.to.shared.u64", "cvta.to.local.u64"});
  rows["mov.b32.pack2"] = pack<uint16_t, 2>;
  rows["mov.b32.unpack2"] = unpack<uint16_t, 2>;
  rows["mov.b32.pack4"] = pack<uint8_t, 4>;
  rows["mov.b32.unpack4"] = unpack<uint8_t, 4>;
  rows["mov.b64.pack2"] = pack<uint32_t, 2>;
  rows["mov.b64.unpack2"] = unpack<uint32_t, 2>;
  rows["mov.b64.pack4"] = pack<uint16_t, 4>;
  rows["mov.b64.unpack4"] = unpack<uint16_t, 4>;
}

}  // namespace cuda_on_cpu::ptx
