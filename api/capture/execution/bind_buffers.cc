// Attaches storages to arrays, and checks and makes the tensors of a run.
#include "api/capture/execution/bind_buffers.h"

#include <string>
#include <utility>

#include "api/call/write_journal.h"
#include "phi/common/errors.h"
#include "phi/core/rank_context.h"

namespace phi {

using distributed::DistTensor;
using ir::Port;

namespace {

// Binds the step's arrays outside of the plan, and finds those that later runs bind again.
void bind_unplanned(ProgramState& program, ir::RecordedStep& step) {
  size_t i = 0;
  step.step->visit([&](DenseTensor& array, Access) {
    const ir::BufferUse& use = step.uses[i++];
    if (use.buffer == ir::kNoBuffer) return;
    BufferState& buffer = program.at(use.buffer);
    if (buffer.is_planned()) return;
    array = DenseTensor(array.meta(), buffer.storage, use.offset);
    buffer.patches.push_back({&array, use.offset});
  });
}

// Brings a deferred input here.
void materialise(const DenseTensor& array) {
  if (!RankContext::current().is_dry()) {
    array.raw_data();
  } else if (array.storage()->source()) {
    array.storage()->materialise();
  }
}

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

Tensor tensor_of_port(const Port& port, DenseTensor local) {
  return port.attr ? Tensor(DistTensor(port.meta, port.attr, std::move(local)))
                   : Tensor(std::move(local));
}

// Returns the parameter's current tensor: the user may have replaced it since the capture.
Tensor external_output(const ProgramState& program, const Port& port) {
  for (const ExternalState& external : program.externals) {
    if (external.buffer != port.buffer || !external.handle.defined()) continue;
    const auto& storage = array_of(external.handle).storage();
    return tensor_of_port(port, DenseTensor(port.local, storage, port.offset));
  }
  return port.external;
}

Tensor bound_output(const ProgramState& program, const Port& port) {
  if (port.meta.dtype == DataType::UNDEFINED) return {};
  if (port.external.defined()) return external_output(program, port);
  if (port.buffer == ir::kNoBuffer) {
    return Tensor(DistTensor::clipped(port.meta, port.attr, port.place, "capture"));
  }
  const BufferState& buffer = program.at(port.buffer);
  return tensor_of_port(port, DenseTensor(port.local, buffer.storage, buffer.offset + port.offset));
}

}  // namespace

void bind_steps(ProgramState& program, const ProgramArena& arena) {
  for (const ExternalState& external : program.externals) {
    BufferState& buffer = program.at(external.buffer);
    if (!buffer.is_planned()) buffer.storage = buffer.external;
  }
  int32_t launch = 0;
  for (ir::RecordedStep& step : program.steps) {
    bind_unplanned(program, step);
    if (!arena.binds_each_launch()) bind_launch(program, arena, step, launch++);
  }
}

void bind_launch(const ProgramState& program, const ProgramArena& arena, ir::RecordedStep& step,
                 int32_t launch) {
  size_t i = 0;
  int32_t operand = 0;
  step.step->visit([&](DenseTensor& array, Access) {
    const ir::BufferUse& use = step.uses[i++];
    if (use.buffer == ir::kNoBuffer || !program.at(use.buffer).is_planned()) return;
    const auto offset = static_cast<size_t>(arena.plan().offset(launch, operand++));
    array = DenseTensor(array.meta(), arena.storage(), offset + use.offset);
  });
}

void bind_inputs(ProgramState& program, const TensorList& inputs) {
  const auto& ports = program.recording->inputs();
  PHI_CHECK(inputs.size() == ports.size(),
            errors::InvalidArgument("a captured program takes {} inputs, {} are passed.",
                                    ports.size(), inputs.size()));
  for (size_t i = 0; i < ports.size(); ++i) {
    check_input(ports[i], inputs[i], i);
    if (ports[i].buffer == ir::kNoBuffer) continue;
    const DenseTensor& array = array_of(inputs[i]);
    materialise(array);
    program.at(ports[i].buffer).bind(array.storage(), array.byte_offset());
  }
}

void bind_parameter(ProgramState& program, const ExternalState& external) {
  if (!external.handle.defined()) return;
  const DenseTensor& array = array_of(external.handle);
  BufferState& buffer = program.at(external.buffer);
  if (array.storage() != buffer.storage) buffer.bind(array.storage(), array.byte_offset());
}

void allocate_outputs(ProgramState& program, const Place& place) {
  for (const ir::BufferId output : program.outputs) {
    BufferState& buffer = program.at(output);
    buffer.bind(Storage::allocate(buffer.nbytes, place), 0);
  }
}

TensorList bound_outputs(const ProgramState& program) {
  TensorList outputs;
  for (const Port& port : program.recording->outputs()) {
    outputs.push_back(bound_output(program, port));
  }
  return outputs;
}

void unbind_ports(ProgramState& program) {
  for (const ir::BufferId output : program.outputs) program.at(output).bind(nullptr, 0);
  for (const Port& port : program.recording->inputs()) {
    if (port.buffer != ir::kNoBuffer) program.at(port.buffer).bind(nullptr, 0);
  }
}

void prepare_writes(const ProgramState& program, const TensorList& inputs) {
  const ir::Recording& recording = *program.recording;
  for (const ir::External& parameter : recording.parameters()) {
    if (parameter.is_written) WriteJournal::note(parameter.handle);
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!recording.inputs()[i].is_written) continue;
    WriteJournal::note(inputs[i]);
    array_of(inputs[i]).storage()->before_write();
  }
  for (const ExternalState& external : program.externals) {
    const BufferState& buffer = program.at(external.buffer);
    if (buffer.is_written && !buffer.is_planned()) buffer.storage->before_write();
  }
}

void note_writes(ProgramState& program, const TensorList& inputs) {
  const ir::Recording& recording = *program.recording;
  for (const ir::External& parameter : recording.parameters()) {
    if (parameter.is_written) array_of(parameter.handle).storage()->note_write();
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (recording.inputs()[i].is_written) array_of(inputs[i]).storage()->note_write();
  }
  for (ExternalState& external : program.externals) {
    const BufferState& buffer = program.at(external.buffer);
    if (!buffer.is_written || external.initial) continue;
    const bool has_handle = external.handle.defined();
    Storage& storage = has_handle ? *array_of(external.handle).storage() : *buffer.external;
    if (!has_handle) storage.note_write();
    if (buffer.is_planned()) external.version = storage.version() + 1;
  }
}

}  // namespace phi
