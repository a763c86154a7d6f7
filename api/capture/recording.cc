// Records values by key, parameters and constants, and the steps of this rank.
#include "api/capture/recording.h"

#include <fmt/format.h>

#include <utility>

#include "phi/common/errors.h"
#include "phi/core/copy_step.h"

namespace phi::ir {

using distributed::DistTensor;

namespace {

External external_of(const Tensor& x, ValueId value) {
  return {x, x.detach(), value, array_of(x).storage()->version()};
}

Tensor tensor_of(const ShownValue& value) {
  if (value.layout == nullptr) return Tensor(value.array);
  const auto* attr = static_cast<const distributed::TensorDistAttr*>(value.layout);
  return Tensor(DistTensor(value.meta, attr, value.array));
}

Value value_for(const Tensor& x) { return {x.meta(), x.is_dist() ? x.dist_attr() : nullptr}; }

}  // namespace

size_t Recording::KeyHash::operator()(const Key& key) const {
  size_t hash = key.storage * 0x9e3779b97f4a7c15u ^ key.offset;
  hash ^= reinterpret_cast<uintptr_t>(key.attr) + (hash << 6);
  for (const int64_t extent : key.dims) hash = hash * 31 + static_cast<size_t>(extent);
  return hash;
}

Recording::Key Recording::key_of(const Tensor& x) {
  const DenseTensor& array = array_of(x);
  return {array.storage()->id(), array.byte_offset(), x.is_dist() ? x.dist_attr() : nullptr,
          x.shape()};
}

Recording::Recording(const IntrusivePtr<MemoryAccount>& account, ScanMode scans)
    : account_(account), scan_mode_(scans) {
  frames_.push_back(std::make_unique<Frame>());
  stack_.push_back(0);
}

// ---- values ----

void Recording::add_input(const Tensor& x) {
  const ValueId value = new_value(x);
  top().body.inputs.push_back(value);
  define(x, value);
  const BufferId buffer = buffer_of(x);
  if (!is_program()) return;
  inputs_.push_back(port_of(x));
  inputs_.back().buffer = buffer;
  given_.push_back(external_of(x, value));
}

ValueId Recording::new_value(Frame& frame, const Value& value) {
  frame.body.values.push_back(value);
  return static_cast<ValueId>(frame.body.values.size() - 1);
}

ValueId Recording::new_value(const Tensor& x) { return new_value(top(), value_for(x)); }

void Recording::define(const Tensor& x, ValueId value) {
  top().values[key_of(x)] = value;
  top().last_value[array_of(x).storage()->id()] = value;
}

ValueId Recording::known(const Frame& frame, const Tensor& x) {
  const auto found = frame.values.find(key_of(x));
  return found == frame.values.end() ? kAbsent : found->second;
}

ValueId Recording::of_storage(const Frame& frame, const Tensor& x) {
  const auto found = frame.last_value.find(array_of(x).storage()->id());
  return found == frame.last_value.end() ? kAbsent : found->second;
}

ValueId Recording::value_of(const Tensor& x) {
  if (!x.defined()) return kAbsent;
  if (const ValueId value = known(top(), x); value != kAbsent) return value;
  if (const ValueId value = of_storage(top(), x); value != kAbsent) return add_move(x, value);
  if (is_program()) {
    const auto found = elements_.find(key_of(x));
    return found != elements_.end() ? element(x, found->second) : add_external(x);
  }
  top().used.push_back({x.detach(), array_of(x).storage()->version(), x.requires_grad()});
  ValueId inner = kAbsent;
  if (top().follows >= 0) {
    const Frame& other = frame(top().follows);
    if (const ValueId value = known(other, x); value != kAbsent) {
      inner = followed(other, value);
    } else if (const ValueId same_bytes = of_storage(other, x); same_bytes != kAbsent) {
      return add_move(x, followed(other, same_bytes));
    }
  }
  if (inner == kAbsent) inner = linked(top().invariant, in_program(x), value_for(x));
  define(x, inner);
  return inner;
}

// x's value in the program, outside the open body.
ValueId Recording::in_program(const Tensor& x) {
  stack_.push_back(0);
  const ValueId value = value_of(x);
  stack_.pop_back();
  return value;
}

// The value of the open body that corresponds to `outer`; added if there is none.
ValueId Recording::linked(std::vector<Link>& links, ValueId outer, Value value) {
  for (const Link& link : links) {
    if (link.outer == outer) return link.inner;
  }
  links.push_back({outer, new_value(top(), value)});
  return links.back().inner;
}

// The value of the open body that corresponds to `value` of the body that it follows.
ValueId Recording::followed(const Frame& other, ValueId value) {
  const Value& kind = other.body.values[static_cast<size_t>(value)];
  for (const Link& link : other.invariant) {
    if (link.inner == value) return linked(top().invariant, link.outer, kind);
  }
  return linked(top().followed, value, kind);
}

// Adds a move that defines x as a view of value `of`, or as the same value with other placements.
ValueId Recording::add_move(const Tensor& x, ValueId of) {
  Operation move;
  move.kind = OperationKind::kMove;
  move.inputs = {of};
  const ValueId value = new_value(x);
  move.outputs = {value};
  define(x, value);
  add_operation(std::move(move));
  return value;
}

ValueId Recording::add_external(const Tensor& x) {
  const Storage& storage = *array_of(x).storage();
  const bool own = is_own(storage);
  PHI_CHECK(!own || storage.source() || storage.has_bytes(),
            errors::Internal(
                "the captured program uses {} (storage {}), which none of its steps created.",
                x.to_string(), storage.id()));
  const ValueId value = new_value(x);
  define(x, value);
  (own ? constants_ : parameters_).push_back(external_of(x, value));
  return value;
}

// ---- scans ----

int Recording::begin_body(int follows) {
  take_ops();
  stack_.push_back(static_cast<int>(frames_.size()));
  frames_.push_back(std::make_unique<Frame>());
  top().follows = follows;
  top().counted = RankContext::current().counters();
  return stack_.back() - 1;
}

void Recording::end_body(const TensorList& results) {
  for (const Tensor& x : results) value_of(x);
  take_ops();
  const Counters& now = RankContext::current().counters();
  top().counted.ops_launched = now.ops_launched - top().counted.ops_launched;
  top().counted.ops_clipped = now.ops_clipped - top().counted.ops_clipped;
  stack_.pop_back();
}

Tensor Recording::tracked_of_outside() const {
  for (const Used& used : top().used) {
    if (used.requires_grad) return used.handle;
  }
  return {};
}

void Recording::check_nothing_written(const Frame& body, const ScanInterface& ends) {
  const auto refuse = [](const std::string& what) {
    throw errors::Unimplemented(
        "scan: the function writes to {}, which a captured scan does not support; write to a "
        "clone, or outside of the scan.",
        what);
  };
  for (size_t k = 0; k <= ends.inputs.size(); ++k) {
    const Tensor& given = k == 0 ? ends.carried_in : ends.inputs[k - 1].inner;
    if (known(body, given) == body.body.inputs[k]) continue;
    refuse(k == 0 ? "x" : fmt::format("tensor {} of its layer", k - 1));
  }
  for (const Used& used : body.used) {
    if (array_of(used.handle).storage()->version() == used.version) continue;
    refuse(fmt::format("{}, which it did not create", used.handle.to_string()));
  }
}

void Recording::add_scan(const ScanInterface& ends) {
  Frame& body = frame(ends.body);
  check_nothing_written(body, ends);
  body.used.clear();
  Operation scan;
  scan.kind = OperationKind::kScan;
  scan.body = ends.body;
  scan.trips = ends.trips;
  scan.reversed = ends.reversed;
  scan.num_carried = 1;
  scan.num_invariant = static_cast<int>(body.invariant.size());
  scan.inputs = {value_of(ends.first)};
  body.body.inputs = {known(body, ends.carried_in)};
  for (const Link& link : body.invariant) {
    scan.inputs.push_back(link.outer);
    body.body.inputs.push_back(link.inner);
  }
  for (const Link& link : body.followed) {
    const ValueId sequence = sequence_for(frame(body.follows), link.outer, ends.trips);
    body.trip_inputs.push_back({sequence, link.inner});
  }
  for (const ScanInterface::PerTrip& input : ends.inputs) {
    body.trip_inputs.push_back({sequence_of(input.outer), known(body, input.inner)});
  }
  for (const Link& link : body.trip_inputs) {
    scan.inputs.push_back(link.outer);
    body.body.inputs.push_back(link.inner);
  }
  body.body.outputs = {known(body, ends.carried_out)};
  scan.outputs = {new_value(ends.last)};
  define(ends.last, scan.outputs[0]);
  body.scan = top().body.operations.size();
  add_operation(std::move(scan));
  for (const ScanInterface::PerTrip& output : ends.outputs) {
    const ValueId sequence = sequence_for(body, known(body, output.inner), ends.trips);
    for (size_t i = 0; i < output.outer.size(); ++i) {
      elements_[key_of(output.outer[i])] = {sequence, static_cast<int64_t>(i)};
    }
  }
  Counters& counters = RankContext::current().counters();
  counters.ops_launched += body.counted.ops_launched * (ends.trips - 1);
  counters.ops_clipped += body.counted.ops_clipped * (ends.trips - 1);
  add_scan_step(ends);
}

// The sequence, in the program, of what `value` is in each trip of a body that has ended.
ValueId Recording::sequence_for(Frame& body, ValueId value, int64_t trips) {
  for (const auto* links : {&body.trip_inputs, &body.trip_outputs}) {
    for (const Link& link : *links) {
      if (link.inner == value) return link.outer;
    }
  }
  Value kind = body.body.values[static_cast<size_t>(value)];
  kind.count = trips;
  Frame& program = *frames_[0];
  const ValueId sequence = new_value(program, kind);
  body.trip_outputs.push_back({sequence, value});
  body.body.outputs.push_back(value);
  program.body.operations[body.scan].outputs.push_back(sequence);
  return sequence;
}

ValueId Recording::sequence_of(const TensorList& elements) {
  Operation operation;
  operation.kind = OperationKind::kSequence;
  for (const Tensor& x : elements) operation.inputs.push_back(value_of(x));
  Value kind = value_for(elements[0]);
  kind.count = static_cast<int64_t>(elements.size());
  // A scan and the one that follows it share a sequence of the same elements.
  for (const Operation& other : top().body.operations) {
    if (other.kind == OperationKind::kSequence && other.inputs == operation.inputs)
      return other.outputs[0];
  }
  operation.outputs = {new_value(top(), kind)};
  add_operation(std::move(operation));
  return top().body.operations.back().outputs[0];
}

ValueId Recording::element(const Tensor& x, const Element& which) {
  Operation operation;
  operation.kind = OperationKind::kElement;
  operation.inputs = {which.sequence};
  operation.index = which.index;
  const ValueId value = new_value(x);
  operation.outputs = {value};
  define(x, value);
  add_operation(std::move(operation));
  return value;
}

void Recording::add_scan_step(const ScanInterface& ends) {
  if (frame(ends.body).steps.empty()) {  // only other ranks compute it
    const TracedOps& trip = frame(ends.body).ops;
    for (int64_t i = 0; i < ends.trips; ++i) {
      top().ops.insert(top().ops.end(), trip.begin(), trip.end());
    }
    return;
  }
  auto scan = std::make_unique<RecordedScan>();
  scan->body = ends.body;
  scan->trips = ends.trips;
  scan->reversed = ends.reversed;
  scan->follows = frame(ends.body).follows;
  scan->first = buffer_of(ends.first);
  scan->carried_in = buffer_of(ends.carried_in);
  scan->carried_out = buffer_of(ends.carried_out);
  scan->last = buffer_of(ends.last);
  for (const auto* lists : {&ends.inputs, &ends.outputs}) {
    for (const ScanInterface::PerTrip& list : *lists) {
      RecordedScan::PerTrip& trips = scan->per_trip.emplace_back();
      trips.inner = buffer_of(list.inner);
      for (const Tensor& x : list.outer) trips.outer.push_back(buffer_of(x));
    }
  }
  RecordedStep step;
  step.scan = std::move(scan);
  add_step(std::move(step));
}

// ---- moves ----

// A move within a call is part of the call.
void Recording::moved(const ShownValue& from, const ShownValue& to) {
  if (calls_ == 0) add_move(tensor_of(to), value_of(tensor_of(from)));
}

// ---- steps ----

BufferId Recording::buffer_of(const IntrusivePtr<Storage>& storage, Access access,
                              const char* user) {
  const auto [known, is_new] = buffer_ids_.try_emplace(storage->id(), buffer_id(buffers_.size()));
  if (!is_new) return known->second;
  const bool external = !is_own(*storage) || storage->source() || storage->has_bytes();
  PHI_CHECK(external || access == Access::kWrite,
            errors::Internal("step {} of the captured program reads storage {} of {} bytes, which "
                             "no step wrote.",
                             user, storage->id(), storage->nbytes()));
  buffers_.push_back(
      {storage->nbytes(), external ? storage : nullptr, external ? -1 : stack_.back() - 1});
  return known->second;
}

BufferId Recording::buffer_of(const Tensor& x) {
  const DenseTensor& array = array_of(x);
  if (!array.computed_here() && !array.storage()->source()) return kNoBuffer;
  return buffer_of(array.storage(), Access::kWrite, "the caller");
}

void Recording::add(std::unique_ptr<Step> step) {
  RecordedStep recorded;
  step->visit([&](DenseTensor& array, Access access) {
    BufferUse use{kNoBuffer, access, array.byte_offset(), array.nbytes()};
    if (access != Access::kShape) use.buffer = buffer_of(array.storage(), access, step->name());
    recorded.uses.push_back(use);
    array = DenseTensor(array.meta(), nullptr, array.byte_offset());
  });
  recorded.name = step->name();
  recorded.step = std::move(step);
  take_ops();
  // The unfinished op is the one that adds the step.
  TracedOps& ops = top().ops;
  if (!ops.empty() && ops.back()->duration_ns == TraceEvent::kUnfinished &&
      ops.back()->kind == TraceKind::kOp) {
    recorded.op = ops.back();
    ops.pop_back();
  }
  add_step(std::move(recorded));
}

void Recording::add_step(RecordedStep step) {
  step.before = std::exchange(top().ops, {});
  top().steps.push_back(std::move(step));
}

// Assigns the ops that the capture's trace has received since the last call to the open body.
void Recording::take_ops() {
  for (; taken_ < trace_.size(); ++taken_) {
    const TraceEvent& event = trace_[taken_];
    const bool is_op = event.kind == TraceKind::kOp || event.kind == TraceKind::kClipped;
    if (is_op) top().ops.push_back(&event);
  }
}

// ---- the end ----

Port Recording::port_of(const Tensor& x) {
  Port port;
  if (!x.defined()) return port;
  const DenseTensor& array = array_of(x);
  port.meta = x.meta();
  port.attr = x.is_dist() ? x.dist_attr() : nullptr;
  port.local = array.meta();
  port.place = array.place();
  port.offset = array.byte_offset();
  port.buffer = buffer_of(x);
  if (port.buffer != kNoBuffer && buffers_[index_of(port.buffer)].external) {
    port.external = x.detach();
  }
  return port;
}

// The program keeps its constants, so an output that is a constant is a copy, made at the end of a
// run.
Port Recording::output_port(const Tensor& x) {
  if (!x.defined()) return port_of(x);
  const DenseTensor& array = array_of(x);
  const Storage& storage = *array.storage();
  const bool is_constant = is_own(storage) && (storage.source() || storage.has_bytes());
  if (!is_constant) return port_of(x);
  const DenseTensor copy = DenseTensor::empty(array.meta(), array.place());
  add(std::make_unique<CopyStep>(array, copy));
  return port_of(x.is_dist() ? Tensor(DistTensor(x.meta(), x.dist_attr(), copy)) : Tensor(copy));
}

void Recording::put_back(External& parameter) {
  Tensor& handle = parameter.handle;
  updated_.push_back(value_of(handle));
  forget_writes(parameter);
  if (array_of(handle).storage() == array_of(parameter.original).storage()) return;
  // An operator replaced the parameter. A step copies the new value to the parameter's storage.
  const DenseTensor now = array_of(handle);
  handle.replace(parameter.original);
  if (now.computed_here()) add(std::make_unique<CopyStep>(now, array_of(handle)));
}

// Notes whether the function wrote to the parameter. The write itself occurs when the program runs.
void Recording::forget_writes(External& parameter) {
  Storage& storage = *array_of(parameter.original).storage();
  parameter.is_written = storage.version() != parameter.version;
}

void Recording::note_written_inputs() {
  for (size_t i = 0; i < given_.size(); ++i) {
    const Storage& storage = *array_of(given_[i].original).storage();
    inputs_[i].is_written = storage.version() != given_[i].version;
  }
  given_.clear();
}

// A gradient that the function leaves in a leaf would be a tensor without bytes after the capture.
void Recording::check_no_gradient_left(const External& parameter) const {
  const Tensor grad = parameter.handle.grad_so_far();
  if (!grad.defined() || !is_own(*array_of(grad).storage())) return;
  Tensor(parameter.handle).clear_grad();
  throw errors::PreconditionNotMet(
      "the captured function leaves a gradient on the parameter {}; use phi::grad, which returns "
      "gradients, take an optimizer step in the function, or call clear_grad().",
      parameter.handle.to_string());
}

void Recording::abandon() {
  for (External& parameter : parameters_) {
    forget_writes(parameter);
    parameter.handle.replace(parameter.original);
    const Tensor grad = parameter.handle.grad_so_far();
    if (grad.defined() && is_own(*array_of(grad).storage())) parameter.handle.clear_grad();
  }
}

void Recording::finish(const TensorList& outputs) {
  for (const External& parameter : parameters_) check_no_gradient_left(parameter);
  // put_back may add parameters, so the loop reads the size each time.
  for (size_t i = 0; i < parameters_.size(); ++i) put_back(parameters_[i]);
  note_written_inputs();
  Body& body = frames_[0]->body;
  for (const Tensor& out : outputs) {
    body.outputs.push_back(value_of(out));
    outputs_.push_back(output_port(out));
  }
  for (const External& parameter : parameters_) body.inputs.push_back(parameter.value);
  for (const External& constant : constants_) body.inputs.push_back(constant.value);
  for (size_t i = 1; i < frames_.size(); ++i) bodies_.push_back(std::move(frames_[i]->body));
  take_ops();
  counted_ = RankContext::current().counters();
  draws_ = RankContext::current().generator().state().draws;
  for (const auto& frame : frames_) {
    frame->values.clear();
    frame->last_value.clear();
  }
  elements_.clear();
  buffer_ids_.clear();
}

}  // namespace phi::ir
