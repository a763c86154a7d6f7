// Interprets functions.
#include "support/cuda_on_cpu/ptx/counts.h"
#include "support/cuda_on_cpu/ptx/instruction_set.h"

namespace cuda_on_cpu::ptx {

Frame frame_of(const Function& function) {
  Frame frame{&function, function.slots, std::vector<std::byte>(function.memory, std::byte{0xff})};
  for (const auto& [slot, offset] : function.addresses) {
    put<std::byte*>(frame, slot, frame.memory.data() + offset);
  }
  for (const auto& [slot, value] : function.specials) put<uint32_t>(frame, slot, value());
  return frame;
}

void run(Frame& frame) {
  const Instruction* at = frame.function->code.data();
  if (kCounts) frame.visits.resize(frame.function->code.size());
  while (at != nullptr) {
    ++frame.instructions;
    const bool due = !at->guarded || get<bool>(frame, at->guard) == at->guard_value;
    at = due ? at->run(*at, frame) : at + 1;
  }
}

void run_kernel(const Function& kernel, std::span<const Argument> arguments) {
  Frame frame = frame_of(kernel);
  for (const auto& [slot, parameter, offset] : kernel.given) {
    put<const std::byte*>(frame, slot,
                          static_cast<const std::byte*>(arguments[parameter].address) + offset);
  }
  if (kCounts) count_begin(kernel);
  run(frame);
  if (kCounts) count_end(frame.instructions);
}

Instruction::Run find_instruction(const std::string& opcode) {
  static const Rows rows = [] {
    Rows all;
    for (auto* add : {add_arithmetic, add_comparisons, add_conversions, add_memory, add_moves,
                      add_control, add_warp, add_tiles}) {
      add(all);
    }
    return all;
  }();
  const auto row = rows.find(opcode);
  return row == rows.end() ? nullptr : row->second;
}

}  // namespace cuda_on_cpu::ptx
