// What all who listen to calls have in common: the rank's ear, names of tensors, and where a call
// stands.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/call/call_recorder.h"
#include "api/explain/explain.h"
#include "distributed/reshard/move_watch.h"
#include "phi/core/rank_context.h"
#include "phi/core/trace/trace.h"

namespace phi {

/// The calling rank tells of its calls and moves while it lives. What the rank works on (step,
/// micro-batch, chunk) is known then too.
class Listening {
 public:
  /// `moves` may be null. `limit`: of a trace of its own, where the rank keeps none. Errors:
  /// PreconditionNotMet where somebody listens already.
  Listening(CallRecorder* calls, MoveWatch* moves, size_t limit = 0);
  ~Listening();
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

  const Trace& trace() const { return *context_.trace(); }

 private:
  RankContext& context_;
  std::unique_ptr<Trace> own_trace_;  // null: the rank keeps one
};

/// Calls of the rank are not told of while it lives, nor counted: those of who listens.
class Unheard {
 public:
  Unheard();
  ~Unheard();
  Unheard(const Unheard&) = delete;
  Unheard& operator=(const Unheard&) = delete;

 private:
  RankContext& context_;
  CallRecorder* const calls_;
  MoveWatch* const moves_;
  const Counters counters_;
};

class NamesByStorage {
 public:
  explicit NamesByStorage(const TensorNames& names);
  /// Empty: it has none.
  std::string of(const DenseTensor& array) const;

 private:
  std::unordered_map<uint64_t, std::string> names_;
};

/// Behind the last slot of an argument; the argument that a slot is of.
size_t end_of(const CallSlots& slots, size_t arg);
size_t argument_of(const CallSlots& slots, size_t slot);
/// "x", "y[1]".
std::string name_of_slot(const OpDef& op, const CallSlots& slots, size_t slot);

/// "layer0.attention (nn/layers/attention.cc:41), step 3, micro-batch 1": as far as it is known.
std::string current_place();

}  // namespace phi
