// Tensor: the user's handle to a plain or distributed tensor. Copies of a handle share the tensor.
//
//   Tensor x = phi::full({64, 32}, 1.0f);
//   Tensor w = phi::distributed::shard_tensor(x, mesh, {Shard(0)});
//   w.shape() == Dims{64, 32};  w.local().shape() == Dims{32, 32};  w.nbytes_here() == 4096;
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "distributed/tensor/dist_tensor.h"
#include "phi/core/attribute.h"
#include "phi/core/dense_tensor.h"
#include "phi/core/storage/host_source.h"

namespace phi {

class GradNode;
class Tensor;
class TensorIndex;
class TensorPart;

/// The origin of a tensor in the tracked program: output `slot` of gradient node `node`.
class GradLink {
 public:
  GradLink() = default;
  GradLink(IntrusivePtr<GradNode> node, int slot);
  GradLink(const GradLink& other);
  GradLink(GradLink&& other) noexcept
      : node_(std::exchange(other.node_, nullptr)),
        slot_(other.slot_),
        tracked_writes_(other.tracked_writes_) {}
  GradLink& operator=(GradLink other) noexcept {
    std::swap(node_, other.node_);
    std::swap(slot_, other.slot_);
    std::swap(tracked_writes_, other.tracked_writes_);
    return *this;
  }
  ~GradLink() {
    if (node_) [[unlikely]]
      drop();
  }
  GradNode* node() const { return node_; }
  int slot() const { return slot_; }
  /// Storage::tracked_writes() when the link was set.
  uint32_t tracked_writes() const { return tracked_writes_; }
  void set_tracked_writes(uint32_t count) { tracked_writes_ = count; }

 private:
  void drop();
  // An owning raw pointer: GradNode is complete in grad_node.h only, and the common case, a tensor
  // without history, must cost a comparison and no call.
  GradNode* node_ = nullptr;
  int slot_ = 0;
  uint32_t tracked_writes_ = 0;
};

class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(DenseTensor dense) : impl_(new Impl(std::move(dense))) {}
  explicit Tensor(distributed::DistTensor dist) : impl_(new Impl(std::move(dist))) {}
  /// Returns a plain tensor of the user's values, row-major. The values stay on the host until they
  /// are needed: shard_tensor transfers this rank's part to the device, an operator transfers all.
  /// If deferred_transfer() is off, this call transfers all of them. This overload copies the
  /// values on the host. Errors: InvalidArgument if values.size() is not shape.numel().
  template <typename T>
  static Tensor from(std::span<const T> values, const Dims& shape) {
    DenseTensor::check_count(values.size(), shape);
    return copied({shape, dtype_of<T>()}, values.data());
  }
  /// Moves the vector into the tensor: no copy on the host.
  template <typename T>
  static Tensor from(std::vector<T>&& values, const Dims& shape) {
    return waiting(HostSource::keep(std::move(values), shape));
  }
  /// Shares the array, which has shape.numel() elements: no copy on the host. The caller must not
  /// change it while a tensor may still read it.
  template <typename T>
  static Tensor from(std::shared_ptr<const T[]> values, const Dims& shape) {
    return waiting(std::make_shared<const HostSource>(TensorMeta{shape, dtype_of<T>()},
                                                      std::shared_ptr<const void>(values)));
  }

  bool defined() const { return static_cast<bool>(impl_); }
  /// Whether the tensor has bytes on this rank. False outside the tensor's mesh and for a deferred
  /// tensor that is not used yet. True for an empty shard on a computing rank.
  bool initialized() const { return impl_ && array().initialized(); }
  bool is_dist() const {
    return impl_ && std::holds_alternative<distributed::DistTensor>(impl_->value);
  }

  // The following members need defined(). Errors: PreconditionNotMet.

  /// Global shape, dtype and layout: the same on every rank.
  const TensorMeta& meta() const {
    require_defined();
    if (const auto* dense = std::get_if<DenseTensor>(&impl_->value)) return dense->meta();
    return std::get<distributed::DistTensor>(impl_->value).meta();
  }
  const Dims& shape() const { return meta().dims; }
  int ndim() const { return meta().dims.ndim(); }
  int64_t numel() const { return meta().numel(); }
  DataType dtype() const { return meta().dtype; }
  DataLayout layout() const { return meta().layout; }
  const Place& place() const { return array().place(); }
  /// Size in bytes of this tensor's data on this rank; 0 if it is not initialized().
  size_t nbytes_here() const { return array().nbytes_here(); }
  /// nbytes_here(); in a dry run, the size that a real run would have.
  size_t nbytes_held() const { return array().nbytes_held(); }
  /// Size in bytes of this rank's part, on any tier.
  size_t nbytes_anywhere() const { return array().nbytes_anywhere(); }

  // Distributed tensors only; errors: PreconditionNotMet for a plain tensor.
  const distributed::ProcessMesh& mesh() const { return dist().mesh(); }
  std::span<const distributed::Placement> placements() const { return dist().attr()->placements(); }
  const distributed::TensorDistAttr* dist_attr() const { return dist().attr(); }
  /// Returns this rank's part as a plain tensor that shares the bytes. On a rank outside the mesh
  /// all extents are 0, and a read is an error that states the reason.
  ///
  /// Gradients  Defined for a tensor that is Shard along every mesh dim: the part is tracked, on
  ///            every rank, and from_local is the inverse.
  /// Errors     PreconditionNotMet for other placements of a tensor that requires a gradient,
  ///            unless under NoGrad. Call detach() first to read its part.
  Tensor local() const;

  /// Returns the elements of a plain tensor, or of the local part of a distributed one, row-major.
  /// Counts as a transfer from the device; deferred and swapped values are brought to the device
  /// first. The span stays valid, and its elements unchanged, until this tensor is written to: a
  /// copy-on-write alias first copies its bytes. Errors: those of DenseTensor::data; on a rank
  /// outside the mesh the message names tensor, mesh, rank and the op that made the tensor.
  template <typename T>
  std::span<const T> values() const {
    const DenseTensor& local = array();
    if (is_dist() && !local.initialized()) [[unlikely]]
      require_bytes();
    if (local.initialized()) local.storage()->keep_bytes();
    const std::span<const T> values = local.values<T>();
    count_download(local);
    return values;
  }
  /// Returns a copy of the same elements on the host. Values that are still on the host are copied
  /// there, without a transfer. Elements are not converted. Errors: InvalidArgument, which names
  /// both, if T is not the dtype.
  template <typename T>
  std::vector<T> to_vector() const {
    const auto count = static_cast<size_t>(array().numel());
    if constexpr (std::is_same_v<T, bool>) {
      // std::vector<bool> is packed: it has no array of bool to copy to.
      const auto out = std::make_unique<bool[]>(count);
      copy_to_host(dtype_of<T>(), out.get());
      return std::vector<T>(out.get(), out.get() + count);
    } else {
      std::vector<T> out(count);
      copy_to_host(dtype_of<T>(), out.data());
      return out;
    }
  }
  /// Returns the only element of a plain or replicated tensor. Transfers as to_vector does.
  /// Errors: InvalidArgument if numel() is not 1 or the local part is not the whole value.
  double item() const;

  /// Index by numbers and ranges, to read or to assign: x[2], x(range(0, 4), range(), -1). The
  /// contract is in api/tensor/indexing.h, which phi/api.h includes.
  TensorPart operator[](const TensorIndex& index) const;
  template <typename... Indices>
  TensorPart operator()(const Indices&... indices) const;
  /// Returns the values in another dtype (phi::cast), or this tensor if it has that dtype.
  Tensor to(DataType dtype) const;

  // ---- gradients ----

  /// Whether operations on this tensor are tracked (unless under NoGrad).
  bool requires_grad() const { return impl_ && impl_->link.node(); }
  /// Starts tracking (the tensor becomes a leaf) or ends it. Errors: InvalidArgument for a dtype
  /// that is not floating; PreconditionNotMet if `wanted` is false for a result of an operation,
  /// which needs detach().
  Tensor& set_requires_grad(bool wanted = true);
  /// Whether the tensor is not the result of a tracked operation.
  bool is_leaf() const;
  /// Returns the accumulated gradient of a leaf, with the leaf's mesh and placements; undefined if
  /// there is none. Partial sums of several backward passes are reduced in this call, once.
  ///
  /// Ranks   Collective over the mesh if the gradient is partial. Every rank reads such gradients
  /// in
  ///         the same order.
  /// Errors  InvalidArgument if another rank reads another gradient or makes another call;
  ///         Unavailable if it has left the job; ExecutionTimeout at the deadline.
  Tensor grad() const;
  void clear_grad();
  /// Returns a tensor of the same value, which shares the bytes and has no history.
  Tensor detach() const;
  /// Computes the gradients of all leaves from which this tensor was computed, and adds them to the
  /// leaves' gradients.
  ///
  /// `grad`          d(objective)/d(this); 1 by default, for a tensor of one element
  /// `retain_graph`  keeps the saved tensors for another backward pass
  /// Ranks           every rank calls it; ranks outside the mesh run the same graph on metadata
  ///                 only
  /// Errors          PreconditionNotMet without requires_grad(), for a graph that an earlier pass
  ///                 has released, or for a saved tensor that was written to since;
  ///                 InvalidArgument for a wrong shape
  void backward(const Tensor& grad = Tensor(), bool retain_graph = false) const;
  /// Registers a function that each backward pass calls with the complete gradient of this tensor.
  /// Its result, of the same shape and dtype, replaces the gradient. A result with other placements
  /// is resharded, except for a leaf, which keeps it unchanged. Every rank must return the same
  /// placements. The gradient that a leaf's hook receives may be partial.
  ///
  /// Errors, in the pass: InvalidArgument if the hook returns another shape or dtype, or an
  /// undefined tensor.
  void register_hook(std::function<Tensor(const Tensor&)> hook) const;

  /// "f32[64,32]", followed by placements and mesh if the tensor is distributed.
  std::string to_string() const;

  // Internal: for generated functions and the layers above.
  const DenseTensor& dense() const {
    const auto* dense = impl_ ? std::get_if<DenseTensor>(&impl_->value) : nullptr;
    if (!dense) [[unlikely]]
      throw_not_dense();
    return *dense;
  }
  DenseTensor& dense() { return const_cast<DenseTensor&>(std::as_const(*this).dense()); }
  const distributed::DistTensor& dist() const {
    const auto* dist = impl_ ? std::get_if<distributed::DistTensor>(&impl_->value) : nullptr;
    if (!dist) [[unlikely]]
      throw_not_dist();
    return *dist;
  }
  distributed::DistTensor& dist() {
    return const_cast<distributed::DistTensor&>(std::as_const(*this).dist());
  }
  /// Replaces the value, for every handle on this tensor, by `other`'s (the end of an inplace
  /// call). The history is unchanged.
  void replace(const Tensor& other) {
    require_defined();
    impl_->value = other.impl_->value;
  }
  /// Whether no other handle or view shares the bytes, so that the caller may overwrite them.
  bool is_sole_owner() const {
    return impl_ && impl_->use_count() == 1 && array().computed_here() &&
           array().storage()->use_count() == 1 && array().storage()->owns_bytes();
  }
  /// Like grad(), but not reduced: the gradient may be partial, and no message is sent.
  Tensor grad_so_far() const;
  const GradLink& grad_link() const { return impl_->link; }
  /// Sets the history, which describes the current bytes.
  void set_grad_link(GradLink link);
  /// Whether an inplace operation on another tensor (a view of this one, or the tensor that this
  /// one is a view of) has changed the bytes since this tensor's history was set. The result is the
  /// same on every rank.
  bool is_history_outdated() const {
    return impl_->link.node() != nullptr &&
           impl_->link.tracked_writes() != array().storage()->tracked_writes();
  }
  friend bool same_tensor(const Tensor& a, const Tensor& b) { return a.impl_ == b.impl_; }
  /// A key that is equal for all copies of a handle and differs between tensors.
  const void* identity() const { return impl_.get(); }

 private:
  struct Impl : RefCounted<Impl> {
    explicit Impl(DenseTensor dense) : value(std::move(dense)) {}
    explicit Impl(distributed::DistTensor dist) : value(std::move(dist)) {}
    static void destroy(Impl* impl) { delete impl; }
    std::variant<DenseTensor, distributed::DistTensor> value;
    GradLink link;
  };

  const DenseTensor& array() const {
    require_defined();
    if (const auto* dense = std::get_if<DenseTensor>(&impl_->value)) return *dense;
    return std::get<distributed::DistTensor>(impl_->value).local();
  }
  void require_defined() const {
    if (!impl_) [[unlikely]]
      throw_undefined();
  }
  void require_bytes() const;
  static Tensor copied(const TensorMeta& meta, const void* values);
  static Tensor waiting(std::shared_ptr<const HostSource> values);
  static void count_download(const DenseTensor& local) {
    if (local.nbytes() == 0) return;
    count_transfer(Tier::kDevice, Tier::kHost, static_cast<int64_t>(local.nbytes()));
  }
  /// Copies the elements of the local part to `out`. Errors: those of values().
  void copy_to_host(DataType dtype, void* out) const;
  [[noreturn]] static void throw_undefined();
  [[noreturn]] void throw_not_dense() const;
  [[noreturn]] void throw_not_dist() const;

  IntrusivePtr<Impl> impl_;
};

/// Returns a plain tensor's array, or this rank's part of a distributed one.
inline const DenseTensor& array_of(const Tensor& x) {
  return x.is_dist() ? x.dist().local() : x.dense();
}

/// sum += more, for gradients. If both have the same placements, partial values stay partial;
/// otherwise they are brought to common placements first.
void accumulate(Tensor& sum, Tensor&& more);

using OptionalTensor = std::optional<Tensor>;
using TensorList = std::vector<Tensor>;

}  // namespace phi
