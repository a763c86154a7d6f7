// Reshard: moves a tensor to other placements, to another mesh, or both. Also `distribute`, which
// shards a whole value.
//
//   DistTensor y = reshard(x, TensorDistAttr::get(mesh, {Replicate(), Shard(1)}));
#pragma once

#include <memory>

#include "distributed/comm/transfer.h"
#include "distributed/tensor/dist_tensor.h"
#include "phi/core/step.h"

namespace phi::distributed {

/// Every function that shards a tensor over a mesh, or moves it to one, calls this first. Errors:
/// InvalidArgument if the mesh names a rank that the job does not have.
void check_mesh(const ProcessMesh& mesh);

/// The result on a rank whose part does not change.
enum class ReshardAliasing : uint8_t {
  kShared,  // shares bytes with the source: for callers that only read the result
  kAlias,   // a copy-on-write alias of the source's part (DenseTensor::alias)
};

/// Returns `src` under `dst`, moved by the cheapest known sequence of collectives (plan_reshard).
///
/// Ranks    Call it on every rank that has `src`, in or out of the meshes. A rank in neither mesh
///          does not communicate. A rank outside dst's mesh returns a clipped tensor, and sends
///          first if it is in src's mesh.
/// Aliases  With kAlias the result is a new value on every rank, even if the attrs are equal: a
///          write to one of the two does not change the other.
/// Uneven   Any extents, including 0 and extents smaller than the mesh.
/// Errors   InvalidArgument, alike on all ranks and before any communication, if an attr does not
///          fit the shape or an extent is unknown.
DistTensor reshard(const DistTensor& src, const TensorDistAttr* dst,
                   ReshardAliasing aliasing = ReshardAliasing::kShared);

/// A reshard whose transfer between two meshes may still be in flight. The caller may drop the
/// handle at any time: the transfer completes, and the world keeps its buffers until then. A handle
/// keeps them until the transfer has been waited for, so that the memory that a program holds does
/// not depend on when messages arrive. Use it on the thread of its world.
class PendingReshard {
 public:
  /// An empty handle.
  PendingReshard();
  PendingReshard(PendingReshard&&) noexcept;
  PendingReshard& operator=(PendingReshard&&) noexcept;
  ~PendingReshard();

  /// Whether this rank's messages are all sent and received, or have failed. Makes progress; never
  /// blocks or throws.
  bool done() const { return transfer_.done(); }
  /// Waits for this rank's part and returns the resharded tensor. Returns at once on a rank outside
  /// dst's mesh, which may still be sending. Call it once per handle; handles may be waited for in
  /// any order. The handle is empty afterwards.
  ///
  /// Errors   Those of every call of a Group; PreconditionNotMet if the handle is empty.
  DistTensor wait();
  /// The same as wait(), and also waits until this rank's messages have left, so that the caller
  /// may write to the source.
  DistTensor wait_until_sent();
  /// Waits until this rank's messages have left, and releases their buffers. Before or after
  /// wait(). A captured program does so when the handle is dropped. Errors: those of every call
  /// of a Group.
  void finish_sending();

 private:
  friend PendingReshard start_reshard(const DistTensor& src, const TensorDistAttr* dst);
  friend PendingReshard start_reshard_into(const DistTensor& src, const TensorDistAttr* dst,
                                           const DenseTensor& into);
  friend DistTensor reshard(const DistTensor& src, const TensorDistAttr* dst,
                            ReshardAliasing aliasing);
  struct Steps;
  /// Moves `from`, which has the value of src's local part.
  static PendingReshard begin(const DistTensor& src, const TensorDistAttr* dst,
                              const DenseTensor& into, const DenseTensor& from);

  DistTensor result_;
  Transfer transfer_;
  std::unique_ptr<Steps> rest_;               // null: result_ is complete
  bool participates_ = false;                 // whether this rank takes part in any step
  std::unique_ptr<Step> recorded_ = nullptr;  // in a captured program: the step that waits
};

/// Starts a reshard. The same as reshard, except that messages between two different meshes are in
/// flight on return. Any number of reshards may be pending.
///
/// Ranks    All ranks start their pending reshards in the same order, and wait in any order.
/// Aliases  Equal attrs return `src`. Otherwise the result is a new value, as with kAlias: that of
///          `src` at the start, even if `src` is written to while the messages are in flight. Steps
///          within one mesh are complete on return.
/// Errors   The same as reshard, on start or on wait.
PendingReshard start_reshard(const DistTensor& src, const TensorDistAttr* dst);

/// The same as start_reshard, but stores this rank's part in `into`, an array of its size. `into`
/// is undefined on a rank whose part does not change or that receives none.
PendingReshard start_reshard_into(const DistTensor& src, const TensorDistAttr* dst,
                                  const DenseTensor& into);

/// Returns this rank's part of `global`, a value that every rank of the mesh has. No communication.
/// Where `attr` is partial the first coordinate keeps the value and the others get the identity
/// element. Of a deferred array only this rank's part is read, into a new array; `global` stays
/// deferred. In a dry run the part is deferred too. The result is a new value, as with
/// ReshardAliasing::kAlias.
DistTensor distribute(const DenseTensor& global, const TensorDistAttr* attr);

}  // namespace phi::distributed
