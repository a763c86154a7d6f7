// Functions of PTX as the interpreter runs them: registers, constants and addresses are slots of 64
// bits, numbered when the text is read, and an instruction is a function over slots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cuda_on_cpu/launch.h"
#include "support/cuda_on_cpu/symbols.h"

namespace cuda_on_cpu::ptx {

struct Frame;
struct Function;
using Slot = uint32_t;

struct Instruction {
  /// Does the work and says which instruction comes next; null at the end of the function.
  using Run = const Instruction* (*)(const Instruction& self, Frame& frame);

  Run run = nullptr;
  const Slot* slots = nullptr;  // operands, in the order of the text
  int64_t offset = 0;           // of the address among them
  const Instruction* target = nullptr;
  const Function* callee = nullptr;
  bool guarded = false;
  bool guard_value = true;  // runs only where the guard has this value
  Slot guard = 0;
  int line = 0;  // of the function's text, the first is 1
};

struct Function {
  /// A variable in the memory of a call; a kernel's parameter lies with its launch instead.
  struct Variable {
    size_t offset = 0;
    size_t size = 0;
  };
  /// A slot that holds the address of such a variable, or of a byte behind its first.
  struct Address {
    Slot slot;
    size_t offset;
  };
  struct Given {
    Slot slot;
    size_t parameter;
    int64_t offset;
  };
  struct Special {
    Slot slot;
    uint32_t (*value)();
  };

  std::string name;
  bool is_kernel = false;
  std::vector<Instruction> code;
  std::vector<Slot> operands;
  std::vector<uint64_t> slots;  // what they hold when the function begins
  std::vector<Address> addresses;
  std::vector<Given> given;
  std::vector<Special> specials;
  std::vector<Variable> parameters;
  std::vector<Variable> results;
  size_t memory = 0;                // bytes of a call's variables
  std::vector<SharedArray> shared;  // that this function or one that it calls names
};

/// A call of a function by one thread.
struct Frame {
  const Function* function;
  std::vector<uint64_t> slots = {};
  std::vector<std::byte> memory = {};
  bool carry = false;
  size_t instructions = 0;          // run, where somebody counts (counts.h),
  std::vector<size_t> visits = {};  // and of each instruction that reads or writes
};

/// Runs a kernel for the thread that is due (block_state.h).
void run_kernel(const Function& kernel, std::span<const Argument> arguments);
/// Runs a function to its end; its parameters are in the frame's memory.
void run(Frame& frame);
Frame frame_of(const Function& function);

}  // namespace cuda_on_cpu::ptx
