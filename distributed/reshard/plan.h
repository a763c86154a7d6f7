// The plan of a reshard: a short list of steps, each one a collective or a local action, with exact
// byte counts for every rank. Pure: it needs no communicator and no data.
//
//   const auto plan = plan_reshard(src, dst, {64, 32}, DataType::FLOAT32);
//   plan->steps[0].to_string();   // "all_gather over tp: [R,S0] -> [R,R]"
//
// Planning has three phases. Partial values that must not stay partial are reduced at the smallest
// local size: after every slice that needs no communication, and into a shard where the target is
// one. Then one box exchange (TransferRoutes) moves any shards and replicas to any others in one
// round with the fewest bytes. Last, new partial mesh dims are filled with the identity element.
//
// If several mesh dims are partial, the reduction over the last one is innermost. Different reduce
// kinds are therefore reduced one after the other, from the last mesh dim to the first.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "distributed/reshard/box_exchange.h"
#include "phi/common/dtype.h"

namespace phi::distributed {

struct ReshardStep {
  enum class Kind : uint8_t {
    kSlice,          // each rank keeps a part of its box
    kAllGather,      // shards become replicas
    kAllToAll,       // shards become other shards
    kReduceScatter,  // partial values become shards; other mesh dims may change too
    kAllReduce,      // partial values become replicas
    kSendRecv,       // between two meshes
    kFillPartial,    // replicas become partial values
  };
  Kind kind = Kind::kSlice;
  BoxExchange move;    // from move.src to move.dst; an all-reduce and a fill move no boxes
  MeshDimMask over{};  // the mesh dims that change: of move.dst for a fill, otherwise of move.src
  ReduceKind reduce = ReduceKind::kSum;  // of kReduceScatter and kAllReduce

  const TensorDistAttr* from() const { return move.src; }
  const TensorDistAttr* to() const { return move.dst; }
  bool moves_boxes() const { return kind != Kind::kAllReduce && kind != Kind::kFillPartial; }
  /// "all_gather over tp: [R,S0] -> [R,R] on mesh(dp=2,tp=4)"
  std::string to_string() const;
};
std::string_view name_of(ReshardStep::Kind kind);

struct StepBytes {
  int64_t sent = 0;
  int64_t received = 0;
};

struct ReshardPlan {
  const TensorDistAttr* src = nullptr;
  const TensorDistAttr* dst = nullptr;
  Dims shape;
  DataType dtype = DataType::UNDEFINED;
  std::vector<ReshardStep> steps;  // empty if the attrs are equal

  /// Bytes that `rank` sends to and receives from other ranks in a step.
  StepBytes bytes(const ReshardStep& step, int64_t rank) const;
  /// The sum over all steps.
  StepBytes bytes(int64_t rank) const;
  /// The most bytes that any rank of the destination mesh receives in a step. On meshes of more
  /// than 2 * kExactRanks ranks only the first and the last kExactRanks ranks are computed.
  int64_t max_bytes(const ReshardStep& step) const;
  /// The sum of max_bytes over all steps.
  int64_t max_bytes() const;
  /// Several lines: the reshard, then each step with its bytes.
  std::string to_string() const;

  static constexpr int64_t kExactRanks = 64;
};

/// Returns the plan from `src` to `dst`, which is the same on every rank. Plans are cached per
/// thread. Errors: InvalidArgument if an attr does not fit the shape, or an extent is unknown.
std::shared_ptr<const ReshardPlan> plan_reshard(const TensorDistAttr* src,
                                                const TensorDistAttr* dst, const Dims& shape,
                                                DataType dtype);

/// The ranks that take part in a step together with `rank`, in the same order on all of them.
/// Within one mesh these are the ranks that differ from `rank` only in step.over; across meshes all
/// ranks of both. Empty if `rank` is in neither mesh.
std::vector<int64_t> ranks_of_step(const ReshardStep& step, int64_t rank);

/// The reduce kind whose identity element the rank at `coord` holds after `step`, a fill; nullopt
/// if the rank keeps the value.
std::optional<ReduceKind> filled_with(const ReshardStep& step, const MeshCoord& coord);

}  // namespace phi::distributed
