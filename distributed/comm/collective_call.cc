// Texts of calls.
#include "distributed/comm/collective_call.h"

#include "distributed/comm/group.h"
#include "distributed/comm/report/call_header.h"

namespace phi::distributed {

std::string_view name_of(CommOp op) {
  switch (op) {
    case CommOp::kExchange:
      return "exchange";
    case CommOp::kAllGather:
      return "all_gather";
    case CommOp::kAllToAll:
      return "all_to_all";
    case CommOp::kAllReduce:
      return "all_reduce";
    case CommOp::kReduceScatter:
      return "reduce_scatter";
    case CommOp::kBroadcast:
      return "broadcast";
    case CommOp::kBarrier:
      return "barrier";
  }
  return "unknown";
}

std::string CollectiveCall::to_string() const {
  return CallHeader::of(*this).to_string(group->name());
}

}  // namespace phi::distributed
