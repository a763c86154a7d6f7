// CallSeed: the seed of one call, passed by the caller or drawn from the rank's generator.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

#include "api/call/args/attrs.h"
#include "phi/core/op_def.h"
#include "phi/core/recorder.h"

namespace phi {

/// Every rank draws one seed for each call without a seed, in call order, whether the rank computes
/// or not. During a capture the call has no seed value: each run of the program draws it.
class CallSeed {
 public:
  /// `slot`: the seed's index among the kernel's arguments; -1: the kernel has none. `is_fixed`: a
  /// seed that is not passed is 0 (Paddle's fix_seed).
  template <std::integral T>
  CallSeed(const OpDef& op, const std::optional<T>& given, int slot, bool is_fixed = false)
      : CallSeed(op, given ? std::optional<int64_t>(*given) : std::nullopt, slot, is_fixed, Tag()) {
  }
  ~CallSeed();
  CallSeed(const CallSeed&) = delete;
  CallSeed& operator=(const CallSeed&) = delete;

  /// The seed for the kernel. 0 if each run draws it: the captured launch sets it (DrawAtRun).
  operator int() const { return static_cast<int>(value_.value_or(0)); }
  operator int64_t() const { return value_.value_or(0); }
  /// The seed for uses after the call, such as a gradient. Errors: Unimplemented if each run draws
  /// it.
  int64_t known() const;
  /// The seed; empty if each run of the program draws it.
  const std::optional<int64_t>& value() const { return value_; }

 private:
  struct Tag {};
  CallSeed(const OpDef& op, std::optional<int64_t> given, int slot, bool is_fixed, Tag);

  const OpDef& op_;
  std::optional<int64_t> value_;
  Recorder* recorder_ = nullptr;          // received the draw; null: none did
  std::optional<DrawAtRun> before_ = {};  // its draw before, restored at the end
};

/// Adds an empty value if each run draws the seed, as for a call without a seed.
template <>
void AttributeList::add(const CallSeed& seed);
inline void append_attr(CallKey& key, const CallSeed& seed) { append_attr(key, seed.value()); }

}  // namespace phi
