// The distributed API: meshes, placements, and moving tensors between them.
//
//   distributed::init(&argc, &argv);
//   ProcessMesh stage0({2}, {"tp"}, {0, 1}), stage1({2}, {"tp"}, {2, 3});
//   Tensor w = shard_tensor(deferred_gaussian({1024, 4096}, 0, 0.02f, 1), stage0, {Shard(1)});
//   Tensor h = reshard(x, stage1, {Replicate()});
#pragma once

#include <initializer_list>
#include <span>

#include "api/tensor/tensor.h"
#include "distributed/mesh/process_mesh.h"
#include "distributed/placement/placement.h"
#include "distributed/reshard/execute.h"

namespace phi::distributed {

/// Joins the job that mpirun started; without mpirun the job is this one process. Call once, first.
/// Ranks on one machine share its cores: cores / ranks threads each unless OMP_NUM_THREADS says.
void init(int* argc, char*** argv);
/// Ends this rank's part of the job in order. Call last; nothing happens without init.
void finalize();
int64_t rank();
int64_t world_size();

/// Lays a tensor out on a mesh: one placement per mesh dim, missing ones Replicate().
///
/// Shapes   x: [d0, ..., dn-1]; the result has the same global shape and dtype.
/// Input    A plain tensor is the whole value, the same on every rank of the mesh; each rank takes
/// its
///          part without communication. A deferred one is never made whole. A distributed one is
///          resharded. Partial(kind): the first rank along the mesh dim keeps the value.
/// Ranks    Every rank calls it. Outside the mesh the result holds no bytes.
/// Errors   InvalidArgument: more placements than mesh dims, or Shard(d) where x has no dim d.
Tensor shard_tensor(const Tensor& x, const ProcessMesh& mesh,
                    std::span<const Placement> placements);
inline Tensor shard_tensor(const Tensor& x, const ProcessMesh& mesh,
                           std::initializer_list<Placement> placements) {
  return shard_tensor(x, mesh, std::span(placements.begin(), placements.size()));
}

/// Moves a distributed tensor to other placements and/or another mesh; any to any.
///
/// Aliasing A rank whose part does not change may share its bytes with x; clone before writing
/// inplace. Ranks    Collective over both meshes; other ranks return at once. Errors
/// PreconditionNotMet for a plain tensor; InvalidArgument as shard_tensor.
Tensor reshard(const Tensor& x, const ProcessMesh& mesh, std::span<const Placement> placements);
inline Tensor reshard(const Tensor& x, const ProcessMesh& mesh,
                      std::initializer_list<Placement> placements) {
  return reshard(x, mesh, std::span(placements.begin(), placements.size()));
}

/// A reshard that is under way. The handle may be dropped at any time: the transfer comes to its
/// end by itself, and what it needs is kept until then and no longer.
class PendingTensor {
 public:
  /// Nothing to wait for.
  PendingTensor() = default;
  /// This rank has sent and received its messages, or failed to. Never blocks.
  bool done() const { return pending_.done(); }
  /// The resharded tensor, when this rank's part has arrived; at once where it holds none. Once, in
  /// any order; the handle keeps nothing then. Errors: ExecutionTimeout if the senders do not come;
  /// PreconditionNotMet if there is no tensor (any more).
  Tensor wait();

 private:
  friend PendingTensor start_reshard(const Tensor& x, const ProcessMesh& mesh,
                                     std::span<const Placement> placements);
  PendingReshard pending_;
  Tensor from_;  // the history of what is moved, without bytes; undefined if it has none
};

/// Begins a reshard and returns while the bytes are on their way from one mesh to the other (within
/// one mesh it is over then). Any number may be under way, with other calls in between, so that a
/// pipeline's stages need not meet:
///
///   PendingTensor next = start_reshard(y, stage1, {Replicate()});   // on every rank
///   ...                                                             // stage 0 computes on
///   Tensor x = next.wait();                                         // stage 1 needs it
///
/// Ranks    Every rank starts its pending reshards in the same order and waits when it likes.
/// Writing  Nobody writes to x inplace before done().
/// Errors   As reshard.
PendingTensor start_reshard(const Tensor& x, const ProcessMesh& mesh,
                            std::span<const Placement> placements);
inline PendingTensor start_reshard(const Tensor& x, const ProcessMesh& mesh,
                                   std::initializer_list<Placement> placements) {
  return start_reshard(x, mesh, std::span(placements.begin(), placements.size()));
}

/// The whole value of a distributed tensor as a plain one, on every rank of the job. Gradients go
/// back through it: as of any plain tensor, every rank has the same one.
/// Ranks    Collective over the job.
Tensor gathered_everywhere(const Tensor& x);

/// Builds a distributed tensor from each rank's own part (partial values, data read per rank).
/// Gradients go back to the parts. Errors: InvalidArgument if `local` has not the shape that this
/// rank holds of `global_shape`.
Tensor from_local(const Tensor& local, const Dims& global_shape, const ProcessMesh& mesh,
                  std::span<const Placement> placements);

}  // namespace phi::distributed
