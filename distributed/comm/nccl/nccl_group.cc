// Selects the collectives that NCCL computes itself.
#include "distributed/comm/nccl/nccl_group.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "distributed/comm/world.h"

namespace phi::distributed {
namespace {

// Distinguishes calls between GPUs in reports, because the host's group of the same ranks numbers
// its own calls.
constexpr std::string_view kSuffix = " of GPUs";
constexpr uint64_t kSalt = 0x6e63636c6e63636c;

// Dtypes whose sums NCCL rounds as documented. Our kernel reduces all others.
std::optional<ncclDataType_t> type_of_sums(DataType dtype) {
  switch (dtype) {
    case DataType::FLOAT16:
      return ncclFloat16;
    case DataType::BFLOAT16:
      return ncclBfloat16;
    case DataType::FLOAT32:
      return ncclFloat32;
    case DataType::FLOAT64:
      return ncclFloat64;
    default:
      return std::nullopt;
  }
}

// Other kinds gain nothing from NCCL: they are exact in any order, or NCCL loses NaN.
std::optional<ncclRedOp_t> op_of(ReduceKind kind) {
  if (kind == ReduceKind::kSum) return ncclSum;
  if (kind == ReduceKind::kAvg) return ncclAvg;
  return std::nullopt;
}

bool all_equal(std::span<const int64_t> counts) {
  return std::ranges::all_of(counts, [&](int64_t count) { return count == counts[0]; });
}

// Waits on the host until all members have reached the call. A dissemination barrier: in round k
// each member receives from the member 2^k before it, which has heard from 2^k members. Mismatched
// calls meet on the way.
void wait_for_members(World& world, const CollectiveCall& call) {
  const auto ranks = call.group->ranks();
  const auto n = static_cast<int64_t>(ranks.size());
  const int64_t own = call.group->position();
  for (int64_t step = 1; step < n; step *= 2) {
    const Send send{ranks[static_cast<size_t>((own + step) % n)], nullptr, 0};
    const Recv recv{ranks[static_cast<size_t>((own - step % n + n) % n)], nullptr, 0};
    world.communicator().exchange_messages(call, {&send, 1}, {&recv, 1});
  }
}

}  // namespace

NcclGroup::NcclGroup(Communicator& communicator, SharedState& shared, std::vector<int64_t> ranks,
                     int64_t position, uint64_t hash)
    : Group(communicator, std::move(ranks), position, hash ^ kSalt, kSuffix), shared_(shared) {}

bool NcclGroup::run_by_library(const CollectiveCall& call, const void* in, void* out,
                               std::span<const int64_t> counts) {
  using Calls = std::function<ncclResult_t(ncclComm_t comm)>;
  const cudaStream_t stream = shared_.queue.stream();
  Calls calls;
  if (call.count == 0) return false;
  if (call.op == CommOp::kAllGather && all_equal(counts)) {
    const size_t bytes = static_cast<size_t>(counts[0]) * size_of(call.dtype);
    calls = [=](ncclComm_t comm) {
      return nccl().ncclAllGather(in, out, bytes, ncclUint8, comm, stream);
    };
  } else if (call.reduce && shared_.reduction == GpuReduction::kFast) {
    const auto type = type_of_sums(call.dtype);
    const auto op = op_of(*call.reduce);
    if (!type || !op) return false;
    if (call.op == CommOp::kAllReduce) {
      calls = [=, count = static_cast<size_t>(call.count)](ncclComm_t comm) {
        return nccl().ncclAllReduce(in, out, count, *type, *op, comm, stream);
      };
    } else if (all_equal(counts)) {
      calls = [=, count = static_cast<size_t>(counts[0])](ncclComm_t comm) {
        return nccl().ncclReduceScatter(in, out, count, *type, *op, comm, stream);
      };
    }
  }
  if (!calls) return false;
  shared_.queue.wait_until_empty();
  World& world = communicator().world();
  wait_for_members(world, call);
  const ncclComm_t comm = shared_.comms.of(*this, [&]() -> Group& { return world.group(ranks()); });
  shared_.queue.enqueue(call, comm, [&] { return calls(comm); });
  return true;
}

}  // namespace phi::distributed
