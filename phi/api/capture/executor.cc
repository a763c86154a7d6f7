// Buffers to places, arrays to storages, and the loop over the steps.
#include "phi/api/capture/executor.h"

#include <algorithm>

#include "phi/api/capture/buffer_places.h"
#include "phi/common/errors.h"
#include "phi/core/rank_context.h"
#include "phi/core/trace.h"

namespace phi {

using distributed::DistTensor;
using ir::Port;

namespace {

const DenseTensor& array_of(const Tensor& x) { return x.is_dist() ? x.dist().local() : x.dense(); }

std::string describe(const Port& port) {
  return port.attr ? port.meta.to_string() + " " + port.attr->to_string() : port.meta.to_string();
}

void check_input(const Port& port, const Tensor& given, size_t number) {
  const bool same = given.defined() && given.meta() == port.meta &&
                    (given.is_dist() ? given.dist_attr() : nullptr) == port.attr;
  PHI_CHECK(same,
            errors::InvalidArgument("input {} of a captured program is {}, but it was captured for "
                                    "{}; reshard or cast it, or capture the function again.",
                                    number, given.to_string(), describe(port)));
}

}  // namespace

Executor::Executor(std::shared_ptr<ir::Recording> recording) : recording_(std::move(recording)) {
  program_ = ir::flatten(*recording_);
  const size_t n = program_.buffers.size();
  offsets_.resize(n);
  patches_.resize(n);
  storages_.resize(n);
  place_buffers();
  bind_arrays();
}

void Executor::place_buffers() {
  const auto& buffers = program_.buffers;
  std::vector<bool> is_port(buffers.size());
  for (const Port& port : recording_->inputs()) {
    if (port.buffer >= 0) is_port[static_cast<size_t>(port.buffer)] = true;
  }
  for (const Port& port : recording_->outputs()) {
    if (port.buffer < 0 || port.external.defined()) continue;
    const auto buffer = static_cast<size_t>(port.buffer);
    if (!is_port[buffer]) made_per_run_.push_back(port.buffer);
    is_port[buffer] = true;
  }
  std::vector<LifeTime> lives;
  std::vector<int> life_of(buffers.size(), -1);
  std::vector<int> owners;
  int number = 0;
  for (const ir::RecordedStep& step : program_.steps) {
    for (const ir::BufferUse& use : step.uses) {
      if (use.buffer < 0) continue;
      const auto buffer = static_cast<size_t>(use.buffer);
      if (is_port[buffer] || buffers[buffer].external) continue;
      if (life_of[buffer] < 0) {
        life_of[buffer] = static_cast<int>(lives.size());
        lives.push_back({buffers[buffer].nbytes, number, number});
        owners.push_back(use.buffer);
      }
      lives[static_cast<size_t>(life_of[buffer])].last = number;
    }
    ++number;
  }
  const BufferPlaces places = phi::place_buffers(lives);
  arena_bytes_ = places.nbytes;
  for (size_t i = 0; i < owners.size(); ++i) {
    offsets_[static_cast<size_t>(owners[i])] = places.offsets[i];
  }
  for (size_t buffer = 0; buffer < buffers.size(); ++buffer) {
    storages_[buffer] = buffers[buffer].external;
  }
  if (arena_bytes_ > 0) arena_ = Storage::allocate(arena_bytes_, CPUPlace());
  for (const int owner : owners) storages_[static_cast<size_t>(owner)] = arena_;
}

void Executor::bind_arrays() {
  for (ir::RecordedStep& step : program_.steps) {
    size_t i = 0;
    step.step->visit([&](DenseTensor& array, Access) {
      const ir::BufferUse& use = step.uses[i++];
      if (use.buffer < 0) return;
      const auto buffer = static_cast<size_t>(use.buffer);
      const auto& storage = storages_[buffer];
      array = DenseTensor(array.meta(), storage, offsets_[buffer] + use.offset);
      if (!arena_ || storage != arena_) patches_[buffer].push_back({&array, use.offset});
    });
  }
}

void Executor::give(int buffer, const IntrusivePtr<Storage>& storage, size_t offset) {
  const auto number = static_cast<size_t>(buffer);
  storages_[number] = storage;
  offsets_[number] = offset;
  for (const Patch& patch : patches_[number]) {
    *patch.array = DenseTensor(patch.array->meta(), storage, offset + patch.offset);
  }
}

void Executor::take_inputs(const TensorList& inputs) {
  const auto& ports = recording_->inputs();
  PHI_CHECK(inputs.size() == ports.size(),
            errors::InvalidArgument("a captured program takes {} inputs, {} are given.",
                                    ports.size(), inputs.size()));
  for (size_t i = 0; i < ports.size(); ++i) {
    check_input(ports[i], inputs[i], i);
    if (ports[i].buffer < 0) continue;
    const DenseTensor& array = array_of(inputs[i]);
    array.raw_data();  // a deferred one comes here
    give(ports[i].buffer, array.storage(), array.byte_offset());
  }
}

TensorList Executor::take_outputs() const {
  TensorList outputs;
  for (const Port& port : recording_->outputs()) {
    if (port.meta.dtype == DataType::UNDEFINED) {
      outputs.emplace_back();
    } else if (port.external.defined()) {
      outputs.push_back(port.external);
    } else if (port.buffer < 0) {
      outputs.emplace_back(DistTensor::clipped(port.meta, port.attr, port.place, "capture"));
    } else {
      const auto buffer = static_cast<size_t>(port.buffer);
      DenseTensor local(port.local, storages_[buffer], offsets_[buffer] + port.offset);
      outputs.push_back(port.attr ? Tensor(DistTensor(port.meta, port.attr, std::move(local)))
                                  : Tensor(std::move(local)));
    }
  }
  return outputs;
}

TensorList Executor::run(const TensorList& inputs) {
  take_inputs(inputs);
  for (const int buffer : made_per_run_) {
    const size_t nbytes = program_.buffers[static_cast<size_t>(buffer)].nbytes;
    give(buffer, Storage::allocate(nbytes, CPUPlace()), 0);
  }
  run_steps();
  TensorList outputs = take_outputs();
  // Nothing of this run stays with the program but the arena.
  for (const int buffer : made_per_run_) give(buffer, nullptr, 0);
  for (const Port& port : recording_->inputs()) {
    if (port.buffer >= 0) give(port.buffer, nullptr, 0);
  }
  return outputs;
}

void Executor::run_steps() {
  RankContext& rank = RankContext::current();
  size_t number = 0;
  const char* name = "";
  try {
    for (ir::RecordedStep& step : program_.steps) {
      name = step.step->name();
      const OpScope scope(name);
      const TraceScope traced(rank.trace(), TraceKind::kOp, name);
      step.step->run();
      ++number;
    }
  } catch (Error& error) {
    error.note(fmt::format("step {} ({}) of a captured program", number, name));
    throw;
  }
  rank.counters().ops_launched += recording_->counted().ops_launched;
  rank.counters().ops_clipped += recording_->counted().ops_clipped;
}

}  // namespace phi
