// CollectiveCall: one collective call of one rank, as messages to other ranks and reports show it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "distributed/placement/placement.h"
#include "phi/common/dims.h"
#include "phi/common/dtype.h"

namespace phi::distributed {

class Group;

enum class CommOp : uint8_t {
  kExchange = 0,
  kAllGather,
  kAllToAll,
  kAllReduce,
  kReduceScatter,
  kBroadcast,
  kBarrier,
};
std::string_view name_of(CommOp op);

struct CollectiveCall {
  const Group* group = nullptr;
  uint64_t sequence = 0;  // 1 for the group's first call
  CommOp op = CommOp::kExchange;
  int64_t bytes = 0;                      // of this rank's arrays in the call
  const char* scope = nullptr;            // the operator of this thread, or null
  CommOp counted_as = CommOp::kExchange;  // of an exchange: whose counters it adds to
  // All members have equal values of the following, if the call sets them.
  DataType dtype = DataType::UNDEFINED;
  int64_t count = -1;                  // total elements of all members' arrays
  int64_t root = -1;                   // a position in the group
  std::optional<ReduceKind> reduce{};  // reductions only
  std::optional<Dims> shape{};         // of the tensor that is communicated (comm_annotation.h)
  uint64_t tensor = 0;  // distinguishes tensors of the same shape and dtype; 0: unnumbered
  // State of the rank's generator (phi/core/generator.h); 0 in a barrier, which moves no values.
  uint64_t seed = 0;
  uint64_t draws = 0;

  /// "all_reduce #418 of group {4,5} (sum of float32[64,64], 16384 bytes, from matmul_grad)"
  std::string to_string() const;
};

/// A rank's progress in a call.
enum class CallState : int32_t { kFinished = 0, kWaiting, kStarted };

/// An entry of the call log.
struct LoggedCall {
  std::vector<int64_t> group;
  uint64_t sequence;
  CommOp op;
  friend bool operator==(const LoggedCall&, const LoggedCall&) = default;
};

}  // namespace phi::distributed
