// Recording: the recorder of a capture. It builds the global program and the list of this rank's
// steps with the buffers that they use, and stores both afterwards.
//
// A value is identified by its handle's storage, offset, shape and placements. An inplace operator
// writes to the same storage, so the same key refers to a new value afterwards.
#pragma once

#include <limits>
#include <memory>
#include <unordered_map>
#include <vector>

#include "api/call/call_events.h"
#include "api/capture/buffer_id.h"
#include "api/capture/ir.h"
#include "api/tensor/tensor.h"
#include "phi/core/recorder.h"
#include "phi/core/step.h"
#include "phi/core/trace/trace.h"

namespace phi::ir {

/// Ops in the order of the capture, as its trace has them.
using TracedOps = std::vector<const TraceEvent*>;

/// A storage that steps use; referred to by its BufferId.
struct ProgramBuffer {
  size_t nbytes = 0;
  /// The storage of a parameter or constant, which has bytes or a source; otherwise null.
  IntrusivePtr<Storage> external;
  int body = -1;  // the body that it belongs to; -1: the program
};

struct BufferUse {
  BufferId buffer = kNoBuffer;  // none: only the shape is used
  Access access = Access::kRead;
  size_t offset = 0;
  size_t nbytes = 0;

  bool writes() const { return access == Access::kWrite || access == Access::kUpdate; }
};

/// A loop over the steps of a body. In each trip the body's buffers are replaced: `carried_in` by
/// the previous trip's `carried_out`, those of `per_trip` by the trip's buffers, and all others by
/// new buffers. A body that follows another one (its backward pass) uses the other's buffers of the
/// same trip.
struct RecordedScan {
  struct PerTrip {
    BufferId inner;
    std::vector<BufferId> outer;  // by trip
  };
  int body = -1;
  int64_t trips = 1;
  bool reversed = false;
  int follows = -1;            // the body whose trips it follows
  BufferId first = kNoBuffer;  // outer: `carried_in` of the first trip
  BufferId carried_in = kNoBuffer;
  BufferId carried_out = kNoBuffer;
  BufferId last = kNoBuffer;  // outer: `carried_out` of the last trip
  std::vector<PerTrip> per_trip;
};

struct RecordedStep {
  const char* name = "scan";
  std::unique_ptr<Step> step;   // null: a scan, or moved to the executor
  std::vector<BufferUse> uses;  // in the order of Step::visit
  std::unique_ptr<RecordedScan> scan = nullptr;
  const TraceEvent* op = nullptr;  // the op that it launches; null: none
  TracedOps before = {};  // ops without a step since the previous step: views, ops of other ranks
};

/// A tensor from outside the program, as it was at its first use.
struct External {
  Tensor handle;
  Tensor original;
  ValueId value = kAbsent;
  uint32_t version = 0;     // of the original's storage at that moment
  bool is_written = false;  // the function writes to it, on any rank
};

/// An input or output of the program, with this rank's part.
struct Port {
  TensorMeta meta;                                    // global
  const distributed::TensorDistAttr* attr = nullptr;  // null: plain
  TensorMeta local;
  Place place;
  BufferId buffer = kNoBuffer;  // none: this rank has no part of it, or it is undefined (no dtype)
  size_t offset = 0;
  Tensor external;          // an output that is a parameter or a constant
  bool is_written = false;  // an input that the function writes to, on any rank
};

/// The interface of a scan: tensors of the body and the outer tensors that they correspond to.
struct ScanInterface {
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

/// How scan() is captured: as bodies, or unrolled.
enum class ScanMode : uint8_t { kBodies, kUnrolled };

class Recording final : public Recorder, public Observer {
 public:
  /// Storages that are allocated under `account` belong to the program.
  Recording(const IntrusivePtr<MemoryAccount>& account, ScanMode scans);

  /// The calling rank's recording; null unless it captures a program.
  static Recording* current() {
    return dynamic_cast<Recording*>(RankContext::current().recorder());
  }

  // ---- during the capture ----
  void add(std::unique_ptr<Step> step) override;
  void moved(const ShownValue& from, const ShownValue& to) override;
  void used(const Tensor& x) override;
  void alias(const Tensor& from, const Tensor& to) override;
  // A call within another call is part of the outer one.
  void on_call_begin(const CallBegin& event) override;
  void on_decision(const CallDecision& event) override;
  void on_call_outputs(const CallOutputs& event) override;
  void on_call_end(const CallEnd& event) noexcept override;

  /// Adds x as an input of the open body (the function's, or that of a scan).
  void add_input(const Tensor& x);
  /// The value that x has at this point; kAbsent if x is undefined. A tensor that is not known yet
  /// becomes a parameter or constant.
  ValueId value_of(const Tensor& x);
  /// Sets the value that x has from this point on.
  void define(const Tensor& x, ValueId value);
  ValueId new_value(const Tensor& x);
  void add_operation(Operation operation) { top().body.operations.push_back(std::move(operation)); }

  /// Opens a new body and returns its number. Operations and steps belong to it until end_body; its
  /// inputs are added by add_input. `follows`: a body with the same number of trips, whose values
  /// of the same trip this body may use; -1: none.
  int begin_body(int follows);
  void end_body(const TensorList& results);
  /// Whether a scan at this point would become a body.
  bool captures_scans() const { return scan_mode_ == ScanMode::kBodies && stack_.size() == 1; }
  /// A tensor from outside the open body that the body uses and that requires a gradient;
  /// undefined: none.
  Tensor tracked_of_outside() const;
  /// Adds the scan of a body that has ended. Errors: Unimplemented if the body writes to its inputs
  /// or to tensors from outside.
  void add_scan(const ScanInterface& ends);

  /// Ends the program and restores the handles of parameters.
  /// Errors: PreconditionNotMet if the function left a gradient in a parameter.
  void finish(const TensorList& outputs);
  /// Called if the function throws: only restores the handles of parameters.
  void abandon();

  // ---- after the capture ----
  const Body& body() const { return frames_[0]->body; }
  const std::vector<Body>& bodies() const { return bodies_; }
  const std::vector<Port>& inputs() const { return inputs_; }
  const std::vector<Port>& outputs() const { return outputs_; }
  const std::vector<External>& parameters() const { return parameters_; }
  const std::vector<External>& constants() const { return constants_; }
  const std::vector<ValueId>& updated() const { return updated_; }
  std::vector<RecordedStep>& steps() { return frames_[0]->steps; }
  const std::vector<RecordedStep>& steps() const { return frames_[0]->steps; }
  /// The steps of body `number`.
  const std::vector<RecordedStep>& steps(int number) const { return frame(number).steps; }
  const std::vector<ProgramBuffer>& buffers() const { return buffers_; }
  /// Whether the function made the storage.
  bool is_own(const Storage& storage) const { return storage.was_made_under(*account_); }
  /// The counts that a run adds to the rank's counters.
  const Counters& counted() const { return counted_; }
  /// The number of seeds that a run draws.
  uint64_t draws() const { return draws_; }
  /// The trace of the capture. A run copies its ops to the rank's trace, which has an event for
  /// each op that the rank counts, with or without a step.
  Trace* trace() override { return &trace_; }
  /// Ops after the last step of the program, or of body `number`.
  const TracedOps& trailing_ops() const { return frames_[0]->ops; }
  const TracedOps& trailing_ops(int number) const { return frame(number).ops; }

 private:
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
  // A value of another body or of the program, and the value of this body that corresponds to it.
  struct Link {
    ValueId outer;
    ValueId inner;
  };
  // A tensor that a body uses but does not make.
  struct Used {
    Tensor handle;     // without history
    uint32_t version;  // of its storage at that moment
    bool requires_grad;
  };
  // The program, or the body of a scan.
  struct Frame {
    int follows = -1;
    Body body;
    std::vector<Used> used;
    std::vector<Link> invariant;     // values of the program
    std::vector<Link> followed;      // values of the followed body, of the same trip
    std::vector<Link> trip_inputs;   // sequences of the program
    std::vector<Link> trip_outputs;  // sequences of the program
    std::unordered_map<Key, ValueId, KeyHash> values;
    std::unordered_map<uint64_t, ValueId> last_value;  // by storage
    std::vector<RecordedStep> steps;
    TracedOps ops;     // since the last of these steps
    size_t scan = 0;   // index of the program's operation that repeats it
    Counters counted;  // while open: the rank's counters before it; then its own counts
  };
  // An element of a sequence that no operation uses yet.
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

  void add_output(const Tensor& x);
  /// The slot of the open call's input that is the same tensor, which an inplace operator wrote to;
  /// -1: none.
  int input_of(const Tensor& out) const;
  ValueId add_external(const Tensor& x);
  ValueId add_move(const Tensor& x, ValueId of);
  BufferId buffer_of(const IntrusivePtr<Storage>& storage, Access access, const char* user);
  BufferId buffer_of(const Tensor& x);
  static void check_nothing_written(const Frame& body, const ScanInterface& ends);
  void add_scan_step(const ScanInterface& ends);
  void add_step(RecordedStep step);
  void take_ops();
  Port port_of(const Tensor& x);
  Port output_port(const Tensor& x);
  void put_back(External& parameter);
  void note_written_inputs();
  static void forget_writes(External& parameter);
  void check_no_gradient_left(const External& parameter) const;

  IntrusivePtr<MemoryAccount> account_;
  ScanMode scan_mode_;
  std::vector<std::unique_ptr<Frame>> frames_;  // the program, then bodies in the order of begin
  std::vector<int> stack_;                      // open frames, innermost last
  std::vector<Body> bodies_;
  std::unordered_map<Key, Element, KeyHash> elements_;  // of the program
  std::vector<External> parameters_;
  std::vector<External> constants_;
  std::vector<ValueId> updated_;  // by parameter
  std::vector<Port> inputs_;
  std::vector<External> given_;  // the function's inputs, until it ends
  std::vector<Port> outputs_;
  std::vector<ProgramBuffer> buffers_;
  std::unordered_map<uint64_t, BufferId> buffer_ids_;  // by storage
  int calls_ = 0;                                      // calls that have begun and not ended
  Operation operation_;                                // of the outermost of these calls
  std::vector<const void*> input_handles_;             // of its inputs, by slot
  Counters counted_;
  uint64_t draws_ = 0;
  Trace trace_{std::numeric_limits<size_t>::max()};
  size_t taken_ = 0;  // number of its events that take_ops has read
};

}  // namespace phi::ir
