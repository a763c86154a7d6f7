// Reshard: moving a tensor to another placement and/or mesh, and the two ends of that: taking a
// rank's part of a whole value, and putting the whole value together again.
//
//   DistTensor y = reshard(x, TensorDistAttr::get(mesh, {Replicate(), Shard(1)}));
#pragma once

#include <memory>

#include "distributed/comm/transfer.h"
#include "distributed/tensor/dist_tensor.h"
#include "phi/core/step.h"

namespace phi::distributed {

/// Everything that lays a tensor out on a mesh, or moves it to one, asks first. Errors:
/// InvalidArgument if the mesh names a rank that the job does not have.
void check_mesh(const ProcessMesh& mesh);

/// The result on a rank whose part does not change.
enum class KeptPart : uint8_t {
  kShared,  // shares bytes with the source: for callers that only read the result
  kAlias,   // a copy-on-write alias of the source's part (DenseTensor::alias)
};

/// `src` under `dst`, moved by the cheapest known sequence of collectives (plan_reshard).
///
/// Ranks    Called by every rank that has `src`, in or out of the meshes. A rank in neither mesh
///          communicates nothing; a rank outside dst's mesh returns a clipped tensor, and sends
///          first if it is in src's mesh.
/// Aliases  Equal attrs return `src`. Otherwise, with kAlias, the result is a new value on every
///          rank: a write to one of the two does not change the other.
/// Uneven   Any extents, also smaller than the mesh and 0.
/// Errors   InvalidArgument, alike on all ranks and before any communication, if an attr does not
///          fit the shape or a tensor dim is unknown.
DistTensor reshard(const DistTensor& src, const TensorDistAttr* dst,
                   KeptPart kept = KeptPart::kShared);

/// A reshard whose transfer from one mesh to another is under way. Dropping the handle is allowed
/// at any time: the transfer comes to its end, the world keeps the bytes that it needs until then
/// and no longer. Used by the thread of its world.
class PendingReshard {
 public:
  /// Nothing to wait for.
  PendingReshard();
  PendingReshard(PendingReshard&&) noexcept;
  PendingReshard& operator=(PendingReshard&&) noexcept;
  ~PendingReshard();

  /// This rank's messages are all sent and received, or have failed. Makes progress; never blocks
  /// nor throws.
  bool done() const { return transfer_.done(); }
  /// The resharded tensor, when this rank's part has arrived; at once on a rank outside its mesh,
  /// which may still be sending. Once, in any order; the handle keeps nothing then. Errors: as of
  /// every call of a Group; PreconditionNotMet if there is no tensor (any more).
  DistTensor wait();
  /// As wait(), and what this rank sends has left, so that the source may be written to.
  DistTensor wait_until_sent();

 private:
  friend PendingReshard start_reshard(const DistTensor& src, const TensorDistAttr* dst);
  friend PendingReshard start_reshard_into(const DistTensor& src, const TensorDistAttr* dst,
                                           const DenseTensor& into);
  friend DistTensor reshard(const DistTensor& src, const TensorDistAttr* dst, KeptPart kept);
  struct Steps;
  /// Moves `from`, which has the value of src's local part.
  static PendingReshard begin(const DistTensor& src, const TensorDistAttr* dst,
                              const DenseTensor& into, const DenseTensor& from);

  DistTensor result_;
  Transfer transfer_;
  std::unique_ptr<Steps> rest_;               // null: result_ is the tensor
  bool acts_ = false;                         // this rank does something in some step
  std::unique_ptr<Step> recorded_ = nullptr;  // what waiting is in a captured program
};

/// Reshard in two halves: as reshard, but where the meshes differ the messages between them are
/// only put under way. Any number may be pending.
///
/// Ranks    All start their pending reshards in the same order; each waits when it likes.
/// Aliases  As reshard with kAlias. The value that arrives is that of `src` at the start, even if
///          `src` is written to while the messages are under way. Steps within one mesh have
///          ended on return.
/// Errors   As reshard, on start or on wait.
PendingReshard start_reshard(const DistTensor& src, const TensorDistAttr* dst);

/// As start_reshard, but this rank's part is put into `into`, an array of its size. For a rank
/// whose part does not change, or that gets none, `into` is undefined.
PendingReshard start_reshard_into(const DistTensor& src, const TensorDistAttr* dst,
                                  const DenseTensor& into);

/// This rank's part of `global`, which every rank of the mesh has; no communication. Where `attr`
/// is partial the first coordinate keeps the value and the others get the identity element.
/// Of a deferred array only this rank's part is read, into an array of its own; it stays as it is.
/// In a dry run that part is deferred too. A new value, as with KeptPart::kAlias.
DistTensor distribute(const DenseTensor& global, const TensorDistAttr* attr);

/// The whole value, on every rank of the mesh. Errors: PreconditionNotMet on other ranks.
DenseTensor gather_global(const DistTensor& x);

}  // namespace phi::distributed
