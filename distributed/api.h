// The public distributed API: joining a job, meshes, placements, and sharding and resharding
// tensors.
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

/// Joins the job that mpirun started. Without mpirun the job is this one process. Call it once,
/// before any other call. The ranks of a machine share its cores: each uses cores / ranks threads
/// unless OMP_NUM_THREADS is set. `start_deadline` bounds the wait for the other ranks; see
/// init_world (comm/world.h).
void init(int* argc, char*** argv,
          std::chrono::milliseconds start_deadline = std::chrono::milliseconds(0));
/// Leaves the job in order. Call it last; without init it does nothing.
void finalize();
int64_t rank();
int64_t world_size();

/// How messages travel between the ranks' GPUs: directly by NCCL, or through host memory, as
/// between CPUs.
enum class GpuMessages : uint8_t { kNccl, kHost };

/// Parse "nccl" or "host", and "exact" or "fast". Errors: InvalidArgument for any other word.
GpuMessages parse_gpu_messages(std::string_view word);
GpuReduction parse_gpu_reduction(std::string_view word);

struct GpuOptions {
  /// Lets float32 matmuls round their operands to TF32 (10 mantissa bits instead of 23). Sums stay
  /// float32, and matmuls of other dtypes do not change.
  bool tf32 = false;
  GpuMessages messages = GpuMessages::kNccl;
  /// For NCCL's reductions; see comm/nccl/nccl_world.h.
  GpuReduction reduction = GpuReduction::kExact;
};

/// Makes a GPU this rank's default device and returns its place. The GPU's index is the rank's
/// index on its machine, modulo the number of GPUs that CUDA shows to the process.
///
/// Ranks    Collective. Call it after init and before the first tensor, with the same options on
///          all ranks.
/// Errors   Unavailable if there is no driver, if the driver is too old, if the build has no GPU
///          code, or if it has none for this GPU. The errors of join_by_nccl; PreconditionNotMet if
///          two of its ranks share a GPU. With kHost ranks may share a GPU, and rank 0 prints which
///          ones do.
Place use_gpu(const GpuOptions& options = {});

/// Shards a tensor over a mesh: one placement per mesh dim; missing ones are Replicate().
///
/// Shapes   x: [d0, ..., dn-1]; the result has the same global shape and dtype.
/// Input    A plain tensor is the whole value, equal on every rank of the mesh. Each rank extracts
///          its shard locally, without communication. A deferred tensor is never materialised
///          unsharded. A distributed tensor is resharded. Partial(kind): the first rank along the
///          mesh dim has the value, the others the identity element.
/// Aliases  The same as reshard: a write to x or to the result does not change the other.
/// Ranks    Call it on every rank. Outside the mesh the result holds no bytes.
/// Errors   InvalidArgument: more placements than mesh dims, or Shard(d) where x has no dim d.
Tensor shard_tensor(const Tensor& x, const ProcessMesh& mesh,
                    std::span<const Placement> placements);
inline Tensor shard_tensor(const Tensor& x, const ProcessMesh& mesh,
                           std::initializer_list<Placement> placements) {
  return shard_tensor(x, mesh, std::span(placements.begin(), placements.size()));
}

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

/// Builds a distributed tensor from each rank's own part, for example partial values or data that
/// each rank reads itself. Gradients pass to the parts.
///
/// Errors   InvalidArgument if `local` does not have the shape of this rank's part of
///          `global_shape`.
Tensor from_local(const Tensor& local, const Dims& global_shape, const ProcessMesh& mesh,
                  std::span<const Placement> placements);

// ---- Functions with Paddle's names ----

/// Returns shard_tensor(fn(args...), mesh, placements). If fn returns a deferred tensor
/// (deferred_full, deferred_gaussian, an nn::Initialiser), each rank initialises its own part only.
/// An operator such as phi::full allocates the whole value first.
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

/// from_local without the global shape: ranks exchange the sizes of their parts. Sizes add up along
/// a mesh dim that shards a tensor dim, and are equal along the others.
///
/// Input    `local` may be undefined on a rank outside the mesh, where it is ignored.
/// Grads    Pass to the parts.
/// Ranks    Collective over the job (one control-sized message). In a dry run, where messages carry
///          nothing, every rank is assumed to hold as much as this one.
/// Errors   InvalidArgument, the same on every rank, if the parts are not the balanced split of any
///          shape (the first ranks hold one element more), differ in dtype or ndim, or require a
///          gradient on some ranks only. Unimplemented while a program is captured.
Tensor dtensor_from_local(const Tensor& local, const ProcessMesh& mesh,
                          std::span<const Placement> placements);
inline Tensor dtensor_from_local(const Tensor& local, const ProcessMesh& mesh,
                                 std::initializer_list<Placement> placements) {
  return dtensor_from_local(local, mesh, std::span(placements.begin(), placements.size()));
}

/// Returns this rank's part of reshard(x, mesh, placements), as Tensor::local does; its comment
/// states when gradients pass through.
///
/// Ranks    The same as reshard.
Tensor dtensor_to_local(const Tensor& x, const ProcessMesh& mesh,
                        std::span<const Placement> placements);
inline Tensor dtensor_to_local(const Tensor& x, const ProcessMesh& mesh,
                               std::initializer_list<Placement> placements) {
  return dtensor_to_local(x, mesh, std::span(placements.begin(), placements.size()));
}

/// gathered_everywhere(x), under Paddle's name.
Tensor unshard_dtensor(const Tensor& x);

/// Sets this rank's default mesh, for calls without a mesh. Set the same mesh on every rank. An
/// undefined mesh removes the default.
void set_mesh(const ProcessMesh& mesh);
/// Errors: PreconditionNotMet if no mesh is set; query has_mesh() first.
ProcessMesh get_mesh();
bool has_mesh();

/// Overloads that use the mesh get_mesh().
Tensor shard_tensor(const Tensor& x, std::span<const Placement> placements);
inline Tensor shard_tensor(const Tensor& x, std::initializer_list<Placement> placements) {
  return shard_tensor(x, std::span(placements.begin(), placements.size()));
}
Tensor reshard(const Tensor& x, std::span<const Placement> placements);
inline Tensor reshard(const Tensor& x, std::initializer_list<Placement> placements) {
  return reshard(x, std::span(placements.begin(), placements.size()));
}

}  // namespace phi::distributed
