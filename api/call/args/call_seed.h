// CallSeed: the seed of one call, given by the caller or drawn from the rank's generator.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

#include "api/call/args/attrs.h"
#include "phi/core/op_def.h"
#include "phi/core/recorder.h"

namespace phi {

/// Every rank draws once for each call that leaves the seed out, in the order of calls, whether it
/// computes or not. While a program is captured nothing is drawn: each run of it does.
class CallSeed {
 public:
  /// `slot`: the seed's place among the kernel's arguments; -1: none. `is_fixed`: one that is left
  /// out is 0 (Paddle's fix_seed).
  template <std::integral T>
  CallSeed(const OpDef& op, const std::optional<T>& given, int slot, bool is_fixed = false)
      : CallSeed(op, given ? std::optional<int64_t>(*given) : std::nullopt, slot, is_fixed,
                 Settled()) {}
  ~CallSeed();
  CallSeed(const CallSeed&) = delete;
  CallSeed& operator=(const CallSeed&) = delete;

  /// For the kernel; 0 where each run draws, as the captured launch has its own (DrawAtRun).
  operator int() const { return static_cast<int>(value_.value_or(0)); }
  operator int64_t() const { return value_.value_or(0); }
  /// For what is kept beyond the call. Errors: Unimplemented where each run draws.
  int64_t known() const;
  /// Nothing where each run of a program draws.
  const std::optional<int64_t>& value() const { return value_; }

 private:
  struct Settled {};
  CallSeed(const OpDef& op, std::optional<int64_t> given, int slot, bool is_fixed, Settled);

  const OpDef& op_;
  std::optional<int64_t> value_;
  Recorder* recorder_ = nullptr;          // that was told of the draw
  std::optional<DrawAtRun> before_ = {};  // what it had been told of
};

/// Nothing where each run draws, as in a call that leaves the seed out.
template <>
void AttributeList::add(const CallSeed& seed);
inline void append_attr(CallKey& key, const CallSeed& seed) { append_attr(key, seed.value()); }

}  // namespace phi
