// The plan of a reshard: a short list of steps, each one collective or local action, with exact
// byte counts for every rank. Pure: no communicator, no data.
//
//   const auto plan = plan_reshard(src, dst, {64, 32}, DataType::FLOAT32);
//   plan->steps[0].to_string();   // "all_gather over tp: [R,S0] -> [R,R]"
//
// How plans are found: values that are partial and must not stay so are reduced at the smallest
// local size (after every slice that costs nothing, into a shard where the target is one), then one
// box exchange (Routes) takes any shards and replicas to any others in one round with the fewest
// bytes, then new partial mesh dims are filled with the identity element.
//
// Meaning of several partial mesh dims: the reduction of the last mesh dim is innermost. Kinds that
// differ are therefore reduced one after the other, from the last mesh dim to the first.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "distributed/reshard/routes.h"
#include "phi/common/dtype.h"

namespace phi::distributed {

struct ReshardStep {
  enum class Kind : uint8_t {
    kSlice,          // each rank keeps a part of what it has
    kAllGather,      // shards become replicas
    kAllToAll,       // shards become other shards
    kReduceScatter,  // partial values become shards (and other mesh dims change on the way)
    kAllReduce,      // partial values become replicas
    kSendRecv,       // from one mesh to another
    kFillPartial,    // replicas become partial values
  };
  Kind kind = Kind::kSlice;
  BoxMove move;     // from move.src to move.dst; an all-reduce and a fill move no boxes
  MeshDims over{};  // the mesh dims that change: of move.dst for a fill, else of move.src
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
  std::vector<ReshardStep> steps;  // none: the attrs are equal

  /// What `rank` sends to and receives from other ranks in a step.
  StepBytes bytes(const ReshardStep& step, int64_t rank) const;
  /// In all steps together.
  StepBytes bytes(int64_t rank) const;
  /// The most that any rank receives in a step. On meshes of more than kExactRanks ranks only the
  /// ranks at both ends are asked.
  int64_t max_bytes(const ReshardStep& step) const;
  int64_t max_bytes() const;
  /// Several lines: what, then each step with its bytes.
  std::string to_string() const;

  static constexpr int64_t kExactRanks = 64;
};

/// The plan from `src` to `dst`; the same on every rank. Kept per thread, so asking again is cheap.
/// Errors: InvalidArgument if an attr does not fit the shape, or an extent is not known.
std::shared_ptr<const ReshardPlan> plan_reshard(const TensorDistAttr* src,
                                                const TensorDistAttr* dst, const Dims& shape,
                                                DataType dtype);

/// The ranks that take part in a step together with `rank`, in the same order on all of them. For
/// one mesh those that differ in step.over only; across meshes all ranks of both. Empty if `rank`
/// is in neither.
std::vector<int64_t> ranks_of_step(const ReshardStep& step, int64_t rank);

/// The identity element that a rank at `coord` holds after `step`, a fill, as the reduce kind whose
/// it is; nothing where it keeps the value.
std::optional<ReduceKind> filled_with(const ReshardStep& step, const MeshCoord& coord);

}  // namespace phi::distributed
