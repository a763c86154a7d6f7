// Plans buffers, binds arrays to storages, and runs the steps.
#include "api/capture/executor.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "api/call/write_journal.h"
#include "api/capture/drop_aliases.h"
#include "api/capture/reorder_steps.h"
#include "distributed/reshard/captured_steps.h"
#include "phi/common/errors.h"
#include "phi/core/box_copy.h"
#include "phi/core/device/device.h"
#include "phi/core/rank_context.h"
#include "phi/core/storage/source_bytes.h"
#include "phi/core/trace/trace.h"

namespace phi {

using distributed::DistTensor;
using ir::Port;
using memory::BufferId;

namespace {

// Device memory for the few scalars that a training step uses besides its inputs and outputs.
constexpr int64_t kMargin = 64 << 10;

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

// An estimate: compute time of one core plus the time of its memory traffic.
double seconds_of(const StepCost& cost) {
  constexpr double kFlops = 5e10;
  constexpr double kBytes = 1e10;
  return cost.bytes / kBytes + cost.flops / kFlops;
}

// The source of a tensor whose value the engine stores; read if the tensor is read between runs.
class EngineSource final : public Storage::Source {
 public:
  EngineSource(const TensorMeta& meta, std::shared_ptr<memory::SwapEngine> engine, BufferId buffer)
      : meta_(meta), engine_(std::move(engine)), buffer_(buffer) {}
  const TensorMeta& meta() const override { return meta_; }
  StorageState state() const override { return StorageState::kSwapped; }
  void read(const Box& box, DenseTensor* out) const override {
    std::vector<std::byte> whole(meta_.nbytes());
    engine_->get(buffer_, whole);
    copy_box(whole.data(), Box::whole(meta_.dims), out->mutable_raw_data(), box, box,
             size_of(meta_.dtype));
  }
  bool is_of(const memory::SwapEngine& engine) const { return engine_.get() == &engine; }

 private:
  TensorMeta meta_;
  std::shared_ptr<memory::SwapEngine> engine_;
  BufferId buffer_;
};

// Adds ops without a step to the trace: views, and ops of other ranks.
void show(Trace* trace, const ir::TracedOps& ops) {
  if (!trace) [[likely]]
    return;
  for (const TraceEvent* op : ops) {
    TraceEvent* const event = trace->add(op->kind, op->name);
    if (!event) continue;
    if (op->detail) event->detail = trace->text(op->detail);
    if (op->kind == TraceKind::kOp) event->duration_ns = 0;
  }
}

// The trace span of a step, preceded by the ops before it that have no step. Each op that the rank
// counts has one event; steps that are not ops have events of another kind.
class TracedStep {
 public:
  TracedStep(Trace* trace, const ir::RecordedStep& step, bool again)
      : span_(shown_before(trace, step, again),
              step.op && !again ? TraceKind::kOp : TraceKind::kStepOfProgram, step.name) {
    if (span_.event() && step.op && step.op->detail) [[unlikely]]
      span_.event()->detail = trace->text(step.op->detail);
  }

 private:
  static Trace* shown_before(Trace* trace, const ir::RecordedStep& step, bool again) {
    if (!again) show(trace, step.before);
    return trace;
  }

  TraceScope span_;
};

bool is_kept_by(const Storage::Source* source, const memory::SwapEngine& engine) {
  const auto* own = dynamic_cast<const EngineSource*>(source);
  return own && own->is_of(engine);
}

}  // namespace

Executor::Executor(std::shared_ptr<ir::Recording> recording, const ProgramMemory& memory)
    : recording_(std::move(recording)),
      program_(ir::flatten(*recording_)),
      memory_(memory),
      planned_(program_.buffers.size(), -1),
      offsets_(program_.buffers.size()),
      patches_(program_.buffers.size()),
      storages_(program_.buffers.size()) {
  find_ports();
  ir::drop_aliases(program_, is_port_);
  program_.steps = ir::hoist_accumulations(std::move(program_.steps));
  find_externals();
  plan_buffers();
  bind_arrays();
  make_replay();
}

Executor::~Executor() {
  if (charged_) charged_->remove(arena_->place().kind, plan().arena_bytes);
}

// ---- buffers ----

void Executor::find_ports() {
  is_port_.resize(program_.buffers.size());
  is_output_.resize(program_.buffers.size());
  for (const Port& port : recording_->inputs()) {
    if (port.buffer >= 0) is_port_[static_cast<size_t>(port.buffer)] = true;
  }
  for (const Port& port : recording_->outputs()) {
    if (port.buffer < 0 || port.external.defined()) continue;
    const auto buffer = static_cast<size_t>(port.buffer);
    is_output_[buffer] = true;
    if (!is_port_[buffer]) made_per_run_.push_back(port.buffer);
    is_port_[buffer] = true;
  }
}

void Executor::find_externals() {
  std::vector<int> index(program_.buffers.size(), -1);
  const auto external = [&](int buffer) -> External& {
    int& at = index[static_cast<size_t>(buffer)];
    if (at < 0) {
      at = static_cast<int>(externals_.size());
      externals_.push_back({.buffer = buffer, .handle = {}});
    }
    return externals_[static_cast<size_t>(at)];
  };
  std::unordered_map<const Storage*, int> by_storage;
  for (size_t buffer = 0; buffer < program_.buffers.size(); ++buffer) {
    const auto& storage = program_.buffers[buffer].external;
    if (storage) by_storage[storage.get()] = external(static_cast<int>(buffer)).buffer;
  }
  for (const auto* list : {&recording_->parameters(), &recording_->constants()}) {
    for (const ir::External& known : *list) {
      const auto found = by_storage.find(array_of(known.handle).storage().get());
      if (found != by_storage.end()) external(found->second).handle = known.handle;
    }
  }
  is_written_.resize(program_.buffers.size());
  for (const ir::RecordedStep& step : program_.steps) {
    for (const ir::BufferUse& use : step.uses) {
      const bool writes = use.access == Access::kWrite || use.access == Access::kUpdate;
      if (use.buffer >= 0 && writes) is_written_[static_cast<size_t>(use.buffer)] = true;
    }
  }
  for (External& found : externals_) {
    found.is_written = is_written_[static_cast<size_t>(found.buffer)];
  }
  // A constant that steps write to starts each run with its captured value.
  for (External& found : externals_) {
    const auto& storage = program_.buffers[static_cast<size_t>(found.buffer)].external;
    if (found.is_written && recording_->is_own(*storage)) found.initial = storage->source();
  }
}

memory::SwapStep Executor::swap_step(const ir::RecordedStep& step) const {
  memory::SwapStep out;
  out.name = step.name;
  out.seconds = seconds_of(step.step->cost());
  out.repeatable = step.step->is_repeatable();
  for (const ir::BufferUse& use : step.uses) {
    if (use.buffer < 0) continue;
    // A buffer outside the plan may have changed by the second run of the step if any step writes
    // to it.
    if (!is_planned(use.buffer)) {
      out.repeatable = out.repeatable && !is_written_[static_cast<size_t>(use.buffer)];
      continue;
    }
    const ir::ProgramBuffer& buffer = program_.buffers[static_cast<size_t>(use.buffer)];
    const bool whole = use.offset == 0 && use.nbytes == buffer.nbytes;
    const auto access = use.access == Access::kRead             ? memory::BufferAccess::kRead
                        : use.access == Access::kWrite && whole ? memory::BufferAccess::kWrite
                                                                : memory::BufferAccess::kUpdate;
    out.operands.push_back({planned_[static_cast<size_t>(use.buffer)], access});
  }
  return out;
}

memory::SwapProgram Executor::swap_program() {
  memory::SwapProgram out;
  const auto add = [&](int buffer, std::string name, bool given, bool keep) {
    planned_[static_cast<size_t>(buffer)] = static_cast<BufferId>(out.buffers.size());
    const auto nbytes = static_cast<int64_t>(program_.buffers[static_cast<size_t>(buffer)].nbytes);
    out.buffers.push_back({std::move(name), nbytes, given, keep});
  };
  for (const External& external : externals_) {
    const auto& storage = program_.buffers[static_cast<size_t>(external.buffer)].external;
    const bool can_leave = !storage->has_bytes() || storage->nbytes() > Storage::kInlineLimit;
    if (!external.initial && !(memory_.is_limited() && can_leave)) continue;
    const std::string shape = external.handle.defined() ? external.handle.to_string() : "";
    add(external.buffer, fmt::format("parameter {}", shape), true, !external.initial);
  }
  for (const ir::RecordedStep& step : program_.steps) {
    for (const ir::BufferUse& use : step.uses) {
      if (use.buffer < 0 || is_planned(use.buffer)) continue;
      const auto buffer = static_cast<size_t>(use.buffer);
      if (is_port_[buffer] || program_.buffers[buffer].external) continue;
      add(use.buffer, fmt::format("#{}", use.buffer), false, false);
    }
  }
  for (const ir::RecordedStep& step : program_.steps) out.steps.push_back(swap_step(step));
  return out;
}

// The device memory of a run in addition to the plan's arena.
int64_t Executor::bytes_outside_of_plan() const {
  int64_t bytes = kMargin;
  size_t scratch = 0;
  for (size_t buffer = 0; buffer < program_.buffers.size(); ++buffer) {
    const auto nbytes = static_cast<int64_t>(program_.buffers[buffer].nbytes);
    // The caller may still hold the outputs of the previous run.
    if (is_port_[buffer]) bytes += 2 * nbytes;
    if (program_.buffers[buffer].external && !is_planned(static_cast<int>(buffer))) bytes += nbytes;
  }
  for (const ir::RecordedStep& step : program_.steps) {
    scratch = std::max(scratch, step.step->scratch_bytes());
  }
  return bytes + static_cast<int64_t>(scratch);
}

// The plan may move arrays between any two steps, so no transfer may be in progress there.
void Executor::leave_nothing_under_way() {
  for (ir::RecordedStep& step : program_.steps) {
    auto* overlapping = dynamic_cast<distributed::AsyncReshardStep*>(step.step.get());
    if (overlapping) overlapping->make_synchronous();
  }
}

memory::SwapPlan Executor::make_plan() {
  const memory::SwapProgram program = swap_program();
  if (!memory_.is_limited()) return memory::make_swap_plan(program, memory_.limits);
  leave_nothing_under_way();
  const int64_t outside = bytes_outside_of_plan();
  try {
    return memory::make_swap_plan(program, memory_.limits, {}, outside);
  } catch (Error& error) {
    error.note(
        fmt::format("of the device's {} bytes (memory.device of a job), {} are reserved for the "
                    "program's inputs, its outputs, and scratch",
                    memory_.limits.device_bytes, outside));
    throw;
  }
}

void Executor::plan_buffers() {
  const Place& place = RankContext::current().place();
  memory::SwapPlan plan = make_plan();
  binds_each_launch_ = plan.launches.size() != program_.steps.size();
  const auto& account = RankContext::current().memory();
  PHI_CHECK(account->has_room(plan.arena_bytes),
            errors::ResourceExhausted("the arena of a captured program needs {} bytes, but the "
                                      "device is limited to {} and tensors hold {}.",
                                      plan.arena_bytes, account->device_limit(),
                                      memory_stats(Tier::kDevice).current));
  engine_ = std::make_shared<memory::SwapEngine>(
      std::move(plan),
      memory::SwapEngineOptions{.place = place, .disk_folder = memory_.disk_folder});
  charged_ = account;
  charged_->add(place.kind, engine_->plan().arena_bytes);
  const auto arena_bytes = static_cast<size_t>(engine_->plan().arena_bytes);
  arena_ = Storage::borrow(engine_->arena(), arena_bytes, place);
}

// ---- arrays ----

void Executor::bind_arrays() {
  for (const External& external : externals_) {
    if (is_planned(external.buffer)) continue;
    const auto buffer = static_cast<size_t>(external.buffer);
    storages_[buffer] = program_.buffers[buffer].external;
  }
  for (size_t number = 0; number < program_.steps.size(); ++number) {
    ir::RecordedStep& step = program_.steps[number];
    size_t i = 0;
    step.step->visit([&](DenseTensor& array, Access) {
      const ir::BufferUse& use = step.uses[i++];
      if (use.buffer < 0 || is_planned(use.buffer)) return;
      const auto buffer = static_cast<size_t>(use.buffer);
      array = DenseTensor(array.meta(), storages_[buffer], use.offset);
      patches_[buffer].push_back({&array, use.offset});
    });
    if (!binds_each_launch_) bind_planned(step, static_cast<int32_t>(number));
  }
}

void Executor::bind_planned(ir::RecordedStep& step, int32_t launch) {
  size_t i = 0;
  int32_t operand = 0;
  step.step->visit([&](DenseTensor& array, Access) {
    const ir::BufferUse& use = step.uses[i++];
    if (use.buffer < 0 || !is_planned(use.buffer)) return;
    const auto offset = static_cast<size_t>(plan().offset(launch, operand++));
    array = DenseTensor(array.meta(), arena_, offset + use.offset);
  });
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
            errors::InvalidArgument("a captured program takes {} inputs, {} are passed.",
                                    ports.size(), inputs.size()));
  for (size_t i = 0; i < ports.size(); ++i) {
    check_input(ports[i], inputs[i], i);
    if (ports[i].buffer < 0) continue;
    const DenseTensor& array = array_of(inputs[i]);
    array.raw_data();  // materialises a deferred input
    give(ports[i].buffer, array.storage(), array.byte_offset());
  }
}

// Binds the parameters' current storages: the user may have written to them or replaced them.
void Executor::take_externals() {
  for (External& external : externals_) {
    if (is_planned(external.buffer)) {
      take_planned(external);
    } else if (external.handle.defined()) {
      const auto& storage = array_of(external.handle).storage();
      if (storage != storages_[static_cast<size_t>(external.buffer)]) {
        give(external.buffer, storage, array_of(external.handle).byte_offset());
      }
    }
  }
}

// Moves the parameter's value to the engine, if it has changed, and swaps the parameter out.
void Executor::take_planned(External& external) {
  const auto fill_from = [&](const std::shared_ptr<const Storage::Source>& source) {
    engine_->put(planned_[static_cast<size_t>(external.buffer)],
                 [&](int64_t offset, std::span<std::byte> out) {
                   read_bytes(*source, static_cast<size_t>(offset), out);
                 });
  };
  if (external.initial) return fill_from(external.initial);
  const BufferId buffer = planned_[static_cast<size_t>(external.buffer)];
  const auto& known = program_.buffers[static_cast<size_t>(external.buffer)].external;
  const IntrusivePtr<Storage> storage =
      external.handle.defined() ? array_of(external.handle).storage() : known;
  const auto source = storage->source();
  const bool is_ours = is_kept_by(source.get(), *engine_);
  if (is_ours) return;
  const TensorMeta meta =
      external.handle.defined()
          ? array_of(external.handle).meta()
          : TensorMeta{{static_cast<int64_t>(storage->nbytes())}, DataType::UINT8};
  if (storage->has_bytes()) {
    const bool has_it = storage == known && external.version == storage->version() + 1;
    if (!has_it) {
      engine_->put(buffer, [&](int64_t offset, std::span<std::byte> out) {
        copy_bytes(out.data(), CPUPlace(), storage->data() + offset, storage->place(), out.size());
      });
    }
  } else {
    fill_from(source);
  }
  external.version = storage->version() + 1;  // 0: none yet
  storage->swap_out(std::make_shared<const EngineSource>(meta, engine_, buffer));
}

// ---- a run ----

// Returns the parameter's current tensor: the user may have replaced it since the capture.
Tensor Executor::external_output(const Port& port) const {
  for (const External& external : externals_) {
    if (external.buffer != port.buffer || !external.handle.defined()) continue;
    const DenseTensor local(port.local, array_of(external.handle).storage(), port.offset);
    return port.attr ? Tensor(DistTensor(port.meta, port.attr, local)) : Tensor(local);
  }
  return port.external;
}

TensorList Executor::take_outputs() const {
  TensorList outputs;
  for (const Port& port : recording_->outputs()) {
    if (port.meta.dtype == DataType::UNDEFINED) {
      outputs.emplace_back();
    } else if (port.external.defined()) {
      outputs.push_back(external_output(port));
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

// A step reads the addresses of its arguments in order. If it reads a copy-on-write alias of an
// array that it also writes to, the alias must have its own bytes before the step begins.
void Executor::copy_back_writes(const TensorList& inputs) {
  for (const ir::External& parameter : recording_->parameters()) {
    if (parameter.is_written) WriteJournal::note(parameter.handle);
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!recording_->inputs()[i].is_written) continue;
    WriteJournal::note(inputs[i]);
    array_of(inputs[i]).storage()->before_write();
  }
  for (const External& external : externals_) {
    if (!external.is_written || is_planned(external.buffer)) continue;
    storages_[static_cast<size_t>(external.buffer)]->before_write();
  }
}

// Counts the writes to parameters and inputs, so that a gradient that saved one of them detects the
// change. Every rank counts them, including ranks without bytes, on which no step writes.
void Executor::note_writes(const TensorList& inputs) {
  for (const ir::External& parameter : recording_->parameters()) {
    if (parameter.is_written) array_of(parameter.handle).storage()->note_write();
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (recording_->inputs()[i].is_written) array_of(inputs[i]).storage()->note_write();
  }
  for (External& external : externals_) {
    if (!external.is_written || external.initial) continue;
    const auto& known = program_.buffers[static_cast<size_t>(external.buffer)].external;
    const bool has_handle = external.handle.defined();
    Storage& storage = has_handle ? *array_of(external.handle).storage() : *known;
    if (!has_handle) storage.note_write();
    if (is_planned(external.buffer)) external.version = storage.version() + 1;
  }
}

// ---- captured graphs ----

void Executor::make_replay() {
  Device& device = Device::of(engine_->place());
  if (binds_each_launch_ || memory_.is_limited() || !device.can_capture()) return;
  replay_ = std::make_unique<Replay>(device, replay_steps(program_.steps),
                                     ReplayRanks::of(*recording_, engine_->place()));
  fixed_.resize(program_.buffers.size());
  tf32_ = RankContext::current().tf32();
}

// A rank whose steps are observed runs them one by one. The first run does too, because kernels
// make one-time allocations in it.
bool Executor::may_replay() const {
  const RankContext& rank = RankContext::current();
  return replay_ && replays_ && has_run_ && replay_->is_of_use() && !rank.trace() &&
         !rank.output_watch() && !rank.reshard_observer() && rank.tf32() == tf32_;
}

const IntrusivePtr<Storage>& Executor::fixed(int buffer) {
  auto& storage = fixed_[static_cast<size_t>(buffer)];
  if (!storage) {
    storage =
        Storage::allocate(program_.buffers[static_cast<size_t>(buffer)].nbytes, engine_->place());
  }
  return storage;
}

// Copies inputs to fixed memory, except for those that are written to or returned: these must keep
// the caller's storage.
void Executor::fix_inputs() {
  for (const Port& port : recording_->inputs()) {
    if (port.buffer < 0 || port.is_written) continue;
    const auto buffer = static_cast<size_t>(port.buffer);
    const size_t nbytes = program_.buffers[buffer].nbytes;
    const IntrusivePtr<Storage> given = storages_[buffer];
    const bool is_whole = given->nbytes() >= offsets_[buffer] + nbytes;
    if (is_output_[buffer] || is_written_[buffer] || !is_whole || nbytes == 0) continue;
    copy_bytes(fixed(port.buffer)->data(), engine_->place(), given->data() + offsets_[buffer],
               given->place(), nbytes);
    give(port.buffer, fixed(port.buffer), 0);
  }
}

void Executor::make_outputs(bool replays) {
  for (const int buffer : made_per_run_) {
    const size_t nbytes = program_.buffers[static_cast<size_t>(buffer)].nbytes;
    give(buffer, replays ? fixed(buffer) : Storage::allocate(nbytes, engine_->place()), 0);
  }
}

void Executor::hand_out_outputs() {
  for (const int buffer : made_per_run_) {
    const size_t nbytes = program_.buffers[static_cast<size_t>(buffer)].nbytes;
    const IntrusivePtr<Storage> out = Storage::allocate(nbytes, engine_->place());
    copy_bytes(out->data(), engine_->place(), fixed(buffer)->data(), engine_->place(), nbytes);
    give(buffer, out, 0);
  }
}

// Buffers of the plan are left out: their addresses are fixed.
std::optional<Replay::Addresses> Executor::addresses_of(size_t begin, size_t end) const {
  Replay::Addresses addresses;
  for (size_t number = begin; number < end; ++number) {
    for (const ir::BufferUse& use : program_.steps[number].uses) {
      if (use.buffer < 0 || is_planned(use.buffer)) continue;
      const auto buffer = static_cast<size_t>(use.buffer);
      if (!storages_[buffer] || !storages_[buffer]->has_bytes()) return std::nullopt;
      addresses.push_back(storages_[buffer]->data() + offsets_[buffer]);
    }
  }
  return addresses;
}

TensorList Executor::run(const TensorList& inputs) {
  PHI_CHECK(!recording_->follows_pass || !RankContext::current().generator().state().pass,
            errors::Unimplemented("a captured program with dropout runs within a micro-batch, but "
                                  "does not know its number; call the function uncaptured, or "
                                  "outside of nn::ForwardContextScope and training.micro_batch."));
  const bool replays = may_replay();
  take_inputs(inputs);
  take_externals();
  copy_back_writes(inputs);
  if (replays) fix_inputs();
  make_outputs(replays);
  engine_->begin_run();
  run_steps(replays);
  engine_->end_run();
  has_run_ = true;
  note_writes(inputs);
  if (replays) hand_out_outputs();
  TensorList outputs = take_outputs();
  // The program keeps no storage of this run except for the arena.
  for (const int buffer : made_per_run_) give(buffer, nullptr, 0);
  for (const Port& port : recording_->inputs()) {
    if (port.buffer >= 0) give(port.buffer, nullptr, 0);
  }
  return outputs;
}

void Executor::run_all(const std::function<void(int32_t launch)>& run, bool replays) {
  if (replays) {
    replay_->run([&](size_t step) { run(static_cast<int32_t>(step)); },
                 [&](size_t begin, size_t end) { return addresses_of(begin, end); });
    engine_->skip_launches();
    return;
  }
  if (replay_) replay_->skip_run();
  for (int32_t launch = 0; launch < engine_->num_launches(); ++launch) {
    if (binds_each_launch_) {
      bind_planned(program_.steps[static_cast<size_t>(engine_->step(launch))], launch);
    }
    engine_->before_launch(launch);
    run(launch);
    engine_->after_launch(launch);
  }
}

void Executor::run_steps(bool replays) {
  RankContext& rank = RankContext::current();
  int32_t current = 0;
  const char* name = "";
  const auto run = [&](int32_t launch) {
    ir::RecordedStep& step = program_.steps[static_cast<size_t>(engine_->step(launch))];
    current = launch;
    name = step.name;
    const OpScope scope(name);
    const bool again = plan().launches[static_cast<size_t>(launch)].recompute;
    const TracedStep traced(rank.trace(), step, again);
    step.step->run();
  };
  try {
    run_all(run, replays);
    show(rank.trace(), program_.trailing_ops);
  } catch (Error& error) {
    error.note(fmt::format("step {} ({}) of a captured program", current, name));
    throw;
  }
  rank.counters().ops_launched += recording_->counted().ops_launched;
  rank.counters().ops_clipped += recording_->counted().ops_clipped;
  rank.generator().skip(recording_->draws());
}

}  // namespace phi
