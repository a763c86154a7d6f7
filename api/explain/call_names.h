// Names of the tensors of a call, and its location, for explanations and errors.
#pragma once

#include <string>
#include <unordered_map>

#include "api/call/call_events.h"
#include "api/explain/explain.h"

namespace phi {

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
