// Shared by observers of calls: registration with the rank, names of tensors, and the location of a
// call.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/call/call_recorder.h"
#include "api/explain/explain.h"
#include "distributed/reshard/reshard_observer.h"
#include "phi/core/rank_context.h"
#include "phi/core/trace/trace.h"

namespace phi {

/// Registers observers of the calling rank's calls and moves for its lifetime. The rank then also
/// traces what it works on (step, micro-batch, chunk).
class ObserverScope {
 public:
  /// `moves` may be null. `limit` is the size of a trace that is added if the rank keeps none.
  /// Errors: PreconditionNotMet if the rank has an observer already.
  ObserverScope(CallRecorder* calls, ReshardObserver* moves, size_t limit = 0);
  ~ObserverScope();
  ObserverScope(const ObserverScope&) = delete;
  ObserverScope& operator=(const ObserverScope&) = delete;

  const Trace& trace() const { return *context_.trace(); }

 private:
  RankContext& context_;
  std::unique_ptr<Trace> own_trace_;  // null: the rank keeps one
};

/// Suspends observers and counters of the rank for its lifetime, for calls that an observer makes.
class SuspendObservers {
 public:
  SuspendObservers();
  ~SuspendObservers();
  SuspendObservers(const SuspendObservers&) = delete;
  SuspendObservers& operator=(const SuspendObservers&) = delete;

 private:
  RankContext& context_;
  CallRecorder* const calls_;
  ReshardObserver* const reshards_;
  const Counters counters_;
};

class NamesByStorage {
 public:
  explicit NamesByStorage(const TensorNames& names);
  /// Empty if the array has no name.
  std::string of(const DenseTensor& array) const;

 private:
  std::unordered_map<uint64_t, std::string> names_;
};

/// One past the last slot of an argument; the argument of a slot.
size_t end_of(const CallSlots& slots, size_t arg);
size_t argument_of(const CallSlots& slots, size_t slot);
/// "x", "y[1]".
std::string name_of_slot(const OpDef& op, const CallSlots& slots, size_t slot);

/// "layer0.attention (nn/layers/attention.cc:41), step 3, micro-batch 1", without unknown parts.
std::string current_place();

}  // namespace phi
