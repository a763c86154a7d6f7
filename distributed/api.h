// The distributed API: meshes, placements, and moving tensors between them.
//
//   distributed::init(&argc, &argv);
//   ProcessMesh stage0({2}, {"tp"}, {0, 1}), stage1({2}, {"tp"}, {2, 3});
//   Tensor w = shard_tensor(deferred_gaussian({1024, 4096}, 0, 0.02f, 1), stage0, {Shard(1)});
//   Tensor h = reshard(x, stage1, {Replicate()});
#pragma once

#include <chrono>
#include <initializer_list>
#include <span>
#include <utility>

#include "api/tensor/tensor.h"
#include "distributed/comm/nccl/nccl_world.h"
#include "distributed/mesh/process_mesh.h"
#include "distributed/placement/placement.h"
#include "distributed/reshard/execute.h"

namespace phi::distributed {

/// Joins the job that mpirun started; without mpirun the job is this one process. Call once, first.
/// Ranks on one machine share its cores: cores / ranks threads each unless OMP_NUM_THREADS says.
/// `start_deadline` is how long to wait for the other ranks, as init_world (comm/world.h) says it.
void init(int* argc, char*** argv,
          std::chrono::milliseconds start_deadline = std::chrono::milliseconds(0));
/// Ends this rank's part of the job in order. Call last; nothing happens without init.
void finalize();
int64_t rank();
int64_t world_size();

/// How messages go between the ranks' GPUs: by NCCL, from GPU to GPU, or through the host's memory,
/// as they do between CPUs.
enum class GpuMessages : uint8_t { kNccl, kHost };

/// "nccl" or "host", "exact" or "fast". Errors: InvalidArgument for another word.
GpuMessages parse_gpu_messages(std::string_view word);
GpuReduction parse_gpu_reduction(std::string_view word);

struct GpuOptions {
  /// Products of float32 may take their arguments as TF32, with 10 bits behind the point instead of
  /// 23; sums stay float32. Products of other dtypes are as they are.
  bool tf32 = false;
  GpuMessages messages = GpuMessages::kNccl;
  /// Of what NCCL carries (comm/nccl/nccl_world.h).
  GpuReduction reduction = GpuReduction::kExact;
};

/// This rank computes on a GPU from here on: on the one whose number is the rank's among those of
/// its machine, modulo the GPUs that CUDA shows to its process. Collective: call after init and
/// before the first tensor, with the same options on all ranks; returns the place.
/// Errors: Unavailable if no driver answers, if it is too old, if the GPU runs no code of this
/// build, or if that has none; those of join_by_nccl, PreconditionNotMet if two ranks share a GPU
/// among them. With kHost they may share one: rank 0 prints which ones do.
Place use_gpu(const GpuOptions& options = {});

/// Lays a tensor out on a mesh: one placement per mesh dim, missing ones Replicate().
///
/// Shapes   x: [d0, ..., dn-1]; the result has the same global shape and dtype.
/// Input    A plain tensor is the whole value, equal on every rank of the mesh. Each rank takes its
///          part without communication. A deferred tensor is never materialised unsharded. A
///          distributed tensor is resharded. Partial(kind): the first rank along the mesh dim has
///          the value, the others the identity element.
/// Aliases  As reshard: a write to x or to the result does not change the other.
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
/// Aliases  The result is a new value on every rank: a write to x or to the result does not change
///          the other. A rank whose part does not change shares the bytes until then. If x has
///          these placements on this mesh already, the result is x itself, on every rank.
/// Ranks    Collective over both meshes; other ranks return at once.
/// Errors   PreconditionNotMet for a plain tensor; InvalidArgument as shard_tensor.
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
  // What is moved, for its history: without bytes, unless what is gathered can be gathered from it
  // again. Undefined if it has none.
  Tensor from_;
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
/// Aliases  As reshard. The value that arrives is that of x at the start, even if x is written to
///          while the messages are under way.
/// Errors   As reshard.
PendingTensor start_reshard(const Tensor& x, const ProcessMesh& mesh,
                            std::span<const Placement> placements);
inline PendingTensor start_reshard(const Tensor& x, const ProcessMesh& mesh,
                                   std::initializer_list<Placement> placements) {
  return start_reshard(x, mesh, std::span(placements.begin(), placements.size()));
}

/// The whole value of a distributed tensor as a plain tensor, on every rank of the job.
///
/// Aliases  As reshard: a new value.
/// Grads    Pass through. As for any plain tensor, they must be equal on every rank.
/// Ranks    Collective over the job.
Tensor gathered_everywhere(const Tensor& x);

/// Builds a distributed tensor from each rank's own part (partial values, data read per rank).
/// Gradients go back to the parts. Errors: InvalidArgument if `local` has not the shape that this
/// rank holds of `global_shape`.
Tensor from_local(const Tensor& local, const Dims& global_shape, const ProcessMesh& mesh,
                  std::span<const Placement> placements);

// ---- Paddle's words for the same ----

/// shard_tensor(fn(args...), mesh, placements). Of what fn gives deferred (deferred_full,
/// deferred_gaussian, an nn::Initialiser) each rank makes its own part only; an operator, as
/// phi::full, makes the whole value first.
///
///   Tensor b = dtensor_from_fn(deferred_full, mesh, {Shard(0)}, Dims{8}, 1, DataType::FLOAT32);
template <typename Fn, typename... Args>
Tensor dtensor_from_fn(Fn&& fn, const ProcessMesh& mesh, std::span<const Placement> placements,
                       Args&&... args) {
  return shard_tensor(std::forward<Fn>(fn)(std::forward<Args>(args)...), mesh, placements);
}
template <typename Fn, typename... Args>
Tensor dtensor_from_fn(Fn&& fn, const ProcessMesh& mesh,
                       std::initializer_list<Placement> placements, Args&&... args) {
  return dtensor_from_fn(std::forward<Fn>(fn), mesh,
                         std::span(placements.begin(), placements.size()),
                         std::forward<Args>(args)...);
}

/// from_local without the global shape: ranks tell each other the sizes of their parts. Along a
/// mesh dim that shards a tensor dim these add up; along others they are the same.
///
/// Input    `local` may be undefined on a rank outside the mesh, where it does not count.
/// Gradients go back to the parts.
/// Ranks    Collective over the job (one message of some words). In a dry run, where messages carry
///          nothing, every rank is taken to hold as much as this one.
/// Errors   InvalidArgument, the same on every rank, where parts are not as a tensor of any shape
///          is split (the first ranks hold one more), differ in dtype or ndim, or require a
///          gradient on some ranks only; Unimplemented in a program that is being captured.
Tensor dtensor_from_local(const Tensor& local, const ProcessMesh& mesh,
                          std::span<const Placement> placements);
inline Tensor dtensor_from_local(const Tensor& local, const ProcessMesh& mesh,
                                 std::initializer_list<Placement> placements) {
  return dtensor_from_local(local, mesh, std::span(placements.begin(), placements.size()));
}

/// This rank's part of x after reshard(x, mesh, placements): Tensor::local, which says where
/// gradients go through it.
/// Ranks    as reshard.
Tensor dtensor_to_local(const Tensor& x, const ProcessMesh& mesh,
                        std::span<const Placement> placements);
inline Tensor dtensor_to_local(const Tensor& x, const ProcessMesh& mesh,
                               std::initializer_list<Placement> placements) {
  return dtensor_to_local(x, mesh, std::span(placements.begin(), placements.size()));
}

/// gathered_everywhere(x): the whole value as a plain tensor on every rank of the job.
Tensor unshard_dtensor(const Tensor& x);

/// The mesh that calls without one mean from now on, on this rank: every rank sets the same. An
/// undefined mesh: none any more.
void set_mesh(const ProcessMesh& mesh);
/// Errors: PreconditionNotMet where none is set; has_mesh() tells.
ProcessMesh get_mesh();
bool has_mesh();

/// On get_mesh().
Tensor shard_tensor(const Tensor& x, std::span<const Placement> placements);
inline Tensor shard_tensor(const Tensor& x, std::initializer_list<Placement> placements) {
  return shard_tensor(x, std::span(placements.begin(), placements.size()));
}
Tensor reshard(const Tensor& x, std::span<const Placement> placements);
inline Tensor reshard(const Tensor& x, std::initializer_list<Placement> placements) {
  return reshard(x, std::span(placements.begin(), placements.size()));
}

}  // namespace phi::distributed
