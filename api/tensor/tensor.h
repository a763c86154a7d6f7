// Tensor: the user's handle on a plain or a distributed tensor. Copying a handle shares the tensor.
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

/// Where a tensor comes from in the tracked program: output `slot` of `node`.
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
  // A plain pointer with a count behind it: GradNode is known in grad_node.h only, and tensors
  // without history, the common case, should pay a comparison and no call.
  GradNode* node_ = nullptr;
  int slot_ = 0;
  uint32_t tracked_writes_ = 0;
};

class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(DenseTensor dense) : impl_(new Impl(std::move(dense))) {}
  explicit Tensor(distributed::DistTensor dist) : impl_(new Impl(std::move(dist))) {}
  /// A plain tensor of the user's values, row-major. They wait on the host until they are needed:
  /// shard_tensor moves this rank's part to the device, an operator all of them. (Without
  /// deferred_transfer() all of them cross here.) This form copies the values, on the host.
  /// Errors: InvalidArgument if their number is not shape.numel().
  template <typename T>
  static Tensor from(std::span<const T> values, const Dims& shape) {
    DenseTensor::check_count(values.size(), shape);
    return copied({shape, dtype_of<T>()}, values.data());
  }
  /// Takes the vector: no copy on the host.
  template <typename T>
  static Tensor from(std::vector<T>&& values, const Dims& shape) {
    return waiting(HostSource::keep(std::move(values), shape));
  }
  /// Shares the array, shape.numel() elements: no copy on the host. Nobody changes it while a
  /// tensor may still need it.
  template <typename T>
  static Tensor from(std::shared_ptr<const T[]> values, const Dims& shape) {
    return waiting(std::make_shared<const HostSource>(TensorMeta{shape, dtype_of<T>()},
                                                      std::shared_ptr<const void>(values)));
  }

  bool defined() const { return static_cast<bool>(impl_); }
  /// Has bytes on this rank. False for a tensor whose mesh this rank is not in, and for a deferred
  /// one not used yet. True for an empty shard on a computing rank.
  bool initialized() const { return impl_ && array().initialized(); }
  bool is_dist() const {
    return impl_ && std::holds_alternative<distributed::DistTensor>(impl_->value);
  }

  // What follows needs defined(); errors: PreconditionNotMet.

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
  /// Bytes that this tensor holds on this rank; 0 where it is not initialized().
  size_t nbytes_here() const { return array().nbytes_here(); }
  /// The same; in a dry run the bytes that it would hold.
  size_t nbytes_held() const { return array().nbytes_held(); }
  /// Bytes of this rank's part, on whatever tier they are.
  size_t nbytes_anywhere() const { return array().nbytes_anywhere(); }

  // Distributed tensors only; errors: PreconditionNotMet for a plain tensor.
  const distributed::ProcessMesh& mesh() const { return dist().mesh(); }
  std::span<const distributed::Placement> placements() const { return dist().attr()->placements(); }
  const distributed::TensorDistAttr* dist_attr() const { return dist().attr(); }
  /// This rank's part as a plain tensor sharing the bytes. On a rank outside the mesh its shape is
  /// all 0 and reading it is an error that says why.
  ///
  /// Gradients  What reaches the parts is the gradient of a tensor that is Shard along every mesh
  ///            dim; the part then has its history, on every rank, and from_local goes the other
  ///            way. Errors: PreconditionNotMet for other placements of a tensor that requires a
  ///            gradient (unless under NoGrad): detach() it to look at its part.
  Tensor local() const;

  /// The elements of a plain tensor, or of the local part of a distributed one, row-major. Counts
  /// as a transfer from the device; what waits elsewhere comes to the device first. They stay as
  /// they are until this tensor is written to: a part that still shares the bytes of the tensor
  /// that it was taken from takes its own. Errors: as DenseTensor::data; on a rank outside the mesh
  /// the message names tensor, mesh, rank and the op that made it.
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
  /// A copy of the same elements on the host. Nothing crosses for values that still wait there.
  /// Nothing is converted either; errors: InvalidArgument, naming both, if T is not the dtype.
  template <typename T>
  std::vector<T> to_vector() const {
    const auto count = static_cast<size_t>(array().numel());
    if constexpr (std::is_same_v<T, bool>) {
      // A vector of bool has no array to copy to.
      const auto out = std::make_unique<bool[]>(count);
      copy_to_host(dtype_of<T>(), out.get());
      return std::vector<T>(out.get(), out.get() + count);
    } else {
      std::vector<T> out(count);
      copy_to_host(dtype_of<T>(), out.data());
      return out;
    }
  }
  /// The only element of a plain tensor or of a replicated one; a transfer as in to_vector.
  /// Errors: InvalidArgument if there are more, or the local part is not the whole value.
  double item() const;

  /// Parts by numbers and ranges, to read and to assign: x[2], x(range(0, 4), range(), -1). What
  /// they do, and what they take, is in api/tensor/indexing.h, which phi/api.h includes.
  TensorPart operator[](const TensorIndex& index) const;
  template <typename... Indices>
  TensorPart operator()(const Indices&... indices) const;
  /// The same values in another dtype: phi::cast. This tensor itself if it has it.
  Tensor to(DataType dtype) const;

  // ---- gradients ----

  /// Operations on this tensor are tracked (unless under NoGrad).
  bool requires_grad() const { return impl_ && impl_->link.node(); }
  /// Starts (a leaf) or ends tracking. Errors: InvalidArgument for a dtype that is not floating;
  /// PreconditionNotMet to end it for a tensor that an operation made: detach() that.
  Tensor& set_requires_grad(bool wanted = true);
  /// Was not made by a tracked operation.
  bool is_leaf() const;
  /// A leaf's gradient so far, with the mesh and placements of the leaf; undefined if none arrived.
  /// Partial sums of several backward passes are reduced here, once. Collective over the mesh.
  Tensor grad() const;
  void clear_grad();
  /// The same value without history.
  Tensor detach() const;
  /// Computes the gradients of all leaves that this tensor was made from, and adds them to theirs.
  ///
  /// `grad`         d(objective)/d(this); 1 by default, for a tensor of one element
  /// `retain_graph` keep what was saved, for another pass
  /// Ranks          every rank calls it, also those outside the mesh: they run the same graph on
  ///                meta alone.
  /// Errors         PreconditionNotMet without requires_grad(), for a graph already used up, or for
  ///                a saved tensor that was written to since; InvalidArgument for a wrong shape.
  void backward(const Tensor& grad = Tensor(), bool retain_graph = false) const;
  /// Called with the complete gradient of this tensor in each pass. What it returns replaces the
  /// gradient: same shape and dtype. With other placements it is resharded, except that a leaf
  /// keeps it as it is; every rank must return the same placements. A leaf's hook sees the gradient
  /// as it arrives, which may be partial.
  ///
  /// Errors, in the pass: InvalidArgument if the hook returns another shape or dtype, or nothing.
  void register_hook(std::function<Tensor(const Tensor&)> hook) const;

  /// "f32[64,32]", with placements and mesh where distributed.
  std::string to_string() const;

  // For generated functions and the layers above; not for users.
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
  /// Makes every handle on this tensor see `other`'s value (the end of an inplace call); its
  /// history stays.
  void replace(const Tensor& other) {
    require_defined();
    impl_->value = other.impl_->value;
  }
  /// No other handle or view sees the bytes, so they may be written to.
  bool is_sole_owner() const {
    return impl_ && impl_->use_count() == 1 && array().computed_here() &&
           array().storage()->use_count() == 1 && array().storage()->owns_bytes();
  }
  /// As grad(), but as it arrived: possibly partial, nothing is sent.
  Tensor grad_so_far() const;
  const GradLink& grad_link() const { return impl_->link; }
  /// The history from now on: that of the bytes as they are.
  void set_grad_link(GradLink link);
  /// An inplace operation on another tensor, a view of this one or the whole of it, has changed the
  /// bytes since the history of this one began. Alike on every rank.
  bool is_history_outdated() const {
    return impl_->link.node() != nullptr &&
           impl_->link.tracked_writes() != array().storage()->tracked_writes();
  }
  friend bool same_tensor(const Tensor& a, const Tensor& b) { return a.impl_ == b.impl_; }
  /// What copies of a handle have in common.
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
  /// The elements of the local part. Errors: as values().
  void copy_to_host(DataType dtype, void* out) const;
  [[noreturn]] static void throw_undefined();
  [[noreturn]] void throw_not_dense() const;
  [[noreturn]] void throw_not_dist() const;

  IntrusivePtr<Impl> impl_;
};

/// What this rank has of x: the whole of a plain tensor, its part of a distributed one.
inline const DenseTensor& array_of(const Tensor& x) {
  return x.is_dist() ? x.dist().local() : x.dense();
}

/// sum += more, for sums of gradients: where both lie alike partial values stay partial, else they
/// are brought together first.
void accumulate(Tensor& sum, Tensor&& more);

using OptionalTensor = std::optional<Tensor>;
using TensorList = std::vector<Tensor>;

}  // namespace phi
