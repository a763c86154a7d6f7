// Branches, calls and fences.
#include <algorithm>

#include "support/cuda_on_cpu/ptx/instruction_set.h"

namespace cuda_on_cpu::ptx {
namespace {

const Instruction* jump(const Instruction& self, Frame& /*frame*/) { return self.target; }
const Instruction* end(const Instruction& /*self*/, Frame& /*frame*/) { return nullptr; }
const Instruction* nothing(const Instruction& self, Frame& /*frame*/) { return &self + 1; }

// The operands are variables: results first, then arguments.
const Instruction* call(const Instruction& self, Frame& frame) {
  const Function& callee = *self.callee;
  Frame inner = frame_of(callee);
  const Slot* slot = self.slots + callee.results.size();
  for (const auto& parameter : callee.parameters) {
    std::memcpy(inner.memory.data() + parameter.offset, get<const std::byte*>(frame, *slot++),
                parameter.size);
  }
  run(inner);
  frame.instructions += inner.instructions;
  slot = self.slots;
  for (const auto& result : callee.results) {
    std::memcpy(get<std::byte*>(frame, *slot++), inner.memory.data() + result.offset, result.size);
  }
  return &self + 1;
}

}  // namespace

void add_control(Rows& rows) {
  rows["bra"] = jump;
  rows["ret"] = end;
  rows["exit"] = end;
  rows["call"] = call;
  // Fences do nothing: blocks run one after another, and threads in turn.
  for (const char* fence : {"membar.gl", "membar.sys", "membar.cta"}) rows[fence] = nothing;
}

}  // namespace cuda_on_cpu::ptx
