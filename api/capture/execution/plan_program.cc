// Translates a captured program to a swap program.
#include "api/capture/execution/plan_program.h"

#include <algorithm>
#include <string>
#include <utility>

#include "distributed/reshard/captured_steps.h"
#include "distributed/simulator/machine.h"
#include "phi/common/errors.h"

namespace phi {
namespace {

using distributed::simulator::MachineModel;

// Device memory for the few scalars that a training step uses besides its inputs and outputs.
constexpr int64_t kMargin = 64 << 10;

// How long a step takes on one core of a CPU, if no machine is given.
double seconds_on_a_core(const StepCost& cost) {
  constexpr double kFlopsPerSecond = 5e10;
  constexpr double kBytesPerSecond = 1e10;
  return cost.bytes() / kBytesPerSecond + cost.flops / kFlopsPerSecond;
}

double seconds_of(Step& step, const MachineModel* machine) {
  const StepCost cost = step.cost();
  if (machine == nullptr) return seconds_on_a_core(cost);
  return machine->time_of({step.name(), cost.dtype, cost.flops, cost.bytes()}).seconds;
}

memory::BufferAccess plan_access(const ir::BufferUse& use, const BufferState& buffer) {
  if (use.access == Access::kRead) return memory::BufferAccess::kRead;
  const bool whole = use.offset == 0 && use.nbytes == buffer.nbytes;
  return use.access == Access::kWrite && whole ? memory::BufferAccess::kWrite
                                               : memory::BufferAccess::kUpdate;
}

memory::SwapStep swap_step(const ProgramState& program, const ir::RecordedStep& step,
                           const MachineModel* machine) {
  memory::SwapStep out;
  out.name = step.name;
  out.seconds = seconds_of(*step.step, machine);
  out.repeatable = step.step->is_repeatable();
  for (const ir::BufferUse& use : step.uses) {
    if (use.buffer == ir::kNoBuffer) continue;
    const BufferState& buffer = program.at(use.buffer);
    // A buffer outside the plan may have changed by the second run of the step if any step writes
    // to it.
    if (!buffer.is_planned()) {
      out.repeatable = out.repeatable && !buffer.is_written;
      continue;
    }
    out.operands.push_back({buffer.planned, plan_access(use, buffer)});
  }
  return out;
}

void add_buffer(BufferState& buffer, memory::SwapBuffer added, memory::SwapProgram* out) {
  buffer.planned = static_cast<memory::SwapBufferId>(out->buffers.size());
  added.nbytes = static_cast<int64_t>(buffer.nbytes);
  out->buffers.push_back(std::move(added));
}

void add_externals(ProgramState& program, bool is_limited, memory::SwapProgram* out) {
  for (const ExternalState& external : program.externals) {
    BufferState& buffer = program.at(external.buffer);
    const Storage& storage = *buffer.external;
    const bool can_leave = !storage.has_bytes() || storage.nbytes() > Storage::kInlineLimit;
    if (!external.initial && !(is_limited && can_leave)) continue;
    const std::string shape = external.handle.defined() ? external.handle.to_string() : "";
    add_buffer(
        buffer,
        {.name = fmt::format("parameter {}", shape), .given = true, .keep = !external.initial},
        out);
  }
}

memory::SwapProgram swap_program(ProgramState& program, const ProgramMemory& memory) {
  memory::SwapProgram out;
  add_externals(program, memory.is_limited(), &out);
  for (const ir::RecordedStep& step : program.steps) {
    for (const ir::BufferUse& use : step.uses) {
      if (use.buffer == ir::kNoBuffer) continue;
      BufferState& buffer = program.at(use.buffer);
      if (buffer.is_planned() || buffer.is_port() || buffer.external) continue;
      add_buffer(buffer, {.name = fmt::format("#{}", ir::index_of(use.buffer))}, &out);
    }
  }
  for (const ir::RecordedStep& step : program.steps) {
    out.steps.push_back(swap_step(program, step, memory.machine.get()));
  }
  return out;
}

// The device memory of a run in addition to the plan's arena.
int64_t bytes_outside_of_plan(const ProgramState& program) {
  int64_t bytes = kMargin;
  for (const BufferState& buffer : program.buffers) {
    const auto nbytes = static_cast<int64_t>(buffer.nbytes);
    // The caller may still hold the outputs of the previous run.
    if (buffer.is_port()) bytes += 2 * nbytes;
    if (buffer.external && !buffer.is_planned()) bytes += nbytes;
  }
  size_t scratch = 0;
  for (const ir::RecordedStep& step : program.steps) {
    scratch = std::max(scratch, step.step->scratch_bytes());
  }
  return bytes + static_cast<int64_t>(scratch);
}

// The plan may move arrays between any two steps, so no transfer may be in progress there.
void leave_nothing_under_way(ProgramState& program) {
  for (ir::RecordedStep& step : program.steps) {
    auto* overlapping = dynamic_cast<distributed::AsyncReshardStep*>(step.step.get());
    if (overlapping) overlapping->make_synchronous();
  }
}

}  // namespace

memory::SwapPlan plan_program(ProgramState& program, const ProgramMemory& memory) {
  const memory::SwapProgram swapped = swap_program(program, memory);
  if (!memory.is_limited()) return memory::make_swap_plan(swapped, memory.limits);
  leave_nothing_under_way(program);
  const int64_t outside = bytes_outside_of_plan(program);
  try {
    return memory::make_swap_plan(swapped, memory.limits, {}, outside);
  } catch (Error& error) {
    error.note(
        fmt::format("of the device's {} bytes (memory.device of a job), {} are reserved for the "
                    "program's inputs, its outputs, and scratch",
                    memory.limits.device_bytes, outside));
    throw;
  }
}

}  // namespace phi
