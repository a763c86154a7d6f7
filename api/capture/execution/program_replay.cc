// Keeps addresses fixed for graphs, and locates the buffers that they use.
#include "api/capture/execution/program_replay.h"

#include "phi/core/device/device.h"
#include "phi/core/rank_context.h"

namespace phi {

ProgramReplay::ProgramReplay(ProgramState& program, const Place& place)
    : program_(program),
      place_(place),
      replay_(Device::of(place), replay_steps(program.steps),
              ReplayRanks::of(*program.recording, place)),
      tf32_(RankContext::current().tf32()) {}

bool ProgramReplay::is_usable() const {
  const RankContext& rank = RankContext::current();
  return replay_.is_of_use() && !rank.observers().any() && rank.tf32() == tf32_;
}

const IntrusivePtr<Storage>& ProgramReplay::fixed(BufferState& buffer) const {
  if (!buffer.fixed) buffer.fixed = Storage::allocate(buffer.nbytes, place_);
  return buffer.fixed;
}

void ProgramReplay::fix_inputs() {
  for (const ir::Port& port : program_.recording->inputs()) {
    if (port.buffer == ir::kNoBuffer || port.is_written) continue;
    BufferState& buffer = program_.at(port.buffer);
    const IntrusivePtr<Storage> given = buffer.storage;
    const bool is_whole = given->nbytes() >= buffer.offset + buffer.nbytes;
    if (buffer.is_output || buffer.is_written || !is_whole || buffer.nbytes == 0) continue;
    copy_bytes(fixed(buffer)->data(), place_, given->data() + buffer.offset, given->place(),
               buffer.nbytes);
    buffer.bind(fixed(buffer), 0);
  }
}

void ProgramReplay::fix_outputs() {
  for (const ir::BufferId output : program_.outputs) {
    BufferState& buffer = program_.at(output);
    buffer.bind(fixed(buffer), 0);
  }
}

void ProgramReplay::copy_outputs() {
  for (const ir::BufferId output : program_.outputs) {
    BufferState& buffer = program_.at(output);
    const IntrusivePtr<Storage> out = Storage::allocate(buffer.nbytes, place_);
    copy_bytes(out->data(), place_, fixed(buffer)->data(), place_, buffer.nbytes);
    buffer.bind(out, 0);
  }
}

// Buffers of the plan are left out: their addresses are fixed.
std::optional<Replay::Addresses> ProgramReplay::addresses_of(size_t begin, size_t end) const {
  Replay::Addresses addresses;
  for (size_t number = begin; number < end; ++number) {
    for (const ir::BufferUse& use : program_.steps[number].uses) {
      if (use.buffer == ir::kNoBuffer) continue;
      const BufferState& buffer = program_.at(use.buffer);
      if (buffer.is_planned()) continue;
      if (!buffer.storage || !buffer.storage->has_bytes()) return std::nullopt;
      addresses.push_back(buffer.storage->data() + buffer.offset);
    }
  }
  return addresses;
}

void ProgramReplay::run(const RunLaunch& run) {
  replay_.run([&](size_t step) { run(static_cast<int32_t>(step)); },
              [&](size_t begin, size_t end) { return addresses_of(begin, end); });
}

}  // namespace phi
