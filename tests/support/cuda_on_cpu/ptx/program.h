// PTX functions in the interpreter's form. Registers, constants and addresses are 64-bit slots,
// numbered by the parser. An instruction is a function over slots.
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
  /// Executes the instruction and returns the next one; null at the end of the function.
  using Run = const Instruction* (*)(const Instruction& self, Frame& frame);

  Run run = nullptr;
  const Slot* slots = nullptr;  // operands, in source order
  int64_t offset = 0;           // offset of its address operand
  const Instruction* target = nullptr;
  const Function* callee = nullptr;
  bool guarded = false;
  bool guard_value = true;  // runs only if the guard has this value
  Slot guard = 0;
  int line = 0;  // line of the function's text, from 1
};

struct Function {
  /// A variable in the memory of a call. A kernel's parameters are stored with its launch instead.
  struct Variable {
    size_t offset = 0;
    size_t size = 0;
  };
  /// A slot that contains the address of such a variable, or of a byte within it.
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
  std::vector<uint64_t> slots;  // initial values
  std::vector<Address> addresses;
  std::vector<Given> given;
  std::vector<Special> specials;
  std::vector<Variable> parameters;
  std::vector<Variable> results;
  size_t memory = 0;                // bytes of variables per call
  std::vector<SharedArray> shared;  // used by this function or its callees
};

/// A call of a function by one thread.
struct Frame {
  const Function* function;
  std::vector<uint64_t> slots = {};
  std::vector<std::byte> memory = {};
  bool carry = false;
  size_t instructions = 0;          // number executed, if counting is enabled (counts.h)
  std::vector<size_t> visits = {};  // executions of each memory instruction, likewise
};

/// Runs a kernel for the current thread (block_state.h).
void run_kernel(const Function& kernel, std::span<const Argument> arguments);
/// Runs a function to its end. Its parameters are in the frame's memory.
void run(Frame& frame);
Frame frame_of(const Function& function);

}  // namespace cuda_on_cpu::ptx
