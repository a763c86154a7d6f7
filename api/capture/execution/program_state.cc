// Finds what each buffer is used for: port, parameter, constant, or result of a step.
#include "api/capture/execution/program_state.h"

#include <unordered_map>
#include <utility>

#include "api/capture/execution/drop_aliases.h"
#include "api/capture/execution/reorder_steps.h"

namespace phi {

void BufferState::bind(const IntrusivePtr<Storage>& new_storage, size_t new_offset) {
  storage = new_storage;
  offset = new_offset;
  for (const Patch& patch : patches) {
    *patch.array = DenseTensor(patch.array->meta(), storage, offset + patch.offset);
  }
}

ProgramState::ProgramState(std::shared_ptr<ir::Recording> of) : recording(std::move(of)) {
  ir::FlatProgram flat = ir::flatten(*recording);
  for (const ir::ProgramBuffer& buffer : flat.buffers) {
    BufferState& state = buffers.emplace_back();
    state.nbytes = buffer.nbytes;
    state.external = buffer.external;
  }
  find_ports();
  ir::drop_aliases(flat, [&](ir::BufferId id) { return at(id).is_port(); });
  steps = ir::hoist_accumulations(std::move(flat.steps));
  trailing_ops = std::move(flat.trailing_ops);
  find_written();
  find_externals();
}

void ProgramState::find_ports() {
  for (const ir::Port& port : recording->inputs()) {
    if (port.buffer != ir::kNoBuffer) at(port.buffer).is_input = true;
  }
  for (const ir::Port& port : recording->outputs()) {
    if (port.buffer == ir::kNoBuffer || port.external.defined()) continue;
    BufferState& buffer = at(port.buffer);
    if (!buffer.is_port()) outputs.push_back(port.buffer);
    buffer.is_output = true;
  }
}

void ProgramState::find_written() {
  for (const ir::RecordedStep& step : steps) {
    for (const ir::BufferUse& use : step.uses) {
      if (use.buffer != ir::kNoBuffer && use.writes()) at(use.buffer).is_written = true;
    }
  }
}

void ProgramState::find_externals() {
  std::unordered_map<const Storage*, size_t> by_storage;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const IntrusivePtr<Storage>& storage = buffers[i].external;
    if (!storage) continue;
    by_storage[storage.get()] = externals.size();
    ExternalState& external = externals.emplace_back();
    external.buffer = ir::buffer_id(i);
    // A constant that steps write to starts each run with its captured value.
    const bool is_reset = buffers[i].is_written && recording->is_own(*storage);
    if (is_reset) external.initial = storage->source();
  }
  for (const auto* list : {&recording->parameters(), &recording->constants()}) {
    for (const ir::External& known : *list) {
      const auto found = by_storage.find(array_of(known.handle).storage().get());
      if (found != by_storage.end()) externals[found->second].handle = known.handle;
    }
  }
}

}  // namespace phi
