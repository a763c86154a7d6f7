// Moves a distributed tensor to other placements or another mesh, at once or in the background.
#pragma once

#include <initializer_list>
#include <span>

#include "api/tensor/tensor.h"
#include "distributed/mesh/process_mesh.h"
#include "distributed/placement/placement.h"
#include "distributed/reshard/execute.h"

namespace phi::distributed {

/// Moves a distributed tensor to other placements, to another mesh, or both. Any combination works.
///
/// Aliases  The result is a new value on every rank: a write to x or to the result does not change
///          the other. A rank whose part does not change shares the bytes until then. If x has
///          these placements on this mesh already, the result is x itself, on every rank.
/// Ranks    Collective over both meshes; it returns at once on other ranks.
/// Errors   PreconditionNotMet for a plain tensor. InvalidArgument for the same reasons as
///          shard_tensor.
Tensor reshard(const Tensor& x, const ProcessMesh& mesh, std::span<const Placement> placements);
inline Tensor reshard(const Tensor& x, const ProcessMesh& mesh,
                      std::initializer_list<Placement> placements) {
  return reshard(x, mesh, std::span(placements.begin(), placements.size()));
}

/// A reshard whose messages may still be in flight. The caller may drop the handle at any time: the
/// transfer then completes on its own, and its buffers are freed when it does.
class PendingTensor {
 public:
  /// An empty handle.
  PendingTensor() = default;
  /// Whether this rank's messages have completed or failed. Never blocks.
  bool done() const { return pending_.done(); }
  /// Waits for this rank's part and returns the resharded tensor. Returns at once on a rank that
  /// holds no part. Call it once per handle; handles may be waited for in any order. The handle is
  /// empty afterwards.
  ///
  /// Errors   ExecutionTimeout if a sender is late. PreconditionNotMet if the handle is empty.
  Tensor wait();
  /// Waits until this rank's messages have left, and releases their buffers, which the handle keeps
  /// until then. Before or after wait(). Errors: ExecutionTimeout if a receiver is late.
  void finish_sending() { pending_.finish_sending(); }

 private:
  friend PendingTensor start_reshard(const Tensor& x, const ProcessMesh& mesh,
                                     std::span<const Placement> placements);
  PendingReshard pending_;
  // The source tensor, for the gradient node. It has no bytes unless the reshard is a gather that
  // can be repeated from it. Undefined if no gradient is required.
  Tensor from_;
};

/// Starts a reshard and returns while the bytes are in flight between the two meshes. Within one
/// mesh the reshard is complete on return. Any number may be in flight, with other calls in
/// between, so pipeline stages do not block each other:
///
///   PendingTensor next = start_reshard(y, stage1, {Replicate()});   // on every rank
///   ...                                                             // stage 0 computes on
///   Tensor x = next.wait();                                         // stage 1 needs it
///
/// Ranks    Every rank starts its pending reshards in the same order, and waits for them in any
///          order.
/// Aliases  The same as reshard. The value that arrives is that of x at the start, even if x is
///          written to while the messages are in flight.
/// Errors   The same as reshard.
PendingTensor start_reshard(const Tensor& x, const ProcessMesh& mesh,
                            std::span<const Placement> placements);
inline PendingTensor start_reshard(const Tensor& x, const ProcessMesh& mesh,
                                   std::initializer_list<Placement> placements) {
  return start_reshard(x, mesh, std::span(placements.begin(), placements.size()));
}

/// Returns the whole value of a distributed tensor as a plain tensor, on every rank of the job.
///
/// Aliases  The result is a new value, as with reshard.
/// Grads    Pass through. They must be equal on every rank, as for any plain tensor.
/// Ranks    Collective over the job.
Tensor gathered_everywhere(const Tensor& x);

/// gathered_everywhere(x), under Paddle's name.
Tensor unshard_dtensor(const Tensor& x);

}  // namespace phi::distributed
