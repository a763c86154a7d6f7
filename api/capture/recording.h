// Recording: what is known of a program while it is captured, and keeps of it afterwards: the
// global program as data, and the steps of this rank with the buffers that they use.
//
// Values are told apart by what a handle shows: storage, offset, shape, placements. An inplace
// operator writes to the same storage, so the same key stands for a new value from then on.
#pragma once

#include <limits>
#include <memory>
#include <unordered_map>
#include <vector>

#include "api/call/call_recorder.h"
#include "api/capture/ir.h"
#include "api/tensor/tensor.h"
#include "phi/core/recorder.h"
#include "phi/core/step.h"
#include "phi/core/trace/trace.h"

namespace phi::ir {

/// Ops in the order of the capture, as its trace has them.
using ShownOps = std::vector<const TraceEvent*>;

/// Bytes that steps use: a storage, known by number.
struct Buffer {
  size_t nbytes = 0;
  /// Of parameters and constants, which have bytes (or a source) of their own.
  IntrusivePtr<Storage> external;
  int body = -1;  // that it belongs to; -1: the program
};

struct BufferUse {
  int buffer = -1;
  Access access = Access::kRead;
  size_t offset = 0;
  size_t nbytes = 0;
};

/// A loop over the steps of a body. Buffers of the body stand for others in each trip: `carried`
/// ones for what the trip before made, those of `per_trip` for the trip's own, all else for new
/// ones. A body that follows another (its backward pass) finds the buffers of the same trip there.
struct RecordedScan {
  struct PerTrip {
    int inner;
    std::vector<int> outer;  // by trip
  };
  int body = -1;
  int64_t trips = 1;
  bool reversed = false;
  int follows = -1;  // the body whose trips it follows
  int first = -1;    // outer, given to the first trip as `carried_in`
  int carried_in = -1;
  int carried_out = -1;
  int last = -1;  // outer, what the last trip made as `carried_out`
  std::vector<PerTrip> per_trip;
};

struct RecordedStep {
  const char* name = "scan";
  std::unique_ptr<Step> step;   // null: a scan, or taken by the executor
  std::vector<BufferUse> uses;  // in the order of Step::visit
  std::unique_ptr<RecordedScan> scan = nullptr;
  const TraceEvent* op = nullptr;  // that it launches; null: it is none
  ShownOps before = {};  // those without a step, since the step before: views, ops of other ranks
};

/// What a tensor outside the program was when it was first used.
struct External {
  Tensor handle;
  Tensor original;
  ValueId value = kAbsent;
  uint32_t version = 0;     // of the original's storage then
  bool is_written = false;  // by the function, on whatever rank
};

/// A tensor that the program takes or gives, as this rank has it.
struct Port {
  TensorMeta meta;                                    // global
  const distributed::TensorDistAttr* attr = nullptr;  // null: plain
  TensorMeta local;
  Place place;
  int buffer = -1;  // -1: this rank has no part of it, or it is undefined (meta has no dtype)
  size_t offset = 0;
  Tensor external;          // an output that is a parameter or a constant
  bool is_written = false;  // an input that the function writes to, on whatever rank
};

/// The two ends of a scan: tensors of the body and what they stand for outside.
struct ScanEnds {
  struct PerTrip {
    Tensor inner;
    TensorList outer;  // by trip
  };
  int body = -1;
  int64_t trips = 0;
  bool reversed = false;
  Tensor first;
  Tensor carried_in;
  Tensor carried_out;
  Tensor last;
  std::vector<PerTrip> inputs;
  std::vector<PerTrip> outputs;
};

/// What scan() leaves in a program: bodies, or the loop.
enum class Scans : uint8_t { kBodies, kWrittenOut };

class Recording final : public Recorder, public CallRecorder {
 public:
  /// Storages made under `account` belong to the program.
  Recording(const IntrusivePtr<MemoryAccount>& account, Scans scans);

  /// Of the calling rank; null unless it captures a program.
  static Recording* current() {
    return dynamic_cast<Recording*>(RankContext::current().recorder());
  }

  // ---- while it is captured ----
  void add(std::unique_ptr<Step> step) override;
  void moved(const ShownValue& from, const ShownValue& to) override;
  std::unique_ptr<RecordedCall> begin(const OpDef& op, const CallSlots& inputs) override;
  void used(const Tensor& x) override;
  void alias(const Tensor& from, const Tensor& to) override;

  /// A new value of the function's own input x, whose storage this is.
  void add_input(const Tensor& x);
  ValueId value_of(const Tensor& x);
  /// From here on x shows this value.
  void define(const Tensor& x, ValueId value);
  ValueId new_value(const Tensor& x);
  void add_operation(Operation operation) { top().body.operations.push_back(std::move(operation)); }

  /// Until end_body operations and steps belong to a new body, whose number this is; its inputs are
  /// added like those of the function. `follows`: a body of as many trips, whose values this one
  /// may use trip by trip; -1: none.
  int begin_body(int follows);
  void end_body(const TensorList& results);
  /// Whether a scan would get a body here.
  bool takes_scans() const { return scans_ == Scans::kBodies && stack_.size() == 1; }
  /// A tensor that the open body uses, has not made and that requires a gradient; undefined: none.
  Tensor tracked_of_outside() const;
  /// The operation that repeats a body that has ended. Errors: Unimplemented if the body writes to
  /// its inputs or to tensors of outside.
  void add_scan(const ScanEnds& ends);

  /// Ends the program, and lets the handles of parameters be what they were before it.
  /// Errors: PreconditionNotMet if the function left a gradient in a parameter.
  void finish(const TensorList& outputs);
  /// The same where the function failed: only the handles are put back.
  void abandon();

  // ---- afterwards ----
  const Body& body() const { return frames_[0]->body; }
  const std::vector<Body>& bodies() const { return bodies_; }
  const std::vector<Port>& inputs() const { return inputs_; }
  const std::vector<Port>& outputs() const { return outputs_; }
  const std::vector<External>& parameters() const { return parameters_; }
  const std::vector<External>& constants() const { return constants_; }
  const std::vector<ValueId>& updated() const { return updated_; }
  std::vector<RecordedStep>& steps() { return frames_[0]->steps; }
  const std::vector<RecordedStep>& steps() const { return frames_[0]->steps; }
  /// Of body `number`.
  const std::vector<RecordedStep>& steps(int number) const { return frame(number).steps; }
  const std::vector<Buffer>& buffers() const { return buffers_; }
  /// Made by the function.
  bool is_own(const Storage& storage) const { return storage.was_made_under(*account_); }
  /// What a run does.
  const Counters& counted() const { return counted_; }
  /// Seeds that a run draws.
  uint64_t draws() const { return draws_; }
  /// Where the ops of the capture are listed, so that each run can show them: the trace of a run
  /// has an event for each op that it counts, whether that left a step or not.
  Trace* trace() { return &trace_; }
  /// Ops behind the last step of the program, or of body `number`.
  const ShownOps& ops_behind() const { return frames_[0]->ops; }
  const ShownOps& ops_behind(int number) const { return frame(number).ops; }

 private:
  class CallOf;
  struct Key {
    uint64_t storage;
    size_t offset;
    const distributed::TensorDistAttr* attr;
    Dims dims;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const;
  };
  // A value of another body or of the program, and what it is here.
  struct Link {
    ValueId outer;
    ValueId inner;
  };
  // A tensor that a body uses and has not made.
  struct Used {
    Tensor handle;     // without history
    uint32_t version;  // of its storage then
    bool requires_grad;
  };
  // The program, or the body of a scan.
  struct Frame {
    int follows = -1;
    Body body;
    std::vector<Used> used;
    std::vector<Link> invariant;     // values of the program
    std::vector<Link> followed;      // values of the body that this one follows, of the same trip
    std::vector<Link> trip_inputs;   // sequences of the program
    std::vector<Link> trip_outputs;  // the same
    std::unordered_map<Key, ValueId, KeyHash> values;
    std::unordered_map<uint64_t, ValueId> last_value;  // by storage
    std::vector<RecordedStep> steps;
    ShownOps ops;      // since the last of these steps
    size_t scan = 0;   // the operation of the program that repeats it
    Counters counted;  // before it; then in it
  };
  // An element of a sequence that nothing has asked for yet.
  struct Element {
    ValueId sequence;
    int64_t index;
  };
  static Key key_of(const Tensor& x);

  const Frame& top() const { return *frames_[static_cast<size_t>(stack_.back())]; }
  Frame& top() { return *frames_[static_cast<size_t>(stack_.back())]; }
  Frame& frame(int body) { return *frames_[static_cast<size_t>(body) + 1]; }
  const Frame& frame(int body) const { return *frames_[static_cast<size_t>(body) + 1]; }
  bool is_program() const { return stack_.back() == 0; }
  ValueId new_value(Frame& frame, const Value& value);
  static ValueId known(const Frame& frame, const Tensor& x);
  static ValueId of_storage(const Frame& frame, const Tensor& x);
  ValueId in_program(const Tensor& x);
  ValueId linked(std::vector<Link>& links, ValueId outer, Value value);
  ValueId followed(const Frame& other, ValueId value);
  ValueId sequence_for(Frame& body, ValueId value, int64_t trips);
  ValueId sequence_of(const TensorList& elements);
  ValueId element(const Tensor& x, const Element& which);

  ValueId add_external(const Tensor& x);
  ValueId add_move(const Tensor& x, ValueId of);
  int buffer_of(const IntrusivePtr<Storage>& storage, Access access, const char* user);
  int buffer_of(const Tensor& x);
  static void check_nothing_written(const Frame& body, const ScanEnds& ends);
  void add_scan_step(const ScanEnds& ends);
  void add_step(RecordedStep step);
  void take_ops();
  Port port_of(const Tensor& x);
  Port output_port(const Tensor& x);
  void put_back(External& parameter);
  void note_written_inputs();
  static void forget_writes(External& parameter);
  void check_no_gradient_left(const External& parameter) const;

  IntrusivePtr<MemoryAccount> account_;
  Scans scans_;
  std::vector<std::unique_ptr<Frame>> frames_;  // the program, then bodies in the order of begin
  std::vector<int> stack_;                      // of those that are open
  std::vector<Body> bodies_;
  std::unordered_map<Key, Element, KeyHash> elements_;  // of the program
  std::vector<External> parameters_;
  std::vector<External> constants_;
  std::vector<ValueId> updated_;  // by parameter
  std::vector<Port> inputs_;
  std::vector<External> given_;  // the function's inputs, until it ends
  std::vector<Port> outputs_;
  std::vector<Buffer> buffers_;
  std::unordered_map<uint64_t, int> buffer_numbers_;  // by storage
  int calls_ = 0;                                     // that have begun and not ended
  Counters counted_;
  uint64_t draws_ = 0;
  Trace trace_{std::numeric_limits<size_t>::max()};
  size_t taken_ = 0;  // of its events
};

}  // namespace phi::ir
