// RankRecord: what a rank launches, sends and waits for, in order. Calls are kept as a whole, not
// by the slices in which they send.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "distributed/comm/collective_call.h"
#include "phi/common/dtype.h"

namespace phi::distributed {

/// A launch, with its estimated cost.
struct RecordedLaunch {
  const char* op = "";  // lives as long as the operator
  DataType dtype = DataType::UNDEFINED;
  double flops = 0;
  double bytes = 0;  // read and written
};

/// The messages of a call between a rank and one peer.
struct RecordedTraffic {
  int64_t peer = 0;  // a rank of the world
  int64_t messages_sent = 0;
  int64_t bytes_sent = 0;
  int64_t messages_received = 0;
  int64_t bytes_received = 0;

  friend bool operator==(const RecordedTraffic&, const RecordedTraffic&) = default;
};

struct RecordedMessages {
  std::shared_ptr<const std::vector<int64_t>> group;  // its ranks, shared by its calls
  uint64_t sequence = 0;
  CommOp op = CommOp::kExchange;
  DataType dtype = DataType::UNDEFINED;
  int64_t bytes = 0;  // CollectiveCall::bytes
  bool is_started = false;
  std::vector<RecordedTraffic> peers;     // in the order of their first messages
  CommOp counted_as = CommOp::kExchange;  // CollectiveCall::counted_as

  friend bool operator==(const RecordedMessages& a, const RecordedMessages& b) {
    const auto values = [](const RecordedMessages& each) {
      return std::tie(*each.group, each.sequence, each.op, each.dtype, each.bytes, each.is_started,
                      each.peers, each.counted_as);
    };
    return values(a) == values(b);
  }
};

/// The wait for a started call that receives messages.
struct RecordedWait {
  size_t call = 0;  // index among the record's calls

  friend bool operator==(const RecordedWait&, const RecordedWait&) = default;
};

using RecordedEvent = std::variant<RecordedLaunch, RecordedMessages, RecordedWait>;

}  // namespace phi::distributed
